"""Finds the write of memory that no line of the source names, with a hardware watchpoint of delve.

Two slices may have one array: what is appended to one, or copied into it, changes the other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.program import ResumeKind, StopReason
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote import value_writers
from debugger.questions.why.go_chain import WatchStart
from debugger.questions.why.go_plan import line_breakpoint
from debugger.questions.why.go_run import GoLocation, GoLog, GoStop
from debugger.questions.why.go_source import GoSite
from debugger.session import inspection

_WRITES_MAX = 1_000
_STOPS_MAX = 20_000
_CALLERS = 3


class MemoryWatch(Struct, frozen=True):
    """What is watched: from the first of the starts that has the expression, to the location."""

    starts: tuple[WatchStart, ...]
    until: GoLocation
    # The write at which the run stops; 0: none.
    write: int = 0


class MemoryWrite(Struct, frozen=True):
    """A write of the watched memory."""

    number: int
    expression: str
    frame: FrameView
    callers: tuple[FrameView, ...]
    goroutine: int
    old: str | None
    new: str | None


@dataclass
class _WatchedRun:
    """The state of one run."""

    run: RunningQuestion
    plan: MemoryWatch
    expression: str | None = None  # that is watched
    hits: dict[int, int] = field(default_factory=dict)
    writes: list[MemoryWrite] = field(default_factory=list)
    thread: int = 0
    is_at_write: bool = False

    async def follow(self) -> None:
        """Run to the requested write, or to the location."""
        stop = await self.run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value or len(self.writes) >= _WRITES_MAX:
                return
            self.thread = stop.thread if stop.thread is not None else 0
            if stop.watched:
                await self._note_write(stop)
                self.is_at_write = len(self.writes) == self.plan.write
            if self.is_at_write or self._is_at_location(stop):
                return
            if self.expression is None and self._begins_at(stop) is not None:
                stop = await self._begin(stop)
                continue
            stop = await self.run.go_on(self.run.session_of(stop))

    def _is_at_location(self, stop: answers.Stop) -> bool:
        until = self.plan.until
        if until.spec is None:
            return stop.reason in {StopReason.EXCEPTION.value, StopReason.SIGNAL.value}
        frame = stop.frame
        # A step that ends at a breakpoint is reported as a step.
        is_there = frame is not None and (frame.file, frame.line) == (
            until.spec.file,
            until.spec.line,
        )
        is_step = is_there and stop.reason == StopReason.STEP.value
        self.hits[1] = self.hits.get(1, 0) + (1 in stop.hit_breakpoints or is_step)
        return self.hits[1] >= until.hit

    def _begins_at(self, stop: answers.Stop) -> WatchStart | None:
        """Return the start that a stop is at, if it is the recorded time."""
        # delve keeps one breakpoint of a line: at a panic there is none of the location.
        for number, one in enumerate(self.plan.starts, 1 if self.plan.until.spec is None else 2):
            if number in stop.hit_breakpoints:
                self.hits[number] = self.hits.get(number, 0) + 1
                if self.hits[number] == one.record.hit:
                    return one
        return None

    async def _begin(self, stop: answers.Stop) -> answers.Stop:
        """Run the line of a start, and watch its expression if it has a value then."""
        file, line = (stop.frame.file, stop.frame.line) if stop.frame is not None else (None, None)
        start = next(
            one
            for one in self.plan.starts
            if (one.record.site.file, one.record.site.line) == (file, line)
        )
        after = await self.run.go_on(self.run.session_of(stop), how=ResumeKind.NEXT)
        if after.state != State.STOPPED.value:
            return after
        session = self.run.session_of(after)

        async def job() -> bool:
            frame = await inspection.frame_of(session)
            spec = BreakpointSpec(watch=start.expression)
            added = await session.binding.watching.add(spec, session.backend, frame)
            return added.bound is not None and added.bound.verified

        try:
            if await session.run_job(job):
                self.expression = start.expression
        except DebuggerError as error:
            if error.code not in {ErrorCode.EVALUATION_FAILED, ErrorCode.NOT_SUPPORTED}:
                raise
        return after

    async def _note_write(self, stop: answers.Stop) -> None:
        session, change = self.run.session_of(stop), stop.watched[0]
        stack = await session.run_job(lambda: session.backend.read_stack(self.thread, levels=20))
        own = [one for one in stack.frames if not one.function.startswith("runtime.")]
        views = [FrameView(one.index, one.function, one.file, one.line) for one in own]
        if not views:
            return
        first = own[0]
        if first.index == 0:
            line = await session.run_job(lambda: value_writers.line_before(session, first))
            views[0] = FrameView(0, first.function, first.file, line)
        self.writes.append(
            MemoryWrite(
                len(self.writes) + 1,
                change.expression,
                views[0],
                tuple(views[1 : 1 + _CALLERS]),
                self.thread,
                change.previous,
                change.value,
            )
        )


@asynccontextmanager
async def _run_watched(
    question: QuestionRun, plan: MemoryWatch, sites: Sequence[GoSite]
) -> AsyncIterator[tuple[_WatchedRun, GoLog]]:
    # Number 1 is the location (`hit_breakpoints`), unless that is a panic.
    at = [plan.until.spec] if plan.until.spec is not None else []
    begins = [*at, *(line_breakpoint(one.record.site) for one in plan.starts)]
    taken = {(one.file, one.line) for one in begins}
    log = GoLog(
        question,
        [one for one in sites if (one.file, one.line) not in taken],
        first=len(begins) + 1,
    )
    async with question_run.run_question(log.tap_question(begins)) as run:
        found = _WatchedRun(run, plan)
        await found.follow()
        yield found, log


async def find_memory_write(
    question: QuestionRun, plan: MemoryWatch, value: str | None
) -> MemoryWrite | None:
    """Return the last write of a value to the memory before the location; None if none was seen."""
    async with _run_watched(question, plan, ()) as (found, _):
        equal = [
            one for one in found.writes if value is None or _is_same_value(one.new or "", value)
        ]
        return equal[-1] if equal else None


def _is_same_value(one: str, other: str) -> bool:
    """Return whether two texts are of one value; a byte is also shown in hexadecimal."""
    return one.partition(" = 0x")[0] == other.partition(" = 0x")[0]


@asynccontextmanager
async def run_to_write(
    question: QuestionRun, plan: MemoryWatch, sites: Sequence[GoSite]
) -> AsyncIterator[GoStop]:
    """Run a program to a write of the watched memory, with the records of the sites.

    Raises:
        DebuggerError: NOT_FOUND if the write is not seen again.
    """
    async with _run_watched(question, plan, sites) as (found, log):
        if not found.is_at_write:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                "the write was not seen again: the program runs differently each time",
                hint="debugger who-wrote EXPR --at LOC -- CMD",
            )
        stop = GoStop(found.run, log)
        await stop.read_stack(found.thread)
        yield stop
