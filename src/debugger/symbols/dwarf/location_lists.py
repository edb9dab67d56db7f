"""Finds a variable at an address by its location list or expression."""

from __future__ import annotations

from typing import Final

from debugger.symbols.dwarf import attribute_forms
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnit
from debugger.symbols.dwarf.dwarf_codes import read_uleb128, read_unsigned
from debugger.symbols.dwarf.location_evaluation import LocationOperation, parse_operations

_VERSION_5: Final = 5
_BASE_MAX: Final = 0xFFFFFFFFFFFFFFFF
_LLE_BASE_X, _LLE_DEFAULT, _LLE_BASE, _LLE_START_END, _LLE_START_LENGTH = 1, 5, 6, 7, 8
_LLE_VIEW_PAIR: Final = 9
_LLE_GNU_START_LENGTH, _LLE_GNU_OFFSETS = 3, 4
# Location lists have a default member, which range lists have not.
_AS_RANGE: Final = {_LLE_START_END: 6, _LLE_START_LENGTH: 7}


def location_operations(
    entry: DebugEntry, address: int, attribute: int = dw.AT_LOCATION
) -> tuple[LocationOperation, ...]:
    """Return the expression that is valid at a link-time address; an empty one where none is."""
    found = entry.raw_attribute(attribute)
    if found is None:
        return ()
    form, content = found
    # An expression in the entry itself is valid for the whole scope; a number is the offset
    # of a list.
    if isinstance(content, bytes):
        return _resolve_indexes(entry.unit, parse_operations(content))
    if not isinstance(content, int):
        return ()
    if entry.unit.version >= _VERSION_5:
        expression = _in_list(entry.unit, form, content, address)
    elif entry.unit.skeleton is not None:
        expression = _in_split_list(entry.unit, content, address)
    else:
        expression = _in_old_list(entry.unit, content, address)
    return (
        _resolve_indexes(entry.unit, parse_operations(expression)) if expression is not None else ()
    )


def _resolve_indexes(
    unit: DebugUnit, found: tuple[LocationOperation, ...]
) -> tuple[LocationOperation, ...]:
    """Replace indexes of .debug_addr by the addresses there."""
    names = {"addrx": "addr", "constx": "const"}
    return tuple(
        LocationOperation(names[one.name], attribute_forms.indexed_address(unit, one.first))
        if one.name in names
        else one
        for one in found
    )


def is_listed(entry: DebugEntry, attribute: int = dw.AT_LOCATION) -> bool:
    """Return whether an attribute's expression depends on the address."""
    found = entry.raw_attribute(attribute)
    return found is not None and isinstance(found[1], int)


def _in_old_list(unit: DebugUnit, at: int, address: int) -> bytes | None:
    section, base = unit.sections["loc"], unit.low_address
    while at + 16 <= len(section):
        low, high = read_unsigned(section, at, 8), read_unsigned(section, at + 8, 8)
        at += 16
        if not low and not high:
            break
        # All ones selects a new base address (DWARF 4, 2.6.2).
        if low == _BASE_MAX:
            base = high
            continue
        size, at = read_unsigned(section, at, 2), at + 2
        if base + low <= address < base + high:
            return section[at : at + size]
        at += size
    return None


def _in_split_list(unit: DebugUnit, at: int, address: int) -> bytes | None:
    """Search a list of GNU's split DWARF 4, whose bounds are indexes of .debug_addr."""
    section, base = unit.sections["loc"], unit.low_address
    while section[at]:
        kind, at = section[at], at + 1
        if kind == _LLE_BASE_X:
            index, at = read_uleb128(section, at)
            base = attribute_forms.indexed_address(unit, index)
            continue
        if kind == _LLE_GNU_OFFSETS:
            low, high, at = read_unsigned(section, at, 4), read_unsigned(section, at + 4, 4), at + 8
            low, high = base + low, base + high
        else:
            index, at = read_uleb128(section, at)
            low = attribute_forms.indexed_address(unit, index)
            if kind == _LLE_GNU_START_LENGTH:
                high, at = low + read_unsigned(section, at, 4), at + 4
            else:
                index, at = read_uleb128(section, at)
                high = attribute_forms.indexed_address(unit, index)
        size, at = read_unsigned(section, at, 2), at + 2
        if low <= address < high:
            return section[at : at + size]
        at += size
    return None


def _in_list(unit: DebugUnit, form: int, at: int, address: int) -> bytes | None:
    section = unit.sections["loclists"]
    if form == dw.FORM_LOCLISTX:
        start = unit.section_base(dw.AT_LOCLISTS_BASE)
        at = start + read_unsigned(section, start + at * unit.word, unit.word)
    base, default = unit.low_address, None
    while section[at]:
        kind, at = section[at], at + 1
        if kind == _LLE_BASE_X:
            index, at = read_uleb128(section, at)
            base = attribute_forms.indexed_address(unit, index)
            continue
        if kind == _LLE_BASE:
            base, at = read_unsigned(section, at, 8), at + 8
            continue
        # GCC's location views, an extension before DWARF 6: two numbers that say nothing of
        # the address.
        if kind == _LLE_VIEW_PAIR:
            _, at = read_uleb128(section, at)
            _, at = read_uleb128(section, at)
            continue
        low = high = 0
        if kind != _LLE_DEFAULT:
            low, high, at = attribute_forms.list_bounds(
                unit, section, _AS_RANGE.get(kind, kind), at, base
            )
        size, at = read_uleb128(section, at)
        if low <= address < high:
            return section[at : at + size]
        # It holds where no other member does, so the list is searched to its end first.
        if kind == _LLE_DEFAULT:
            default = section[at : at + size]
        at += size
    return default
