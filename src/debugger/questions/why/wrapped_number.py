"""Recognises a number that its type does not hold: a product that overflowed, a difference below 0.

Pure: the arithmetic of a link's statement is done again without bounds, with the values that the
run has shown, and compared with the result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import zip_longest

import msgspec

from debugger.questions.why.answer import LinkKind, Why, WhyLink

_BITS = (8, 16, 32, 64)
_ASSIGNED = re.compile(r"(?<![=!<>:+*-])(?P<how>:=|[-+*]=|<<=|=)(?!=)")
_TARGET = re.compile(r"(?P<name>[A-Za-z_][\w.]*(?:->[\w.]+|\[[^\[\]]*\])*)(?:\s*:\s*\w+)?\s*\Z")
_END = re.compile(r"[;{}]")
_COPIED = re.compile(r"copied from (.+)")
_RETURNED = re.compile(r"\breturn\b")
_BRACKETED = re.compile(r"(?<![\w\])])\(([\w.>\[\]-]+)\)")
# Conversions of C, Go and Rust: what is converted is computed in its own type before, or after.
_CASTS = re.compile(
    r"\((?:const\s+)?(?:(?:un)?signed\s+)?(?:s?size_t|u?int\d*(?:_t)?|long(?: long)?|short|char)\)"
    r"|\bstatic_cast<[\w: ]+>|\b(?:u?int(?:8|16|32|64)?|byte|uintptr)(?=\()"
    r"|\s+as\s+[iu](?:8|16|32|64|size)\b"
)
_SUFFIX = re.compile(r"\b(\d[\d_]*|0[xX][\da-fA-F_]+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU]?|[iu]\d+)\b")
_LONGEST = 200  # characters of an expression
_SHIFT_MAX = 128
_OF_NUMBERS = frozenset({LinkKind.COMPUTED, LinkKind.COPIED, LinkKind.WRITTEN, LinkKind.RETURNED})


class _Assigned(msgspec.Struct, frozen=True):
    """The right side of an assignment, its operator without `=`, and what is assigned to."""

    text: str
    how: str = ""
    target: str = ""
    # Whether the statement gives nothing else a value.
    is_only: bool = True


def add_overflows(answer: Why) -> Why:
    """Return an answer in which the links say of which value the type holds a part only."""
    pairs = zip_longest(answer.links, answer.links[1:])
    links = tuple(_with_overflow(*both) for both in pairs)
    return msgspec.structs.replace(answer, links=links)


def _with_overflow(link: WhyLink, source: WhyLink | None) -> WhyLink:
    """Add to a link what its type does not hold; `source` is the link that it leads back to."""
    if link.kind not in _OF_NUMBERS or link.new is None:
        return link
    values = {one.text: one.value for one in link.operands if one.value is not None}
    copied = _COPIED.match(link.text)
    if copied is not None and source is not None and source.new is not None:
        values = {copied[1]: source.new}
    text = describe_overflow(link.statement, values, link.old, link.new)
    return msgspec.structs.replace(link, details=(*link.details, text)) if text else link


def describe_overflow(statement: str, values: Mapping[str, str], old: str | None, new: str) -> str:
    """Say which value the arithmetic of a statement has, if its type holds a part of that only.

    Args:
        statement: An assignment, or the return of a value.
        values: Those of what it reads, by the text.
        old: The assigned variable's value before.
        new: The result.
    """
    result, found = _number(new), _assigned_text(statement)
    if result is None or found is None or len(found.text) > _LONGEST:
        return ""
    expression, known = found.text, dict(values)
    if found.how:
        if old is None or not found.target:
            return ""
        known[found.target] = old
        expression = f"{found.target} {found.how} ({expression})"
    expression = _BRACKETED.sub(r"\1", " ".join(_CASTS.sub("", expression).split()))
    exact = _evaluate(expression, known)
    if exact is None or exact == result:
        return ""
    # That a small number is part of another by chance is likely, where several are assigned.
    sizes = _BITS if found.is_only else _BITS[2:]
    if not any(_is_part(result, exact, one) for one in sizes):
        return ""
    filled = _fill_in(expression, known)
    return f"overflow: {filled} is {exact}, which its type does not hold: it became {result}"


def _assigned_text(statement: str) -> _Assigned | None:
    """Return what a statement returns, or assigns last; None if it does neither."""
    returns, gives = list(_RETURNED.finditer(statement)), list(_ASSIGNED.finditer(statement))
    last = max((*returns, *gives), key=lambda one: one.start(), default=None)
    if last is None:
        return None
    end = _END.search(statement, last.end())
    text = statement[last.end() : end.start() if end is not None else len(statement)].strip()
    is_only = len(returns) + len(gives) == 1
    if last in returns:
        return _Assigned(text, is_only=is_only)
    target = _TARGET.search(statement[: last.start()])
    how = last["how"].rstrip("=").rstrip(":")
    return _Assigned(text, how, target["name"] if target is not None else "", is_only=is_only)


def _is_part(result: int, exact: int, bits: int) -> bool:
    is_in_range = -(1 << bits - 1) <= result < 1 << bits
    return is_in_range and (exact - result) % (1 << bits) == 0


def _fill_in(text: str, values: Mapping[str, str]) -> str:
    """Show an expression with its values: `w * h = 70000 * 70000`."""
    names = sorted(values, key=len, reverse=True)
    pattern = "|".join(rf"(?<![\w.]){re.escape(one)}(?!\w)" for one in names)
    filled = re.sub(pattern, lambda one: values[one[0]], text) if names else text
    return text if filled == text or re.fullmatch(r"-?\d+", filled) else f"{text} = {filled}"


def _evaluate(expression: str, values: Mapping[str, str]) -> int | None:
    """Return the value of an expression of integers without bounds; None where it is no such."""
    text = _SUFFIX.sub(r"\1", expression).replace("->", ".").replace("::", ".")
    known = {_plain(name): value for name, value in values.items()}
    try:
        return _value_of(ast.parse(text.strip(), mode="eval").body, known)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _plain(name: str) -> str:
    return re.sub(r"\s", "", name.replace("->", ".").replace("::", "."))


def _value_of(node: ast.expr, values: Mapping[str, str]) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _value_of(operand, values)
            return -value if value is not None else None
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _value_of(left, values), _value_of(right, values)
            return _apply(op, first, second) if first is not None and second is not None else None
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _number(values.get(_plain(ast.unparse(node)), ""))
    return None


def _apply(op: ast.operator, first: int, second: int) -> int | None:
    match op:
        case ast.Add():
            return first + second
        case ast.Sub():
            return first - second
        case ast.Mult():
            return first * second
        case ast.LShift() if 0 <= second < _SHIFT_MAX:
            return first << second
    return None


def _number(text: str) -> int | None:
    found = re.fullmatch(r"-?\d+", text.strip())
    return int(found[0]) if found is not None else None
