"""Reads what a core file is of: the program, its process, the signal, and what is missing.

The format is elf(5)'s; its notes are those of core(5) and linux/elfcore.h. All offsets and counts
come from the file and are bounded before they are believed.
"""

from __future__ import annotations

import os
import os.path
import struct
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from debugger.model.signals import MemoryRegion
from debugger.symbols import elf_headers
from debugger.symbols.elf_headers import ElfHeader, ElfSegment, NotElfError, NumberLayout, ReadBytes

_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xce")
_KINDS = {1: "an object file", 2: "a program", 3: "a program or a shared library"}
_NT_PRSTATUS, _NT_PRPSINFO, _NT_AUXV, _NT_FILE = 1, 3, 6, 0x46494C45
_AT_ENTRY = 9
# "SIGI", as NT_FILE is "FILE": the kernel's newer notes have letters as their numbers.
_NT_SIGINFO = 0x53494749
_FAULTS = {4, 5, 7, 8, 11}  # SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV: they have an address
_SIGNAL_AT = 12  # pr_cursig of elf_prstatus, behind three ints
_NAME, _ARGUMENTS, _IDS = 16, 80, 16  # the end of elf_prpsinfo: four ints, pr_fname, pr_psargs
_NAME_SHOWN = 15
UNKNOWN_MODE = "???"  # of a mapped file of which the core file has no segment
# Each thread has notes with all of its registers, some kilobytes with AVX-512.
_NOTES_MAX = 32 << 20
_FILES_MAX = 200_000
_BUILD_ID_MAX = 64
_BUILD_NOTES_MAX = 1 << 16


class NotACore(Exception):
    """Says that a file is no core file, and what it is."""


class CoreFile(Struct, frozen=True):
    """Describes a core file; what it does not contain is "" or 0.

    `program` is the absolute path of the executable, `name` the first 15 bytes of its file name,
    `words` its command line in at most 79 bytes; `build_id` is in hexadecimal; `missing` counts the
    bytes that the file lacks at its end; `fault_address` is the one that the signal is about.
    """

    program: str = ""
    name: str = ""
    words: str = ""
    pid: int = 0
    signal: int = 0
    threads: int = 0
    build_id: str = ""
    missing: int = 0
    fault_address: int | None = None


def read_core(path: str) -> CoreFile:
    """Read a core file.

    Raises:
        NotACore: It is something else.
        OSError: It cannot be read.
    """
    with Path(path).open("rb") as file:
        descriptor = file.fileno()
        size = os.fstat(descriptor).st_size
        return parse_core(lambda at, count: _read_exactly(descriptor, count, at), size)


def read_build_id(path: str) -> str:
    """Return a program's build id in hexadecimal; "" where it has none or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            descriptor = file.fileno()
            return _build_id(
                lambda at, count: _read_exactly(descriptor, count, at), in_memory=False
            )
    except OSError:
        return ""


def _read_exactly(descriptor: int, count: int, at: int) -> bytes:
    try:
        return os.pread(descriptor, count, at)
    except (OSError, OverflowError, ValueError):  # an offset beyond any file
        return b""


def parse_core(read: ReadBytes, size: int) -> CoreFile:
    """Read a core file of so many bytes.

    Raises:
        NotACore: It is something else.
    """
    head = read(0, 64)
    if head[:4] in _MACH_O:
        return CoreFile()  # LLDB knows these; we do not
    header, segments = _parse_elf(read, head)
    if header.kind != elf_headers.CORE:
        raise NotACore(f"is {_KINDS.get(header.kind, 'an ELF file')}, no core file")
    if not segments:
        raise NotACore("is an empty core file")
    # A full disk, or a limit (RLIMIT_CORE), cuts a core file off: its headers still promise
    # all.
    end = max((one.offset + one.file_size for one in segments), default=0)
    core = CoreFile(missing=max(0, end - size))
    notes = b""
    for one in _segments_of_kind(segments, elf_headers.NOTES):
        notes += read(one.offset, min(one.file_size, _NOTES_MAX - len(notes)))
    return _apply_notes(core, header.layout, notes, _memory_reader(read, segments))


def _segments_of_kind(segments: list[ElfSegment], kind: int) -> list[ElfSegment]:
    return [one for one in segments if one.kind == kind]


def _parse_elf(read: ReadBytes, head: bytes) -> tuple[ElfHeader, list[ElfSegment]]:
    if not head:
        raise NotACore("is empty")
    try:
        header = elf_headers.parse_header(head)
        return header, elf_headers.read_segments(read, header)
    except NotElfError:
        raise NotACore("is not an ELF file, as core files are") from None
    except struct.error:
        raise NotACore("ends within its first header") from None


def _memory_reader(read: ReadBytes, segments: list[ElfSegment]) -> Callable[[int, int], bytes]:
    """Return what reads the process's memory out of the file."""
    loads = _segments_of_kind(segments, elf_headers.LOADED)

    def memory(address: int, count: int) -> bytes:
        for one in loads:
            if one.address <= address < one.address + one.file_size:
                skipped = address - one.address
                return read(one.offset + skipped, min(count, one.file_size - skipped))
        return b""

    return memory


