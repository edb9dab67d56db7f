"""Finds the operands of a failed check that made it fail, in the source of its frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from debugger.model import answers
from debugger.model.program import Frame
from debugger.model.statement import join_statement, parse_reads
from debugger.session import source_files
from debugger.sources.compared_sides import find_compared
from debugger.sources.guilty_operand import (
    FailedCondition,
    find_asserted_calls,
    find_asserted_part,
    find_compared_calls,
    find_compared_part,
    find_failed_condition,
    find_guard,
    find_guilty_operands,
    is_call,
    raises,
)

_STATEMENT = 20  # lines
# Files of languages whose recorded, or repeated, runs know what each call has returned.
_RECORDED = (
    *(".py", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".tsx"),
    *(".c", ".cc", ".cpp", ".cxx", ".rs"),
)
_RESULT_FOLLOWED = (*_RECORDED, ".rb", ".php", ".go")  # a result alone
_RUBY = ".rb"
_PART_FOLLOWED = (".js", ".cjs", ".mjs")  # the program's own call is looked up, not made again


def guilty_values(
    frame: answers.FrameView | None,
    known: Mapping[str, answers.VariableView],
    variables: Iterable[answers.VariableView],
) -> dict[str, str]:
    """Return the values of the operands by which a check failed at a frame's line.

    Args:
        frame: The frame.
        known: The values of expressions, by their text.
        variables: The variables of the frame.
    """
    file = frame.file if frame is not None else None
    line = frame.line if frame is not None else None
    every = {one.name: one.value for one in variables}
    every |= {name: one.value for name, one in known.items()}
    return {name: every[name] for name in guilty_operands(file, line, every) if name in every}


def asserted_values(
    frame: answers.FrameView | None, variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the values of the operands of the assertion at a frame's line, message or not."""
    if frame is None:
        return {}
    condition = _failed_condition(frame.file, frame.line)
    if condition is None or condition.is_around:
        return {}
    operands = parse_reads(condition.text).operands
    return {name: variables[name] for name in operands if name in variables}


def compared_values(
    frame: answers.FrameView | None, guilty: Iterable[str], variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the values that a check of a compiled language compared, the suspect one first.

    Of a check in several parts they are those of the `guilty` operands, where these are known.
    """
    lines = _lines_with(frame.file, frame.line) if frame is not None else ()
    if frame is None or not lines or not frame.file or not frame.line:
        return {}
    pairs = [one.suspects() for one in find_compared(frame.file, lines, frame.line)]
    decided = set(guilty)
    chosen = [one for one in pairs if decided & set(one)] if decided else pairs
    return {name: variables[name] for pair in chosen for name in pair if name in variables}


def guilty_operands(
    file: str | None, line: int | None, values: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the operands of those parts of a condition by which its check at a line failed."""
    condition = _failed_condition(file, line)
    return find_guilty_operands(condition, values) if condition is not None else ()


def read_guard(frame: Frame | answers.FrameView | None) -> FailedCondition | None:
    """Return the condition under which a frame's statement raises an exception or panics."""
    file, line = (frame.file, frame.line) if frame is not None else (None, None)
    lines = _lines_with(file, line)
    return find_guard(file, "\n".join(lines), line) if lines and file and line else None


def reported_operands(
    frame: Frame | answers.FrameView | None,
    guard: FailedCondition | None,
    operands: Sequence[str],
    values: Mapping[str, str],
) -> tuple[str, ...]:
    """Return what a statement that raises an exception complains about.

    These are the operands of the condition it stands under, those first that its own text names,
    too. Without a condition they are the statement's own `operands`.
    """
    file, line = (frame.file, frame.line) if frame is not None else (None, None)
    lines = _lines_with(file, line)
    if not lines or not line or not raises(lines[line - 1]):
        return ()
    guilty = find_guilty_operands(guard, values) if guard is not None else tuple(operands)
    if file is not None and file.endswith(_RUBY):
        guilty = tuple(_without_predicate(one, values) for one in guilty)
    if guard is None:
        return guilty
    return tuple(dict.fromkeys((*(one for one in guilty if one in operands), *guilty)))


def _without_predicate(operand: str, values: Mapping[str, str]) -> str:
    """Return the object of a predicate without a value of its own, as `ids` of `ids.empty?`."""
    base = operand.rpartition(".")[0].removesuffix("&")
    return base if operand not in values and base in values else operand


def is_recorded(frame: answers.FrameView | None) -> bool:
    """Return whether a run of a frame's language knows what each call has returned."""
    return frame is not None and frame.file is not None and frame.file.endswith(_RECORDED)


def is_result_followed(frame: answers.FrameView | None, call: str) -> bool:
    """Return whether what a call at the line of a crash gave can be followed without another call.

    Args:
        frame: The reported frame.
        call: The call, or a part of its result, as `it.next().value`.
    """
    names = _RESULT_FOLLOWED if call.endswith(")") else _PART_FOLLOWED
    return frame is not None and (frame.file or "").endswith(names)


def compared_calls(
    frame: answers.FrameView | None, guard: FailedCondition | None, values: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the calls that a failed check compared, where their results can be known."""
    if frame is None or frame.file is None or not is_recorded(frame):
        return ()
    condition = guard or _failed_condition(frame.file, frame.line)
    if condition is None or (condition.is_around and condition is not guard):
        text = _statement_at(frame.file, frame.line)
        sides = find_compared(frame.file, _lines_with(frame.file, frame.line), frame.line or 0)
        called = (one for pair in sides for one in (pair.left, pair.right) if is_call(one))
        return find_asserted_calls(text) or tuple(called)
    return find_compared_calls(condition, values)


def compared_part(frame: answers.FrameView | None, values: Mapping[str, str]) -> str:
    """Return the element or member that a failed check of a script compared; "" if none did."""
    if frame is None:
        return ""
    condition = _failed_condition(frame.file, frame.line)
    if condition is None or condition.is_around:
        return find_asserted_part(_statement_at(frame.file, frame.line))
    return find_compared_part(condition, values)


def _failed_condition(file: str | None, line: int | None) -> FailedCondition | None:
    text = _statement_at(file, line)
    if file is None or line is None or not text:
        return None
    source = "\n".join(source_files.read_source(file) or ())
    return find_failed_condition(file, source, line, text)


def _statement_at(file: str | None, line: int | None) -> str:
    lines = _lines_with(file, line)
    if not lines or not file or not line:
        return ""
    text = lines[line - 1 : line - 1 + _STATEMENT]
    return join_statement(text, hash_comments=file.endswith(".py"), most=_STATEMENT)


def _lines_with(file: str | None, line: int | None) -> Sequence[str]:
    """Return the lines of a source that has this line; none of any other."""
    lines = source_files.read_source(file) if file is not None else None
    return lines if lines is not None and line is not None and 1 <= line <= len(lines) else ()
