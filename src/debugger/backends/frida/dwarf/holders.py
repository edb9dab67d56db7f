"""Lists the elements of the less common containers of libstdc++ and of Rust's library."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Final

from debugger.backends.frida.dwarf import containers
from debugger.backends.frida.dwarf.containers import (
    Mapping,
    Sequence,
    Shape,
    Strange,
    Wrapped,
    alignment,
    number,
    rust_pointer,
    within,
)
from debugger.backends.frida.dwarf.types import Kind, Type
from debugger.backends.frida.dwarf.values import Memory, Value, inside, member, part, pointee

_WORD: Final = 8
_WALK_MAX: Final = 1_000_000
_DEQUE_BYTES: Final = 512
_FULL_MAX: Final = 0x80  # a control byte below it is of a bucket that is in use (hashbrown)


def shape(value: Value, memory: Memory) -> Shape | None:
    """Say what a value holds, if it is one of the known containers.

    Raises:
        Unreadable: The container itself cannot be read.
    """
    name = value.type.plain.name
    for pattern, read in _READERS:
        if pattern.match(name):
            try:
                return read(value, memory)
            except Strange:
                return None
    return None


def _argument(value: Value, at: int) -> Type:
    found = value.type.plain.arguments
    if at >= len(found):
        raise Strange("arguments")
    return found[at]


def _behind(offset: int, kind: Type) -> int:
    """Give where a value lies that comes behind so many bytes of a node."""
    align = alignment(kind)
    return (offset + align - 1) // align * align


def _linked(first: int, end: int, memory: Memory) -> Iterator[int]:
    """Yield the nodes of a list, each of which begins with the address of the next."""
    node = first
    for _ in range(_WALK_MAX):
        if node in {0, end}:
            return
        yield node
        node = int.from_bytes(memory.at(node, _WORD), "little")


def _nodes(kind: Type, count: int, offset: int, walk: Callable[[], Iterator[int]]) -> Sequence:
    at = _behind(offset, kind)
    return Sequence(
        count,
        lambda first: (
            Value(kind, address=node + at) for node in itertools.islice(walk(), first, count)
        ),
    )


def _list(value: Value, memory: Memory) -> Shape:
    head = within(value, "_M_impl", "_M_node")
    end, first = head.address or 0, number(head, memory, "_M_next")
    count = number(head, memory, "_M_size")
    return _nodes(_argument(value, 0), count, 2 * _WORD, lambda: _linked(first, end, memory))


def _forward_list(value: Value, memory: Memory) -> Shape:
    first = number(value, memory, "_M_impl", "_M_head", "_M_next")

    def walk() -> Iterator[int]:
        return _linked(first, 0, memory)

    return _nodes(_argument(value, 0), sum(1 for _ in walk()), _WORD, walk)


def _deque(value: Value, memory: Memory) -> Shape:
    kind = _argument(value, 0)
    start, finish = within(value, "_M_impl", "_M_start"), within(value, "_M_impl", "_M_finish")
    size = kind.size or 1
    each = max(_DEQUE_BYTES // size, 1)
    table, last = number(start, memory, "_M_node"), number(finish, memory, "_M_node")
    skipped = (number(start, memory, "_M_cur") - number(start, memory, "_M_first")) // size
    over = (number(finish, memory, "_M_cur") - number(finish, memory, "_M_first")) // size
    count = (last - table) // _WORD * each + over - skipped
    if count < 0:
        raise Strange("count")

    def items(first: int) -> Iterator[Value]:
        for at in range(first + skipped, count + skipped):
            place = table + at // each * _WORD
            block = int.from_bytes(memory.at(place, _WORD), "little")
            yield Value(kind, address=block + at % each * size)

    return Sequence(count, items)


def _hashed_set(value: Value, memory: Memory) -> Shape:
    first = number(value, memory, "_M_h", "_M_before_begin", "_M_nxt")
    count = number(value, memory, "_M_h", "_M_element_count")
    return _nodes(_argument(value, 0), count, _WORD, lambda: _linked(first, 0, memory))


def _hashed_map(value: Value, memory: Memory) -> Shape:
    key, held = _argument(value, 0), _argument(value, 1)
    first = number(value, memory, "_M_h", "_M_before_begin", "_M_nxt")
    count = number(value, memory, "_M_h", "_M_element_count")
    align = max(alignment(key), alignment(held))
    at = (_WORD + align - 1) // align * align
    second = at + _behind(key.size, held)

    def items(start: int) -> Iterator[tuple[Value, Value]]:
        for node in itertools.islice(_linked(first, 0, memory), start, count):
            yield Value(key, address=node + at), Value(held, address=node + second)

    return Mapping(count, items)


def _variant(value: Value, memory: Memory) -> Shape:
    index = number(value, memory, "_M_index")
    kinds = value.type.plain.arguments
    storage = within(value, "_M_u")
    if index >= len(kinds):
        return Wrapped("std::variant", None)
    return Wrapped("std::variant", part(storage, 0, kinds[index]))


def _tuple(value: Value, _: Memory) -> Shape:
    found = list(_heads(value))
    return Sequence(len(found), lambda first: iter(found[first:]))


def _heads(value: Value) -> Iterator[Value]:
    """Find a tuple's parts: each level has one, and the rest as its base."""
    own, rest = None, None
    for one in value.type.members:
        name = one.type.plain.name
        if one.is_base and name.startswith("std::_Tuple_impl<"):
            rest = inside(value, one)
        elif one.is_base and name.startswith("std::_Head_base<"):
            own = inside(value, one)
    if own is not None:
        head = member(own, "_M_head_impl")
        if head is not None:
            yield head
    if rest is not None:
        yield from _heads(rest)


