"""Compares failing runs with passing ones: what only the failing runs executed, and its counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec import structs

from debugger.questions.path.answer import (
    BranchView,
    EntryView,
    PathAnswer,
    SourceLineView,
    SuspectView,
)
from debugger.questions.path.branch_views import branch_views
from debugger.questions.path.path_question import has_lines
from debugger.questions.recordings import count_comparison, function_lookup, recorded_run
from debugger.questions.recordings.answer import CountView, RunView
from debugger.questions.recordings.native_recording import record_native
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.saved_runs import StoredRun
from debugger.recorders import call_tree, run_alignment
from debugger.recorders.counted_recording import unify_parts
from debugger.recorders.line_effect import LineEffect, classify_line, count_operations
from debugger.recorders.model import LineRecording, Recording, RecordingOrder
from debugger.recorders.suspect_ranking import (
    CodePlace,
    RankedSuspect,
    SuspectRanking,
    rank_functions,
    rank_suspects,
    run_spectrum,
)
from debugger.sources.deciding_condition import DecidingCondition, find_all_conditions

_SUSPECTS = 20  # functions
_RANGES = 12  # of lines in one function
_EXCERPT = 8  # lines of one function
_COUNTS = 10  # functions and lines whose counts depart from the ratio
_GAP = 4  # lines of one statement, or empty ones


async def record_or_load(program: RecordedProgram | StoredRun) -> RecordedRun:
    """Run a program for a comparison, or load a saved run.

    Raises:
        DebuggerError: LAUNCH_FAILED, NOT_SUPPORTED.
    """
    if isinstance(program, StoredRun):
        return program.ran
    if program.is_native:
        # Its lines and branches tell more than the arguments of its calls, which differ with the
        # input; and every function is counted, however many there are.
        recorded = await record_native(program)
        if recorded is not None:
            return recorded
    return await recorded_run.run_recorded(
        program, lambda roots: RecordingOrder(roots, lines=LineRecording.HIT), is_compared=True
    )


def compare_paths(runs: Sequence[RecordedRun], roots: Sequence[Sequence[str]]) -> PathAnswer:
    """Report the code that only the failing runs executed, the most suspicious first.

    Their sources are below their roots. If all runs end alike, the first counts as failing.
    """
    recorded = runs
    runs, elsewhere = _at_home(runs, roots)
    passed = [recorded_run.is_passing(one.view) for one in runs]
    notes = [note for one in runs for note in one.view.notes]
    if len(set(passed)) == 1:
        notes.insert(0, _note_same_ends([one.view for one in runs], is_passing=passed[0]))
        passed = [False, *[True] * (len(runs) - 1)]
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
    notes += run_alignment.describe_changes(same, function_lookup.lines_of)
    found = rank_suspects(spectra, most=10_000)
    views = [one.view for one in runs]
    failing = [run for run, is_good in zip(views, passed, strict=True) if not is_good]
    passing = [run for run, is_good in zip(views, passed, strict=True) if is_good]
    good = frozenset[CodePlace]().union(*(one.lines for one in spectra if one.passed))
    bad = frozenset[CodePlace]().union(*(one.lines for one in spectra if not one.passed))
    shared = frozenset[CodePlace]().union(*(one.functions for one in spectra if not one.passed))
    pair = choose_pair(runs)
    counts = count_comparison.compare_call_counts(
        [recorded[at].recordings for at in pair], [roots[at] for at in pair]
    )
    departing = _departing_rows(counts)
    branches = branch_views(runs, passed)
    missed = tuple(_only_passing(good - bad, shared, bad, len(passing), same))[:_SUSPECTS]
    # Where branches were not recorded, the source shows which condition decided.
    common = good & bad if not branches else frozenset[CodePlace]()
    return PathAnswer(
        runs=(*failing, *passing),
        passing=len(passing),
        calls=sum(map(_count_calls, runs)),
        functions=len(shared),
        suspects=_suspect_views(found, _first_lines(runs)),
        suspect_lines=_add_deciding(_suspect_ranges(found, good, (*branches, *missed)), common),
        branches=branches,
        passing_lines=_add_deciding(missed, common),
        timed_out=any(one.timed_out for one in views),
        unrecorded=_find_unrecorded(runs),
        engine=runs[0].engine,
        has_lines=all(map(has_lines, runs)),
        ratio=counts.ratio if counts is not None else None,
        counts=departing[:_COUNTS],
        more_counts=max(len(departing) - _COUNTS, 0),
        notes=tuple(dict.fromkeys(notes)),
    )


def _find_unrecorded(runs: Sequence[RecordedRun]) -> tuple[str, ...]:
    """Return the commands of runs without a function, if others have some."""
    silent = [one for one in runs if not any(each.functions for each in one.recordings)]
    return tuple(one.view.command for one in silent) if len(silent) < len(runs) else ()


def _note_same_ends(views: Sequence[RunView], *, is_passing: bool) -> str:
    """Say that all runs ended alike, and which of them counts as failing."""
    first = "the first counts as the one that is wrong"
    if all(one.timed_out for one in views):
        longer = "a longer --timeout may let them end"
        return f"all runs were ended at their limit, so little can be compared: {longer}; {first}"
    return f"all runs {'passed' if is_passing else 'failed'}: {first}"


def _departing_rows(counts: count_comparison.CountComparison | None) -> tuple[CountView, ...]:
    """Return the rows of both runs: what one run alone executed is among the suspects."""
    rows = counts.rows if counts is not None else ()
    return tuple(one for one in rows if one.left and one.right)


def choose_pair(runs: Sequence[RecordedRun]) -> tuple[int, int]:
    """Return the first failing and the first passing run; of runs that end alike, the first two."""
    passed = [recorded_run.is_passing(one.view) for one in runs]
    return (passed.index(False), passed.index(True)) if len(set(passed)) > 1 else (0, 1)


def _at_home(
    runs: Sequence[RecordedRun], roots: Sequence[Sequence[str]]
) -> tuple[list[RecordedRun], list[dict[str, str]]]:
    """Match each run's sources with those of the first run in another folder.

    Unchanged sources get the same name; for changed ones the counterpart is returned.
    """
    first = _run_files(runs[0])
    found, elsewhere = [runs[0]], [dict[str, str]()]
    for one, own in zip(runs[1:], roots[1:], strict=True):
        other = run_alignment.find_counterparts(
            _run_files(one), own, first, roots[0], function_lookup.lines_of
        )
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
        sum(call.count for call in call_tree.walk_calls(call_tree.build_trees(one)))
        + sum(one.further.values())
        for one in ran.recordings
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


def _suspect_views(
    found: SuspectRanking, first_lines: Mapping[CodePlace, int]
) -> tuple[SuspectView, ...]:
    some = _differing_suspects(found)[:_SUSPECTS]
    return tuple(_suspect_view(one, first_lines.get(one.place, 0)) for one in some)


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


def _suspect_ranges(
    found: SuspectRanking,
    good: frozenset[CodePlace],
    elsewhere: Sequence[BranchView | SuspectView],
) -> list[SuspectView]:
    """Join lines that only failing runs executed, function by function.

    The functions in which passing runs went `elsewhere` are among them, with however few lines.
    """
    common = {(one.file, one.function) for one in good}
    requested = [
        one
        for one in found.lines
        if one.failing > one.passing
        and (one.failing, one.passing) != (found.failing, found.passing)
    ]
    ranges: list[SuspectView] = []
    ranked = rank_functions(requested, _effect_of)
    other_ways = {(one.file, one.function) for one in elsewhere}
    parted = (
        some
        for some in ranked[_SUSPECTS:]
        if (some[0].place.file, some[0].place.function) in other_ways
    )
    for some in (*ranked[:_SUSPECTS], *islice(parted, _SUSPECTS)):
        some.sort(key=lambda one: (-one.score, one.place.line, one.place.column))
        place = some[0].place
        is_new = (place.file, place.function) not in common
        first, *others = _join_lines(some, good)[:_RANGES]
        ranges.append(structs.replace(first, is_new=is_new, excerpt=_excerpt_of(some)))
        ranges += [structs.replace(one, is_new=is_new) for one in others]
    return ranges


def _add_deciding(
    ranges: Sequence[SuspectView], common: frozenset[CodePlace]
) -> tuple[SuspectView, ...]:
    """Add the condition in front of each range of lines, if all runs executed it."""
    if not common:
        return tuple(ranges)
    files: dict[str, list[int]] = {}
    for one in ranges:
        if not one.is_new:
            files.setdefault(one.file, []).append(one.line)
    conditions = {
        file: find_all_conditions(file, "\n".join(function_lookup.lines_of(file)), lines)
        for file, lines in files.items()
    }
    return tuple(
        structs.replace(one, decided_by=_deciding_line(one, conditions[one.file][one.line], common))
        if not one.is_new
        else one
        for one in ranges
    )


def _deciding_line(
    one: SuspectView, conditions: Sequence[DecidingCondition], common: frozenset[CodePlace]
) -> int:
    """Return the line of the innermost condition of a range, if all runs came to it.

    It decided nothing about a part of a line, which has its condition within the line.
    """
    for condition in conditions[:1] if not one.column else ():
        is_own = one.line <= condition.line <= max(one.last, one.line)
        if not is_own and CodePlace(one.file, one.function, condition.line) in common:
            return condition.line
    return 0


def _effect_of(place: CodePlace) -> LineEffect:
    return classify_line(function_lookup.line_text(place.file, place.line, place.column))


def _excerpt_of(suspects: Sequence[RankedSuspect]) -> tuple[SourceLineView, ...]:
    """Return the lines of a function that compute most, in their order."""
    best = suspects[0].score
    numbers = dict.fromkeys(one.place.line for one in suspects if one.score == best)
    file = suspects[0].place.file
    texts = {line: function_lookup.line_text(file, line) for line in numbers}
    some = sorted(texts, key=lambda line: (-count_operations(texts[line]), line))
    return tuple(SourceLineView(line, texts[line]) for line in some[:_EXCERPT])


def _only_passing(
    lines: frozenset[CodePlace],
    shared: frozenset[CodePlace],
    bad: frozenset[CodePlace],
    passing: int,
    same: Mapping[str, str],
) -> list[SuspectView]:
    """Join lines that only passing runs executed, in functions of failing runs.

    Of a function that had not returned when its run was ended no line may be known.
    """
    known = {(one.file, one.function) for one in bad}
    passing_only = [
        RankedSuspect(place, 0.0, 0, passing)
        for place in sorted(lines, key=lambda one: (one.file, one.line, one.function))
        if CodePlace(same.get(place.file, place.file), place.function) in shared
        and (same.get(place.file, place.file), place.function) in known
    ]
    return _join_lines(passing_only, bad)


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
