"""Lists the elements of libstdc++'s and Rust's containers by their memory layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from debugger.backends.frida.dwarf.dynamic import whole
from debugger.backends.frida.dwarf.expressions import Unreadable
from debugger.backends.frida.dwarf.types import Kind, Type
from debugger.backends.frida.dwarf.values import (
    Memory,
    Value,
    inside,
    integer,
    member,
    part,
    pointee,
)

_NODES_MAX: Final = 1_000_000
# A red-black tree of 2**64 nodes is no higher.
_HEIGHT_MAX: Final = 128
# Of a red-black tree's node: colour, parent, left, right; then the value (libstdc++).
_TREE_PARENT, _TREE_LEFT, _TREE_RIGHT, _TREE_NODE = 8, 16, 24, 32


@dataclass(frozen=True, slots=True)
class Text:
    """A value that is a text: where its bytes are, how many, and how many each letter has."""

    address: int
    size: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class Sequence:
    """Elements in an order; `items(start)` yields them from one on."""

    count: int
    items: Callable[[int], Iterator[Value]]


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values; `items(start)` yields pairs from one on."""

    count: int
    items: Callable[[int], Iterator[tuple[Value, Value]]]


@dataclass(frozen=True, slots=True)
class Wrapped:
    """One value with something around it, such as `Box` or `unique_ptr`; None is empty."""

    name: str
    value: Value | None


Shape = Text | Sequence | Mapping | Wrapped


class Strange(Exception):
    """The layout is not the one that is known here."""


def within(value: Value, *names: str) -> Value:
    """Give a member of a member, by their names.

    Raises:
        Strange: There is none.
    """
    for name in names:
        found = member(value, name)
        if found is None:
            raise Strange(name)
        value = found
    return value


def number(value: Value, memory: Memory, *names: str) -> int:
    """Read an unsigned number that is a member of a member."""
    return integer(within(value, *names), memory, is_signed=False)


def _std_string(value: Value, memory: Memory) -> Shape:
    data, length = within(value, "_M_dataplus"), within(value, "_M_string_length")
    count = integer(length, memory, is_signed=False)
    if data.type.is_declared and data.address is not None:
        # clang leaves its type out; it begins with the pointer (libstdc++'s new ABI).
        pointer = Value(length.type, address=data.address)
        return Text(integer(pointer, memory, is_signed=False), count)
    return Text(number(data, memory, "_M_p"), count)


def _std_wide(value: Value, memory: Memory) -> Shape:
    pointer = within(value, "_M_dataplus", "_M_p")
    width, count = pointer.type.target.size, number(value, memory, "_M_string_length")
    if width not in {2, 4}:
        raise Strange("letters")
    return Text(integer(pointer, memory, is_signed=False), count * width, width)


