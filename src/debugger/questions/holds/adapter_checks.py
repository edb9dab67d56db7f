"""Checks invariants of programs that a debugger runs: C, C++, Rust, Go and JavaScript."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.location import NO_FUNCTION, is_pattern
from debugger.output.location_text import format_count
from debugger.questions.holds.answer import (
    BreakingStatement,
    FalseCheck,
    Holds,
    Invariant,
    InvariantOutcome,
)
from debugger.questions.holds.check_request import CheckedPlace, CheckRequest
from debugger.questions.holds.check_window import CheckWindow, Narrowed
from debugger.questions.holds.checked_lines import (
    LINES_MAX,
    CheckedLine,
    edge_lines,
    function_at_line,
    list_functions,
    matching_functions,
    near_function_names,
    scope_lines,
    source_files_of,
)
from debugger.questions.holds.logged_checks import (
    INSIDE_MAX,
    CheckLog,
    PlaceVisit,
    check_points,
    log_checks,
    lvalues_of,
)
from debugger.questions.holds.node_narrowing import narrow_in_node
from debugger.questions.holds.stepped_narrowing import narrow_by_stepping
from debugger.questions.holds.watched_narrowing import can_watch, narrow_by_watching
from debugger.questions.locations.missing_function import describe_near, repeat_question
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.probe.recorded_probe import ProbeEnd
from debugger.questions.recordings.function_lookup import line_text, lines_of
from debugger.questions.runner.question_run import QuestionRun

_NARROWED_MAX = 3  # invariants
_RETURNS_SHOWN = 3  # functions whose calls were not all seen to return
_LISTED = 4  # searched sources that are named
# What the engine cannot do in a program, before anything of it has run.
_NOT_INSIDE = frozenset(
    {
        ErrorCode.NOT_SUPPORTED,
        ErrorCode.ADAPTER_NOT_FOUND,
        ErrorCode.ADAPTER_FAILED,
        ErrorCode.TIMEOUT,
    }
)
# delve's logpoints call none of the program's functions.
_GO_CALL = re.compile(r"(?<![\w])(?!(?:len|cap|int|uint|string|float64|byte|rune)\()[\w.]+\(")
_GO_ONLY = "delve calls no functions of the program here: {} needs fields, len() and cap() instead"
_FIRST_OF_OBJECT = "it was never true of this object: this is the first check of it"
_Place = CheckedLine | BreakpointSpec


async def check_by_debugger(
    question: QuestionRun, request: CheckRequest, *, free_question: QuestionRun | None = None
) -> Holds:
    """Run a program with the checks, and again for each invariant that became false.

    `inside` is the same program for the engine that runs inside of it, if that may be used.

    Raises:
        DebuggerError: What starting the program raises; NOT_FOUND for a pattern without functions.
    """
    places, numbers, notes = _find_lines(question, request)
    points = list(check_points(request, places, question.language))
    began = asyncio.get_running_loop().time()
    log, ending, used = await _log_checks(question, free_question, points, request)
    places = _move_to_bound(places, ending)
    invariants: list[Invariant] = []
    runs, narrowed_count = 1, 0
    for number in range(len(request.expressions)):
        found = _describe_invariant(request, number, log, places)
        good = log.good.get(number)
        if found.outcome is InvariantOutcome.BROKEN and narrowed_count >= _NARROWED_MAX:
            why = f"at most {_NARROWED_MAX} are narrowed: ask for this invariant alone"
            found = msgspec.structs.replace(found, why_unknown=why)
        elif found.outcome is InvariantOutcome.BROKEN and good is None:
            notes = tuple(_origin_commands(request, found))
            found = msgspec.structs.replace(found, why_unknown=_FIRST_OF_OBJECT, notes=notes)
        elif found.outcome is InvariantOutcome.FALSE_FROM_START:
            found = msgspec.structs.replace(found, notes=tuple(_origin_commands(request, found)))
        elif found.outcome is InvariantOutcome.BROKEN and good is not None:
            narrowed_count += 1
            kind = _kind_of(places[log.false[number].place])
            visits = (good, log.false[number])
            window = _window(used, request, number, visits, points, kind)
            narrowed = await _narrow(window, request, question)
            runs += narrowed.runs
            found = _add_narrowed(found, narrowed)
        invariants.append(found)
    return Holds(
        invariants=tuple(invariants),
        checks=log.checks,
        is_full=log.checks >= log.most or bool(log.missed),
        is_ended=log.is_over,
        means="logpoints",
        adapter=ending.adapter,
        runs=runs,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        exit_code=ending.last.exit_code if not log.is_over else None,
        timed_out=ending.last.timed_out,
        waited_s=ending.last.waited_s,
        unreached=_unreached(request, numbers, log),
        notes=(
            *notes,
            *_ending_notes(ending, numbers, request),
            *_call_notes(question, request, log),
            *_unseen_returns(places, log),
        ),
    )


def _window(  # noqa: PLR0917 - the parts of a window
    question: QuestionRun,
    request: CheckRequest,
    number: int,
    visits: tuple[PlaceVisit, PlaceVisit],
    points: Sequence[ProbePoint],
    kind: str,
) -> CheckWindow:
    good, bad = visits
    return CheckWindow(
        question=question,
        expression=request.expressions[number],
        operands=request.operands[number],
        good=good,
        bad=bad,
        good_spec=points[good.place].spec,
        bad_spec=points[bad.place].spec,
        kind=kind,
        when=request.when,
    )


async def _log_checks(
    question: QuestionRun,
    free_question: QuestionRun | None,
    points: Sequence[ProbePoint],
    request: CheckRequest,
) -> tuple[CheckLog, ProbeEnd, QuestionRun]:
    """Make the checks inside the program where it can do that, else through the debugger."""
    count = len(request.expressions)
    if free_question is not None and all(map(can_watch, request.expressions)):
        try:
            log, ending = await log_checks(
                free_question, points, count, request.hits, most=INSIDE_MAX
            )
            # What the engine cannot evaluate, the debugger may.
            if log.checks and not any(log.failed):
                return log, ending, free_question
        except DebuggerError as error:
            if error.code not in _NOT_INSIDE:
                raise
    log, ending = await log_checks(question, points, count, request.hits)
    return log, ending, question


def _find_lines(
    question: QuestionRun, request: CheckRequest
) -> tuple[list[_Place], list[int], tuple[str, ...]]:
    """Return the lines of all requested places, with the number of the request of each."""
    places: dict[object, tuple[_Place, int]] = {}
    notes: list[str] = []
    target = question.target
    files = source_files_of(target.program, target.cwd, question.language)
    for number, place in enumerate(request.places):
        for one in _lines_of_place(place, files, question):
            is_spec = isinstance(one, BreakpointSpec)
            key = (one.file, one.line, one.function if is_spec else "")
            places.setdefault(key, (one, number))
    if len(places) > LINES_MAX:
        notes.append(
            f"of {len(places):,} lines the first {LINES_MAX} are checked: narrow the scope"
        )
    chosen = list(places.values())[:LINES_MAX]
    return [one for one, _ in chosen], [number for _, number in chosen], tuple(notes)


def _lines_of_place(
    place: CheckedPlace, files: Sequence[str], question: QuestionRun
) -> Iterator[_Place]:
    """Return the lines of one requested place."""
    refuse_scope(place, question.language)
    if place.spec is None:
        yield from _scope(place, files, question.target.program)
        return
    # A line is needed of JavaScript's functions, to follow the program from there.
    name = place.spec.function if question.language == "javascript" else None
    if not name:
        yield place.spec
        return
    near = [place.spec.file] if place.spec.file is not None else files
    found = matching_functions(name, near)
    if not found and any(_is_mentioned(name, one) for one in near):
        yield place.spec  # the program may make it of a text
        return
    if not found:
        raise _not_found(place, near)
    for one in found:
        yield next(edge_lines(one))


def _is_mentioned(name: str, file: str) -> bool:
    """Return whether the text of a source has a name."""
    word = re.compile(rf"(?<![\w$]){re.escape(name.rpartition('.')[2])}(?![\w$])")
    return any(word.search(one) for one in lines_of(file))


# Of these no functions are listed; Ruby's files have no lines of functions either.
_UNLISTED: Final = {"ruby": "Ruby", "php": "PHP"}


def refuse_scope(place: CheckedPlace, language: str) -> None:
    """Refuse functions by pattern or scope where no source lists them."""
    is_listed = language not in _UNLISTED or (place.file and language != "ruby")
    if place.spec is not None or is_listed:
        return
    named = place.asked if not is_pattern(place.asked) and not place.file else "FILE:LINE"
    is_ruby = place.file or named.endswith(".rb")
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"--{place.kind} {place.asked}: {_UNLISTED[language]}'s functions are not listed here; "
        "--at takes one, or a line",
        hint=f"debugger holds EXPR --at {'FILE:LINE' if is_ruby else shlex.quote(named)} -- CMD",
    )


def _scope(place: CheckedPlace, files: Sequence[str], program: str | None) -> Iterator[_Place]:
    if place.file:
        functions = list_functions(place.file)
    else:
        functions = matching_functions(place.pattern, files, program)
    if not functions:
        raise _not_found(place, files)
    lines = edge_lines if place.kind == "each" else scope_lines
    for one in functions:
        yield from lines(one)


def _not_found(place: CheckedPlace, files: Sequence[str]) -> DebuggerError:
    """Return the error that no source has a function, with near names."""
    near = near_function_names(place.pattern or place.asked, files)
    listed = ", ".join(Path(one).name for one in files[:_LISTED])
    searched = f"{len(files):,} source{'' if len(files) == 1 else 's'}"
    text = f"no function {place.asked} in the program's {searched} ({listed})"
    there = f"; there is {', '.join(near)}" if near else ""
    hint = "debugger holds EXPR --at FILE:LINE -- CMD checks at a line"
    made = place.pattern or place.asked
    if not near and not is_pattern(made) and any(_is_mentioned(made, one) for one in files):
        text = f"{text}, whose strings alone have it"
        hint = f"debugger holds EXPR --at {shlex.quote(made)} -- CMD checks where it begins"
    if near:
        hint = (
            f"debugger holds EXPR --{place.kind} {shlex.quote(near[0])} -- CMD (or --at FILE:LINE)"
        )
    return DebuggerError(ErrorCode.NOT_FOUND, f"{text}{there}", hint=hint)


def _move_to_bound(places: Sequence[_Place], ending: ProbeEnd) -> list[_Place]:
    """Return the places with the lines at which the debugger set them: the next with code."""
    bound = {one.id - 1: one.bound for one in ending.breakpoints if one.bound is not None}
    moved: list[_Place] = []
    for number, place in enumerate(places):
        its = bound.get(number)
        is_moved = isinstance(place, BreakpointSpec) and place.line is not None
        line = its.line if its is not None and its.verified and is_moved else None
        moved.append(msgspec.structs.replace(place, line=line) if line is not None else place)
    return moved


def _describe_invariant(
    request: CheckRequest, number: int, log: CheckLog, places: Sequence[_Place]
) -> Invariant:
    bad = log.false.get(number)
    outcome = InvariantOutcome.HELD if log.true[number] else InvariantOutcome.NOT_EVALUATED
    if bad is not None:
        is_broken = number in log.any_good
        outcome = InvariantOutcome.BROKEN if is_broken else InvariantOutcome.FALSE_FROM_START
    first = None
    if bad is not None:
        place = places[bad.place]
        function = place.function or function_at_line(place.file, place.line)
        first = FalseCheck(
            _kind_of(place), bad.ordinal, FrameView(0, function, place.file, place.line)
        )
    return Invariant(
        expression=request.expressions[number],
        outcome=outcome,
        true=log.true[number],
        failed=log.failed[number],
        error=log.errors[number] or None,
        first_false=first,
    )


async def _narrow(window: CheckWindow, request: CheckRequest, question: QuestionRun) -> Narrowed:
    """Narrow a broken invariant to a statement, with the means of the program's language.

    `question` is the program for its debugger, where the window is for the engine inside of it.
    """
    try:
        if question.language == "javascript":
            target = question.target
            files = source_files_of(target.program, target.cwd, question.language)
            known = json.dumps(request.known) if request.has_known else ""
            return await narrow_in_node(window, known, files)
        check = None
        if can_watch(window.expression):
            for one in dict.fromkeys([window.question.adapter, question.adapter]):
                used = window.question if one == window.question.adapter else question
                narrowed = await _watch_or_none(dataclasses.replace(window, question=used))
                if narrowed is not None and narrowed.statement is not None:
                    return narrowed
                check = narrowed.check if narrowed is not None else check
        stepped = await narrow_by_stepping(dataclasses.replace(window, question=question))
        return dataclasses.replace(stepped, check=stepped.check or check)
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_DIED:
            raise
        return Narrowed(why=error.message)


async def _watch_or_none(window: CheckWindow) -> Narrowed | None:
    """Narrow with watchpoints; None if nothing can be watched."""
    try:
        return await narrow_by_watching(window)
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_DIED:
            raise
        return None


def _call_number(places: Sequence[_Place], at: int, visits: Mapping[int, int]) -> int:
    """Return the number of the call for a check at a return; 0 if unknown."""
    place = places[at]
    if not isinstance(place, CheckedLine) or place.kind != "return":
        return 0
    for number, one in enumerate(places):
        is_entry = isinstance(one, CheckedLine) and one.kind == "entry"
        if is_entry and one.file == place.file and one.function == place.function:
            return visits.get(number, 0)
    return 0


def _kind_of(place: _Place) -> str:
    if isinstance(place, CheckedLine):
        return place.kind
    return "entry" if place.function else "line"


def _add_narrowed(found: Invariant, narrowed: Narrowed) -> Invariant:
    first = found.first_false
    if narrowed.check is not None and first is not None:
        first = msgspec.structs.replace(narrowed.check, kind=first.kind, ordinal=first.ordinal)
    return msgspec.structs.replace(
        found,
        first_false=first,
        made_false_by=_calling_statement(found, narrowed),
        why_unknown=narrowed.why or None,
        notes=narrowed.notes,
    )


def _calling_statement(found: Invariant, narrowed: Narrowed) -> BreakingStatement | None:
    """Return the call in the place of the called function's head, which assigns its parameters."""
    first, statement, check = found.first_false, narrowed.statement, narrowed.check
    if statement is None or first is None or check is None or first.kind != "entry":
        return statement
    here, entry = statement.frame, check.frame
    is_same = (here.file, here.function) == (entry.file, entry.function)
    if not is_same or (here.line or 0) >= (entry.line or 0) or not statement.callers:
        return statement
    caller, *others = statement.callers
    return msgspec.structs.replace(
        statement,
        frame=caller,
        text=line_text(caller.file or "", caller.line or 0),
        callers=tuple(others),
    )


