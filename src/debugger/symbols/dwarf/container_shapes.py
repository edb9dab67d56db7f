"""Lists the elements of libstdc++'s and Rust's containers by their memory layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from debugger.symbols.dwarf.debug_types import DebugType, TypeKind
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    complete_object,
    find_member,
    member_value,
    read_integer,
    read_pointee,
    value_part,
)

_NODES_MAX: Final = 1_000_000
# A red-black tree of 2**64 nodes is no higher.
_HEIGHT_MAX: Final = 128
# Of a red-black tree's node: colour, parent, left, right; then the value (libstdc++).
_TREE_PARENT, _TREE_LEFT, _TREE_RIGHT, _TREE_NODE = 8, 16, 24, 32


@dataclass(frozen=True, slots=True)
class TextShape:
    """Describes a text: the address of its bytes, their number, and the width of a letter."""

    address: int
    size: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class SequenceShape:
    """Describes elements in an order; `items(start)` yields them from one on."""

    count: int
    items: Callable[[int], Iterator[TypedValue]]


@dataclass(frozen=True, slots=True)
class MappingShape:
    """Describes keys and values; `items(start)` yields pairs from one on."""

    count: int
    items: Callable[[int], Iterator[tuple[TypedValue, TypedValue]]]


@dataclass(frozen=True, slots=True)
class WrapperShape:
    """Describes one value in a wrapper, such as `Box` or `unique_ptr`; None is empty."""

    name: str
    value: TypedValue | None


Shape = TextShape | SequenceShape | MappingShape | WrapperShape


class UnknownLayout(Exception):
    """Says that a container's layout is not the known one."""


def member_path(value: TypedValue, *names: str) -> TypedValue:
    """Return a member of a member, by their names.

    Raises:
        UnknownLayout: There is none.
    """
    for name in names:
        found = find_member(value, name)
        if found is None:
            raise UnknownLayout(name)
        value = found
    return value


def read_number(value: TypedValue, memory: ValueMemory, *names: str) -> int:
    """Read an unsigned number that is a member of a member."""
    return read_integer(member_path(value, *names), memory, is_signed=False)


def _std_string(value: TypedValue, memory: ValueMemory) -> Shape:
    data, length = member_path(value, "_M_dataplus"), member_path(value, "_M_string_length")
    count = read_integer(length, memory, is_signed=False)
    if data.type.is_declared and data.address is not None:
        # clang leaves its type out; it begins with the pointer (libstdc++'s new ABI).
        pointer = TypedValue(length.type, address=data.address)
        return TextShape(read_integer(pointer, memory, is_signed=False), count)
    return TextShape(read_number(data, memory, "_M_p"), count)


def _std_wide(value: TypedValue, memory: ValueMemory) -> Shape:
    pointer = member_path(value, "_M_dataplus", "_M_p")
    width, count = pointer.type.target_type.size, read_number(value, memory, "_M_string_length")
    if width not in {2, 4}:
        raise UnknownLayout("letters")
    return TextShape(read_integer(pointer, memory, is_signed=False), count * width, width)


