"""Builds the answer that compares the probes of two runs, hit by hit. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.diff.answer import DiffOfProbes, ProbedColumn, ProbedPair, ProbedPlace
from debugger.questions.probe.answer import Probe, ProbeColumn, ProbePlace, ProbeRow
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.run_text import label_notes
from debugger.recorders.run_alignment import common_subsequence

_CONTEXT = 3  # equal pairs before the first difference
_NEXT = 3  # pairs after it
_AGAIN = 2  # hits, below which it says nothing that the last are the same
# What looks like the address of an object, which is another in each run; null is none.
_ADDRESS = re.compile(r"\b0x(?!0+\b)0*[0-9a-fA-F]{6,16}\b")
_IDENTITY = re.compile(r"\bid\(")
_LONG = re.compile(r"\d{9,20}\Z")


class PairedHits(Struct, frozen=True):
    """The hits of two runs in pairs, in order."""

    pairs: tuple[ProbedPair, ...]
    # The index of the first pair that differs.
    at: int
    # The last pairs, this many, are equal again.
    again: int = 0
    # Without it the runs have too little in common to be compared to their ends.
    is_whole: bool = True


class ProbedSides(Struct, frozen=True):
    """The expressions of each location, and the rows of both runs."""

    expressions: tuple[tuple[str, ...], ...]
    left: tuple[ProbeRow, ...]
    right: tuple[ProbeRow, ...]

    def at_location(self, place: int) -> ProbedSides:
        """Return the rows of one location, in the order of its hits."""
        left, right = (
            tuple(sorted((row for row in rows if row.place == place), key=lambda row: row.hit))
            for rows in (self.left, self.right)
        )
        return ProbedSides(self.expressions, left, right)

    def hit_key(self, row: ProbeRow) -> tuple[int, tuple[str, ...]]:
        """Return the key by which two hits are equal."""
        expressions = self.expressions[row.place]
        values = zip(expressions, row.values, strict=False)
        return row.place, tuple(without_addresses(text, one) for one, text in values)

    def is_same(self, pair: ProbedPair) -> bool:
        """Return whether both runs have this hit, with equal values."""
        if pair.left is None or pair.right is None:
            return False
        return self.hit_key(pair.left) == self.hit_key(pair.right)


def without_addresses(text: str, expression: str = "") -> str:
    """Remove addresses from a value, and results of Python's id()."""
    if _IDENTITY.search(expression):
        text = _LONG.sub("0x…", text)
    return _ADDRESS.sub("0x…", text) if "0x" in text else text


def has_order(rows: Iterable[ProbeRow]) -> bool:
    """Return whether hits are ordered: all in one thread of one process."""
    threads: set[int | None] = set()
    last: dict[int, int] = {}
    for row in rows:
        threads.add(row.thread)
        if row.hit < last.get(row.place, 0):
            return False
        last[row.place] = row.hit
    return len(threads) <= 1


def complete_up_to(rows: Iterable[ProbeRow], place: int) -> int:
    """Return up to which hit of a location all are recorded."""
    hits = {row.hit for row in rows if row.place == place}
    return next(number for number in range(1, len(hits) + 2) if number not in hits) - 1


def pair_hits(sides: ProbedSides) -> PairedHits:
    """Pair the hits of two runs, all locations in one order."""
    left, right = sides.left, sides.right
    a, b = [sides.hit_key(one) for one in left], [sides.hit_key(one) for one in right]
    room = min(len(a), len(b))
    # Equal ends first: they cost linear time, and most runs differ only in between.
    start = next((at for at in range(room) if a[at] != b[at]), room)
    end = next((at for at in range(room - start) if a[-1 - at] != b[-1 - at]), room - start)
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    matched, is_whole = _match_hits(middle_a, middle_b)
    every = [
        *((at, at) for at in range(start)),
        *((start + x, start + y) for x, y in matched),
        *((len(a) - at, len(b) - at) for at in range(end, 0, -1)),
    ]
    return PairedHits(_fill_pairs(left, right, every), start, end, is_whole)


def _fill_pairs(
    left: Sequence[ProbeRow], right: Sequence[ProbeRow], matched: Sequence[tuple[int, int]]
) -> tuple[ProbedPair, ...]:
    """Return the pairs, and between them the hits of one run only."""
    found, a, b = [], 0, 0
    for x, y in (*matched, (len(left), len(right))):
        found += [ProbedPair(left[at], None) for at in range(a, x)]
        found += [ProbedPair(None, right[at]) for at in range(b, y)]
        if x < len(left) and y < len(right):
            found.append(ProbedPair(left[x], right[y]))
        a, b = x + 1, y + 1
    return tuple(found)


_Key = tuple[int, tuple[str, ...]]


