"""Reads an attribute's content by its form, and follows indirect forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.dwarf_codes import read_sleb128, read_text, read_uleb128, read_unsigned

if TYPE_CHECKING:
    from debugger.symbols.dwarf.debug_entries import Content, DebugEntry, DebugUnit, Range

UNIT_REFERENCES: Final = frozenset(
    {dw.FORM_REF1, dw.FORM_REF2, dw.FORM_REF4, dw.FORM_REF8, dw.FORM_REF_UDATA}
)
_ADDRESS_INDEXES: Final = frozenset(
    {
        dw.FORM_ADDRX,
        dw.FORM_ADDRX1,
        dw.FORM_ADDRX2,
        dw.FORM_ADDRX3,
        dw.FORM_ADDRX4,
        dw.FORM_GNU_ADDR_INDEX,
    }
)
_STRING_INDEXES: Final = frozenset(
    {
        dw.FORM_STRX,
        dw.FORM_STRX1,
        dw.FORM_STRX2,
        dw.FORM_STRX3,
        dw.FORM_STRX4,
        dw.FORM_GNU_STR_INDEX,
    }
)
_SIZES: Final = {
    dw.FORM_ADDR: 8,
    dw.FORM_DATA1: 1,
    dw.FORM_DATA2: 2,
    dw.FORM_DATA4: 4,
    dw.FORM_DATA8: 8,
    dw.FORM_FLAG: 1,
    dw.FORM_REF1: 1,
    dw.FORM_REF2: 2,
    dw.FORM_REF4: 4,
    dw.FORM_REF8: 8,
    dw.FORM_REF_SIG8: 8,
    dw.FORM_REF_SUP4: 4,
    dw.FORM_REF_SUP8: 8,
    dw.FORM_STRX1: 1,
    dw.FORM_STRX2: 2,
    dw.FORM_STRX3: 3,
    dw.FORM_STRX4: 4,
    dw.FORM_ADDRX1: 1,
    dw.FORM_ADDRX2: 2,
    dw.FORM_ADDRX3: 3,
    dw.FORM_ADDRX4: 4,
}
_OFFSETS: Final = frozenset(
    {
        dw.FORM_STRP,
        dw.FORM_LINE_STRP,
        dw.FORM_SEC_OFFSET,
        dw.FORM_REF_ADDR,
        dw.FORM_STRP_SUP,
        dw.FORM_GNU_REF_ALT,
        dw.FORM_GNU_STRP_ALT,
    }
)
_LEBS: Final = frozenset(
    {
        dw.FORM_UDATA,
        dw.FORM_REF_UDATA,
        dw.FORM_STRX,
        dw.FORM_ADDRX,
        dw.FORM_LOCLISTX,
        dw.FORM_RNGLISTX,
        dw.FORM_GNU_ADDR_INDEX,
        dw.FORM_GNU_STR_INDEX,
    }
)
_BLOCK_SIZES: Final = {dw.FORM_BLOCK1: 1, dw.FORM_BLOCK2: 2, dw.FORM_BLOCK4: 4}
_VERSION_2, _VERSION_5 = 2, 5
_OFFSET_32: Final = 4
_FIXED, _LEB, _STRING, _BLOCK_LEB, _BLOCK_SIZED, _INDIRECT = range(6)
_BASE_MAX: Final = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """Describes the shape of an entry: its tag, and each attribute's form and implicit constant."""

    tag: int
    has_children: bool
    attributes: dict[int, tuple[int, int]]
    steps: tuple[tuple[int, int], ...]
    length: int | None

    def skip_attributes(self, info: bytes, at: int, word: int) -> int:
        """Return where the entry's attributes end."""
        # Most shapes have forms of fixed size alone: one addition then skips the entry.
        if self.length is not None:
            return at + self.length
        for kind, size in self.steps:
            if kind == _FIXED:
                at += size
            elif kind == _LEB:
                while info[at] >= 0x80:  # noqa: PLR2004 - more of a LEB128 number follows
                    at += 1
                at += 1
            elif kind == _BLOCK_LEB:
                length, at = read_uleb128(info, at)
                at += length
            elif kind == _STRING:
                at = info.index(b"\0", at) + 1
            elif kind == _BLOCK_SIZED:
                at += size + read_unsigned(info, at, size)
            else:
                form, at = read_uleb128(info, at)
                _, at = _read_content(info, at, form, 0, word)
        return at


