"""Reads C++'s and Rust's strings, vectors and slices by their members. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.nodes import Span, Words
from debugger.backends.frida.expressions.operands import (
    Operand,
    address_of,
    bits,
    dereferenced,
    peeled,
)
from debugger.backends.frida.expressions.scope import Stored
from debugger.backends.frida.expressions.types import CHAR, Field, Guard, Kind, Type

_DEEP = 8
_MACHINES = {
    1: nodes.Machine.U8, 2: nodes.Machine.U16, 4: nodes.Machine.U32, 8: nodes.Machine.U64,
}  # fmt: skip
# libstdc++'s, each with the words that hold the elements' begin, and their end or their number.
_ENDS = (("_M_impl._M_start", "_M_impl._M_finish"),)
_TEXTS = (("_M_dataplus._M_p", "_M_string_length"), ("_M_str", "_M_len"))
_COUNTS = ("_M_t._M_impl._M_node_count", "_M_h._M_element_count")
_RUST_COLLECTIONS = ("std::collections::", "alloc::collections::")
_RUST_COUNTS = (
    "base.table.table.items", "base.map.table.table.items", "length", "map.length", "len",
)  # fmt: skip
_INNER_ARRAYS = ("_M_elems",)
_OWNERS = ("std::unique_ptr<", "std::shared_ptr<")
_COUNTED = ("alloc::rc::Rc<", "alloc::sync::Arc<")
_RUST_TEXTS = frozenset({"alloc::string::String", "&str", "&mut str"})


@dataclass(frozen=True, slots=True)
class Found:
    """A member wherever it is in its record: in a base, in a member without a name."""

    field: Field
    offset: int

    @property
    def type(self) -> Type:
        """The member's type."""
        return self.field.kind()


def member(kind: Type, name: str, depth: int = 0) -> Found | None:
    """Find a member by its name, in bases and members without names too."""
    if kind.kind is not Kind.RECORD or depth > _DEEP:
        return None
    fields = kind.fields()
    for one in fields:
        if one.name == name and not one.is_base:
            return Found(one, one.offset)
    for one in fields:
        if one.is_base or not one.name:
            found = member(one.kind(), name, depth + 1)
            if found is not None:
                return Found(found.field, one.offset + found.offset)
    return None


def case_with(kind: Type, name: str) -> list[Field]:
    """Find the cases of a Rust enum that have a member."""
    return [
        one
        for one in (kind.fields() if kind.kind is Kind.RECORD else ())
        if one.guard is not None and member(one.kind(), name) is not None
    ]


def holds(guard: Guard, address: nodes.Node) -> nodes.Node:
    """Return a node that gives 1 where a case of a Rust enum is the one."""
    machine = _MACHINES[guard.size]
    place = nodes.Load(nodes.plus(address, guard.offset), machine)
    op, joined = ("!=", "&&") if guard.is_other else ("==", "||")
    tests: list[nodes.Node] = [
        nodes.Compare(op, place, nodes.Const(value, machine)) for value in guard.values
    ]
    if not tests:
        return nodes.Const(1, nodes.Machine.I32)
    found = tests[0]
    for one in tests[1:]:
        found = nodes.Logic(joined, found, one)
    return found


def member_names(kind: Type, depth: int = 0) -> list[str]:
    """Name all members, those of bases too."""
    found = []
    for one in kind.fields():
        if one.is_base or not one.name:
            found += member_names(one.kind(), depth + 1) if depth < _DEEP else []
        else:
            found.append(one.name)
    return found


def _path(kind: Type, path: str) -> Found | None:
    offset, found = 0, None
    for name in path.split("."):
        found = member(kind, name)
        if found is None:
            return None
        offset += found.offset
        kind = found.type
    return Found(found.field, offset) if found is not None else None


def _first_pointer(kind: Type, depth: int = 0) -> tuple[int, Type] | None:
    """Find the pointer that a Rust container wraps several times."""
    if kind.kind is Kind.POINTER:
        return 0, kind.points_to()
    for one in kind.fields() if depth < _DEEP else ():
        if one.guard is not None:
            continue
        found = _first_pointer(one.kind(), depth + 1)
        if found is not None:
            return one.offset + found[0], found[1]
    return None


def pointed(operand: Operand) -> Operand | None:
    """Return what a smart pointer owns; None for what is none."""
    kind = operand.type
    if kind.kind is not Kind.RECORD or operand.words is not None:
        return None
    if kind.name.startswith(_OWNERS):
        found = _owned(kind)
        if found is not None and isinstance(operand.where, Stored):
            offset, target = found
            place = nodes.plus(operand.where.address, offset)
            return Operand(target, where=Stored(nodes.Load(place, nodes.Machine.U64)))
    if kind.name.startswith(_COUNTED) and isinstance(operand.where, Stored):
        first = _first_pointer(kind)
        inner = None
        if first is not None:
            inner = member(first[1], "value") or member(first[1], "data")
        if first is not None and inner is not None:
            place = nodes.plus(operand.where.address, first[0])
            address = nodes.plus(nodes.Load(place, nodes.Machine.U64), inner.offset)
            return Operand(inner.type, where=Stored(address))
    return None


