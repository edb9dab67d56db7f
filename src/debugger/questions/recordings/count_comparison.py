"""Compares how often the functions and lines of two runs ran: all counts, or by their ratio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from debugger.questions.recordings import function_lookup
from debugger.questions.recordings.answer import CountView, RatioView
from debugger.recorders import run_alignment
from debugger.recorders.count_ratio import CountPair, CountRatio, find_dominant_ratio
from debugger.recorders.counted_recording import unify_parts
from debugger.recorders.line_effect import classify_line
from debugger.recorders.model import (
    CallEntered,
    CallsMerged,
    PartCounts,
    RecordedFunction,
    Recording,
)

_CALLED = -1  # a function's calls are told before its lines


class CountComparison(Struct, frozen=True):
    """The counts that differ between two runs, or depart from the ratio that most have."""

    rows: tuple[CountView, ...]
    # The number of functions and lines that are not in `rows`.
    equal: int
    ratio: RatioView | None
    # Whether any own code ran, of each run.
    has_run: tuple[bool, ...]
    # The lines that differ between the sources of the runs.
    changes: tuple[str, ...] = ()


class _CountKey(Struct, frozen=True, order=True):
    """The key of a count: a file's number, a function (line 0), a line, and a column."""

    file: int
    begins: int
    line: int
    column: int
    function: str


# How often each ran, and up to which column a part of a line goes.
_Tally = dict[_CountKey, tuple[int, int]]


class _SourceHome(Struct, frozen=True):
    """The files and lines under which a run's sources are compared."""

    files: Mapping[str, str]
    lines: Mapping[str, Mapping[int, int]]
    whole: frozenset[str]  # files of which parts of lines are not compared: their text differs


def compare_run_counts(
    runs: Sequence[Sequence[Recording]], roots: Sequence[Sequence[str]]
) -> CountComparison:
    """Compare the processes of two runs; sources in two folders are matched by their lines.

    With a dominant ratio only the counts that depart from it are returned, the clearest first;
    otherwise all that differ, in the order of the files.
    """
    runs = unify_parts(runs)
    own = [_run_files(one) for one in runs]
    same = run_alignment.find_counterparts(
        own[1], roots[1], own[0], roots[0], function_lookup.lines_of
    )
    lines = {
        file: run_alignment.match_lines(
            function_lookup.lines_of(file), function_lookup.lines_of(other)
        )
        for file, other in same.items()
    }
    unchanged = frozenset(same.values())
    numbers: dict[str, int] = {}
    homes = (_SourceHome({}, {}, unchanged), _SourceHome(same, lines, unchanged))
    first, right = (
        _sum_counts(_located_counts(run, home, numbers))
        for run, home in zip(runs, homes, strict=True)
    )
    # A count that ended at a limit in one run says nothing of the other's.
    unknown = {
        key
        for run, home in zip(runs, homes, strict=True)
        for key in _uncounted_functions(run, home, numbers)
    }
    files = list(numbers)
    every = sorted({*first, *right} - unknown)
    pairs = {key: _count_pair(key, first, right) for key in every}
    ratio = find_dominant_ratio(pairs.values())
    rows: list[CountView] = []
    for key, pair in pairs.items():
        if pair.left != pair.right if ratio is None else ratio.departs(pair):
            to = (first.get(key) or right[key])[1]
            _add_row(rows, _count_view(key, files[key.file], pair, to))
    equal = len(every) - sum(one.last - one.line + 1 for one in rows)
    if ratio is not None:
        rows = _rank_rows(rows, ratio)
    return CountComparison(
        tuple(rows),
        equal,
        _ratio_view(ratio),
        tuple(map(bool, (first, right))),
        tuple(run_alignment.describe_changes(same, function_lookup.lines_of)),
    )


def compare_call_counts(
    runs: Sequence[Sequence[Recording]], roots: Sequence[Sequence[str]]
) -> CountComparison | None:
    """Compare the counts of two runs' calls, if they have a dominant ratio."""
    found = compare_run_counts(runs, roots)
    return found if found.ratio is not None else None


def _count_pair(key: _CountKey, left: _Tally, right: _Tally) -> CountPair:
    return CountPair(left.get(key, (0, 0))[0], right.get(key, (0, 0))[0])


