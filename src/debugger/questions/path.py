"""What ran? One run as a tree, or what only the failing ones of several did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from debugger.core import answers
from debugger.errors import DebuggerError
from debugger.questions import places, recorded
from debugger.questions.recorded import Program, Recorded
from debugger.questions.rows import row
from debugger.recording import tree
from debugger.recording.around import Around, around
from debugger.recording.flat import flat
from debugger.recording.fold import Folded, fold
from debugger.recording.model import Recording
from debugger.recording.order import Limits, Lines, Order
from debugger.recording.rank import Place, Ranking, Suspect, rank, spectrum
from debugger.recording.tree import Call

_ROWS = 300
_SUSPECTS = 20
_GAP = 4  # lines of one statement, or empty ones
# To find where something began, more calls have to be told singly.
_SINGLY = Limits(each=1_000)


async def path(
    program: Program, *, around: str | None, between: tuple[str, str] | None
) -> answers.Path:
    """Run a program, and tell what it did: all of it, around a place, or between two.

    Raises:
        DebuggerError: NOT_FOUND for a place that did not run; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    for words in (around, *(between or ())):
        if words is not None:
            places.place(words, program.launch.cwd)
    limits = _SINGLY if between is not None else Limits()
    ran = await recorded.run(program, lambda roots: Order(roots, limits=limits))
    return told(program, ran, around_=around, between=between)


def told(
    program: Program,
    ran: Recorded,
    *,
    around_: str | None = None,
    between: tuple[str, str] | None = None,
) -> answers.Path:
    """Tell what a recorded run did.

    Raises:
        DebuggerError: NOT_FOUND for a place that did not run.
    """
    recording, run = ran.recording, ran.view
    roots = tree.grow(recording)
    notes = list(run.notes)
    if between is not None:
        roots = _between(program, recording, roots, between, notes)
    found: tuple[Around, ...] = ()
    if around_ is not None:
        wanted = places.place(around_, program.launch.cwd)
        found = around(recording, roots, places.chooser(wanted, recording))
        if not found:
            raise places.missed(around_, wanted, recording, program.roots, run)
    folded = tuple(one.folded for one in found) if found else fold(recording, roots)
    calls = list(tree.walk(roots))
    functions = {one.function for one in calls}
    return answers.Path(
        runs=(run,),
        passing=int(recorded.is_passing(run)),
        calls=sum(one.count for one in calls),
        functions=len(functions),
        files=len({recording.function(one).file for one in functions}),
        rows=tuple(row(one) for one in flat(folded, _ROWS)),
        rows_total=sum(_lines(one) for one in folded),
        places=tuple(_place(one) for one in found),
        between=between or (),
        timed_out=run.timed_out,
        engine=ran.engine,
        notes=tuple(notes),
    )


def _lines(one: Folded) -> int:
    return 1 + sum(_lines(child) for child in one.children)


def _between(
    program: Program,
    recording: Recording,
    roots: Sequence[Call],
    between: tuple[str, str],
    notes: list[str],
) -> list[Call]:
    """Keep what began between the first call of one place and the next of another."""
    calls = sorted(tree.walk(roots), key=lambda one: (one.at, one.id))

    def first(some: Sequence[Call], words: str) -> Call:
        wanted = places.place(words, program.launch.cwd)
        is_meant = places.chooser(wanted, recording)
        for one in some:
            if is_meant(recording.function(one.function)):
                return one
        raise places.missed(words, wanted, recording, program.roots)

    start, to = between
    begin = first(calls, start).at
    end = max(one.at for one in calls)
    try:
        last = first([one for one in calls if one.at > begin], to)
    except DebuggerError:
        notes.append(f"{to} was not called after {start}: what follows is to the end")
    else:
        end = last.at + last.total_ns
    return tree.within(roots, begin, end)


def _place(one: Around) -> answers.PlaceView:
    function = one.function
    return answers.PlaceView(
        function=function.name,
        file=function.file,
        line=function.line,
        calls=one.calls,
        ways=tuple(
            answers.WayView(
                way.count,
                tuple(
                    (step.function.name, step.function.file, step.line or step.function.line)
                    for step in way.steps
                ),
            )
            for way in one.ways
        ),
        more_ways=one.more_ways,
    )


# -- runs beside each other ------------------------------------------------------------------------


