"""Finds the entry of the function that contains a line, to report how near a run came to it.

By the source's text alone, which is right for code that is laid out as usual; where nothing is
found, nothing is said. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_HEAD = re.compile(
    r"(?P<indent>\s*)(?:(?:export|default|async|static|pub(?:\([^)]*\))?|unsafe|const|inline)\s+)*"
    r"(?:function\*?\s+(?P<js>[\w$]+)|fn\s+(?P<rust>\w+)|func\s+(?:\([^)]*\)\s*)?(?P<go>\w+)"
    r"|(?P<c>[A-Za-z_][\w:<>,*&\s\[\]~]*?[\s*&:](?P<name>[A-Za-z_]\w*))\s*\((?!.*;\s*\Z))"
)
_BARE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\((?!.*;\s*\Z)")  # below its type
_METHOD = re.compile(
    r"(?P<indent>\s+)(?:async\s+|static\s+)*(?P<name>[\w$]+)\s*\([^;]*\)\s*\{\s*\Z"
)
_WORDS = frozenset({"if", "for", "while", "switch", "catch", "return", "else", "do", "with"})
_ABOVE_MAX = 1000
_BODY_MAX = 20


class FunctionEntry(Struct, frozen=True):
    """A function, and the first line of its body."""

    function: str
    line: int


def find_entry(lines: Sequence[str], line: int) -> FunctionEntry | None:
    """Return the function that a line (from 1) is in; None where that cannot be told."""
    if not 1 <= line <= len(lines):
        return None
    here = _indent_width(lines[line - 1])
    for at in range(line - 2, max(line - 2 - _ABOVE_MAX, -1), -1):
        text = lines[at]
        if not text.strip() or _indent_width(text) >= here:
            continue
        name = _header_name(text)
        if name is not None:
            first = _first_body_line(lines, at)
            return FunctionEntry(name, first) if first is not None and first < line else None
        if text.strip() not in {"{", ")", "):", ") {"}:
            here = min(here, max(_indent_width(text), 1))
    return None


def _indent_width(text: str) -> int:
    return len(text.expandtabs(8)) - len(text.expandtabs(8).lstrip())


def _header_name(text: str) -> str | None:
    found = _HEAD.match(text) or _BARE.match(text) or _METHOD.match(text)
    if found is None:
        return None
    names = found.groupdict()
    name = next((names[key] for key in ("js", "rust", "go", "name") if names.get(key)), None)
    if name in _WORDS or text.split(maxsplit=1)[0] in _WORDS:
        return None
    return name


def _first_body_line(lines: Sequence[str], head: int) -> int | None:
    """Return the first line of a body: the one after its opening bracket."""
    for at in range(head, min(head + _BODY_MAX, len(lines))):
        if lines[at].rstrip().endswith("{"):
            for inner in range(at + 1, min(at + _BODY_MAX, len(lines))):
                text = lines[inner].strip()
                if text and not text.startswith(("//", "/*", "*", "#")):
                    return inner + 1
            return None
    return None
