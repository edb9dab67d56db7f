"""Evaluates an expectation at a stop, and what took part in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.program import EvaluationPurpose
from debugger.model.state import State
from debugger.questions.try_change.trial_answer import where_it_ended
from debugger.questions.try_change.trial_change import condition_operands, is_true
from debugger.session import value_inspection
from debugger.session.session import Session

_VALUE = 400
# How a value that is no truth value is asked for its own, where the language has such a way.
_TRUTH: Mapping[str, Callable[[str], str]] = {
    "debugpy": lambda text: f"bool({text})",
    "js-debug": lambda text: f"!!({text})",
}


async def evaluate_expectation(
    session: Session, stop: answers.Stop, expression: str, *, place: str | None, at: bool | None
) -> answers.Expected:
    """Evaluate a condition where the program stopped; `at` False: that is not the place."""
    if at is False:
        return _unknown_expectation(expression, f"{place} was not reached: {where_it_ended(stop)}")
    if stop.state != State.STOPPED.value or stop.session != session.name:
        why = f"there was no stop to evaluate it at: {where_it_ended(stop)}"
        return _unknown_expectation(expression, f"{why}; --until LOC says where")
    try:
        value = await _evaluate_text(session, expression)
        held = is_true(value)
        if session.adapter in _TRUTH and value.lower() not in {"true", "false"}:
            held = is_true(await _evaluate_text(session, _TRUTH[session.adapter](expression)))
    except DebuggerError as error:
        return _unknown_expectation(
            expression, f"it cannot be evaluated there: {_first_line(error.message)}"
        )
    shown = tuple(await _operand_views(session, expression))
    problem = None if held is not None else f"it is no condition, its value is {value}"
    return answers.Expected(expression, held, value[:_VALUE], shown, problem)


def _first_line(text: str) -> str:
    """Return the first line: debuggers draw below it where in the expression they failed."""
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
    for name in condition_operands(expression, hash_comments=session.adapter == "debugpy"):
        try:
            found = await value_inspection.run_evaluation(
                session, partial(_evaluate_value, session, name)
            )
        except DebuggerError:
            continue  # a function's name, for one
        shown.append(answers.VariableView(name, found.value[:_VALUE], found.type))
    return shown


def _unknown_expectation(expression: str, problem: str) -> answers.Expected:
    return answers.Expected(expression, problem=problem)
