"""How is a call told line by line where a program cannot be recorded: by stepping through it."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.model import Resume
from debugger.core.state import State
from debugger.errors import Code, DebuggerError
from debugger.questions import asking, counted, native, places
from debugger.questions.asking import Run
from debugger.questions.left import Left, depth_of, is_another, left
from debugger.questions.recorded import Program, Recorded
from debugger.recording.model import (
    Changed,
    Entered,
    Event,
    Function,
    Passed,
    Raised,
    Recording,
    Returned,
    Skipped,
    Value,
)
from debugger.recording.order import Place
from debugger.session import stepping
from debugger.session.looking import variables
from debugger.session.stepping import Patience

LINES_MAX = 200
STEPPED = "stepped"
_STEP_S = 10.0
_DEEPER_MAX = 100
_UNKNOWN_END = (
    "call {} was not seen to end: the program ended in it, or an exception left it and the program "
    "stopped nowhere after that"
)
_HEADER = 8  # lines that a function's header may have
_NS = 1_000_000_000
_LLDB = ("lldb", "codelldb")


async def step_through(
    program: Program, wanted: Place, *, nth: int, when: str, most: int
) -> Recorded:
    """Run a program to a function, from its nth call on, and step through `most` calls of it.

    Raises:
        DebuggerError: NOT_FOUND where it was not called; what starting the program raises.
    """
    assert program.question is not None
    # Without a name, in JavaScript, it is the function around the line.
    nameless = "" if program.language == counted.JAVASCRIPT else None
    spec = Spec(
        file=wanted.file or None,
        line=wanted.line or None,
        function=wanted.name or nameless,
        condition=when or None,
        hit_count=nth if nth > 1 else None,
    )
    question = dataclasses.replace(program.question, breakpoints=(spec,))
    async with asking.running(question) as run:
        # A breakpoint that is switched on again would count its hits from the beginning.
        walk = _Walk(run, is_alone=nth == 1 or most == 1)
        stop = await run.first()
        while stop.state == State.STOPPED.value and walk.is_call(stop):
            stop = await walk.call(stop)
            if walk.calls == most or stop.state != State.STOPPED.value:
                break
            await walk.switch(stop, on=True)
            if not walk.is_call(stop):
                stop = await run.go_on(run.at(stop))
        if not walk.calls:
            raise _missed(run, wanted, stop)
        seen = walk.recording()
        return Recorded(seen, (seen,), _view(program, walk, stop), STEPPED)


def _missed(run: Run, wanted: Place, stop: answers.Stop) -> DebuggerError:
    words = wanted.name or f"{Path(wanted.file).name}:{wanted.line}"
    bound = next((one.bound for one in run.session.breakpoints.listed()), None)
    if bound is not None and not bound.verified:
        near = bound.near_names
        is_misspelt = bool(wanted.name and near) or not bound.why
        said = f"no function {words}" if is_misspelt else bound.why
        there = f"; there is {', '.join(near)}" if near else ""
        return DebuggerError(
            Code.NOT_FOUND,
            f"{said}{there}",
            hint=f"debugger calls {near[0] if near else 'FUNCTION'} -- CMD",
        )
    if stop.state != State.TERMINATED.value:
        how = f", for {stop.description}" if stop.description else ""
        said = f"{words} was not come to: the program {stop.state}{how}"
        return DebuggerError(Code.NOT_FOUND, said, hint="--timeout S gives it longer")
    return DebuggerError(
        Code.NOT_FOUND,
        f"{words} was not called, or not so often, or not as --when wants it",
        hint="debugger path -- CMD shows what ran",
    )


class _Walk:
    """The calls that were stepped through.

    While one `is_alone`, the function's breakpoint is off: other threads, and calls that it makes
    of itself, pass it, and a debugger does not lose the step for them.
    """

    def __init__(self, run: Run, *, is_alone: bool) -> None:
        self.run = run
        self._is_alone = is_alone
        self._places: tuple[int, ...] = ()
        self._entry: answers.FrameView | None = None
        self._began = asyncio.get_running_loop().time()
        self._functions: dict[tuple[str, str], Function] = {}
        self.events: list[Event] = []
        self.calls = 0
        self.notes: list[str] = []

    @property
    def now(self) -> int:
        """The nanoseconds since it began."""
        return int((asyncio.get_running_loop().time() - self._began) * _NS)

    def recording(self) -> Recording:
        """Return what was seen; how often the function was called is not known."""
        functions = {one.number: one for one in self._functions.values()}
        return Recording(functions=functions, events=tuple(self.events), chosen=self.calls)

    def is_call(self, stop: answers.Stop) -> bool:
        """Tell whether a stop is at the beginning of a call."""
        adapter, entry = self.run.session.adapter, self._entry
        return bool(stop.hit_breakpoints) or (
            entry is not None and is_another(entry, stop, adapter)
        )

    async def call(self, stop: answers.Stop) -> answers.Stop:
        """Step through the call that was stopped at, and return the stop after it."""
        self.calls += 1
        call, depth = self.calls, depth_of(stop)
        frame, known = stop.frame, _locals(stop)
        assert frame is not None  # it stopped at a breakpoint
        self._entry = entry = frame
        adapter = self.run.session.adapter
        given = () if self._is_early(frame) else await self._arguments(stop, frame, known)
        self.events += [
            Entered(call, 0, self._function(frame).number, 1, self.now, 0, given),
            Passed(call, self.now, frame.line or 0),
        ]
        self._places, thread = stop.hit_breakpoints, stop.thread
        await self.switch(stop, on=False)
        for _ in range(LINES_MAX):
            before, stop = stop, await self._next(stop, depth)
            if stop.state == State.STOPPED.value and stop.thread != thread:
                self.events.append(Skipped(call, 1))
                why = stop.signal or stop.description
                why = why or (stop.reason or "a breakpoint").replace("_", " ")
                self.notes.append(f"another thread stopped in the middle of a call, for {why}")
                return stop
            ended = left(before, stop, entry=entry, depth=depth, adapter=adapter)
            if ended is not None:
                self._end(call, ended, frame.line or 0)
            if ended is None and stop.state == State.TERMINATED.value:
                self.notes.append(_UNKNOWN_END.format(call))
            if ended is not None or stop.state != State.STOPPED.value or stop.frame is None:
                return stop
            depth = depth_of(stop)  # in JavaScript it is another after an await
            now = _locals(stop)
            changed = tuple(Value(*one) for one in now.items() if known.get(one[0]) != one[1])
            if changed:
                self.events.append(Changed(call, changed))
            if stop.frame.line != frame.line:  # debuggers stop several times on some lines
                self.events.append(Passed(call, self.now, stop.frame.line or 0))
            known, frame = {**known, **now}, stop.frame  # blocks have names of their own
        self.events.append(Skipped(call, 1))
        self.notes.append(f"only the first {LINES_MAX} lines of a call are stepped through")
        return stop

    def _end(self, call: int, ended: Left, line: int) -> None:
        if ended.error is not None:
            self.events.append(Raised(call, self.now, *ended.error, line))
        elif ended.value is not None:
            self.events.append(Returned(call, self.now, ended.value))
        else:
            self.notes.append(f"the call waits at line {line}: where it goes on is not told")

    async def switch(self, stop: answers.Stop, *, on: bool) -> None:
        """Switch the function's breakpoint, where a call is to be stepped through alone."""
        if not self._is_alone or not self._places:
            return
        session = self.run.at(stop)
        for number in self._places:
            await session.do(functools.partial(session.binding.enable, number, on=on))

    async def _next(self, stop: answers.Stop, depth: int) -> answers.Stop:
        """Step over a line; what stops further in at our own breakpoint is run to its end."""
        stop = await self._resume(stop, Resume.NEXT)
        for _ in range(_DEEPER_MAX):
            is_ours = stop.state == State.STOPPED.value and bool(stop.hit_breakpoints)
            if not is_ours or depth_of(stop) <= depth:
                break
            stop = await self._resume(stop, Resume.FINISH)
        return stop

    async def _resume(self, stop: answers.Stop, how: Resume) -> answers.Stop:
        patience = Patience(min(_STEP_S, self.run.left_s), self.run.patience.interrupted)
        return await stepping.resume(self.run.at(stop), how, patience)

    async def _arguments(
        self, stop: answers.Stop, frame: answers.FrameView, known: Mapping[str, str]
    ) -> tuple[Value, ...]:
        """Return what a call was given: as the debugger tells it, or else by the header."""
        session = self.run.at(stop)
        try:
            told = await session.do(functools.partial(variables, session, only_arguments=True))
        except DebuggerError:
            return _in_header(frame, known)
        return tuple(Value(one.name, one.value) for one in told.variables)

    def _is_early(self, frame: answers.FrameView) -> bool:
        """Tell whether it may have stopped before the arguments are where they are looked for.

        LLDB finds the end of a function's prologue by its second line; some have but one.
        """
        if not self.run.session.adapter.startswith(_LLDB):
            return False
        text = "".join(places.lines_of(frame.file or "")[(frame.line or 0) - 1 :][:1])
        name = re.split(r"::|\.", frame.function or "")[-1].partition("(")[0]
        return f"{name}(" in text and "}" in text

    def _function(self, frame: answers.FrameView) -> Function:
        key = (frame.function or "?", frame.file or "")
        number = len(self._functions) + 1
        return self._functions.setdefault(key, Function(number, *key, frame.line or 0))


def _locals(stop: answers.Stop) -> dict[str, str]:
    return {one.name: one.value for one in stop.locals}


def _in_header(frame: answers.FrameView, known: Mapping[str, str]) -> tuple[Value, ...]:
    """Choose of the variables at the entry those that the function's header names."""
    text = places.lines_of(frame.file or "")
    last = frame.line or 0
    header = "\n".join(text[max(last - _HEADER, 0) : last])
    name = re.split(r"::|\.", frame.function or "")[-1].partition("(")[0]
    begins = header.rfind(f"{name}(")
    if begins < 0:
        return tuple(Value(*one) for one in known.items())
    inside = header[begins + len(name) :]
    words = set(re.findall(r"\w+", inside[: inside.find("{")] if "{" in inside else inside))
    return tuple(Value(one, value) for one, value in known.items() if one in words)


def _view(program: Program, walk: _Walk, stop: answers.Stop) -> answers.RunView:
    is_over = stop.state == State.TERMINATED.value
    found = native.view(walk.run, stop, program.words, took_s=walk.now / _NS, notes=walk.notes)
    return structs.replace(
        found, timed_out=stop.timed_out, is_cut=not is_over and not stop.timed_out
    )
