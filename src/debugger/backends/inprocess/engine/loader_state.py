"""Waits until a process's libraries are loaded: before that injection would end it.

The loader reports what it does to debuggers by `r_debug` (link.h of glibc and musl), to which the
entry DT_DEBUG of the program's dynamic section points.
"""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

from debugger.symbols import elf_headers

# Returns the bytes at an address, in this size; raises OSError where there are none.
ReadMemory = Callable[[int, int], bytes]

_LOADED_S: Final = 5.0  # a program of hundreds of libraries takes less than one
# There is no event for another process's loading: only looking again.
_AGAIN_S: Final = 0.01
# Keys of the auxiliary vector (getauxval(3)).
_AT_PHDR, _AT_PHENT, _AT_PHNUM = 3, 4, 5
# p_type, of the headers themselves and of the dynamic section; d_tag.
_HEADERS, _DYNAMIC = 6, 2
_DT_DEBUG: Final = 21
_SEGMENTS_MAX: Final = 256
_DYNAMIC_MAX: Final = 1 << 16  # bytes
_CONSISTENT: Final = 0  # RT_CONSISTENT: no library is being added or removed
# r_version, r_map, r_brk, r_state
_R_DEBUG: Final = struct.Struct("<i4xQQi")
_SEGMENT: Final = struct.Struct("<IIQQQQQQ")


async def wait_until_loaded(pid: int) -> bool:
    """Wait until a process's libraries are loaded; return whether they are, within the limit.

    A process that cannot be read, or whose loader reports nothing, counts as loaded.
    """
    limit = asyncio.get_running_loop().time() + _LOADED_S
    while not _is_loaded(pid):
        if asyncio.get_running_loop().time() >= limit:
            return False
        await asyncio.sleep(_AGAIN_S)
    return True


def _is_loaded(pid: int) -> bool:
    try:
        content = Path(f"/proc/{pid}/auxv").read_bytes()
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True  # it has gone, or may not be read: the attach reports that
    try:
        return read_is_loaded(content, lambda at, size: os.pread(memory, size, at))
    except (OSError, OverflowError, struct.error):
        return True
    finally:
        os.close(memory)


def read_is_loaded(auxiliary_vector: bytes, read: ReadMemory) -> bool:
    """Return whether the loader has loaded the libraries, out of a process's memory."""
    size = len(auxiliary_vector) // 16 * 16
    known = dict(struct.iter_unpack("<QQ", auxiliary_vector[:size]))
    at, size, count = (known.get(key, 0) for key in (_AT_PHDR, _AT_PHENT, _AT_PHNUM))
    if not at:
        # The kernel writes the vector last at an exec; threads of its own and zombies have none.
        return not known
    if size != _SEGMENT.size:
        return True
    segments = [
        _SEGMENT.unpack(read(at + index * size, size)) for index in range(min(count, _SEGMENTS_MAX))
    ]
    # p_vaddr of the headers tells how far the program is from where it was linked.
    moved = next((at - one[3] for one in segments if one[0] == _HEADERS), 0)
    dynamic = next((one for one in segments if one[0] == _DYNAMIC), None)
    if dynamic is None or not any(one[0] == elf_headers.INTERPRETER for one in segments):
        return True
    entries = read(moved + dynamic[3], min(dynamic[6], _DYNAMIC_MAX) // 16 * 16)
    for tag, value in struct.iter_unpack("<QQ", entries):
        if tag == _DT_DEBUG:
            return bool(value) and _is_consistent(read(value, _R_DEBUG.size))
    return True


def _is_consistent(content: bytes) -> bool:
    _, libraries, _, state = _R_DEBUG.unpack(content)
    return bool(libraries) and state == _CONSISTENT
