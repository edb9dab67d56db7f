"""Compares how often functions and lines ran in two runs that were counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.questions.recordings import function_lookup
from debugger.questions.recordings.recorded_run import RecordedRun
from debugger.recorders import source_counterparts
from debugger.recorders.counted_recording import unify_parts
from debugger.recorders.model import CallsMerged, PartCounts, Recording

_ROWS = 60
NOTE = (
    "only counts are known: debugger diff --function FUNC compares the first calls of one line by "
    "line, and debugger probe --at LOC 'EXPR' -- CMD tells values of each run"
)


class _CountKey(Struct, frozen=True, order=True):
    """A function (line 0), a line of it, or what begins within one: the file by its number."""

    file: int
    begins: int
    line: int
    column: int
    function: str


# How often each ran, and up to which column a part of a line goes.
_Tally = dict[_CountKey, tuple[int, int]]


class _SourceHome(Struct, frozen=True):
    """Where lines of a run's sources are compared: in which files, at which lines of them."""

    files: Mapping[str, str]
    lines: Mapping[str, Mapping[int, int]]
    whole: frozenset[str]  # files of which parts of lines are not compared: their text differs


def compare_counts(ran: Sequence[RecordedRun], roots: Sequence[Sequence[str]]) -> answers.Diff:
    """Compare two counted runs; sources that lie in two folders are compared by their lines.

    Raises:
        DebuggerError: NOT_FOUND where nothing of the program's own ran.
    """
    runs = unify_parts([one.recordings for one in ran])
    own = [_run_files(one) for one in runs]
    same = source_counterparts.find_counterparts(own[1], roots[1], own[0], roots[0])
    lines = {
        file: source_counterparts.match_lines(
            function_lookup.lines_of(file), function_lookup.lines_of(other)
        )
        for file, other in same.items()
    }
    whole = frozenset(same.values())
    numbers: dict[str, int] = {}
    left = _sum_counts(_located_counts(runs[0], _SourceHome({}, {}, whole), numbers))
    right = _sum_counts(_located_counts(runs[1], _SourceHome(same, lines, whole), numbers))
    for one, tally in zip(ran, (left, right), strict=True):
        if not tally:
            raise nothing_ran(one.view)
    files = list(numbers)
    rows: list[answers.CountView] = []
    every = sorted({*left, *right})
    for key in every:
        (a, to), (b, to_b) = left.get(key, (0, 0)), right.get(key, (0, 0))
        if a != b:
            _add_row(rows, _count_view(key, files[key.file], a, b, to or to_b))
    return answers.Diff(
        runs=tuple(one.view for one in ran),
        what="",
        common=len(every) - sum(one.last - one.line + 1 for one in rows),
        left_only=0,
        right_only=0,
        counts=tuple(rows[:_ROWS]),
        more_counts=max(len(rows) - _ROWS, 0),
        timed_out=any(one.view.timed_out for one in ran),
        engine=ran[0].engine,
        notes=tuple(dict.fromkeys([*(note for one in ran for note in one.view.notes), NOTE])),
    )


def nothing_ran(run: answers.RunView) -> DebuggerError:
    """Return the error for a run of which nothing was seen."""
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"nothing of the program's own ran in {run.command}",
        hint="debugger path -- CMD shows what ran",
    )


def _run_files(run: Sequence[Recording]) -> list[str]:
    return list(dict.fromkeys(one.file for each in run for one in each.functions.values()))


def _sum_counts(counts: Iterable[tuple[_CountKey, int, int]]) -> _Tally:
    """Add up what a run's processes did."""
    found: _Tally = {}
    for key, times, to in counts:
        found[key] = (found.get(key, (0, 0))[0] + times, to)
    return found


def _located_counts(
    run: Sequence[Recording], home: _SourceHome, numbers: dict[str, int]
) -> Iterator[tuple[_CountKey, int, int]]:
    """Give how often each function and line ran; `numbers` gets the files that are new."""
    for recording in run:
        for event in recording.events:
            if not isinstance(event, PartCounts | CallsMerged):
                continue
            one = recording.find_function(event.function)
            file = home.files.get(one.file, one.file)
            known = home.lines.get(one.file)
            number = numbers.setdefault(file, len(numbers))
            begins = one.line if known is None else known.get(one.line, one.line)
            if isinstance(event, CallsMerged):
                yield _CountKey(number, begins, 0, 0, one.name), event.count, 0
                continue
            for part in event.parts:
                line = part.line if known is None else known.get(part.line)
                if part.column and file in home.whole:
                    continue
                if line is None:  # the other source does not have it
                    number_ = numbers.setdefault(one.file, len(numbers))
                    yield _CountKey(number_, one.line, part.line, 0, one.name), part.times, 0
                else:
                    yield (
                        _CountKey(number, begins, line, part.column, one.name),
                        part.times,
                        part.to,
                    )


def _count_view(key: _CountKey, file: str, left: int, right: int, to: int) -> answers.CountView:
    line = key.line or key.begins
    text = function_lookup.line_text(file, line, key.column, to) if key.line else ""
    return answers.CountView(
        key.function, file, line, left, right, text, column=key.column, last=line
    )


def _add_row(rows: list[answers.CountView], one: answers.CountView) -> None:
    """Add a line; to the one before, where they follow each other and ran as often."""
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
