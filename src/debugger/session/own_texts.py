"""Finds Python values that say little where they are shown, and whose type can write itself.

A value without a `__repr__` of its own is shown as `<app.User object at 0x7f…>`, even if its type
has a `__str__`. Whether it has one is read from the type, so no code of the program runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import Runtime
from debugger.model.program import EvaluationPurpose, Frame, Variable
from debugger.session.session import Session

_OBJECT = re.compile(r"<(?:[\w.<>]+\.)?(\w+) object at 0x[0-9a-fA-F]+>\Z")
_EXAMINED_MAX = 20  # values of one answer
_EXPRESSION_MAX = 100  # characters
# As the type's own namespaces have it: an attribute of the metaclass is not asked.
_HAS_OWN = (
    "next((k is not object for k in type.__dict__['__mro__'].__get__(type({0})) "
    "if '__str__' in type.__dict__['__dict__'].__get__(k)), False)"
)


async def hint_own_text(
    session: Session, variables: Sequence[Variable], frame: Frame | None
) -> str | None:
    """Return how to see the first value that says little; None if all say enough (a job).

    The names of the variables are the expressions that lead to them.
    """
    if session.traits.runtime is not Runtime.PYTHON or frame is None:
        return None
    dull = [
        (one.name, match[1])
        for one in variables
        if (match := _OBJECT.match(one.value.strip())) and _is_expression(one.name)
    ][:_EXAMINED_MAX]
    if not dull:
        return None
    tests = ", ".join(_HAS_OWN.format(name) for name, _ in dull)
    try:
        answer = await session.backend.evaluate(f"[{tests}]", frame, EvaluationPurpose.PRINT)
        found = ast.literal_eval(answer.value)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return None
    except (ValueError, SyntaxError):  # the answer was cut
        return None
    for (name, kind), has_own in zip(dull, found, strict=False):
        if has_own is True:
            return f"str({name}) shows {kind} as the program writes it"
    return None


def _is_expression(name: str) -> bool:
    """Return whether a name can be read again without a call, which might change the program."""
    if len(name) > _EXPRESSION_MAX:
        return False
    try:
        tree = ast.parse(name.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    plain = (ast.Expression, ast.Name, ast.Attribute, ast.expr_context)
    return all(isinstance(one, plain) for one in ast.walk(tree))