def _match_hits(a: Sequence[_Key], b: Sequence[_Key]) -> tuple[list[tuple[int, int]], bool]:
    """Match hits: one by one on the same path of both runs; else by equality."""
    # Both runs took the same path here, so that hits correspond by position.
    if [key[0] for key in a] == [key[0] for key in b]:
        return [(at, at) for at in range(len(a))], True
    # Equal hits are anchors; between two anchors the hits are matched by location only.
    anchors, _ = common_subsequence(a, b)
    # Few that are the same, of many, are so by chance.
    if 2 * len(anchors) < min(len(a), len(b)):
        anchors = []
    found: list[tuple[int, int]] = []
    is_whole, x, y = True, 0, 0
    for next_x, next_y in (*anchors, (len(a), len(b))):
        places_a, places_b = ([key[0] for key in one] for one in (a[x:next_x], b[y:next_y]))
        some, is_all = common_subsequence(places_a, places_b)
        is_whole = is_whole and is_all
        found += [(x + one, y + other) for one, other in some]
        if (next_x, next_y) != (len(a), len(b)):
            found.append((next_x, next_y))
        x, y = next_x + 1, next_y + 1
    return found, is_whole


def compare_columns(
    sides: ProbedSides, place: int, pairs: Iterable[ProbedPair]
) -> tuple[ProbedColumn, ...]:
    """Count for each expression of a location the differing pairs of hits, and find the first."""
    both = [
        (one.left, one.right)
        for one in pairs
        if one.left is not None and one.right is not None and one.left.place == place
    ]
    return tuple(
        _compare_column(expression, at, both)
        for at, expression in enumerate(sides.expressions[place])
    )


def _compare_column(
    expression: str, at: int, both: Sequence[tuple[ProbeRow, ProbeRow]]
) -> ProbedColumn:
    different = addresses = 0
    first: tuple[ProbeRow, ProbeRow] | None = None
    for left, right in both:
        a, b = left.values[at], right.values[at]
        if a == b:
            continue
        if without_addresses(a, expression) == without_addresses(b, expression):
            addresses += 1
            continue
        different += 1
        first = first or (left, right)
    if first is None:
        return ProbedColumn(expression, len(both), addresses=addresses)
    left, right = first
    return ProbedColumn(
        expression,
        len(both),
        different,
        left.hit,
        right.hit,
        left.values[at],
        right.values[at],
        addresses,
    )


def first_difference(found: PairedHits) -> tuple[ProbedPair | None, tuple[ProbedPair, ...]]:
    """Return the first differing pair, and the next ones; None without one.

    If each run has a hit there that the other lacks, the two are shown as a pair.
    """
    if found.at >= len(found.pairs):
        return None, ()
    first, *rest = found.pairs[found.at :]
    if first.left is not None and first.right is None:
        at = next((at for at, one in enumerate(rest) if one.left is None or one.right), None)
        # A replaced value shows as one hit less and one more; a pair is easier to read.
        if at is not None and rest[at].left is None:
            first = ProbedPair(first.left, rest.pop(at).right)
    return first, tuple(rest[:_NEXT])


def pairs_before(found: PairedHits) -> tuple[ProbedPair, ...]:
    """Return the pairs just before the first differing one."""
    return found.pairs[max(found.at - _CONTEXT, 0) : found.at]


def where_equal_again(found: PairedHits) -> tuple[ProbedPair | None, int]:
    """Return from where on the last hits of both are equal again, and their number."""
    if found.again < _AGAIN or found.at >= len(found.pairs):
        return None, 0
    return found.pairs[len(found.pairs) - found.again], found.again


ROWS = 20_000  # of all places, that are compared
_OUTPUT = 6  # last lines
_NAMES = 8
_LAST = 120  # characters of the last line of output
_AGAIN_COMMAND = "-- CMD_A --vs CMD_B"


class ProbedRun(Struct, frozen=True):
    """One run's values at its locations, hit by hit, up to the limit, and its end."""

    view: RunView
    places: tuple[ProbePlace, ...]
    rows: tuple[ProbeRow, ...]
    means: str = ""
    # If there were more hits: up to which hit of each location all are recorded.
    known: tuple[int | None, ...] = ()


def hits_compared(places: int) -> int:
    """Return the number of compared hits of each location."""
    return ROWS // max(places, 1)


_ENDS = {"exit": "at its end: ", "hang": "at the hang: "}


