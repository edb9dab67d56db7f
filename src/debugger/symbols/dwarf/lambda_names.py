"""Finds lambdas of C++ by the function around them, or by the variable that holds them.

Compilers give them no name: `main::lambda` are those of `main`, `main::twice` or `twice` is the one
that the source assigns to a variable of this name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from debugger.symbols.dwarf.line_table import LinePosition, LineTable

if TYPE_CHECKING:
    from debugger.symbols.dwarf.function_index import DebugFunction

_OPERATOR = "operator()"
_ANY = "lambda"
_NAMELESS = re.compile(r"\(anonymous|<lambda|\{lambda|\$_\d")
_HEAD_LINES = 3  # between a variable and the lambda that it gets
_SOURCE_MAX = 16 << 20  # bytes


class NamedFunctions(Protocol):
    """Finds functions by their names."""

    def find_by_name(self, name: str) -> tuple[DebugFunction, ...]:
        """Return the functions of a name."""
        ...


def find_lambdas(
    functions: NamedFunctions, lines: LineTable, components: Sequence[str]
) -> tuple[DebugFunction, ...]:
    """Return the lambdas that a name means; its parts are given, the outermost first.

    Each is named as the user would, with the file and the line of its body, because the line of its
    head is one of the function around it, too.
    """
    *outer, last = components
    if last == _OPERATOR or (last == _ANY and not outer) or not last.isidentifier():
        return ()
    around = functions.find_by_name("::".join(outer)) if outer else ()
    if outer and not around:
        return ()
    found = []
    for one in functions.find_by_name(_OPERATOR):
        head, body = lines.line_at(one.address), lines.line_at(one.body)
        if not _NAMELESS.search(one.name) or head is None or body is None:
            continue
        if outer and not any(_holds(each, head, lines) for each in around):
            continue
        if last == _ANY or _is_assigned(last, head):
            name = "::".join(components)
            found.append(replace(one, name=name, file=body.file, line=body.line, is_lambda=True))
    return tuple(found)


def _holds(function: DebugFunction, head: LinePosition, lines: LineTable) -> bool:
    """Return whether a line lies between a function's first line and that of its last code."""
    end = max((high for _, high in function.ranges), default=0)
    last = lines.line_at(end - 1) if end else None
    if last is None or last.file != head.file:
        return False
    return function.line <= head.line <= last.line


def _is_assigned(variable: str, head: LinePosition) -> bool:
    """Return whether the source gives a variable the lambda whose head is at a line."""
    *before, own = _source_lines(head.file)[max(head.line - _HEAD_LINES, 0) : head.line] or ("",)
    given = re.compile(rf"\b{variable}\s*(?:=|\{{|\()\s*(?:\[|\Z)")
    if given.search(own):
        return True
    # `auto twice =` on a line of its own: no statement ends between.
    return any(given.search(one) and ";" not in one for one in before[-1:])


@lru_cache(maxsize=16)
def _source_lines(file: str) -> tuple[str, ...]:
    path = Path(file)
    try:
        if path.stat().st_size > _SOURCE_MAX:
            return ()
        return tuple(path.read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()
