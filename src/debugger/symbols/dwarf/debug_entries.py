"""Reads the units and entries of .debug_info lazily."""

from __future__ import annotations

import bisect
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from typing import Final, TypeAlias

from debugger.symbols.dwarf import attribute_forms
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.address_ranges import AddressRanges, SpanColumns, read_columns
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.dwarf_codes import read_uleb128, read_unsigned

Content: TypeAlias = int | bytes | str
Range: TypeAlias = tuple[int, int]

_DWARF64: Final = 0xFFFFFFFF
_UNIT_TYPE, _UNIT_SKELETON, _UNIT_SPLIT, _UNIT_SPLIT_TYPE = 2, 4, 5, 6
_VERSION_5: Final = 5
_VERSIONS: Final = (2, 3, 4, 5)
# A chain of origins and specifications has two or three links; a broken file could have a ring.
_LINKS_MAX: Final = 8


class DebugSections:
    """Reads the debug sections of one file, each on demand."""

    def __init__(
        self, load: Callable[[str], bytes], known: Mapping[str, bytes] | None = None
    ) -> None:
        self.load = load
        self._cached: dict[str, bytes] = dict(known or {})

    def __getitem__(self, name: str) -> bytes:
        """Return a section's content; `name` is without `.debug_`."""
        found = self._cached.get(name)
        if found is None:
            found = self._cached[name] = self.load(f".debug_{name}")
        return found