def to_probed_run(found: Probe, command: str, *, is_chosen: bool = False) -> ProbedRun:
    """Reduce a probed run to the data of a comparison.

    With `is_chosen` its rows are all that were asked for, by their numbers.
    """
    limit, rows = hits_compared(len(found.places)), found.rows
    known = tuple(
        None
        if is_chosen or place.hits <= place.taken < limit
        else min(limit, complete_up_to(rows, at) if place.taken < limit else limit)
        for at, place in enumerate(found.places)
    )
    notes = list(found.notes)
    notes += [
        f"the condition of {place.asked} failed {_failure_text(place)}"
        for place in found.places
        if place.failed_conditions and place.hits
    ]
    if found.stopped and not found.stopped.startswith(found.exit_signal or "\n"):
        notes.append(f"{_ENDS.get(found.outcome, 'stopped by ')}{found.stopped}")
    view = RunView(
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
    """Reject runs that never reached a location, or in which no expression had a value.

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
    texts = [
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
        "; ".join([f"{none} came there: {', '.join(texts)}", *ends]),
        hint=f"debugger diff --at {place} 'EXPR, EXPR' {_AGAIN_COMMAND}"
        if place
        else "debugger probe --at LOC EXPR -- CMD, LOC an earlier line, tells how far it came",
    )


def _nearness_text(place: ProbePlace) -> str:
    near = [*map(str, place.nearest_lines), *(place.near_names if not place.columns else ())]
    text = f" (nearest: {', '.join(near)})" if near else ""
    return (
        f"{text}; the condition failed {_failure_text(place)}" if place.failed_conditions else text
    )


def _failure_text(place: ProbePlace) -> str:
    return f"{place.failed_conditions:,} times: {place.condition_error}"


def _end_text(view: RunView) -> str:
    if view.timed_out:
        return f"ran for {view.took_s:.1f} s, and was ended: --timeout S gives it longer"
    if view.exit_code == 0:
        return ""
    last = f": {view.output[-1].text.strip()[:_LAST]}" if view.output else ""
    how = f"signal {view.exit_signal}" if view.exit_signal else f"status {view.exit_code}"
    return f"ended with {how}{last}"


def compare_probed_runs(left: ProbedRun, right: ProbedRun) -> DiffOfProbes:
    """Compare two runs with equal probes.

    Raises:
        DebuggerError: As `require_hits`.
    """
    runs = (left, right)
    require_hits(runs)
    expressions = tuple(
        tuple(column.expression for column in place.columns) for place in left.places
    )
    count = len(left.places)
    # What one run has behind the last hit that is known of the other is not to be compared.
    ends = [_smaller(left.known[at], right.known[at]) for at in range(count)]
    sides = ProbedSides(expressions, _up_to(left.rows, ends), _up_to(right.rows, ends))
    is_ordered = has_order(sides.left) and has_order(sides.right)
    parts = [sides] if is_ordered else [sides.at_location(place) for place in range(count)]
    found = [pair_hits(part) for part in parts]
    first = min(found, key=_first_difference_key)
    pairs = [pair for one in found for pair in one.pairs]
    both = [pair for pair in pairs if pair.left is not None and pair.right is not None]
    same = sum(map(sides.is_same, both))
    parted, after = first_difference(first)
    again, again_count = where_equal_again(first)
    places = tuple(
        _compared_location(at, left, right, compare_columns(sides, at, pairs))
        for at in range(count)
    )
    return DiffOfProbes(
        runs=(left.view, right.view),
        places=places,
        common=same,
        different=len(both) - same,
        left_only=sum(pair.right is None for pair in pairs),
        right_only=sum(pair.left is None for pair in pairs),
        parted_after=first.at,
        parted=parted,
        before=pairs_before(first) if parted is not None else (),
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


def _up_to(rows: Sequence[ProbeRow], ends: Sequence[int | None]) -> tuple[ProbeRow, ...]:
    return tuple(row for row in rows if (end := ends[row.place]) is None or row.hit <= end)


def _end_notes(places: Sequence[ProbedPlace], ends: Sequence[int | None]) -> Iterator[str]:
    for place, end in zip(places, ends, strict=True):
        if end is not None:
            is_bound = end == hits_compared(len(places))
            why = "not later ones" if is_bound else "later ones came too fast to be told"
            yield f"of {place.asked} the first {end:,} hits are compared: {why}"


def _first_difference_key(one: PairedHits) -> tuple[bool, float]:
    """Return the sort key of a location: its first difference."""
    if one.at >= len(one.pairs):
        return True, 0.0
    pair = one.pairs[one.at]
    return False, min(row.at_s for row in (pair.left, pair.right) if row is not None)


def _compared_location(
    at: int, left: ProbedRun, right: ProbedRun, columns: Sequence[ProbedColumn]
) -> ProbedPlace:
    one, other = left.places[at], right.places[at]
    known = one if one.file is not None and (one.hits or not other.hits) else other
    right_line = other.line or 0
    return ProbedPlace(
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
    """Return a location's number of hits; a logpoint counts none after its removal.

    Hits that arrive before the removal takes effect are ignored.
    """
    hits = one.places[at].hits
    return hits if one.means == "recorder" else min(hits, hits_compared(len(one.places)))


def _is_never(one: ProbeColumn, other: ProbeColumn) -> bool:
    """Return whether an expression had no value at any hit of both runs."""
    return bool(one.taken + other.taken) and all(
        column.is_never_there or not column.taken for column in (one, other)
    )


def _comparison_notes(
    runs: Sequence[ProbedRun], places: Sequence[ProbedPlace], *, is_ordered: bool
) -> Iterator[str]:
    yield from label_notes(runs[0].view.notes, runs[1].view.notes)
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
