"""Lists the elements of the less common containers of libstdc++ and of Rust's library."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final

from debugger.symbols.dwarf import container_shapes
from debugger.symbols.dwarf.container_shapes import (
    MappingShape,
    SequenceShape,
    Shape,
    UnknownLayout,
    WrapperShape,
    member_path,
    read_number,
    rust_pointer,
    type_alignment,
)
from debugger.symbols.dwarf.debug_types import DebugType, TypeKind
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    find_member,
    member_value,
    read_pointee,
    value_part,
)

_WORD: Final = 8
_WALK_MAX: Final = 1_000_000
# _GLIBCXX_DEQUE_BUF_SIZE: a block of a deque has so many bytes, or one element.
_DEQUE_BYTES: Final = 512
_FULL_MAX: Final = 0x80  # a control byte below it is of a bucket that is in use (hashbrown)


def find_shape(value: TypedValue, memory: ValueMemory) -> Shape | None:
    """Return the shape of a value, if its type is one of the known containers.

    Raises:
        UnreadableMemory: The container itself cannot be read.
    """
    name = value.type.without_names.name
    for pattern, read in _READERS:
        if pattern.match(name):
            try:
                return read(value, memory)
            # Another version of the library: the members are then shown as they are.
            except UnknownLayout:
                return None
    return None


def _template_argument(value: TypedValue, at: int) -> DebugType:
    found = value.type.without_names.template_arguments
    if at >= len(found):
        raise UnknownLayout("arguments")
    return found[at]


def _next_aligned(offset: int, kind: DebugType) -> int:
    """Return where a value lies that comes behind so many bytes of a node."""
    align = type_alignment(kind)
    return (offset + align - 1) // align * align


def _walk_list(first: int, end: int, memory: ValueMemory) -> Iterator[int]:
    """Yield the nodes of a list, each of which begins with the address of the next."""
    node = first
    for _ in range(_WALK_MAX):
        if node in {0, end}:
            return
        yield node
        node = int.from_bytes(memory.read_at(node, _WORD), "little")


def _node_sequence(
    kind: DebugType, count: int, offset: int, walk: Callable[[], Iterator[int]]
) -> SequenceShape:
    at = _next_aligned(offset, kind)
    return SequenceShape(
        count,
        lambda first: (
            TypedValue(kind, address=node + at) for node in itertools.islice(walk(), first, count)
        ),
    )


def _list_shape(value: TypedValue, memory: ValueMemory) -> Shape:
    head = member_path(value, "_M_impl", "_M_node")
    end, first = head.address or 0, read_number(head, memory, "_M_next")
    count = read_number(head, memory, "_M_size")
    return _node_sequence(
        _template_argument(value, 0), count, 2 * _WORD, lambda: _walk_list(first, end, memory)
    )


def _forward_list(value: TypedValue, memory: ValueMemory) -> Shape:
    first = read_number(value, memory, "_M_impl", "_M_head", "_M_next")

    def walk() -> Iterator[int]:
        return _walk_list(first, 0, memory)

    return _node_sequence(_template_argument(value, 0), sum(1 for _ in walk()), _WORD, walk)


def _deque_shape(value: TypedValue, memory: ValueMemory) -> Shape:
    kind = _template_argument(value, 0)
    start, finish = (
        member_path(value, "_M_impl", "_M_start"),
        member_path(value, "_M_impl", "_M_finish"),
    )
    size = kind.size or 1
    each = max(_DEQUE_BYTES // size, 1)
    table, last = read_number(start, memory, "_M_node"), read_number(finish, memory, "_M_node")
    skipped = (
        read_number(start, memory, "_M_cur") - read_number(start, memory, "_M_first")
    ) // size
    over = (read_number(finish, memory, "_M_cur") - read_number(finish, memory, "_M_first")) // size
    # The map of blocks, and two positions within the first and the last of them.
    count = (last - table) // _WORD * each + over - skipped
    if count < 0:
        raise UnknownLayout("count")

    def items(first: int) -> Iterator[TypedValue]:
        for at in range(first + skipped, count + skipped):
            place = table + at // each * _WORD
            block = int.from_bytes(memory.read_at(place, _WORD), "little")
            yield TypedValue(kind, address=block + at % each * size)

    return SequenceShape(count, items)


def _hashed_set(value: TypedValue, memory: ValueMemory) -> Shape:
    first = read_number(value, memory, "_M_h", "_M_before_begin", "_M_nxt")
    count = read_number(value, memory, "_M_h", "_M_element_count")
    return _node_sequence(
        _template_argument(value, 0), count, _WORD, lambda: _walk_list(first, 0, memory)
    )


def _hashed_map(value: TypedValue, memory: ValueMemory) -> Shape:
    key, value_type = _template_argument(value, 0), _template_argument(value, 1)
    first = read_number(value, memory, "_M_h", "_M_before_begin", "_M_nxt")
    count = read_number(value, memory, "_M_h", "_M_element_count")
    # The pair is aligned as its stricter part, and lies behind the node's next pointer.
    align = max(type_alignment(key), type_alignment(value_type))
    at = (_WORD + align - 1) // align * align
    second = at + _next_aligned(key.size, value_type)

    def items(start: int) -> Iterator[tuple[TypedValue, TypedValue]]:
        for node in itertools.islice(_walk_list(first, 0, memory), start, count):
            yield TypedValue(key, address=node + at), TypedValue(value_type, address=node + second)

    return MappingShape(count, items)


def _variant_shape(value: TypedValue, memory: ValueMemory) -> Shape:
    index = read_number(value, memory, "_M_index")
    kinds = value.type.without_names.template_arguments
    storage = member_path(value, "_M_u")
    if index >= len(kinds):
        return WrapperShape("std::variant", None)
    return WrapperShape("std::variant", value_part(storage, 0, kinds[index]))


def _tuple_shape(value: TypedValue, _: ValueMemory) -> Shape:
    found = list(_tuple_heads(value))
    return SequenceShape(len(found), lambda first: iter(found[first:]))


def _tuple_heads(value: TypedValue) -> Iterator[TypedValue]:
    """Find a tuple's parts: each level has one, and the rest as its base."""
    own, rest = None, None
    for one in value.type.members:
        name = one.type.without_names.name
        if one.is_base and name.startswith("std::_Tuple_impl<"):
            rest = member_value(value, one)
        elif one.is_base and name.startswith("std::_Head_base<"):
            own = member_value(value, one)
    if own is not None:
        head = find_member(own, "_M_head_impl")
        if head is not None:
            yield head
    if rest is not None:
        yield from _tuple_heads(rest)


