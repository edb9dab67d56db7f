"""Runs a probed program to its end: by a recorder in the interpreter, or by stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import Breakpoint
from debugger.model.events import State
from debugger.model.hit_filter import EVERY_HIT, HitFilter, refuse_thread_name
from debugger.model.hit_selection import CALLERS_MAX, is_called_by
from debugger.model.program import EvaluationPurpose, Frame, StopReason
from debugger.model.text_filters import clip_text
from debugger.questions.probe.probe_points import HitRange, ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.recordings.source_search import check_exists, resolve_function
from debugger.questions.runner import command_call, question_run
from debugger.questions.runner.evidence_store import plain_text
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.recorders import model
from debugger.recorders.model import ProbeOrder, RecordingLimits, RecordingOrder
from debugger.recorders.recorded_process import (
    CompletedRun,
    record_run,
    require_recording,
    roots_of,
)
from debugger.session.session import Session
from debugger.system.process_info import thread_name

_STOPS_MAX = 50  # unrequested stops of a run


class EntryHits(Struct, frozen=True):
    """Counts entries of a location's function, at the first line of the function's body."""

    function: str
    line: int
    is_entered: bool


class ProbeEnd(Struct, frozen=True):
    """The end of a run: its output, its bound locations, and the stops on the way."""

    last: answers.Stop
    output: answers.Output
    took_s: float
    adapter: str
    breakpoints: tuple[Breakpoint, ...] = ()
    stopped: str | None = None
    frame: answers.FrameView | None = None
    failures: Mapping[int, tuple[int, str]] = {}
    entries: Mapping[int, EntryHits] = {}
    # The numbers of the markers that the run reached.
    passed: frozenset[int] = frozenset()
    # The run was ended after the last requested hit.
    is_limited: bool = False
    notes: tuple[str, ...] = ()


async def to_the_end(
    run: RunningQuestion,
    began: float,
    *,
    markers: frozenset[int] = frozenset(),
    is_limited: Callable[[], bool] = lambda: False,
) -> ProbeEnd:
    """Run a program to its end; a signal or exception on the way is noted and passed on.

    `markers` are the numbers of our own breakpoints, each of which stops once; `is_limited` tells
    whether the last requested hit has come, at which the program is ended.

    Raises:
        DebuggerError: ADAPTER_DIED, and what resuming raises.
    """
    stop = await run.wait_first()
    return await run_to_end(run, stop, began, markers=markers, is_limited=is_limited)


async def run_to_end(
    run: RunningQuestion,
    stop: answers.Stop,
    began: float,
    *,
    markers: frozenset[int] = frozenset(),
    is_limited: Callable[[], bool] = lambda: False,
) -> ProbeEnd:
    """Run a program from an unrequested stop to its end."""
    stopped: answers.Stop | None = None
    notes: list[str] = []
    passed: set[int] = set()
    # A program that stops again and again, such as at one signal, must not run the question
    # forever.
    for _ in range(_STOPS_MAX):
        if stop.state != State.STOPPED.value:
            break
        met = markers & {*stop.hit_breakpoints}
        passed |= met
        # Other threads may have come to a marker before it was taken away.
        is_late = bool(passed) and stop.reason == StopReason.BREAKPOINT.value
        is_late = is_late and not stop.hit_breakpoints
        stopped = stop if not met and not is_late else stopped
        try:
            stop = await run.go_on(run.session_of(stop))
        except DebuggerError as error:
            if error.code is ErrorCode.ADAPTER_DIED:
                raise
            notes.append(f"how it ended is not known: {error.message}")
            break
    else:
        if stop.state == State.STOPPED.value:
            notes.append(f"it stopped more than {_STOPS_MAX} times, and was ended there")
    took_s = time.monotonic() - began
    frame = stopped.frame if stopped is not None else None
    # The wait was interrupted because all hits are there.
    has_all = stop.timed_out and is_limited()
    if has_all:
        stop = msgspec.structs.replace(stop, timed_out=False)
    elif stop.timed_out and isinstance(run.session.target, LaunchTarget):
        # Shows where the program was when the time was up.
        where = await run.stop_and_report()
        frame = where.frame if where is not None else frame
    return ProbeEnd(
        last=stop,
        output=run.read_output(),
        took_s=took_s,
        adapter=run.session.adapter,
        breakpoints=tuple(run.session.breakpoints.user_breakpoints()),
        stopped=_end_reason(stopped),
        passed=frozenset(passed),
        is_limited=has_all,
        frame=frame,
        notes=(*run.notes_of(stop), *notes),
    )


async def end_at_limit(run: RunningQuestion, stop: answers.Stop, began: float) -> ProbeEnd:
    """Return the result of a program that is ended at a stop, after the last hit that counts."""
    return ProbeEnd(
        last=stop,
        output=run.read_output(),
        took_s=time.monotonic() - began,
        adapter=run.session.adapter,
        breakpoints=tuple(run.session.breakpoints.user_breakpoints()),
        is_limited=True,
        notes=run.notes_of(stop),
    )


def _end_reason(stop: answers.Stop | None) -> str | None:
    if stop is None:
        return None
    if stop.exception is not None:
        text = f"{stop.exception.type}: {stop.exception.message}"
        return text.removesuffix(": ")
    return stop.signal or stop.description or stop.raw_reason


async def probe_by_stopping(
    question: QuestionRun,
    points: Sequence[ProbePoint],
    table: ProbeTable,
    hits: HitFilter = EVERY_HIT,
) -> ProbeEnd:
    """Run a program to its end, or until the time-out, with a stop at each hit.

    Of the filter, the function is tested here.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    specs = tuple(msgspec.structs.replace(one.spec, condition=one.when) for one in points)
    below = hits.inside
    table.number_threads(are_passing=question.has_passing_thread_ids)
    if not question.has_passing_thread_ids:
        refuse_thread_name(hits)
    async with question_run.run_question(replace(question, breakpoints=specs)) as run:
        began = time.monotonic()
        stop = await run.wait_first()
        while stop.state == State.STOPPED.value and stop.hit_breakpoints:
            await _take_hit(run, stop, points, table, began, below=below)
            if table.is_all_over and table.ends_run and isinstance(question.target, LaunchTarget):
                return await end_at_limit(run, stop, began)
            if table.is_all_over:
                session = run.session_of(stop)
                for number in range(1, len(points) + 1):
                    await _switch_off(session, number)
            stop = await run.go_on(run.session_of(stop))
        return await run_to_end(run, stop, began)


