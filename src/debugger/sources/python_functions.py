"""Lists the functions that a Python source defines, and their lines. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct


class PythonFunction(Struct, frozen=True):
    """A function by its full name, its first line with decorators, and its last."""

    name: str
    line: int
    last: int


def list_functions(source: str) -> list[PythonFunction]:
    """List the functions of a source, outer ones first; none of one that cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return list(_walk_functions(tree, ()))


def _walk_functions(node: ast.AST, outer: tuple[str, ...]) -> Iterator[PythonFunction]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*outer, child.name)
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield PythonFunction(".".join(names), first, child.end_lineno or child.lineno)
            yield from _walk_functions(child, names)
        else:
            yield from _walk_functions(child, outer)


def innermost_function(source: str, line: int) -> PythonFunction | None:
    """Return the innermost function that a line is in; None for the module's own text."""
    fitting = [one for one in list_functions(source) if one.line <= line <= one.last]
    return max(fitting, key=lambda one: one.line, default=None)
