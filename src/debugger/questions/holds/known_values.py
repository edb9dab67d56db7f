"""Writes parts of a known good value into an invariant, for languages that cannot read a name.

An expression of C, C++, Rust or Go is the debugger's own: no name can be bound in it. So `known[2]`
and `known.total` become the numbers and texts that they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

from debugger.errors import DebuggerError, ErrorCode

_PART = r"""\[\s*(?:-?\d+|"[^"]*"|'[^']*')\s*\]|\.[A-Za-z_]\w*"""
# A text, which is left as it is; the number of values; or a value.
_TOKEN = re.compile(
    rf"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    rf"""|\blen\(\s*known(?P<counted>(?:{_PART})*)\s*\)"""
    rf"""|(?<![\w.>:$])known\b(?P<path>(?:{_PART})*)"""
)
_KEY = re.compile(
    r"""\[\s*(?P<index>-?\d+)\s*\]|\[\s*["'](?P<key>[^"']*)["']\s*\]|\.(?P<name>\w+)"""
)
_NOTHING = {"go": "nil", "java": "null", "ruby": "nil", "php": "null"}


def bind_known(expression: str, known: object, language: str) -> str:
    """Return an invariant with each `known…` as the literal that it is.

    Raises:
        DebuggerError: NOT_FOUND for a part that the value does not have; NOT_SUPPORTED for a list
        or an object as a whole.
    """

    def spell(found: re.Match[str]) -> str:
        if found["text"] is not None:
            return found["text"]
        if found["counted"] is not None:
            return str(_count_values(_find_part(known, found["counted"]), found["counted"]))
        return _spell_literal(_find_part(known, found["path"]), found["path"], language)

    return _TOKEN.sub(spell, expression)


def _find_part(known: object, path: str) -> Any:
    part: Any = known
    for step in _KEY.finditer(path):
        key: Any = int(step["index"]) if step["index"] is not None else step["key"] or step["name"]
        try:
            part = part[key]
        except (LookupError, TypeError) as error:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"the known value has no known{path[: step.end()]}: it is {_describe(part)} there",
                hint="debugger holds 'x == known' --at LOC --against FILE -- CMD",
            ) from error
    return part


def _count_values(part: Any, path: str) -> int:
    if isinstance(part, str | list | dict | tuple):
        return len(part)
    raise DebuggerError(
        ErrorCode.USAGE,
        f"known{path} has no length: it is {_describe(part)}",
        hint="debugger holds 'x == known' --at LOC --against FILE -- CMD",
    )


def _spell_literal(part: Any, path: str, language: str) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, int | float):
        return repr(part)
    if isinstance(part, str):
        return json.dumps(part)
    if part is None:
        return _NOTHING.get(language, "0")
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"known{path} is {_describe(part)}, and an expression of this language compares "
        "single values",
        hint="debugger holds 'x[0] == known[0]' --and 'x[1] == known[1]' --at LOC --against FILE "
        "-- CMD; a function of the program may compare the whole",
    )


def _describe(part: Any) -> str:
    if isinstance(part, list | tuple):
        return f"a list of {len(part):,}"
    return f"an object of {len(part):,}" if isinstance(part, dict) else json.dumps(part)