def _unreached(request: CheckRequest, numbers: Sequence[int], log: CheckLog) -> tuple[str, ...]:
    # The events come after the places of the checks.
    reached = {numbers[place] for place in log.visits if place < len(numbers)}
    places = [one.asked for number, one in enumerate(request.places) if number not in reached]
    events = enumerate(request.events, len(numbers))
    return (*places, *(one.asked for number, one in events if number not in log.visits))


def _origin_commands(request: CheckRequest, found: Invariant) -> Iterator[str]:
    """Yield the command that follows a value back that was wrong at its first check."""
    first = found.first_false
    paths = lvalues_of(found.expression)
    if first is None or not paths or not first.frame.file or first.frame.line is None:
        return
    where = f"{Path(first.frame.file).name}:{first.frame.line}"
    nth = ["--nth", str(first.ordinal)] if first.ordinal > 1 and not request.when else []
    when = ["--when", request.when] if request.when else []
    words = shlex.join(["debugger", "why", paths[0], "--at", where, *nth, *when])
    yield f"{words} -- CMD follows {paths[0]} to where it comes from"


def _call_notes(question: QuestionRun, request: CheckRequest, log: CheckLog) -> Iterator[str]:
    """Yield a note for each invariant of Go that failed for a call in it."""
    for number, one in enumerate(request.expressions):
        if question.language == "go" and log.failed[number] and _GO_CALL.search(one):
            yield _GO_ONLY.format(one)


