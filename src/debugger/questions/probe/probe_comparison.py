"""Builds the answer that compares the probes of two runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.questions.probe import hit_pairs
from debugger.questions.probe.hit_pairs import PairedHits, ProbedSides

ROWS = 20_000  # of all places, that are compared
_OUTPUT = 6
_NAMES = 8
_LAST = 120
_AGAIN_COMMAND = "-- CMD_A --vs CMD_B"


class ProbedRun(Struct, frozen=True):
    """What one run gave at its places, hit by hit, up to the bound; how it ended.

    `known` are the hits of each place up to which all are told, where there were more; else None.
    """

    view: answers.RunView
    places: tuple[answers.ProbePlace, ...]
    rows: tuple[answers.ProbeRow, ...]
    means: str = ""
    known: tuple[int | None, ...] = ()


def hits_compared(places: int) -> int:
    """Return how many hits of each place are compared."""
    return ROWS // max(places, 1)


def to_probed_run(found: answers.Probe, command: str) -> ProbedRun:
    """Keep of a run with probes what is compared."""
    limit, rows = hits_compared(len(found.places)), found.rows
    known = tuple(
        None
        if place.hits <= place.taken < limit
        else min(limit, hit_pairs.complete_up_to(rows, at) if place.taken < limit else limit)
        for at, place in enumerate(found.places)
    )
    notes = list(found.notes)
    notes += [
        f"the condition of {place.asked} failed {_failure_text(place)}"
        for place in found.places
        if place.failed_conditions and place.hits
    ]
    if found.stopped and not found.stopped.startswith(found.exit_signal or "\n"):
        notes.append(f"stopped by {found.stopped}")
    view = answers.RunView(
        command=command,
        exit_code=found.exit_code,
        exit_signal=found.exit_signal,
        timed_out=found.timed_out,
        took_s=found.took_s or 0.0,
        output=tuple(one for one in found.output if one.text.strip())[-_OUTPUT:],
        output_total=found.output_total,
        output_dropped=found.output_dropped,
        notes=tuple(notes),
    )
    return ProbedRun(view, found.places, rows, found.means, known)


def require_hits(runs: Sequence[ProbedRun]) -> None:
    """Refuse runs none of which came to any place, or of which no expression had a value.

    Raises:
        DebuggerError: NOT_FOUND, with how near they came; EVALUATION_FAILED.
    """
    places = [place for one in runs for place in one.places]
    if not any(place.hits for place in places):
        raise _never_hit(runs)
    columns = [column for place in places if place.hits for column in place.columns]
    if columns and all(column.is_never_there for column in columns):
        first = columns[0]
        names = next((place.names_in_scope for place in places if place.names_in_scope), ())
        scope = f"; in scope there: {' '.join(names[:_NAMES])}" if names else ""
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{first.expression} never had a value: {first.error}{scope}",
            hint=f"debugger diff --at {places[0].asked} 'EXPR, EXPR' {_AGAIN_COMMAND}",
        )


def _never_hit(runs: Sequence[ProbedRun]) -> DebuggerError:
    said = [
        f"{place.asked}: {place.why}{_nearness_text(place)}"
        for place in runs[0].places
        if place.why
    ] or [place.asked for place in runs[0].places]
    ends = [
        f"{side}{' ' if side else ''}{end}"
        for side, one in zip("AB" if len(runs) > 1 else ("",), runs, strict=True)
        if (end := _end_text(one.view))
    ]
    none = "neither run" if len(runs) > 1 else "the run"
    first = runs[0].places[0]
    file = Path(first.file).name if first.file is not None else None
    place = f"{file}:{first.nearest_lines[0]}" if file and first.nearest_lines else None
    place = place or next(iter(first.near_names), None)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        "; ".join([f"{none} came there: {', '.join(said)}", *ends]),
        hint=f"debugger diff --at {place} 'EXPR, EXPR' {_AGAIN_COMMAND}"
        if place
        else "debugger path -- CMD shows what ran",
    )


def _nearness_text(place: answers.ProbePlace) -> str:
    near = [*map(str, place.nearest_lines), *(place.near_names if not place.columns else ())]
    said = f" (nearest: {', '.join(near)})" if near else ""
    return (
        f"{said}; the condition failed {_failure_text(place)}" if place.failed_conditions else said
    )


def _failure_text(place: answers.ProbePlace) -> str:
    return f"{place.failed_conditions:,} times: {place.condition_error}"


def _end_text(view: answers.RunView) -> str:
    if view.timed_out:
        return f"ran for {view.took_s:.1f} s, and was ended: --timeout S gives it longer"
    if view.exit_code == 0:
        return ""
    last = f": {view.output[-1].text.strip()[:_LAST]}" if view.output else ""
    how = f"signal {view.exit_signal}" if view.exit_signal else f"status {view.exit_code}"
    return f"ended with {how}{last}"


def compare_probed_runs(left: ProbedRun, right: ProbedRun) -> answers.DiffOfProbes:
    """Compare two runs that had the same probes.

    Raises:
        DebuggerError: As `require_hits`.
    """
    runs = (left, right)
    require_hits(runs)
    asked = tuple(tuple(column.expression for column in place.columns) for place in left.places)
    count = len(left.places)
    # What one run has behind the last hit that is known of the other is not to be compared.
    ends = [_smaller(left.known[at], right.known[at]) for at in range(count)]
    whole = ProbedSides(asked, _up_to(left.rows, ends), _up_to(right.rows, ends))
    is_ordered = hit_pairs.has_order(whole.left) and hit_pairs.has_order(whole.right)
    parts = [whole] if is_ordered else [whole.at_location(place) for place in range(count)]
    found = [hit_pairs.pair_hits(part) for part in parts]
    first = min(found, key=_first_difference_key)
    pairs = [pair for one in found for pair in one.pairs]
    both = [pair for pair in pairs if pair.left is not None and pair.right is not None]
    same = sum(map(whole.is_same, both))
    parted, after = hit_pairs.first_difference(first)
    again, again_count = hit_pairs.where_equal_again(first)
    places = tuple(
        _compared_location(at, left, right, hit_pairs.compare_columns(whole, at, pairs))
        for at in range(count)
    )
    return answers.DiffOfProbes(
        runs=(left.view, right.view),
        places=places,
        common=same,
        different=len(both) - same,
        left_only=sum(pair.right is None for pair in pairs),
        right_only=sum(pair.left is None for pair in pairs),
        parted_after=first.at,
        parted=parted,
        before=hit_pairs.pairs_before(first) if parted is not None else (),
        after=after,
        again=again,
        again_count=again_count,
        is_whole=all(one.is_whole for one in found),
        timed_out=left.view.timed_out or right.view.timed_out,
        means=left.means,
        notes=(
            *dict.fromkeys(_comparison_notes(runs, places, is_ordered=is_ordered)),
            *_end_notes(places, ends),
        ),
    )


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((end for end in (one, other) if end is not None), default=None)


def _up_to(
    rows: Sequence[answers.ProbeRow], ends: Sequence[int | None]
) -> tuple[answers.ProbeRow, ...]:
    return tuple(row for row in rows if (end := ends[row.place]) is None or row.hit <= end)


def _end_notes(places: Sequence[answers.ProbedPlace], ends: Sequence[int | None]) -> Iterator[str]:
    for place, end in zip(places, ends, strict=True):
        if end is not None:
            is_bound = end == hits_compared(len(places))
            why = "not later ones" if is_bound else "later ones came too fast to be told"
            yield f"of {place.asked} the first {end:,} hits are compared: {why}"


def _first_difference_key(one: PairedHits) -> tuple[bool, float]:
    """Order places by when their first difference came."""
    if one.at >= len(one.pairs):
        return True, 0.0
    pair = one.pairs[one.at]
    return False, min(row.at_s for row in (pair.left, pair.right) if row is not None)


def _compared_location(
    at: int, left: ProbedRun, right: ProbedRun, columns: Sequence[answers.ProbedColumn]
) -> answers.ProbedPlace:
    one, other = left.places[at], right.places[at]
    known = one if one.file is not None and (one.hits or not other.hits) else other
    right_line = other.line or 0
    return answers.ProbedPlace(
        asked=one.asked,
        columns=tuple(
            structs.replace(column, error=a.error or b.error) if _is_never(a, b) else column
            for column, a, b in zip(columns, one.columns, other.columns, strict=True)
        ),
        file=known.file,
        line=one.line if one.line is not None else other.line,
        right_line=right_line if one.line not in {None, right_line} and right_line else 0,
        function=one.function or other.function,
        when=one.when,
        left_hits=_location_hits(left, at),
        right_hits=_location_hits(right, at),
        left_why=one.why,
        right_why=other.why,
        names_in_scope=one.names_in_scope or other.names_in_scope,
        near_names=one.near_names or other.near_names,
    )


def _location_hits(one: ProbedRun, at: int) -> int:
    """Return how many hits a place had; a logpoint is taken away at the bound, and counts no more.

    Those in between, until it is gone, say nothing.
    """
    hits = one.places[at].hits
    return hits if one.means == "recorder" else min(hits, hits_compared(len(one.places)))


def _is_never(one: answers.ProbeColumn, other: answers.ProbeColumn) -> bool:
    """Tell whether an expression had a value at no hit of either run."""
    return bool(one.taken + other.taken) and all(
        column.is_never_there or not column.taken for column in (one, other)
    )


def _comparison_notes(
    runs: Sequence[ProbedRun], places: Sequence[answers.ProbedPlace], *, is_ordered: bool
) -> Iterator[str]:
    told = [one.view.notes for one in runs]
    yield from (note for note in told[0] if note in told[1])
    for side, notes, others in zip("AB", told, reversed(told), strict=True):
        yield from (f"{side}: {note}" for note in notes if note not in others)
    if not is_ordered:
        yield (
            "hits of several threads or processes: each place is compared by itself, in the order "
            "of its hits, which may be another in each run"
        )
    names = [
        f"{column.expression} ({column.addresses:,} hits)"
        for place in places
        for column in place.columns
        if column.addresses
    ]
    if names:
        yield f"differ by addresses alone, which is taken for the same: {', '.join(names[:_NAMES])}"
    if any(one.view.timed_out for one in runs):
        yield "a run was ended at its time: what only the other has, it may not have come to yet"
