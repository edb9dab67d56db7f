"""Finds which functions of the program call which, by their code. Run inside gdb.

On x86-64 a function is called by its distance, through a slot of the global offset table, or, as
rustc does across crates, by a register that its address was loaded into. What leads to a function's
first instruction is such a call; other bytes do not by chance.
"""

from __future__ import annotations

import collections
import importlib
import re
from collections.abc import Iterator
from typing import Any

gdb: Any = importlib.import_module("gdb")
snapshots: Any = importlib.import_module("gdb_snapshots")

# call; call through a slot; lea and mov of what lies at a distance from the next instruction.
_REFERENCE = re.compile(
    rb"(?=(?:(?P<near>\xe8|[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d])"
    rb"|(?P<slot>\xff\x15|[\x48\x4c]\x8b[\x05\x0d\x15\x1d\x25\x2d\x35\x3d]))(?P<distance>.{4}))",
    re.DOTALL,
)
_CODE_MAX = 64 << 10  # bytes of a function
_CALLS_MAX = 120  # of one function


def read_calls(entries: list[int], most: int) -> list[dict[str, Any]]:
    """Return the functions of the program that some functions lead to, the nearest first.

    Each has its calls: the line, and the first address of the function that is called.
    """
    waiting = collections.deque(dict.fromkeys(one for one in entries if one))
    known: dict[int, Any] = {}
    found: dict[int, dict[str, Any]] = {}
    while waiting and len(found) < most:
        entry = waiting.popleft()
        block = _own_block(entry, known)
        if block is None or entry in found:
            continue
        calls = _calls_of(block, known)
        found[entry] = {
            "name": block.function.print_name,
            "file": block.function.symtab.fullname(),
            "line": block.function.line,
            "entry": entry,
            "calls": calls,
        }
        waiting.extend(target for _, target in calls)
    return list(found.values())


def _own_block(address: int, known: dict[int, Any]) -> Any:
    """Return the block of the program's own function that begins at an address; None without."""
    if address not in known:
        block = snapshots.function_block(address)
        is_begin = block is not None and block.start == address
        is_own = is_begin and not snapshots.is_library(snapshots.source_of(block.function.symtab))
        known[address] = block if is_own else None
    return known[address]


def _calls_of(block: Any, known: dict[int, Any]) -> list[tuple[int, int]]:
    size = min(block.end - block.start, _CODE_MAX)
    try:
        code = bytes(gdb.selected_inferior().read_memory(block.start, size))
    except gdb.error:
        return []
    found: list[tuple[int, int]] = []
    for at, target in _references(block.start, code):
        if len(found) < _CALLS_MAX and _own_block(target, known) is not None:
            found.append((gdb.find_pc_line(at).line, target))
    return found


def _references(start: int, code: bytes) -> Iterator[tuple[int, int]]:
    """Yield the addresses that code refers to, each with that of its instruction."""
    for match in _REFERENCE.finditer(code):
        distance = int.from_bytes(match["distance"], "little", signed=True)
        target = start + match.end("distance") + distance
        if match["slot"]:
            try:
                slot = bytes(gdb.selected_inferior().read_memory(target, 8))
            except gdb.error:
                continue
            target = int.from_bytes(slot, "little")
        yield start + match.start(), target
