"""Finds the check that fails at a source line, and the two values that it compares. Pure.

Python alone: `assert a == b`, `self.assertEqual(a, b)`, or a `raise` under a condition.
"""

from __future__ import annotations

import ast

from msgspec import Struct

_LENGTH = 200  # characters of an expression
_EQUALITIES = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSequenceEqual"}
    | {"assertMultiLineEqual", "assertTupleEqual", "assertSetEqual", "assertCountEqual"}
)
_RUNS_CODE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)


class FailedCheck(Struct, frozen=True):
    """A check: the line of its statement, its two operands, and the condition of its failure."""

    line: int
    left: str
    right: str
    fails_if: str


def find_failed_check(source: str, line: int) -> FailedCheck | None:
    """Return the check whose failure is raised at a line, if it compares two values."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: FailedCheck | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            # The walk comes to inner statements later.
            found = _check_of(node, line) or found
    return found


def _check_of(node: ast.stmt, line: int) -> FailedCheck | None:
    if isinstance(node, ast.Assert):
        return _compared(node.test, node.lineno, ast.Eq)
    if isinstance(node, ast.If):
        has_raise = any(
            isinstance(one, ast.Raise | ast.Expr) and one.lineno <= line <= (one.end_lineno or 0)
            for one in node.body
        )
        return _compared(node.test, node.lineno, ast.NotEq) if has_raise else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in _EQUALITIES and len(call.args) > 1:
            return _check(call.args[0], call.args[1], node.lineno)
    return None


def _compared(test: ast.expr, line: int, operator: type[ast.cmpop]) -> FailedCheck | None:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if not isinstance(test.ops[0], operator):
        return None
    return _check(test.left, test.comparators[0], line)


def _check(left: ast.expr, right: ast.expr, line: int) -> FailedCheck | None:
    """Return a check whose operands can be evaluated a second time."""
    if any(isinstance(one, _RUNS_CODE) for side in (left, right) for one in ast.walk(side)):
        return None
    texts = ast.unparse(left), ast.unparse(right)
    if max(map(len, texts)) > _LENGTH:
        return None
    return FailedCheck(line, *texts, fails_if=f"({texts[0]}) != ({texts[1]})")
