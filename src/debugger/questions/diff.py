"""Compares two runs of a program: where they part, and which value differed first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from msgspec import structs

from debugger.core import answers
from debugger.questions import counted, counts, places, recorded
from debugger.questions.recorded import Program, Recorded
from debugger.questions.saved import Saved
from debugger.questions.stepped import STEPPED, step_through
from debugger.recording import sources
from debugger.recording.align import Alignment, Difference, Hunk, Point, align, points
from debugger.recording.model import Entered, Merged, Recording
from debugger.recording.order import Limits, Lines, Order, Place
from debugger.recording.passages import NATIVE

_WHOLE = Limits(each=200, lines=400, text=240)  # every line of every function is recorded
_ONE = Limits(lines=20_000, text=400, items=12)
_CALLS = 1_000  # of the function that is compared
_STEPPED = 10  # calls of it, where a program is stepped through
_LINE_DEPTH = 1_000
_DIFFERENCES = 12


async def whole(program: Program | Saved, *, function: str | None) -> Recorded:
    """Run a program line by line, or take what was saved of it.

    Raises:
        DebuggerError: NOT_FOUND where the function was not called; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    if isinstance(program, Saved):
        return program.ran
    wanted = places.place(function, program.launch.cwd) if function else None
    if wanted is not None and program.language in counted.LANGUAGES:
        return await step_through(program, wanted, nth=1, when="", most=_STEPPED)
    ran = await recorded.run(program, partial(_order, place=wanted), is_compared=True)
    if wanted is not None and function is not None and not ran.recording.has_calls:
        raise places.missed(function, wanted, ran.recording, program.roots, ran.view)
    return ran


def _order(roots: tuple[str, ...], *, place: Place | None) -> Order:
    if place is None:
        return Order(roots, lines=Lines.EACH, line_depth=_LINE_DEPTH, limits=_WHOLE)
    return Order(roots, functions=(place,), most=_CALLS, depth=1, lines=Lines.EACH, limits=_ONE)


def told(
    ran: Sequence[Recorded], roots: Sequence[Sequence[str]], function: str | None
) -> answers.Diff:
    """Compare two recorded runs; two that were counted by how often each line ran.

    Raises:
        DebuggerError: NOT_FOUND where nothing of the program's own ran.
    """
    if all(one.engine == counted.COUNTED for one in ran):
        return counts.told(ran, roots)
    recordings, runs = [one.recording for one in ran], [one.view for one in ran]
    sides = [_points(one) for one in recordings]
    files = [list(dict.fromkeys(one.function.file for one in side)) for side in sides]
    same = sources.counterparts(files[1], roots[1], files[0], roots[0])
    sides[1] = sources.moved(sides[1], same, places.lines_of)
    if not all(sides):
        raise counts.nothing_ran(runs[0 if not sides[0] else 1])
    found = align(sides[0], sides[1])
    notes = [f"{side}: {note}" for side, run in zip("AB", runs, strict=True) for note in run.notes]
    if function is None and any(_is_counted(one) for one in recordings):
        notes.append(
            "later calls of functions that were called very often are only counted, and not "
            "compared: --function F compares those of one"
        )
    if any(one.engine == STEPPED and one.view.is_cut for one in ran):
        notes.append(f"stepped through: of {function} the first {_STEPPED} calls are compared")
    if any(len(one.threads) > 1 for one in recordings):
        notes.append("only the first thread is compared")
    answer = _answer(found, sides, runs)
    has_lines = all(one.process.language != NATIVE for one in recordings)
    return structs.replace(
        answer,
        what=function or "",
        engine=ran[0].engine,
        has_lines=has_lines,
        notes=tuple(dict.fromkeys(notes)),
    )


def _points(recording: Recording) -> list[Point]:
    """List what the first thread with calls did; a thread has another number in each language."""
    threads = [one.thread for one in recording.events if isinstance(one, Entered)]
    return points(recording, thread=threads[0]) if threads else []


def _is_counted(recording: Recording) -> bool:
    return any(isinstance(one, Merged) for one in recording.events)


def _answer(
    found: Alignment,
    sides: Sequence[Sequence[Point]],
    runs: Sequence[answers.RunView],
) -> answers.Diff:
    parted = found.divergence
    prefix = _prefix(sides)
    differences = list(_first_of_each(found.differences))
    return answers.Diff(
        runs=tuple(runs),
        what="",
        common=found.common,
        left_only=found.left_only,
        right_only=found.right_only,
        parted_after=prefix,
        before=tuple(map(_point, parted.before)) if parted is not None else (),
        left=tuple(map(_point, parted.left)) if parted is not None else (),
        right=tuple(map(_point, parted.right)) if parted is not None else (),
        values=tuple(map(_difference, parted.values)) if parted is not None else (),
        differences=tuple(map(_difference, differences[:_DIFFERENCES])),
        more_differences=found.more_differences + max(len(differences) - _DIFFERENCES, 0),
        # The first is where they part, which is told at length.
        hunks=tuple(map(_hunk, found.hunks[1:])),
        is_whole=found.is_whole,
        timed_out=any(run.timed_out for run in runs),
    )


def _prefix(sides: Sequence[Sequence[Point]]) -> int:
    count = 0
    for a, b in zip(*sides, strict=False):
        if a.key != b.key:
            break
        count += 1
    return count


def _first_of_each(some: Iterable[Difference]) -> Iterator[Difference]:
    """Give the first difference of each name in each function."""
    seen = set()
    for one in some:
        key = (one.point.function.file, one.point.function.name, one.name)
        if key not in seen:
            seen.add(key)
            yield one


def _point(one: Point) -> answers.PointView:
    line = one.line or one.function.line
    return answers.PointView(
        kind=one.kind,
        function=one.function.name,
        file=one.function.file,
        line=line,
        text=places.line_text(one.function.file, line) if one.kind == "line" else "",
        values=recorded.values(one.values),
    )


def _difference(one: Difference) -> answers.DifferenceView:
    return answers.DifferenceView(_point(one.point), one.name, one.left, one.right)


def _hunk(one: Hunk) -> answers.HunkView:
    return answers.HunkView(
        one.left,
        one.right,
        _point(one.first_left) if one.first_left is not None else None,
        _point(one.first_right) if one.first_right is not None else None,
    )
