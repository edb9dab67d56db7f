"""Finds the other places in memory that have a value's bytes. Run inside gdb.

What was copied several times often lies at each of its places still: a run that watches them shows
several links of a chain at once.
"""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
memory: Any = importlib.import_module("gdb_memory")

_LEAST = 4  # bytes of a value that is looked for
_READ_MAX = 256 << 20  # bytes of memory in all
_COPIES_MAX = 64  # a value that is at more places says nothing
_AROUND = 32  # bytes on each side that a copied struct shares
_RETURNED = 8


def find_copies(content: str) -> list[int]:
    """Return the addresses that have a value's bytes, those in structs that look alike first.

    Args:
        content: The value's bytes, in hexadecimal.
    """
    value = bytes.fromhex(content)
    size = len(value)
    # Small numbers of four bytes, and what is all zeros or ones, are everywhere.
    least = int.from_bytes(value[:_LEAST], "little", signed=True) if size == _LEAST else 1 << 16
    is_known = size in {_LEAST, 2 * _LEAST} and len(set(value)) > 1 and abs(least) >= 1 << 5
    if not is_known:
        return []
    found: dict[int, bytes] = {}
    for first, block in _read_writable():
        at = block.find(value)
        while at >= 0:
            if (first + at) % size == 0:
                start = max(at - _AROUND, 0)
                around = block[start : at + size + _AROUND]
                found[first + at] = bytes(_AROUND - (at - start)) + around
                if len(found) > _COPIES_MAX:
                    return []
            at = block.find(value, at + 1)
    scores = dict.fromkeys(found, 0)
    for one, other in itertools.combinations(found, 2):
        shared = _shared_bytes(found[one], found[other], size)
        scores[one], scores[other] = max(scores[one], shared), max(scores[other], shared)
    return sorted(found, key=lambda one: (-scores[one], one))[:_RETURNED]


def _read_writable() -> list[tuple[int, bytes]]:
    """Return the heap, the program's data and its stack from the stack pointer on."""
    pid = gdb.selected_inferior().pid
    program = gdb.current_progspace().filename or ""
    top = int(gdb.newest_frame().read_register("rsp"))
    found, left = [], _READ_MAX
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
        for first, last, name in memory.memory_regions(permission="rw"):
            if name and name not in {"[heap]", "[stack]", program}:
                continue
            start = max(first, top & ~7) if first <= top < last else first
            left -= last - start
            if left < 0:
                break
            try:
                file.seek(start)
                found.append((start, file.read(last - start)))
            except OSError:
                continue
    return found


def _shared_bytes(one: bytes, other: bytes, size: int) -> int:
    """Return how many bytes beside a value two places have alike, without zeros."""
    behind = range(_AROUND + size, min(len(one), len(other)))
    count = 0
    for side in (range(_AROUND - 1, -1, -1), behind):
        for at in side:
            if one[at] != other[at]:
                break
            count += one[at] != 0
    return count
