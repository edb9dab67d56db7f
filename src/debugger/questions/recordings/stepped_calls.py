"""Reports a call line by line by stepping, for programs that cannot be recorded."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import re
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec, HitRule
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.hit_filter import EVERY_HIT, HitFilter, refuse_thread_name
from debugger.model.location import SourceMap, short_paths
from debugger.model.program import ResumeKind, StopReason
from debugger.model.thread_order import ThreadOrder
from debugger.questions.locations.missing_function import (
    describe_near,
    repeat_question,
    suggest_what_ran,
)
from debugger.questions.recordings import counted_run, function_lookup, traced_run
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.call_end import CallEnd, depth_of, find_call_end, is_another
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import RunningQuestion
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    Event,
    FunctionPlace,
    LinePassed,
    LinesSkipped,
    RecordedFunction,
    RecordedValue,
    Recording,
    ValuesChanged,
)
from debugger.session import inspection, source_files, stepping
from debugger.session.assigned_locals import UNASSIGNED
from debugger.session.stepping import WaitLimit
from debugger.system.process_info import thread_name

# Runtimes whose steps do not report that an exception, which a caller catches, left the call.
_SILENT = frozenset({Runtime.JAVA, Runtime.RUBY, Runtime.PHP})
LINES_MAX = 200  # of one call, since each step takes milliseconds
STEPPED = "stepped"
_STEP_S = 10.0  # seconds for one step
_DEEPER_MAX = 100  # recursive calls in one line
_UNKNOWN_END = (
    "call {} was not seen to end: the program ended in it, or an exception left it and the program "
    "stopped nowhere after that"
)
_BEHIND_FINALLY = "{} was thrown in it, and whether it left the call is not known"
_HEADER = 8  # lines that a function's header may have
_NS = 1_000_000_000


class CallFilter(Struct, frozen=True):
    """Which calls of a function count, besides their condition and number."""

    hits: HitFilter = EVERY_HIT
    # The locations of the filter's events, for a debugger.
    after: BreakpointSpec | None = None
    until: BreakpointSpec | None = None
    # The numbers of the calls, found by a run before: a recorder knows no events.
    numbers: tuple[int, ...] = ()

    @property
    def rule(self) -> HitRule | None:
        """The part that a session applies to each hit of a breakpoint."""
        rest = structs.replace(self.hits, thread=None, changes=False)
        text = " ".join(rest.options())
        return HitRule(rest, text, self.after, self.until) if rest else None


EVERY_CALL = CallFilter()


def _is_of_thread(hits: HitFilter, thread: int | None, number: int | None) -> bool:
    if hits.thread_name:
        return hits.thread_name == thread_name(thread)
    return hits.thread in {None, number}


async def _call_breakpoint(
    program: RecordedProgram, function: FunctionPlace, nth: int, when: str, filtered: CallFilter
) -> BreakpointSpec:
    """Return the breakpoint of a function's calls."""
    assert program.question is not None
    if not program.question.has_passing_thread_ids:
        refuse_thread_name(filtered.hits)
    # Without a name, in JavaScript, it is the function around the line.
    nameless = "" if program.language == counted_run.JAVASCRIPT else None
    return BreakpointSpec(
        file=await _resolve_file(program, function) or None,
        line=function.line or None,
        function=function.name or nameless,
        condition=when or None,
        hit_count=nth if nth > 1 and not filtered.hits else None,
        thread=None if program.question.has_passing_thread_ids else filtered.hits.thread,
        rule=filtered.rule,
    )


