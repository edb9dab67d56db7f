"""Parses a change, makes it at a stop, and evaluates the expectation afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec
from msgspec import Struct

from debugger.backends.abilities import RawCommandAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime, one_line
from debugger.model.events import OutputStream, State
from debugger.model.program import EvaluationPurpose, ResumeKind
from debugger.model.statement import parse_reads
from debugger.model.text_filters import clip_text
from debugger.questions.runner import question_run, stop_position
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.runner.stop_position import (
    SecondRunArrival,
    SecondRunMissed,
    StopPosition,
    bring_to_stop,
)
from debugger.questions.try_change.answer import Expected, Tried, build_trial_answer, where_it_ended
from debugger.session import inspection, source_files, stepping, value_inspection, views
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from debugger.session.session_state import check_runs
from debugger.session.stepping import WaitLimit

CHANGES_MAX = 20
OPERANDS_MAX = 6
HINT = "debugger try 'x=3' 'order->total=0' --until LOC --expect EXPR; or debugger try 'return 5'"
_RETURN = re.compile(r"return\b(?!\s*(?:=(?!=)|\.|->|\[))\s*(?P<value>.*?)\s*;?\Z")
_COMPARES = re.compile(r"===|!==|==|!=|<=|>=|<(?!<)|(?<![->])>(?!>)")
_OPERATOR = re.compile(r"(\*\*|//|<<|>>|&&|\|\||\?\?|[-+*/%&|^])\Z")
_LITERAL = re.compile(r"[-+]?\d[\w.]*\Z|(['\"]).*\1\Z")
_FALSE = frozenset({"false", "0", "0x0", "nil", "null", "none", "undefined", "nan"})
_NUMBER = re.compile(r"[-+]?(0x[0-9a-f]+|\d+(\.\d*)?(e[-+]?\d+)?)(?=\Z| )")


class TrialChange(Struct, frozen=True):
    """A value to set, or, without a target, a value to return; None returns nothing."""

    target: str | None
    value: str | None

    @property
    def is_return(self) -> bool:
        """Whether the function is to return immediately."""
        return self.target is None


def parse_changes(words: tuple[str, ...]) -> tuple[TrialChange, ...]:
    """Parse the changes; `;` and `,` separate several in one word.

    Raises:
        DebuggerError: USAGE for any other text.
    """
    found = [one for word in words for one in _split_changes(word)]
    if not found:
        raise DebuggerError(ErrorCode.USAGE, "expected a change to try, such as 'x=3'", hint=HINT)
    if len(found) > CHANGES_MAX:
        raise DebuggerError(ErrorCode.USAGE, f"{CHANGES_MAX} values at most are set", hint=HINT)
    if any(one.is_return for one in found[:-1]):
        raise DebuggerError(
            ErrorCode.USAGE,
            "after a return there is nothing to set: it comes last, once",
            hint=HINT,
        )
    return tuple(found)


def _split_changes(word: str) -> Iterator[TrialChange]:
    one_line(word)
    for part in _split_outside(word, ";"):
        smaller = _split_outside(part, ",")
        # `x = 3, 4` is one value; `x = 3, y = 4` are two.
        are_all = len(smaller) > 1 and all(_parse_assignment(each) for each in smaller)
        yield from map(_parse_change, smaller if are_all else [part])


def _parse_change(text: str) -> TrialChange:
    returned = _RETURN.match(text)
    if returned:
        return TrialChange(None, returned["value"] or None)
    assigned = _parse_assignment(text)
    if assigned is None:
        raise DebuggerError(
            ErrorCode.USAGE, f"expected NAME=VALUE or return VALUE: {text!r}", hint=HINT
        )
    return assigned


def _parse_assignment(text: str) -> TrialChange | None:
    """Parse `a.b = c`, or `a += c`; None for any other text."""
    for at, letter, depth in _unbracketed_characters(text):
        if letter != "=" or depth:
            continue
        before, after = text[:at], text[at + 1 :]
        if after.startswith(("=", ">")) or before.endswith(("=", "!", "<", ">")):
            is_shift = before.endswith(("<<", ">>")) and not after.startswith("=")
            if not is_shift:
                return None
        before = before.removesuffix(":")  # Go's, and Python's
        operator = _OPERATOR.search(before)
        target = (before[: operator.start()] if operator else before).strip()
        value = after.strip()
        if not target or not value:
            return None
        return TrialChange(target, f"({target}) {operator[1]} ({value})" if operator else value)
    return None


def _split_outside(text: str, mark: str) -> list[str]:
    """Split a text at a character outside of brackets and quotes."""
    cuts = [
        -1,
        *(
            at
            for at, letter, depth in _unbracketed_characters(text)
            if letter == mark and not depth
        ),
    ]
    ends = [*cuts[1:], len(text)]
    parts = (text[first + 1 : last].strip() for first, last in zip(cuts, ends, strict=True))
    return [part for part in parts if part]


def _unbracketed_characters(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield unquoted characters with their positions and their depth in brackets."""
    quote, depth = "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
            continue
        if letter in "'\"`":
            quote = letter
            continue
        depth += (letter in "([{") - (letter in ")]}")
        yield at, letter, depth


