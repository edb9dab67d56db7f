"""Resumes a session and waits for its next stop: continue, steps, until, wait."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import msgspec

from debugger.backends.abilities import (
    JumpAbility,
    OwnStepAbility,
    PauseAllAbility,
    StepTargetAbility,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.events import Event, EventKind, State
from debugger.model.location import is_library, plain_function
from debugger.model.program import ResumeKind, StepTarget, StopReason
from debugger.model.statement import hint_instead
from debugger.session import process_tree, stop_report
from debugger.session.idle_watch import IdleWatch
from debugger.session.inspection import frame_of
from debugger.session.session import Run, Session
from debugger.session.session_state import check_runs
from debugger.system.idle_detector import CHECK_S, IdleWait

_STEPS_MAX = 10_000
_LEFT_MAX = 100  # frames that one `finish_function` leaves, each by a step of the debugger's own
_PAUSE_AGAIN_S = 2.0
_JUMP_S = 2.0  # seconds until a debugger has reported the stop after a jump
# After a `continue` with several stopped processes, the continued one must not be answered with the
# old stop of another one at once.
_OWN_S = 2.0  # after which another process's stop is the answer to a `continue`
_IN_LIBRARY = "this is a library's code: debugger step --own goes on to the program's own"
_GOES_ON = {False: "runs on", True: "has ended"}
_STARTING = {State.INITIALIZING, State.CONFIGURING}


@dataclass(frozen=True)
class WaitLimit:
    """The time-out of a wait, and the events that end it early: Ctrl-C, or an idle program."""

    seconds: float
    interrupted: asyncio.Event
    # After how many idle seconds a wait for input, or for connections, ends this one.
    idle_limits: Mapping[str, float] = field(default_factory=dict)


async def resume_and_wait(
    session: Session,
    how: ResumeKind,
    patience: WaitLimit | None,
    *,
    thread: int | None = None,
    by: Run | None = None,
) -> answers.Stop:
    """Resume a program and report its next stop or end; without a limit, that it runs."""
    # 1. The resume is a job of the session, and the job takes the timeline's cursor just before it
    #    resumes: an earlier stop is never taken for the answer of this run.
    # 2. Without a wait limit the answer is that the program runs.
    # 3. At a `continue` another process of the tree may be stopped, unreported. The continued
    #    process gets `_OWN_S` for its own stop or end. After that the other stop is the answer: the
    #    continued process may depend on that other process, and nothing more would ever happen.
    # 4. In all other cases the first stop or end after the cursor is the answer, of whichever
    #    process in the tree.
    cursor = await resume_session(session, how, thread, by)
    if patience is None:
        return stop_report.report_running(session, waited_s=None)
    waiting = process_tree.stopped_too(session) if how is ResumeKind.CONTINUE else None
    if waiting is not None:
        own = await _own_event(session, patience, after=cursor)
        if waiting.is_reported or waiting.state is not State.STOPPED:
            return await wait_for_stop(session, patience, after=cursor)
        if own is None or not process_tree.ends_wait(own, session, awaits_root=False):
            answer = await _report_state(waiting)
            note = f"{session.name} {_GOES_ON[session.state is State.TERMINATED]}; "
            note += f"the current session is {waiting.name} now"
            return msgspec.structs.replace(answer, notes=(*answer.notes, note))
    return await wait_for_stop(session, patience, after=cursor)


async def finish_function(session: Session, patience: WaitLimit) -> answers.Stop:
    """Run until the function of the selected frame has returned.

    Raises:
        DebuggerError: NOT_SUPPORTED for a frame too far out; what `resume_and_wait` raises.
    """
    session.require_state(State.STOPPED, to="finish")
    check_runs(session.target, to="finish")
    selected = await session.run_job(lambda: frame_of(session))
    if selected.index > _LEFT_MAX:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"finish leaves at most {_LEFT_MAX} frames at once, and frame {selected.index} is "
            "further out",
            hint="debugger until FILE:LINE",
        )
    limit = asyncio.get_running_loop().time() + patience.seconds
    stopped = await _leave_inner(session, selected.index, patience, limit)
    return stopped or await resume_and_wait(
        session, ResumeKind.FINISH, _remaining_limit(patience, limit)
    )


async def _leave_inner(
    session: Session, count: int, patience: WaitLimit, limit: float
) -> answers.Stop | None:
    """Step out of so many frames, so that the frame after them becomes the innermost.

    Each frame is left by the debugger's own step out, which identifies a recursive frame by its
    address. Returns the answer of a stop for any other reason.
    """
    if not count:
        return None
    depth = await session.run_job(lambda: _stack_depth(session))
    for _ in range(count):
        cursor = await resume_session(session, ResumeKind.FINISH)
        event = await _next_event(session, _remaining_limit(patience, limit), after=cursor)
        if not _is_own_step(session, event):
            return await wait_for_stop(session, _remaining_limit(patience, limit), after=cursor)
        if patience.interrupted.is_set():
            return await _report_state(session)
        now = await session.run_job(lambda: _stack_depth(session))
        if depth is not None and now is not None and depth - now >= count:
            break  # several frames were left at once: inlined ones, or a tail call
    return None


async def _stack_depth(session: Session) -> int | None:
    thread = session.selection.thread
    stack = await session.backend.read_stack(thread if thread is not None else 0, levels=1)
    return stack.total


async def _shown_line(session: Session) -> tuple[str | None, int | None]:
    """Return the line of the shown frame."""
    thread, at = session.selection.thread or 0, session.selection.shown_index
    frames = (await session.backend.read_stack(thread, start=at, levels=1)).frames
    return (frames[0].file, frames[0].line) if frames else (None, None)


def _is_own_step(session: Session, event: Event | None) -> bool:
    is_stop = event is not None and event.kind is EventKind.STOP and event.session == session.name
    return is_stop and session.last_stop is not None and session.last_stop.reason is StopReason.STEP


async def _own_event(session: Session, patience: WaitLimit, *, after: int) -> Event | None:
    """Wait for the stop or end of the continued process; None if it runs on.

    The wait is bounded: the process may depend on a stopped process of its tree.
    """
    limit = asyncio.get_running_loop().time() + min(_OWN_S, patience.seconds)
    while True:
        remaining = limit - asyncio.get_running_loop().time()
        event = await _next_event(session, WaitLimit(remaining, patience.interrupted), after=after)
        if event is None or event.session == session.name:
            return event
        after = event.seq


async def resume_session(
    session: Session, how: ResumeKind, thread: int | None = None, by: Run | None = None
) -> int:
    """Resume a program; return the cursor from which on its events belong to this run."""

    async def job() -> int:
        # Also between the steps of one command.
        session.control.check_agent(how.value)
        # Taken when our turn has come: a stop before that is no answer to us.
        cursor = session.timeline.cursor()
        await session.resume(how, thread=thread, by=by)
        return cursor

    return await session.run_job(job)


@contextlib.asynccontextmanager
async def own_code(session: Session) -> AsyncIterator[None]:
    """Limit steps to the program's own code within this context.

    Raises:
        DebuggerError: WRONG_STATE for a program that is not stopped; NOT_SUPPORTED.
    """
    session.require_state(State.STOPPED, to="step")
    ability = session.backend.find_ability(OwnStepAbility)
    await session.run_job(lambda: ability.limit_steps_to_own_code(is_on=True))
    try:
        yield
    finally:
        if session.is_live:
            await session.run_job(lambda: ability.limit_steps_to_own_code(is_on=False))


async def own_steps(
    session: Session, how: ResumeKind, count: int, patience: WaitLimit
) -> answers.Stop:
    """Step so many times in the program's own code, within `own_code`."""
    limit = asyncio.get_running_loop().time() + patience.seconds
    while True:
        answer = await step_times(session, how, 1, _remaining_limit(patience, limit))
        answer = await leave_library(session, answer, _remaining_limit(patience, limit))
        count -= 1
        if count <= 0 or answer.reason != StopReason.STEP.value or patience.interrupted.is_set():
            return answer


