"""Reads memory for code that cannot wait.

Work that reads is run whole. It reads from the process's memory file; where that fails, and for
code, in which our breakpoints are, the engine is asked, and the work is run again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols.dwarf.debug_types import DebugType
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import ValueMemory

T = TypeVar("T")
_PAGE = 4096
_WORD = 8
_AHEAD = 8  # pages that are fetched at once: a stack is read upwards
_PAGES_MAX = 1 << 14
_EXECUTABLE = 1
_USER_BITS = 63  # what is above belongs to the kernel


class _MissingPages(Exception):
    """Names pages that must be fetched before the work can be run."""

    def __init__(self, first: int, count: int) -> None:
        super().__init__(first, count)
        self.first = first
        self.count = count


class _PageReader:
    """Caches the pages of one piece of work; nothing is kept for the next, as other threads run."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target
        self._known: dict[int, bytes] = {}
        self._file = _open_memory(target.engine.pid)

    def close(self) -> None:
        """Close the memory file."""
        if self._file is not None:
            os.close(self._file)

    def read_bytes(self, address: int, size: int) -> bytes:
        """Read memory, all of it.

        Raises:
            UnreadableMemory: Some of it is not mapped.
        """
        first, last = address // _PAGE, (address + size - 1) // _PAGE
        # A large array is read once and in one piece; caching its pages would copy it twice.
        if last - first > _AHEAD and self._file is not None and not self._is_code(first):
            return self._at_once(address, size)
        parts = [self._read_page(number, last) for number in range(first, last + 1)]
        at = address - first * _PAGE
        found = b"".join(parts)[at : at + size]
        if len(found) < size:
            raise UnreadableMemory(address)
        return found

    def _at_once(self, address: int, size: int) -> bytes:
        found = self._read_direct(address, size)
        if len(found) < size:
            raise UnreadableMemory(address)
        return found

    def _read_page(self, number: int, last: int) -> bytes:
        known = self._known.get(number)
        if known is not None:
            return known
        # Code may hold int3 and jumps of ours, which only the engine knows to take out.
        if self._file is None or self._is_code(number):
            raise _MissingPages(number, max(last - number + 1, _AHEAD))
        self._known[number] = found = self._read_direct(number * _PAGE, _PAGE)
        return found

    def _read_direct(self, address: int, size: int) -> bytes:
        found = self._read_raw(address, size)
        places = self._access.engine.returns.find_trampolines(address, found)
        if not places:
            return found
        # A traced call has a trampoline as its return address, which is no frame of the
        # program's.
        changed = bytearray(found)
        for at, place in places.items():
            changed[at : at + _WORD] = self._read_raw(place, _WORD)
        return bytes(changed)

    def _read_raw(self, address: int, size: int) -> bytes:
        assert self._file is not None
        try:
            return os.pread(self._file, size, address)
        except (OSError, OverflowError):
            return b""

    def _is_code(self, number: int) -> bool:
        module = self._access.modules.module_at(number * _PAGE)
        if module is None:
            return False
        at = number * _PAGE - module.load_bias
        return any(
            one.flags & _EXECUTABLE and one.address - _PAGE < at < one.address + one.size
            for one in module.image.binary.segments
        )

    async def fetch_pages(self, missing: _MissingPages) -> None:
        """Fetch pages from the engine."""
        if len(self._known) > _PAGES_MAX:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                "more memory is needed for this than can be read at once",
                hint="debugger memory read reads a part",
            )
        start = missing.first * _PAGE
        found = await bytes_at(self._access.engine, start, missing.count * _PAGE)
        for at in range(missing.count):
            part = found[at * _PAGE : (at + 1) * _PAGE]
            # Behind an unmapped page more may be mapped: that is fetched by itself, as the
            # engine's answer ends at the first byte that cannot be read.
            if part or at == 0:
                self._known[missing.first + at] = part


def _open_memory(pid: int) -> int | None:
    try:
        return os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


async def bytes_at(engine: Engine, address: int, count: int) -> bytes:
    """Read memory as the program wrote it; nothing where nothing is mapped, or can be."""
    if address >> _USER_BITS or not count:
        return b""
    try:
        return await engine.read_memory(address, count)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return b""


async def run_reading(target: TargetAccess, work: Callable[[ValueMemory], T]) -> T:
    """Run work that reads the memory of now; the work may be run several times.

    Raises:
        DebuggerError: What the work raises, PROGRAM_EXITED, TIMEOUT.
    """
    # Unwinding and formatting read memory at addresses that they compute: written as plain
    # functions they cannot await the engine in the middle. So they run in a thread, on pages;
    # a page that only the engine can read ends the run with `_MissingPages`, is fetched, and
    # the work begins anew. Each run has all pages of the one before, so it comes further.
    pages = _PageReader(target)
    modules = target.modules

    def type_named(name: str, place: int) -> DebugType | None:
        module = modules.module_at(place)
        return module.image.scopes.type_named(name) if module is not None else None

    memory = ValueMemory(pages.read_bytes, modules.symbol_name, type_named=type_named)
    try:
        while True:
            try:
                # In a thread: debug information that is read for the first time takes
                # seconds, and other sessions go on meanwhile.
                return await asyncio.to_thread(work, memory)
            except _MissingPages as missing:
                await pages.fetch_pages(missing)
    finally:
        pages.close()
