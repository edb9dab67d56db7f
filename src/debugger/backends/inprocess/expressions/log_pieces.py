"""Splits a logpoint's text into words and values with their formats. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.container_members import (
    case_holds,
    container_elements,
    inner_array,
    optional_of,
    owned_pointer,
    stored_count,
    words_of,
)
from debugger.backends.inprocess.expressions.location_nodes import (
    ComputedValue,
    NameScope,
    StoredValue,
)
from debugger.backends.inprocess.expressions.nodes import (
    ElementSpan,
    ExpressionKind,
    ExpressionType,
    Node,
    RecordField,
    Words,
)
from debugger.backends.inprocess.expressions.operands import (
    ARITHMETIC,
    Operand,
    load_node,
    look_through_reference,
)
from debugger.backends.inprocess.expressions.resolution import resolve_expression
from debugger.errors import DebuggerError
from debugger.model import breakpoints as core

# Bounds of one logpoint's value: a record's script grows with each member of each level.
FIELDS_MAX = 16
ELEMENTS_MAX = 10
DEPTH_MAX = 2
_FIRST = 5  # elements of a container that are shown
_BOX = "alloc::boxed::Box<"
TEXT_MAX = 200  # bytes of a text that are shown


class NumberStyle(Enum):
    """Lists the styles of a number."""

    WHOLE = "whole"
    REAL = "real"
    SINGLE = "single"
    TRUTH = "truth"
    CHARACTER = "character"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class NumberPiece:
    """Writes a number; `names` are those of an enumeration's values."""

    node: Node
    style: NumberStyle
    names: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class QuotedPiece:
    """Writes a text in quotes; `pointer` may be null."""

    words: Words
    pointer: Node | None = None


@dataclass(frozen=True, slots=True)
class PieceGroup:
    """Writes pieces in brackets, with a separator."""

    opened: str
    pieces: tuple[tuple[str, Piece], ...]
    closed: str
    between: str = ", "


@dataclass(frozen=True, slots=True)
class PlainPiece:
    """Writes words as they are; an unreadable value becomes its reason."""

    text: str


@dataclass(frozen=True, slots=True)
class ChoicePiece:
    """Writes the first of several pieces whose condition is not 0."""

    cases: tuple[tuple[Node, Piece], ...]


Piece = NumberPiece | QuotedPiece | PieceGroup | ChoicePiece | PlainPiece


def parse_template(text: str, scope: NameScope) -> tuple[Piece, ...]:
    """Read and check a logpoint's text: `i={i} at {p->x}`.

    Raises:
        DebuggerError: EVALUATION_FAILED, for the expression that is wrong.
    """
    return tuple(
        operand_piece(resolve_expression(part, scope)) if is_expression else PlainPiece(part)
        for part, is_expression in core.split_template(text)
    )


def operand_piece(operand: Operand, depth: int = 0) -> Piece:  # noqa: PLR0911  one case for each kind of type
    """Decide how a value is written.

    Raises:
        DebuggerError: EVALUATION_FAILED for an unreadable value.
    """
    operand = look_through_reference(operand)
    kind = operand.type
    # Texts before pointers: a `char *` is both, and is read as a text.
    words = words_of(operand)
    if words is not None:
        return QuotedPiece(
            words, load_node(operand) if kind.kind is ExpressionKind.POINTER else None
        )
    if kind.kind in ARITHMETIC:
        return NumberPiece(load_node(operand), _number_style(operand), _enumerator_names(operand))
    if kind.kind is ExpressionKind.POINTER:
        return _pointer_piece(operand, depth)
    elements = container_elements(operand) if isinstance(operand.where, StoredValue) else None
    if elements is not None:
        return _elements_piece(*elements, depth)
    known = _holder_piece(operand, depth)
    if known is not None:
        return known
    # Numbers and pointers are written at any depth, what is made of parts only up to here.
    if depth == DEPTH_MAX:
        return PlainPiece("{…}")
    if kind.kind is ExpressionKind.ARRAY:
        return _array_piece(operand, depth)
    if kind.kind is ExpressionKind.RECORD:
        return _record_piece(operand, depth)
    return PlainPiece(f"<{kind.name}>")


