"""Finds the writes of a native value with watchpoints, in as many runs as needed."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.location import is_library
from debugger.model.program import EvaluationPurpose, Frame, StopReason
from debugger.questions.locations.missing_function import (
    describe_near,
    missing_name,
    repeat_question,
    suggest_what_ran,
)
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion, describe_end
from debugger.questions.who_wrote import value_writers
from debugger.questions.who_wrote.answer import PassedCall, WhoWrote, build_writers_answer
from debugger.questions.who_wrote.value_writers import (
    HINT_WHEN,
    ParameterNames,
    ValueWrite,
    WriteLocation,
    WriteRequest,
)
from debugger.session import inspection
from debugger.session.breakpoint_binding import WatchedChange
from debugger.session.session import Session

_DEEP = 40  # frames to read at a write
_STACK = 8  # frames to keep of a write
_STOPS_MAX = 20_000  # stops of one run


class ParameterCall(Struct, frozen=True):
    """A call of a function: its number, from 1, and the location's hits before it.

    `is_place`: the location is the function's first line.
    """

    number: int
    hits: int
    entry: int
    is_place: bool = False


def frame_address(frame: answers.FrameView | Frame | None) -> int:
    """Return the code address of a frame; 0 if it is not reported."""
    return int((frame.address if frame is not None else None) or "0", 16)


async def passing_call(
    session: Session, expression: str, frame: Frame, thread: int
) -> PassedCall | None:
    """Return the call that gave a frame its parameter (a job); None for another expression."""
    parameters = await session.backend.argument_names(frame) or []
    if expression not in parameters:
        return None
    stack = await session.backend.read_stack(thread, levels=_DEEP)
    callers = [one for one in stack.frames if one.index > frame.index]
    sites = tuple(WriteLocation(one.function, one.file, one.line) for one in callers[:_STACK])
    return PassedCall(sites, frame.function, ParameterNames(tuple(parameters)))


async def find_last_call(
    question: QuestionRun, request: WriteRequest, function: str, *, place: int
) -> ParameterCall | None:
    """Run a program to the location, and find the call whose parameter lies at `place`.

    Nothing is watched: a parameter is written at the start of its function, and there LLDB reports
    the write in place of the breakpoint. None if the location is not reached.
    """
    found: ParameterCall | None = None
    calls = hits = entry = 0
    # In this order: number 1 is the location (`hit_breakpoints`).
    both = (request.at, BreakpointSpec(function=function))
    async with question_run.run_question(replace(question, breakpoints=both)) as run:
        session = run.session
        stop = await run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            entry = entry or _address_in(stop, function)
            if entry and _address_in(stop, function) == entry:
                calls += 1
                there = await session.run_job(
                    lambda: value_writers.place_of(session, request.expression)
                )
                # 0: the address is unknown, and the call counts.
                if there in {0, place}:  # and not a call further in, or out
                    found = ParameterCall(calls, hits, entry)
            hits += 1 in stop.hit_breakpoints
            if hits >= request.hit:
                is_place = frame_address(stop.frame) == entry
                return found and msgspec.structs.replace(found, is_place=is_place)
            stop = await run.go_on(run.session_of(stop))
    return None


async def run_to_call(run: RunningQuestion, function: str, call: ParameterCall) -> answers.Stop:
    """Run a program to the beginning of a call, or to its end."""
    stop = await run.wait_first()
    calls = 0
    for _ in range(_STOPS_MAX):
        calls += _address_in(stop, function) == call.entry
        if stop.state != State.STOPPED.value or calls == call.number:
            break
        stop = await run.go_on(run.session_of(stop))
    return stop


def _address_in(stop: answers.Stop, function: str) -> int:
    is_in = stop.frame is not None and stop.frame.function == function
    return frame_address(stop.frame) if is_in else 0


_PAGE = 4096
_HEAP_BEGINS = "((void (*)(void *))free)(((void *(*)(unsigned long))malloc)(100000)), 0"
_MAIN = "main"
_GO_MAIN = "main.main"
_VARIES = (
    "its address differs from run to run, so the writes before the place are not known: give a "
    "place that comes earlier, where it is made"
)
_VARIES_BUT_LAST = (
    "its address differs from run to run: the last write before the place was seen at the lines "
    "that may write it by the source, those before it are not known"
)
_CHILD = "a process that the program started came to the place: the writes before it are not seen"
_KEEPS = "; --adapter gdb gives a program the same addresses in each run"
_DIFFERS = "the program does not do the same in each run: the value at the place was {} then"
_EARLIER = "what wrote it before {} is not seen"


# Returns the last write that left a value, or None.
LastWrite = Callable[[str | None], Awaitable[ValueWrite | None]]


@dataclass
class WatchedRun:
    """The observations of one run: the value, its memory location, and its writes."""

    value: str | None = None
    again: str | None = None
    adapter: str = ""
    runtime: Runtime = Runtime.NATIVE
    owner: str = ""  # the function in whose frame it lies, if it lies on the stack
    is_on_heap: bool = False
    is_randomized: bool = False  # the system gives the program other addresses in each run
    is_reached: bool = False
    is_child: bool = False  # a process that the program started came to the location
    passed: PassedCall | None = None  # the call that gave it, if it is a parameter
    given: str | None = None  # its value at the beginning of that call
    call: ParameterCall | None = None
    place: int = 0  # its address
    at: int = 0  # the address of the code that is asked about
    writes: list[ValueWrite] = field(default_factory=list)
    by: list[tuple[str, int]] = field(default_factory=list)  # the function of each, and behind what
    lines: dict[str, int | None] = field(default_factory=dict)  # of what wrote, by what is next
    ended: answers.Stop | None = None
    notes: list[str] = field(default_factory=list)


async def who_wrote(
    question: QuestionRun, request: WriteRequest, find_last_write: LastWrite | None = None
) -> WhoWrote:
    """Run a program to a location and on, then again for the writes before the location.

    Args:
        question: The program.
        request: The value and the location.
        find_last_write: Finds the last write where the memory is elsewhere in each run.

    Raises:
        DebuggerError: NOT_FOUND if the location is never reached, EVALUATION_FAILED if the
        expression has no memory location there, NOT_SUPPORTED if the debugger cannot watch it.
    """
    # A watchpoint needs an address, and the address is known only once the location is reached. So
    # the program runs up to three times:
    # 1. `watch_later` runs to the location, watches the value there, and records the later writes.
    # 2. For a parameter, `find_last_call` counts the calls of its function up to the one whose
    #    parameter has the same address: an earlier run cannot watch a frame that does not exist
    #    yet.
    # 3. `_watch_earlier` watches the same memory from the start of the program, or of that call,
    #    and records the writes up to the location.
    # With randomized addresses, and with Go's allocator, only the program's own data is at a place
    # that another run can find; for anything else the answer has the later writes only, and a note.
    began = asyncio.get_running_loop().time()
    later = await watch_later(question, request)
    notes, earlier, by_lines = list(later.notes), WatchedRun(), ""
    if later.is_child:
        notes.append(_CHILD)
    elif later.again is None:
        # What Go's runtime allocates lies elsewhere in each run, and gdb does not take Go.
        is_kept = later.is_randomized and later.runtime is not Runtime.GO
        last_write = await find_last_write(later.value) if find_last_write is not None else None
        if last_write is not None:
            earlier.writes.append(last_write)
            by_lines = ", the last one before the place by logpoints"
        notes.append(_VARIES_BUT_LAST if last_write is not None else _VARIES + _KEEPS * is_kept)
    else:
        earlier = await _watch_earlier(question, request, later)
        notes += earlier.notes
        if earlier.is_reached and earlier.value != later.value:
            earlier = _without_later_writes(earlier, later.value)
        if earlier.is_reached and earlier.value != later.value:
            notes.append(_DIFFERS.format(earlier.value))
    answer = _merge_writes(
        request, later, earlier, is_partial=not earlier.is_reached and not by_lines
    )
    last = later.ended
    return msgspec.structs.replace(
        answer,
        adapter=later.adapter,
        method=f"a hardware watchpoint{_merge_runs(later, earlier)}{by_lines}",
        timed_out=bool(last and last.timed_out),
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(dict.fromkeys(notes)),
    )


def _merge_writes(
    request: WriteRequest, later: WatchedRun, earlier: WatchedRun, *, is_partial: bool
) -> WhoWrote:
    """Build the answer from the writes of both runs, without the facts of the runs."""
    # Where it has changed since, it was written unseen, as by the system.
    is_as_given = earlier.is_reached and earlier.given == earlier.value
    return build_writers_answer(
        request.expression,
        request.place,
        later.value,
        [*earlier.writes, *_of_this_call(later, earlier.call)],
        later.passed if is_as_given else None,
        misses_same=True,
        is_partial=is_partial,
    )


def _without_later_writes(found: WatchedRun, value: str | None) -> WatchedRun:
    """Return a run without the writes behind the location, if the value tells where that was.

    LLDB goes on by itself from a write that changes nothing, and over a breakpoint at the
    instruction behind it: hits of a location there are missed, and the run ended too late.
    """
    for count in range(len(found.writes) - 1, -1, -1):
        if found.writes[count].old == value:
            return replace(found, writes=found.writes[:count], by=found.by[:count], value=value)
    return found


def _merge_runs(later: WatchedRun, earlier: WatchedRun) -> str:
    if later.again is None:
        return ""
    is_counted = earlier.call is not None and not earlier.call.is_place
    return ", in three runs" if is_counted else ", in two runs"


async def watch_later(
    question: QuestionRun,
    request: WriteRequest,
    *,
    look: Callable[[Session, Frame], Awaitable[None]] | None = None,
) -> WatchedRun:
    """Run to the location, `look` and watch the value there, and run on."""
    specs = [request.at, *([request.until] if request.until is not None else [])]
    found = WatchedRun()
    async with question_run.run_question(replace(question, breakpoints=tuple(specs))) as run:
        stop = await reach_location(run, request)
        session = run.session_of(stop)
        found.is_child = session is not run.session
        frame = await session.run_job(lambda: inspection.frame_of(session))
        try:
            value = await session.run_job(
                lambda: session.backend.evaluate(request.expression, frame, EvaluationPurpose.PRINT)
            )
            if look is not None:
                await session.run_job(lambda: look(session, frame))
            bound = await _set_watchpoint(session, request.expression, frame)
        except DebuggerError as error:
            raise request.expression_error(error) from error
        found.value = value.value
        found.adapter, found.runtime = session.adapter, session.traits.runtime
        address = await session.run_job(
            lambda: value_writers.storage_address(session, bound, request.expression, frame)
        )
        if value_writers.is_in(session.pid, address, "[stack]"):
            thread = stop.thread if stop.thread is not None else 0
            found.owner = await session.run_job(
                lambda: value_writers.stack_owner(session, thread, address)
            )
            found.passed = await session.run_job(
                lambda: passing_call(session, request.expression, frame, thread)
            )
        found.place, found.at = address, frame_address(stop.frame)
        found.is_on_heap = value_writers.is_in(session.pid, address, "[heap]")
        found.is_randomized = value_writers.is_randomized(session.pid)
        found.again = _expression_of_next_run(session, request, bound, address)
        await _collect_writes(run, session, found, request, stop, is_after=True)
    return found


def _expression_of_next_run(
    session: Session, request: WriteRequest, bound: BoundBreakpoint, address: int
) -> str | None:
    """Return an expression of the same memory in another run; None if there is none."""
    is_random = value_writers.is_randomized(session.pid)
    if is_random or session.traits.runtime is Runtime.GO:
        is_fixed = value_writers.is_in_program(session.pid, address)
    else:
        is_fixed = True
    if not is_fixed:
        return None
    return request.expression if is_random else bound.again


async def _watch_earlier(
    question: QuestionRun, request: WriteRequest, later: WatchedRun
) -> WatchedRun:
    """Run again, with the memory watched from the start of the program, or of the function."""
    found = WatchedRun(owner=later.owner, passed=later.passed, at=later.at)
    call = None
    if later.passed is not None:
        call = await find_last_call(question, request, later.owner, place=later.place)
    if call is not None and call.is_place:
        return replace(found, is_reached=True, value=later.value, given=later.value, call=call)
    start = later.owner or (_GO_MAIN if later.runtime is Runtime.GO else _MAIN)
    begins = BreakpointSpec(function=start, temporary=call is None)
    async with question_run.run_question(
        replace(question, breakpoints=(request.at, begins))
    ) as run:
        stop = await (run.wait_first() if call is None else run_to_call(run, later.owner, call))
        if stop.state != State.STOPPED.value:
            found.notes.append(_EARLIER.format(request.place))
            return found
        session = run.session
        frame = await session.run_job(lambda: inspection.frame_of(session))
        assert later.again is not None
        try:
            if later.is_on_heap:
                # Until the first malloc the heap has no pages to watch.
                await _begin_heap(session, frame)
            bound = await _set_watchpoint(session, later.again, frame)
            await _check_same_memory(session, bound, later, frame)
        except DebuggerError as error:
            found.notes.append(f"{_EARLIER.format(request.place)}: {error.message}")
            return found
        if call is not None:
            found.call, found.given = call, await _evaluate_text(session, request.expression)
        await _collect_writes(run, session, found, request, stop, is_after=False)
    return found


async def _check_same_memory(
    session: Session, bound: BoundBreakpoint, later: WatchedRun, frame: Frame
) -> None:
    """Reject another variable of the same name: address randomization moves whole pages only."""
    if not value_writers.is_randomized(session.pid) or later.again is None:
        return
    address = await session.run_job(
        lambda: value_writers.storage_address(session, bound, later.again or "", frame)
    )
    if (address - later.place) % _PAGE:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{later.again} is something else at the beginning",
            hint="debugger who-wrote GLOBAL --at LOC -- CMD; --adapter gdb keeps all addresses",
        )


def _of_this_call(later: WatchedRun, call: ParameterCall | None) -> list[ValueWrite]:
    """Drop the writes of later calls of the function in the same memory.

    Each later call begins with the write of its own argument, before the first line of its body.
    """
    if call is not None:
        for number, (function, behind) in enumerate(later.by):
            if function == later.owner and behind <= call.entry:
                return later.writes[:number]
    return later.writes


async def reach_location(run: RunningQuestion, request: WriteRequest) -> answers.Stop:
    """Run to the requested hit of the location.

    Raises:
        DebuggerError: NOT_FOUND if the program ends before, TIMEOUT if it takes too long.
    """
    stop = await run.wait_first()
    hits = 0
    for _ in range(_STOPS_MAX):
        if stop.state != State.STOPPED.value:
            break
        # What nobody catches is reported without the number of a breakpoint.
        is_thrown = request.at.catch is not None and stop.reason == StopReason.EXCEPTION.value
        hits += is_thrown or 1 in stop.hit_breakpoints
        if hits >= request.hit:
            return stop
        stop = await run.go_on(run.session_of(stop))
    raise _never_reached(stop, request, hits, run.session.traits.runtime)


def _never_reached(
    stop: answers.Stop, request: WriteRequest, hits: int, runtime: Runtime
) -> DebuggerError:
    if stop.state == State.RUNNING.value:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.condition_text} was not reached in time",
            hint="debugger who-wrote --timeout 300 …",
        )
    missing = missing_name(stop)
    unbound = [
        one.why_unbound for one in stop.unbound if one.id == 1 and isinstance(one.why_unbound, str)
    ]
    failed = [one for one in stop.notes if "condition" in one]
    why = f": {(unbound or failed)[0]}" if unbound or failed else ""
    if hits:
        why = f" {request.hit} times, but {hits}"
    if missing is not None:
        again = repeat_question(
            f"debugger who-wrote {shlex.quote(request.expression)} --at", missing[1]
        )
        return DebuggerError(ErrorCode.NOT_FOUND, describe_near(*missing), hint=again)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{describe_end(stop.exit_code, stop.signal, [one.text for one in stop.output])}, and"
        f" {request.condition_text} was not reached{why}",
        hint=HINT_WHEN.format(request.place, request.when)
        if request.when
        else suggest_what_ran(runtime),
    )


async def _begin_heap(session: Session, frame: Frame) -> None:
    """Map the heap before the program uses it, because a watchpoint needs mapped memory.

    A block that is freed at once, and that is too large to be kept for reuse, moves no later block.
    """
    await session.run_job(
        lambda: session.backend.evaluate(_HEAP_BEGINS, frame, EvaluationPurpose.EVALUATE)
    )


async def _set_watchpoint(session: Session, expression: str, frame: Frame) -> BoundBreakpoint:
    spec = BreakpointSpec(watch=expression)

    async def job() -> BoundBreakpoint:
        added = await session.binding.watching.add(spec, session.backend, frame)
        assert added.bound is not None
        if not added.bound.verified:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"cannot watch {expression}: {added.bound.why}",
                hint="debugger who-wrote 'this->field' --at LOC -- CMD",
            )
        return added.bound

    return await session.run_job(job)


async def _collect_writes(
    run: RunningQuestion,
    session: Session,
    found: WatchedRun,
    request: WriteRequest,
    stop: answers.Stop,
    *,
    is_after: bool,
) -> None:
    """Run the program and record each write, up to the end of the request."""
    hits = (found.call.hits if found.call is not None else 0) + (1 in stop.hit_breakpoints)
    for _ in range(_STOPS_MAX):
        if not is_after and hits >= request.hit:
            found.is_reached = True
            found.value = await _evaluate_text(session, request.expression)
            return
        # A write in a hot loop stops the program each time.
        if len(found.writes) >= request.limit:
            found.notes.append(
                f"after {request.limit:,} writes it was looked at no more: --limit N"
            )
            return
        stop = await run.go_on_alone(session)
        if stop.state != State.STOPPED.value:
            found.ended = stop
            if stop.timed_out:
                found.notes.append("the time was up: --timeout S")
            return
        change = stop.watched[0] if stop.watched else await write_before_breakpoint(session, stop)
        if change is not None:
            await _note_write(session, found, stop, change, is_after=is_after)
        if is_after and request.until is not None and 2 in stop.hit_breakpoints:  # noqa: PLR2004
            return
        hits += 1 in stop.hit_breakpoints or await _is_at(session, found, request, stop)
        is_other = stop.reason in {StopReason.SIGNAL.value, StopReason.EXCEPTION.value}
        if is_other and not stop.watched:
            found.notes.append(f"it stopped there for {stop.signal or 'an exception'}")
            return


async def _is_at(
    session: Session, found: WatchedRun, request: WriteRequest, stop: answers.Stop
) -> bool:
    """Test whether a watchpoint stop is also at the location: LLDB then reports the write alone."""
    if not stop.watched or not found.at or frame_address(stop.frame) != found.at:
        return False
    if not request.when:
        return True
    return await _evaluate_text(session, request.when) not in {None, "0", "false"}


async def write_before_breakpoint(session: Session, stop: answers.Stop) -> WatchedChange | None:
    """Return the write of the line before a breakpoint: gdb reports the breakpoint alone."""
    happened = session.last_stop
    if happened is None or stop.reason != StopReason.BREAKPOINT.value:
        return None

    async def job() -> WatchedChange | None:
        frame = await inspection.frame_of(session)
        watching = session.binding.watching
        changes = await watching.read_changes(happened, session.hits, session.backend, frame)
        return next((one for one in changes if one.previous != one.value), None)

    return await session.run_job(job)


async def _note_write(
    session: Session,
    found: WatchedRun,
    stop: answers.Stop,
    change: answers.WatchedView | WatchedChange,
    *,
    is_after: bool,
) -> None:
    thread = stop.thread if stop.thread is not None else 0
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=_DEEP))
    if found.owner and not any(one.function == found.owner for one in stack.frames):
        return  # other functions used the same memory
    own = [one for one in stack.frames if not is_library(one.file, session.target.cwd)]
    shown = value_writers.skip_made_setter(own) or list(stack.frames[:1])
    sites = [WriteLocation(one.function, one.file, one.line) for one in shown[:_STACK]]
    if shown and shown[0].index == 0:
        pc = shown[0].address or ""
        if pc not in found.lines:
            found.lines[pc] = await session.run_job(
                lambda: value_writers.line_before(session, shown[0])
            )
        line = found.lines[pc]
        sites[0] = msgspec.structs.replace(sites[0], line=line)
    first = stack.frames[0]
    found.by.append((first.function, frame_address(first)))
    found.writes.append(
        ValueWrite(
            stack=tuple(sites),
            old=change.previous,
            new=change.value,
            thread=stop.thread,
            is_after=is_after,
        )
    )


async def _evaluate_text(session: Session, expression: str) -> str | None:
    try:
        frame = await session.run_job(lambda: inspection.frame_of(session))
        value = await session.run_job(
            lambda: session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
        )
    except DebuggerError:
        return None
    return value.value
