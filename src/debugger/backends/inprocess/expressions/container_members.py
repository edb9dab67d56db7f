"""Reads C++'s and Rust's strings, vectors and slices by their members. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.location_nodes import StoredValue
from debugger.backends.inprocess.expressions.nodes import (
    CHAR,
    CaseGuard,
    ElementSpan,
    ExpressionKind,
    ExpressionType,
    RecordField,
    Words,
)
from debugger.backends.inprocess.expressions.operands import (
    Operand,
    address_of,
    look_through_reference,
    look_through_wrappers,
    pointer_node,
)

_DEEP = 8
_MACHINES = {
    1: nodes.MachineType.U8, 2: nodes.MachineType.U16, 4: nodes.MachineType.U32,
    8: nodes.MachineType.U64,
}  # fmt: skip
# Members of libstdc++'s containers: the words with the elements' begin, and their end or
# number. By members and not by offsets, so an ABI with other offsets works, and other names
# are not found at all.
_ENDS = (("_M_impl._M_start", "_M_impl._M_finish"),)
_TEXTS = (("_M_dataplus._M_p", "_M_string_length"), ("_M_str", "_M_len"))
_COUNTS = ("_M_t._M_impl._M_node_count", "_M_h._M_element_count")
_RUST_COLLECTIONS = ("std::collections::", "alloc::collections::")
# Of HashMap, HashSet, BTreeMap, BTreeSet and VecDeque, as the standard library has named them
# so far.
_RUST_COUNTS = (
    "base.table.table.items", "base.map.table.table.items", "length", "map.length", "len",
)  # fmt: skip
_INNER_ARRAYS = ("_M_elems",)
_OWNERS = ("std::unique_ptr<", "std::shared_ptr<")
_COUNTED = ("alloc::rc::Rc<", "alloc::sync::Arc<")
_RUST_TEXTS = frozenset({"alloc::string::String", "&str", "&mut str"})


@dataclass(frozen=True, slots=True)
class FoundMember:
    """Describes a member of a record, also in a base, or in a member without a name."""

    field: RecordField
    offset: int

    @property
    def member_type(self) -> ExpressionType:
        """The member's type."""
        return self.field.kind()


def find_member(kind: ExpressionType, name: str, depth: int = 0) -> FoundMember | None:
    """Find a member by its name, in bases and members without names too."""
    if kind.kind is not ExpressionKind.RECORD or depth > _DEEP:
        return None
    fields = kind.fields()
    for one in fields:
        if one.name == name and not one.is_base:
            return FoundMember(one, one.offset)
    # Bases come after own members, which hide theirs.
    for one in fields:
        if one.is_base or not one.name:
            found = find_member(one.kind(), name, depth + 1)
            if found is not None:
                return FoundMember(found.field, one.offset + found.offset)
    return None


def case_with(kind: ExpressionType, name: str) -> list[RecordField]:
    """Find the cases of a Rust enum that have a member."""
    return [
        one
        for one in (kind.fields() if kind.kind is ExpressionKind.RECORD else ())
        if one.guard is not None and find_member(one.kind(), name) is not None
    ]


def case_holds(guard: CaseGuard, address: nodes.Node) -> nodes.Node:
    """Return a node that yields 1 where a case of a Rust enum holds."""
    machine = _MACHINES[guard.size]
    place = nodes.LoadNode(nodes.add_offset(address, guard.offset), machine)
    # The niche case: every value that no other case has.
    op, joined = ("!=", "&&") if guard.is_other else ("==", "||")
    tests: list[nodes.Node] = [
        nodes.CompareNode(op, place, nodes.ConstantNode(value, machine)) for value in guard.values
    ]
    if not tests:
        return nodes.ConstantNode(1, nodes.MachineType.I32)
    found = tests[0]
    for one in tests[1:]:
        found = nodes.LogicNode(joined, found, one)
    return found


def member_names(kind: ExpressionType, depth: int = 0) -> list[str]:
    """Name all members, those of bases too."""
    found = []
    for one in kind.fields():
        if one.is_base or not one.name:
            found += member_names(one.kind(), depth + 1) if depth < _DEEP else []
        else:
            found.append(one.name)
    return found