def _number_style(operand: Operand) -> NumberStyle:
    match operand.type.kind:
        case ExpressionKind.REAL:
            return (
                NumberStyle.SINGLE
                if operand.type.size == nodes.MachineType.F32.bit_width // 8
                else NumberStyle.REAL
            )
        case ExpressionKind.BOOLEAN:
            return NumberStyle.TRUTH
        case ExpressionKind.CHARACTER:
            return NumberStyle.CHARACTER
    return NumberStyle.WHOLE


def _enumerator_names(operand: Operand) -> tuple[tuple[int, str], ...]:
    return tuple((value, name) for name, value in operand.type.enumerators.items())


def _pointer_piece(operand: Operand, depth: int) -> Piece:
    """Write an address; of a Box its content, of a Rust reference also its target."""
    address, kind = NumberPiece(load_node(operand), NumberStyle.ADDRESS), operand.type
    target = kind.points_to()
    is_box = kind.name.startswith(_BOX)
    if depth == DEPTH_MAX or not (is_box or kind.name.startswith("&")) or not target.size:
        return address
    behind = _member_piece(Operand(target, where=StoredValue(load_node(operand))), depth)
    if is_box:
        return PieceGroup("Box(", (("", behind),), ")")
    return PieceGroup(
        "", (("", PieceGroup("", (("", address),), " ")), ("", behind)), "", between=""
    )


def _holder_piece(operand: Operand, depth: int) -> Piece | None:
    """Write a value of a standard library that wraps another one; None for other types."""
    if operand.type.kind is not ExpressionKind.RECORD or not isinstance(operand.where, StoredValue):
        return None
    count = stored_count(operand)
    if count is not None:
        return PieceGroup("size=", (("", NumberPiece(count, NumberStyle.WHOLE)),), "")
    address = operand.where.address
    array = inner_array(operand)
    if array is not None:
        place = StoredValue(nodes.add_offset(address, array.offset), operand.where.is_sure)
        return operand_piece(Operand(array.member_type, where=place), depth)
    owned = owned_pointer(operand)
    if owned is not None and isinstance(owned.where, StoredValue):
        behind = _member_piece(owned, depth) if depth < DEPTH_MAX else PlainPiece("{…}")
        return ChoicePiece((
            (owned.where.address, behind),
            (nodes.ConstantNode(1, nodes.MachineType.I32), PlainPiece("nullptr")),
        ))  # fmt: skip
    found = optional_of(operand.type)
    if found is None:
        return None
    engaged, value = found
    is_there = nodes.LoadNode(nodes.add_offset(address, engaged.offset), nodes.MachineType.U8)
    inner = _member_piece(
        Operand(value.member_type, where=StoredValue(nodes.add_offset(address, value.offset))),
        depth,
    )
    return ChoicePiece((
        (is_there, PieceGroup("std::optional(", (("", inner),), ")")),
        (nodes.ConstantNode(1, nodes.MachineType.I32), PlainPiece("std::optional(empty)")),
    ))  # fmt: skip


def _elements_piece(span: ElementSpan, element: ExpressionType, depth: int) -> Piece:
    """Write the number of a container's elements, and the first of them."""
    count = nodes.CountNode(span)
    pieces: list[tuple[str, Piece]] = [("size=", NumberPiece(count, NumberStyle.WHOLE))]
    # The number is known at the hit alone, so each of the first elements is written under a
    # condition.
    begin = nodes.LoadNode(nodes.add_offset(span.holder, span.first), nodes.MachineType.U64)
    if depth < DEPTH_MAX:
        for index in range(_FIRST):
            where = StoredValue(nodes.add_offset(begin, index * element.size))
            one = _member_piece(Operand(element, where=where), depth)
            pieces.append(
                (
                    "",
                    _optional_element(
                        count, index, PieceGroup(", " if index else " {", (("", one),), "")
                    ),
                )
            )
        pieces.append(("", _optional_element(count, _FIRST, PlainPiece(", ..."))))
        pieces.append(("", _optional_element(count, 0, PlainPiece("}"))))
    return PieceGroup("", tuple(pieces), "", between="")


