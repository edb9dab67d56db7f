"""Pauses Python's garbage collection while many objects are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from debugger.symbols.dwarf.debug_entries import DebugUnit


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the garbage collector away, which takes as long as what is done for large binaries."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def break_cycles(unit: DebugUnit) -> None:
    """Take a unit's own entries apart, which hold each other, and would wait for the collector."""
    if unit.is_read and not unit.is_borrowed:
        for entry in unit.all_entries():
            entry.children, entry.parent = [], None