class DebugUnit:
    """Reads one unit: a compiled file, or a part of one."""

    def __init__(
        self,
        sections: DebugSections,
        units: DebugUnits,
        offset: int,
        skeleton: DebugUnit | None = None,
        base: int = 0,
    ) -> None:
        info = sections["info"]
        self.sections = sections
        self.units = units
        self.offset = offset
        self.skeleton = skeleton  # of a unit in a .dwo file: what the program itself has of it
        self.info_base = base  # where its file's .debug_info begins among those that are joined
        length, at = read_unsigned(info, offset, 4), offset + 4
        self.word = 4
        if length == _DWARF64:
            length, at, self.word = read_unsigned(info, at, 8), at + 8, 8
        self.end = at + length
        self.version = read_unsigned(info, at, 2)
        at += 2
        # DW_UT_compile, which is all that there was before version 5.
        self.kind = 1
        self.signature: int | None = None
        self.type_offset = 0
        self.dwo_id: int | None = None
        if self.version >= _VERSION_5:
            self.kind = info[at]
            self.abbrev_offset = read_unsigned(info, at + 2, self.word)
            at += 2 + self.word
            if self.kind in {_UNIT_SKELETON, _UNIT_SPLIT}:
                self.dwo_id = read_unsigned(info, at, 8)
                at += 8
            elif self.kind in {_UNIT_TYPE, _UNIT_SPLIT_TYPE}:
                self.signature = read_unsigned(info, at, 8)
                self.type_offset = offset + read_unsigned(info, at + 8, self.word)
                at += 8 + self.word
        else:
            self.abbrev_offset = read_unsigned(info, at, self.word)
            at += self.word + 1
        self.first = at
        self._by_offset: dict[int, DebugEntry] | None = None
        self.is_read = False
        self.is_borrowed = False  # its entries are another's of the same unit, too

    @property
    def is_known(self) -> bool:
        """Whether this version of DWARF is read here."""
        return self.version in _VERSIONS

    @cached_property
    def abbreviations(self) -> attribute_forms.AbbreviationTable:
        """The shapes of this unit's entries, by their codes."""
        return self.units.read_abbreviations(self)

    @cached_property
    def top_entry(self) -> DebugEntry:
        """The entry of the unit itself; its children are not read by this."""
        info = self.sections["info"]
        code, at = read_uleb128(info, self.first)
        return DebugEntry(self, self.first, self.abbreviations[code], at, None)

    @cached_property
    def low_address(self) -> int:
        """The address that the unit's range and location lists begin with as their base."""
        return (self.skeleton or self).top_entry.get_address(dw.AT_LOW_PC) or 0

    @cached_property
    def name(self) -> str:
        """The file that was compiled."""
        return self.top_entry.get_text(dw.AT_NAME)

    @cached_property
    def directory(self) -> str:
        """The directory it was compiled in."""
        return (self.skeleton or self).top_entry.get_text(dw.AT_COMP_DIR)

    @cached_property
    def code_ranges(self) -> tuple[Range, ...]:
        """The addresses of its code."""
        return (self.skeleton or self).top_entry.code_ranges()

    @property
    def line_program(self) -> int | None:
        """The offset of its line program in .debug_line."""
        return (self.skeleton or self).top_entry.get_number(dw.AT_STMT_LIST)

    @property
    def ranges_base(self) -> int:
        """The offset that range lists of a split unit of DWARF 4 count from."""
        skeleton = self.skeleton
        return (
            skeleton.top_entry.get_number(dw.AT_GNU_RANGES_BASE) or 0 if skeleton is not None else 0
        )

    @cached_property
    def has_lines_only(self) -> bool:
        """Whether it was compiled without information about variables and types (-g1)."""
        tags = {one.tag for one in self.abbreviations.all_by_code().values()}
        if dw.TAG_BASE in tags or dw.TAG_PARAMETER in tags:
            return False
        producer = self.top_entry.get_text(dw.AT_PRODUCER)
        if "rustc" in producer:
            return dw.TAG_SUBPROGRAM in tags
        return " -g1" in producer or ("clang" in producer and dw.TAG_SUBPROGRAM not in tags)

    @cached_property
    def split_id(self) -> int | None:
        """The number that a skeleton and its unit in a .dwo file share; None of other units."""
        return (
            self.dwo_id if self.dwo_id is not None else self.top_entry.get_number(dw.AT_GNU_DWO_ID)
        )

    def section_base(self, attribute: int) -> int:
        """Return where the unit's part of an indexed section begins."""
        found = self.top_entry.get_number(attribute)
        if found is not None:
            return found
        # The addresses of a split unit are in the program, where the linker has relocated
        # them.
        if attribute == dw.AT_ADDR_BASE:
            known = (self.skeleton or self).top_entry
            return known.get_number(attribute) or known.get_number(dw.AT_GNU_ADDR_BASE) or 0
        # A .dwo file has one part for each unit, which begins with a header in DWARF 5 (7.26-29).
        if self.version < _VERSION_5 or self.skeleton is None:
            return 0
        length = 4 if self.word == 4 else 12  # noqa: PLR2004 - an offset of 32 bits
        return length + (4 if attribute == dw.AT_STR_OFFSETS_BASE else 8)

    def read_entries(self) -> DebugEntry:
        """Read all of the unit's entries; gives the root with its children."""
        self._scan_entries()
        return self.top_entry

    def find_entry(self, offset: int) -> DebugEntry | None:
        """Find the entry at an offset of .debug_info, within this unit."""
        return self._scan_entries().get(offset)

    def all_entries(self) -> Iterable[DebugEntry]:
        """Return all of the unit's entries, in their order."""
        return self._scan_entries().values()

    def _scan_entries(self) -> dict[int, DebugEntry]:
        if self._by_offset is not None:
            return self._by_offset
        # The same unit may have been read a moment ago for its spans: its entries are taken
        # over.
        last = self.units.last_read
        if last is not None and last is not self and last.offset == self.offset:
            self._by_offset = last._scan_entries()  # noqa: SLF001 - of our own kind
            self.top_entry, self.is_read, self.is_borrowed = last.top_entry, True, True
            return self._by_offset
        # One pass over the unit that skips attributes: only the tree and the places of the
        # entries are kept, and attributes are read when somebody asks for them. The loop runs
        # for each entry of a unit.
        info, abbrevs = self.sections["info"], self.abbreviations.all_by_code()
        found: dict[int, DebugEntry] = {self.top_entry.offset: self.top_entry}
        self.top_entry.children = []
        at = self.top_entry.abbrev.skip_attributes(info, self.top_entry.start, self.word)
        parents = [self.top_entry] if self.top_entry.abbrev.has_children else []
        while parents and at < self.end:
            start = at
            code = info[at]
            at += 1
            if code >= 0x80:  # noqa: PLR2004 - a longer LEB128 number
                code, at = read_uleb128(info, start)
            if not code:
                parents.pop()
                continue
            abbrev = abbrevs[code]
            parent = parents[-1]
            entry = DebugEntry(self, start, abbrev, at, parent)
            parent.children.append(entry)
            found[start] = entry
            at = abbrev.skip_attributes(info, at, self.word)
            if abbrev.has_children:
                parents.append(entry)
        self._by_offset, self.is_read = found, True
        return found


