"""Reads the memory map and the heap's blocks of a stopped program. Run inside gdb."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")

_HEAP_MAX = 64 << 20
_CHUNK_LEAST = 0x20


def region_of(address: int) -> str:
    """Return the kind of memory at an address: stack, heap, program, or a file's name."""
    for first, last, name in memory_regions():
        if first <= address < last:
            return name or "mapped"
    return ""


def memory_regions(permission: str = "") -> list[tuple[int, int, str]]:
    """Return the memory map of the program, or what of it has a permission, as `rw`."""
    found = []
    try:
        text = Path(f"/proc/{gdb.selected_inferior().pid}/maps").read_text("utf-8", "replace")
    except OSError:
        return []
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if not fields[1].startswith(permission):
            continue
        first, _, last = fields[0].partition("-")
        name = "".join(fields[5:])
        found.append((int(first, 16), int(last, 16), name))
    return found


def heap_range() -> tuple[int, int]:
    """Return the begin and the end of the main heap; zeros without one."""
    heap = next((one for one in memory_regions() if one[2] == "[heap]"), None)
    return heap[:2] if heap is not None else (0, 0)


def heap_block(address: int) -> tuple[int, int] | None:
    """Return the block of glibc's main heap that holds an address: its start and usable size.

    The chunks lie one behind the other, each with its size in the word before the block
    (glibc malloc/malloc.c, "Chunk representation"). None where a damaged size breaks the walk.
    """
    heap = heap_range()
    if not heap[0] <= address < heap[1] or heap[1] - heap[0] > _HEAP_MAX:
        return None
    memory = bytes(gdb.selected_inferior().read_memory(heap[0], heap[1] - heap[0]))
    at = 0
    while at + 16 <= len(memory):
        size = int.from_bytes(memory[at + 8 : at + 16], "little") & ~7
        if size < _CHUNK_LEAST or at + size > len(memory):
            return None
        if heap[0] + at + 16 <= address < heap[0] + at + size + 8:
            return heap[0] + at + 16, size - 8
        at += size
    return None


def is_computed(value: Any, kind: Any) -> bool:
    """Return whether a pointer is a sum, as `p + 2`: gdb gives it the address of `p`."""
    if kind.code != gdb.TYPE_CODE_PTR or value.address is None:
        return False
    stored = gdb.Value(bytes(gdb.selected_inferior().read_memory(int(value.address), 8)), kind)
    return int(stored) != int(value)
