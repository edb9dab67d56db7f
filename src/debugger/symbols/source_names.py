"""Lists the source files that a program was compiled from.

They are named in the line tables of its debug information: DWARF 5, section 6.2.4, and the same
section of versions 2 to 4. All sizes and counts come from the file and are bounded.
"""

from __future__ import annotations

import functools
import os
import posixpath
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

_ELF = b"\x7fELF"
_SECTION_MAX = 256 << 20
_SECTIONS_MAX = 100_000
_FILES_MAX = 200_000
_COMPRESSED = 0x800  # SHF_COMPRESSED
_ZLIB = 1
_WIDE = 0xFFFFFFFF  # a unit in the 64-bit format of DWARF
_OLDEST, _FIRST_WITH_OPS, _FIRST_WITH_FORMATS = 2, 4, 5
_PATH, _DIRECTORY = 1, 2  # DW_LNCT_path, DW_LNCT_directory_index
_STRING, _STRP, _LINE_STRP, _UDATA = 0x08, 0x0E, 0x1F, 0x0F
_BLOCK = 0x09
_SIZES: Mapping[int, int] = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}
_WANTED = (b".debug_line", b".debug_line_str", b".debug_str")


class LineSections(Struct, frozen=True):
    """Holds the sections that name files, uncompressed; `order` is < or >."""

    line: bytes = b""
    line_texts: bytes = b""
    texts: bytes = b""
    order: str = "<"


def sources_of(path: str) -> tuple[str, ...]:
    """Return the source files of a program, as they were called when it was compiled.

    Nothing where it has no debug information of its own. Some may be relative: up to version 4
    the directory of the compilation is told elsewhere.
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


def parse_line_tables(sections: LineSections) -> set[str]:
    """Return the files that all line tables name; a damaged one ends the list.

    None of them if there are too many to be read in a second.
    """
    found: set[str] = set()
    count = 0
    try:
        for unit in _line_tables(sections):
            for path in _table_files(unit, sections):
                found.add(path)
                count += 1
                if count > _FILES_MAX:
                    return set()
    except (struct.error, IndexError, ValueError):
        pass
    return found


class _ByteCursor:
    """Reads numbers and texts out of bytes, one after another."""

    def __init__(self, text: bytes, order: str, *, is_wide: bool = False) -> None:
        self.text = text
        self.order = order
        self.is_wide = is_wide
        self.at = 0

    def read_number(self, size: int) -> int:
        self.at += size
        part = self.text[self.at - size : self.at]
        if len(part) < size:
            raise ValueError("cut off")
        return int.from_bytes(part, "little" if self.order == "<" else "big")

    def read_offset(self) -> int:
        return self.read_number(8 if self.is_wide else 4)

    def read_leb128(self) -> int:
        value = shift = 0
        while True:
            byte = self.read_number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follow
                return value
            if shift > 70:  # noqa: PLR2004 - more than ten bytes are no number
                raise ValueError("no number")

    def read_string(self) -> str:
        end = self.text.index(b"\0", self.at)
        text = self.text[self.at : end]
        self.at = end + 1
        return text.decode(errors="replace")


def _line_tables(sections: LineSections) -> Iterator[_ByteCursor]:
    """Yield the line tables, each from its version on."""
    text, order, at = sections.line, sections.order, 0
    while at + 4 < len(text):
        (length,) = struct.unpack_from(f"{order}I", text, at)
        at += 4
        is_wide = length == _WIDE
        if is_wide:
            (length,) = struct.unpack_from(f"{order}Q", text, at)
            at += 8
        yield _ByteCursor(text[at : at + length], order, is_wide=is_wide)
        at += length


def _table_files(unit: _ByteCursor, sections: LineSections) -> Iterator[str]:
    version = unit.read_number(2)
    if version < _OLDEST or version > _FIRST_WITH_FORMATS:
        return
    if version >= _FIRST_WITH_FORMATS:
        unit.read_number(2)  # sizes of an address and of a segment selector
    unit.read_offset()  # the length of the header
    # Instruction length, operations, is_stmt, line base and range, in one byte each.
    unit.read_number(4 if version < _FIRST_WITH_OPS else 5)
    for _ in range(unit.read_number(1) - 1):
        unit.read_number(1)  # how many operands an opcode has
    if version >= _FIRST_WITH_FORMATS:
        folders = [path for path, _ in _entry_list(unit, sections)]
        files = list(_entry_list(unit, sections))
    else:
        folders = ["", *_string_list(unit)]
        files = list(_old_files(unit))
    for path, folder in files:
        # Up to version 4 the directory of the compilation is not in the table: paths stay
        # relative.
        inside = folders[folder] if folder < len(folders) else ""
        base = folders[0] if folders else ""
        yield posixpath.normpath(posixpath.join(base, inside, path))


def _string_list(unit: _ByteCursor) -> Iterator[str]:
    while text := unit.read_string():
        yield text


def _old_files(unit: _ByteCursor) -> Iterator[tuple[str, int]]:
    for name in _string_list(unit):
        folder = unit.read_leb128()
        unit.read_leb128()  # when it was changed
        unit.read_leb128()  # its size
        yield name, folder


def _entry_list(unit: _ByteCursor, sections: LineSections) -> Iterator[tuple[str, int]]:
    """Yield the paths of a list, and each one's folder by its place in the list of folders."""
    formats = [(unit.read_leb128(), unit.read_leb128()) for _ in range(unit.read_number(1))]
    for _ in range(min(unit.read_leb128(), _FILES_MAX)):
        path, folder = "", 0
        for content, form in formats:
            value = _read_form(unit, form, sections)
            if content == _PATH and isinstance(value, str):
                path = value
            elif content == _DIRECTORY and isinstance(value, int):
                folder = value
        yield path, folder


