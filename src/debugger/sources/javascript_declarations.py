"""Finds the variables of JavaScript that are declared further down than a line of their block.

Before its declaration has run, a read of such a variable fails in the program (ECMAScript: temporal
dead zone), while V8's debugger reads `undefined`.
"""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from debugger.sources.expression_names import rename_variables, variables_of
from debugger.sources.javascript_outline import (
    JavaScriptFunction,
    blank_quoted,
    match_brackets,
    outline_file,
)

_SIZE_MAX = 1 << 20
# A name, or a pattern of names up to its `=`.
_DECLARATION = re.compile(r"\b(?:const|let|class)\s+(?:([\w$]+)|([{\[][^=;]*?[}\]])(?=\s*=))")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class _Declaration(NamedTuple):
    line: int
    names: frozenset[str]
    function: JavaScriptFunction | None
    block: tuple[int, int] | None  # its brackets; None for the whole file
    is_in_head: bool  # of a loop: no line comes before it


class _Script(NamedTuple):
    starts: tuple[int, ...]  # of the lines
    columns: tuple[int, ...]  # of the lines' first statements
    declarations: tuple[_Declaration, ...]


def replace_undeclared(path: str, line: int, expression: str) -> str:
    """Return an expression that fails where it reads a variable before its declaration."""
    found = find_undeclared(path, line, variables_of(expression))
    return rename_variables(
        expression,
        {
            name: f"(()=>{{throw new ReferenceError({json.dumps(_why(name, at))})}})()"
            for name, at in found.items()
        },
    )


def _why(name: str, line: int) -> str:
    return f"{name} is declared in line {line}, and has no value before"


def find_undeclared(path: str, line: int, names: Iterable[str]) -> Mapping[str, int]:
    """Return the lines of declarations, by name, that come at a line or behind it in its block."""
    requested = set(names)
    outline = outline_file(path, size_max=_SIZE_MAX) if requested else None
    if outline is None:
        return {}
    info = Path(path).stat()
    script = _cached_script(path, info.st_mtime_ns, info.st_size)
    if line >= len(script.starts):
        return {}
    here = script.starts[line - 1]
    function = outline.innermost_function(line, script.columns[line - 1])
    found: dict[str, int] = {}
    earlier = set(function.arguments) if function is not None else set()
    for one in script.declarations:
        if one.function != function:
            continue
        if one.line < line:
            earlier.update(one.names)
        elif not one.is_in_head and (one.block is None or one.block[0] < here < one.block[1]):
            found |= {name: one.line for name in one.names & requested if name not in found}
    return {name: at for name, at in found.items() if name not in earlier}


@functools.lru_cache(maxsize=16)
def _cached_script(path: str, changed: int, size: int) -> _Script:
    del changed, size  # a file that has changed is another one
    text = blank_quoted(Path(path).read_text(encoding="utf-8", errors="replace"))
    lines = text.split("\n")
    starts = (0, *accumulate(len(one) + 1 for one in lines))
    columns = tuple(len(one) - len(one.lstrip(" \t")) + 1 for one in lines)
    return _Script(starts, columns, tuple(_read_declarations(path, text, starts)))


def _read_declarations(path: str, text: str, starts: Sequence[int]) -> Iterator[_Declaration]:
    outline = outline_file(path, size_max=_SIZE_MAX)
    blocks = list(match_brackets(text).items())
    for one in _DECLARATION.finditer(text):
        line = bisect_right(starts, one.start())
        column = one.start() - starts[line - 1] + 1
        function = outline.innermost_function(line, column) if outline is not None else None
        block = max((each for each in blocks if each[0] < one.start() < each[1]), default=None)
        names = frozenset({one[1]} if one[1] else _NAME.findall(one[2]))
        is_in_head = block is not None and text[block[0]] != "{"
        yield _Declaration(line, names, function, block, is_in_head)