# The pattern of one abbreviation: a tag, whether there are children, attributes with their
# forms, and two zeros. A number is as many bytes as have their highest bit set, and one more;
# behind the form 0x21 (implicit_const) stands a constant.
_NUMBER: Final = rb"[\x80-\xff]*+[\x00-\x7f]"
_ONE: Final = re.compile(
    _NUMBER + rb"[\x00-\xff](?:(?!\x00\x00)%b(?:\x21%b|(?!\x21)%b))*+\x00\x00" % ((_NUMBER,) * 3)
)


class AbbreviationTable:
    """Reads a table of abbreviations (DWARF 5, 7.5.3) as far as needed.

    Of most units only the first entry is ever read.
    """

    def __init__(self, section: bytes, at: int, word: int, version: int) -> None:
        self._section = section
        self._at = at
        self._word = word
        self._version = version
        self._found: dict[int, Abbreviation] = {}
        self._starts: dict[int, int] = {}  # of those that were passed over, behind their codes
        self._is_whole = False

    def all_by_code(self) -> dict[int, Abbreviation]:
        """Return the whole table by code."""
        while not self._is_whole:
            self._find_next_end()
        for code in list(self._starts):
            self._read_abbreviation(code)
        return self._found

    def has_form(self, form: int) -> bool:
        """Return whether any attribute has a form."""
        return any(
            form == one
            for abbrev in self.all_by_code().values()
            for one, _ in abbrev.attributes.values()
        )

    def __getitem__(self, code: int) -> Abbreviation:
        found = self._found.get(code)
        if found is not None:
            return found
        while code not in self._starts and not self._is_whole:
            self._find_next_end()
        return self._read_abbreviation(code)

    def _find_next_end(self) -> None:
        """Find where the next abbreviation ends, which is faster than parsing it."""
        code, start = read_uleb128(self._section, self._at)
        if not code:
            self._is_whole = True
            return
        end = _ONE.match(self._section, start)
        if end is None:
            raise ValueError(f"no abbreviation at {start:#x}")
        self._starts[code] = start
        self._at = end.end()

    def _read_abbreviation(self, code: int) -> Abbreviation:
        section, at = self._section, self._starts.pop(code)
        tag, at = read_uleb128(section, at)
        has_children = bool(section[at])
        at += 1
        attributes: dict[int, tuple[int, int]] = {}
        while True:
            attribute, at = read_uleb128(section, at)
            form, at = read_uleb128(section, at)
            constant = 0
            if form == dw.FORM_IMPLICIT_CONST:
                constant, at = read_sleb128(section, at)
            if not attribute and not form:
                break
            attributes[attribute] = (form, constant)
        steps = _skip_steps([form for form, _ in attributes.values()], self._word, self._version)
        length = None
        if all(kind == _FIXED for kind, _ in steps):
            length = sum(size for _, size in steps)
        found = self._found[code] = Abbreviation(tag, has_children, attributes, steps, length)
        return found


def _skip_steps(all_forms: list[int], word: int, version: int) -> tuple[tuple[int, int], ...]:
    steps: list[tuple[int, int]] = []
    for form in all_forms:
        step = _skip_step(form, word, version)
        # Neighbours of fixed size are skipped in one step.
        if step[0] == _FIXED and steps and steps[-1][0] == _FIXED:
            steps[-1] = (_FIXED, steps[-1][1] + step[1])
        else:
            steps.append(step)
    return tuple(steps)


