"""Reports what ran: one run as a tree, or what only the failing ones of several did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePath as Path

from msgspec import structs

from debugger.core import answers
from debugger.errors import Code, DebuggerError
from debugger.questions import counted, places, processes, recorded
from debugger.questions.recorded import Program, Recorded
from debugger.questions.rows import row
from debugger.questions.saved import Saved
from debugger.recording import order, sources, tree
from debugger.recording.around import Around, around
from debugger.recording.counted import evened
from debugger.recording.flat import flat
from debugger.recording.fold import Folded, fold, fold_calls
from debugger.recording.model import Recording
from debugger.recording.order import Limits, Lines, Order
from debugger.recording.passages import NATIVE
from debugger.recording.rank import Place, Ranking, Suspect, rank, spectrum
from debugger.recording.tree import Call
from debugger.recording.window import Window

_ROWS = 300
_SUSPECTS = 20
_SHOWN = (
    *("raise", "assert ", "throw ", "assert(", "assert.", "console.error(", "process.exit"),
    *("panic(", "os.Exit(", "log.Fatal", "t.Fatal", "t.Error", "fmt.Fprintln(os.Stderr"),
)
_GAP = 4  # lines of one statement, or empty ones
# To find where something began, more calls have to be told singly.
_SINGLY = Limits(each=1_000)


async def path(
    program: Program,
    *,
    around: str | None,
    between: tuple[str, str] | None,
    process: str | None = None,
) -> answers.Path:
    """Run a program, and tell what it did: all of it, around a place, or between two.

    Without a process it is the program's own, or the first that came to the place.

    Raises:
        DebuggerError: NOT_FOUND for a place that did not run; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    cwd = program.launch.cwd
    wanted = places.place(around, cwd) if around is not None else None
    window, limits = None, Limits()
    if between is not None:
        start, to = (places.place(words, cwd) for words in between)
        wanted = start
        window, limits = Window(start, to, places.fits), _SINGLY
    ran = await recorded.run(
        program,
        lambda roots: Order(roots, limits=limits),
        window=window,
        pick=_pick(program, process, wanted),
    )
    return told(program, ran, around_=around, between=between)


