"""Follows a parameter of JavaScript to the callers' arguments, on the stack of one stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.program import EvaluationPurpose, Frame
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote.javascript_writes import find_writing_lines
from debugger.questions.who_wrote.value_writers import WriteRequest
from debugger.questions.who_wrote.watched_writes import reach_location
from debugger.questions.why import statement_origin
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, WhyLink
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.session import source_files
from debugger.sources.javascript_outline import JavaScriptFunction, outline_file

_LEVELS = 60
_JOINED_MAX = 12  # lines of one call


@dataclass
class PassedArguments:
    """The links from a parameter up the stack, and what the outermost argument is."""

    links: list[WhyLink] = field(default_factory=list)
    value: str | None = None
    # Where the program stood.
    frame: FrameView | None = None
    # The last argument, and the number of its frame; None if the expression is no parameter.
    argument: StatementOrigin | None = None
    index: int = 0
    place: str = ""
    # The lines of the function that the argument is evaluated in.
    scope: tuple[str, int, int] | None = None
    # Of the operands of a computed argument.
    values: dict[str, str] = field(default_factory=dict)
    ended: tuple[ChainEnd, str] | None = None


def find_innermost_function(file: str | None, line: int | None) -> JavaScriptFunction | None:
    """Return the innermost function that a line is in."""
    outline = outline_file(file) if file is not None and line is not None else None
    if outline is None or line is None:
        return None
    enclosing = [one for one in outline.functions if one.begin[0] <= line <= one.end[0]]
    return max(enclosing, key=lambda one: one.begin, default=None)


def is_parameter(name: str, file: str | None, line: int | None) -> bool:
    """Return whether a name is a parameter that its function does not write."""
    function = find_innermost_function(file, line)
    if function is None or file is None or name not in function.arguments:
        return False
    text = "\n".join(source_files.read_source(file) or ())
    written = (one.line for one in find_writing_lines(file, text, name))
    return not any(function.begin[0] < one <= function.end[0] for one in written)


async def follow_arguments(
    question: QuestionRun, requested: WriteRequest, certainty: LinkCertainty
) -> PassedArguments:
    """Run to a location, and follow a parameter there to its callers' arguments.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there.
    """
    found = PassedArguments(index=requested.frame)
    async with question_run.run_question(replace(question, breakpoints=(requested.at,))) as run:
        stop = await reach_location(run, requested)
        session = run.session
        thread = stop.thread if stop.thread is not None else 0
        stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=_LEVELS))
        frames = stack.frames
        first = frames[requested.frame]
        found.frame = FrameView(first.index, first.function, first.file, first.line)
        found.scope = _scope_of(first)
        found.place = _place_of(first)
        try:
            found.value = await _evaluate(run, requested.expression, first)
        except DebuggerError as error:
            raise requested.expression_error(error) from error
        await _climb(run, frames, requested.expression, found, certainty)
    return found


async def _climb(
    run: RunningQuestion,
    frames: Sequence[Frame],
    name: str,
    found: PassedArguments,
    certainty: LinkCertainty,
) -> None:
    """Add a link for each caller that passes its own parameter on."""
    while is_parameter(name, frames[found.index].file, frames[found.index].line):
        here = frames[found.index]
        at = next(
            (one for one in range(found.index + 1, len(frames)) if _is_own(frames[one])), None
        )
        function = find_innermost_function(here.file, here.line)
        if at is None or function is None:
            found.ended = (
                ChainEnd.NOT_FOLLOWED,
                f"`{name}` was passed by Node itself, or by a task: no caller is on the stack",
            )
            return
        caller = frames[at]
        number = function.arguments.index(name)
        call = _call_statement(caller, here.function)
        passed = call is not None and number < len(call.arguments)
        found.links.append(
            WhyLink(
                LinkKind.PASSED,
                certainty,
                f"passed as argument {number + 1} (`{name}`)",
                frame=FrameView(at, caller.function, caller.file, caller.line),
                statement=call.text if call is not None else _line_of(caller),
                new=found.value,
            )
        )
        if call is None or not passed:
            found.ended = _unknown_argument(name, caller, call)
            return
        origin = statement_origin.classify_expression(call.arguments[number])
        found.argument, found.index = origin, at
        found.place, found.scope = _place_of(caller), _scope_of(caller)
        if origin.kind is not OriginKind.OPERAND:
            for operand in origin.operands:
                await _add_value(run, operand, caller, found)
            return
        await _add_value(run, origin.text, caller, found)
        name = origin.text


def _unknown_argument(
    name: str, caller: Frame, call: StatementOrigin | None
) -> tuple[ChainEnd, str]:
    place = _place_of(caller)
    if call is not None:
        reason = f"the call at {place} passes no `{name}`: it is undefined, or has its default"
        return ChainEnd.CONSTANT, reason
    reason = f"the statement at {place} does not show what it passes for `{name}`, as of a callback"
    return ChainEnd.NOT_FOLLOWED, f"{reason}: debugger calls {caller.function} -- CMD"


async def _add_value(run: RunningQuestion, text: str, frame: Frame, found: PassedArguments) -> None:
    try:
        found.values[text] = await _evaluate(run, text, frame)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise


async def _evaluate(run: RunningQuestion, text: str, frame: Frame) -> str:
    session = run.session
    value = await session.run_job(
        lambda: session.backend.evaluate(text, frame, EvaluationPurpose.PRINT)
    )
    return value.value


def _is_own(frame: Frame) -> bool:
    file = frame.file or ""
    return bool(file) and Path(file).is_absolute() and "node_modules" not in file


def _scope_of(frame: Frame) -> tuple[str, int, int] | None:
    function = find_innermost_function(frame.file, frame.line)
    if function is None or frame.file is None:
        return None
    return (frame.file, function.begin[0], function.end[0])


def _place_of(frame: Frame) -> str:
    return f"{Path(frame.file or '?').name}:{frame.line}"


def _line_of(frame: Frame) -> str:
    lines = source_files.read_source(frame.file) if frame.file else None
    line = frame.line or 0
    return lines[line - 1].strip() if lines is not None and 0 < line <= len(lines) else ""


def _call_statement(caller: Frame, function: str) -> StatementOrigin | None:
    """Return the call in the caller's statement, which may take several lines."""
    lines = source_files.read_source(caller.file) if caller.file else None
    if lines is None or caller.line is None:
        return None
    # `new Box(1)` calls the constructor of Box.
    names = function.removeprefix("async ").removeprefix("new ").split(".")
    called = names[-2] if names[-1] == "constructor" and len(names) > 1 else names[-1]
    text = ""
    for line in lines[caller.line - 1 : caller.line - 1 + _JOINED_MAX]:
        text = f"{text} {line.strip()}".strip()
        found = statement_origin.call_in_statement(text, called)
        if found is not None:
            return found
    return None