async def leave_library(
    session: Session, answer: answers.Stop, patience: WaitLimit
) -> answers.Stop:
    """Step out of library code: debugpy follows a coroutine that awaits, or ends, into asyncio."""
    limit = asyncio.get_running_loop().time() + patience.seconds
    for _ in range(_LEFT_MAX):
        if not _is_in_library(session, answer) or patience.interrupted.is_set():
            break
        answer = await step_times(session, ResumeKind.STEP, 1, _remaining_limit(patience, limit))
    return answer


def _is_in_library(session: Session, answer: answers.Stop) -> bool:
    file = answer.frame.file if answer.frame else None
    is_step = answer.reason == StopReason.STEP.value
    return is_step and file is not None and is_library(file, session.target.cwd)


def note_library(session: Session, answer: answers.Stop) -> answers.Stop:
    """Add a note to a step that ended in a library: how steps stay in the program's own code."""
    if not _is_in_library(session, answer):
        return answer
    try:
        session.backend.find_ability(OwnStepAbility)
    except DebuggerError:
        return answer
    return msgspec.structs.replace(answer, notes=(*answer.notes, _IN_LIBRARY))


async def step_times(
    session: Session, how: ResumeKind, count: int, patience: WaitLimit, *, by: Run | None = None
) -> answers.Stop:
    """Step so many times; a stop for another reason ends the steps and is reported.

    Raises:
        DebuggerError: USAGE for a count that is none, and what `resume_and_wait` raises.
    """
    if not 1 <= count <= _STEPS_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"cannot step {count} times: 1 to {_STEPS_MAX}",
            hint="debugger until LOC runs to a place",
        )
    limit = asyncio.get_running_loop().time() + patience.seconds
    session.require_state(State.STOPPED, to=how.value)
    if by is None and session.selection.shown_index:
        # The stop showed the user's frame, not the library's that it called: step in that one.
        shown = session.selection.shown_index
        line = await session.run_job(lambda: _shown_line(session))
        stopped = await _leave_inner(session, shown, patience, limit)
        if stopped is not None:
            return stopped
        if await session.run_job(lambda: _shown_line(session)) != line:
            count -= 1  # the call was the last thing in its line
            if not count:
                return await _report_state(session)
    for _ in range(count - 1):
        cursor = await resume_session(session, how, by=by)
        event = await _next_event(session, _remaining_limit(patience, limit), after=cursor)
        if not _is_own_step(session, event):
            return await wait_for_stop(session, _remaining_limit(patience, limit), after=cursor)
        if patience.interrupted.is_set():
            return await _report_state(session)
    return await resume_and_wait(session, how, _remaining_limit(patience, limit), by=by)


