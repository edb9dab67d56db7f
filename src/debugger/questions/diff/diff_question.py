"""Compares two runs of a program: their divergence, and the first value that differed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from msgspec import structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.diff.answer import Diff, DifferenceView, HunkView, PointView
from debugger.questions.recordings import (
    count_comparison,
    counted_run,
    function_lookup,
    recorded_run,
    run_text,
)
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.saved_runs import StoredRun
from debugger.questions.recordings.source_search import resolve_function
from debugger.questions.recordings.stepped_calls import STEPPED, step_through
from debugger.recorders import run_alignment
from debugger.recorders.model import (
    CallEntered,
    CallsMerged,
    FunctionPlace,
    LineRecording,
    Recording,
    RecordingLimits,
    RecordingOrder,
)
from debugger.recorders.run_alignment import (
    RunAlignment,
    RunHunk,
    RunPoint,
    ValueDifference,
    align_runs,
    run_points,
)
from debugger.recorders.traced_recording import NATIVE

_ROWS = 60  # differing counts
_CALL_ROWS = 10  # functions whose number of calls departs from the ratio
NOTE = (
    "only counts are known: debugger diff --function FUNC compares the first calls of one line by "
    "line, and debugger probe --at LOC 'EXPR' -- CMD tells values of each run"
)


def compare_counts(ran: Sequence[RecordedRun], roots: Sequence[Sequence[str]]) -> Diff:
    """Compare two counted runs; sources in two folders are matched by their lines.

    Raises:
        DebuggerError: NOT_FOUND if none of the program's own code ran.
    """
    found = count_comparison.compare_run_counts([one.recordings for one in ran], roots)
    for one, has_run in zip(ran, found.has_run, strict=True):
        if not has_run:
            raise nothing_ran(one.view)
    return Diff(
        runs=tuple(one.view for one in ran),
        what="",
        common=found.equal,
        left_only=0,
        right_only=0,
        counts=found.rows[:_ROWS],
        more_counts=max(len(found.rows) - _ROWS, 0),
        ratio=found.ratio,
        timed_out=any(one.view.timed_out for one in ran),
        engine=ran[0].engine,
        notes=tuple(
            dict.fromkeys([*(each for one in ran for each in one.view.notes), *found.changes, NOTE])
        ),
    )


def nothing_ran(run: RunView) -> DebuggerError:
    """Return the error for a run without recorded code."""
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"nothing of the program's own ran in {run.command}",
        hint="debugger path -- CMD shows what ran",
    )


_EVERY_LINE = RecordingLimits(
    each=200, lines=400, text=240
)  # every line of every function is recorded
_ONE = RecordingLimits(lines=20_000, text=400, items=12)
_CALLS = 1_000  # of the function that is compared
_STEPPED = 10  # calls of it, where a program is stepped through
_LINE_DEPTH = 1_000  # levels of calls, in effect all
_DIFFERENCES = 12  # values before the divergence


async def record_or_load(
    program: RecordedProgram | StoredRun, *, function: str | None
) -> RecordedRun:
    """Record a program line by line, or load a saved run.

    Raises:
        DebuggerError: NOT_FOUND if the function was not called; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    if isinstance(program, StoredRun):
        return program.ran
    place = function_lookup.parse_function_place(function, program.launch.cwd) if function else None
    if place is not None and program.language in counted_run.LANGUAGES:
        return await step_through(program, place, nth=1, when="", most=_STEPPED)
    if place is not None and program.is_python:
        place = await asyncio.to_thread(resolve_function, place, program.source_roots)
    ran = await recorded_run.run_recorded(
        program, partial(_recording_order, place=place), is_compared=True
    )
    if place is not None and function is not None and not ran.recording.has_calls:
        # Sources are read, which takes long in a large project.
        raise await asyncio.to_thread(
            function_lookup.function_not_run,
            *(function, place, ran.recording, program.source_roots, ran.view),
        )
    return ran


def _recording_order(roots: tuple[str, ...], *, place: FunctionPlace | None) -> RecordingOrder:
    if place is None:
        return RecordingOrder(
            roots,
            lines=LineRecording.EACH,
            line_depth=_LINE_DEPTH,
            is_compared=True,
            limits=_EVERY_LINE,
        )
    return RecordingOrder(
        roots, functions=(place,), most=_CALLS, depth=1, lines=LineRecording.EACH, limits=_ONE
    )


