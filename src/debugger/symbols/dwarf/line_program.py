"""Runs a line program and returns its rows (DWARF 2 to 5, section 6.2)."""

from __future__ import annotations

import functools
import posixpath
from array import array
from dataclasses import dataclass, field
from typing import Final

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugSections
from debugger.symbols.dwarf.dwarf_codes import read_sleb128, read_text, read_uleb128, read_unsigned

IS_STMT: Final = 1
END: Final = 2
PROLOGUE_END: Final = 4
# The row continues a line whose parts the compiler tells apart (discriminators).
CONTINUES: Final = 8

_DWARF64: Final = 0xFFFFFFFF
_VERSION_2, _VERSION_4, _VERSION_5 = 2, 4, 5
_ENTRIES_MAX: Final = 1 << 20  # of a table
_CONTENT_PATH, _CONTENT_DIRECTORY = 1, 2
_EXTENDED, _COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN, _NEGATE = range(7)
_BASIC_BLOCK, _ADD_PC, _FIXED_PC, _PROLOGUE_END = 7, 8, 9, 10
_END_SEQUENCE, _SET_ADDRESS, _SET_DISCRIMINATOR = 1, 2, 4


@dataclass(frozen=True, slots=True)
class LineHeader:
    """Holds the head of a line program; `files` are paths, by the numbers that its rows use."""

    files: tuple[str, ...]
    start: int
    end: int
    minimum: int
    default_is_stmt: bool
    line_base: int
    line_range: int
    opcode_base: int
    lengths: bytes


@dataclass(slots=True)
class LineRows:
    """Holds the rows of one program as columns, in the order of their addresses.

    A row is valid from its address up to the next row's; one with `END` ends a sequence.
    """

    address: array[int] = field(default_factory=lambda: array("Q"))
    file: array[int] = field(default_factory=lambda: array("I"))
    line: array[int] = field(default_factory=lambda: array("I"))
    flags: array[int] = field(default_factory=lambda: array("B"))

    def __len__(self) -> int:
        return len(self.address)


def read_header(sections: DebugSections, at: int, directory: str, name: str) -> LineHeader:
    """Read the head of a line program; `directory` and `name` are its unit's.

    Without a directory, version 5's first folder is the compilation's (DWARF 5, 6.2.4).

    Raises:
        IndexError, ValueError: The table is damaged, or of an unknown version.
    """
    line = sections["line"]
    length, word, at = read_unsigned(line, at, 4), 4, at + 4
    if length == _DWARF64:
        length, word, at = read_unsigned(line, at, 8), 8, at + 8
    end = at + length
    version, at = read_unsigned(line, at, 2), at + 2
    if not _VERSION_2 <= version <= _VERSION_5:
        raise ValueError(f"version {version} of a line table")
    # The sizes of an address and of a segment selector, both new in version 5.
    if version >= _VERSION_5:
        at += 2
    start = at + word + read_unsigned(line, at, word)
    at += word
    minimum, at = line[at], at + 1
    # maximum_operations_per_instruction, for VLIW machines alone.
    if version >= _VERSION_4:
        at += 1
    default, base, spread, opcode_base = line[at : at + 4]
    lengths = bytes([0]) + line[at + 4 : at + 3 + opcode_base]
    at += 3 + opcode_base
    signed_base = base - 256 if base > 127 else base  # noqa: PLR2004 - a signed byte
    if version >= _VERSION_5:
        files = _read_tables(sections, at, word, directory)
    else:
        files = _old_tables(line, at, directory, name)
    return LineHeader(
        files, start, end, minimum, bool(default), signed_base, spread, opcode_base, lengths
    )


@functools.lru_cache(maxsize=1 << 14)
def _join_path(folder: str, name: str) -> str:
    return name if name.startswith("/") else posixpath.normpath(posixpath.join(folder, name))


def _old_tables(line: bytes, at: int, directory: str, name: str) -> tuple[str, ...]:
    folders = [directory]
    while line[at]:
        folder = read_text(line, at)
        at = line.index(b"\0", at) + 1
        folders.append(_join_path(directory, folder))
    at += 1
    # Up to version 4 files count from 1, and directory 0 is the compilation's: entry 0 is
    # made up, so that numbers mean the same in all versions.
    files = [_join_path(directory, name)]
    while line[at]:
        file = read_text(line, at)
        number, at = read_uleb128(line, line.index(b"\0", at) + 1)
        _, at = read_uleb128(line, at)
        _, at = read_uleb128(line, at)
        files.append(_join_path(folders[number] if number < len(folders) else directory, file))
    return tuple(files)


def _read_tables(sections: DebugSections, at: int, word: int, directory: str) -> tuple[str, ...]:
    folders, at = _read_table(sections, at, word)
    files, at = _read_table(sections, at, word)
    directory = directory or (folders[0][0] if folders else "")
    places = [_join_path(directory, path) for path, _ in folders] or [directory]
    return tuple(
        _join_path(places[number] if number < len(places) else directory, path)
        for path, number in files
    )


def _read_table(sections: DebugSections, at: int, word: int) -> tuple[list[tuple[str, int]], int]:
    line = sections["line"]
    shape, at = [], at + 1
    for _ in range(line[at - 1]):
        content, at = read_uleb128(line, at)
        form, at = read_uleb128(line, at)
        shape.append((content, form))
    count, at = read_uleb128(line, at)
    if word == 4 and shape == _USUAL:  # noqa: PLR2004 - the size of an offset
        return _usual_table(line, sections["line_str"], at, count)
    found = []
    for _ in range(min(count, _ENTRIES_MAX) if shape else 0):
        path, number = "", 0
        for content, form in shape:
            value, at = _read_field(sections, at, form, word)
            if content == _CONTENT_PATH and isinstance(value, str):
                path = value
            elif content == _CONTENT_DIRECTORY and isinstance(value, int):
                number = value
        found.append((path, number))
    return found, at


