"""Finds a Python source's branching lines, and the parts of a watched expression. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from debugger.errors import DebuggerError, ErrorCode
from debugger.recorders.call_tree import LineBranch
from debugger.recorders.model import FunctionPlace, WatchOrder


def find_branches(source: str) -> dict[int, LineBranch]:
    """Return the branches of a source by line; none if it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, LineBranch] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor):
            then = _first_line(node.body)
            otherwise = _first_line(node.orelse) if node.orelse else 0
            # On one line, `if x: y`, the line alone tells nothing.
            if then != node.lineno:
                found[node.lineno] = LineBranch(node.lineno, then, otherwise)
    return found


def find_loops(source: str) -> frozenset[int] | None:
    """Return the first lines of loops and comprehensions; None if unknown."""
    if not source:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.While | ast.For | ast.AsyncFor):
            found.add(node.lineno)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
            # Within the function from Python 3.12 on, and a round begins at any of its lines.
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


def may_catch(source: str, line: int) -> bool:
    """Return whether the function at a line, or the module at line 1, may catch an exception.

    True if unknown, as for a source that cannot be parsed.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return True
    found = next((one for one in ast.walk(tree) if _begins_at(one, line)), None)
    if found is None and line > 1:
        return True
    body = tree.body if found is None else getattr(found, "body", [])
    return any(isinstance(one, _CATCHES) for one in _own_nodes(body))


_CATCHES = (ast.Try, ast.With, ast.AsyncWith, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _begins_at(node: ast.AST, line: int) -> bool:
    return isinstance(node, _FUNCTIONS) and _first_line([node]) == line


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Walk statements without nested functions."""
    nodes: list[ast.AST] = list(body)
    while nodes:
        node = nodes.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            nodes += ast.iter_child_nodes(node)


def _first_line(body: list[ast.stmt]) -> int:
    first = body[0]
    decorators = getattr(first, "decorator_list", [])
    return decorators[0].lineno if decorators else first.lineno


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
            f"--when {when!r} is not a Python expression: {error}",
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
