"""Reports one run as a tree of calls, or what only the failing ones of several runs executed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePath

from msgspec import structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.path.answer import EntryView, PathAnswer, PlaceView, SuspectView, WayView
from debugger.questions.recordings import counted_run, function_lookup, recorded_run
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.run_text import call_row
from debugger.questions.recordings.saved_runs import StoredRun
from debugger.questions.recordings.source_search import resolve_function, resolve_native
from debugger.recorders import call_tree, model, run_alignment
from debugger.recorders.call_folding import (
    CallContext,
    FoldedCalls,
    find_call_contexts,
    flatten_tree,
    fold_calls,
    fold_trees,
)
from debugger.recorders.call_tree import CallNode
from debugger.recorders.counted_recording import unify_parts
from debugger.recorders.model import (
    LineRecording,
    Recording,
    RecordingLimits,
    RecordingOrder,
    RecordingWindow,
)
from debugger.recorders.suspect_ranking import (
    CodePlace,
    RankedSuspect,
    SuspectRanking,
    rank_suspects,
    run_spectrum,
)
from debugger.recorders.traced_recording import NATIVE

_ROWS = 300  # lines of the call tree
_SUSPECTS = 20  # functions, and as many ranges of lines
_SHOWN = (
    *("raise", "assert ", "throw ", "assert(", "assert.", "console.error(", "process.exit"),
    *("panic(", "os.Exit(", "log.Fatal", "t.Fatal", "t.Error", "fmt.Fprintln(os.Stderr"),
)
_GAP = 4  # lines of one statement, or empty ones
# To find where something began, more calls have to be told singly.
_SINGLY = RecordingLimits(each=1_000)


async def record_path(
    program: RecordedProgram,
    *,
    around: str | None,
    between: tuple[str, str] | None,
    process: str | None = None,
) -> PathAnswer:
    """Run a program, and report its calls: all, around a function, or between two locations.

    Without a chosen process it is the program's own, or the first that reached the location.

    Raises:
        DebuggerError: NOT_FOUND for a location that did not run; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    cwd = program.launch.cwd
    wanted = None
    if around is not None:
        wanted = await asyncio.to_thread(_parse_place, program, around)
    window, limits = None, RecordingLimits()
    if between is not None:
        start, to = (function_lookup.parse_function_place(words, cwd) for words in between)
        wanted = start
        window, limits = RecordingWindow(start, to, function_lookup.matches_name), _SINGLY
    ran = await recorded_run.run_recorded(
        program,
        lambda roots: RecordingOrder(roots, limits=limits),
        window=window,
        pick=_process_pick(program, process, wanted),
    )
    # Sources are read, which takes long in a large project.
    return await asyncio.to_thread(report_path, program, ran, around_=around, between=between)


def _parse_place(program: RecordedProgram, words: str) -> model.FunctionPlace:
    """Parse a location, with what a Python function's name means by the program's sources."""
    found = function_lookup.parse_function_place(words, program.launch.cwd)
    if program.is_python:
        return resolve_function(found, program.source_roots)
    is_native = program.is_native and program.launch.program is not None
    return resolve_native(found, program.launch.program or "") if is_native else found


def _process_pick(
    program: RecordedProgram, process: str | None, wanted: model.FunctionPlace | None
) -> recorded_run.Pick | None:
    if process is not None:
        return partial(recorded_run.choose_process, which=process)
    # Of what is counted, a function that is known may not have run.
    if wanted is None or not program.is_python:
        return None
    return partial(recorded_run.coming_to, function=wanted)


