"""Records single calls of a function, and reports them line by line."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import short_paths
from debugger.questions.calls.answer import Calls, DecisionView, LifeView, RoundsView, StepView
from debugger.questions.holds.checked_lines import source_files_of
from debugger.questions.recordings import counted_run, function_lookup, recorded_run, traced_run
from debugger.questions.recordings.answer import CallRow, ValueView
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun, value_views
from debugger.questions.recordings.run_text import call_row
from debugger.questions.recordings.source_search import resolve_function, resolve_native
from debugger.questions.recordings.stepped_calls import (
    EVERY_CALL,
    STEPPED,
    CallFilter,
    step_through,
)
from debugger.recorders import call_tree
from debugger.recorders.call_folding import flatten_tree, fold_trees
from debugger.recorders.call_tree import (
    CallLifetime,
    CallLine,
    CallNode,
    Item,
    LineBranch,
    LineChange,
    LoopRounds,
    RoundShape,
    call_lifetime,
)
from debugger.recorders.model import (
    FunctionPlace,
    LineRecording,
    Recording,
    RecordingLimits,
    RecordingOrder,
)
from debugger.recorders.python.python_branches import find_branches, find_loops
from debugger.recorders.traced_recording import is_entry

_NAMES = 8  # functions of one name
_ROWS = 12  # lines of a call tree
_COMPILED = frozenset({".ts", ".tsx", ".mts", ".cts"})
_NOTE = (
    "what it called is of a second run, at other addresses, in which all calls were traced (frida)"
)
_SUSPENDED = "COROUTINE_SUSPENDED"  # what a suspend function of Kotlin returns meanwhile
_PARTS = (
    "a suspend function: what it runs after a suspension is a call of its own here, and its "
    "parameters are null or 0 on its first line"
)
_ENDED_EARLY = (
    "what it called is not known: the second run, to see that, was ended before it was called"
)
# A trace sees a function that has an entry; a debugger also stops where one was inlined, whose
# lines lie among its caller's, so that stepping leaves them early.
_INLINED = (
    "{0} was never entered in a second run: the compiler has inlined it, so lines of its calls may "
    "be missing, they may have ended later, and not by a return; -O0 shows them whole"
)

_STARTED = "stepped through: what was called is not reported of a process that the program starts"
_LOADED = (
    "{0} is in no file that the program has from its beginning: what it called and returned is "
    "not reported of a library that is loaded later"
)


async def with_callees(
    program: RecordedProgram, function: FunctionPlace, answer: Calls, *, depth: int, is_chosen: bool
) -> Calls:
    """Add the callees of stepped calls, if they can be traced."""
    name = answer.function
    if (
        not program.is_native
        and not program.is_python
        and (program.language not in counted_run.LANGUAGES)
    ):
        return _calls_with_note(answer, "stepped through")
    if not program.is_native:
        place = _location_of(answer)
        more = f": debugger path --around {place} -- CMD counts the lines of all its calls"
        is_whole = len(answer.lives) == answer.seen
        return _calls_with_note(answer, "stepped through" + ("" if is_whole else more))
    if program.traced is None:
        return _calls_with_note(answer, _STARTED)
    if is_chosen or not depth:
        text = "stepped through: what was called is not reported of filtered calls"
        return _calls_with_note(answer, text)
    try:
        traced, run = await traced_run.run_traced(await program.traced(), program.words)
    except DebuggerError as error:
        return _calls_with_note(
            answer, f"stepped through; its calls could not be traced: {error.message}"
        )
    calls = _called_functions(traced, function)
    lives = [
        _call_with_callees(one, traced, calls[one.number - 1], depth)
        if one.number <= len(calls)
        else one
        for one in answer.lives
    ]
    notes = [_NOTE] if any(one.callees for one in lives) else []
    if is_entry(name) and not calls:
        notes = [f"what {name} called is told by debugger path -- CMD"]
    elif answer.lives and not calls and run.timed_out:
        notes = [_ENDED_EARLY]
    elif answer.lives and not calls:
        is_own = await asyncio.to_thread(_is_in_program, program, function)
        notes = [(_INLINED if is_own else _LOADED).format(name)]
    elif len(calls) < max((one.number for one in answer.lives), default=0):
        notes = [f"in a second run, to see what it calls, {name} was called {len(calls)} times"]
    found = structs.replace(answer, lives=tuple(lives), seen=len(calls))
    # A run that was ended early has not made all its calls.
    return _calls_with_note(structs.replace(found, seen=0) if run.timed_out else found, *notes)


def _is_in_program(program: RecordedProgram, function: FunctionPlace) -> bool:
    """Return whether the program's own file was made of a function's source, if both are known."""
    file = program.launch.program
    if file is None or not Path(function.file).is_file():
        return True
    sources = source_files_of(str(file), str(program.launch.cwd), "")
    return str(Path(function.file).resolve()) in sources


def _location_of(answer: Calls) -> str:
    """Return the name under which `path` knows a function: V8 counts compiled TypeScript."""
    first = next((one for one in answer.lives if one.file), None)
    if first is None:
        return answer.function
    if Path(first.file).suffix in _COMPILED:
        return first.function
    return f"{Path(first.file).name}:{first.line}"


def _note_parts(answer: Calls) -> Calls:
    is_suspended = any(one.value == _SUSPENDED for one in answer.lives)
    return _calls_with_note(answer, _PARTS) if is_suspended else answer


def _calls_with_note(answer: Calls, *texts: str) -> Calls:
    return structs.replace(answer, notes=(*answer.notes, *texts))


def _called_functions(traced: Recording, function: FunctionPlace) -> list[CallNode]:
    matches = function_lookup.function_matcher(function, traced)
    every = call_tree.walk_calls(call_tree.build_trees(traced))
    some = [one for one in every if matches(traced.find_function(one.function))]
    return sorted(some, key=lambda one: (one.at, one.id))


def _call_with_callees(one: LifeView, traced: Recording, call: CallNode, depth: int) -> LifeView:
    lines = flatten_tree(fold_trees(traced, call.children), _ROWS)
    callees = tuple(call_row(each) for each in lines if each.depth < depth)
    given = one.arguments or value_views(call.arguments)
    return structs.replace(one, arguments=given, callees=callees, value=one.value or call.value)


LIMIT = 3  # calls that are reported line by line
LIMIT_MAX = 50
DEPTH_MAX = 20  # levels of callees
# What a line changes in a long value is to be seen, too.
_LIMITS = RecordingLimits(text=400, items=12, depth=3)
_BRIEF = 20  # calls that are told at least by what went in and what came out
_ITEMS = 200  # of one call
_LOOPS = ("for ", "while ", "async for ")
_REPEATS = re.compile(r"\b(?:for|while|loop|do|goto|repeat)\b")
_NS = 1_000_000  # nanoseconds in a millisecond


async def record_calls(
    program: RecordedProgram,
    function: str,
    *,
    nth: int | None,
    when: str,
    depth: int,
    limit: int | None,
    filtered: CallFilter = EVERY_CALL,
) -> Calls:
    """Run a program and report calls of a function: from the nth on, those with `when` true.

    With a filter its calls are numbered.

    Raises:
        DebuggerError: USAGE; NOT_FOUND if it was not called; LAUNCH_FAILED, NOT_SUPPORTED.
    """
    most = limit if limit is not None else 1 if nth is not None else LIMIT
    check_numbers(nth, depth, most)
    if program.is_python:
        _check_condition(when)
    place = function_lookup.parse_function_place(function, program.launch.cwd)
    if not program.is_python:
        if program.is_native and program.launch.program is not None:
            place = await asyncio.to_thread(resolve_native, place, program.launch.program)
        stepped = await step_through(
            program, place, nth=nth or 1, when=when, most=most, filtered=filtered
        )
        answer = report_calls(stepped, function, first=nth or 1, depth=depth, most=most)
        is_chosen = bool(when or filtered.hits)
        answer = _note_parts(answer)
        return await with_callees(program, place, answer, depth=depth, is_chosen=is_chosen)
    place = await asyncio.to_thread(resolve_function, place, program.source_roots)
    recorded_most = max(most, _BRIEF) if nth is None else most

    def order(roots: tuple[str, ...]) -> RecordingOrder:
        return RecordingOrder(
            roots,
            functions=(place,),
            nth=nth or 1,
            most=recorded_most,
            when=when,
            numbers=filtered.numbers,
            thread=filtered.hits.thread or 0,
            thread_name=filtered.hits.thread_name,
            inside=filtered.hits.inside or "",
            changes=filtered.hits.changes,
            depth=depth,
            lines=LineRecording.EACH,
            limits=_LIMITS,
        )

    ran = await recorded_run.run_recorded(program, order, tells_all=True)
    if not any(one.has_calls for one in ran.recordings):
        sources = (ran.recording, program.source_roots, ran.view)
        raise await asyncio.to_thread(function_lookup.function_not_run, function, place, *sources)
    first = 1 if when else nth or 1
    answer = report_calls(ran, function, first=first, depth=depth, most=most)
    return _calls_with_note(answer, *_name_notes(ran, place, function))


def _name_notes(ran: RecordedRun, place: FunctionPlace, words: str) -> list[str]:
    """Say that a name is that of several functions, with the recorded calls of each."""
    counts: dict[tuple[str, str, int], int] = {}
    for recording in ran.recordings:
        matches = function_lookup.function_matcher(place, recording)
        for one in call_tree.walk_calls(call_tree.build_trees(recording)):
            made = recording.find_function(one.function)
            if matches(made):
                key = (made.name.replace("<locals>.", ""), made.file, made.line)
                counts[key] = counts.get(key, 0) + one.count
    if not place.name or len(counts) <= 1:
        return []
    files = short_paths(file for _, file, _ in counts)
    each = [f"{name} {files[file]}:{line} x{n}" for (name, file, line), n in counts.items()]
    more = f" and {len(each) - _NAMES} more" if len(each) > _NAMES else ""
    (name, file, _), *_ = counts
    again = f"debugger calls {files[file]}:{name} -- CMD takes one of them"
    text = f"{words} is {len(each)} functions; recorded calls, those inside of each other too"
    return [f"{text}: {', '.join(each[:_NAMES])}{more}; {again}"]


async def number_from_end(
    program: RecordedProgram, function: str, count: int, *, is_filtered: bool
) -> int:
    """Return the number of the first of the last `count` calls, counted by a run of its own.

    Raises:
        DebuggerError: USAGE with a filter; NOT_FOUND for fewer calls; NOT_SUPPORTED where
            calls cannot be counted; TIMEOUT if the program goes on; what `record_calls` raises.
    """
    if is_filtered:
        raise DebuggerError(
            ErrorCode.USAGE,
            "calls from the last one on are counted without a condition or another filter",
            hint="probe --at FUNCTION EXPR --when COND --nth last shows which hit it is",
        )
    counted = await record_calls(program, function, nth=None, when="", depth=1, limit=1)
    if counted.timed_out or counted.run.timed_out:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"the program went on after {counted.run.took_s:.0f} s: no call of {function} is the "
            "last one yet",
            hint=f"debugger calls {function} -- {counted.run.command} (shows the first ones)",
        )
    if not counted.seen:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"the number of calls of {function} is not known",
            hint=f"debugger probe --at {function} EXPR --nth last -- {counted.run.command} "
            "(counts them; then calls --nth K)",
        )
    if counted.seen < count:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{function} was called {counted.seen:,} times only",
            hint=f"--last {counted.seen} is all of them",
        )
    return counted.seen - count + 1


def check_numbers(nth: int | None, depth: int, most: int) -> None:
    """Reject numbers out of range.

    Raises:
        DebuggerError: USAGE.
    """
    hint = "debugger calls --help"
    if nth is not None and nth < 1:
        raise DebuggerError(ErrorCode.USAGE, f"--nth counts from 1, not {nth}", hint=hint)
    if not 0 <= depth <= DEPTH_MAX:
        raise DebuggerError(ErrorCode.USAGE, f"--depth is 0 to {DEPTH_MAX}, not {depth}", hint=hint)
    if not 1 <= most <= LIMIT_MAX:
        raise DebuggerError(ErrorCode.USAGE, f"--limit is 1 to {LIMIT_MAX}, not {most}", hint=hint)


def _check_condition(when: str) -> None:
    hint = "debugger calls --help"
    try:
        if when:
            compile(when, "--when", "eval")
    except (SyntaxError, ValueError) as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"--when {when!r} is not a Python expression: {error}", hint=hint
        ) from error


def report_calls(ran: RecordedRun, function: str, *, first: int, depth: int, most: int) -> Calls:
    """Report recorded calls: some line by line, the others by arguments and result."""
    run = ran.view
    running = [one for one in ran.recordings if one.has_calls]
    roots = [
        (recording, one)
        for recording in running
        for one in call_tree.build_trees(recording)
        if not one.is_merged
    ]
    shown = _choose_shown([one for _, one in roots], most)
    known: dict[str, tuple[Mapping[int, LineBranch], frozenset[int] | None]] = {}
    lives: list[LifeView] = []
    others: list[LifeView] = []
    for number, (recording, call) in enumerate(roots, first):
        file = recording.find_function(call.function).file
        if file not in known:
            text = "\n".join(function_lookup.lines_of(file))
            known[file] = find_branches(text), find_loops(text)
        deciding, looping = known[file]
        life = call_lifetime(recording, call, branches=deciding, loops=looping)
        is_shown = id(call) in shown
        made = (
            _call_view(recording, call, life, number, depth)
            if is_shown
            else _brief_view(life, number)
        )
        if len(running) > 1:
            made = msgspec.structs.replace(made, process=recording.process.pid)
        (lives if is_shown else others).append(made)
    notes = list(run.notes)
    if ran.engine != STEPPED and any(one.skipped for one in lives):
        notes.append("of long calls only the first 5,000 lines are told")
    return Calls(
        run=run,
        function=function,
        seen=sum(one.seen for one in running),
        processes=len(running),
        chosen=len(roots),
        lives=tuple(lives),
        others=tuple(others),
        timed_out=run.timed_out,
        engine=ran.engine,
        notes=tuple(notes),
    )


def _choose_shown(roots: Sequence[CallNode], most: int) -> set[int]:
    """Choose the calls to report line by line: the first ones, and one that raised, if any."""
    shown = list(roots[:most])
    raising = next((one for one in roots if one.raised), None)
    if raising is not None and not any(one.raised for one in shown):
        shown[-1] = raising
    return {id(one) for one in shown}


def _brief_view(life: CallLifetime, number: int) -> LifeView:
    return LifeView(
        number=number,
        function=life.function.name,
        file=life.function.file,
        line=life.function.line,
        arguments=recorded_run.value_views(life.arguments),
        value=life.value,
        error=life.error,
        error_line=life.error_line,
        has_ended=life.has_ended,
        took_ms=round(life.took_ns / _NS, 3),
        passed=life.passed,
        skipped=life.skipped,
        thread=life.thread,
    )


def _call_view(
    recording: Recording, call: CallNode, life: CallLifetime, number: int, depth: int
) -> LifeView:
    text = function_lookup.lines_of(life.function.file)
    below = {id(one): one for one in call.children}
    by_number = {one.id: one for one in below.values()}

    def text_of(line: int) -> str:
        return text[line - 1].strip() if 0 < line <= len(text) else ""

    def rows(step: CallLine) -> tuple[CallRow, ...]:
        made = [by_number[one.call] for one in step.callees if one.call in by_number]
        lines = flatten_tree(fold_trees(recording, made), _ROWS)
        return tuple(call_row(one) for one in lines if one.depth < depth)

    def items(some: Sequence[Item], level: int) -> Iterator[StepView | RoundsView]:
        for one in _unfold_returns(some, text):
            if isinstance(one, LoopRounds):
                yield from loop(one, level)
            else:
                yield StepView(
                    one.line, text_of(one.line), _change_views(one.changes), rows(one), level
                )

    def loop(one: LoopRounds, level: int) -> Iterator[StepView | RoundsView]:
        for at, shape in enumerate(one.shapes):
            yield RoundsView(
                one.line,
                one.rounds,
                shape.count,
                shape.first_round,
                depth=level,
                more_shapes=one.more_shapes if not at else 0,
                varies=tuple(recorded_run.vary_view(name) for name in one.varies) if not at else (),
                is_loop=_is_loop(shape, text),
            )
            yield from items(shape.first, level + 1)
            if shape.last and not at:
                yield RoundsView(one.line, one.rounds, shape.count, 0, is_last=True, depth=level)
                yield from items(shape.last, level + 1)

    made = tuple(one for one, _ in zip(items(life.items, 0), range(_ITEMS), strict=False))
    merged = [one for one in call.children if one.is_merged]
    return msgspec.structs.replace(
        _brief_view(life, number),
        items=made,
        decisions=tuple(
            DecisionView(one.line, text_of(one.line), one.taken, one.never)
            for one in life.decisions
            if not text_of(one.line).startswith(_LOOPS)
        ),
        counted=tuple(
            call_row(one)
            for one in flatten_tree(fold_trees(recording, merged), _ROWS)
            if not one.depth
        ),
    )


def _unfold_returns(items: Sequence[Item], text: Sequence[str]) -> Iterator[Item]:
    """Yield the lines of what was folded as a loop and is none, in their order."""
    for one in items:
        if isinstance(one, LoopRounds) and is_plain_return(one, text):
            for shape in sorted(one.shapes, key=lambda each: each.first_round):
                yield from _unfold_returns(shape.first, text)
        else:
            yield one


def is_plain_return(rounds: LoopRounds, text: Sequence[str]) -> bool:
    """Return whether a line was only returned to, by different ways and outside of any loop.

    A `switch` with patterns is returned to for each guard that fails.
    """
    is_repeated = rounds.more_shapes or any(one.count > 1 for one in rounds.shapes)
    return not is_repeated and not any(_is_loop(one, text) for one in rounds.shapes)


def _is_loop(shape: RoundShape, text: Sequence[str]) -> bool:
    """Return whether the source has a loop around lines that ran several times.

    Without a loop a debugger returns to a statement's first line at its end: Rust's if, Go's
    return.
    """
    first, last = min(shape.lines), max(shape.lines)
    return any(map(_REPEATS.search, text[max(first - 2, 0) : last + 1]))


def _change_views(some: Sequence[LineChange]) -> tuple[ValueView, ...]:
    return tuple(ValueView(one.name, one.new, one.old) for one in some)
