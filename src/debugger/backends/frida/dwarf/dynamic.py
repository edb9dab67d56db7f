"""Finds an object's dynamic class by its table of virtual functions."""

from __future__ import annotations

from typing import Final

from debugger.backends.frida.dwarf.expressions import MASK, Unreadable
from debugger.backends.frida.dwarf.types import Kind
from debugger.backends.frida.dwarf.values import Memory, Value, inside, integer

_VTABLE: Final = "vtable for "
_POINTER: Final = "_vptr"
_DEEP: Final = 8
# The words before the functions of a table: the distance to the whole object, and its type.
_TO_TOP: Final = 16


def whole(value: Value, memory: Memory) -> Value:
    """Give the whole object that one of a class with virtual functions is a part of."""
    if value.type.kind is not Kind.STRUCT or value.address is None or value.type.variants:
        return value
    try:
        table = _table(value, memory)
        name = memory.symbol(table) if table else None
        if name is None or not name.startswith(_VTABLE):
            return value
        distance = int.from_bytes(memory.at(table - _TO_TOP, 8), "little", signed=True)
    except Unreadable:
        return value
    said = name.removeprefix(_VTABLE)
    if said == value.type.plain.name:
        return value
    kind = memory.type_named(said, table)
    if kind is None:
        return value
    return Value(kind, address=(value.address + distance) & MASK)


def _table(value: Value, memory: Memory, depth: int = 0) -> int:
    for one in value.type.members if depth < _DEEP else ():
        if one.offset is None:
            continue
        if one.name.startswith(_POINTER):
            return integer(inside(value, one), memory, is_signed=False)
        if one.is_base:
            found = _table(inside(value, one), memory, depth + 1)
            if found:
                return found
    return 0
