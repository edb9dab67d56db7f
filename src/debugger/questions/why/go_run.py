"""Runs a Go program to a location under delve, with logpoints at the lines that give values."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import Struct

from debugger.backends.base import BackendEvent, LogpointPassed, Sink
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.program import EvaluationPurpose, Frame, StopReason, Variable
from debugger.questions.locations.missing_function import (
    describe_near,
    missing_name,
    repeat_question,
)
from debugger.questions.probe.logpoint_probe import logpoint_text, parse_cells
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion, describe_end
from debugger.questions.why import go_values
from debugger.questions.why.go_plan import (
    LoggedExpression,
    PassBegin,
    address_text,
    logged_expressions,
)
from debugger.questions.why.go_source import GoSite, GoSourceFunction
from debugger.session.session import Session

_RECORDS_MAX = 20_000
_STOPS_MAX = 20_000
_FRAMES = 40
_NUMBER = re.compile(r"0x[0-9a-f]+|-?\d+")
_USER_END = 1 << 47  # delve gives what is in registers an address of its own, above this
_STACK_BITS = 36
_RUNTIME = re.compile(r"runtime\.|testing\.|internal/|reflect\.")


class GoRecord(Struct, frozen=True):
    """One time that a logged line was reached, before it ran."""

    site: GoSite
    sequence: int
    # Counts the times that this line was reached, from 1.
    hit: int
    goroutine: int
    # Of the frame: its distance from the beginning of the goroutine's stack.
    depth: int
    values: Mapping[str, str]
    # As `stable_address` gives them.
    addresses: Mapping[str, int]
    pointers: Mapping[str, int]
    lengths: Mapping[str, int]


class GoFrame(Struct, frozen=True):
    """A frame of the stack at the stop."""

    index: int
    function: str
    file: str | None
    line: int | None


class LogOverflowError(Exception):
    """More records than one run is to have: each takes the debugger milliseconds."""


class LogWindow(Struct, frozen=True):
    """The hit of a line from which on all sites are logged; some are from the beginning."""

    begin: PassBegin
    hit: int
    # The functions on the stack at the location: what they gave their variables is logged always.
    stack: tuple[GoSourceFunction, ...]

    def logs_always(self, site: GoSite) -> bool:
        """Return whether a site is logged from the beginning; a line has one breakpoint alone."""
        is_known = site.function in self.stack and not self.begin.is_of_pass(site)
        return is_known and not _is_at(site, self.begin.spec)


@dataclass
class GoLog:
    """The records of one run; logpoints are numbered from `first`."""

    question: QuestionRun
    sites: Sequence[GoSite]
    first: int
    window: LogWindow | None = None
    # Ends the run at too many records.
    bound: asyncio.Timeout | None = None
    records_most: int = 0
    records: list[GoRecord] = field(default_factory=list)
    missed: int = 0
    # The sites of each logpoint: delve keeps one breakpoint of a line.
    _groups: list[list[GoSite]] = field(default_factory=list)
    _early: int = 0  # groups that are logged from the beginning
    _expressions: list[list[LoggedExpression]] = field(default_factory=list)
    _hits: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        groups: dict[tuple[str, int], list[GoSite]] = {}
        for one in self.sites:
            groups.setdefault((one.file, one.line), []).append(one)
        window = self.window
        is_early = [window is None or window.logs_always(some[0]) for some in groups.values()]
        some = zip(is_early, groups.values(), strict=True)
        self._groups = [one for _, one in sorted(some, key=lambda each: not each[0])]
        self._early = sum(is_early)
        self._expressions = [
            list(dict.fromkeys(each for one in some for each in logged_expressions(one)))
            for some in self._groups
        ]

    @property
    def count(self) -> int:
        """The number of records, with those that were not kept."""
        return self.missed + len(self.records)

    def breakpoints(self) -> list[BreakpointSpec]:
        """Return the logpoints of the sites."""
        question = self.question
        return [
            BreakpointSpec(
                file=some[0].file,
                line=some[0].line,
                log=logpoint_text(
                    [each.text for each in texts], question.traits, question.language
                ),
            )
            for some, texts in zip(self._groups, self._expressions, strict=True)
        ]

    def tap_question(self, begins: Sequence[BreakpointSpec]) -> QuestionRun:
        """Return the question with these breakpoints and the logpoints, whose events are kept."""
        make = self.question.make_backend
        return replace(
            self.question,
            make_backend=lambda sink, tasks: make(self._wrap_sink(sink), tasks),
            breakpoints=(*begins, *self.breakpoints()[: self._early]),
        )

    async def open_window(self, session: Session) -> None:
        """Log the other sites, too, from a stop on."""

        async def job() -> None:
            # The window's own line is passed again where a run is not as the one before.
            session.breakpoints.remove(self.first - 1)
            for one in self.breakpoints()[self._early :]:
                session.breakpoints.add(one)
            await session.binding.send_all(session.backend)

        await session.run_job(job)

    def _wrap_sink(self, sink: Sink) -> Sink:
        """Return a sink that keeps the logpoints' events, and passes the others on."""

        def take(event: BackendEvent) -> None:
            if not self._take(event):
                sink(event)

        return take

    def _take(self, event: BackendEvent) -> bool:
        if not isinstance(event, LogpointPassed) or event.number is None:
            return False
        at = event.number - self.first
        if not 0 <= at < len(self._groups):
            return False
        self._hits[at] = self._hits.get(at, 0) + 1
        if self.bound is not None and len(self.records) >= self.records_most > 0:
            self.bound.reschedule(0)
        if len(self.records) >= _RECORDS_MAX:
            # The last write of a value counts, and the call that led to it.
            del self.records[: _RECORDS_MAX // 2]
            self.missed += _RECORDS_MAX // 2
        texts = self._expressions[at]
        thread, cells = parse_cells(event.text, len(texts), self.question.traits.log)
        values: dict[str, str] = {}
        numbers: dict[str, dict[str, int]] = {"address": {}, "pointer": {}, "length": {}}
        depths = []
        for one, cell in zip(texts, cells, strict=True):
            if cell.is_error:
                continue
            number = _NUMBER.match(cell.text)
            if one.role == "value":
                values[one.path] = go_values.as_optimised_out(cell.text)
            elif number is not None and one.role == "depth":
                depths.append(int(number[0], 0))
            elif number is not None:
                numbers[one.role][one.path] = int(number[0], 0)
        here, high = depths if len(depths) > 1 else (0, 0)
        stable = {
            path: stable_address(address, here, high, thread or 0)
            for path, address in numbers["address"].items()
        }
        self.records += [
            GoRecord(
                site,
                self.count + number,
                self._hits[at],
                thread or 0,
                high - here,
                values,
                stable,
                numbers["pointer"],
                numbers["length"],
            )
            for number, site in enumerate(self._groups[at])
        ]
        return True


class GoStop:
    """The program at the location: its stack, its values, and the records before it."""

    def __init__(self, run: RunningQuestion, log: GoLog) -> None:
        self._run = run
        self.log = log
        self.frames: tuple[GoFrame, ...] = ()
        self.goroutine = 0
        self._frames: tuple[Frame, ...] = ()
        self._depths: dict[int, int] = {}
        self._high: int | None = None  # where the goroutine's stack begins

    async def read_stack(self, thread: int) -> None:
        """Read the frames of the goroutine."""
        session = self._run.session
        stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=_FRAMES))
        self._frames = stack.frames
        self.frames = tuple(
            GoFrame(one.index, one.function, one.file, one.line) for one in stack.frames
        )
        self.goroutine = thread

    def own_frame(self) -> int:
        """Return the number of the innermost frame that is no code of the runtime's."""
        own = (at for at, one in enumerate(self.frames) if not _RUNTIME.match(one.function))
        return next(own, 0)

    async def evaluate(self, expression: str, index: int) -> str | None:
        """Return the value of an expression in a frame; None if it has none."""
        try:
            return await self.evaluate_strictly(expression, index)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            return None

    async def evaluate_strictly(self, expression: str, index: int) -> str:
        """Return the value of an expression in a frame.

        Raises:
            DebuggerError: EVALUATION_FAILED.
        """
        session, frame = self._run.session, self._frames[index]
        found = await session.run_job(
            lambda: session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
        )
        return go_values.as_optimised_out(found.value)

    async def read_value(self, expression: str, index: int) -> Variable | None:
        """Return the value of an expression in a frame, with its children; None if it has none."""
        session, frame = self._run.session, self._frames[index]
        try:
            return await session.run_job(
                lambda: session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
            )
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            return None

    async def read_children(self, value: Variable, start: int, count: int) -> list[Variable]:
        """Return some of the children of a value."""
        session, is_indexed = self._run.session, value.indexed is not None
        if start and not is_indexed:
            return []
        return await session.run_job(
            lambda: session.backend.read_variables(
                value.handle, start=start, count=count if is_indexed else None
            )
        )

    async def complete(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that delve has cut off."""
        session = self._run.session
        return await session.run_job(lambda: session.backend.complete_values(values))

    async def number_of(self, expression: str, index: int) -> int:
        """Return an expression's value as a number; 0 if it has none."""
        text = await self.evaluate(expression, index)
        found = _NUMBER.match(text) if text is not None else None
        return int(found[0], 0) if found is not None else 0

    async def depth_of(self, index: int) -> int:
        """Return the distance of a frame from the beginning of the stack; 0 if unknown."""
        if index not in self._depths:
            here = await self.number_of("uintptr(_RSP)", index)
            if self._high is None:
                self._high = await self.number_of("runtime.curg.stack.hi", 0)
            self._depths[index] = self._high - here if here and self._high else 0
        return self._depths[index]

    async def address_of(self, path: str, index: int) -> int:
        """Return the address of a path in a frame, which can be compared with the records'."""
        depth = await self.depth_of(0)
        address = await self.number_of(address_text(path), index)
        high = self._high or 0
        return stable_address(address, high - depth, high, self.goroutine)

    async def is_optimised(self, index: int) -> bool:
        """Return whether the function of a frame was built with optimisation."""
        session, frame = self._run.session, self._frames[index]
        scopes = await session.run_job(lambda: session.backend.read_scopes(frame))
        # The mark is the name of a scope: "Locals (warning: optimized function)".
        return any("optimized" in one.name for one in scopes)


def stable_address(address: int, low: int, high: int, goroutine: int) -> int:
    """Return an address that stays the same when Go moves a goroutine's stack; 0 if there is none.

    Args:
        address: As delve gives it.
        low: The end of the stack's used part.
        high: The beginning of the stack.
        goroutine: To which the stack belongs.
    """
    if not 0 < address < _USER_END:
        return 0
    if low <= address < high:
        return address - high - (goroutine << _STACK_BITS)
    return address


class GoLocation(Struct, frozen=True):
    """Where a run is to stop: a line's hit, or the end of the program by a panic."""

    spec: BreakpointSpec | None
    hit: int
    text: str
    # The frame of the expression; None is the program's innermost one.
    frame: int | None = 0


@asynccontextmanager
async def run_to_location(
    question: QuestionRun,
    location: GoLocation,
    sites: Sequence[GoSite],
    *,
    window: LogWindow | None = None,
    records_most: int = 0,
) -> AsyncIterator[GoStop]:
    """Run a program to a location, with the records of the sites.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, TIMEOUT if it takes too long.
        LogOverflowError: There are more records than `records_most`, if that is not 0.
    """
    spec = location.spec
    if spec is not None and spec.condition is None and location.hit > 1:
        spec, location = _counted(spec, location)
    begins = [spec] if spec is not None else []
    others = [one for one in sites if not _is_at(one, location.spec)]
    if window is not None:
        begins.append(replace_spec(window.begin.spec, hit_count=window.hit))
    log = GoLog(question, others, len(begins) + 1, window, records_most=records_most)
    async with question_run.run_question(log.tap_question(begins)) as run:
        try:
            async with asyncio.timeout(None) as log.bound:
                stop = await _reach(run, location, log, is_built=_is_built(question))
        except TimeoutError:
            raise LogOverflowError from None
        finally:
            log.bound = None
        found = GoStop(run, log)
        await found.read_stack(stop.thread if stop.thread is not None else 0)
        yield found


async def count_hits(question: QuestionRun, spec: BreakpointSpec) -> int:
    """Run a program to its end, and return how often a location was reached."""
    counted = replace(question, breakpoints=(spec,))
    hits = 0
    async with question_run.run_question(counted) as run:
        stop = await run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value or 1 not in stop.hit_breakpoints:
                break
            hits += 1
            stop = await run.go_on(run.session_of(stop))
    return hits


def _counted(spec: BreakpointSpec, location: GoLocation) -> tuple[BreakpointSpec, GoLocation]:
    """Let the debugger count the hits of a location without a condition."""
    counted = replace_spec(spec, hit_count=location.hit)
    return counted, GoLocation(location.spec, 1, location.text, location.frame)


def replace_spec(spec: BreakpointSpec, *, hit_count: int) -> BreakpointSpec:
    """Return a breakpoint that stops from a hit on."""
    return BreakpointSpec(
        file=spec.file, line=spec.line, function=spec.function, hit_count=hit_count
    )


def _is_at(site: GoSite, spec: BreakpointSpec | None) -> bool:
    # Of two breakpoints at one line delve keeps one; the location's own line has not run.
    return spec is not None and (site.file, site.line) == (spec.file, spec.line)


async def _reach(
    run: RunningQuestion, location: GoLocation, log: GoLog, *, is_built: bool
) -> answers.Stop:
    stop = await run.wait_first()
    hits = 0
    for _ in range(_STOPS_MAX):
        if stop.state != State.STOPPED.value:
            break
        if location.spec is None and stop.reason in {
            StopReason.EXCEPTION.value,
            StopReason.SIGNAL.value,
        }:
            return stop
        hits += location.spec is not None and 1 in stop.hit_breakpoints
        if location.spec is not None and hits >= location.hit:
            return stop
        if location.spec is not None and stop.reason == StopReason.EXCEPTION.value:
            break
        if log.window is not None and log.first - 1 in stop.hit_breakpoints:
            await log.open_window(run.session_of(stop))
        stop = await run.go_on(run.session_of(stop))
    raise _not_reached(stop, location, hits, is_built=is_built)


def _is_built(question: QuestionRun) -> bool:
    """Return whether the program was built before, and perhaps with optimisation."""
    program = Path(str(question.target.program))
    return program.suffix != ".go" and not program.is_dir()


def _not_reached(
    stop: answers.Stop, location: GoLocation, hits: int, *, is_built: bool
) -> DebuggerError:
    if stop.state == State.RUNNING.value or stop.timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{location.text} was not reached in time",
            hint="debugger why --timeout 300 …; a place that comes earlier",
        )
    if location.spec is None:
        status = stop.exit_code or 0
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"the program did not crash: it exited with status {status}",
            hint="debugger why EXPR --at FILE:LINE -- CMD",
        )
    if (missing := missing_name(stop)) is not None:
        again = repeat_question("debugger why EXPR --at", missing[1])
        return DebuggerError(ErrorCode.NOT_FOUND, describe_near(*missing), hint=again)
    # The logpoints are numbered after the location.
    unbound = [
        one.why_unbound for one in stop.unbound if one.id == 1 and isinstance(one.why_unbound, str)
    ]
    why = f": {unbound[0]}" if unbound else f": {hits:,} hits" if hits else ""
    if is_built and not why:
        why = "; in a build with optimisation a line may run without its breakpoint"
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{describe_end(stop.exit_code, stop.signal, [one.text for one in stop.output])}, and"
        f" {location.text} was not reached{why}",
        hint="debugger path -- CMD shows what ran",
    )