def _remaining_limit(patience: WaitLimit, limit: float) -> WaitLimit:
    remaining = max(0.0, limit - asyncio.get_running_loop().time())
    return WaitLimit(remaining, patience.interrupted, patience.idle_limits)


async def run_until(session: Session, spec: BreakpointSpec, patience: WaitLimit) -> answers.Stop:
    """Run to a location with a temporary breakpoint, beside the user's breakpoints.

    Raises:
        DebuggerError: NOT_FOUND if there is no code at the place.
    """
    session.require_state(State.STOPPED, to="run to a location")
    check_runs(session.target, to="run to a location")
    ours = await session.run_job(lambda: session.binding.add(spec, internal=True))
    bound = ours.bound
    if bound is not None and not bound.verified:
        await session.run_job(lambda: session.binding.remove(ours))
        where = spec.function if spec.kind is BreakpointKind.FUNCTION else f"line {spec.line}"
        lines, names = ", ".join(map(str, bound.nearest_lines)), ", ".join(bound.near_names)
        hint = "debugger source shows the lines"
        if lines or names:
            hint = f"lines with code near it: {lines}" if lines else f"names like it: {names}"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot run to {where}: {bound.why or 'it has no code'}",
            hint=hint,
        )
    rivals = _competing_breakpoints(session, ours)
    try:
        # For the time of the run only, see `_competing_breakpoints`.
        await _switch_breakpoints(session, rivals, on=False)
        return await resume_and_wait(session, ResumeKind.CONTINUE, patience)
    finally:
        # A running program is left alone; the stop removes internal breakpoints by itself.
        if session.state is State.STOPPED:
            await session.run_job(lambda: session.binding.remove(ours))
        if session.is_live:
            await _switch_breakpoints(session, rivals, on=True)