async def step_through(
    program: RecordedProgram,
    function: FunctionPlace,
    *,
    nth: int,
    when: str,
    most: int,
    filtered: CallFilter = EVERY_CALL,
) -> RecordedRun:
    """Run a program to a function, from its nth call on, and step through `most` calls.

    Of filtered calls the numbers are counted here, of others by the debugger.

    Raises:
        DebuggerError: NOT_FOUND if it was not called; what starting the program raises.
    """
    # 1. A breakpoint on the function, with the condition and the hit count, stops at each call.
    # 2. `step_through_call` steps over one line at a time, compares the locals with those of the
    #    line before, and emits the same events that a recorder would.
    # 3. After each step `find_call_end` compares the two stops to tell whether the call ended, and
    #    how: by the depth of the stack, the function, a returned value or an exception.
    # 4. A hit of the same breakpoint further in is a recursive call, which is run to its end.
    # 5. A stop in another thread ends the record of the call.
    assert program.question is not None
    spec = await _call_breakpoint(program, function, nth, when, filtered)
    remaining = nth - 1 if filtered.hits else 0  # calls before the nth
    question = dataclasses.replace(program.question, breakpoints=(spec,))
    async with question_run.run_question(question) as run:
        # A breakpoint that is switched on again would count its hits from the beginning.
        is_alone = most == 1 or (nth == 1 and filtered.rule is None)
        walk = _SteppedCalls(run, is_alone=is_alone, takes_changes=filtered.hits.changes)
        stop = await run.wait_first()
        threads = ThreadOrder()
        while stop.state == State.STOPPED.value and (walk.is_call(stop) or stop.exception):
            if not walk.is_call(stop):  # uncaught, perhaps in one of several processes
                stop = await run.go_on(run.session_of(stop))
                continue
            number = threads.number_of(stop.thread)
            if spec.thread is None and not _is_of_thread(filtered.hits, stop.thread, number):
                stop = await run.go_on(run.session_of(stop))
                continue
            if not await walk.has_changed(stop) or remaining:
                remaining -= walk.is_changed
                stop = await run.go_on(run.session_of(stop))
                continue
            stop = await walk.step_through_call(stop)
            if walk.calls == most or stop.state != State.STOPPED.value:
                break
            await walk.switch_breakpoint(stop, on=True)
            if not walk.is_call(stop):
                stop = await run.go_on(run.session_of(stop))
        if not walk.calls:
            is_filtered = bool(when or filtered.hits)
            raise _missed_error(run, function, stop, nth=nth, is_filtered=is_filtered)
        walk.add_notes([] if walk.has_yielded else _naming_notes(run, walk))
        recording = walk.to_recording()
        return RecordedRun(recording, (recording,), _stepped_run_view(program, walk, stop), STEPPED)


async def _resolve_file(program: RecordedProgram, function: FunctionPlace) -> str:
    """Return the file of a function, which a name with it needs whole."""
    if not function.file or not function.name or Path(function.file).is_file():
        return function.file
    launched = program.launch
    folders = [str(Path(launched.program).parent)] if launched.program else []
    return await asyncio.to_thread(
        source_files.resolve_source,
        function.file,
        [launched.cwd, *folders],
        launched.program,
        SourceMap(),
    )


def _missed_error(
    run: RunningQuestion,
    function: FunctionPlace,
    stop: answers.Stop,
    *,
    nth: int,
    is_filtered: bool,
) -> DebuggerError:
    words = function.name or f"{Path(function.file).name}:{function.line}"
    bound = next((one.bound for one in run.session.breakpoints.user_breakpoints()), None)
    if bound is not None and not bound.verified:
        near = [one for one in bound.near_names if one != function.name]
        text = describe_near(bound.why or f"no function {words}", near)
        again = repeat_question("debugger calls", near, run.session.traits.runtime)
        return DebuggerError(ErrorCode.NOT_FOUND, text, hint=again)
    if stop.timed_out:
        count = f" {nth:,} times" if nth > 1 else ""
        text = f"{words} was not called{count} in time"
        return DebuggerError(ErrorCode.TIMEOUT, text, hint="debugger calls --timeout 300 …")
    if stop.state != State.TERMINATED.value:
        how = f", for {stop.description}" if stop.description else ""
        text = f"{words} was not called: the program is {stop.state}{how}"
        return DebuggerError(ErrorCode.NOT_FOUND, text, hint="debugger calls --timeout 300 …")
    again = f"debugger calls {quote(words)}"
    if is_filtered:
        text = f"no call of {words} passed the filter, or there was none"
        return DebuggerError(ErrorCode.NOT_FOUND, text, hint=f"{again} -- CMD")
    if nth > 1:
        text = f"{words} was called fewer than {nth} times"
        return DebuggerError(ErrorCode.NOT_FOUND, text, hint=f"{again} --nth last -- CMD")
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{words} was not called",
        hint=suggest_what_ran(run.session.traits.runtime),
    )


def _naming_notes(run: RunningQuestion, walk: _SteppedCalls) -> list[str]:
    """Say which function a name was taken for, and which others have it."""
    known = run.session.breakpoints.user_breakpoints()
    notes = [one.at.note for one in known if one.at is not None and one.at.note]
    made = walk.count_calls()
    if len(made) > 1:
        files = short_paths(one.file for one, _ in made)
        each = ", ".join(f"{one.name} {files[one.file]}:{one.line} x{count}" for one, count in made)
        notes.append(f"several functions have this name: {each}; FILE:LINE takes one of them")
    return notes