def _read_form(unit: _ByteCursor, form: int, sections: LineSections) -> str | int:
    """Read a value.

    Raises:
        ValueError: A form that is not used here.
    """
    if form == _STRING:
        return unit.read_string()
    if form in {_STRP, _LINE_STRP}:
        start = unit.read_offset()
        texts = sections.line_texts if form == _LINE_STRP else sections.texts
        return texts[start : texts.index(b"\0", start)].decode(errors="replace")
    if form == _UDATA:
        return unit.read_leb128()
    if form == _BLOCK:
        return unit.read_number(unit.read_leb128())
    return unit.read_number(_SIZES[form]) if form in _SIZES else _unknown_form(form)


def _unknown_form(form: int) -> int:
    raise ValueError(f"form {form:#x}")


def _read_sections(descriptor: int) -> LineSections:
    """Read the sections (System V ABI, chapter 4); what cannot be read is empty."""
    header = os.pread(descriptor, 64, 0)
    if header[:4] != _ELF:
        return LineSections()
    is_64 = header[4:5] == b"\x02"
    order = "<" if header[5:6] == b"\x01" else ">"
    found: dict[bytes, bytes] = {}
    try:
        (at,) = struct.unpack_from(f"{order}{'Q' if is_64 else 'I'}", header, 40 if is_64 else 32)
        entry, count, names = struct.unpack_from(f"{order}HHH", header, 58 if is_64 else 46)
        layout = f"{order}II{'QQQQ' if is_64 else 'IIII'}"
        table = os.pread(descriptor, min(entry, 256) * min(count, _SECTIONS_MAX), at)
        headers = [
            struct.unpack_from(layout, table, entry * number)
            for number in range(min(count, _SECTIONS_MAX))
        ]
        texts = os.pread(descriptor, min(headers[names][5], 1 << 20), headers[names][4])
        for name_at, _, flags, _, start, size in headers:
            name = texts[name_at : texts.find(b"\0", name_at)]
            if name in _WANTED and size <= _SECTION_MAX:
                raw = os.pread(descriptor, size, start)
                found[name] = (
                    _decompress_section(raw, order, is_64=is_64) if flags & _COMPRESSED else raw
                )
    except (struct.error, IndexError, OverflowError, OSError, zlib.error):
        return LineSections()
    line, line_texts, texts = (found.get(name, b"") for name in _WANTED)
    return LineSections(line, line_texts, texts, order)


def _decompress_section(raw: bytes, order: str, *, is_64: bool) -> bytes:
    """Decompress a section: its kind of compression and size come first; only zlib is known."""
    kind, head = struct.unpack_from(f"{order}I", raw)[0], 24 if is_64 else 12
    if kind != _ZLIB:
        return b""
    return zlib.decompressobj().decompress(raw[head:], _SECTION_MAX)
