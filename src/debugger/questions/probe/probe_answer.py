"""Builds the answer to a probe: rows, summaries, and reasons for unreached locations. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.model import answers
from debugger.model.breakpoints import BoundBreakpoint
from debugger.model.events import State
from debugger.model.hit_filter import HitFilter
from debugger.model.location import near_names
from debugger.model.signals import signal_name
from debugger.questions.probe.answer import Probe, ProbePlace
from debugger.questions.probe.object_identity import OBJECTS_MAX
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.probe.probe_table import ProbeTable
from debugger.questions.probe.recorded_probe import EntryHits, ProbeEnd, RecordedProbes
from debugger.recorders import model

_OUTPUT = 30  # last lines
_LINES = 8  # line numbers
_LIMIT = "limit"  # it was ended after the last hit that was asked for
_ALONE = "which traces in our place: leave coverage out, or use Python 3.12"


def of_ending(
    ending: ProbeEnd, points: Sequence[ProbePoint], table: ProbeTable, *, means: str
) -> Probe:
    """Build the answer from a run under a debugger."""
    last, entries = ending.last, ending.entries
    is_over = last.state == State.TERMINATED.value
    has_ended = is_over and not ending.is_limited
    known = {one.id: one for one in ending.breakpoints}
    places = []
    for place, one in enumerate(points):
        found = known.get(place + 1)
        bound = found.bound if found is not None else None
        failed, problem = ending.failures.get(place + 1, (0, None))
        why = None
        if table.passed_count(place) and not table.hit_count(place):
            threads = ", ".join(map(str, table.other_threads(place)))
            by = f" by thread {threads}" if threads else ""
            why = f"it was hit {table.passed_count(place):,} times{by}, and no hit counts"
        elif not table.hit_count(place):
            why = _why_no_hit(one, bound, failed, entries.get(place))
        places.append(
            ProbePlace(
                asked=one.asked,
                columns=table.summarise_columns(place),
                file=(bound.file if bound else None) or one.spec.file,
                line=(bound.line if bound else None) or one.spec.line,
                function=one.spec.function,
                when=one.when,
                hits=table.hit_count(place),
                taken=table.row_count(place),
                failed_conditions=failed,
                condition_error=problem,
                why=why,
                passed=table.passed_count(place),
                event=one.event,
                nearest_lines=bound.nearest_lines if bound and not bound.verified else (),
                near_names=bound.near_names if bound and not bound.verified else (),
            )
        )
    return Probe(
        outcome=_LIMIT if ending.is_limited else _run_outcome(last, is_over=is_over),
        places=tuple(places),
        rows=table.kept_rows(),
        rows_total=table.total_rows,
        means=means,
        adapter=ending.adapter,
        took_s=round(ending.took_s, 3),
        exit_code=last.exit_code if has_ended else None,
        exit_signal=last.signal if has_ended else None,
        stopped=ending.stopped,
        frame=ending.frame,
        output=ending.output.lines[-_OUTPUT:],
        output_total=ending.output.total,
        output_dropped=ending.output.dropped,
        timed_out=last.timed_out,
        waited_s=last.waited_s,
        notes=(*_chosen_notes(points, ending), *_object_notes(table), *ending.notes),
    )


def _object_notes(table: ProbeTable) -> list[str]:
    """Return the note on objects that are not told apart."""
    if not table.objects.is_full:
        return []
    return [f"only the first {OBJECTS_MAX:,} objects are told apart"]


def _chosen_notes(points: Sequence[ProbePoint], ending: ProbeEnd) -> list[str]:
    """Return the debugger's remarks on the bound locations."""
    return [
        f"{points[one.id - 1].asked}: {one.at.note}"
        for one in ending.breakpoints
        if one.at is not None and one.at.note and one.id <= len(points)
    ]


def _run_outcome(last: answers.Stop, *, is_over: bool) -> str:
    if not is_over:
        return "running"
    if last.signal is not None:
        return "signalled"
    return "exited" if last.exit_code is not None else "ended"


def _why_no_hit(
    one: ProbePoint, bound: BoundBreakpoint | None, failed: int, near: EntryHits | None
) -> str:
    if bound is not None and bound.verified:
        return _never_reached(one, bound.line, failed, near)
    return bound.why if bound is not None and bound.why else "it did not bind"


def _never_reached(one: ProbePoint, line: int | None, failed: int, near: EntryHits | None) -> str:
    if failed:
        return "its condition could never be evaluated"
    if one.when is not None:
        return f"it was never passed with {one.when}"
    where = f"line {line}" if line is not None else one.asked
    if near is None:
        return f"the program has {where}, and never came there"
    if near.is_entered:
        return f"{near.function} was entered (line {near.line}), and never came to {where}"
    return f"{near.function} was never entered (line {near.line})"