class DebugEntry:
    """Reads one debugging information entry; its attributes are read on demand."""

    __slots__ = ("_cached", "abbrev", "children", "offset", "parent", "start", "unit")

    def __init__(
        self,
        unit: DebugUnit,
        offset: int,
        abbrev: attribute_forms.Abbreviation,
        start: int,
        parent: DebugEntry | None,
    ) -> None:
        self.unit = unit
        self.offset = offset
        self.abbrev = abbrev
        self.start = start
        self.parent = parent
        self.children: list[DebugEntry] = []
        self._cached: dict[int, tuple[int, Content]] | None = None

    def __repr__(self) -> str:
        return f"<Entry {self.tag:#x} {self.get_text(dw.AT_NAME)!r} at {self.offset:#x}>"

    @property
    def tag(self) -> int:
        """The kind of entry."""
        return self.abbrev.tag

    def has_attribute(self, attribute: int) -> bool:
        """Return whether the entry itself has an attribute."""
        return attribute in self.abbrev.attributes

    def raw_attribute(self, attribute: int) -> tuple[int, Content] | None:
        """Return an attribute's form and its content, not yet resolved."""
        if attribute not in self.abbrev.attributes:
            return None
        if self._cached is None:
            self._cached = attribute_forms.read_attributes(
                self.unit.sections["info"], self.start, self.abbrev, self.unit.word, self.unit
            )
        return self._cached.get(attribute)

    def get_number(self, attribute: int) -> int | None:
        """Return a constant, an offset, a flag or an index."""
        found = self.raw_attribute(attribute)
        return found[1] if found is not None and isinstance(found[1], int) else None

    def get_block(self, attribute: int) -> bytes | None:
        """Return a block or an expression."""
        found = self.raw_attribute(attribute)
        return found[1] if found is not None and isinstance(found[1], bytes) else None

    def get_text(self, attribute: int) -> str:
        """Return a text; an empty one where there is none."""
        found = self.raw_attribute(attribute)
        if found is None:
            return ""
        form, content = found
        return (
            content
            if isinstance(content, str)
            else attribute_forms.read_string(self.unit, form, content)
        )

    def get_flag(self, attribute: int) -> bool:
        """Return whether a flag is set."""
        return bool(self.get_number(attribute))

    def get_address(self, attribute: int) -> int | None:
        """Return an address, link-time."""
        found = self.raw_attribute(attribute)
        if found is None or not isinstance(found[1], int):
            return None
        return attribute_forms.read_address(self.unit, found[0], found[1])

    def get_reference(self, attribute: int) -> DebugEntry | None:
        """Follow a reference to another entry."""
        found = self.raw_attribute(attribute)
        if found is None or not isinstance(found[1], int):
            return None
        form, value = found[0], found[1]
        if form in attribute_forms.UNIT_REFERENCES:
            return self.unit.find_entry(self.unit.offset + value)
        if form == dw.FORM_REF_ADDR:
            return self.unit.units.find_entry(self.unit.info_base + value)
        if form == dw.FORM_REF_SIG8:
            return self.unit.units.type_unit(value)
        return None

    def walk_origins(self) -> Iterator[DebugEntry]:
        """Yield the entry, then the ones that it is an instance or a definition of."""
        entry: DebugEntry | None = self
        for _ in range(_LINKS_MAX):
            if entry is None:
                return
            yield entry
            entry = entry.get_reference(dw.AT_ABSTRACT_ORIGIN) or entry.get_reference(
                dw.AT_SPECIFICATION
            )

    def find_with_attribute(self, attribute: int) -> DebugEntry | None:
        """Find the entry, or the nearest origin, that has an attribute."""
        return next((one for one in self.walk_origins() if one.has_attribute(attribute)), None)

    @property
    def name(self) -> str:
        """The entry's own or its origin's name."""
        found = self.find_with_attribute(dw.AT_NAME)
        return found.get_text(dw.AT_NAME) if found is not None else ""

    @property
    def type(self) -> DebugEntry | None:
        """The entry's own or its origin's type; None is void."""
        found = self.find_with_attribute(dw.AT_TYPE)
        return found.get_reference(dw.AT_TYPE) if found is not None else None

    def code_ranges(self) -> tuple[Range, ...]:
        """Return the link-time addresses of the code that belongs to it, and is in the program."""
        is_loaded = self.unit.units.is_loaded
        return tuple(one for one in attribute_forms.read_ranges(self) if is_loaded(one[0]))

    def walk_descendants(self) -> Iterator[DebugEntry]:
        """Yield all entries inside, outer before inner."""
        waiting = list(reversed(self.children))
        while waiting:
            entry = waiting.pop()
            yield entry
            waiting.extend(reversed(entry.children))


