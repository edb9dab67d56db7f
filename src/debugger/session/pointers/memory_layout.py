"""Reads what is known of a stopped program's memory: its map, its heap, its symbols.

The map is /proc/PID/maps, or the segments and notes of a core file; memory is read by the debugger.
What cannot be read is unknown, and nothing is claimed about it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from debugger.backends.abilities import MemoryAbility
from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError
from debugger.model.pointers.glibc_heap import (
    MAPPED_HEADER,
    THREAD_HEAP,
    HeapBlock,
    HeapContent,
    find_first_chunk,
    find_first_thread_chunk,
    parse_heap,
    parse_mapped_size,
)
from debugger.model.pointers.pointer_explanation import MemoryKnowledge, MemorySymbol
from debugger.model.signals import MemoryRegion, parse_memory_map
from debugger.session.session import Session
from debugger.symbols.core_file import read_core_map
from debugger.symbols.dwarf.elf_file import ElfFile, demangle, read_elf
from debugger.system.process_info import memory_at

HEAP = "[heap]"
# An address further into the heap is not examined: LLDB reads 1 MiB a second of a core file.
HEAP_MAX = 512 << 10
HEAP_HERE_MAX = 8 << 20  # the same where the system reads the memory: parsing it costs 0.3 s
_HEAP_LEAST = 256 << 10  # bytes that are read at least
_BEHIND = 16 << 10  # bytes behind an address, with the chunk that follows its block
_BEHIND_SYMBOL = 64  # bytes behind an object that are named by it
_PIECE = 128 << 10
_MAPPED_BLOCKS = 16  # blocks in one mapping, which the kernel has joined
_HEAD = 1024  # bytes of a module that are compared with its file: its headers and its build id
_FILE_MAX = 256 << 20  # bytes of a file whose symbols are searched
_ENVIRON_MAX = 1 << 20
_X86_64 = "x86_64"
_C_LIBRARY = re.compile(r"libc(?:-[\d.]+)?\.so")
_DATA_MAX = 64 << 10  # bytes
_FILL = re.compile(
    rb"(?:\A|\0)(?:MALLOC_PERTURB_=|GLIBC_TUNABLES=[^\0]*glibc\.malloc\.perturb=)(\w+)"
)


def read_knowledge(session: Session, *, is_rust: bool = False) -> MemoryKnowledge:
    """Return the memory map of a session's program, if it is on this machine, and its fill byte."""
    target = session.target
    regions: list[MemoryRegion] = []
    is_here = os.uname().machine == _X86_64
    if isinstance(target, AttachTarget) and (target.connect or target.simulator):
        # A program of another machine: its process id is none of ours.
        return MemoryKnowledge(is_x86_64=False, is_rust=is_rust)
    if isinstance(target, AttachTarget) and target.core is not None:
        regions = read_core_map(target.core)
        return MemoryKnowledge(regions, is_x86_64=is_here, is_rust=is_rust, is_core=True)
    if session.pid is None:
        return MemoryKnowledge(is_x86_64=is_here, is_rust=is_rust)
    folder = Path(f"/proc/{session.pid}")
    fill = None
    with suppress(OSError):
        regions = parse_memory_map((folder / "maps").read_text(errors="replace").splitlines())
    with suppress(OSError), (folder / "environ").open("rb") as file:
        fill = parse_fill(file.read(_ENVIRON_MAX))
    return MemoryKnowledge(regions, fill, is_here, is_rust)


def parse_fill(environment: bytes) -> int | None:
    """Return the byte that glibc fills freed memory with, by a process's environment."""
    match = _FILL.search(environment)
    if match is None:
        return None
    try:
        return int(match[1], 0) & 0xFF or None
    except ValueError:
        return None


def heap_size_for(region: MemoryRegion, address: int, most: int = HEAP_MAX) -> int:
    """Return how much of a heap is read to know an address; 0 if the address is too far in."""
    distance = address - region.start
    if distance > most:
        return 0
    return min(region.end - region.start, max(distance + _BEHIND, _HEAP_LEAST))


def may_be_heap(session: Session, region: MemoryRegion) -> bool:
    """Return whether a mapping may be one of glibc's heaps, by its name and address."""
    is_core = isinstance(session.target, AttachTarget) and session.target.core is not None
    is_main = region.name == ("" if is_core else HEAP)
    return region.mode.startswith("rw") and (is_main or _is_thread_heap(region))


def _is_thread_heap(region: MemoryRegion) -> bool:
    return not region.name and region.start % THREAD_HEAP == 0


