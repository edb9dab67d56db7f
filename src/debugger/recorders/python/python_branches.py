"""Finds the branching lines of a Python source, and their targets. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from debugger.recorders.call_lines import LineBranch


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
    """Tell whether the function at a line, or the module at line 1, may catch an exception.

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