def _member_path(kind: ExpressionType, path: str) -> FoundMember | None:
    offset, found = 0, None
    for name in path.split("."):
        found = find_member(kind, name)
        if found is None:
            return None
        offset += found.offset
        kind = found.member_type
    return FoundMember(found.field, offset) if found is not None else None


def _first_pointer(kind: ExpressionType, depth: int = 0) -> tuple[int, ExpressionType] | None:
    """Find the pointer that a Rust container wraps several times (Unique, NonNull, RawVec)."""
    if kind.kind is ExpressionKind.POINTER:
        return 0, kind.points_to()
    for one in kind.fields() if depth < _DEEP else ():
        if one.guard is not None:
            continue
        found = _first_pointer(one.kind(), depth + 1)
        if found is not None:
            return one.offset + found[0], found[1]
    return None


def owned_pointer(operand: Operand) -> Operand | None:
    """Return what a smart pointer owns; None for other types."""
    kind = operand.type
    if kind.kind is not ExpressionKind.RECORD or operand.words is not None:
        return None
    if kind.name.startswith(_OWNERS):
        found = _find_owned(kind)
        if found is not None and isinstance(operand.where, StoredValue):
            offset, target = found
            place = nodes.add_offset(operand.where.address, offset)
            return Operand(target, where=StoredValue(nodes.LoadNode(place, nodes.MachineType.U64)))
    # Rc and Arc point to two counters and the value behind them.
    if kind.name.startswith(_COUNTED) and isinstance(operand.where, StoredValue):
        first = _first_pointer(kind)
        inner = None
        if first is not None:
            inner = find_member(first[1], "value") or find_member(first[1], "data")
        if first is not None and inner is not None:
            place = nodes.add_offset(operand.where.address, first[0])
            address = nodes.add_offset(nodes.LoadNode(place, nodes.MachineType.U64), inner.offset)
            return Operand(inner.member_type, where=StoredValue(address))
    return None


def _find_owned(kind: ExpressionType, depth: int = 0) -> tuple[int, ExpressionType] | None:
    """Find the pointer of a unique_ptr or a shared_ptr; its deleter or counter is beside it."""
    for one in kind.fields() if depth < _DEEP else ():
        inner = one.kind()
        if inner.kind is ExpressionKind.POINTER and one.name in {"_M_head_impl", "_M_ptr"}:
            return one.offset, inner.points_to()
        if one.is_base or one.name == "_M_t":
            found = _find_owned(inner, depth + 1)
            if found is not None:
                return one.offset + found[0], found[1]
    return None


def words_of(operand: Operand) -> Words | None:
    """Return an operand's text; None where it has none."""
    if operand.words is not None:
        return operand.words
    operand = look_through_wrappers(operand)
    kind = operand.type
    if kind.kind is ExpressionKind.POINTER and _is_letter(kind.points_to()):
        return nodes.BytesText(pointer_node(operand))
    if kind.kind is ExpressionKind.ARRAY and _is_letter(kind.points_to()):
        return nodes.BytesText(address_of(operand), kind.count)
    span = text_span(operand)
    return nodes.SpannedText(span) if span is not None else None


def _is_letter(kind: ExpressionType) -> bool:
    return kind.kind is ExpressionKind.CHARACTER and kind.size == 1


def text_span(operand: Operand) -> ElementSpan | None:
    """Return where a string that knows its length has its letters."""
    operand = _underlying_record(operand)
    kind = operand.type
    if kind.kind is not ExpressionKind.RECORD:
        return None
    for first, count in _TEXTS:
        begin, length = _member_path(kind, first), _member_path(kind, count)
        if begin is not None and length is not None and _is_letter(begin.member_type.points_to()):
            return ElementSpan(
                address_of(operand), begin.offset, length.offset, is_count=True, size=1
            )
    # A Vec<u8> has the same members: only the name tells a text from bytes.
    if kind.name in _RUST_TEXTS:
        found = _rust_elements(operand)
        return found[0] if found is not None else None
    return None


