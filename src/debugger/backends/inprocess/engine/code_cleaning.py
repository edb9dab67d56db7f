"""Compares a process's code with its files, to find and undo what was patched.

A forked child has the code that Frida and we have changed in its parent. What stands behind those
changes may have been in use by a thread that the child does not have, and is never free again.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PAGE: Final = mmap.PAGESIZE
_WORD: Final = 8
# Of an entry of pagemap (Documentation/admin-guide/mm/pagemap.rst): in memory, and of a file still.
_PRESENT, _OF_FILE = 1 << 63, 1 << 61
_SWAPPED = 1 << 62
# Hooks are few bytes; a page that differs in more is relocated, and the program's own.
_CHANGED_MAX: Final = 512
_FIELDS: Final = 6


def patched_pages(pid: int) -> list[tuple[int, bytes]]:
    """Find the pages of code that were written to, each with what its file has there.

    Raises:
        OSError: it has gone, or is not ours to look into.
    """
    found: list[tuple[int, bytes]] = []
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    pagemap = os.open(f"/proc/{pid}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for low, high, offset, path in _code_mappings(pid):
            written = _written_pages(pagemap, low, high)
            if written:
                found += _differing_pages(memory, written, low - offset, path)
    finally:
        os.close(memory)
        os.close(pagemap)
    return found


def _code_mappings(pid: int) -> Iterator[tuple[int, int, int, str]]:
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    for line in maps.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < _FIELDS or "x" not in fields[1] or not fields[5].startswith("/"):
            continue
        if not fields[5].startswith("/memfd:") and not fields[5].endswith(" (deleted)"):
            low, high = (int(one, 16) for one in fields[0].split("-"))
            yield low, high, int(fields[2], 16), fields[5]


def _written_pages(pagemap: int, low: int, high: int) -> list[int]:
    count = (high - low) // _PAGE
    told = memoryview(os.pread(pagemap, count * _WORD, low // _PAGE * _WORD)).cast("Q")
    return [
        low + number * _PAGE
        for number, entry in enumerate(told)
        if entry & _SWAPPED or (entry & _PRESENT and not entry & _OF_FILE)
    ]


def _differing_pages(
    memory: int, pages: list[int], bias: int, path: str
) -> Iterator[tuple[int, bytes]]:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        for page in pages:
            should, has = os.pread(file, _PAGE, page - bias), os.pread(memory, _PAGE, page)
            changed = sum(one != other for one, other in zip(should, has, strict=False))
            if len(should) == len(has) and 0 < changed <= _CHANGED_MAX:
                yield page, should
    finally:
        os.close(file)
