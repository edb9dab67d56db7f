"""Finds the element of a container by its key or number, where no address can be calculated."""

from __future__ import annotations

import itertools
from typing import Final

from debugger.backends.inprocess.expressions.declared_names import type_of
from debugger.backends.inprocess.expressions.name_scope import (
    ComputedValue,
    ScopeVariable,
    StoredValue,
)
from debugger.backends.inprocess.expressions.nodes import ConstantNode, MachineType
from debugger.backends.inprocess.expressions.syntax_tree import expression_error
from debugger.symbols.dwarf import container_shapes, less_common_shapes, value_format
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    read_floating,
    read_integer,
)

_WALK_MAX: Final = 100_000
_SHOWN_KEYS: Final = 5


def walkable_shape(
    value: TypedValue, memory: ValueMemory
) -> container_shapes.SequenceShape | container_shapes.MappingShape | None:
    """Return the shape of a map, or of a sequence whose elements do not lie in one row."""
    shape = less_common_shapes.find_shape(value, memory)
    if isinstance(shape, container_shapes.MappingShape):
        return shape
    name = value.type.without_names.name
    is_walked = name.startswith(("std::deque<", "std::__cxx11::list<", "std::vector<bool"))
    return shape if isinstance(shape, container_shapes.SequenceShape) and is_walked else None


def subscript_element(
    shape: container_shapes.SequenceShape | container_shapes.MappingShape,
    key: object,
    name: str,
    memory: ValueMemory,
) -> ScopeVariable:
    """Return what a subscript means.

    Raises:
        DebuggerError: EVALUATION_FAILED where there is no such element.
    """
    if isinstance(shape, container_shapes.MappingShape):
        return _element_variable(_value_of(shape, key, memory), memory)
    if not isinstance(key, int):
        raise expression_error(f"an index of {name} is a whole number")
    found = next(shape.items(key), None) if 0 <= key < shape.count else None
    if found is None:
        raise expression_error(f"there is no element {key}: the size is {shape.count}")
    return _element_variable(found, memory)


def _value_of(shape: container_shapes.MappingShape, key: object, memory: ValueMemory) -> TypedValue:
    names: list[str] = []
    for one, value in itertools.islice(shape.items(0), _WALK_MAX):
        if _is_key(one, key, memory):
            return value
        if len(names) < _SHOWN_KEYS:
            names.append(value_format.format_value(one, memory))
    more = ", …" if shape.count > len(names) else ""
    if shape.count > _WALK_MAX:
        raise expression_error(f"no such key among the first {_WALK_MAX:,} of {shape.count:,}")
    raise expression_error(
        f"there is no such key; it has {', '.join(names) + more if names else 'none'}"
    )


def _is_key(one: TypedValue, key: object, memory: ValueMemory) -> bool:
    if isinstance(key, str):
        shape = less_common_shapes.find_shape(one, memory)
        if isinstance(shape, container_shapes.TextShape):
            return memory.read_at(shape.address, shape.size) == key.encode()
        return value_format.format_value(one, memory) == value_format.quote_bytes(key.encode())
    kind = one.type.kind
    if kind is TypeKind.FLOAT:
        return read_floating(memory.bytes_of(one)) == key
    numbers = {TypeKind.INTEGER, TypeKind.CHARACTER, TypeKind.BOOL, TypeKind.ENUM, TypeKind.POINTER}
    if kind not in numbers:
        raise expression_error(f"a key of type {one.type.name} cannot be written here")
    return read_integer(one, memory) == key


def _element_variable(value: TypedValue, memory: ValueMemory) -> ScopeVariable:
    kind = type_of(value.type)
    if value.bits is not None:
        return ScopeVariable(
            "", kind, ComputedValue(ConstantNode(read_integer(value, memory), MachineType.U8))
        )
    return ScopeVariable(
        "", kind, StoredValue(ConstantNode(value.address or 0, MachineType.U64), is_sure=True)
    )