def condition_operands(expression: str, *, hash_comments: bool) -> tuple[str, ...]:
    """Return the operands of a condition: the sides of its comparison, and their accesses."""
    sides: list[str] = []
    places = {at for at, _, depth in _unbracketed_characters(expression) if not depth}
    # In `a == 1 and b == 2` nothing is compared as a whole; what is read is told.
    compared = [one for one in _COMPARES.finditer(expression) if one.start() in places]
    if len(compared) == 1 and not re.search(r"&&|\|\||\band\b|\bor\b", expression):
        sides = [expression[: compared[0].start()], expression[compared[0].end() :]]
    read = parse_reads(expression, hash_comments=hash_comments)
    found = [*(side.strip() for side in sides), *read.operands, *_whole_accesses(read.accesses)]
    operands = (one for one in found if one and one != expression and not _LITERAL.match(one))
    return tuple(dict.fromkeys(operands))[:OPERANDS_MAX]


def _whole_accesses(accesses: tuple[object, ...]) -> list[str]:
    return [str(getattr(one, "whole", "")) for one in accesses]


def is_true(value: str) -> bool | None:
    """Return whether a value in a debugger's format is true; None for a value without a truth."""
    text = value.strip().lower()
    if text in _FALSE:
        return False
    if text == "true":
        return True
    number = _NUMBER.match(text)
    if number is None:
        return None
    digits = number[1]
    return (int(digits, 16) if digits.startswith("0x") else float(digits)) != 0


def check_can_return(session: Session) -> None:
    """Check that the debugger can force a return.

    Raises:
        DebuggerError: NOT_SUPPORTED, with an alternative.
    """
    if session.traits.return_command is not None:
        return
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{session.adapter} cannot make a function return",
        hint=session.traits.return_hint,
    )


def copied_variables(file: str | None, names: Sequence[str]) -> list[str]:
    """Return the assigned variables that the program may not read again.

    rustc keeps a copy for debuggers of a variable that is bound once, and uses its own. Go's
    compiler, without optimisation too, uses registers loaded by an earlier line: delve sets the
    memory, and cannot set registers.
    """
    plain = [one for one in names if one.isidentifier()]
    if file is not None and file.endswith(".go") and plain:
        return [f"{', '.join(plain)}: Go may hold it in a register, and not see the change"]
    if file is None or not file.endswith(".rs"):
        return []
    text = "\n".join(source_files.read_source(file) or ())
    fixed = [one for one in plain if not re.search(rf"\bmut\s+{one}\b", text)]
    if not fixed:
        return []
    return [f"not mut: {', '.join(fixed)}: Rust may hold it elsewhere, and not see the change"]


async def force_return(session: Session, value: str | None) -> None:
    """Force the current frame's function to return, without running it (a job).

    Raises:
        DebuggerError: EVALUATION_FAILED for a value of another type.
    """
    words = session.traits.return_command
    before = (await inspection.frame_of(session)).function
    debugger = session.backend.find_ability(RawCommandAbility)
    answer = await debugger.run_raw(
        f"{words} {value}" if value is not None else words or "", await inspection.frame_of(session)
    )
    if answer.lstrip().lower().startswith("error"):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{before} cannot return {value or 'nothing'}: {answer.strip()[:300]}",
            hint="debugger try 'return VALUE', of the function's type",
        )
    session.note_jump()


_VALUE = 400  # characters
# How a value that is no truth value is asked for its own, where the language has such a way.
_TRUTH: Mapping[Runtime, Callable[[str], str]] = {
    Runtime.PYTHON: lambda text: f"bool({text})",
    Runtime.NODE: lambda text: f"!!({text})",
    Runtime.RUBY: lambda text: f"!!({text})",
    Runtime.PHP: lambda text: f"(bool)({text})",
}