# The table's shape as GCC writes it: a large program has thousands of these for each of its
# units, so this one is read without a call for each field.
_USUAL: Final = [(_CONTENT_PATH, dw.FORM_LINE_STRP), (_CONTENT_DIRECTORY, dw.FORM_UDATA)]


def _usual_table(
    line: bytes, texts: bytes, at: int, count: int
) -> tuple[list[tuple[str, int]], int]:
    found = []
    for _ in range(count):
        place = int.from_bytes(line[at : at + 4], "little")
        end = texts.find(b"\0", place)
        number, at = read_uleb128(line, at + 4)
        found.append((texts[place : end if end >= 0 else None].decode("utf-8", "replace"), number))
    return found, at


_FIELD_SIZES: Final = {
    dw.FORM_DATA1: 1,
    dw.FORM_DATA2: 2,
    dw.FORM_DATA4: 4,
    dw.FORM_DATA8: 8,
    dw.FORM_DATA16: 16,
}


def _read_field(sections: DebugSections, at: int, form: int, word: int) -> tuple[int | str, int]:
    line = sections["line"]
    if form in {dw.FORM_LINE_STRP, dw.FORM_STRP}:
        name = "line_str" if form == dw.FORM_LINE_STRP else "str"
        return read_text(sections[name], read_unsigned(line, at, word)), at + word
    if form == dw.FORM_STRING:
        return read_text(line, at), line.index(b"\0", at) + 1
    if form == dw.FORM_UDATA:
        return read_uleb128(line, at)
    if form == dw.FORM_BLOCK:
        length, at = read_uleb128(line, at)
        return 0, at + length
    size = _FIELD_SIZES.get(form)
    if size is None:
        raise ValueError(f"form {form:#x} in a line table")
    return read_unsigned(line, at, size), at + size


def run_program(sections: DebugSections, head: LineHeader) -> LineRows:
    """Run a program, and return its rows in the order of their addresses.

    Sequences of code that the linker dropped, which begin at 0, are left out.
    """
    sequences: list[tuple[int, LineRows]] = []
    line, at = sections["line"], head.start
    while at < head.end:
        sequence, at = _run_sequence(line, at, head)
        if len(sequence) and sequence.address[0]:
            sequences.append((sequence.address[0], sequence))
    # Within a sequence addresses only rise (DWARF 5, 6.2.5); the sequences themselves are in
    # any order.
    sequences.sort(key=lambda one: one[0])
    rows = LineRows()
    for _, one in sequences:
        rows.address.extend(one.address)
        rows.file.extend(one.file)
        rows.line.extend(one.line)
        rows.flags.extend(one.flags)
    return rows


def _run_sequence(  # noqa: C901, PLR0912, PLR0915 - a call for each opcode would double the time
    line: bytes, at: int, head: LineHeader
) -> tuple[LineRows, int]:
    """Run a program to the end of one sequence."""
    found, end = LineRows(), head.end
    add_address, add_file = found.address.append, found.file.append
    add_line, add_flags = found.line.append, found.flags.append
    base, spread, minimum, first = head.line_base, head.line_range, head.minimum, head.opcode_base
    plain = IS_STMT if head.default_is_stmt else 0
    address, file, number, is_stmt, more = 0, 1, 1, plain, 0
    before, part, is_parted = (0, 0), 0, False  # the last row's file and line; its discriminator
    # The state machine of DWARF 5, 6.2.2. A code from opcode_base on is a special opcode,
    # which advances both address and line and emits a row: the most frequent by far, so it is
    # tested first.
    while at < end:
        code = line[at]
        at += 1
        if code >= first:
            code -= first
            address += code // spread * minimum
            number += base + code % spread
        elif code == _COPY:
            pass
        elif code == _EXTENDED:
            length, at = read_uleb128(line, at)
            if line[at] == _END_SEQUENCE:
                _end_sequence(found, address)
                return found, at + length
            if line[at] == _SET_ADDRESS:
                address = read_unsigned(line, at + 1, length - 1)
            elif line[at] == _SET_DISCRIMINATOR:
                part = line[at + 1]
            at += length
            continue
        else:
            if code == _ADVANCE_PC:
                value, at = read_uleb128(line, at)
                address += value * minimum
            elif code == _ADVANCE_LINE:
                value, at = read_sleb128(line, at)
                number += value
            elif code == _SET_FILE:
                file, at = read_uleb128(line, at)
            elif code == _NEGATE:
                is_stmt ^= IS_STMT
            elif code == _ADD_PC:
                address += (255 - first) // spread * minimum
            elif code == _FIXED_PC:
                address, at = address + read_unsigned(line, at, 2), at + 2
            elif code == _PROLOGUE_END:
                more = PROLOGUE_END
            else:
                for _ in range(head.lengths[code]):
                    _, at = read_uleb128(line, at)
            continue
        # A discriminator marks a part of a line; the rows that follow in the same line
        # continue it as well.
        is_parted = bool(part) or (is_parted and before[1] == number)
        if is_parted and before == (file, number):
            more |= CONTINUES
        before, part = (file, number), 0
        add_address(address)
        add_file(file)
        add_line(max(number, 0))
        add_flags(is_stmt | more)
        more = 0
    return found, end


def _end_sequence(found: LineRows, address: int) -> None:
    found.address.append(address)
    found.file.append(0)
    found.line.append(0)
    found.flags.append(END)