def _apply_notes(core: CoreFile, shape: NumberLayout, notes: bytes, memory: ReadBytes) -> CoreFile:
    name = words = ""
    pid = signal = threads = entry = 0
    fault: int | None = None
    files: list[tuple[int, int, int, str]] = []
    for owner, kind, text in elf_headers.parse_notes(notes, shape.order):
        if owner not in {b"CORE", b"LINUX"}:
            continue
        if kind == _NT_PRSTATUS:
            threads += 1
            if threads == 1 and len(text) >= _SIGNAL_AT + 2:  # the thread that made it is first
                (signal,) = struct.unpack_from(f"{shape.order}H", text, _SIGNAL_AT)
        elif kind == _NT_PRPSINFO and len(text) >= _IDS + _NAME + _ARGUMENTS:
            pid = struct.unpack_from(f"{shape.order}I", text, len(text) - 112)[0]
            name, words = _field_text(text[-96:-80]), _field_text(text[-80:])
        elif kind == _NT_SIGINFO and threads == 1:
            fault = _fault_address(text, shape)
        elif kind == _NT_AUXV:
            values = shape.read_words(text)
            entry = dict(zip(values[::2], values[1::2], strict=False)).get(_AT_ENTRY, 0)
        elif kind == _NT_FILE:
            files = _parse_mapped_files(text, shape)
    # By its entry point: the program is the mapped file that contains it, whatever else is
    # mapped. pr_fname has 15 bytes of the name alone.
    program = next((path for start, end, _, path in files if start <= entry < end), "")
    base = next((start for start, _, at, path in files if path == program and at == 0), 0)
    build_id = ""
    if program and base:
        build_id = _build_id(lambda at, count: memory(base + at, count), in_memory=True)
    return CoreFile(
        program=program,
        name=name,
        words=words.strip(),
        pid=pid,
        signal=signal,
        threads=threads,
        build_id=build_id,
        missing=core.missing,
        fault_address=fault,
    )


def _fault_address(text: bytes, shape: NumberLayout) -> int | None:
    """Read si_addr, which only a signal has that the kernel sent (sigaction(2): si_code > 0)."""
    # siginfo_t is three ints, and padding where addresses have eight bytes.
    at = 4 * (4 if shape.word == "Q" else 3)
    if len(text) < at + shape.word_size:
        return None
    number, _, code = struct.unpack_from(f"{shape.order}iii", text)
    if number not in _FAULTS or code <= 0:
        return None
    return int(shape.read_words(text[at : at + shape.word_size])[0])