async def evaluate_expectation(
    session: Session, stop: answers.Stop, expression: str, *, place: str | None, at: bool | None
) -> Expected:
    """Evaluate a condition at the stop; `at` is False if that is not the requested location."""
    if at is False:
        return _unknown_expectation(expression, f"{place} was not reached: {where_it_ended(stop)}")
    if stop.state != State.STOPPED.value or stop.session != session.name:
        why = f"there was no stop to evaluate it at: {where_it_ended(stop)}"
        return _unknown_expectation(expression, f"{why}; --until LOC says where")
    try:
        value = await _evaluate_text(session, expression)
        # A text such as `0` or `true`, as the debugger formats it.
        holds = is_true(value)
        if session.traits.runtime in _TRUTH and value.lower() not in {"true", "false"}:
            holds = is_true(
                await _evaluate_text(session, _TRUTH[session.traits.runtime](expression))
            )
    except DebuggerError as error:
        return _unknown_expectation(
            expression, f"it cannot be evaluated there: {_first_line(error.message)}"
        )
    shown = tuple(await _operand_views(session, expression))
    problem = None if holds is not None else f"it is no condition, its value is {value}"
    return Expected(expression, holds, value[:_VALUE], shown, problem)


def _first_line(text: str) -> str:
    """Return the first line: debuggers draw the position of the error below it."""
    return text.strip().partition("\n")[0]


async def _evaluate_text(session: Session, expression: str) -> str:
    found = await value_inspection.run_evaluation(
        session, lambda: _evaluate_value(session, expression)
    )
    return found.value


async def _evaluate_value(session: Session, expression: str) -> answers.Value:
    return await value_inspection.evaluate_expression(
        session, expression, purpose=EvaluationPurpose.PRINT, depth=0, show_type=False
    )


async def _operand_views(session: Session, expression: str) -> list[answers.VariableView]:
    shown = []
    is_python = session.traits.runtime is Runtime.PYTHON
    for name in condition_operands(expression, hash_comments=is_python):
        try:
            found = await value_inspection.run_evaluation(
                session, partial(_evaluate_value, session, name)
            )
        except DebuggerError:
            continue  # a function's name, for one
        shown.append(answers.VariableView(name, found.value[:_VALUE], found.type))
    return shown


def _unknown_expectation(expression: str, problem: str) -> Expected:
    return Expected(expression, problem=problem)


_OUTPUT_LINES = 200  # lines of output
_LINE_MAX = 2000
_NAME = "try"
_BY_HAND = (
    "values were changed by hand in the session (set, eval, raw): a second run has not got them"
)
_OTHER_WAY = "the second run came there from other lines than the session did"


@dataclass(frozen=True)
class TrialRequest:
    """A requested trial: the changes, the location to run to, and the expectation."""

    changes: tuple[TrialChange, ...]
    until: BreakpointSpec | None = None
    place: str | None = None
    expression: str | None = None
    is_here: bool = False


async def try_change(
    sessions: SessionList, session: Session, request: TrialRequest, patience: WaitLimit
) -> Tried:
    """Try a change at a session's stop, in a second run; the session stays unchanged.

    Raises:
        DebuggerError: WRONG_STATE, PROGRAM_EXITED, NOT_SUPPORTED; what setting a value raises;
        NOT_FOUND, TIMEOUT if a second run does not reach the same stop.
    """
    began = asyncio.get_running_loop().time()
    session.require_state(State.STOPPED, to="try a change")
    if any(one.is_return for one in request.changes):
        check_can_return(session)
    if request.is_here:
        check_runs(session.target, to="try a change")
        answer = await _run_trial(session, request, patience)
        answer = msgspec.structs.replace(answer, is_here=True)
    else:
        answer = await _in_a_second_run(sessions, session, request, patience)
    took = round(asyncio.get_running_loop().time() - began, 1)
    return msgspec.structs.replace(
        answer, session=session.name, adapter=session.adapter, took_s=took
    )


async def _in_a_second_run(
    sessions: SessionList, session: Session, request: TrialRequest, patience: WaitLimit
) -> Tried:
    ends_at = asyncio.get_running_loop().time() + patience.seconds
    target = stop_position.check_second_run(session)
    was = await session.run_job(partial(stop_position.find_position, session))
    question = QuestionRun(
        sessions=sessions,
        target=target,
        make_backend=session.make_backend,
        name=_NAME,
        patience=patience,
        breakpoints=was.wanted,
        traits=session.traits,
        adapter=session.adapter,
    )
    notes = [_BY_HAND] if session.selection.is_changed else []
    missed = None
    # A second attempt, if the first has found which arrival is the most similar.
    for _ in range(2):
        remaining = WaitLimit(ends_at - asyncio.get_running_loop().time(), patience.interrupted)
        async with question_run.run_question(replace(question, patience=remaining)) as run:
            came = await bring_to_stop(run, was, missed.nearest if missed is not None else None)
            if isinstance(came, SecondRunArrival):
                answer = await _tried_at(run, came, was, request)
                return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
        missed = came
        if came.nearest is None or was.is_exact:
            break
    assert missed is not None
    raise _missed_error(missed, was, patience)


