"""Lists the source files that a program was compiled from.

They are named in the line tables of its debug information (`dwarf.line_program`). All sizes and
counts come from the file and are bounded. Little-endian programs only.
"""

from __future__ import annotations

import functools
import os
import struct
import zlib
from pathlib import Path

from debugger.symbols import elf_headers
from debugger.symbols.dwarf import line_program
from debugger.symbols.dwarf.debug_entries import DebugSections

_SECTION_MAX = 256 << 20
_FILES_MAX = 200_000
_SECTIONS = (".debug_line", ".debug_line_str", ".debug_str")


def sources_of(path: str) -> tuple[str, ...]:
    """Return the source files of a program, as they were called when it was compiled.

    Nothing where it has no debug information of its own. Some may be relative: up to version 4
    the directory of the compilation is not in these tables.
    """
    try:
        found = Path(path).stat()
        return _cached_sources(path, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError):
        return ()


@functools.lru_cache(maxsize=8)
def _cached_sources(path: str, modified_ns: int, size: int) -> tuple[str, ...]:
    del modified_ns, size  # they make a changed file another key
    with Path(path).open("rb") as file:
        return tuple(sorted(parse_line_tables(_read_sections(file.fileno()))))


def parse_line_tables(sections: DebugSections) -> set[str]:
    """Return the files that all line tables name; a damaged one ends the list.

    None of them if there are too many to be read in a second.
    """
    found: set[str] = set()
    count = at = 0
    try:
        while at + 4 < len(sections["line"]):
            # Up to version 4 the directory of the compilation is not in the table: paths stay
            # relative, and the first one is only made up (".").
            head = line_program.read_header(sections, at, "", "")
            found.update(path for path in head.files if path != ".")
            count += len(head.files)
            if count > _FILES_MAX:
                return set()
            at = head.end
    except (IndexError, ValueError):
        pass
    return found


def _read_sections(descriptor: int) -> DebugSections:
    """Read the sections that name files; what cannot be read is empty."""

    def read(at: int, size: int) -> bytes:
        return os.pread(descriptor, size, at)

    found: dict[str, bytes] = {}
    try:
        header = elf_headers.parse_header(read(0, elf_headers.HEADER_SIZE))
        for one in elf_headers.read_sections(read, header):
            if one.name in _SECTIONS and one.size <= _SECTION_MAX and header.layout.order == "<":
                content = read(one.offset, one.size)
                if one.flags & elf_headers.COMPRESSED:
                    content = elf_headers.decompress_section(content, header.layout, _SECTION_MAX)
                found[one.name.removeprefix(".debug_")] = content
    except (ValueError, OverflowError, OSError, NotImplementedError, struct.error, zlib.error):
        found = {}
    return DebugSections(lambda _: b"", found)
