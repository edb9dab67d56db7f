"""Probes a Python program with the recorder in its interpreter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.model import answers
from debugger.model.text_filters import clip_text
from debugger.questions.probe.probe_points import HitRange, ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.recordings.function_lookup import check_exists
from debugger.questions.runner import session_begin
from debugger.recorders import model
from debugger.recorders.recorded_process import (
    CompletedRun,
    record_run,
    require_recording,
    roots_of,
)
from debugger.recorders.recording_order import ProbeOrder, RecordingLimits, RecordingOrder

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


async def probe_recorded(
    launch: LaunchTarget,
    points: Sequence[ProbePoint],
    within: HitRange,
    table: ProbeTable,
    *,
    timeout_s: float,
    scratch_root: Path,
    interrupted: asyncio.Event,
    each: int = 0,
    again: str = "debugger probe --at {} EXPR -- CMD",
) -> RecordedProbes:
    """Run a Python program with a recorder, to its end or the time-out.

    `again` is the command that repeats the question, with `{}` for the location. With `each` this
    many hits of each location are kept before some are omitted, with longer values.

    Raises:
        DebuggerError: LAUNCH_FAILED; NOT_SUPPORTED if no Python of it can be recorded.
    """
    argv = session_begin.launch_argv(launch)
    roots = roots_of(argv, launch.cwd)
    for one in points:
        check_exists(one.asked, one.spec.file, one.spec.function, roots, again=again)
    order = RecordingOrder(
        roots=roots,
        ends_run=within.ends_run,
        probes=tuple(_to_probe(one, within, is_split=not each) for one in points),
        limits=RecordingLimits(probed=each, text=_VALUE_MAX, items=_ITEMS_MAX)
        if each
        else RecordingLimits(),
    )
    scratch_root.mkdir(mode=0o700, exist_ok=True)
    ran = await record_run(
        argv,
        order,
        cwd=launch.cwd,
        env=launch.env,
        stdin=await session_begin.stdin_bytes(launch),
        timeout_s=timeout_s,
        scratch_root=scratch_root,
        interrupted=interrupted,
    )
    require_recording(ran, argv)
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
            told = f"Python {version} traces the calls of all functions while there is a probe: "
            told += "a program of many small calls takes several times as long; from 3.12 on not"
            return [told]
    return []


def _to_probe(one: ProbePoint, within: HitRange, *, is_split: bool) -> ProbeOrder:
    spec = one.spec
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
        is_split=is_split,
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
            cells = [ProbeCell(one.text, one.is_error) for one in event.values]
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
    kept = sum(len(one.text) for one in ran.output)
    return answers.Output(
        lines=tuple(
            answers.OutputLine(one.stream, clip_text(one.text, _LINE_MAX), one.seq)
            for one in lines[-_LINES:]
        ),
        dropped=int(ran.printed > kept),
        total=len(lines),
    )
