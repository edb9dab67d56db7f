"""Finds the lines that made the values a statement reads, by their text. Pure, of any language.

An assignment is recognised by its shape; what a line only reads makes nothing. Without a record of
the run the lines are those above, up to the function's beginning, the nearest first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from debugger.model.statement import join_statement, parse_reads

_LINES_MAX = 200
_MADE_MAX = 8
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# What stands left of an `=` that assigns; Go has `:=`, and all have `+=` and its like.
_ASSIGNED = re.compile(
    r"^(?P<left>[^=!<>\"'`]*?)(?P<how>:=|(?:<<|>>|[-+*/%&|^])?=)(?![=>])(?P<right>.*)$"
)
_LOOP = re.compile(r"^(?:async )?for\s*\(?(?P<left>.*?)\s(?:in|of)\s(?P<right>.*)$")
_DECLARING = frozenset(
    re.findall(
        r"\w+",
        "let const var mut auto int long short char bool float double unsigned signed static "
        "size_t std string struct final constexpr ref",
    )
)


class SourceStatement(Struct, frozen=True):
    """A line, its statement, and which of the wanted names it makes."""

    line: int
    text: str
    names: tuple[str, ...]


def root_names(text: str, *, hash_comments: bool = False) -> list[str]:
    """Return the names that a statement reads, without what is in them or after a dot."""
    read = parse_reads(text, hash_comments=hash_comments)
    found = [*read.operands, *(one.base for one in read.accesses)]
    names = [match[0] for one in found if (match := _NAME.match(one))]
    return [one for one in dict.fromkeys(names) if one not in _DECLARING]


def assigned_from(text: str, *, hash_comments: bool = False) -> list[str]:
    """Return the names that an assignment reads; of `x += y` both."""
    assigned = _LOOP.match(text.strip()) or _ASSIGNED.match(text.strip())
    if assigned is None:
        return root_names(text, hash_comments=hash_comments)
    is_plain = assigned.re is _LOOP or assigned["how"] in {"=", ":="}
    kept = assigned["right"] if is_plain else f"{assigned['left']} , {assigned['right']}"
    return root_names(kept, hash_comments=hash_comments)


def assigned_names(text: str) -> list[str]:
    """Return the names that a line assigns, by its text; of `a.b = c` it is a."""
    assigned = _LOOP.match(text.strip()) or _ASSIGNED.match(text.strip())
    if assigned is None or "(" in re.sub(r"\([^()]*\)", "", assigned["left"]):
        return []
    left = re.sub(r"\[[^\]]*\]|<[^<>]*>|::\w+|[.][\w$]+|->\w+", "", assigned["left"])
    names = _NAME.findall(left.partition(":")[0] or left)
    # Of a declaration `T name` the last word is the name; without a comma only that one is.
    wanted = names if "," in left else names[-1:]
    return [one for one in wanted if one not in _DECLARING]


def find_value_sources(
    lines: Sequence[str], at: int, wanted: Collection[str], *, hash_comments: bool = False
) -> list[SourceStatement]:
    """Return the lines above line `at` that make the wanted names, and what these are made of.

    The text up to a line that is less indented than all of the function's is looked at.
    """
    missing = set(wanted)
    found: list[SourceStatement] = []
    if not 1 <= at <= len(lines):
        return found
    indent = _indent_width(lines[at - 1])
    for number in range(at - 1, max(at - _LINES_MAX, 0), -1):
        line = lines[number - 1]
        if not line.strip():
            continue
        if _indent_width(line) == 0 and indent > 0 and not line.strip().startswith((")", "#")):
            break
        names = [one for one in assigned_names(line) if one in missing]
        if not names:
            continue
        text = join_statement(lines[number - 1 : number + 4], hash_comments=hash_comments)
        found.append(SourceStatement(number, text, tuple(dict.fromkeys(names))))
        missing -= set(names)
        missing |= set(assigned_from(text, hash_comments=hash_comments))
        if len(found) == _MADE_MAX or not missing:
            break
    return found[::-1]


def _indent_width(line: str) -> int:
    return len(line) - len(line.lstrip())
