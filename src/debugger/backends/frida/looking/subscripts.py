"""Finds the element of a container by its key or number, where no address can be calculated."""

from __future__ import annotations

import itertools
from typing import Final

from debugger.backends.frida.dwarf import containers, holders, showing
from debugger.backends.frida.dwarf.types import Kind
from debugger.backends.frida.dwarf.values import Memory, Value, floating, integer
from debugger.backends.frida.expressions.declared import type_of
from debugger.backends.frida.expressions.nodes import Const, Machine
from debugger.backends.frida.expressions.scope import Computed, Stored, Variable
from debugger.backends.frida.expressions.tree import fault

_WALK_MAX: Final = 100_000
_SHOWN_KEYS: Final = 5


def walked(value: Value, memory: Memory) -> containers.Sequence | containers.Mapping | None:
    """Return the shape of a map, or of a sequence whose elements do not lie in one row."""
    shape = holders.shape(value, memory)
    if isinstance(shape, containers.Mapping):
        return shape
    name = value.type.plain.name
    is_walked = name.startswith(("std::deque<", "std::__cxx11::list<", "std::vector<bool"))
    return shape if isinstance(shape, containers.Sequence) and is_walked else None


def element(
    shape: containers.Sequence | containers.Mapping,
    key: object,
    name: str,
    memory: Memory,
) -> Variable:
    """Return what a subscript means.

    Raises:
        DebuggerError: EVALUATION_FAILED where there is no such element.
    """
    if isinstance(shape, containers.Mapping):
        return _variable(_value_of(shape, key, memory), memory)
    if not isinstance(key, int):
        raise fault(f"an index of {name} is a whole number")
    found = next(shape.items(key), None) if 0 <= key < shape.count else None
    if found is None:
        raise fault(f"there is no element {key}: the size is {shape.count}")
    return _variable(found, memory)


def _value_of(shape: containers.Mapping, key: object, memory: Memory) -> Value:
    names: list[str] = []
    for one, value in itertools.islice(shape.items(0), _WALK_MAX):
        if _is_key(one, key, memory):
            return value
        if len(names) < _SHOWN_KEYS:
            names.append(showing.text(one, memory))
    more = ", …" if shape.count > len(names) else ""
    if shape.count > _WALK_MAX:
        raise fault(f"no such key among the first {_WALK_MAX:,} of {shape.count:,}")
    raise fault(f"there is no such key; it has {', '.join(names) + more if names else 'none'}")


def _is_key(one: Value, key: object, memory: Memory) -> bool:
    if isinstance(key, str):
        shape = holders.shape(one, memory)
        if isinstance(shape, containers.Text):
            return memory.at(shape.address, shape.size) == key.encode()
        return showing.text(one, memory) == showing.quoted(key.encode())
    kind = one.type.kind
    if kind is Kind.FLOAT:
        return floating(memory.bytes_of(one)) == key
    numbers = {Kind.INTEGER, Kind.CHARACTER, Kind.BOOL, Kind.ENUM, Kind.POINTER}
    if kind not in numbers:
        raise fault(f"a key of type {one.type.name} cannot be written here")
    return integer(one, memory) == key


def _variable(value: Value, memory: Memory) -> Variable:
    kind = type_of(value.type)
    if value.bits is not None:
        return Variable("", kind, Computed(Const(integer(value, memory), Machine.U8)))
    return Variable("", kind, Stored(Const(value.address or 0, Machine.U64), is_sure=True))