async def step_into(session: Session, name: str, patience: WaitLimit) -> answers.Stop:
    """Step into the call of one function in the current line, and over the other calls.

    The debugger's own list of the line's calls is used if it has one; else a breakpoint of ours on
    the function, for one step over the line.

    Raises:
        DebuggerError: NOT_FOUND if the line does not call it.
    """
    session.require_state(State.STOPPED, to="step")
    check_runs(session.target, to="step")
    target = await session.run_job(lambda: _find_step_target(session, name))
    if target is not None:
        ability = session.backend.find_ability(StepTargetAbility)
        return await resume_and_wait(
            session,
            ResumeKind.STEP,
            patience,
            by=lambda _, thread: ability.step_into_target(target, thread),
        )
    spec = BreakpointSpec(function=name, thread=session.selection.thread)
    ours = await session.run_job(lambda: session.binding.add(spec, internal=True))
    if ours.bound is None or not ours.bound.verified:
        await session.run_job(lambda: session.binding.remove(ours))
        why = ours.bound.why if ours.bound is not None else None
        near = ", ".join(ours.bound.near_names) if ours.bound is not None else ""
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot step into {name}: {why or 'it has no code'}",
            hint=f"there is: {near}" if near else "debugger step goes into the next call",
        )
    try:
        answer = await resume_and_wait(session, ResumeKind.NEXT, patience)
    finally:
        if session.state is State.STOPPED:
            await session.run_job(lambda: session.binding.remove(ours))
    if answer.reason == StopReason.STEP.value:
        note = f"{name} was not called from that line"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note))
    return answer


async def _find_step_target(session: Session, name: str) -> StepTarget | None:
    """Find a function among the debugger's step targets; None if it reports no targets.

    Raises:
        DebuggerError: NOT_FOUND if the debugger reports targets without the function.
    """
    try:
        ability = session.backend.find_ability(StepTargetAbility)
        targets = await ability.list_step_targets(await frame_of(session))
    except DebuggerError:
        return None
    if not targets:
        return None
    plain_name = plain_function(name)
    names = {plain_function(one.label.partition("(")[0]): one for one in targets}
    found = [
        one
        for known, one in names.items()
        if known == plain_name or re.split(r"::|\.", known)[-1] == plain_name
    ]
    if not found:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"this line does not call {name}; it calls {', '.join(names)[:200]}",
            hint=f"debugger step --into {next(iter(names))}",
        )
    return found[0]


async def jump_to_line(session: Session, spec: BreakpointSpec, patience: WaitLimit) -> answers.Stop:
    """Move execution to another line without running the lines in between; nothing runs yet.

    Raises:
        DebuggerError: NOT_SUPPORTED, EVALUATION_FAILED if the line cannot be jumped to.
    """
    session.require_state(State.STOPPED, to="jump")
    check_runs(session.target, to="jump")
    if spec.file is None or spec.line is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "jump takes a line of the current function",
            hint="debugger jump LINE",
        )
    file, line = spec.file, spec.line
    cursor = session.timeline.cursor()

    async def job() -> None:
        ability = session.backend.find_ability(JumpAbility)
        with hint_instead("debugger source shows the lines of the function"):
            await ability.jump_to(file, line, session.selection.thread or 0)
        session.note_jump()

    await session.run_job(job)
    soon = WaitLimit(min(_JUMP_S, patience.seconds), patience.interrupted)
    if session.backend.find_ability(JumpAbility).is_stop_reported:
        await _next_event(session, soon, after=cursor)
    return await session.run_job(lambda: stop_report.report_stop(session, is_full=True))