def _std_bits(value: TypedValue, memory: ValueMemory) -> Shape:
    """Find the bits of a `vector<bool>`, which lie in words from the lowest bit on."""
    impl = member_path(value, "_M_impl")
    start, kind = (
        read_number(impl, memory, "_M_start", "_M_p"),
        value.type.without_names.template_arguments[0],
    )
    # The end is a word and a bit in it.
    end, over = (read_number(impl, memory, "_M_finish", one) for one in ("_M_p", "_M_offset"))
    count = (end - start) * 8 + over
    if count < 0:
        raise UnknownLayout("count")
    return SequenceShape(
        count,
        lambda first: (
            TypedValue(kind, address=start + at // 8, bits=(at % 8, 1))
            for at in range(first, count)
        ),
    )


def _std_view(value: TypedValue, memory: ValueMemory) -> Shape:
    return TextShape(read_number(value, memory, "_M_str"), read_number(value, memory, "_M_len"))


def in_row(start: int, count: int, kind: DebugType) -> SequenceShape:
    """Return elements that lie one behind the other."""
    if count < 0 or not kind.size:
        raise UnknownLayout("count")
    return SequenceShape(
        count,
        lambda first: (
            TypedValue(kind, address=start + at * kind.size) for at in range(first, count)
        ),
    )


def _std_vector(value: TypedValue, memory: ValueMemory) -> Shape:
    first = member_path(value, "_M_impl", "_M_start")
    start = read_integer(first, memory, is_signed=False)
    end = read_number(value, memory, "_M_impl", "_M_finish")
    kind = first.type.target_type
    return in_row(start, (end - start) // (kind.size or 1), kind)


def _std_array(value: TypedValue, _: ValueMemory) -> Shape:
    elements = member_path(value, "_M_elems")
    count = elements.type.dimension_counts[0] if elements.type.dimension_counts else 0
    target = elements.type.target_type
    return SequenceShape(
        count or 0,
        lambda first: (
            value_part(elements, at * target.size, target) for at in range(first, count or 0)
        ),
    )


@dataclass(frozen=True, slots=True)
class _RedBlackTree:
    """Walks a red-black tree; `end` is the address of its header, where a walk begins and ends."""

    end: int
    count: int
    memory: ValueMemory

    def walk_nodes(self) -> Iterator[int]:
        node = self._read_word(self.end + _TREE_LEFT)
        for _ in range(min(self.count, _NODES_MAX)):
            if node in {0, self.end}:
                return
            yield node
            node = self._next_node(node)

    def _next_node(self, node: int) -> int:
        # std::_Rb_tree_increment: the leftmost node of the right subtree, or the first
        # ancestor of which this is in the left one.
        right = self._read_word(node + _TREE_RIGHT)
        if right:
            return self._leftmost_node(right)
        parent = self._read_word(node + _TREE_PARENT)
        for _ in range(_HEIGHT_MAX):
            if node != self._read_word(parent + _TREE_RIGHT) or parent == self.end:
                return parent
            node, parent = parent, self._read_word(parent + _TREE_PARENT)
        raise UnreadableMemory(node)

    def _leftmost_node(self, node: int) -> int:
        for _ in range(_HEIGHT_MAX):
            left_child = self._read_word(node + _TREE_LEFT)
            if not left_child:
                return node
            node = left_child
        # A tree of memory that was never set, or is set to something else by now.
        raise UnreadableMemory(node)

    def _read_word(self, address: int) -> int:
        return int.from_bytes(self.memory.read_at(address, 8), "little")


def _find_tree(value: TypedValue, memory: ValueMemory) -> _RedBlackTree:
    header = member_path(value, "_M_t", "_M_impl", "_M_header")
    if header.address is None:
        raise UnknownLayout("header")
    return _RedBlackTree(
        header.address, read_number(value, memory, "_M_t", "_M_impl", "_M_node_count"), memory
    )


def _std_map(value: TypedValue, memory: ValueMemory) -> Shape:
    tree = _find_tree(value, memory)
    arguments = value.type.without_names.template_arguments
    if len(arguments) < 2:  # noqa: PLR2004 - a key's type and a value's
        raise UnknownLayout("arguments")
    key, current = arguments[0], arguments[1]
    offset = _pair_second(key, current)

    def items(first: int) -> Iterator[tuple[TypedValue, TypedValue]]:
        for node in itertools.islice(tree.walk_nodes(), first, None):
            start = node + _TREE_NODE
            yield TypedValue(key, address=start), TypedValue(current, address=start + offset)

    return MappingShape(tree.count, items)


def _pair_second(key: DebugType, value: DebugType) -> int:
    """Return where a pair's second part begins.

    Raises:
        UnknownLayout: The size of a part is not known.
    """
    if key.is_declared or value.is_declared:
        raise UnknownLayout("size")
    align = type_alignment(value)
    return (key.size + align - 1) // align * align


def type_alignment(kind: DebugType) -> int:
    """Return the alignment of a type, by its members: the debug information lacks most of them."""
    if kind.variants:
        parts = [one.type for case in kind.variants for one in case.members]
        return max((type_alignment(one) for one in parts), default=1)
    if kind.dimension_counts:
        return type_alignment(kind.target_type)
    if kind.members:
        return max(type_alignment(one.type) for one in kind.members)
    return min(max(kind.size, 1), 16)


def _std_set(value: TypedValue, memory: ValueMemory) -> Shape:
    tree = _find_tree(value, memory)
    kind = value.type.without_names.template_arguments[0]
    return SequenceShape(
        tree.count,
        lambda first: (
            TypedValue(kind, address=node + _TREE_NODE)
            for node in itertools.islice(tree.walk_nodes(), first, None)
        ),
    )


def _std_pointer(value: TypedValue, memory: ValueMemory) -> Shape:
    found = next(_find_pointers(value), None)
    if found is None:
        raise UnknownLayout("pointer")
    name = value.type.without_names.name.partition("<")[0]
    if not read_integer(found, memory, is_signed=False):
        return WrapperShape(name, None)
    return WrapperShape(name, complete_object(read_pointee(found, memory), memory))


def _find_pointers(value: TypedValue) -> Iterator[TypedValue]:
    """Find the pointer in the library's nesting: a tuple, whose other part is the deleter."""
    for one in value.type.members:
        if one.type.kind is TypeKind.POINTER and one.name in {"_M_head_impl", "_M_ptr"}:
            yield member_value(value, one)
        elif one.is_base or one.name == "_M_t":
            yield from _find_pointers(member_value(value, one))


def _std_optional(value: TypedValue, memory: ValueMemory) -> Shape:
    payload = member_path(value, "_M_payload")
    if not read_number(payload, memory, "_M_engaged"):
        return WrapperShape("std::optional", None)
    return WrapperShape("std::optional", member_path(payload, "_M_payload", "_M_value"))


def rust_pointer(value: TypedValue, memory: ValueMemory) -> int:
    """Find the one pointer within the wrappers that Rust's library puts around it."""
    for _ in range(8):
        if not value.type.members:
            break
        inner = [one for one in value.type.members if one.type.size and one.offset is not None]
        if not inner:
            raise UnknownLayout("pointer")
        first = next((one for one in inner if one.name in {"pointer", "ptr", "__0"}), inner[0])
        value = value_part(value, first.offset or 0, first.type)
    return read_integer(value, memory, is_signed=False)


def _rust_vec(value: TypedValue, memory: ValueMemory) -> Shape:
    arguments = value.type.without_names.template_arguments
    if not arguments:
        raise UnknownLayout("arguments")
    buffer = member_path(value, "buf")
    inner = find_member(buffer, "inner")
    start = rust_pointer(member_path(inner if inner is not None else buffer, "ptr"), memory)
    return in_row(start, read_number(value, memory, "len"), arguments[0])


def _rust_string(value: TypedValue, memory: ValueMemory) -> Shape:
    found = _rust_vec(member_path(value, "vec"), memory)
    if not isinstance(found, SequenceShape):
        raise UnknownLayout("vec")
    inner = member_path(value, "vec", "buf")
    nested = find_member(inner, "inner")
    start = rust_pointer(member_path(nested if nested is not None else inner, "ptr"), memory)
    return TextShape(start, found.count)


def _rust_str(value: TypedValue, memory: ValueMemory) -> Shape:
    return TextShape(
        read_number(value, memory, "data_ptr"),
        read_number(value, memory, "length"),
    )


def _rust_slice(value: TypedValue, memory: ValueMemory) -> Shape:
    pointer = member_path(value, "data_ptr")
    start = read_integer(pointer, memory, is_signed=False)
    return in_row(start, read_number(value, memory, "length"), pointer.type.target_type)


def _rust_box(value: TypedValue, memory: ValueMemory) -> Shape:
    if not value.type.target_type.size:
        raise UnknownLayout("target")
    return WrapperShape("Box", read_pointee(value, memory))


# How each kind is read, by the name of its type.
READERS: Final[tuple[tuple[str, Callable[[TypedValue, ValueMemory], Shape]], ...]] = (
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
