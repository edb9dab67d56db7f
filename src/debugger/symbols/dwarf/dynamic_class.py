"""Finds an object's dynamic class by its table of virtual functions."""

from __future__ import annotations

from typing import Final

from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.location_evaluation import MASK, UnreadableMemory
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    member_value,
    read_integer,
)

_VTABLE: Final = "vtable for "
_POINTER: Final = "_vptr"
_DEEP: Final = 8
# The words before the functions of a table: the distance to the whole object, and its type.
_TO_TOP: Final = 16


def complete_object(value: TypedValue, memory: ValueMemory) -> TypedValue:
    """Give the whole object that one of a class with virtual functions is a part of."""
    if value.type.kind is not TypeKind.STRUCT or value.address is None or value.type.variants:
        return value
    try:
        table = _vtable_address(value, memory)
        name = memory.symbol(table) if table else None
        if name is None or not name.startswith(_VTABLE):
            return value
        distance = int.from_bytes(memory.read_at(table - _TO_TOP, 8), "little", signed=True)
    except UnreadableMemory:
        return value
    said = name.removeprefix(_VTABLE)
    if said == value.type.without_names.name:
        return value
    kind = memory.type_named(said, table)
    if kind is None:
        return value
    return TypedValue(kind, address=(value.address + distance) & MASK)


def _vtable_address(value: TypedValue, memory: ValueMemory, depth: int = 0) -> int:
    for one in value.type.members if depth < _DEEP else ():
        if one.offset is None:
            continue
        if one.name.startswith(_POINTER):
            return read_integer(member_value(value, one), memory, is_signed=False)
        if one.is_base:
            found = _vtable_address(member_value(value, one), memory, depth + 1)
            if found:
                return found
    return 0