def _competing_breakpoints(session: Session, ours: Breakpoint) -> list[int]:
    """Return the user's breakpoints at the same location that would stop less often.

    An adapter keeps one breakpoint a line: with a condition it would pass the location.
    """
    return [
        one.id
        for one in session.breakpoints.user_breakpoints()
        if one.spec.enabled
        and one.at is not None
        and ours.at is not None
        and (one.at.file, one.at.line, one.at.function)
        == (ours.at.file, ours.at.line, ours.at.function)
        and (one.spec.condition or one.spec.hit_count or one.spec.log)
    ]


async def _switch_breakpoints(session: Session, numbers: list[int], *, on: bool) -> None:
    for number in numbers:
        await session.run_job(partial(session.binding.enable, number, on=on))


async def pause_program(session: Session, patience: WaitLimit) -> answers.Stop:
    """Stop a running program and report its location; a stopped one is reported as it is."""
    check_runs(session.target, to="pause")
    if session.state is State.STOPPED:
        return await session.run_job(lambda: stop_report.report_stop(session, is_full=True))
    session.require_state(State.RUNNING, to="pause")
    cursor = session.timeline.cursor()
    limit = asyncio.get_running_loop().time() + patience.seconds
    while session.state is State.RUNNING:
        await session.pause()
        remaining = _remaining_limit(patience, limit)
        # lldb-dap 19 loses a pause that comes before the program's own code runs: ask again.
        soon = WaitLimit(min(_PAUSE_AGAIN_S, remaining.seconds), patience.interrupted)
        event = await _next_event(session, soon, after=cursor)
        if event is not None:
            break
        if remaining.seconds <= soon.seconds or patience.interrupted.is_set():
            waited = patience.seconds - _remaining_limit(patience, limit).seconds
            return stop_report.report_running(session, waited_s=round(waited, 1))
    return await wait_for_stop(session, _remaining_limit(patience, limit), after=cursor)


async def pause_all(session: Session, patience: WaitLimit) -> answers.Stop:
    """Stop every thread, even if some have stopped already, and report one location."""
    try:
        by = session.backend.find_ability(PauseAllAbility).pause_all_threads
    except DebuggerError as error:
        if error.code is ErrorCode.NOT_SUPPORTED:
            return await pause_program(session, patience)  # it stops all of them anyway
        raise
    session.require_state(State.RUNNING, State.STOPPED, to="pause")
    if session.state is State.STOPPED:
        threads = await session.run_job(session.backend.list_threads)
        if not any(one.is_running for one in threads):
            return await session.run_job(lambda: stop_report.report_stop(session, is_full=True))
    cursor = session.timeline.cursor()
    await session.pause(by)
    event = await _next_event(session, patience, after=cursor)
    if event is None and session.state is State.STOPPED:
        return await session.run_job(lambda: stop_report.report_stop(session, is_full=True))
    if event is None:
        return stop_report.report_running(session, waited_s=round(patience.seconds, 1))
    return await wait_for_stop(session, patience, after=cursor)


async def wait_handed_back(session: Session, patience: WaitLimit) -> answers.Stop:
    """Wait until a person has handed back the session, then report its stop as it is.

    Raises:
        DebuggerError: DENIED when the time is up.
    """
    left_s = await session.control.wait_handed_back(patience)
    if session.state is State.STOPPED:
        return await session.run_job(lambda: stop_report.report_stop(session, is_full=True))
    return await wait_for_stop(
        session, WaitLimit(left_s, patience.interrupted, patience.idle_limits)
    )


