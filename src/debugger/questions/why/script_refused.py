"""Finds the call that PHP did not begin, since it refused an argument's type. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from debugger.questions.why import script_statement as statements
from debugger.questions.why.script_calls import list_called_arguments
from debugger.recorders.script.step_history import Step, StepCall, StepHistory

_HEAD = re.compile(r"\bfunction\s+&?\s*(?P<name>\w+)\s*\(")


class RefusedCall(Struct, frozen=True):
    """A call that was thrown out of before its first statement, and what it was passed."""

    function: str
    parameters: tuple[str, ...]
    # The statement of the caller, and its arguments as they are written.
    step: Step
    arguments: tuple[str, ...]


def find_refused_call(
    history: StepHistory, file: str, line: int, lines_of: Callable[[str], Sequence[str]]
) -> RefusedCall | None:
    """Return the call whose arguments PHP refused; None if the function was entered.

    PHP says that such an exception is thrown at the function's first line. No call of it was
    left by the exception then, but the one whose last statement calls it.

    Args:
        history: The run.
        file: Where the exception was thrown.
        line: Its line.
        lines_of: Returns the lines of a source.
    """
    head = statements.statement_lines(lines_of(file), line)
    match = _HEAD.search(head)
    innermost = _innermost_thrown(history)
    if match is None or innermost is None:
        return None
    begin = match.end() - 1
    end = statements.closing_bracket(head, begin)
    names = [
        re.search(r"\$\w+", one)
        for one in statements.split_arguments(head[begin + 1 : end])
        if end > 0
    ]
    function = history.function_of(innermost.number)
    step = history.last_step(innermost.number, innermost.end)
    is_entered = function.file == file and function.line == line
    if step is None or is_entered:
        return None
    text = statements.statement_lines(lines_of(function.file), step.line)
    name = match["name"]
    if name == "__construct":
        # Its class is the one that the caller's statement makes.
        made = re.search(r"\bnew\s+\\?(?P<name>[\w\\]+)", text)
        name = f"{made['name']}->__construct" if made is not None else name
    calls = list_called_arguments(text, name)
    if not calls:
        return None
    # The calls of the same name that the statement made before were taken.
    taken = [
        one
        for one in history.children_of(step.call)
        if one.index > step.index and history.function_of(one.number).name == name
    ]
    arguments = calls[min(len(taken), len(calls) - 1)]
    parameters = tuple(one[0] for one in names if one is not None)
    return RefusedCall(name, parameters, step, arguments)


def _innermost_thrown(history: StepHistory) -> StepCall | None:
    """Return the innermost of the calls that the last exception left."""
    thrown = [one for one in history.calls.values() if one.is_thrown]
    current = max(thrown, key=lambda one: one.end, default=None)
    while current is not None:
        children = history.children_of(current.number)
        if not children or not children[-1].is_thrown:
            return current
        current = children[-1]
    return None