async def _switch_off(session: Session, number: int) -> None:
    await session.run_job(lambda: session.binding.enable(number, on=False))


async def _take_hit(
    run: RunningQuestion,
    stop: answers.Stop,
    points: Sequence[ProbePoint],
    table: ProbeTable,
    began: float,
    *,
    below: str | None = None,
) -> None:
    session, at_s = run.session_of(stop), time.monotonic() - began
    for number in stop.hit_breakpoints:
        if not 1 <= number <= len(points):
            continue
        is_place = not points[number - 1].event
        if is_place and below is not None and not await _is_below(session, stop, below):
            table.skip_hit(number - 1)
            continue
        cells = [await evaluate_cell(session, one) for one in points[number - 1].expressions]
        table.take_hit(
            number - 1,
            cells,
            at_s=at_s,
            thread=table.thread_number(stop.thread),
            name=thread_name(stop.thread) if table.needs_names else "",
        )


async def _is_below(session: Session, stop: answers.Stop, function: str) -> bool:
    thread = stop.thread
    if thread is None:
        return False

    async def job() -> bool:
        stack = await session.backend.read_stack(thread, levels=CALLERS_MAX)
        return is_called_by((one.function for one in stack.frames), function)

    return await session.run_job(job)


async def evaluate_cell(session: Session, expression: str) -> ProbeCell:
    """Evaluate an expression in the selected frame of a stopped program."""

    async def job() -> ProbeCell:
        frame: Frame | None = session.selection.frame
        try:
            return ProbeCell(
                plain_text(
                    await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
                )
            )
        except DebuggerError as error:
            return ProbeCell(error.message, is_error=True)

    return await session.run_job(job)


_LINES = 400
_LINE_MAX = 2000
_VALUE_MAX = 400  # characters of one that is compared
_ITEMS_MAX = 24  # of its
_SLOW_S = 2.0  # a run that took less has not lost much


class RecordedProbes(Struct, frozen=True):
    """A recorded run: its end, the probes' records, and its number of processes."""

    ran: CompletedRun
    seen: Mapping[int, model.ProbeSeen]
    wanted: tuple[ProbePoint, ...]  # with one more for each function more of a name
    output: answers.Output
    notes: tuple[str, ...] = ()


