"""Takes expressions of Go apart: paths of variables, calls, literals, conversions. Pure."""

from __future__ import annotations

import re

from msgspec import Struct

from debugger.questions.why import go_values, statement_origin
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin

# An index may have one of its own: `counts[row[0]]`.
_PATH = re.compile(r"^[*&(]*[A-Za-z_]\w*\)?(?:\.[A-Za-z_]\w*|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*$")
_LITERAL = re.compile(r"&?(?:\[[^\]]*\])*(?:map\[[^\]]*\])?[\w.\[\]*]*\{")
_CONVERSION = re.compile(
    r"(?:u?int(?:8|16|32|64)?|float(?:32|64)|byte|rune|string|bool|uintptr|\[\]byte|\[\]rune)\("
)
_ASSERTED = re.compile(r"\.\([^()]*\)$")


def plain_name(function: str) -> str:
    """Return the short name of a function as delve names it: `fill` of `main.(*Order).fill`."""
    outer = re.sub(r"(?:\.func\d+|\.gowrap\d+|\.\d+|-range\d+|\[[^\]]*\])+$", "", function)
    return outer.rpartition(".")[2].rstrip(")")


def split_path(expression: str) -> tuple[str, ...]:
    """Return an expression and its prefixes, the longest first: `o.a[1]`, `o.a`, `o`."""
    text = expression.strip()
    found = [text]
    while True:
        element = split_element(text)
        shorter = element[0] if element is not None else re.sub(r"\.[A-Za-z_]\w*$", "", text)
        if shorter == text or not shorter:
            break
        text = shorter
        found.append(text)
    return tuple(found)


def split_element(path: str) -> tuple[str, str] | None:
    """Return the map or slice of an element and its key: `m` and `row[0]` of `m[row[0]]`."""
    at = statement_origin.opening_bracket(path) if path.endswith("]") else -1
    return (path[:at], path[at + 1 : -1]) if at > 0 else None


def is_path(text: str) -> bool:
    """Return whether an expression is a variable, or a path of fields and elements."""
    return _PATH.match(text) is not None


class RightSide(Struct, frozen=True):
    """What an expression of Go gives."""

    # constant, path, call, computed, literal, receive, allocation, append or closure.
    kind: str
    text: str
    origin: StatementOrigin | None = None


def classify_value(text: str) -> RightSide:
    """Return what an expression is, without conversions and assertions."""
    plain = _without_conversions(text.strip())
    shapes = (
        ("receive", plain.startswith("<-")),
        ("closure", re.match(r"func\s*\(", plain) is not None),
        ("literal", _LITERAL.match(plain) is not None and plain.endswith("}")),
        ("allocation", plain.startswith("&") and is_path(plain[1:])),
        ("path", is_path(plain) and plain not in {"nil", "true", "false", "iota"}),
    )
    for kind, is_one in shapes:
        if is_one:
            return RightSide(kind, plain.removeprefix("<-").strip())
    origin = statement_origin.classify_expression(plain)
    if origin.kind is OriginKind.CONSTANT:
        return RightSide("constant", plain, origin)
    if origin.kind is not OriginKind.CALL:
        return RightSide("computed", plain, origin)
    if origin.function in {"len", "cap", "min", "max"}:
        return RightSide("computed", plain, statement_origin.classify_expression(f"{plain}+0"))
    kinds = {"append": "append", "make": "allocation", "new": "allocation"}
    return RightSide(kinds.get(origin.function, "call"), plain, origin)


def _without_conversions(text: str) -> str:
    while True:
        plain = _ASSERTED.sub("", text)
        match = _CONVERSION.match(plain)
        if match and statement_origin.closing_bracket(plain, match.end() - 1) == len(plain) - 1:
            plain = plain[match.end() : -1].strip()
        if plain == text:
            return plain
        text = plain


def paths_in(text: str) -> tuple[str, ...]:
    """Return the variables and paths that an expression reads."""
    side = classify_value(text)
    if side.kind == "path":
        return (side.text.lstrip("*&"),)
    if side.kind == "receive":
        return (side.text,)
    atomic = go_values.atomic_path(side.text) if side.kind == "call" else None
    if atomic is not None:
        return (atomic,)
    if side.origin is not None and side.origin.kind is OriginKind.CALL:
        found: dict[str, None] = {}
        for one in side.origin.arguments:
            found |= dict.fromkeys(paths_in(one))
        return tuple(found)
    if side.kind == "literal":
        begin = side.text.index("{")
        found = {}
        for one in statement_origin.split_arguments(side.text[begin + 1 : -1]):
            value = re.sub(r'^(?:"[^"]*"|[\w.]+)\s*:\s*', "", one)
            if value:
                found |= dict.fromkeys(paths_in(value))
        return tuple(found)
    return side.origin.operands if side.origin is not None else ()


def called_name(text: str) -> str:
    """Return the name of what a call calls, as written: `s.area` of `s.area(2)`."""
    return classify_value(text).text.partition("(")[0].strip()


def is_fixed_part(part: str) -> bool:
    """Return whether a part of a value is a field, or an element by a number or a text."""
    return re.fullmatch(r"\.\w+|\[(?:-?\d+|[\"'`].*)\]", part) is not None
