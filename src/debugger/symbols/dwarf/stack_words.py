"""Finds values of optimised Rust whose debug information names the word that holds their address.

Rust passes what is larger than two words by its address. Where that address is passed on the stack,
LLVM describes its word as the value itself: the indirection is lost. A function that follows C's
convention has the value there, but is not told apart in every case, so it is not known.
"""

from __future__ import annotations

from typing import Final

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.call_frames import CallFrames
from debugger.symbols.dwarf.debug_entries import DebugEntry
from debugger.symbols.dwarf.debug_types import DebugType, TypeKind
from debugger.symbols.dwarf.location_lists import location_operations
from debugger.symbols.dwarf.location_operations import LocationOperation

WHY: Final = "not known: rustc's debug information says where its address is, not the value"
_RECORDS: Final = {TypeKind.STRUCT, TypeKind.UNION, TypeKind.ARRAY}
_WORD: Final = 8
# Of functions that Rust may call by its own convention (legacy and v0 names).
_MANGLED: Final = ("_ZN", "_R")


def holds_only_address(
    function: DebugEntry,
    address: int,
    kind: DebugType,
    place: tuple[LocationOperation, ...],
    frames: CallFrames,
) -> bool:
    """Say whether a variable's place may be the word on the stack that holds its address.

    Args:
        function: The function, or its inlined copy.
        address: The link-time address for which `place` is.
        kind: The variable's type.
        place: What the debug information has for it.
        frames: The call frame information of the binary.
    """
    if len(place) != 1 or kind.kind not in _RECORDS or kind.size <= _WORD:
        return False
    if not _is_rusts(function):
        return False
    offset = _above_frame(function, address, place[0], frames)
    return offset is not None and offset >= 0


def _is_rusts(function: DebugEntry) -> bool:
    if "rustc" not in function.unit.top_entry.get_text(dw.AT_PRODUCER):
        return False
    outer = _outermost_function(function).find_with_attribute(dw.AT_LINKAGE_NAME)
    return outer is not None and outer.get_text(dw.AT_LINKAGE_NAME).startswith(_MANGLED)


def _outermost_function(function: DebugEntry) -> DebugEntry:
    while function.tag != dw.TAG_SUBPROGRAM and function.parent is not None:
        function = function.parent
    return function


def _above_frame(
    function: DebugEntry, address: int, place: LocationOperation, frames: CallFrames
) -> int | None:
    """Return how far above the function's frame a location is; None where it is no such place."""
    register, offset = place.first, place.second
    if place.name == "fbreg":
        base = location_operations(_outermost_function(function), address, dw.AT_FRAME_BASE)
        if len(base) != 1 or base[0].name != "reg":
            return None
        register, offset = base[0].first, place.first
    elif place.name != "breg":
        return None
    row = frames.rules_at(address)
    if row is None or isinstance(row.cfa, bytes) or row.cfa[0] != register:
        return None
    return offset - row.cfa[1]