def _pick(
    program: Program, process: str | None, wanted: order.Place | None
) -> recorded.Pick | None:
    if process is not None:
        return partial(processes.choose, which=process)
    # Of what is counted, a function that is known may not have run.
    if wanted is None or not program.is_python:
        return None
    return partial(processes.coming_to, wanted=wanted)


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
    is_counted = ran.engine == counted.COUNTED
    if is_counted and recording.functions:
        notes.append(counted.note(recording))
    if between is not None and is_counted:
        notes += _counted_between(program, ran, between)
    elif between is not None:
        roots = _between(program, recording, roots, between, notes)
    found: tuple[Around, ...] = ()
    if around_ is not None:
        wanted = places.place(around_, program.launch.cwd)
        found = around(recording, roots, places.chooser(wanted, recording))
        if not found:
            raise places.missed(around_, wanted, recording, program.roots, run)
    if is_counted:
        folded = () if found else tuple(fold_calls(recording, [one]) for one in roots)
    else:
        folded = tuple(one.folded for one in found) if found else fold(recording, roots)
    calls = list(tree.walk(roots))
    functions = {one.function for one in calls}
    return answers.Path(
        runs=(run,),
        process=ran.process,
        passing=int(recorded.is_passing(run)),
        calls=sum(one.count for one in calls),
        functions=len(functions),
        files=len({recording.function(one).file for one in functions}),
        rows=tuple(row(one) for one in flat(folded, _ROWS)),
        rows_total=sum(_lines(one) for one in folded),
        places=tuple(_place(one, recording) for one in found),
        between=between or (),
        timed_out=run.timed_out,
        engine=ran.engine,
        has_lines=_has_lines(ran),
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


def _counted_between(program: Program, ran: Recorded, between: tuple[str, str]) -> list[str]:
    said = counted.between(ran.recording, *between)
    if said is None:
        raise _not_passed(program, ran, between[0])
    return said


def _not_passed(program: Program, ran: Recorded, words: str) -> DebuggerError:
    wanted = places.place(words, program.launch.cwd)
    is_meant = places.chooser(wanted, ran.recording)
    matches = [one for one in ran.recording.functions.values() if is_meant(one)]
    counts = [each for one in matches for each in counted.lines(ran.recording, one)]
    if any(each.times and each.line == wanted.line for each in counts) or (
        matches and not wanted.line
    ):
        name = Path(matches[0].file).name
        return DebuggerError(
            Code.NOT_SUPPORTED,
            f"{words} ran, and counting cannot begin there: it begins only in scripts that Node "
            f"loads as they are, and {name} is compiled first",
            hint=f"debugger path --around {words} -- CMD",
        )
    if matches:
        hint = f"debugger path --around {words} -- CMD shows which lines near it ran"
        return DebuggerError(Code.NOT_FOUND, f"{words} was not passed", hint=hint)
    return places.missed(words, wanted, ran.recording, program.roots, ran.view)


def _place(one: Around, recording: Recording) -> answers.PlaceView:
    function = one.function
    # Of native programs no lines of calls are known, and then it is where the functions begin.
    has_lines = any(step.line for way in one.ways for step in way.steps)
    return answers.PlaceView(
        function=function.name,
        file=function.file,
        line=function.line,
        calls=one.calls,
        ways=tuple(
            answers.WayView(
                way.count,
                tuple(
                    (
                        step.function.name,
                        step.function.file,
                        step.line if has_lines else step.function.line,
                    )
                    for step in way.steps
                ),
            )
            for way in one.ways
        ),
        more_ways=one.more_ways,
        lines=counted.lines(recording, function),
    )


# -- runs beside each other ------------------------------------------------------------------------


async def whole(program: Program | Saved) -> Recorded:
    """Run a program for a comparison, or take what was saved of it.

    Raises:
        DebuggerError: LAUNCH_FAILED, NOT_SUPPORTED.
    """
    if isinstance(program, Saved):
        return program.ran
    return await recorded.run(
        program, lambda roots: Order(roots, lines=Lines.HIT), is_compared=True
    )


def told_beside(runs: Sequence[Recorded], roots: Sequence[Sequence[str]]) -> answers.Path:
    """Tell what only the failing ones of recorded runs did, the most suspicious first.

    Their sources are below their roots. Where all end alike, the first counts as failing.
    """
    runs, elsewhere = _at_home(runs, roots)
    passed = [recorded.is_passing(one.view) for one in runs]
    notes = [note for one in runs for note in one.view.notes]
    if len(set(passed)) == 1:
        how = "passed" if passed[0] else "failed"
        passed = [False, *[True] * (len(runs) - 1)]
        notes.insert(0, f"all runs {how}: the first counts as the one that is wrong")
    spectra = [
        sources.at_home(
            spectrum(each, passed=is_good, command=one.view.command), files, places.lines_of
        )
        for one, each, is_good, files in zip(
            runs, evened([one.recordings for one in runs]), passed, elsewhere, strict=True
        )
    ]
    same = {file: other for files in elsewhere for file, other in files.items()}
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
        passing_lines=tuple(_only_passing(good - bad, shared, bad, len(passing), same))[:_SUSPECTS],
        timed_out=any(one.timed_out for one in views),
        engine=runs[0].engine,
        has_lines=all(map(_has_lines, runs)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _has_lines(ran: Recorded) -> bool:
    return ran.recording.process.language != NATIVE


def _at_home(
    runs: Sequence[Recorded], roots: Sequence[Sequence[str]]
) -> tuple[list[Recorded], list[dict[str, str]]]:
    """Find the sources of each run that are those of the first in another folder.

    Those that are the same are named alike; for those that were changed, their other is returned.
    """
    first = _files(runs[0])
    found, elsewhere = [runs[0]], [dict[str, str]()]
    for one, own in zip(runs[1:], roots[1:], strict=True):
        other = sources.counterparts(_files(one), own, first, roots[0])
        same = {a: b for a, b in other.items() if places.lines_of(a) == places.lines_of(b)}
        found.append(
            structs.replace(one, recordings=tuple(_named(each, same) for each in one.recordings))
        )
        elsewhere.append({a: b for a, b in other.items() if a not in same})
    return found, elsewhere


def _files(ran: Recorded) -> list[str]:
    every = (one.file for each in ran.recordings for one in each.functions.values())
    return list(dict.fromkeys(every))


def _named(one: Recording, files: Mapping[str, str]) -> Recording:
    functions = {
        number: structs.replace(function, file=files.get(function.file, function.file))
        for number, function in one.functions.items()
    }
    return structs.replace(one, functions=functions)


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

    # They are in the order in which they were passed first; those of a function stay together.
    order: dict[tuple[str, str], int] = {}
    for one in wanted:
        order.setdefault((one.place.file, one.place.function), len(order))

    def key(one: Suspect) -> tuple[float, bool, bool, int, int]:
        # That it raises is what is seen of a fault, seldom the fault; and what went another way
        # first made the others do so.
        place = one.place
        where = (place.file, place.function)
        is_shown = places.line_text(place.file, place.line).startswith(_SHOWN)
        return (-one.score, is_shown, where not in common, order[where], place.line)

    wanted.sort(key=key)
    return _joined(wanted, good)


def _only_passing(
    lines: frozenset[Place],
    shared: frozenset[Place],
    bad: frozenset[Place],
    passing: int,
    same: Mapping[str, str],
) -> list[answers.SuspectView]:
    """Join the lines that only passing runs passed, in functions that failing ones ran, too."""
    wanted = [
        Suspect(place, 0.0, 0, passing)
        for place in sorted(lines, key=lambda one: (one.file, one.line, one.function))
        if Place(same.get(place.file, place.file), place.function) in shared
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
            and not (before.place.column or place.column)
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
            column=one.place.column,
            text=places.line_text(one.place.file, one.place.line, one.place.column),
        )
        for one, last in found
    ]