def _ending_notes(ending: ProbeEnd, numbers: Sequence[int], request: CheckRequest) -> Iterator[str]:
    for number, (count, text) in ending.failures.items():
        if number <= len(numbers):
            yield f"--when could not be evaluated at {format_count(count, 'check')}: {text}"
    bound = {one.id: one.bound for one in ending.breakpoints if one.bound is not None}
    missed = {
        request.places[numbers[number - 1]].asked: one
        for number, one in bound.items()
        if not one.verified and number <= len(numbers)
    }
    for name, one in missed.items():
        if (one.why or "").startswith(NO_FUNCTION):
            again = repeat_question("debugger holds EXPR --at", one.near_names)
            yield f"{describe_near(one.why or '', one.near_names)}: {again}"
        elif one.why and one.nearest_lines:
            yield f"{one.why}; nearest: {', '.join(map(str, one.nearest_lines))}"
        else:
            yield f"{name} is, or has, a place without code, which is not checked"
    if ending.stopped and ending.last.state == State.TERMINATED.value:
        yield f"the program stopped for {ending.stopped}"


def _unseen_returns(places: Sequence[_Place], log: CheckLog) -> tuple[str, ...]:
    """Return notes on the functions whose calls were not all seen to return.

    A panic or an exception leaves a call elsewhere than at its lines, as `if (x) return y;` does
    where only lines that begin with `return` are checked, and delve takes the first of
    several addresses of the line at which a function of Go with `defer` ends.
    """
    if log.is_over:
        return ()
    return tuple(_missing_returns(places, log))[:_RETURNS_SHOWN]


def _missing_returns(places: Sequence[_Place], log: CheckLog) -> Iterator[str]:
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for at, one in enumerate(places):
        if isinstance(one, CheckedLine) and one.kind in {"entry", "return"}:
            kinds = counts.setdefault((one.file, one.function), {})
            kinds[one.kind] = kinds.get(one.kind, 0) + log.visits.get(at, 0)
    for (_, function), kinds in counts.items():
        entered, left = kinds.get("entry", 0), kinds.get("return")
        if left is not None and entered > left:
            yield (
                f"not every call of {function} was seen to return (a panic, an exception, an exit, "
                "a defer or a return within a line): it was not checked there"
            )