def _rust_counted(value: TypedValue, memory: ValueMemory) -> Shape:
    pointer = member_path(value, "ptr", "pointer")
    if pointer.type.kind is not TypeKind.POINTER:
        raise UnknownLayout("pointer")
    box = read_pointee(pointer, memory)
    inner = find_member(box, "value") or find_member(box, "data")
    if inner is None:
        raise UnknownLayout("value")
    return WrapperShape("Rc" if "::rc::" in value.type.without_names.name else "Arc", inner)


def _rust_deque(value: TypedValue, memory: ValueMemory) -> Shape:
    kind = _template_argument(value, 0)
    buffer = member_path(value, "buf")
    nested = find_member(buffer, "inner")
    room = nested if nested is not None else buffer
    start = rust_pointer(member_path(room, "ptr"), memory)
    capacity = rust_pointer(member_path(room, "cap"), memory)
    head, count = read_number(value, memory, "head"), read_number(value, memory, "len")

    def items(first: int) -> Iterator[TypedValue]:
        for at in range(first, count):
            yield TypedValue(kind, address=start + (head + at) % (capacity or 1) * kind.size)

    return SequenceShape(count, items)


def _hash_buckets(
    outer: TypedValue, memory: ValueMemory
) -> tuple[DebugType, int, Callable[[], Iterator[TypedValue]]]:
    """Find the entries of a hash table: they lie below the bytes that say which are in use."""
    # hashbrown, Rust's table since 1.36: control bytes upwards from `ctrl`, entries downwards
    # from it.
    table = member_path(outer, "table")
    kind = _template_argument(table, 0)
    inner = member_path(table, "table")
    mask, count = read_number(inner, memory, "bucket_mask"), read_number(inner, memory, "items")
    control = rust_pointer(member_path(inner, "ctrl"), memory)

    def entries() -> Iterator[TypedValue]:
        remaining = count
        for at in range(min(mask + 1, _WALK_MAX)):
            if not remaining:
                return
            if memory.read_at(control + at, 1)[0] < _FULL_MAX:
                remaining -= 1
                yield TypedValue(kind, address=control - (at + 1) * kind.size)

    return kind, count, entries


def _rust_map(value: TypedValue, memory: ValueMemory) -> Shape:
    _, count, entries = _hash_buckets(member_path(value, "base"), memory)

    def items(first: int) -> Iterator[tuple[TypedValue, TypedValue]]:
        for one in itertools.islice(entries(), first, None):
            yield member_path(one, "__0"), member_path(one, "__1")

    return MappingShape(count, items)


def _rust_set(value: TypedValue, memory: ValueMemory) -> Shape:
    _, count, entries = _hash_buckets(member_path(value, "base", "map"), memory)
    return SequenceShape(
        count,
        lambda first: (member_path(one, "__0") for one in itertools.islice(entries(), first, None)),
    )


_READERS: Final = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        *container_shapes.READERS,
        (r"std::(__cxx11::)?list<", _list_shape),
        (r"std::forward_list<", _forward_list),
        (r"std::deque<", _deque_shape),
        (r"std::unordered_(multi)?map<", _hashed_map),
        (r"std::unordered_(multi)?set<", _hashed_set),
        (r"std::variant<", _variant_shape),
        (r"std::tuple<", _tuple_shape),
        (r"alloc::(rc::Rc|sync::Arc)<", _rust_counted),
        (r"alloc::collections::vec_deque::VecDeque<", _rust_deque),
        (r"std::collections::hash::map::HashMap<", _rust_map),
        (r"std::collections::hash::set::HashSet<", _rust_set),
    )
)