def _missed_error(came: SecondRunMissed, was: StopPosition, patience: WaitLimit) -> DebuggerError:
    frame = was.seen.frames[0] if was.seen.frames else None
    where = f"{frame.function} line {frame.line}" if frame is not None else "the same place"
    if came.stop.timed_out or came.stop.state == State.RUNNING.value:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"the second run did not reach {where} within {patience.seconds:g} s",
            hint=f"debugger try --timeout {max(2 * patience.seconds, 60):g}; {stop_position.HERE}",
        )
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"the second run did not reach {where} as this one did: {where_it_ended(came.stop)}",
        hint=stop_position.HERE,
    )


async def _tried_at(
    run: RunningQuestion, came: SecondRunArrival, was: StopPosition, request: TrialRequest
) -> Tried:
    session = came.session
    if was.frame:
        await session.run_job(lambda: inspection.go_to_frame(session, was.frame))
    # What is ours does not stop it again; with a place to run to, nothing else does.
    for at, one in enumerate(session.breakpoints.user_breakpoints()):
        if request.until is not None or at == was.extra:
            await session.run_job(partial(session.binding.remove, one))
    answer = await _run_trial(
        session, request, WaitLimit(run.left_s, run.patience.interrupted), run
    )
    notes = () if came.is_called_alike else (_OTHER_WAY,)
    return msgspec.structs.replace(
        answer,
        differs=stop_position.limit_changes(came.differs),
        differs_total=len(came.differs),
        notes=(*notes, *answer.notes),
    )


async def _run_trial(
    session: Session, request: TrialRequest, patience: WaitLimit, run: RunningQuestion | None = None
) -> Tried:
    """Apply the changes, run, and evaluate the expectation."""
    tried_at = views.frame_view(await session.run_job(lambda: inspection.frame_of(session)))
    assigned: list[answers.Assignment] = []
    returned = None
    for change in request.changes:
        try:
            if change.target is None:
                await session.run_job(partial(force_return, session, change.value))
                returned = change.value or ""
            else:
                job = partial(
                    value_inspection.assign_value, session, change.target, change.value or ""
                )
                assigned.append(await value_inspection.run_evaluation(session, job))
        except DebuggerError as error:
            raise _not_set(error, assigned, is_here=run is None) from error
    cursor = session.timeline.cursor()
    if request.until is not None:
        stop = await stepping.run_until(session, request.until, patience)
    else:
        stop = await stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience)
    is_reached = (
        _is_reached(stop, session, request.until, is_alone=run is not None)
        if request.until
        else None
    )
    found = None
    if request.expression is not None:
        found = await evaluate_expectation(
            session, stop, request.expression, place=request.place, at=is_reached
        )
    timed_out = stop.timed_out
    if timed_out and run is not None:
        stop = await run.stop_and_report() or stop
    lines, total = _output_since(session, cursor)
    answer = build_trial_answer(
        stop,
        until=request.place,
        reached=is_reached,
        expected=found,
        timed_out=timed_out,
        tried_at=tried_at,
        assigned=tuple(assigned),
        returned=returned,
        output=lines,
        output_total=total,
    )
    copies = copied_variables(tried_at.file, [one.name for one in assigned])
    return msgspec.structs.replace(answer, notes=(*answer.notes, *copies))


def _not_set(
    error: DebuggerError, assigned: list[answers.Assignment], *, is_here: bool
) -> DebuggerError:
    """Name the values that were already set, if the session itself was changed."""
    if not is_here or not assigned:
        return error
    done = ", ".join(f"{one.name}={one.value} (was {one.previous})" for one in assigned)
    return DebuggerError(error.code, f"{error.message}; set already: {done}", hint=error.hint)


def _is_reached(
    stop: answers.Stop, session: Session, until: BreakpointSpec, *, is_alone: bool
) -> bool:
    """Return whether the location stopped the run: a second run has no other breakpoint."""
    if stop.state != State.STOPPED.value or stop.session != session.name:
        return False
    places = {"goto", "breakpoint", "function_breakpoint", "step"}
    frame = stop.frame
    is_there = frame is not None and (
        frame.function == until.function
        if until.function is not None
        else (frame.file, frame.line) == (until.file, until.line)
    )
    return stop.reason == "goto" or (stop.reason in places and (is_alone or is_there))


def _output_since(session: Session, cursor: int) -> tuple[tuple[answers.OutputLine, ...], int]:
    """Return the end of the program's output since then, and its number of lines."""
    page = session.timeline.lines(since=cursor)
    lines = [one for one in page.lines if one.stream is not OutputStream.CONSOLE]
    shown_lines = (
        lines
        if len(lines) <= _OUTPUT_LINES
        else [*lines[: _OUTPUT_LINES // 2], *lines[-_OUTPUT_LINES // 2 :]]
    )
    shown = (
        answers.OutputLine(one.stream.value, clip_text(one.text, _LINE_MAX), one.seq)
        for one in shown_lines
    )
    return tuple(shown), len(lines) + page.dropped