def _owned(kind: Type, depth: int = 0) -> tuple[int, Type] | None:
    """Find the pointer of a unique_ptr or a shared_ptr: its deleter stands beside it."""
    for one in kind.fields() if depth < _DEEP else ():
        inner = one.kind()
        if inner.kind is Kind.POINTER and one.name in {"_M_head_impl", "_M_ptr"}:
            return one.offset, inner.points_to()
        if one.is_base or one.name == "_M_t":
            found = _owned(inner, depth + 1)
            if found is not None:
                return one.offset + found[0], found[1]
    return None


def words_of(operand: Operand) -> Words | None:
    """Return the text that an operand is; None where it is none."""
    if operand.words is not None:
        return operand.words
    operand = peeled(operand)
    kind = operand.type
    if kind.kind is Kind.POINTER and _is_letter(kind.points_to()):
        return nodes.Bytes(bits(operand))
    if kind.kind is Kind.ARRAY and _is_letter(kind.points_to()):
        return nodes.Bytes(address_of(operand), kind.count)
    span = text_span(operand)
    return nodes.Spanned(span) if span is not None else None


def _is_letter(kind: Type) -> bool:
    return kind.kind is Kind.CHARACTER and kind.size == 1


def text_span(operand: Operand) -> Span | None:
    """Return where a string that knows its length keeps its letters."""
    operand = _record(operand)
    kind = operand.type
    if kind.kind is not Kind.RECORD:
        return None
    for first, count in _TEXTS:
        begin, length = _path(kind, first), _path(kind, count)
        if begin is not None and length is not None and _is_letter(begin.type.points_to()):
            return Span(address_of(operand), begin.offset, length.offset, is_count=True, size=1)
    if kind.name in _RUST_TEXTS:
        found = _rust(operand)
        return found[0] if found is not None else None
    return None


def elements(operand: Operand) -> tuple[Span, Type] | None:
    """Return where a container keeps its elements, and of what type they are; None for others."""
    operand = _record(operand)
    kind = operand.type
    if kind.kind is not Kind.RECORD:
        return None
    text = text_span(operand)
    if text is not None:
        return text, CHAR
    for first, last in _ENDS:
        begin, end = _path(kind, first), _path(kind, last)
        if begin is not None and end is not None and begin.type.points_to().size:
            element = begin.type.points_to()
            holder = address_of(operand)
            return Span(
                holder, begin.offset, end.offset, is_count=False, size=element.size
            ), element
    return _rust(operand)


def _rust(operand: Operand) -> tuple[Span, Type] | None:
    """Look into String, Vec, and what is a pointer beside a length."""
    kind = operand.type
    inner = member(kind, "vec")
    base = inner.offset if inner is not None else 0
    kind = inner.type if inner is not None else kind
    length = member(kind, "len") or member(kind, "length")
    wrapped = member(kind, "buf") or member(kind, "data_ptr")
    if length is None or wrapped is None or length.type.size != 8:  # noqa: PLR2004  a usize
        return None
    if member(kind, "head") is not None:
        return None  # a VecDeque, which begins in the middle of its buffer
    found = _first_pointer(wrapped.type)
    if found is None:
        return None
    offset, element = found
    parameters: Sequence[Type] = kind.parameters()
    # Since 1.80 a vector's pointer is one to bytes, and only its parameter tells of what.
    element = parameters[0] if parameters else element
    if not element.size:
        return None
    first = base + wrapped.offset + offset
    second = base + length.offset
    return Span(address_of(operand), first, second, is_count=True, size=element.size), element


def _record(operand: Operand) -> Operand:
    """Look through pointers and references to a record."""
    operand = dereferenced(operand)
    if operand.type.kind is Kind.POINTER and operand.type.points_to().kind is Kind.RECORD:
        return Operand(operand.type.points_to(), where=Stored(bits(operand)))
    return operand


def stored_count(record: Operand) -> nodes.Node | None:
    """Return the number of elements that a map, a set or a deque has among its members."""
    is_rust = record.type.name.startswith(_RUST_COLLECTIONS)
    for path in _RUST_COUNTS if is_rust else _COUNTS:
        found = _path(record.type, path)
        if found is not None:
            return nodes.Load(nodes.plus(address_of(record), found.offset), nodes.Machine.U64)
    return None


def optional_of(kind: Type) -> tuple[Found, Found] | None:
    """Return a std::optional's member that says whether it has a value, and the value."""
    if not kind.name.startswith("std::optional<"):
        return None
    engaged = _path(kind, "_M_payload._M_engaged")
    value = _path(kind, "_M_payload._M_payload._M_value")
    return (engaged, value) if engaged is not None and value is not None else None


def inner_array(operand: Operand) -> Found | None:
    """Return the array inside a `std::array`."""
    return next(
        (found for name in _INNER_ARRAYS if (found := _path(operand.type, name))),
        None,
    )


def count_of(operand: Operand) -> nodes.Node | None:
    """Return how many elements a container or a text has: U64; None for what has no length."""
    operand = dereferenced(operand)
    if operand.type.kind is Kind.ARRAY and operand.type.count is not None:
        if not _is_letter(operand.type.points_to()):
            return nodes.Const(operand.type.count, nodes.Machine.U64)
    elif (held := elements(operand)) is not None:
        return nodes.Count(held[0])
    words = words_of(operand)
    if words is not None:
        return nodes.Length(words)
    record = _record(operand)
    count = stored_count(record)
    if count is not None:
        return count
    array = inner_array(record)
    if array is not None and array.type.count is not None:
        return nodes.Const(array.type.count, nodes.Machine.U64)
    return None