def container_elements(operand: Operand) -> tuple[ElementSpan, ExpressionType] | None:
    """Return where a container has its elements, and their type; None for other types."""
    operand = _underlying_record(operand)
    kind = operand.type
    if kind.kind is not ExpressionKind.RECORD:
        return None
    text = text_span(operand)
    if text is not None:
        return text, CHAR
    for first, last in _ENDS:
        begin, end = _member_path(kind, first), _member_path(kind, last)
        if begin is not None and end is not None and begin.member_type.points_to().size:
            element = begin.member_type.points_to()
            holder = address_of(operand)
            return ElementSpan(
                holder, begin.offset, end.offset, is_count=False, size=element.size
            ), element
    return _rust_elements(operand)


def _rust_elements(operand: Operand) -> tuple[ElementSpan, ExpressionType] | None:
    """Find the elements of a String, a Vec, or a pointer with a length beside it."""
    kind = operand.type
    inner = find_member(kind, "vec")
    base = inner.offset if inner is not None else 0
    kind = inner.member_type if inner is not None else kind
    length = find_member(kind, "len") or find_member(kind, "length")
    wrapped = find_member(kind, "buf") or find_member(kind, "data_ptr")
    if length is None or wrapped is None or length.member_type.size != 8:  # noqa: PLR2004  a usize
        return None
    if find_member(kind, "head") is not None:
        return None  # a VecDeque, which begins in the middle of its buffer
    found = _first_pointer(wrapped.member_type)
    if found is None:
        return None
    offset, element = found
    parameters: Sequence[ExpressionType] = kind.parameters()
    # Since Rust 1.80 a vector's pointer is one to bytes, and only its parameter says what
    # they are.
    element = parameters[0] if parameters else element
    if not element.size:
        return None
    first = base + wrapped.offset + offset
    second = base + length.offset
    return ElementSpan(
        address_of(operand), first, second, is_count=True, size=element.size
    ), element


def _underlying_record(operand: Operand) -> Operand:
    """Look through pointers and references to a record."""
    operand = look_through_reference(operand)
    if (
        operand.type.kind is ExpressionKind.POINTER
        and operand.type.points_to().kind is ExpressionKind.RECORD
    ):
        return Operand(operand.type.points_to(), where=StoredValue(pointer_node(operand)))
    return operand


def stored_count(record: Operand) -> nodes.Node | None:
    """Return the number of elements that a map, a set or a deque stores in a member."""
    is_rust = record.type.name.startswith(_RUST_COLLECTIONS)
    for path in _RUST_COUNTS if is_rust else _COUNTS:
        found = _member_path(record.type, path)
        if found is not None:
            return nodes.LoadNode(
                nodes.add_offset(address_of(record), found.offset), nodes.MachineType.U64
            )
    return None


def optional_of(kind: ExpressionType) -> tuple[FoundMember, FoundMember] | None:
    """Return the members of a std::optional: whether it has a value, and the value."""
    if not kind.name.startswith("std::optional<"):
        return None
    engaged = _member_path(kind, "_M_payload._M_engaged")
    value = _member_path(kind, "_M_payload._M_payload._M_value")
    return (engaged, value) if engaged is not None and value is not None else None


def inner_array(operand: Operand) -> FoundMember | None:
    """Return the array in a `std::array`."""
    return next(
        (found for name in _INNER_ARRAYS if (found := _member_path(operand.type, name))),
        None,
    )


def count_of(operand: Operand) -> nodes.Node | None:
    """Return the number of elements of a container or a text: U64; None for other types."""
    operand = look_through_reference(operand)
    if operand.type.kind is ExpressionKind.ARRAY and operand.type.count is not None:
        if not _is_letter(operand.type.points_to()):
            return nodes.ConstantNode(operand.type.count, nodes.MachineType.U64)
    elif (elements := container_elements(operand)) is not None:
        return nodes.CountNode(elements[0])
    words = words_of(operand)
    if words is not None:
        return nodes.LengthNode(words)
    record = _underlying_record(operand)
    count = stored_count(record)
    if count is not None:
        return count
    array = inner_array(record)
    if array is not None and array.member_type.count is not None:
        return nodes.ConstantNode(array.member_type.count, nodes.MachineType.U64)
    return None