def of_recording(found: RecordedProbes, table: ProbeTable, *, waited_s: float) -> Probe:
    """Build the answer from a recorded run."""
    ran = found.ran
    places = [
        _location_view(one, found.seen.get(place), table, place)
        for place, one in enumerate(found.wanted)
    ]
    tracer = next((one for one in found.notes if one.startswith("tracer: ")), None)
    if tracer is not None:
        why = f"it is not known whether it was: {tracer.removeprefix('tracer: ')}, {_ALONE}"
        places = [
            msgspec.structs.replace(one, why=why) if one.why is not None else one for one in places
        ]
    ended = "signalled" if ran.signal is not None else "exited"
    is_ended = not ran.is_timed_out and not ran.is_limited
    return Probe(
        outcome=_LIMIT if ran.is_limited else "running" if ran.is_timed_out else ended,
        places=tuple(places),
        rows=table.kept_rows(),
        rows_total=table.total_rows,
        means="recorder",
        took_s=round(ran.took_s, 3),
        exit_code=ran.status if is_ended else None,
        exit_signal=signal_name(ran.signal) if ran.signal and is_ended else None,
        output=found.output.lines[-_OUTPUT:],
        output_total=found.output.total,
        output_dropped=found.output.dropped,
        timed_out=ran.is_timed_out,
        # Ctrl-C ends the wait earlier.
        waited_s=min(waited_s, round(ran.took_s, 1)) if ran.is_timed_out else None,
        notes=found.notes,
    )


def _location_view(
    one: ProbePoint, probe: model.ProbeSeen | None, table: ProbeTable, place: int
) -> ProbePlace:
    columns = table.summarise_columns(place)
    missing = [column for column in columns if column.error and "NameError" in column.error]
    names = probe.names if probe is not None and missing else ()
    near = tuple(
        name for column in missing for name in near_names(column.expression, names, most=2)
    )
    return ProbePlace(
        asked=one.asked,
        columns=columns,
        file=(probe.file if probe is not None else None) or one.spec.file,
        line=(probe.line if probe is not None else None) or one.spec.line,
        function=(probe.function if probe is not None else None) or one.spec.function,
        when=one.when,
        hits=table.hit_count(place),
        taken=table.row_count(place),
        passed=probe.passed if probe is not None else 0,
        failed_conditions=probe.failed if probe is not None else 0,
        condition_error=(probe.problem or None) if probe is not None and probe.failed else None,
        why=_why_never(one, probe) if not table.hit_count(place) else None,
        event=one.event,
        nearest_lines=probe.nearest if probe is not None else (),
        near_names=near,
        names_in_scope=names,
    )


def _why_never(one: ProbePoint, probe: model.ProbeSeen | None) -> str:
    """Explain how near the run came to a location that it never reached."""
    what = Path(one.spec.file).name if one.spec.file is not None else one.asked
    if probe is None or not probe.function:
        return _outside_range(one, probe, what)
    if probe.passed and probe.failed == probe.passed:
        return f"its condition could never be evaluated: {probe.problem}"
    if probe.passed:
        times = "once" if probe.passed == 1 else f"{probe.passed:,} times"
        when = f"with {one.when}" if one.when is not None else "at a hit that counts"
        return f"it was passed {times}, never {when}"
    if not probe.entered:
        return f"{probe.function} was never entered"
    lines = [str(line) for line in probe.lines]
    cut = f"{', '.join(lines[:_LINES])}{', …' if len(lines) > _LINES else ''}"
    times = "once" if probe.entered == 1 else f"{probe.entered:,} times"
    what = f"line{'s' if len(lines) > 1 else ''} {cut}" if lines else "no line"
    return f"{probe.function} was entered {times}, and passed only {what}"


def _outside_range(one: ProbePoint, probe: model.ProbeSeen | None, what: str) -> str:
    if probe is not None and probe.problem:
        return probe.problem
    if one.spec.function is not None:
        return f"no function {one.spec.function} of the program's own was entered"
    if probe is None or not probe.is_loaded:
        if one.spec.file is not None and not Path(one.spec.file).is_file():
            return f"there is no file {one.spec.file}, and none of that name was imported"
        return f"{what} was never run or imported"
    return f"{what} was run, and the function with line {probe.line} never entered"


def separate_events(answer: Probe, hits: HitFilter) -> Probe:
    """Move the filter's events out of the locations, and name its options."""
    # A limit alone is said by how the run ended, a condition at its location.
    options = msgspec.structs.replace(hits, conditions=(), first=None).options()
    missing = [
        f"{place.asked} has no hit {hits.nth}: it was hit {place.hits:,} times"
        for place in answer.places
        if hits.nth is not None and not place.event and 0 < place.hits < abs(hits.nth)
    ]
    positions = [at for at, place in enumerate(answer.places) if not place.event]
    numbers = {at: number for number, at in enumerate(positions)}
    return msgspec.structs.replace(
        answer,
        places=tuple(answer.places[at] for at in positions),
        events=tuple(place for place in answer.places if place.event),
        rows=tuple(
            msgspec.structs.replace(row, place=numbers[row.place])
            for row in answer.rows
            if row.place in numbers
        ),
        filter=" ".join(options),
        notes=(*missing, *answer.notes),
    )


def as_csv(answer: Probe) -> str:
    """Format the rows as CSV: location, hit, seconds, thread, and a column for each expression."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [column.expression for place in answer.places for column in place.columns]
    writer.writerow(["place", "hit", "at_s", "thread", *names])
    starts, count = [], 0
    for place in answer.places:
        starts.append(count)
        count += len(place.columns)
    labels = _location_labels(answer.places)
    for row in answer.rows:
        values = [""] * count
        values[starts[row.place] : starts[row.place] + len(row.values)] = row.values
        thread = "" if row.thread is None else row.thread
        writer.writerow([labels[row.place], row.hit, row.at_s, thread, *values])
    return out.getvalue()


def _location_labels(places: Sequence[ProbePlace]) -> list[str]:
    """Return the locations' labels: as requested, unless one request has several."""
    labels = [place.asked for place in places]
    return [
        f"{place.function} {place.file}:{place.line}"
        if labels.count(place.asked) > 1
        else place.asked
        for place in places
    ]
