"""Lists the functions that a Python source defines, and their lines. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct


class Named(Struct, frozen=True):
    """A function by its full name, its first line with decorators, and its last."""

    name: str
    line: int
    last: int


def named(source: str) -> list[Named]:
    """List the functions of a source, outer ones first; none of one that cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return list(_named(tree, ()))


def _named(node: ast.AST, outer: tuple[str, ...]) -> Iterator[Named]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*outer, child.name)
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield Named(".".join(names), first, child.end_lineno or child.lineno)
            yield from _named(child, names)
        else:
            yield from _named(child, outer)


def around(source: str, line: int) -> Named | None:
    """Return the innermost function that a line is in; None for the module's own text."""
    fitting = [one for one in named(source) if one.line <= line <= one.last]
    return max(fitting, key=lambda one: one.line, default=None)
