"""Splits a logpoint's text into words and values with their formats. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.containers import (
    elements,
    holds,
    inner_array,
    optional_of,
    pointed,
    stored_count,
    words_of,
)
from debugger.backends.frida.expressions.nodes import Node, Span, Words
from debugger.backends.frida.expressions.operands import (
    ARITHMETIC,
    Operand,
    dereferenced,
    load,
)
from debugger.backends.frida.expressions.resolve import expression
from debugger.backends.frida.expressions.scope import Computed, Scope, Stored
from debugger.backends.frida.expressions.types import Field, Kind, Type
from debugger.core import template as core
from debugger.errors import DebuggerError

FIELDS_MAX = 16
ELEMENTS_MAX = 10
DEPTH_MAX = 2
_FIRST = 5  # elements of a container that are shown
_BOX = "alloc::boxed::Box<"
TEXT_MAX = 200  # bytes of a text that are shown


class Style(Enum):
    """How a number is written."""

    WHOLE = "whole"
    REAL = "real"
    SINGLE = "single"
    TRUTH = "truth"
    CHARACTER = "character"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Number:
    """A number; `names` are those of an enumeration's values."""

    node: Node
    style: Style
    names: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text in quotes; `pointer` is what may be null."""

    words: Words
    pointer: Node | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces in brackets, with something between."""

    opened: str
    pieces: tuple[tuple[str, Piece], ...]
    closed: str
    between: str = ", "