def _std_bits(value: Value, memory: Memory) -> Shape:
    """Find the bits of a `vector<bool>`, which lie in words from the lowest bit on."""
    impl = within(value, "_M_impl")
    start, kind = number(impl, memory, "_M_start", "_M_p"), value.type.plain.arguments[0]
    end, over = (number(impl, memory, "_M_finish", one) for one in ("_M_p", "_M_offset"))
    count = (end - start) * 8 + over
    if count < 0:
        raise Strange("count")
    return Sequence(
        count,
        lambda first: (
            Value(kind, address=start + at // 8, bits=(at % 8, 1)) for at in range(first, count)
        ),
    )


def _std_view(value: Value, memory: Memory) -> Shape:
    return Text(number(value, memory, "_M_str"), number(value, memory, "_M_len"))


def in_row(start: int, count: int, kind: Type) -> Sequence:
    """Give elements that lie one behind the other."""
    if count < 0 or not kind.size:
        raise Strange("count")
    return Sequence(
        count,
        lambda first: (Value(kind, address=start + at * kind.size) for at in range(first, count)),
    )


def _std_vector(value: Value, memory: Memory) -> Shape:
    first = within(value, "_M_impl", "_M_start")
    start = integer(first, memory, is_signed=False)
    end = number(value, memory, "_M_impl", "_M_finish")
    kind = first.type.target
    return in_row(start, (end - start) // (kind.size or 1), kind)


def _std_array(value: Value, _: Memory) -> Shape:
    elements = within(value, "_M_elems")
    count = elements.type.counts[0] if elements.type.counts else 0
    target = elements.type.target
    return Sequence(
        count or 0,
        lambda first: (part(elements, at * target.size, target) for at in range(first, count or 0)),
    )


@dataclass(frozen=True, slots=True)
class _Tree:
    """A red-black tree: `end` is the address of its header, where a walk begins and ends."""

    end: int
    count: int
    memory: Memory

    def nodes(self) -> Iterator[int]:
        node = self._word(self.end + _TREE_LEFT)
        for _ in range(min(self.count, _NODES_MAX)):
            if node in {0, self.end}:
                return
            yield node
            node = self._following(node)

    def _following(self, node: int) -> int:
        right = self._word(node + _TREE_RIGHT)
        if right:
            return self._lowest(right)
        parent = self._word(node + _TREE_PARENT)
        for _ in range(_HEIGHT_MAX):
            if node != self._word(parent + _TREE_RIGHT) or parent == self.end:
                return parent
            node, parent = parent, self._word(parent + _TREE_PARENT)
        raise Unreadable(node)

    def _lowest(self, node: int) -> int:
        for _ in range(_HEIGHT_MAX):
            left = self._word(node + _TREE_LEFT)
            if not left:
                return node
            node = left
        # A tree of memory that was never set, or is set to something else by now.
        raise Unreadable(node)

    def _word(self, address: int) -> int:
        return int.from_bytes(self.memory.at(address, 8), "little")


def _tree(value: Value, memory: Memory) -> _Tree:
    header = within(value, "_M_t", "_M_impl", "_M_header")
    if header.address is None:
        raise Strange("header")
    return _Tree(header.address, number(value, memory, "_M_t", "_M_impl", "_M_node_count"), memory)


def _std_map(value: Value, memory: Memory) -> Shape:
    tree = _tree(value, memory)
    arguments = value.type.plain.arguments
    if len(arguments) < 2:  # noqa: PLR2004 - a key's type and a value's
        raise Strange("arguments")
    key, held = arguments[0], arguments[1]
    offset = _second(key, held)

    def items(first: int) -> Iterator[tuple[Value, Value]]:
        for node in itertools.islice(tree.nodes(), first, None):
            start = node + _TREE_NODE
            yield Value(key, address=start), Value(held, address=start + offset)

    return Mapping(tree.count, items)


def _second(key: Type, held: Type) -> int:
    """Give where a pair's second part begins.

    Raises:
        Strange: The size of a part is not known.
    """
    if key.is_declared or held.is_declared:
        raise Strange("size")
    align = alignment(held)
    return (key.size + align - 1) // align * align


def alignment(kind: Type) -> int:
    """Tell what addresses of a type are multiples of."""
    if kind.variants:
        parts = [one.type for case in kind.variants for one in case.members]
        return max((alignment(one) for one in parts), default=1)
    if kind.counts:
        return alignment(kind.target)
    if kind.members:
        return max(alignment(one.type) for one in kind.members)
    return min(max(kind.size, 1), 16)


def _std_set(value: Value, memory: Memory) -> Shape:
    tree = _tree(value, memory)
    kind = value.type.plain.arguments[0]
    return Sequence(
        tree.count,
        lambda first: (
            Value(kind, address=node + _TREE_NODE)
            for node in itertools.islice(tree.nodes(), first, None)
        ),
    )


def _std_pointer(value: Value, memory: Memory) -> Shape:
    found = next(_pointers(value), None)
    if found is None:
        raise Strange("pointer")
    name = value.type.plain.name.partition("<")[0]
    if not integer(found, memory, is_signed=False):
        return Wrapped(name, None)
    return Wrapped(name, whole(pointee(found, memory), memory))


def _pointers(value: Value) -> Iterator[Value]:
    """Find the pointer in what the library nests: a tuple, whose other part is the deleter."""
    for one in value.type.members:
        if one.type.kind is Kind.POINTER and one.name in {"_M_head_impl", "_M_ptr"}:
            yield inside(value, one)
        elif one.is_base or one.name == "_M_t":
            yield from _pointers(inside(value, one))


def _std_optional(value: Value, memory: Memory) -> Shape:
    payload = within(value, "_M_payload")
    if not number(payload, memory, "_M_engaged"):
        return Wrapped("std::optional", None)
    return Wrapped("std::optional", within(payload, "_M_payload", "_M_value"))


def rust_pointer(value: Value, memory: Memory) -> int:
    """Find the one pointer inside the wrappers that Rust's library puts around it."""
    for _ in range(8):
        if not value.type.members:
            break
        inner = [one for one in value.type.members if one.type.size and one.offset is not None]
        if not inner:
            raise Strange("pointer")
        first = next((one for one in inner if one.name in {"pointer", "ptr", "__0"}), inner[0])
        value = part(value, first.offset or 0, first.type)
    return integer(value, memory, is_signed=False)


def _rust_vec(value: Value, memory: Memory) -> Shape:
    arguments = value.type.plain.arguments
    if not arguments:
        raise Strange("arguments")
    buffer = within(value, "buf")
    inner = member(buffer, "inner")
    start = rust_pointer(within(inner if inner is not None else buffer, "ptr"), memory)
    return in_row(start, number(value, memory, "len"), arguments[0])


def _rust_string(value: Value, memory: Memory) -> Shape:
    found = _rust_vec(within(value, "vec"), memory)
    if not isinstance(found, Sequence):
        raise Strange("vec")
    inner = within(value, "vec", "buf")
    nested = member(inner, "inner")
    start = rust_pointer(within(nested if nested is not None else inner, "ptr"), memory)
    return Text(start, found.count)


def _rust_str(value: Value, memory: Memory) -> Shape:
    return Text(
        number(value, memory, "data_ptr"),
        number(value, memory, "length"),
    )


def _rust_slice(value: Value, memory: Memory) -> Shape:
    pointer = within(value, "data_ptr")
    start = integer(pointer, memory, is_signed=False)
    return in_row(start, number(value, memory, "length"), pointer.type.target)


def _rust_box(value: Value, memory: Memory) -> Shape:
    if not value.type.target.size:
        raise Strange("target")
    return Wrapped("Box", pointee(value, memory))


# How each kind is read, by the name of its type.
READERS: Final[tuple[tuple[str, Callable[[Value, Memory], Shape]], ...]] = (
    (r"std::(__cxx11::)?basic_string<char\b", _std_string),
    (r"std::(__cxx11::)?(string)$", _std_string),
    (r"std::(__cxx11::)?basic_string<(wchar_t|char16_t|char32_t)\b", _std_wide),
    (r"std::vector<bool\b", _std_bits),
    (r"std::basic_string_view<char\b", _std_view),
    (r"std::(__debug::)?vector<(?!bool\b)", _std_vector),
    (r"std::array<", _std_array),
    (r"std::(multi)?map<", _std_map),
    (r"std::(multi)?set<", _std_set),
    (r"std::(unique_ptr|shared_ptr)<", _std_pointer),
    (r"std::optional<", _std_optional),
    (r"alloc::vec::Vec<", _rust_vec),
    (r"alloc::string::String$", _rust_string),
    (r"&(mut )?str$", _rust_str),
    (r"&(mut )?\[.*\]$", _rust_slice),
    (r"alloc::boxed::Box<", _rust_box),
)
