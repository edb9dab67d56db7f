"""Finds a variable at an address by its location list or expression."""

from __future__ import annotations

from typing import Final

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import forms
from debugger.backends.frida.dwarf.entries import Entry, Unit
from debugger.backends.frida.dwarf.operations import Operation, parse
from debugger.backends.frida.dwarf.reading import uleb, unsigned

_VERSION_5: Final = 5
_BASE_MAX: Final = 0xFFFFFFFFFFFFFFFF
_LLE_BASE_X, _LLE_DEFAULT, _LLE_BASE, _LLE_START_END, _LLE_START_LENGTH = 1, 5, 6, 7, 8
_LLE_VIEW_PAIR: Final = 9
_LLE_GNU_START_LENGTH, _LLE_GNU_OFFSETS = 3, 4
# Location lists have a default member, which range lists have not.
_AS_RANGE: Final = {_LLE_START_END: 6, _LLE_START_LENGTH: 7}


def operations(
    entry: Entry, address: int, attribute: int = dw.AT_LOCATION
) -> tuple[Operation, ...]:
    """Give the expression that holds at a link-time address; an empty one where none does."""
    found = entry.raw(attribute)
    if found is None:
        return ()
    form, content = found
    if isinstance(content, bytes):
        return _direct(entry.unit, parse(content))
    if not isinstance(content, int):
        return ()
    if entry.unit.version >= _VERSION_5:
        expression = _in_list(entry.unit, form, content, address)
    elif entry.unit.skeleton is not None:
        expression = _in_split_list(entry.unit, content, address)
    else:
        expression = _in_old_list(entry.unit, content, address)
    return _direct(entry.unit, parse(expression)) if expression is not None else ()


def _direct(unit: Unit, found: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """Put what .debug_addr holds in the place of its indexes."""
    names = {"addrx": "addr", "constx": "const"}
    return tuple(
        Operation(names[one.name], forms.indexed_address(unit, one.first))
        if one.name in names
        else one
        for one in found
    )


def is_listed(entry: Entry, attribute: int = dw.AT_LOCATION) -> bool:
    """Say whether an attribute's expression depends on the address."""
    found = entry.raw(attribute)
    return found is not None and isinstance(found[1], int)


def _in_old_list(unit: Unit, at: int, address: int) -> bytes | None:
    section, base = unit.sections["loc"], unit.low
    while at + 16 <= len(section):
        low, high = unsigned(section, at, 8), unsigned(section, at + 8, 8)
        at += 16
        if not low and not high:
            break
        if low == _BASE_MAX:
            base = high
            continue
        size, at = unsigned(section, at, 2), at + 2
        if base + low <= address < base + high:
            return section[at : at + size]
        at += size
    return None


def _in_split_list(unit: Unit, at: int, address: int) -> bytes | None:
    """Search a list of GNU's split DWARF 4, whose bounds are indexes of .debug_addr."""
    section, base = unit.sections["loc"], unit.low
    while section[at]:
        kind, at = section[at], at + 1
        if kind == _LLE_BASE_X:
            index, at = uleb(section, at)
            base = forms.indexed_address(unit, index)
            continue
        if kind == _LLE_GNU_OFFSETS:
            low, high, at = unsigned(section, at, 4), unsigned(section, at + 4, 4), at + 8
            low, high = base + low, base + high
        else:
            index, at = uleb(section, at)
            low = forms.indexed_address(unit, index)
            if kind == _LLE_GNU_START_LENGTH:
                high, at = low + unsigned(section, at, 4), at + 4
            else:
                index, at = uleb(section, at)
                high = forms.indexed_address(unit, index)
        size, at = unsigned(section, at, 2), at + 2
        if low <= address < high:
            return section[at : at + size]
        at += size
    return None


def _in_list(unit: Unit, form: int, at: int, address: int) -> bytes | None:
    section = unit.sections["loclists"]
    if form == dw.FORM_LOCLISTX:
        start = unit.base(dw.AT_LOCLISTS_BASE)
        at = start + unsigned(section, start + at * unit.word, unit.word)
    base, default = unit.low, None
    while section[at]:
        kind, at = section[at], at + 1
        if kind == _LLE_BASE_X:
            index, at = uleb(section, at)
            base = forms.indexed_address(unit, index)
            continue
        if kind == _LLE_BASE:
            base, at = unsigned(section, at, 8), at + 8
            continue
        if kind == _LLE_VIEW_PAIR:
            _, at = uleb(section, at)
            _, at = uleb(section, at)
            continue
        low = high = 0
        if kind != _LLE_DEFAULT:
            low, high, at = forms.list_bounds(unit, section, _AS_RANGE.get(kind, kind), at, base)
        size, at = uleb(section, at)
        if low <= address < high:
            return section[at : at + size]
        if kind == _LLE_DEFAULT:
            default = section[at : at + size]
        at += size
    return default
