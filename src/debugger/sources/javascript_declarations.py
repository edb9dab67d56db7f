"""Finds the variables of JavaScript that are declared further down than a line of their block.

Before its declaration has run, a read of such a variable fails in the program (ECMAScript: temporal
dead zone), while V8's debugger reads `undefined`.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate

from debugger.sources.expression_names import rename_variables, variables_of
from debugger.sources.javascript_outline import blank_quoted, match_brackets, outline_file

_SIZE_MAX = 1 << 20
# A name, or a pattern of names up to its `=`.
_DECLARATION = re.compile(r"\b(?:const|let|class)\s+(?:([\w$]+)|([{\[][^=;]*?[}\]])(?=\s*=))")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


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
    outline = outline_file(path, size_max=_SIZE_MAX)
    if outline is None:
        return {}
    with open(path, encoding="utf-8", errors="replace") as file:
        text = blank_quoted(file.read())
    starts = [0, *accumulate(len(one) + 1 for one in text.split("\n"))]
    if line >= len(starts):
        return {}
    here = starts[line - 1]
    column = len(text[here:]) - len(text[here:].lstrip(" \t")) + 1
    requested, function = set(names), outline.innermost_function(line, column)
    arguments = set(function.arguments) if function is not None else set()
    blocks = [(first, last) for first, last in match_brackets(text).items()]
    found: dict[str, int] = {}
    earlier: set[str] = set()
    for one in _DECLARATION.finditer(text):
        at = bisect_right(starts, one.start())
        declared = {one[1]} if one[1] else set(_NAME.findall(one[2]))
        its = outline.innermost_function(at, one.start() - starts[at - 1] + 1)
        if not declared & requested or its != function:
            continue
        block = max((each for each in blocks if each[0] < one.start() < each[1]), default=None)
        is_around = block is None or (text[block[0]] == "{" and block[0] < here < block[1])
        if at < line:
            earlier |= declared
        elif is_around:
            found |= {name: at for name in declared & requested if name not in found}
    return {name: at for name, at in found.items() if name not in earlier | arguments}