async def compared(programs: Sequence[Program]) -> answers.Path:
    """Run several commands, and tell what only the failing ones did, the most suspicious first.

    Where all end in the same way, the first counts as the one that fails.

    Raises:
        DebuggerError: LAUNCH_FAILED, NOT_SUPPORTED.
    """
    runs = [
        await recorded.run(program, lambda roots: Order(roots, lines=Lines.HIT), is_compared=True)
        for program in programs
    ]
    passed = [recorded.is_passing(one.view) for one in runs]
    notes = [note for one in runs for note in one.view.notes]
    if len(set(passed)) == 1:
        how = "passed" if passed[0] else "failed"
        passed = [False, *[True] * (len(runs) - 1)]
        notes.insert(0, f"all runs {how}: the first counts as the one that is wrong")
    spectra = [
        spectrum(one.recordings, passed=is_good) for one, is_good in zip(runs, passed, strict=True)
    ]
    found = rank(spectra, most=10_000)
    views = [one.view for one in runs]
    failing = [run for run, is_good in zip(views, passed, strict=True) if not is_good]
    passing = [run for run, is_good in zip(views, passed, strict=True) if is_good]
    good = frozenset[Place]().union(*(one.lines for one in spectra if one.passed))
    bad = frozenset[Place]().union(*(one.lines for one in spectra if not one.passed))
    shared = frozenset[Place]().union(*(one.functions for one in spectra if not one.passed))
    first_lines = _first_lines(runs)
    return answers.Path(
        runs=(*failing, *passing),
        passing=len(passing),
        calls=sum(map(_calls, runs)),
        functions=len(shared),
        suspects=tuple(
            _suspect(one, first_lines.get(one.place, 0)) for one in _differing(found)[:_SUSPECTS]
        ),
        suspect_lines=tuple(_ranges(found, good))[:_SUSPECTS],
        passing_lines=tuple(_only_passing(good - bad, shared, bad, len(passing)))[:_SUSPECTS],
        timed_out=any(one.timed_out for one in views),
        engine=runs[0].engine,
        notes=tuple(dict.fromkeys(notes)),
    )


def _calls(ran: Recorded) -> int:
    return sum(call.count for one in ran.recordings for call in tree.walk(tree.grow(one)))


def _first_lines(every: Iterable[Recorded]) -> dict[Place, int]:
    found: dict[Place, int] = {}
    for ran in every:
        for recording in ran.recordings:
            for one in recording.functions.values():
                found.setdefault(Place(one.file, one.name), one.line)
    return found


def _differing(found: Ranking) -> list[Suspect]:
    """Keep what not all runs came to, or came to with other values."""
    return [
        one
        for one in found.functions
        if one.entries or (one.failing, one.passing) != (found.failing, found.passing)
    ]


def _suspect(one: Suspect, line: int) -> answers.SuspectView:
    return answers.SuspectView(
        function=one.place.function,
        file=one.place.file,
        line=line,
        score=round(one.score, 2),
        failing=one.failing,
        passing=one.passing,
        entries=tuple(
            answers.EntryView(entry.name, entry.failing, entry.passing) for entry in one.entries
        ),
    )


def _ranges(found: Ranking, good: frozenset[Place]) -> list[answers.SuspectView]:
    """Join the lines that only failing runs passed; first those of functions that others ran."""
    common = {(one.file, one.function) for one in good}
    wanted = [
        one
        for one in found.lines
        if one.failing > one.passing
        and (one.failing, one.passing) != (found.failing, found.passing)
    ]

    order = {(one.place.file, one.place.function): -at for at, one in enumerate(found.functions)}

    def key(one: Suspect) -> tuple[float, bool, bool, int]:
        # That it raises is what is seen of a fault, seldom the fault; and what is called later is
        # nearer to it than what called it.
        text = places.line_text(one.place.file, one.place.line)
        where = (one.place.file, one.place.function)
        is_shown = text.startswith(("raise", "assert "))
        return (-one.score, is_shown, where not in common, order.get(where, 0))

    wanted.sort(key=key)
    return _joined(wanted, good)


def _only_passing(
    lines: frozenset[Place], shared: frozenset[Place], bad: frozenset[Place], passing: int
) -> list[answers.SuspectView]:
    """Join the lines that only passing runs passed, in functions that failing ones ran, too."""
    wanted = [
        Suspect(place, 0.0, 0, passing)
        for place in sorted(lines, key=lambda one: (one.file, one.line, one.function))
        if Place(place.file, place.function) in shared
    ]
    return _joined(wanted, bad)


def _joined(suspects: Sequence[Suspect], others: frozenset[Place]) -> list[answers.SuspectView]:
    """Tell lines of a function that follow each other in one, if none of the others is between."""
    found: list[tuple[Suspect, int]] = []
    for one in suspects:
        place = one.place
        before, last = found[-1] if found else (None, 0)
        if (
            before is not None
            and (before.place.file, before.place.function) == (place.file, place.function)
            and before.score == one.score
            and last < place.line <= last + _GAP
            and not any(
                Place(place.file, place.function, line) in others
                for line in range(last + 1, place.line)
            )
        ):
            found[-1] = (before, place.line)
        else:
            found.append((one, place.line))
    return [
        answers.SuspectView(
            function=one.place.function,
            file=one.place.file,
            line=one.place.line,
            last=last,
            score=round(one.score, 2),
            failing=one.failing,
            passing=one.passing,
            text=places.line_text(one.place.file, one.place.line),
        )
        for one, last in found
    ]
