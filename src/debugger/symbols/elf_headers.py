"""Reads the headers of ELF files: the first header, segments, sections and notes.

The layout is that of the System V ABI, chapters 4 and 5, and of elf(5). A file may be any file: its
offsets and counts are bounded before they are used, and tables that it cuts off are read as far as
they go.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

from msgspec import Struct

# Returns the bytes at an offset, in this size; fewer bytes where there are no more.
ReadBytes = Callable[[int, int], bytes]

MAGIC = b"\x7fELF"
HEADER_SIZE = 64  # bytes; a header for 32 bits has 52
EXECUTABLE, SHARED, CORE = 2, 3, 4  # e_type
MACHINE_X86_64 = 62
LOADED, INTERPRETER, NOTES, THREAD_LOCAL = 1, 3, 4, 7  # p_type
COMPRESSED = 0x800  # SHF_COMPRESSED
BUILD_ID_NOTE = 3  # NT_GNU_BUILD_ID, of the owner GNU

_ZLIB = 1  # ELFCOMPRESS_ZLIB
_MANY_SEGMENTS = 0xFFFF  # PN_XNUM: the number is in the first section's header
_ENTRY_MAX = 256  # bytes of a table's entry; the largest of today has 64
_ENTRIES_MAX = 200_000
_NAMES_MAX = 16 << 20


class NotElfError(ValueError):
    """The content does not begin as an ELF file does."""


class NumberLayout(Struct, frozen=True):
    """Describes the layout of numbers: `order` is < or >, `word` Q or I, the size of an address."""

    order: str
    word: str

    @property
    def word_size(self) -> int:
        """The bytes of an address."""
        return struct.calcsize(f"={self.word}")

    def read_words(self, content: bytes) -> tuple[int, ...]:
        """Return the numbers of an address's size that some bytes hold."""
        count = len(content) // self.word_size
        return struct.unpack_from(f"{self.order}{count}{self.word}", content)


class ElfHeader(Struct, frozen=True):
    """The first header of an ELF file, with where its tables are and how long their entries are."""

    layout: NumberLayout
    kind: int  # e_type
    machine: int
    entry: int  # the program's first instruction
    segments_at: int
    sections_at: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int
    names_section: int  # the number of the section that holds the sections' names

    @property
    def is_64(self) -> bool:
        """Whether addresses have 64 bits."""
        return self.layout.word == "Q"


class ElfSegment(Struct, frozen=True):
    """A program header: a part of the file, and where it is in memory."""

    kind: int
    flags: int
    offset: int
    file_size: int
    address: int  # at link time
    size: int  # in memory
    alignment: int


class ElfSection(Struct, frozen=True):
    """A section header; `address` is 0 where the section is not loaded."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int


def parse_header(head: bytes) -> ElfHeader:
    """Parse the first header out of the file's first 64 bytes.

    Raises:
        NotElfError: The content is no ELF file.
        struct.error: It ends within the header.
    """
    if head[:4] != MAGIC:
        raise NotElfError("not an ELF file")
    layout = NumberLayout(
        "<" if head[5:6] == b"\x01" else ">", "Q" if head[4:5] == b"\x02" else "I"
    )
    kind, machine = struct.unpack_from(f"{layout.order}HH", head, 16)
    # From e_version on, with three addresses of either size.
    entry, segments_at, sections_at, _, _, *counts = struct.unpack_from(
        f"{layout.order}3{layout.word}I6H", head, 24
    )
    return ElfHeader(layout, kind, machine, entry, segments_at, sections_at, *counts)


def read_segments(read: ReadBytes, header: ElfHeader) -> list[ElfSegment]:
    """Read the program headers, as many as there are whole."""
    order, count = header.layout.order, header.segment_count
    if count == _MANY_SEGMENTS:
        number = read(header.sections_at + (44 if header.is_64 else 28), 4)  # sh_info
        count = struct.unpack(f"{order}I", number)[0] if len(number) == 4 else 0  # noqa: PLR2004
    segments = []
    for one in _read_entries(
        read,
        f"{order}IIQQQQQQ" if header.is_64 else f"{order}8I",
        header.segments_at,
        header.segment_size,
        count,
    ):
        if header.is_64:
            kind, flags, offset, address, _, file_size, size, alignment = one
        else:
            kind, offset, address, _, file_size, size, flags, alignment = one
        segments.append(ElfSegment(kind, flags, offset, file_size, address, size, alignment))
    return segments


def read_sections(read: ReadBytes, header: ElfHeader) -> list[ElfSection]:
    """Read the section headers, as many as there are whole, with their names."""
    order = header.layout.order
    entries = list(
        _read_entries(
            read,
            f"{order}IIQQQQIIQQ" if header.is_64 else f"{order}10I",
            header.sections_at,
            header.section_size,
            header.section_count,
        )
    )
    if header.names_section >= len(entries):
        return []
    _, _, _, _, names_at, names_size, *_ = entries[header.names_section]
    names = read(names_at, min(names_size, _NAMES_MAX))
    return [
        ElfSection(_text_at(names, name_at), kind, flags, address, offset, size)
        for name_at, kind, flags, address, offset, size, *_ in entries
    ]


def _read_entries(
    read: ReadBytes, layout: str, start: int, entry_size: int, count: int
) -> Iterator[tuple[int, ...]]:
    least = struct.calcsize(layout)
    if not least <= entry_size <= _ENTRY_MAX:
        return
    table = read(start, entry_size * min(count, _ENTRIES_MAX))
    for at in range(0, len(table) - least + 1, entry_size):
        yield struct.unpack_from(layout, table, at)


def _text_at(texts: bytes, at: int) -> str:
    end = texts.find(b"\0", at)
    return texts[at : end if end >= 0 else None].decode(errors="replace")


def decompress_section(content: bytes, layout: NumberLayout, most: int) -> bytes:
    """Decompress the content of a section with the flag COMPRESSED, up to `most` bytes.

    Raises:
        NotImplementedError: The compression is not zlib; the argument is its number.
        zlib.error, struct.error: The content is damaged.
    """
    (method,) = struct.unpack_from(f"{layout.order}I", content)
    if method != _ZLIB:
        raise NotImplementedError(method)
    head = 24 if layout.word == "Q" else 12  # Elf64_Chdr, Elf32_Chdr
    return zlib.decompressobj().decompress(content[head:], most)


def parse_notes(content: bytes, order: str) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield owner, kind and content of notes, each part of them padded to four bytes."""
    at = 0
    while at + 12 <= len(content):
        name_size, size, kind = struct.unpack_from(f"{order}III", content, at)
        name_at = at + 12
        start = name_at + (name_size + 3) // 4 * 4
        owner = content[name_at : name_at + name_size].rstrip(b"\0")
        yield owner, kind, content[start : start + size]
        at = start + (size + 3) // 4 * 4


def find_build_id(notes: bytes, order: str) -> str:
    """Return the build id among some notes, in hexadecimal; "" where there is none."""
    for owner, kind, content in parse_notes(notes, order):
        if owner == b"GNU" and kind == BUILD_ID_NOTE:
            return content.hex()
    return ""