def report_path(
    program: RecordedProgram,
    ran: RecordedRun,
    *,
    around_: str | None = None,
    between: tuple[str, str] | None = None,
) -> PathAnswer:
    """Report the calls of a recorded run.

    Raises:
        DebuggerError: NOT_FOUND for a location that did not run.
    """
    recording, run = ran.recording, ran.view
    roots = call_tree.build_trees(recording)
    notes = list(run.notes)
    is_counted = ran.engine == counted_run.COUNTED
    if is_counted and recording.functions:
        notes.append(counted_run.counting_note(recording))
    if between is not None and is_counted:
        notes += _counted_between(program, ran, between)
    elif between is not None:
        roots = _calls_between(program, recording, roots, between, notes)
    found: tuple[CallContext, ...] = ()
    if around_ is not None:
        wanted = _parse_place(program, around_)
        found = find_call_contexts(
            recording, roots, function_lookup.function_matcher(wanted, recording)
        )
        if not found:
            raise function_lookup.function_not_run(
                around_, wanted, recording, program.source_roots, run
            )
    if is_counted:
        folded = () if found else tuple(fold_calls(recording, [one]) for one in roots)
    else:
        folded = tuple(one.folded for one in found) if found else fold_trees(recording, roots)
    calls = list(call_tree.walk_calls(roots))
    functions = {one.function for one in calls}
    return PathAnswer(
        runs=(run,),
        process=ran.process,
        passing=int(recorded_run.is_passing(run)),
        calls=sum(one.count for one in calls),
        functions=len(functions),
        files=len({recording.find_function(one).file for one in functions}),
        rows=tuple(call_row(one) for one in flatten_tree(folded, _ROWS)),
        rows_total=sum(_count_lines(one) for one in folded),
        places=tuple(_location_view(one, recording) for one in found),
        between=between or (),
        timed_out=run.timed_out,
        engine=ran.engine,
        has_lines=_has_lines(ran),
        notes=tuple(notes),
    )


def _count_lines(one: FoldedCalls) -> int:
    return 1 + sum(_count_lines(child) for child in one.children)


def _calls_between(
    program: RecordedProgram,
    recording: Recording,
    roots: Sequence[CallNode],
    between: tuple[str, str],
    notes: list[str],
) -> list[CallNode]:
    """Keep the calls that began between the first call of one function and the next of another."""
    calls = sorted(call_tree.walk_calls(roots), key=lambda one: (one.at, one.id))

    def first(some: Sequence[CallNode], words: str) -> CallNode:
        wanted = _parse_place(program, words)
        is_meant = function_lookup.function_matcher(wanted, recording)
        for one in some:
            if is_meant(recording.find_function(one.function)):
                return one
        raise function_lookup.function_not_run(words, wanted, recording, program.source_roots)

    start, to = between
    begin = first(calls, start).at
    end = max(one.at for one in calls)
    try:
        last = first([one for one in calls if one.at > begin], to)
    except DebuggerError:
        notes.append(f"{to} was not called after {start}: what follows is to the end")
    else:
        # With the whole of the last call, whose callees belong to it.
        end = last.at + last.total_ns
    return call_tree.calls_within(roots, begin, end)


def _counted_between(
    program: RecordedProgram, ran: RecordedRun, between: tuple[str, str]
) -> list[str]:
    said = counted_run.explain_window(ran.recording, *between)
    if said is None:
        raise _not_passed(program, ran, between[0])
    return said


def _not_passed(program: RecordedProgram, ran: RecordedRun, words: str) -> DebuggerError:
    wanted = _parse_place(program, words)
    is_meant = function_lookup.function_matcher(wanted, ran.recording)
    matches = [one for one in ran.recording.functions.values() if is_meant(one)]
    counts = [each for one in matches for each in counted_run.line_counts(ran.recording, one)]
    if any(each.times and each.line == wanted.line for each in counts) or (
        matches and not wanted.line
    ):
        name = PurePath(matches[0].file).name
        return DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{words} ran, and counting cannot begin there: it begins only in scripts that Node "
            f"loads as they are, and {name} is compiled first",
            hint=f"debugger path --around {words} -- CMD",
        )
    if matches:
        hint = f"debugger path --around {words} -- CMD shows which lines near it ran"
        return DebuggerError(ErrorCode.NOT_FOUND, f"{words} was not passed", hint=hint)
    return function_lookup.function_not_run(
        words, wanted, ran.recording, program.source_roots, ran.view
    )


