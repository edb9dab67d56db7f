"""Reports one run as a tree of calls, or what only the failing ones of several runs executed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import PurePath

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.path.answer import PathAnswer, PlaceView, WayView
from debugger.questions.recordings import counted_run, function_lookup, recorded_run
from debugger.questions.recordings.answer import CallRow
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.run_text import call_row
from debugger.questions.recordings.source_search import resolve_function, resolve_native
from debugger.recorders import call_tree, model
from debugger.recorders.call_folding import (
    CallContext,
    FoldedCalls,
    find_call_contexts,
    flatten_tree,
    fold_calls,
    fold_trees,
)
from debugger.recorders.call_tree import CallNode
from debugger.recorders.model import (
    Recording,
    RecordingLimits,
    RecordingOrder,
    RecordingWindow,
)
from debugger.recorders.traced_recording import NATIVE

ROWS = 300  # lines of the call tree
# To find where something began, more calls have to be told singly.
_SINGLY = RecordingLimits(each=1_000)


async def record_path(
    program: RecordedProgram,
    *,
    around: str | None,
    between: tuple[str, str] | None,
    process: str | None = None,
    rows: int = ROWS,
) -> PathAnswer:
    """Run a program, and report its calls: all, around a function, or between two locations.

    Without a chosen process it is the program's own, or the first that reached the location.

    Raises:
        DebuggerError: NOT_FOUND for a location that did not run; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    cwd = program.launch.cwd
    place = None
    if around is not None:
        place = await asyncio.to_thread(_parse_place, program, around)
    window, limits = None, RecordingLimits()
    if between is not None:
        start, to = (function_lookup.parse_function_place(words, cwd) for words in between)
        place = start
        window, limits = RecordingWindow(start, to, function_lookup.matches_name), _SINGLY
    # Counters report the window of the process that passed it (`counted_run.first_process`).
    is_window = between is not None and program.is_counted
    ran = await recorded_run.run_recorded(
        program,
        lambda roots: RecordingOrder(roots, limits=limits),
        window=window,
        pick=_process_pick(process, None if is_window else place),
    )
    # Sources are read, which takes long in a large project.
    return await asyncio.to_thread(
        report_path, program, ran, around_=around, between=between, rows=rows
    )


def _parse_place(program: RecordedProgram, words: str) -> model.FunctionPlace:
    """Parse a location, with what a Python function's name means by the program's sources."""
    found = function_lookup.parse_function_place(words, program.launch.cwd)
    if program.is_python:
        return resolve_function(found, program.source_roots)
    is_native = program.is_native and program.launch.program is not None
    return resolve_native(found, program.launch.program or "") if is_native else found


def _process_pick(
    process: str | None, place: model.FunctionPlace | None
) -> recorded_run.Pick | None:
    if process is not None:
        return partial(recorded_run.choose_process, which=process)
    return partial(recorded_run.coming_to, function=place) if place is not None else None


def report_path(
    program: RecordedProgram,
    ran: RecordedRun,
    *,
    around_: str | None = None,
    between: tuple[str, str] | None = None,
    rows: int = ROWS,
) -> PathAnswer:
    """Report the calls of a recorded run; `rows` lines of the tree at most.

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
        place = _parse_place(program, around_)
        found = find_call_contexts(
            recording, roots, function_lookup.function_matcher(place, recording)
        )
        if not found:
            raise function_lookup.function_not_run(
                around_, place, recording, program.source_roots, run
            )
    if found:
        folded = () if is_counted else tuple(one.folded for one in found)
    else:
        folded = _fold_roots(ran, roots)
    calls = list(call_tree.walk_calls(roots))
    functions = {one.function for one in calls}
    return PathAnswer(
        runs=(run,),
        process=ran.process,
        passing=int(recorded_run.is_passing(run)),
        calls=sum(one.count for one in calls)
        + sum(recording.further.get(one, 0) for one in functions),
        functions=len(functions),
        files=len({recording.find_function(one).file for one in functions}),
        rows=tuple(call_row(one) for one in flatten_tree(folded, rows)),
        rows_total=sum(_count_lines(one) for one in folded),
        places=tuple(_location_view(one, recording) for one in found),
        between=between or (),
        timed_out=run.timed_out,
        engine=ran.engine,
        has_lines=has_lines(ran),
        notes=tuple(notes),
    )


def _fold_roots(ran: RecordedRun, roots: Sequence[CallNode]) -> tuple[FoldedCalls, ...]:
    if ran.engine == counted_run.COUNTED:
        return tuple(fold_calls(ran.recording, [one]) for one in roots)
    return fold_trees(ran.recording, roots)


def list_calls(ran: RecordedRun, most: int) -> tuple[tuple[CallRow, ...], int]:
    """Return the lines of a run's call tree, the most important ones, and how many there are."""
    folded = _fold_roots(ran, call_tree.build_trees(ran.recording))
    rows = tuple(call_row(one) for one in flatten_tree(folded, most))
    return rows, sum(_count_lines(one) for one in folded)


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
        place = _parse_place(program, words)
        matches = function_lookup.function_matcher(place, recording)
        for one in some:
            if matches(recording.find_function(one.function)):
                return one
        raise function_lookup.function_not_run(words, place, recording, program.source_roots)

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
    text = counted_run.explain_window(ran.recording, *between)
    if text is None:
        raise _not_passed(program, ran, between[0])
    return text


def _not_passed(program: RecordedProgram, ran: RecordedRun, words: str) -> DebuggerError:
    place = _parse_place(program, words)
    is_match = function_lookup.function_matcher(place, ran.recording)
    matches = [one for one in ran.recording.functions.values() if is_match(one)]
    counts = [each for one in matches for each in counted_run.line_counts(ran.recording, one)]
    if any(each.times and each.line == place.line for each in counts) or (
        matches and not place.line
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
        words, place, ran.recording, program.source_roots, ran.view
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


def has_lines(ran: RecordedRun) -> bool:
    """Return whether a run's lines were recorded, and not its calls alone."""
    return ran.recording.process.language != NATIVE