def _skip_step(  # noqa: C901, PLR0911 - a table by form
    form: int, word: int, version: int
) -> tuple[int, int]:
    # In DWARF 2 this form has the size of an address, since version 3 that of an offset.
    if form == dw.FORM_REF_ADDR and version == _VERSION_2:
        return _FIXED, 8
    if form in _SIZES:
        return _FIXED, _SIZES[form]
    if form in _OFFSETS:
        return _FIXED, word
    if form in {dw.FORM_FLAG_PRESENT, dw.FORM_IMPLICIT_CONST}:
        return _FIXED, 0
    if form == dw.FORM_DATA16:
        return _FIXED, 16
    if form in _LEBS or form == dw.FORM_SDATA:
        return _LEB, 0
    if form in {dw.FORM_EXPRLOC, dw.FORM_BLOCK}:
        return _BLOCK_LEB, 0
    if form == dw.FORM_STRING:
        return _STRING, 0
    if form in _BLOCK_SIZES:
        return _BLOCK_SIZED, _BLOCK_SIZES[form]
    if form == dw.FORM_INDIRECT:
        return _INDIRECT, 0
    raise ValueError(f"unknown form {form:#x}")


def read_attributes(
    info: bytes, at: int, abbrev: Abbreviation, word: int, unit: DebugUnit
) -> dict[int, tuple[int, Content]]:
    """Read all attributes of an entry."""
    found: dict[int, tuple[int, Content]] = {}
    for attribute, (form, constant) in abbrev.attributes.items():
        known = form
        if form == dw.FORM_INDIRECT:
            known, at = read_uleb128(info, at)
        width = 8 if known == dw.FORM_REF_ADDR and unit.version == _VERSION_2 else word
        content, at = _read_content(info, at, known, constant, width)
        found[attribute] = (known, content)
    return found


def _read_content(  # noqa: PLR0911 - a table by form
    info: bytes, at: int, form: int, constant: int, word: int
) -> tuple[Content, int]:
    """Read one attribute's content, unresolved, and return where it ends."""
    size = _SIZES.get(form)
    if size is not None:
        return int.from_bytes(info[at : at + size], "little"), at + size
    if form in _OFFSETS:
        return int.from_bytes(info[at : at + word], "little"), at + word
    kind, width = _skip_step(form, word, _VERSION_5)
    if form == dw.FORM_SDATA:
        return read_sleb128(info, at)
    if form == dw.FORM_FLAG_PRESENT:
        return 1, at
    if form == dw.FORM_IMPLICIT_CONST:
        return constant, at
    if kind == _LEB:
        return read_uleb128(info, at)
    if kind == _STRING:
        end = info.index(b"\0", at)
        return info[at:end].decode("utf-8", "replace"), end + 1
    if kind == _BLOCK_LEB:
        length, at = read_uleb128(info, at)
    elif kind == _BLOCK_SIZED:
        length, at = read_unsigned(info, at, width), at + width
    else:
        length = width
    return info[at : at + length], at + length


def read_string(unit: DebugUnit, form: int, content: int | bytes) -> str:
    """Return the text that an offset or an index means."""
    if not isinstance(content, int):
        return ""
    sections = unit.sections
    if form == dw.FORM_STRP:
        return read_text(sections["str"], content)
    if form == dw.FORM_LINE_STRP:
        return read_text(sections["line_str"], content)
    if form in _STRING_INDEXES:
        at = unit.section_base(dw.AT_STR_OFFSETS_BASE) + content * unit.word
        return read_text(sections["str"], read_unsigned(sections["str_offsets"], at, unit.word))
    return ""


def read_address(unit: DebugUnit, form: int, content: int) -> int:
    """Return the address that a form means."""
    return indexed_address(unit, content) if form in _ADDRESS_INDEXES else content