async def record_probed_run(
    launch: LaunchTarget,
    points: Sequence[ProbePoint],
    within: HitRange,
    *,
    timeout_s: float,
    scratch_root: Path,
    interrupted: asyncio.Event,
    hits: HitFilter = EVERY_HIT,
    each: int = 0,
    again: str = "debugger probe --at {} EXPR -- CMD",
    numbers_all: bool = False,
    words: Sequence[str] = (),
    is_part: bool = False,
) -> CompletedRun:
    """Run a Python program with a recorder, to its end or the time-out; the hits stay by process.

    `again` is the command that repeats the question, with `{}` for the location. With `each` this
    many hits of each location are kept before some are omitted, with longer values. With
    `numbers_all` a hit's number counts those that the filter omits, except by its condition.
    `words` are the program's, where what is run is a launcher of it; a part of a launcher's job
    may have no process.

    Raises:
        DebuggerError: LAUNCH_FAILED; NOT_SUPPORTED if no Python of it can be recorded.
    """
    argv = command_call.launch_argv(launch)
    roots = roots_of(words or argv, launch.cwd)
    probes = await asyncio.to_thread(
        _find_probes, points, within, hits, roots, again, is_split=not each and not numbers_all
    )
    probes = tuple(msgspec.structs.replace(one, numbers_all=numbers_all) for one in probes)
    order = _recording_order(probes, within, roots, each)
    scratch_root.mkdir(mode=0o700, exist_ok=True)
    ran = await record_run(
        argv,
        order,
        cwd=launch.cwd,
        env=launch.env,
        stdin=await command_call.stdin_bytes(launch),
        timeout_s=timeout_s,
        scratch_root=scratch_root,
        interrupted=interrupted,
    )
    if not is_part:
        require_recording(ran, argv)
    return ran


def collect_recorded(
    ran: CompletedRun, points: Sequence[ProbePoint], table: ProbeTable
) -> RecordedProbes:
    """Put the hits of all processes of a recorded run into a table, one process after the other."""
    places = _ProbeLocations(points, table)
    notes: list[str] = []
    for recording in ran.recordings:
        began = (recording.process.time_ns - ran.recordings[0].process.time_ns) / 1e9
        _take_recording(recording, table, places, began)
        notes += [
            f"{event.kind}: {event.text}"
            for event in recording.events
            if isinstance(event, model.RecordingNote) and event.kind != "exec"
        ]
    if len(ran.recordings) > 1:
        notes.append(f"hits of {len(ran.recordings)} processes, numbered one after the other")
    notes += slow_tracing((one.process.interpreter for one in ran.recordings), ran.took_s)
    if ran.killed and not ran.is_limited:
        notes.append(f"ended what the program left running: {', '.join(ran.killed[:5])}")
    return RecordedProbes(
        ran, places.seen, tuple(places.wanted), _output_view(ran), tuple(dict.fromkeys(notes))
    )


def _find_probes(
    points: Sequence[ProbePoint],
    within: HitRange,
    hits: HitFilter,
    roots: Sequence[str],
    again: str,
    *,
    is_split: bool,
) -> tuple[ProbeOrder, ...]:
    """Return the probes with what their functions' names mean by the sources."""
    probes = []
    for one in points:
        if one.is_exit:
            probes.append(ProbeOrder(expressions=one.expressions, is_exit=True))
            continue
        check_exists(one.asked, one.spec.file, one.spec.function, roots, again=again)
        place = model.FunctionPlace(name=one.spec.function or "", file=one.spec.file or "")
        found = resolve_function(place, roots)
        probe = _to_probe(one, within, hits, is_split=is_split)
        probes.append(
            msgspec.structs.replace(probe, spots=found.spots, is_anywhere=found.is_anywhere)
        )
    return tuple(probes)


def _recording_order(
    probes: tuple[ProbeOrder, ...],
    within: HitRange,
    roots: Sequence[str],
    each: int,
) -> RecordingOrder:
    return RecordingOrder(
        roots=tuple(roots),
        ends_run=within.ends_run,
        probes=probes,
        limits=RecordingLimits(probed=each, text=_VALUE_MAX, items=_ITEMS_MAX)
        if each
        else RecordingLimits(),
    )


class _ProbeLocations:
    """The locations of all processes: the requested ones, and one for each further function."""

    def __init__(self, points: Sequence[ProbePoint], table: ProbeTable) -> None:
        self.wanted = list(points)
        self.seen: dict[int, model.ProbeSeen] = {}
        self._table = table
        self._functions: dict[tuple[int, str, int, str], int] = {}

    def location_number(self, one: model.ProbeSeen) -> int:
        """Return the location of a process's probe record."""
        of = one.probe if one.of is None else one.of
        if not self.wanted[of].spec.function or not one.function:
            return of
        key = (of, one.file, one.line, one.function)
        if key not in self._functions:
            is_first = all(known[0] != of for known in self._functions)
            self._functions[key] = (
                of if is_first else self._table.add_location(self.wanted[of].expressions)
            )
            self.wanted += [] if is_first else [self.wanted[of]]
        return self._functions[key]

    def add_probe_seen(self, number: int, one: model.ProbeSeen) -> None:
        """Add a process's record of a location."""
        known = self.seen.get(number)
        self.seen[number] = one if known is None else _merge_seen(known, one)


