"""Detects what kind of program a file is: its language, and whether it has debug information."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

from msgspec import Struct

from debugger.sources import project_files

_SUFFIXES = {
    ".py": "python",
    ".pyw": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "javascript",
    ".go": "go",
    ".rb": "ruby",
}
_INTERPRETERS = {b"python": "python", b"node": "javascript", b"ruby": "ruby"}
_ELF = b"\x7fELF"
_MACH_O = {b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf"}
# A larger program is not searched to its end.
_SCAN_MAX = 64 << 20
_SECTIONS_MAX = 10_000
_ENTRY_MAX = 256  # bytes; a section's header has 40 or 64


class ProgramFile(Struct, frozen=True):
    """Describes a file; `language` is "" where it cannot be detected.

    `native` stands for compiled code of an unknown language.
    """

    language: str
    is_native: bool = False
    has_debug_info: bool = True


def inspect_program(path: str) -> ProgramFile:
    """Inspect a file; an unreadable one has no language."""
    if not Path(path).is_file():  # to open a FIFO would wait for its writer
        return ProgramFile("go" if project_files.is_package(path) else "")
    try:
        with Path(path).open("rb") as file:
            head = file.read(256)
            if head.startswith(_ELF):
                return _look_at_elf(file.fileno())
    except OSError:
        return ProgramFile("")
    if head[:4] in _MACH_O:
        return ProgramFile("native", is_native=True)
    suffix = Path(path).suffix.lower()
    if suffix in _SUFFIXES:
        return ProgramFile(_SUFFIXES[suffix])
    return ProgramFile(_script_language(head))


def may_fork(path: str) -> bool:
    """Tell whether a compiled program names fork(2) or vfork(2); an unreadable one does not."""
    try:
        with Path(path).open("rb") as file:
            if file.read(len(_ELF)) != _ELF:
                return False
            size = min(os.fstat(file.fileno()).st_size, _SCAN_MAX)
            with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as image:
                # As a whole word of a string table: an imported symbol.
                return any(image.find(b"\0%b\0" % name) >= 0 for name in (b"fork", b"vfork"))
    except OSError:
        return False


def _script_language(head: bytes) -> str:
    first = head.split(b"\n", 1)[0]
    if first.startswith(b"#!"):
        names = [word.rpartition(b"/")[2] for word in first[2:].split()]
        for start, language in _INTERPRETERS.items():
            if any(name.startswith(start) for name in names):
                return language
    return ""


def _look_at_elf(descriptor: int) -> ProgramFile:
    size = os.fstat(descriptor).st_size
    with mmap.mmap(descriptor, min(size, _SCAN_MAX), access=mmap.ACCESS_READ) as image:
        names = _section_names(descriptor)
        has_debug_info = any(
            name in names
            for name in (b".debug_info", b".zdebug_info", b".debug_info.dwo", b".debug_line")
        )
        language = "native"
        if b".note.go.buildid" in names or b".go.buildinfo" in names:
            language = "go"
        # By the names of the runtimes' unwinding routines.
        elif image.find(b"rust_eh_personality") >= 0 or image.find(b"rust_begin_unwind") >= 0:
            language = "rust"
        elif image.find(b"__gxx_personality_v0") >= 0:
            language = "c++"
    return ProgramFile(language, is_native=True, has_debug_info=has_debug_info)


def _section_names(descriptor: int) -> frozenset[bytes]:
    """Return the section names (System V ABI, chapter 4: sections)."""
    header = os.pread(descriptor, 64, 0)
    is_64 = header[4:5] == b"\x02"
    order = "<" if header[5:6] == b"\x01" else ">"
    try:
        if is_64:
            (offset,) = struct.unpack_from(order + "Q", header, 40)
            entry, count, names_at = struct.unpack_from(order + "HHH", header, 58)
            name_fields, where = order + "I", (order + "QQ", 24)
        else:
            (offset,) = struct.unpack_from(order + "I", header, 32)
            entry, count, names_at = struct.unpack_from(order + "HHH", header, 46)
            name_fields, where = order + "I", (order + "II", 16)
        if entry > _ENTRY_MAX:
            return frozenset()
        table = os.pread(descriptor, entry * min(count, _SECTIONS_MAX), offset)
        start, length = struct.unpack_from(where[0], table, entry * names_at + where[1])
        names = os.pread(descriptor, min(length, 1 << 20), start)
        found = set()
        for number in range(min(count, _SECTIONS_MAX)):
            (at,) = struct.unpack_from(name_fields, table, entry * number)
            found.add(names[at : names.find(b"\0", at)])
    except (struct.error, OverflowError, OSError):  # cut off, or offsets beyond any file
        return frozenset()
    return frozenset(found)
