"""Evaluates an expectation at a stop, and what took part in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from debugger.core import answers
from debugger.core.model import Purpose
from debugger.core.state import State
from debugger.core.trying import is_true, operands
from debugger.errors import DebuggerError
from debugger.questions.trying.telling import where_it_ended
from debugger.session import values
from debugger.session.session import Session

_VALUE = 400
# How a value that is no truth value is asked for its own, where the language has such a way.
_TRUTH: Mapping[str, Callable[[str], str]] = {
    "debugpy": lambda text: f"bool({text})",
    "js-debug": lambda text: f"!!({text})",
}


async def expected(
    session: Session, stop: answers.Stop, expression: str, *, place: str | None, at: bool | None
) -> answers.Expected:
    """Evaluate a condition where the program stopped; `at` False: that is not the place."""
    if at is False:
        return _unknown(expression, f"{place} was not reached: {where_it_ended(stop)}")
    if stop.state != State.STOPPED.value or stop.session != session.name:
        why = f"there was no stop to evaluate it at: {where_it_ended(stop)}"
        return _unknown(expression, f"{why}; --until LOC says where")
    try:
        value = await _evaluated(session, expression)
        held = is_true(value)
        if session.adapter in _TRUTH and value.lower() not in {"true", "false"}:
            held = is_true(await _evaluated(session, _TRUTH[session.adapter](expression)))
    except DebuggerError as error:
        return _unknown(expression, f"it cannot be evaluated there: {_first(error.message)}")
    shown = tuple(await _operands(session, expression))
    problem = None if held is not None else f"it is no condition, its value is {value}"
    return answers.Expected(expression, held, value[:_VALUE], shown, problem)


def _first(text: str) -> str:
    """Return the first line: debuggers draw below it where in the expression they failed."""
    return text.strip().partition("\n")[0]


async def _evaluated(session: Session, expression: str) -> str:
    found = await values.asked(session, lambda: _value(session, expression))
    return found.value


async def _value(session: Session, expression: str) -> answers.Value:
    return await values.evaluate(
        session, expression, purpose=Purpose.PRINT, depth=0, show_type=False
    )


async def _operands(session: Session, expression: str) -> list[answers.VariableView]:
    shown = []
    for name in operands(expression, hash_comments=session.adapter == "debugpy"):
        try:
            found = await values.asked(session, lambda name=name: _value(session, name))  # type: ignore[misc]
        except DebuggerError:
            continue  # a function's name, for one
        shown.append(answers.VariableView(name, found.value[:_VALUE], found.type))
    return shown


def _unknown(expression: str, problem: str) -> answers.Expected:
    return answers.Expected(expression, problem=problem)