# Xdebug 3.2 stops at a function's breakpoint there, too.
_RESUMED = "each time that the generator goes on is counted as a call"
_PASSED_CALLS = "calls that one of these made, or other threads meanwhile, are not among them"
_UNSEEN_CALLS = "calls that began while one of these awaited something are not among them"


class _SteppedCalls:
    """Steps through calls and records them.

    While one call `is_alone`, the function's breakpoint is disabled: other threads and recursive
    calls pass it, and the debugger does not lose the step to such a hit.
    """

    def __init__(
        self, run: RunningQuestion, *, is_alone: bool, takes_changes: bool = False
    ) -> None:
        self.run = run
        self._takes_changes = takes_changes
        self._given: tuple[RecordedValue, ...] | None = None  # the arguments of the call before
        self.is_changed = True
        self._is_alone = is_alone
        self._places: tuple[int, ...] = ()
        self._thrown: tuple[str, str] | None = None  # in the current step, and not caught so far
        self._raised: tuple[str, str] | None = None  # the last of the current call
        self._entry: answers.FrameView | None = None
        self._began = asyncio.get_running_loop().time()
        self._functions: dict[tuple[str, str, int], RecordedFunction] = {}
        self.events: list[Event] = []
        self.calls = 0
        self._has_awaited = False
        self._has_passed = False  # a call may have been, while the breakpoint was disabled
        self.has_yielded = False
        self._notes: list[str] = []

    @property
    def notes(self) -> list[str]:
        """What is to be said of the calls."""
        noted = {
            _UNSEEN_CALLS: self._has_awaited,
            _PASSED_CALLS: self._has_passed,
            _RESUMED: self.has_yielded,
        }
        return [*self._notes, *(note for note, is_so in noted.items() if is_so)]

    @property
    def elapsed_ns(self) -> int:
        """The nanoseconds since the start of the run."""
        return int((asyncio.get_running_loop().time() - self._began) * _NS)

    def add_notes(self, notes: list[str]) -> None:
        """Add what is to be said of the calls."""
        self._notes += notes

    def to_recording(self) -> Recording:
        """Return the recording; the total number of calls is unknown."""
        functions = {one.number: one for one in self._functions.values()}
        return Recording(functions=functions, events=tuple(self.events), chosen=self.calls)

    def count_calls(self) -> list[tuple[RecordedFunction, int]]:
        """Return the functions that were called, and how often each."""
        called = [one.function for one in self.events if isinstance(one, CallEntered)]
        return [(one, called.count(one.number)) for one in self._functions.values()]

    def is_call(self, stop: answers.Stop) -> bool:
        """Return whether a stop is at the beginning of a call."""
        runtime, entry = self.run.session.traits.runtime, self._entry
        return bool(stop.hit_breakpoints) or (
            entry is not None and is_another(entry, stop, runtime)
        )

    async def has_changed(self, stop: answers.Stop) -> bool:
        """Check whether a call's arguments differ from those of the call before, if that counts."""
        if self._takes_changes and stop.frame is not None:
            given = await self._call_arguments(stop, stop.frame, _local_texts(stop))
            self.is_changed = given != self._given
            self._given = given
        return self.is_changed

    async def step_through_call(self, stop: answers.Stop) -> answers.Stop:
        """Step through the call that was stopped at, and return the stop after it."""
        self.calls += 1
        call = self.calls
        frame, known = stop.frame, _local_texts(stop)
        assert frame is not None  # it stopped at a breakpoint
        self._entry, self._raised = frame, None
        # Arguments that are read before the prologue's end are garbage.
        given = () if self._is_early(frame) else await self._call_arguments(stop, frame, known)
        self.events += [
            CallEntered(call, 0, self._called_function(frame).number, 1, self.elapsed_ns, 0, given),
            LinePassed(call, self.elapsed_ns, frame.line or 0),
        ]
        self._places = stop.hit_breakpoints
        await self.switch_breakpoint(stop, on=False)
        session, catch = self.run.session_of(stop), await self._add_catch(stop)
        if self._is_alone:
            threads = await session.run_job(functools.partial(inspection.list_threads, session))
            self._has_passed |= len(threads.threads) > 1
        stop = await self._step_lines(call, stop, known)
        if catch is not None:
            await session.run_job(functools.partial(session.binding.drop_number, catch))
        return stop

    async def _step_lines(
        self, call: int, stop: answers.Stop, known: Mapping[str, str]
    ) -> answers.Stop:
        """Step line by line to the end of a call, which may be bounded; return the last stop."""
        frame, thread, depth = stop.frame, stop.thread, depth_of(stop)
        assert frame is not None
        entry, runtime = frame, self.run.session.traits.runtime
        for _ in range(LINES_MAX):
            text = next((one.text for one in stop.source if one.current), "")
            words = re.split(r"\W+", text)
            self._has_awaited |= "await" in words
            self._has_passed |= self._is_alone and _short_name(entry) in words
            self.has_yielded |= runtime is Runtime.PHP and "yield" in text
            before, stop = stop, await self._step_line(stop, depth)
            # The step was interrupted in the middle: its end is unknown.
            is_same = stop.session == before.session  # else the call's process has ended
            if stop.state == State.STOPPED.value and is_same and stop.thread != thread:
                self.events.append(LinesSkipped(call, 1))
                why = stop.signal or stop.description
                why = why or (stop.reason or "a breakpoint").replace("_", " ")
                self._notes.append(f"another thread stopped in the middle of a call, for {why}")
                return stop
            end_of = functools.partial(find_call_end, entry=entry, depth=depth, runtime=runtime)
            ended = end_of(before, stop) if is_same else None
            is_over = ended is not None or not is_same or stop.state == State.TERMINATED.value
            if is_over and stop.returned is None:
                ended = self._end_of_thrown(runtime, text) or ended
            if ended is not None:
                self._end_call(call, ended, frame.line or 0)
            elif is_over:
                self._notes.append(_UNKNOWN_END.format(call))
            if is_over or stop.state != State.STOPPED.value or stop.frame is None:
                return stop
            depth = depth_of(stop)  # in JavaScript it is another after an await
            now = _local_texts(stop)
            changed = tuple(
                RecordedValue(*one) for one in now.items() if known.get(one[0]) != one[1]
            )
            if changed:
                self.events.append(ValuesChanged(call, changed))
            if stop.frame.line != frame.line:  # debuggers stop several times on some lines
                self.events.append(LinePassed(call, self.elapsed_ns, stop.frame.line or 0))
            known, frame = {**known, **now}, stop.frame  # blocks have names of their own
        self.events.append(LinesSkipped(call, 1))
        self._notes.append(f"only the first {LINES_MAX} lines of a call are stepped through")
        return stop

    def _end_of_thrown(self, runtime: Runtime, last: str) -> CallEnd | None:
        """Return the end of a call that returned nothing known; None if nothing was thrown in it.

        Args:
            runtime: That of the call.
            last: The text of its last line.
        """
        # Ruby shows what each call returned: behind an ensure clause it raised all the same.
        thrown = self._thrown or (self._raised if runtime is Runtime.RUBY else None)
        if thrown is not None:
            return CallEnd(error=thrown)
        # Behind a finally Xdebug shows neither a return nor an exception that goes on. A function
        # that ends without a return stops at its last line.
        if runtime is not Runtime.PHP or self._raised is None or last.strip() == "}":
            return None
        return CallEnd(doubt=_BEHIND_FINALLY.format(self._raised[0]))

    async def _add_catch(self, stop: answers.Stop) -> int | None:
        """Stop at each exception of a call where its steps are silent about them."""
        session = self.run.session_of(stop)
        if session.traits.runtime not in _SILENT:
            return None
        spec = BreakpointSpec(catch="raised")
        added = await session.run_job(functools.partial(session.binding.add, spec))
        return added.id

    def _end_call(self, call: int, ended: CallEnd, line: int) -> None:
        if ended.error is not None:
            self.events.append(CallRaised(call, self.elapsed_ns, *ended.error, line))
        elif ended.value is not None:
            self.events.append(CallReturned(call, self.elapsed_ns, ended.value))
        elif ended.doubt:
            self._notes.append(f"call {call} was not seen to end: {ended.doubt}")
        else:
            self._notes.append(f"the call waits at line {line}: where it goes on is not told")

    async def switch_breakpoint(self, stop: answers.Stop, *, on: bool) -> None:
        """Enable or disable the function's breakpoint while one call is stepped through."""
        if not self._is_alone or not self._places:
            return
        session = self.run.session_of(stop)
        for number in self._places:
            await session.run_job(functools.partial(session.binding.enable, number, on=on))

    async def _step_line(self, stop: answers.Stop, depth: int) -> answers.Stop:
        """Step over a line; what stops further in, a recursive call, is run to its end."""
        self._thrown, session, how = None, stop.session, ResumeKind.NEXT
        before, line = self._raised, stop.frame.line if stop.frame is not None else None
        is_silent, has_thrown = self.run.session_of(stop).traits.runtime in _SILENT, False
        stop = await self._resume_and_wait(stop, how)
        for _ in range(_DEEPER_MAX):
            is_stopped = stop.state == State.STOPPED.value and stop.session == session
            is_deeper = is_stopped and depth_of(stop) > depth
            # One that a caller may catch.
            is_thrown = is_silent and is_stopped and stop.reason == StopReason.EXCEPTION.value
            has_thrown |= is_thrown
            is_back = is_stopped and how is ResumeKind.FINISH and depth_of(stop) >= depth
            if is_thrown and stop.exception is not None:
                self._thrown = self._raised = (stop.exception.type, stop.exception.message)
            elif is_back:  # it was caught further in, or waits for an ensure clause
                self._thrown = None
                self._raised = before if stop.returned is not None else self._raised
            # What the line called has returned, and the line goes on.
            is_within = is_back and not is_deeper and is_silent
            is_within = is_within and stop.frame is not None and stop.frame.line == line
            is_run_out = is_deeper and (stop.hit_breakpoints or has_thrown)
            if not (is_thrown or is_within or is_run_out):
                break
            how = ResumeKind.FINISH if is_deeper else ResumeKind.NEXT
            stop = await self._resume_and_wait(stop, how)
        return stop

    async def _resume_and_wait(self, stop: answers.Stop, how: ResumeKind) -> answers.Stop:
        patience = WaitLimit(min(_STEP_S, self.run.left_s), self.run.patience.interrupted)
        return await stepping.resume_and_wait(self.run.session_of(stop), how, patience)

    async def _call_arguments(
        self, stop: answers.Stop, frame: answers.FrameView, known: Mapping[str, str]
    ) -> tuple[RecordedValue, ...]:
        """Return a call's arguments, from the debugger or else from the function's header."""
        session = self.run.session_of(stop)
        try:
            variables = await session.run_job(
                functools.partial(inspection.frame_variables, session, only_arguments=True)
            )
        except DebuggerError:
            return _in_header(frame, known)
        return tuple(RecordedValue(one.name, one.value) for one in variables.variables)

    def _is_early(self, frame: answers.FrameView) -> bool:
        """Return whether the stop may precede the storage of the arguments.

        LLDB finds the end of a function's prologue by its second line; some functions have only
        one.
        """
        if not self.run.session.traits.stops_before_arguments:
            return False
        text = "".join(function_lookup.lines_of(frame.file or "")[(frame.line or 0) - 1 :][:1])
        return f"{_short_name(frame)}(" in text and "}" in text

    def _called_function(self, frame: answers.FrameView) -> RecordedFunction:
        # With the line: overloads have one name.
        key = (frame.function or "?", frame.file or "", frame.line or 0)
        number = len(self._functions) + 1
        return self._functions.setdefault(key, RecordedFunction(number, *key))


