"""Reads glibc's heap, and classifies the writes of a block's first words. Run inside gdb."""

from __future__ import annotations

import base64
import importlib
import re
import zlib
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
memory: Any = importlib.import_module("gdb_memory")
snapshots: Any = importlib.import_module("gdb_snapshots")

_HEAP_MAX = 16 << 20
_ARENA_MAX = 64 << 10  # bytes of the C library's data, in which its lists of freed blocks lie
_C_LIBRARY = re.compile(r"libc(?:-[\d.]+)?\.so")
_ALLOCATOR = re.compile(r"_*(?:GI_+)?(?:libc_|int_|sys)?(?:m|c|re)?(?:alloc|free)|tcache_|unlink_")
_LANE = 8  # hexadecimal digits of a count of four bytes
_ONE, _NONE = "01000000", "00000000"
# The end of the key of a write that took the last reference.
DROPPED = ":dropped"


def read_heap() -> dict[str, Any] | None:
    """Return the bytes of the main heap and of the C library's data; None if it is too large."""
    regions = memory.memory_regions()
    found = next((one for one in regions if one[2] == "[heap]"), None)
    if found is None or found[1] - found[0] > _HEAP_MAX:
        return None
    data = [one for one in regions if _C_LIBRARY.match(Path(one[2]).name)]
    return {
        "start": found[0],
        "end": found[1],
        "content": _pack(found[0], found[1]),
        "arena": [_pack(first, last) for first, last, _ in data if last - first <= _ARENA_MAX],
    }


def _pack(first: int, last: int) -> str:
    try:
        content = bytes(gdb.selected_inferior().read_memory(first, last - first))
    except gdb.error:
        content = b""
    return base64.b64encode(zlib.compress(content, 1)).decode("ascii")


def classify_write(before: str, now: str) -> str | None:
    """Return the end of the event's key: "" for the allocator's; None for one to be left out.

    The program's own writes of a block's first words matter only if they take a count of references
    from one to zero, of four or eight bytes.
    """
    frame = gdb.newest_frame()
    module = Path(gdb.solib_name(frame.pc()) or "").name
    # In a static program the C library is known by its names, and by having no source.
    is_named = frame.find_sal().symtab is None and _ALLOCATOR.match(frame.name() or "")
    if _C_LIBRARY.match(module) or is_named:
        return ""
    lanes = range(0, len(now), _LANE)
    is_last = any(before[at : at + _LANE] == _ONE and now[at : at + _LANE] == _NONE for at in lanes)
    return DROPPED if is_last else None