def _location_view(one: CallContext, recording: Recording) -> PlaceView:
    function = one.function
    # Of native programs no lines of calls are known, and then it is where the functions begin.
    has_lines = any(step.line for way in one.ways for step in way.steps)
    return PlaceView(
        function=function.name,
        file=function.file,
        line=function.line,
        calls=one.calls,
        ways=tuple(
            WayView(
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
        lines=counted_run.line_counts(recording, function),
    )


# -- runs beside each other ------------------------------------------------------------------------


async def record_or_load(program: RecordedProgram | StoredRun) -> RecordedRun:
    """Run a program for a comparison, or load a saved run.

    Raises:
        DebuggerError: LAUNCH_FAILED, NOT_SUPPORTED.
    """
    if isinstance(program, StoredRun):
        return program.ran
    return await recorded_run.run_recorded(
        program, lambda roots: RecordingOrder(roots, lines=LineRecording.HIT), is_compared=True
    )


def compare_paths(runs: Sequence[RecordedRun], roots: Sequence[Sequence[str]]) -> PathAnswer:
    """Report the code that only the failing runs executed, the most suspicious first.

    Their sources are below their roots. If all runs end alike, the first counts as failing.
    """
    runs, elsewhere = _at_home(runs, roots)
    passed = [recorded_run.is_passing(one.view) for one in runs]
    notes = [note for one in runs for note in one.view.notes]
    if len(set(passed)) == 1:
        how = "passed" if passed[0] else "failed"
        passed = [False, *[True] * (len(runs) - 1)]
        notes.insert(0, f"all runs {how}: the first counts as the one that is wrong")
    spectra = [
        run_alignment.at_home(
            run_spectrum(each, passed=is_good, command=one.view.command),
            files,
            function_lookup.lines_of,
        )
        for one, each, is_good, files in zip(
            runs, unify_parts([one.recordings for one in runs]), passed, elsewhere, strict=True
        )
    ]
    same = {file: other for files in elsewhere for file, other in files.items()}
    found = rank_suspects(spectra, most=10_000)
    views = [one.view for one in runs]
    failing = [run for run, is_good in zip(views, passed, strict=True) if not is_good]
    passing = [run for run, is_good in zip(views, passed, strict=True) if is_good]
    good = frozenset[CodePlace]().union(*(one.lines for one in spectra if one.passed))
    bad = frozenset[CodePlace]().union(*(one.lines for one in spectra if not one.passed))
    shared = frozenset[CodePlace]().union(*(one.functions for one in spectra if not one.passed))
    first_lines = _first_lines(runs)
    return PathAnswer(
        runs=(*failing, *passing),
        passing=len(passing),
        calls=sum(map(_count_calls, runs)),
        functions=len(shared),
        suspects=tuple(
            _suspect_view(one, first_lines.get(one.place, 0))
            for one in _differing_suspects(found)[:_SUSPECTS]
        ),
        suspect_lines=tuple(_suspect_ranges(found, good))[:_SUSPECTS],
        passing_lines=tuple(_only_passing(good - bad, shared, bad, len(passing), same))[:_SUSPECTS],
        timed_out=any(one.timed_out for one in views),
        engine=runs[0].engine,
        has_lines=all(map(_has_lines, runs)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _has_lines(ran: RecordedRun) -> bool:
    return ran.recording.process.language != NATIVE


def _at_home(
    runs: Sequence[RecordedRun], roots: Sequence[Sequence[str]]
) -> tuple[list[RecordedRun], list[dict[str, str]]]:
    """Match each run's sources with those of the first run in another folder.

    Unchanged sources get the same name; for changed ones the counterpart is returned.
    """
    first = _run_files(runs[0])
    found, elsewhere = [runs[0]], [dict[str, str]()]
    for one, own in zip(runs[1:], roots[1:], strict=True):
        other = run_alignment.find_counterparts(_run_files(one), own, first, roots[0])
        same = {
            a: b
            for a, b in other.items()
            if function_lookup.lines_of(a) == function_lookup.lines_of(b)
        }
        found.append(
            structs.replace(
                one, recordings=tuple(_rename_files(each, same) for each in one.recordings)
            )
        )
        elsewhere.append({a: b for a, b in other.items() if a not in same})
    return found, elsewhere


def _run_files(ran: RecordedRun) -> list[str]:
    every = (one.file for each in ran.recordings for one in each.functions.values())
    return list(dict.fromkeys(every))


def _rename_files(one: Recording, files: Mapping[str, str]) -> Recording:
    functions = {
        number: structs.replace(function, file=files.get(function.file, function.file))
        for number, function in one.functions.items()
    }
    return structs.replace(one, functions=functions)


def _count_calls(ran: RecordedRun) -> int:
    return sum(
        call.count
        for one in ran.recordings
        for call in call_tree.walk_calls(call_tree.build_trees(one))
    )


def _first_lines(every: Iterable[RecordedRun]) -> dict[CodePlace, int]:
    found: dict[CodePlace, int] = {}
    for ran in every:
        for recording in ran.recordings:
            for one in recording.functions.values():
                found.setdefault(CodePlace(one.file, one.name), one.line)
    return found


def _differing_suspects(found: SuspectRanking) -> list[RankedSuspect]:
    """Drop code that all runs executed with equal values."""
    return [
        one
        for one in found.functions
        if one.entries or (one.failing, one.passing) != (found.failing, found.passing)
    ]


def _suspect_view(one: RankedSuspect, line: int) -> SuspectView:
    return SuspectView(
        function=one.place.function,
        file=one.place.file,
        line=line,
        score=round(one.score, 2),
        failing=one.failing,
        passing=one.passing,
        entries=tuple(EntryView(entry.name, entry.failing, entry.passing) for entry in one.entries),
    )


def _suspect_ranges(found: SuspectRanking, good: frozenset[CodePlace]) -> list[SuspectView]:
    """Join lines that only failing runs executed, functions known to other runs first."""
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

    def key(one: RankedSuspect) -> tuple[float, bool, bool, int, int]:
        # That it raises is what is seen of a fault, seldom the fault; and what went another way
        # first made the others do so.
        place = one.place
        where = (place.file, place.function)
        is_shown = function_lookup.line_text(place.file, place.line).startswith(_SHOWN)
        return (-one.score, is_shown, where not in common, order[where], place.line)

    wanted.sort(key=key)
    return _join_lines(wanted, good)


def _only_passing(
    lines: frozenset[CodePlace],
    shared: frozenset[CodePlace],
    bad: frozenset[CodePlace],
    passing: int,
    same: Mapping[str, str],
) -> list[SuspectView]:
    """Join lines that only passing runs executed, in functions of failing runs."""
    wanted = [
        RankedSuspect(place, 0.0, 0, passing)
        for place in sorted(lines, key=lambda one: (one.file, one.line, one.function))
        if CodePlace(same.get(place.file, place.file), place.function) in shared
    ]
    return _join_lines(wanted, bad)


def _join_lines(
    suspects: Sequence[RankedSuspect], others: frozenset[CodePlace]
) -> list[SuspectView]:
    """Join consecutive lines of a function, if no other executed line is in between."""
    found: list[tuple[RankedSuspect, int]] = []
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
                CodePlace(place.file, place.function, line) in others
                for line in range(last + 1, place.line)
            )
        ):
            found[-1] = (before, place.line)
        else:
            found.append((one, place.line))
    return [
        SuspectView(
            function=one.place.function,
            file=one.place.file,
            line=one.place.line,
            last=last,
            score=round(one.score, 2),
            failing=one.failing,
            passing=one.passing,
            column=one.place.column,
            text=function_lookup.line_text(one.place.file, one.place.line, one.place.column),
        )
        for one, last in found
    ]