@dataclass(frozen=True, slots=True)
class SplitPart:
    """Describes what one .dwo file adds (DWARF 5, 7.3.2): `load` returns a section by bare name.

    `skeleton` is the offset of the program's unit, `unit` that of the file's in its own section.
    """

    skeleton: int
    unit: int
    load: Callable[[str], bytes]


# The sections that a split unit shares with the program (DWARF 5, appendix F).
_SHARED: Final = frozenset({"addr", "ranges", "line_str"})


def _of_part(load: Callable[[str], bytes], shared: DebugSections, name: str) -> bytes:
    bare = name.removeprefix(".debug_")
    return shared[bare] if bare in _SHARED else load(bare)


class DebugUnits:
    """Holds all units of a file: their headers are read at once, the rest on demand."""

    def __init__(
        self,
        load: Callable[[str], bytes],
        cache: DebugCache | None = None,
        loaded: Range = (1, 1 << 64),
        parts: Sequence[SplitPart] = (),
    ) -> None:
        self._parts = tuple(parts)
        self.sections = DebugSections(load)
        if parts:
            self._join_split_parts()
        self._loaded = loaded
        self._cache = cache if cache is not None else DebugCache(None, "")
        self._abbrevs: dict[tuple[int, int, int, int], attribute_forms.AbbreviationTable] = {}
        self._known: dict[int, DebugUnit] = {}
        self.last_read: DebugUnit | None = None

    def __iter__(self) -> Iterator[DebugUnit]:
        return iter(self._all_units)

    def _join_split_parts(self) -> None:
        """Join the .debug_info of the .dwo files to the program's: each entry has one offset."""
        own = self.sections["info"]
        infos = [one.load("info") for one in self._parts]
        # One numbering for all files: an entry's offset tells which file it is of.
        self._bases = list(accumulate(map(len, infos[:-1]), initial=len(own)))
        joined = b"".join([own, *infos])
        self.sections = DebugSections(self.sections.load, {"info": joined})
        self._part_sections = [
            DebugSections(partial(_of_part, one.load, self.sections), {"info": joined})
            for one in self._parts
        ]

    @cached_property
    def _split_units(self) -> dict[int, int]:
        """Map a skeleton's offset to that of its unit in a .dwo file."""
        return (
            {
                part.skeleton: base + part.unit
                for part, base in zip(self._parts, self._bases, strict=True)
            }
            if self._parts
            else {}
        )

    def make_unit(self, offset: int) -> DebugUnit:
        """Read a unit's header; for a skeleton whose .dwo file was found, the unit in that."""
        offset = self._split_units.get(offset, offset)
        number = bisect.bisect_right(self._bases, offset) - 1 if self._parts else -1
        if number < 0:
            return DebugUnit(self.sections, self, offset)
        skeleton = DebugUnit(self.sections, self, self._parts[number].skeleton)
        return DebugUnit(self._part_sections[number], self, offset, skeleton, self._bases[number])

    @cached_property
    def _all_units(self) -> list[DebugUnit]:
        found = []
        at, end = 0, len(self.sections["info"])
        while at < end:
            if at in self._split_units:
                at = DebugUnit(self.sections, self, at).end
                continue
            unit = self._make_unit(at)
            if unit.end <= at:
                break
            at = unit.end
            if unit.is_known:
                found.append(unit)
        return found

    def is_loaded(self, address: int) -> bool:
        """Return whether a link-time address is in the program: dropped code has none."""
        low, end = self._loaded
        return low <= address < end

    @cached_property
    def _unit_offsets(self) -> list[int]:
        return [one.offset for one in self._all_units]

    @cached_property
    def _type_units(self) -> dict[int, DebugUnit]:
        return {one.signature: one for one in self._all_units if one.signature is not None}

    @cached_property
    def _unit_spans(self) -> list[tuple[int, int, int]]:
        return self._cache.get_or_make("addresses", list[tuple[int, int, int]], self._read_spans)

    def _read_spans(self) -> list[tuple[int, int, int]]:
        return sorted(
            (low, high, one.offset) for one in self._all_units for low, high in one.code_ranges
        )

    @cached_property
    def _listed_ranges(self) -> AddressRanges:
        """The spans of .debug_aranges."""

        def read() -> SpanColumns:
            return read_columns(self.sections["aranges"])

        return AddressRanges(self._cache.get_or_make("arranged", SpanColumns, read))

    def _make_unit(self, offset: int) -> DebugUnit:
        offset = self._split_units.get(offset, offset)
        found = self._known.get(offset)
        if found is None:
            found = self._known[offset] = self.make_unit(offset)
        return found

    def read_briefly(self, offset: int) -> DebugUnit:
        """Return a unit that is needed for a moment: only the last one's entries are kept."""
        known = self._known.get(offset)
        if known is not None and known.is_read:
            return known
        if self.last_read is None or self.last_read.offset != offset:
            self.last_read = self.make_unit(offset)
        return self.last_read

    @cached_property
    def _span_starts(self) -> list[int]:
        return [low for low, _, _ in self._unit_spans]

    def read_abbreviations(self, unit: DebugUnit) -> attribute_forms.AbbreviationTable:
        """Read a table of abbreviations, once for all units that share it."""
        key = (unit.info_base, unit.abbrev_offset, unit.word, unit.version)
        found = self._abbrevs.get(key)
        if found is None:
            found = attribute_forms.AbbreviationTable(unit.sections["abbrev"], *key[1:])
            self._abbrevs[key] = found
        return found

    def unit_at_address(self, address: int) -> DebugUnit | None:
        """Find the unit whose code has a link-time address."""
        if "_unit_spans" not in self.__dict__ and not self._cache.has_key("addresses"):
            # To ask all units where their code is takes seconds in a large library.
            found = self._listed_ranges.unit_at(address)
            if found is not None and found < len(self.sections["info"]):
                return self._make_unit(found)
        number = bisect.bisect_right(self._span_starts, address) - 1
        if number < 0:
            return None
        _, high, offset = self._unit_spans[number]
        return self._make_unit(offset) if address < high else None

    def unit_containing(self, offset: int) -> DebugUnit | None:
        """Find the unit that holds an offset of .debug_info."""
        number = bisect.bisect_right(self._unit_offsets, offset) - 1
        if number < 0 or offset >= self._all_units[number].end:
            return None
        return self._all_units[number]

    def find_entry(self, offset: int) -> DebugEntry | None:
        """Find the entry at an offset of .debug_info."""
        unit = self.unit_containing(offset)
        return unit.find_entry(offset) if unit is not None else None

    def type_unit(self, signature: int) -> DebugEntry | None:
        """Find the type of a type unit."""
        unit = self._type_units.get(signature)
        return unit.find_entry(unit.type_offset) if unit is not None else None


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the garbage collector away, which takes as long as what is done for large binaries."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def break_cycles(unit: DebugUnit) -> None:
    """Separate a unit's entries, which refer to each other and would wait for the collector."""
    if unit.is_read and not unit.is_borrowed:
        for entry in unit.all_entries():
            entry.children, entry.parent = [], None