def _optional_element(count: Node, index: int, piece: Piece) -> ChoicePiece:
    """Write a piece where there are more elements than `index`."""
    is_there = nodes.CompareNode(">", count, nodes.ConstantNode(index, nodes.MachineType.U64))
    return ChoicePiece(
        ((is_there, piece), (nodes.ConstantNode(1, nodes.MachineType.I32), PlainPiece("")))
    )


def _case_piece(case: RecordField, address: Node, depth: int) -> Piece:
    """Write a case of a Rust enum as Rust does: `Small`, `Big(7)`, `Named{id:3}`."""
    kind = case.kind()
    fields = kind.fields()[:FIELDS_MAX] if kind.kind is ExpressionKind.RECORD else ()
    if not fields:
        return PlainPiece(case.name)
    # rustc names the members of tuples __0, __1 and so on.
    is_tuple = fields[0].name == "__0"
    pieces = []
    for one in fields:
        where = StoredValue(nodes.add_offset(address, case.offset + one.offset))
        name = "" if is_tuple else f"{one.name}:"
        pieces.append((name, _member_piece(Operand(one.kind(), where=where), depth)))
    opened, closed = "()" if is_tuple else "{}"
    return PieceGroup(case.name + opened, tuple(pieces), closed)


def _record_piece(operand: Operand, depth: int) -> Piece:
    fields = [one for one in operand.type.fields() if one.guard is None]
    pieces: list[tuple[str, Piece]] = []
    if not isinstance(operand.where, StoredValue | ComputedValue):
        return PlainPiece("{…}")
    # A Rust enum: which case holds is known at the hit alone.
    cases = [(one, one.guard) for one in operand.type.fields() if one.guard is not None]
    if cases and isinstance(operand.where, StoredValue):
        address = operand.where.address
        return ChoicePiece(
            tuple(
                (case_holds(guard, address), _case_piece(one, address, depth))
                for one, guard in cases
            )
        )
    is_tuple = bool(fields) and fields[0].name == "__0"  # of Rust
    for one in fields[:FIELDS_MAX]:
        name = "" if one.is_base or not one.name or is_tuple else f"{one.name}:"
        if isinstance(operand.where, StoredValue):
            address = nodes.add_offset(operand.where.address, one.offset)
            where = StoredValue(address, operand.where.is_sure, one.bits)
            pieces.append((name, _member_piece(Operand(one.kind(), where=where), depth)))
        else:
            pieces.append((name, PlainPiece("…")))
    if len(fields) > FIELDS_MAX:
        pieces.append(("", PlainPiece("…")))
    opened, closed = "()" if is_tuple else "{}"
    return PieceGroup(opened, tuple(pieces), closed)


def _array_piece(operand: Operand, depth: int) -> Piece:
    element, count = operand.type.points_to(), operand.type.count
    if not isinstance(operand.where, StoredValue) or count is None or not element.size:
        return PlainPiece("[…]")
    pieces: list[tuple[str, Piece]] = []
    for index in range(min(count, ELEMENTS_MAX)):
        address = nodes.add_offset(operand.where.address, index * element.size)
        one = Operand(element, where=StoredValue(address, operand.where.is_sure))
        pieces.append(("", _member_piece(one, depth)))
    if count > ELEMENTS_MAX:
        pieces.append(("", PlainPiece("…")))
    return PieceGroup("[", tuple(pieces), "]")


def _member_piece(operand: Operand, depth: int) -> Piece:
    """Write one member; an unreadable one does not lose the others."""
    try:
        return operand_piece(operand, depth + 1)
    except DebuggerError as error:
        return PlainPiece(f"<{error.message}>")