async def wait_for_stop(
    session: Session, patience: WaitLimit, *, after: int | None = None
) -> answers.Stop:
    """Report the next stop or end in the process tree, or after the limit that it still runs.

    Without `after`, an unreported stop counts as the next one.
    """
    waiting = process_tree.find_unreported(session) if after is None else None
    if waiting is not None:
        return await _report_state(waiting)
    is_ending = session.state is State.TERMINATED and not session.is_noted
    if after is None and not is_ending:
        session = process_tree.find_running(session)
    is_over = session.state not in {State.RUNNING, *_STARTING} and not process_tree.is_ending(
        session
    )
    if after is None and is_over and not _is_dying(session):
        session.require_state(State.RUNNING, to="wait")
    cursor = session.timeline.cursor() if after is None else after
    return await _wait_after(session, patience, cursor)


def _is_dying(session: Session) -> bool:
    """Return whether a stopped process was killed, which its debugger reports a moment later."""
    return session.state is State.STOPPED and session.process.is_gone(session.pid)


async def _wait_after(session: Session, patience: WaitLimit, cursor: int) -> answers.Stop:
    """Report the process tree's first stop or end after a cursor, or that it still runs."""
    # Events are examined in order. An event ends the wait only while its session is still in the
    # state that the event led to: the program may have been resumed by another client since, and a
    # child's end is no answer while other processes of the tree run. Every `CHECK_S` without an
    # event the idle watch looks at the processes. The report itself is a job; if another client
    # resumes the program before the job's turn, the job fails with WRONG_STATE and the wait
    # continues.
    awaits_root = process_tree.root_session(session).is_live
    idle, limit = IdleWatch(session), asyncio.get_running_loop().time() + patience.seconds
    while True:
        remaining = limit - asyncio.get_running_loop().time()
        soon = WaitLimit(min(remaining, CHECK_S), patience.interrupted)
        event = await _next_event(session, soon, after=cursor)
        if session.is_closed:
            raise process_tree.ended_elsewhere(session.name)
        if event is None:
            waiting_for = await idle.find_idle_reason()
            remaining = limit - asyncio.get_running_loop().time()
            if not _is_over(remaining, patience, waiting_for):
                continue
            waited_s = round(patience.seconds - max(0.0, remaining), 1)
            return stop_report.report_running(session, waited_s=waited_s, waiting_for=waiting_for)
        cursor = event.seq
        happened = process_tree.find_member(session, event.session)
        reported = happened and process_tree.session_to_report(
            event, happened, session, awaits_root=awaits_root
        )
        if happened is None or reported is None:
            continue
        try:
            return await _report_state(reported)
        except DebuggerError as error:
            if error.code is not ErrorCode.WRONG_STATE or happened.state is not State.RUNNING:
                raise
            # Somebody else let it run on before our turn came.


def _is_over(left_s: float, patience: WaitLimit, waiting_for: IdleWait | None) -> bool:
    """Return whether a wait has timed out, or is useless because the program is idle."""
    if left_s <= 0 or patience.interrupted.is_set():
        return True
    if waiting_for is None:
        return False
    limit_s = patience.idle_limits.get(waiting_for.kind)
    return limit_s is not None and waiting_for.idle_s >= limit_s


async def _report_state(session: Session) -> answers.Stop:
    session.family.make_current(session)
    if session.state is State.STOPPED:
        return await session.run_job(lambda: stop_report.report_stop(session))
    await process_tree.wait_for_child_ends(session)
    answer = stop_report.report_end(session)
    process_tree.note_ends(session)
    return answer


async def _next_event(session: Session, patience: WaitLimit, *, after: int) -> Event | None:
    """Wait for a stop or an end in the process tree; None at the time-out."""
    seconds = max(0.0, patience.seconds)
    kinds = {EventKind.STOP, EventKind.EXIT}
    return await session.timeline.wait(after, kinds, seconds, interrupted=patience.interrupted)