def slow_tracing(interpreters: Iterable[str], took_s: float) -> list[str]:
    """Explain a long run whose Python traces by sys.settrace; `interpreters` are versions.

    Python 3.11 under a tracer that does nothing takes 3 times as long for a program of calls, and 4
    times under ours (bench/asking.py): only a run without the probe shows the cost here.
    """
    for version in interpreters:
        major, minor = ([int(part) for part in version.split(".")[:2]] + [0, 0])[:2]
        if took_s >= _SLOW_S and (major, minor) < (3, 12):
            text = f"Python {version} traces the calls of all functions while there is a probe: "
            text += "a program of many small calls takes several times as long; from 3.12 on not"
            return [text]
    return []


def _to_probe(one: ProbePoint, within: HitRange, hits: HitFilter, *, is_split: bool) -> ProbeOrder:
    spec = one.spec
    if one.event:
        within, hits = HitRange(), HitFilter()
    return ProbeOrder(
        expressions=one.expressions,
        file=spec.file or "",
        line=spec.line or 0,
        name=spec.function or "",
        when=one.when or "",
        first=within.first,
        last=within.last,
        from_ns=int(within.from_s * 1e9),
        to_ns=int(within.to_s * 1e9),
        is_split=is_split and not one.event,
        thread=hits.thread or 0,
        thread_name=hits.thread_name,
        inside=hits.inside or "",
        changes=hits.changes,
        kept_last=hits.kept_last,
        event=one.event,
    )


def _take_recording(
    recording: model.Recording,
    table: ProbeTable,
    places: _ProbeLocations,
    began_s: float,
) -> None:
    own = {event.probe: event for event in recording.events if isinstance(event, model.ProbeSeen)}
    numbers = {probe: places.location_number(one) for probe, one in own.items()}
    # Each process counts its hits from 1; the numbers continue over the processes.
    earlier = [table.hit_count(place) for place in range(table.location_count)]
    for event in recording.events:
        if isinstance(event, model.ProbeHit):
            pid = recording.process.pid
            cells = [
                ProbeCell(
                    one.text,
                    one.is_error,
                    f"{pid}:{one.number}" if one.number else "",
                    one.departure,
                )
                for one in event.values
            ]
            place = numbers.get(event.probe, event.probe)
            table.take_hit(
                place,
                cells,
                at_s=began_s + event.at / 1e9,
                hit=earlier[place] + event.hit,
                thread=event.thread,
            )
    for probe, one in own.items():
        place = numbers[probe]
        table.set_hits(place, earlier[place] + one.hits)
        places.add_probe_seen(place, one)


def _merge_seen(one: model.ProbeSeen, other: model.ProbeSeen) -> model.ProbeSeen:
    """Merge two processes' records of a location."""
    # The process that reached the location knows best where it is.
    found = one if one.passed or not (other.passed or other.function) else other
    return model.ProbeSeen(
        probe=one.probe,
        passed=one.passed + other.passed,
        hits=one.hits + other.hits,
        entered=one.entered + other.entered,
        file=found.file,
        line=found.line,
        function=found.function,
        lines=tuple(sorted({*one.lines, *other.lines})),
        nearest=found.nearest,
        names=one.names or other.names,
        problem=one.problem or other.problem,
        failed=one.failed + other.failed,
        is_loaded=one.is_loaded or other.is_loaded,
    )


def _output_view(ran: CompletedRun) -> answers.Output:
    lines: list[answers.OutputLine] = []
    open_at: dict[str, int] = {}
    for one in ran.output:
        stream = one.stream.value
        for piece in one.text.splitlines(keepends=True):
            at = open_at.pop(stream, None)
            text = piece.rstrip("\r\n")
            if at is not None:
                before = lines[at]
                lines[at] = answers.OutputLine(stream, before.text + text, before.seq)
            else:
                lines.append(answers.OutputLine(stream, text, len(lines) + 1))
                at = len(lines) - 1
            if not piece.endswith("\n"):
                open_at[stream] = at
    size = sum(len(one.text) for one in ran.output)
    return answers.Output(
        lines=tuple(
            answers.OutputLine(one.stream, clip_text(one.text, _LINE_MAX), one.seq)
            for one in lines[-_LINES:]
        ),
        dropped=int(ran.printed > size),
        total=len(lines),
    )