def _short_name(frame: answers.FrameView) -> str:
    return re.split(r"::|\.|#|->", frame.function or "")[-1].partition("(")[0]


def _local_texts(stop: answers.Stop) -> dict[str, str]:
    return {one.name: one.value for one in stop.locals if one.value != UNASSIGNED}


def _in_header(frame: answers.FrameView, known: Mapping[str, str]) -> tuple[RecordedValue, ...]:
    """Choose the variables at the entry that the function's header names."""
    text = function_lookup.lines_of(frame.file or "")
    last = frame.line or 0
    header = "\n".join(text[max(last - _HEADER, 0) : last])
    name = _short_name(frame)
    begins = header.rfind(f"{name}(")
    if begins < 0:
        return tuple(RecordedValue(*one) for one in known.items())
    header_end = header[begins + len(name) :]
    words = set(
        re.findall(r"\w+", header_end[: header_end.find("{")] if "{" in header_end else header_end)
    )
    return tuple(RecordedValue(one, value) for one, value in known.items() if one in words)


def _stepped_run_view(program: RecordedProgram, walk: _SteppedCalls, stop: answers.Stop) -> RunView:
    is_over = stop.state == State.TERMINATED.value
    found = traced_run.traced_run_view(
        walk.run, stop, program.words, took_s=walk.elapsed_ns / _NS, notes=walk.notes
    )
    return structs.replace(
        found, timed_out=stop.timed_out, is_cut=not is_over and not stop.timed_out
    )
