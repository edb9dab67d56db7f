"""Finds the units that contain a name, without reading their entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.debug_entries import DebugUnit, DebugUnits

# So many texts with one ending are no longer faster to look for than all units are to read.
_TEXTS_MAX = 48


def units_naming(units: DebugUnits, name: str, cache: DebugCache) -> list[int] | None:
    """List the units, by offset, that may have an entry of this name, or a template of it.

    None is: it cannot be told so.
    """
    known = {unit.offset: unit for unit in units}
    needles = _search_needles(units, name)
    if needles is None:
        return None
    found = set(
        cache.get_or_make("linked", list[int], lambda: _units_with_linked_names(known.values()))
    )
    info = units.sections["info"]
    for needle in needles:
        at = info.find(needle)
        while at >= 0:
            unit = units.unit_containing(at)
            if unit is None:
                at = info.find(needle, at + 1)
                continue
            found.add(unit.offset)
            at = info.find(needle, unit.end)
    return sorted(found)


def _search_needles(units: DebugUnits, name: str) -> list[bytes] | None:
    whole = [name.encode() + b"\0", name.encode() + b"<"]
    places = {place for one in whole for place in _find_places(units.sections["str"], one)}
    if len(places) > _TEXTS_MAX:
        return None
    return [*whole, *(place.to_bytes(4, "little") for place in places)]


def _find_places(texts: bytes, needle: bytes) -> Iterator[int]:
    at = texts.find(needle)
    count = 0
    while at >= 0 and count <= _TEXTS_MAX:
        yield at
        count += 1
        at = texts.find(needle, at + 1)


def _units_with_linked_names(units: Iterable[DebugUnit]) -> list[int]:
    """List the units whose names stand elsewhere: in a table, or in another unit."""
    return [
        unit.offset
        for unit in units
        if unit.skeleton is not None
        or unit.top_entry.has_attribute(dw.AT_STR_OFFSETS_BASE)
        or unit.abbreviations.has_form(dw.FORM_REF_ADDR)
    ]