def indexed_address(unit: DebugUnit, index: int) -> int:
    """Return the address that an index of .debug_addr means."""
    return read_unsigned(unit.sections["addr"], unit.section_base(dw.AT_ADDR_BASE) + index * 8, 8)


def read_ranges(entry: DebugEntry) -> tuple[Range, ...]:
    """Return the link-time addresses of an entry's code (DWARF 5, 2.17)."""
    found = entry.raw_attribute(dw.AT_RANGES)
    if found is not None and isinstance(found[1], int):
        if entry.unit.version >= _VERSION_5:
            return tuple(_range_list(entry.unit, found[0], found[1]))
        return tuple(_old_range_list(entry.unit, entry.unit.ranges_base + found[1]))
    low = entry.get_address(dw.AT_LOW_PC)
    high = entry.raw_attribute(dw.AT_HIGH_PC)
    if low is None or high is None or not isinstance(high[1], int):
        return ()
    form, value = high[0], high[1]
    # DW_AT_high_pc is an address by its form, or since DWARF 4 a size.
    is_address = form == dw.FORM_ADDR or form in _ADDRESS_INDEXES
    end = read_address(entry.unit, form, value) if is_address else low + value
    return ((low, end),) if end > low else ()


def _old_range_list(unit: DebugUnit, at: int) -> list[Range]:
    section, base, found = unit.sections["ranges"], unit.low_address, []
    while at + 16 <= len(section):
        low, high = read_unsigned(section, at, 8), read_unsigned(section, at + 8, 8)
        at += 16
        if not low and not high:
            break
        if low == _BASE_MAX:
            base = high
        elif high > low:
            found.append((base + low, base + high))
    return found


def _range_list(unit: DebugUnit, form: int, at: int) -> list[Range]:
    section = unit.sections["rnglists"]
    if form == dw.FORM_RNGLISTX:
        start = unit.section_base(dw.AT_RNGLISTS_BASE)
        at = start + read_unsigned(section, start + at * unit.word, unit.word)
    base, found = unit.low_address, []
    while section[at]:
        kind = section[at]
        at += 1
        if kind == _RLE_BASE_X:
            index, at = read_uleb128(section, at)
            base = indexed_address(unit, index)
            continue
        if kind == _RLE_BASE:
            base, at = read_unsigned(section, at, 8), at + 8
            continue
        low, high, at = list_bounds(unit, section, kind, at, base)
        if high > low:
            found.append((low, high))
    return found


# The kinds of range lists (DWARF 5, 7.25) and of location lists (7.7.3) agree up to the offsets.
_RLE_BASE_X, _RLE_STARTX_ENDX, _RLE_STARTX_LENGTH, _RLE_OFFSETS = 1, 2, 3, 4
_RLE_BASE, _RLE_START_END, _RLE_START_LENGTH = 5, 6, 7


def list_bounds(
    unit: DebugUnit, section: bytes, kind: int, at: int, base: int
) -> tuple[int, int, int]:
    """Read the bounds of one member of a range list, and where they end.

    Raises:
        ValueError: Its kind is unknown.
    """
    if kind == _RLE_OFFSETS:
        low, at = read_uleb128(section, at)
        high, at = read_uleb128(section, at)
        return base + low, base + high, at
    if kind in {_RLE_STARTX_ENDX, _RLE_STARTX_LENGTH}:
        index, at = read_uleb128(section, at)
        low = indexed_address(unit, index)
        second, at = read_uleb128(section, at)
        is_end = kind == _RLE_STARTX_ENDX
        return low, indexed_address(unit, second) if is_end else low + second, at
    low, at = read_unsigned(section, at, 8), at + 8
    if kind == _RLE_START_END:
        return low, read_unsigned(section, at, 8), at + 8
    if kind == _RLE_START_LENGTH:
        length, at = read_uleb128(section, at)
        return low, low + length, at
    raise ValueError(f"unknown kind {kind} in a list of ranges")
