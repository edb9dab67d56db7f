"""Reads AddressSanitizer's shadow memory: which bytes of a program may be used. Pure.

On x86-64 Linux the shadow byte of 8 bytes lies at (address >> 3) + 0x7fff8000; its values are those
of compiler-rt's asan_internal.h. The mappings around it are the runtime's own, so their bounds tell
whether a program has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from debugger.model.pointers.pointer_explanation import PointerExplanation
from debugger.model.signals import MemoryRegion

_OFFSET = 0x7FFF8000
_SCALE = 3
_LOW_SHADOW = 0x7FFF7000
_HIGH_SHADOW_END = 0x10007FFF8000
_GONE = {
    0xFD: ("freed", "in freed heap memory"),
    0xF5: ("returned", "on the stack, of a call that has returned"),
    0xF8: ("returned", "on the stack, of a block that has ended"),
}
_EDGES = {
    0xFA: "beside a heap block",
    0xF1: "beside a variable on the stack",
    0xF2: "beside a variable on the stack",
    0xF3: "beside a variable on the stack",
    0xF9: "beside a global variable",
    0xFC: "behind the elements of a container",
    0xF7: "in memory that the program has poisoned",
    0xCA: "beside a block of alloca",
    0xCB: "beside a block of alloca",
    0xBB: "between the members of an object",
}


def has_shadow(regions: Sequence[MemoryRegion]) -> bool:
    """Return whether a program's memory map has AddressSanitizer's shadow."""
    starts_low = any(one.start == _LOW_SHADOW for one in regions)
    return starts_low and any(one.end == _HIGH_SHADOW_END for one in regions)


def shadow_address(address: int) -> int:
    """Return where the shadow byte of an address is."""
    return (address >> _SCALE) + _OFFSET


def explain_shadow(address: int, shadow: int) -> PointerExplanation | None:
    """Explain an address by its shadow byte; None for memory that may be used."""
    if shadow in _GONE:
        kind, words = _GONE[shadow]
        return PointerExplanation(kind, f"{words} (by AddressSanitizer)", is_suspicious=True)
    # So many of the 8 bytes may be used.
    is_behind = 0 < shadow < 1 << _SCALE and address % (1 << _SCALE) >= shadow
    words = "just behind what may be used" if is_behind else _EDGES.get(shadow, "")
    return PointerExplanation("edge", f"{words} (by AddressSanitizer)") if words else None