def read_core_map(path: str) -> list[MemoryRegion]:
    """Return a core file's mappings with the names of mapped files; nothing if it has none."""
    try:
        with Path(path).open("rb") as file:
            descriptor = file.fileno()
            return parse_core_map(lambda at, count: _read_exactly(descriptor, count, at))
    except (NotACore, OSError):
        return []


def parse_core_map(read: ReadBytes) -> list[MemoryRegion]:
    """Parse the mappings of a core file.

    Raises:
        NotACore: It is something else.
    """
    header, segments = _parse_elf(read, read(0, elf_headers.HEADER_SIZE))
    files: list[tuple[int, int, int, str]] = []
    for one in _segments_of_kind(segments, elf_headers.NOTES):
        notes = read(one.offset, min(one.file_size, _NOTES_MAX))
        for _, kind, text in elf_headers.parse_notes(notes, header.layout.order):
            if kind == _NT_FILE:
                files += _parse_mapped_files(text, header.layout)
    loaded = [
        MemoryRegion(
            one.address,
            one.address + one.size,
            "".join(
                letter if one.flags & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1))
            ),
            next((path for start, end, _, path in files if start <= one.address < end), ""),
        )
        for one in _segments_of_kind(segments, elf_headers.LOADED)
    ]
    # gdb's gcore leaves out what the mapped files hold unchanged.
    starts = {one.start for one in loaded}
    omitted = [
        MemoryRegion(start, end, UNKNOWN_MODE, path)
        for start, end, _, path in files
        if start not in starts
    ]
    return sorted([*loaded, *omitted], key=lambda one: one.start)


def _field_text(field: bytes) -> str:
    text = field.split(b"\0", 1)[0].decode(errors="replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _parse_mapped_files(text: bytes, shape: NumberLayout) -> list[tuple[int, int, int, str]]:
    """Read NT_FILE: the mapped files as (start, end, page of the file, path)."""
    numbers = shape.read_words(text[: shape.word_size * 2])
    if len(numbers) < 2:  # noqa: PLR2004 - the count and the size of a page
        return []
    count = min(numbers[0], _FILES_MAX)
    table = shape.read_words(text[shape.word_size * 2 : shape.word_size * (2 + 3 * count)])
    paths = text[shape.word_size * (2 + 3 * count) :].split(b"\0")
    spans = zip(table[::3], table[1::3], table[2::3], paths, strict=False)
    return [(start, end, at, _field_text(path)) for start, end, at, path in spans]


def _build_id(read: ReadBytes, *, in_memory: bool) -> str:
    """Find the build id among the notes of an ELF image, in a file or where it was mapped."""
    try:
        header, segments = _parse_elf(read, read(0, elf_headers.HEADER_SIZE))
    except NotACore:
        return ""
    # In memory the headers' addresses count from the lowest loaded one, which is the
    # mapping's beginning.
    first = min((one.address for one in _segments_of_kind(segments, elf_headers.LOADED)), default=0)
    for one in _segments_of_kind(segments, elf_headers.NOTES):
        at = one.address - first if in_memory else one.offset
        notes = read(at, min(one.file_size, _BUILD_NOTES_MAX)) if at >= 0 else b""
        build_id = elf_headers.find_build_id(notes, header.layout.order)
        if build_id:
            return build_id[: 2 * _BUILD_ID_MAX]
    return ""


def explain_mismatch(core: CoreFile, program: str, build_id: str) -> str | None:
    """Say why a core file is not of a program with this build id; None if it may well be."""
    of = core.program or core.name
    # The build id decides where both have one; else only the names can be compared.
    if core.build_id and build_id:
        if core.build_id == build_id:
            return None
        if os.path.basename(of) == os.path.basename(program):
            return f"another build of {of}: build id {core.build_id}, not {build_id}"
        return f"{of}, build id {core.build_id}, not {build_id}"
    if core.program:
        is_same = os.path.basename(core.program) == os.path.basename(program)
    else:
        is_same = not core.name or os.path.basename(program)[:_NAME_SHOWN] == core.name
    return None if is_same else of