def _ratio_view(ratio: CountRatio | None) -> RatioView | None:
    if ratio is None:
        return None
    return RatioView(ratio.text, ratio.ratio > 1, ratio.matching, ratio.compared)


def _rank_rows(rows: Sequence[CountView], ratio: CountRatio) -> list[CountView]:
    """Sort counts: the function that departs most first, and of it what decides first."""
    distances: dict[tuple[str, str], float] = {}
    for one in rows:
        function = (one.file, one.function)
        distance = ratio.distance(CountPair(one.left, one.right))
        distances[function] = max(distances.get(function, 0.0), distance)
    order = {function: at for at, function in enumerate(distances)}

    def key(one: CountView) -> tuple[float, int, int, int, int]:
        where = (one.file, one.function)
        effect = classify_line(one.text) if one.text else _CALLED
        return (-distances[where], order[where], effect, one.line, one.column)

    return sorted(rows, key=key)


def _run_files(run: Sequence[Recording]) -> list[str]:
    return list(dict.fromkeys(one.file for each in run for one in each.functions.values()))


def _sum_counts(counts: Iterable[tuple[_CountKey, int, int]]) -> _Tally:
    """Sum the counts of a run's processes."""
    found: _Tally = {}
    for key, times, to in counts:
        found[key] = (found.get(key, (0, 0))[0] + times, to)
    return found


def _function_key(one: RecordedFunction, home: _SourceHome, numbers: dict[str, int]) -> _CountKey:
    """Return the key of a function's calls; a new file is added to `numbers`."""
    known = home.lines.get(one.file)
    number = numbers.setdefault(home.files.get(one.file, one.file), len(numbers))
    begins = one.line if known is None else known.get(one.line, one.line)
    return _CountKey(number, begins, 0, 0, one.name)


def _uncounted_functions(
    run: Sequence[Recording], home: _SourceHome, numbers: dict[str, int]
) -> Iterator[_CountKey]:
    """Return the keys of functions that were called more often than is known."""
    for recording in run:
        for number in recording.uncounted:
            yield _function_key(recording.find_function(number), home, numbers)


def _located_counts(
    run: Sequence[Recording], home: _SourceHome, numbers: dict[str, int]
) -> Iterator[tuple[_CountKey, int, int]]:
    """Return the counts of each function and line; new files are added to `numbers`."""
    for recording in run:
        for number, count in recording.further.items():
            yield _function_key(recording.find_function(number), home, numbers), count, 0
        for event in _last_counts(recording):
            one = recording.find_function(event.function)
            key = _function_key(one, home, numbers)
            if not isinstance(event, PartCounts):
                yield key, event.count if isinstance(event, CallsMerged) else 1, 0
                continue
            file, known = home.files.get(one.file, one.file), home.lines.get(one.file)
            for part in event.parts:
                line = part.line if known is None else known.get(part.line)
                if part.column and file in home.whole:
                    continue
                if line is None:  # the other source does not have it
                    number_ = numbers.setdefault(one.file, len(numbers))
                    yield _CountKey(number_, one.line, part.line, 0, one.name), part.times, 0
                else:
                    at = _CountKey(key.file, key.begins, line, part.column, one.name)
                    yield at, part.times, part.to


def _last_counts(recording: Recording) -> Iterator[CallEntered | CallsMerged | PartCounts]:
    """Return the valid counts of calls and lines."""
    merged: dict[int, CallsMerged] = {}
    for event in recording.events:
        if isinstance(event, CallsMerged):
            merged[event.call] = event  # later sums replace earlier ones
        elif isinstance(event, CallEntered | PartCounts):
            yield event
    yield from merged.values()


def _count_view(key: _CountKey, file: str, pair: CountPair, to: int) -> CountView:
    line = key.line or key.begins
    text = function_lookup.line_text(file, line, key.column, to) if key.line else ""
    return CountView(
        key.function, file, line, pair.left, pair.right, text, column=key.column, last=line
    )


def _add_row(rows: list[CountView], one: CountView) -> None:
    """Add a row; consecutive lines with equal counts are joined."""
    last = rows[-1] if rows else None
    if (
        last is not None
        and (last.function, last.file, last.left, last.right)
        == (one.function, one.file, one.left, one.right)
        and last.text
        and one.text
        and not (last.column or one.column)
        and one.line == last.last + 1
    ):
        rows[-1] = structs.replace(last, last=one.line)
    else:
        rows.append(one)
