"""Splits a watched expression into its parts. Pure."""

from __future__ import annotations

import ast

from debugger.errors import Code, DebuggerError
from debugger.recording.order import Place, Watch

_HINT = "watch a name, a field or an item by a constant key: total, self.items, rows[0], d['key']"


def watch(expression: str, place: Place, *, hit: int = 1, when: str = "") -> Watch:
    """Take an expression apart; its first name is meant at a place, when it is `hit` that often.

    Of the hits only those count at which `when` holds.

    Raises:
        DebuggerError: USAGE for what runs code, and so cannot be read at every line, and for a
            condition that is none.
    """
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _refused(expression) from error
    try:
        if when:
            compile(when, "--when", "eval")
    except (SyntaxError, ValueError) as error:
        raise DebuggerError(
            Code.USAGE,
            f"--when {when!r} is no expression of Python: {error}",
            hint="debugger who-wrote --help",
        ) from error
    steps: list[tuple[str, str | int]] = []
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner, attr=name):
                steps.append(("attribute", name))
            case ast.Subscript(value=inner, slice=key):
                steps.append(("item", _key(key, expression)))
            case _:
                raise _refused(expression)
        node = inner
    return Watch(node.id, tuple(reversed(steps)), place, hit, when)


def _key(node: ast.expr, expression: str) -> str | int:
    match node:
        case ast.Constant(value=str() | int() as key) if not isinstance(key, bool):
            return key
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as key)):
            return -key
    raise _refused(expression)


def _refused(expression: str) -> DebuggerError:
    return DebuggerError(Code.USAGE, f"{expression!r} cannot be watched", hint=_HINT)
