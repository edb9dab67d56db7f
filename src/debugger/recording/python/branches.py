"""Finds the lines of a Python source that decide, and where they lead. Pure."""

from __future__ import annotations

import ast

from debugger.recording.lines import Branch


def branches(source: str) -> dict[int, Branch]:
    """List the decisions of a source by their lines; none of one that cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, Branch] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor):
            then = _first(node.body)
            otherwise = _first(node.orelse) if node.orelse else 0
            # On one line, `if x: y`, the line alone tells nothing.
            if then != node.lineno:
                found[node.lineno] = Branch(node.lineno, then, otherwise)
    return found


def _first(body: list[ast.stmt]) -> int:
    first = body[0]
    decorators = getattr(first, "decorator_list", [])
    return decorators[0].lineno if decorators else first.lineno