@dataclass(frozen=True, slots=True)
class Plain:
    """Words as they are: what cannot be read says why."""

    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of several pieces whose condition is not 0."""

    cases: tuple[tuple[Node, Piece], ...]


Piece = Number | Quoted | Group | Choice | Plain


def template(text: str, scope: Scope) -> tuple[Piece, ...]:
    """Read and check a logpoint's text: `i={i} at {p->x}`.

    Raises:
        DebuggerError: EVALUATION_FAILED, for the expression that is wrong.
    """
    return tuple(
        piece(expression(part, scope)) if is_expression else Plain(part)
        for part, is_expression in core.parts(text)
    )


def piece(operand: Operand, depth: int = 0) -> Piece:  # noqa: PLR0911  one case for each kind of type
    """Decide how a value is written.

    Raises:
        DebuggerError: EVALUATION_FAILED for what cannot be read at all.
    """
    operand = dereferenced(operand)
    kind = operand.type
    words = words_of(operand)
    if words is not None:
        return Quoted(words, load(operand) if kind.kind is Kind.POINTER else None)
    if kind.kind in ARITHMETIC:
        return Number(load(operand), _style(operand), _names(operand))
    if kind.kind is Kind.POINTER:
        return _pointer(operand, depth)
    held = elements(operand) if isinstance(operand.where, Stored) else None
    if held is not None:
        return _elements(*held, depth)
    known = _holder(operand, depth)
    if known is not None:
        return known
    if depth == DEPTH_MAX:
        return Plain("{…}")
    if kind.kind is Kind.ARRAY:
        return _array(operand, depth)
    if kind.kind is Kind.RECORD:
        return _record(operand, depth)
    return Plain(f"<{kind.name}>")


def _style(operand: Operand) -> Style:
    match operand.type.kind:
        case Kind.REAL:
            return Style.SINGLE if operand.type.size == nodes.Machine.F32.bits // 8 else Style.REAL
        case Kind.BOOLEAN:
            return Style.TRUTH
        case Kind.CHARACTER:
            return Style.CHARACTER
    return Style.WHOLE


def _names(operand: Operand) -> tuple[tuple[int, str], ...]:
    return tuple((value, name) for name, value in operand.type.enumerators.items())


def _pointer(operand: Operand, depth: int) -> Piece:
    """Write an address; of a Box what it owns, of a Rust reference also what it refers to."""
    address, kind = Number(load(operand), Style.ADDRESS), operand.type
    target = kind.points_to()
    is_box = kind.name.startswith(_BOX)
    if depth == DEPTH_MAX or not (is_box or kind.name.startswith("&")) or not target.size:
        return address
    behind = _tried(Operand(target, where=Stored(load(operand))), depth)
    if is_box:
        return Group("Box(", (("", behind),), ")")
    return Group("", (("", Group("", (("", address),), " ")), ("", behind)), "", between="")


def _holder(operand: Operand, depth: int) -> Piece | None:
    """Write a value of a standard library that holds another one; None for what is none."""
    if operand.type.kind is not Kind.RECORD or not isinstance(operand.where, Stored):
        return None
    count = stored_count(operand)
    if count is not None:
        return Group("size=", (("", Number(count, Style.WHOLE)),), "")
    address = operand.where.address
    array = inner_array(operand)
    if array is not None:
        place = Stored(nodes.plus(address, array.offset), operand.where.is_sure)
        return piece(Operand(array.type, where=place), depth)
    owned = pointed(operand)
    if owned is not None and isinstance(owned.where, Stored):
        behind = _tried(owned, depth) if depth < DEPTH_MAX else Plain("{…}")
        return Choice((
            (owned.where.address, behind), (nodes.Const(1, nodes.Machine.I32), Plain("nullptr"))
        ))  # fmt: skip
    found = optional_of(operand.type)
    if found is None:
        return None
    engaged, value = found
    is_there = nodes.Load(nodes.plus(address, engaged.offset), nodes.Machine.U8)
    inner = _tried(Operand(value.type, where=Stored(nodes.plus(address, value.offset))), depth)
    return Choice((
        (is_there, Group("std::optional(", (("", inner),), ")")),
        (nodes.Const(1, nodes.Machine.I32), Plain("std::optional(empty)")),
    ))  # fmt: skip


def _elements(span: Span, element: Type, depth: int) -> Piece:
    """Write how many elements a container has, and the first of them."""
    count = nodes.Count(span)
    pieces: list[tuple[str, Piece]] = [("size=", Number(count, Style.WHOLE))]
    begin = nodes.Load(nodes.plus(span.holder, span.first), nodes.Machine.U64)
    if depth < DEPTH_MAX:
        for index in range(_FIRST):
            where = Stored(nodes.plus(begin, index * element.size))
            one = _tried(Operand(element, where=where), depth)
            pieces.append(
                ("", _beyond(count, index, Group(", " if index else " {", (("", one),), "")))
            )
        pieces.append(("", _beyond(count, _FIRST, Plain(", ..."))))
        pieces.append(("", _beyond(count, 0, Plain("}"))))
    return Group("", tuple(pieces), "", between="")


def _beyond(count: Node, index: int, piece: Piece) -> Choice:
    """Write a piece where there are more elements than `index`."""
    is_there = nodes.Compare(">", count, nodes.Const(index, nodes.Machine.U64))
    return Choice(((is_there, piece), (nodes.Const(1, nodes.Machine.I32), Plain(""))))


def _case(case: Field, address: Node, depth: int) -> Piece:
    """Write a case of a Rust enum as Rust does: `Small`, `Big(7)`, `Named{id:3}`."""
    kind = case.kind()
    fields = kind.fields()[:FIELDS_MAX] if kind.kind is Kind.RECORD else ()
    if not fields:
        return Plain(case.name)
    is_tuple = fields[0].name == "__0"
    pieces = []
    for one in fields:
        where = Stored(nodes.plus(address, case.offset + one.offset))
        name = "" if is_tuple else f"{one.name}:"
        pieces.append((name, _tried(Operand(one.kind(), where=where), depth)))
    opened, closed = "()" if is_tuple else "{}"
    return Group(case.name + opened, tuple(pieces), closed)


def _record(operand: Operand, depth: int) -> Piece:
    fields = [one for one in operand.type.fields() if one.guard is None]
    pieces: list[tuple[str, Piece]] = []
    if not isinstance(operand.where, Stored | Computed):
        return Plain("{…}")
    cases = [(one, one.guard) for one in operand.type.fields() if one.guard is not None]
    if cases and isinstance(operand.where, Stored):
        address = operand.where.address
        return Choice(
            tuple((holds(guard, address), _case(one, address, depth)) for one, guard in cases)
        )
    is_tuple = bool(fields) and fields[0].name == "__0"  # of Rust
    for one in fields[:FIELDS_MAX]:
        name = "" if one.is_base or not one.name or is_tuple else f"{one.name}:"
        if isinstance(operand.where, Stored):
            address = nodes.plus(operand.where.address, one.offset)
            where = Stored(address, operand.where.is_sure, one.bits)
            pieces.append((name, _tried(Operand(one.kind(), where=where), depth)))
        else:
            pieces.append((name, Plain("…")))
    if len(fields) > FIELDS_MAX:
        pieces.append(("", Plain("…")))
    opened, closed = "()" if is_tuple else "{}"
    return Group(opened, tuple(pieces), closed)


def _array(operand: Operand, depth: int) -> Piece:
    element, count = operand.type.points_to(), operand.type.count
    if not isinstance(operand.where, Stored) or count is None or not element.size:
        return Plain("[…]")
    pieces: list[tuple[str, Piece]] = []
    for index in range(min(count, ELEMENTS_MAX)):
        address = nodes.plus(operand.where.address, index * element.size)
        one = Operand(element, where=Stored(address, operand.where.is_sure))
        pieces.append(("", _tried(one, depth)))
    if count > ELEMENTS_MAX:
        pieces.append(("", Plain("…")))
    return Group("[", tuple(pieces), "]")


def _tried(operand: Operand, depth: int) -> Piece:
    """Write one member; that it cannot be read is no reason to lose the others."""
    try:
        return piece(operand, depth + 1)
    except DebuggerError as error:
        return Plain(f"<{error.message}>")
