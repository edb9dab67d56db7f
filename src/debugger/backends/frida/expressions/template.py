"""Which pieces is a logpoint's text made of: words, and values, written how? Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.containers import words_of
from debugger.backends.frida.expressions.nodes import Node, Words
from debugger.backends.frida.expressions.operands import (
    ARITHMETIC,
    Operand,
    dereferenced,
    load,
)
from debugger.backends.frida.expressions.resolve import expression
from debugger.backends.frida.expressions.scope import Computed, Scope, Stored
from debugger.backends.frida.expressions.types import Kind
from debugger.core import template as core
from debugger.errors import DebuggerError

FIELDS_MAX = 16
ELEMENTS_MAX = 10
DEPTH_MAX = 2
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
    """Pieces in brackets, with commas between."""

    opened: str
    pieces: tuple[tuple[str, Piece], ...]
    closed: str


@dataclass(frozen=True, slots=True)
class Plain:
    """Words as they are: what cannot be read says why."""

    text: str


Piece = Number | Quoted | Group | Plain


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
        return Number(load(operand), Style.ADDRESS)
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


def _record(operand: Operand, depth: int) -> Piece:
    fields = [one for one in operand.type.fields() if one.guard is None]
    pieces: list[tuple[str, Piece]] = []
    if not isinstance(operand.where, Stored | Computed):
        return Plain("{…}")
    for one in fields[:FIELDS_MAX]:
        name = "" if one.is_base or not one.name else f"{one.name}:"
        if isinstance(operand.where, Stored):
            address = nodes.plus(operand.where.address, one.offset)
            where = Stored(address, operand.where.is_sure, one.bits)
            pieces.append((name, _tried(Operand(one.kind(), where=where), depth)))
        else:
            pieces.append((name, Plain("…")))
    if len(fields) > FIELDS_MAX:
        pieces.append(("", Plain("…")))
    return Group("{", tuple(pieces), "}")


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
