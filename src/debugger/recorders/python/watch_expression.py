"""Splits a watched expression into its parts. Pure."""

from __future__ import annotations

import ast

from debugger.errors import DebuggerError, ErrorCode
from debugger.recorders.recording_order import FunctionPlace, WatchOrder

_HINT = "watch a name, a field or an item by a constant key: total, self.items, rows[0], d['key']"


def parse_watch(
    expression: str, place: FunctionPlace, *, hit: int = 1, when: str = ""
) -> WatchOrder:
    """Parse an expression whose first name is resolved at the `hit`th hit of a location.

    Only hits with `when` true count.

    Raises:
        DebuggerError: USAGE for an expression that runs code, and so cannot be read at every line,
        and for an invalid condition.
    """
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _expression_error(expression) from error
    try:
        if when:
            compile(when, "--when", "eval")
    except (SyntaxError, ValueError) as error:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--when {when!r} is no expression of Python: {error}",
            hint="debugger who-wrote --help",
        ) from error
    steps: list[tuple[str, str | int]] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner, attr=name):
                steps.append(("attribute", name))
            case ast.Subscript(value=inner, slice=key):
                steps.append(("item", _constant_key(key, expression)))
            case _:
                raise _expression_error(expression)
        node = inner
    return WatchOrder(node.id, tuple(reversed(steps)), place, hit, when)


def _constant_key(node: ast.expr, expression: str) -> str | int:
    match node:
        case ast.Constant(value=str() | int() as key) if not isinstance(key, bool):
            return key
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as key)):
            return -key
    raise _expression_error(expression)


def _expression_error(expression: str) -> DebuggerError:
    return DebuggerError(ErrorCode.USAGE, f"{expression!r} cannot be watched", hint=_HINT)