def _rust_counted(value: Value, memory: Memory) -> Shape:
    pointer = within(value, "ptr", "pointer")
    if pointer.type.kind is not Kind.POINTER:
        raise Strange("pointer")
    box = pointee(pointer, memory)
    held = member(box, "value") or member(box, "data")
    if held is None:
        raise Strange("value")
    return Wrapped("Rc" if "::rc::" in value.type.plain.name else "Arc", held)


def _rust_deque(value: Value, memory: Memory) -> Shape:
    kind = _argument(value, 0)
    buffer = within(value, "buf")
    nested = member(buffer, "inner")
    room = nested if nested is not None else buffer
    start = rust_pointer(within(room, "ptr"), memory)
    capacity = rust_pointer(within(room, "cap"), memory)
    head, count = number(value, memory, "head"), number(value, memory, "len")

    def items(first: int) -> Iterator[Value]:
        for at in range(first, count):
            yield Value(kind, address=start + (head + at) % (capacity or 1) * kind.size)

    return Sequence(count, items)


def _buckets(outer: Value, memory: Memory) -> tuple[Type, int, Callable[[], Iterator[Value]]]:
    """Find the entries of a hash table: they lie below the bytes that say which are in use."""
    table = within(outer, "table")
    kind = _argument(table, 0)
    inner = within(table, "table")
    mask, count = number(inner, memory, "bucket_mask"), number(inner, memory, "items")
    control = rust_pointer(within(inner, "ctrl"), memory)

    def entries() -> Iterator[Value]:
        left = count
        for at in range(min(mask + 1, _WALK_MAX)):
            if not left:
                return
            if memory.at(control + at, 1)[0] < _FULL_MAX:
                left -= 1
                yield Value(kind, address=control - (at + 1) * kind.size)

    return kind, count, entries


def _rust_map(value: Value, memory: Memory) -> Shape:
    _, count, entries = _buckets(within(value, "base"), memory)

    def items(first: int) -> Iterator[tuple[Value, Value]]:
        for one in itertools.islice(entries(), first, None):
            yield within(one, "__0"), within(one, "__1")

    return Mapping(count, items)


def _rust_set(value: Value, memory: Memory) -> Shape:
    _, count, entries = _buckets(within(value, "base", "map"), memory)
    return Sequence(
        count,
        lambda first: (within(one, "__0") for one in itertools.islice(entries(), first, None)),
    )


_READERS: Final = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        *containers.READERS,
        (r"std::(__cxx11::)?list<", _list),
        (r"std::forward_list<", _forward_list),
        (r"std::deque<", _deque),
        (r"std::unordered_(multi)?map<", _hashed_map),
        (r"std::unordered_(multi)?set<", _hashed_set),
        (r"std::variant<", _variant),
        (r"std::tuple<", _tuple),
        (r"alloc::(rc::Rc|sync::Arc)<", _rust_counted),
        (r"alloc::collections::vec_deque::VecDeque<", _rust_deque),
        (r"std::collections::hash::map::HashMap<", _rust_map),
        (r"std::collections::hash::set::HashSet<", _rust_set),
    )
)