def compare_runs(
    ran: Sequence[RecordedRun], roots: Sequence[Sequence[str]], function: str | None
) -> Diff:
    """Compare two recorded runs; two counted ones by the counts of their lines.

    Raises:
        DebuggerError: NOT_FOUND if none of the program's own code ran.
    """
    if all(one.engine == counted_run.COUNTED for one in ran):
        return compare_counts(ran, roots)
    recordings, runs = [one.recording for one in ran], [one.view for one in ran]
    files = [
        list(dict.fromkeys(each.file for each in one.functions.values())) for one in recordings
    ]
    same = run_alignment.find_counterparts(
        files[1], roots[1], files[0], roots[0], function_lookup.lines_of
    )
    sides = [_run_points(one) for one in run_alignment.common_calls(recordings, same)]
    sides[1] = run_alignment.move_points(sides[1], same, function_lookup.lines_of)
    if not all(sides):
        raise nothing_ran(runs[0 if not sides[0] else 1])
    found = align_runs(sides[0], sides[1])
    notes = list(run_text.label_notes(runs[0].notes, runs[1].notes))
    notes += run_alignment.describe_changes(same, function_lookup.lines_of)
    counted = max(len(one.stopped) for one in recordings)
    if function is None and counted:
        functions = "1 function" if counted == 1 else f"{counted} functions"
        notes.append(
            f"of {functions} only the first calls are compared, further ones are counted: "
            "--function F compares those of one"
        )
    elif function is None and any(_is_counted(one) for one in recordings):
        notes.append(
            "later calls of functions that were called very often are only counted, and not "
            "compared: --function F compares those of one"
        )
    if any(one.engine == STEPPED and one.view.is_cut for one in ran):
        notes.append(f"stepped through: of {function} the first {_STEPPED} calls are compared")
    if any(len(one.threads) > 1 for one in recordings):
        notes.append("only the first thread is compared")
    answer = _diff_answer(found, sides, runs)
    if function is None:
        answer = _add_call_counts(answer, ran, roots)
    has_lines = all(one.process.language != NATIVE for one in recordings)
    return structs.replace(
        answer,
        what=function or "",
        engine=ran[0].engine,
        has_lines=has_lines,
        notes=tuple(dict.fromkeys(notes)),
    )


def _add_call_counts(
    answer: Diff, ran: Sequence[RecordedRun], roots: Sequence[Sequence[str]]
) -> Diff:
    """Add how often functions were called, if the inputs' sizes explain most differences."""
    found = count_comparison.compare_call_counts([one.recordings for one in ran], roots)
    if found is None:
        return answer
    return structs.replace(
        answer,
        counts=found.rows[:_CALL_ROWS],
        more_counts=max(len(found.rows) - _CALL_ROWS, 0),
        ratio=found.ratio,
    )


def _run_points(recording: Recording) -> list[RunPoint]:
    """Return the events of the first thread with calls, whose number depends on the language."""
    threads = [one.thread for one in recording.events if isinstance(one, CallEntered)]
    return run_points(recording, thread=threads[0]) if threads else []


def _is_counted(recording: Recording) -> bool:
    return any(isinstance(one, CallsMerged) for one in recording.events)


def _diff_answer(
    found: RunAlignment,
    sides: Sequence[Sequence[RunPoint]],
    runs: Sequence[RunView],
) -> Diff:
    parted = found.divergence
    prefix = _common_prefix(sides)
    differences = list(_first_of_each(found.differences))
    return Diff(
        runs=tuple(runs),
        what="",
        common=found.common,
        left_only=found.left_only,
        right_only=found.right_only,
        parted_after=prefix,
        before=tuple(map(_point_view, parted.before)) if parted is not None else (),
        left=tuple(map(_point_view, parted.left)) if parted is not None else (),
        right=tuple(map(_point_view, parted.right)) if parted is not None else (),
        values=tuple(map(_difference_view, parted.values)) if parted is not None else (),
        differences=tuple(map(_difference_view, differences[:_DIFFERENCES])),
        more_differences=found.more_differences + max(len(differences) - _DIFFERENCES, 0),
        # The first is where they part, which is told at length.
        hunks=tuple(map(_hunk_view, found.hunks[1:])),
        is_whole=found.is_whole,
        timed_out=any(run.timed_out for run in runs),
    )


def _common_prefix(sides: Sequence[Sequence[RunPoint]]) -> int:
    count = 0
    for a, b in zip(*sides, strict=False):
        if a.identity != b.identity:
            break
        count += 1
    return count


def _first_of_each(some: Iterable[ValueDifference]) -> Iterator[ValueDifference]:
    """Return the first difference of each name in each function."""
    visited = set()
    for one in some:
        key = (one.point.function.file, one.point.function.name, one.name)
        if key not in visited:
            visited.add(key)
            yield one


def _point_view(one: RunPoint) -> PointView:
    line = one.line or one.function.line
    return PointView(
        kind=one.kind,
        function=one.function.name,
        file=one.function.file,
        line=line,
        text=function_lookup.line_text(one.function.file, line) if one.kind == "line" else "",
        values=recorded_run.value_views(one.values),
    )


def _difference_view(one: ValueDifference) -> DifferenceView:
    return DifferenceView(_point_view(one.point), one.name, one.left, one.right)


def _hunk_view(one: RunHunk) -> HunkView:
    return HunkView(
        one.left,
        one.right,
        _point_view(one.first_left) if one.first_left is not None else None,
        _point_view(one.first_right) if one.first_right is not None else None,
    )
