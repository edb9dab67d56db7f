"""Finds the units that contain a name, without reading their entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf.cache import Cache
from debugger.backends.frida.dwarf.entries import Unit, Units

# So many texts with one ending are no longer faster to look for than all units are to read.
_TEXTS_MAX = 48


def units_naming(units: Units, name: str, cache: Cache) -> list[int] | None:
    """List the units, by offset, that may have an entry of this name, or a template of it.

    None is: it cannot be told so.
    """
    known = {unit.offset: unit for unit in units}
    needles = _needles(units, name)
    if needles is None:
        return None
    found = set(cache.get("linked", list[int], lambda: _linked(known.values())))
    info = units.sections["info"]
    for needle in needles:
        at = info.find(needle)
        while at >= 0:
            unit = units.containing(at)
            if unit is None:
                at = info.find(needle, at + 1)
                continue
            found.add(unit.offset)
            at = info.find(needle, unit.end)
    return sorted(found)


def _needles(units: Units, name: str) -> list[bytes] | None:
    whole = [name.encode() + b"\0", name.encode() + b"<"]
    places = {place for one in whole for place in _places(units.sections["str"], one)}
    if len(places) > _TEXTS_MAX:
        return None
    return [*whole, *(place.to_bytes(4, "little") for place in places)]


def _places(texts: bytes, needle: bytes) -> Iterator[int]:
    at = texts.find(needle)
    count = 0
    while at >= 0 and count <= _TEXTS_MAX:
        yield at
        count += 1
        at = texts.find(needle, at + 1)


def _linked(units: Iterable[Unit]) -> list[int]:
    """List the units whose names stand elsewhere: in a table, or in another unit."""
    return [
        unit.offset
        for unit in units
        if unit.skeleton is not None
        or unit.top.has(dw.AT_STR_OFFSETS_BASE)
        or unit.abbrevs.has_form(dw.FORM_REF_ADDR)
    ]