async def read_heap(
    session: Session, region: MemoryRegion, size: int, regions: Sequence[MemoryRegion] = ()
) -> HeapContent | None:
    """Read the blocks in a heap's first bytes (a job); None if it is not surely glibc's.

    Of the memory map the C library's data is read, too, for its lists of freed blocks.

    A core file does not name the heap: there it is any anonymous memory.
    """
    if not may_be_heap(session, region):
        return None
    is_thread = _is_thread_heap(region)
    content = await read_piece(session, region.start, min(_PIECE, size))
    offset = (
        find_first_thread_chunk(region.start, content) if is_thread else find_first_chunk(content)
    )
    if offset is None:
        return None
    start = region.start + offset
    arena, content = content[:offset], content[offset:]
    while start + len(content) < region.start + size:
        at = start + len(content)
        piece = await read_piece(session, at, min(_PIECE, region.start + size - at))
        if not piece:
            break
        content += piece
    if is_thread:
        return parse_heap(start, region.end, content, [arena])
    data = [await read_piece(session, *span) for span in find_library_data(regions)]
    return parse_heap(start, region.end, content, data)


def find_library_data(regions: Sequence[MemoryRegion]) -> list[tuple[int, int]]:
    """Return start and size of the C library's writable data."""
    return [
        (one.start, one.end - one.start)
        for one in regions
        if one.mode.startswith("rw")
        and _C_LIBRARY.match(Path(one.name).name)
        and one.end - one.start <= _DATA_MAX
    ]


async def find_mapped_block(
    session: Session, region: MemoryRegion, address: int
) -> HeapBlock | None:
    """Return the large block of glibc's, in anonymous memory, that an address is in (a job)."""
    if region.name or not region.mode.startswith("rw"):
        return None
    at = region.start
    for _ in range(_MAPPED_BLOCKS):
        size = parse_mapped_size(await read_piece(session, at, MAPPED_HEADER))
        if not size or at + size > region.end:
            return None
        if address < at + size:
            return HeapBlock(at + MAPPED_HEADER, size - MAPPED_HEADER)
        at += size
    return None


def largest_distance(session: Session) -> int:
    """Return how far into a heap an address may be to be examined."""
    return HEAP_MAX if _local_pid(session) is None else HEAP_HERE_MAX


def _local_pid(session: Session) -> int | None:
    """Return the process whose memory the system reads; None for a core file or a far program."""
    target = session.target
    is_far = isinstance(target, AttachTarget) and (
        target.core or target.connect or target.simulator
    )
    return None if is_far else session.pid


async def read_piece(session: Session, address: int, size: int) -> bytes:
    """Read memory (a job); nothing where it cannot be read."""
    pid = _local_pid(session)
    # The debugger's own breakpoints are in what is read so: nothing here reads code.
    if pid is not None and (data := memory_at(pid, address, size)):
        return data
    try:
        return await session.backend.find_ability(MemoryAbility).read_memory(address, size)
    except DebuggerError:
        return b""


async def find_symbol(
    session: Session, regions: Sequence[MemoryRegion], address: int
) -> MemorySymbol | None:
    """Return the symbol that an address is in, or of data the one it is just behind (a job).

    None without a symbol, and where the file differs from what was loaded.
    """
    region = next((one for one in regions if one.start <= address < one.end), None)
    mode = region.mode if region is not None else ""
    if region is None or not region.name.startswith("/"):
        region = _uninitialized_data(regions, region)
    if region is None:
        return None
    base = min(one.start for one in regions if one.name == region.name)
    with suppress(DebuggerError, OSError):
        if Path(region.name).stat().st_size > _FILE_MAX:
            return None
        file = read_elf(region.name)
        if not await is_loaded_file(session, file, base):
            return None
        bias = file.load_bias(base)
        # In read-only data most is without a symbol: texts, tables of the compiler's.
        behind = _BEHIND_SYMBOL if "w" in mode else 0
        symbol = file.symbol_at(address - bias, behind)
        if symbol is not None and symbol.size:
            return MemorySymbol(
                demangle(symbol.name), symbol.address + bias, symbol.size, region.name
            )
        section = None if "x" in mode else file.section_at(address - bias)
        if section is not None:
            return MemorySymbol(section.name, section.address + bias, section.size, region.name)
    return None


async def is_loaded_file(session: Session, file: ElfFile, base: int) -> bool:
    """Return whether a file's headers are what was loaded at an address (a job)."""
    head = bytes(memoryview(file.content)[:_HEAD])
    return await read_piece(session, base, len(head)) == head


def _uninitialized_data(
    regions: Sequence[MemoryRegion], region: MemoryRegion | None
) -> MemoryRegion | None:
    """Return the file's mapping that ends where anonymous memory begins: it may be its .bss."""
    if region is None or region.name:
        return None
    return next(
        (one for one in regions if one.end == region.start and one.name.startswith("/")), None
    )
