"""Opens one binary's debug information: lines, functions, scopes and call frames together."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from debugger.errors import DebuggerError
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf import elf_file as elf
from debugger.symbols.dwarf.call_frames import CallFrames
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.debug_entries import DebugUnit, DebugUnits, Range, SplitPart
from debugger.symbols.dwarf.elf_file import ElfFile, ElfSymbol, SymbolTable
from debugger.symbols.dwarf.function_index import FunctionIndex
from debugger.symbols.dwarf.line_table import LineTable

if TYPE_CHECKING:  # both disassemble, with a package that only the extra `frida` brings
    from debugger.symbols.dwarf.return_values import KeptResults
    from debugger.symbols.dwarf.scope_variables import ScopeVariables

# What the columns of a package's index are (DWARF 5, 7.3.5.3; GNU's version 2 for DWARF 4).
_COLUMNS: Final = {
    2: {1: "info", 3: "abbrev", 4: "line", 5: "loc", 6: "str_offsets"},
    5: {1: "info", 3: "abbrev", 4: "line", 5: "loclists", 6: "str_offsets", 8: "rnglists"},
}
_INDEX: Final = struct.Struct("<HHIII")
_ROW_SIZE: Final = 4


@dataclass(frozen=True, slots=True)
class MissingPart:
    """Describes a unit whose variables and types are in an unreadable .dwo file, and why."""

    file: str
    why: str
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class SplitParts:
    """Holds the units of .dwo files: the found ones, the missing ones, and their identity."""

    found: tuple[SplitPart, ...] = ()
    missing: tuple[MissingPart, ...] = ()
    identity: str = ""


def find_parts(debug: ElfFile, program: ElfFile) -> SplitParts:
    """Find the split units of a program: in its package PROGRAM.dwp, else in its .dwo files."""
    skeletons = list(_skeleton_units(debug, program))
    if not skeletons:
        return SplitParts()
    packages = _read_packages(debug, program)
    found, missing = [], []
    digest = hashlib.sha256()
    for unit in skeletons:
        part = next((one for one in (_from_package(unit, one) for one in packages) if one), None)
        known: SplitPart | str = part if part is not None else _from_file(unit, program)
        if isinstance(known, SplitPart):
            found.append(known)
        else:
            missing.append(MissingPart(str(_part_path(unit)), known, unit.code_ranges))
        digest.update(repr((unit.split_id, not isinstance(known, str))).encode())
    return SplitParts(tuple(found), tuple(missing), digest.hexdigest()[:16])


def _skeleton_units(debug: ElfFile, program: ElfFile) -> Iterator[DebugUnit]:
    # Their addresses are always in this table; without it no unit needs to be read.
    if not debug.read_section(".debug_addr"):
        return
    for unit in DebugUnits(debug.read_section, loaded=program.loaded_range):
        if unit.top_entry.has_attribute(dw.AT_DWO_NAME) or unit.top_entry.has_attribute(
            dw.AT_GNU_DWO_NAME
        ):
            yield unit


def _part_path(unit: DebugUnit) -> Path:
    name = unit.top_entry.get_text(dw.AT_DWO_NAME) or unit.top_entry.get_text(dw.AT_GNU_DWO_NAME)
    return Path(unit.directory, name)


def _from_file(unit: DebugUnit, program: ElfFile) -> SplitPart | str:
    """Read the .dwo file that a skeleton names, or return why that is not possible."""
    path = _part_path(unit)
    # The path is the build's; a program that was moved may have its .dwo files beside it.
    neighbour = program.path.resolve().parent / path.name
    why = "which is not there"
    for one in (path, neighbour):
        if not one.is_file():
            continue
        try:
            load = partial(_dwo_section, elf.read_elf(one))
        except (DebuggerError, OSError):
            why = "which cannot be read"
            continue
        offset = _offset_of(load, unit)
        if offset is not None:
            return SplitPart(unit.offset, offset, load)
        why = "which is of another build"
    return why


def _offset_of(load: Callable[[str], bytes], unit: DebugUnit) -> int | None:
    """Find the unit of a .dwo file that belongs to a skeleton."""
    units = DebugUnits(lambda name: load(name.removeprefix(".debug_")))
    return next(
        (
            one.offset
            for one in units
            if one.signature is None and one.split_id == unit.split_id is not None
        ),
        None,
    )


def _dwo_section(file: ElfFile, name: str) -> bytes:
    return file.read_section(f".debug_{name}.dwo")


def _read_packages(debug: ElfFile, program: ElfFile) -> list[dict[int, Callable[[str], bytes]]]:
    paths = {one.path.resolve() for one in (program, debug)}
    packages = [path.with_name(f"{path.name}.dwp") for path in sorted(paths)]
    found = []
    for path in packages:
        if path.is_file():
            try:
                found.append(_read_package(elf.read_elf(path)))
            except (DebuggerError, OSError, struct.error):
                continue
    return found


def _from_package(unit: DebugUnit, package: dict[int, Callable[[str], bytes]]) -> SplitPart | None:
    load = package.get(unit.split_id) if unit.split_id is not None else None
    return SplitPart(unit.offset, 0, load) if load is not None else None


def _read_package(file: ElfFile) -> dict[int, Callable[[str], bytes]]:
    """Read the index of a package: each compilation unit's part of each section."""
    raw = file.read_section(".debug_cu_index")
    if len(raw) < _INDEX.size:
        return {}
    version, _, columns, units, slots = _INDEX.unpack_from(raw)
    names = _COLUMNS.get(version, {})
    # A hash table (DWARF 5, 7.3.5.3): slots of unit ids, then of row numbers from 1 on; a row
    # has an offset, and in the second half of the table a size, for each section.
    keys = struct.unpack_from(f"<{slots}Q", raw, _INDEX.size)
    rows_at = _INDEX.size + 8 * slots
    rows = struct.unpack_from(f"<{slots}I", raw, rows_at)
    table = list(struct.iter_unpack(f"<{columns}I", raw[rows_at + _ROW_SIZE * slots :]))
    found: dict[int, Callable[[str], bytes]] = {}
    for key, row in zip(keys, rows, strict=True):
        if row:
            spans = zip(table[0], table[row], table[units + row], strict=True)
            own = {names[kind]: (at, size) for kind, at, size in spans if kind in names}
            found[key] = partial(_packed_section, file, own)
    return found


def _packed_section(file: ElfFile, spans: dict[str, tuple[int, int]], name: str) -> bytes:
    section = _dwo_section(file, name)
    if name not in spans:
        return section
    at, size = spans[name]
    return section[at : at + size]


_UNITS_MAX = 100  # units that are asked whether they have variables
_END_BRANCH = b"\xf3\x0f\x1e\xfa"
_FRAME = b"\x55\x48\x89\xe5"  # push rbp; mov rbp, rsp
_ALONE_MAX = 16  # symbols are looked for alone, before all are read


class BinaryImage:
    """Opens one binary, in link-time addresses; each part is read on demand."""

    def __init__(self, path: str | Path, *, cache: Path | None = None) -> None:
        self.binary: ElfFile = elf.read_elf(path)
        found = elf.debug_file(self.binary)
        self.has_debug = found is not None
        self.debug = found if found is not None else self.binary
        self._symbol_at: dict[int, ElfSymbol | None] = {}
        self.split = find_parts(self.debug, self.binary) if self.has_debug else SplitParts()
        # Values that were cached without a .dwo file that is there now must not be found
        # again.
        identity = self.debug.build_identity + (
            f"-{self.split.identity}" if self.split.identity else ""
        )
        self._cache = DebugCache(cache if self.has_debug else None, identity)

    @cached_property
    def units(self) -> DebugUnits:
        """The units of its debug information; those in .dwo files replace their skeletons."""
        return DebugUnits(
            self.debug.read_section, self._cache, self.binary.loaded_range, self.split.found
        )

    def why_incomplete(self, address: int | None = None) -> str:
        """Say why variables are missing in the unit at an address, or in any; "" where none are."""
        missing = [
            one
            for one in self.split.missing
            if address is None or any(low <= address < high for low, high in one.ranges)
        ]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            return f"debug information is in {missing[0].file}{more}, {missing[0].why}"
        unit = (
            self.units.unit_at_address(address) if address is not None and self.has_debug else None
        )
        units = islice(self.units, _UNITS_MAX) if address is None and self.has_debug else ()
        for one in (unit,) if unit is not None else units:
            if one.has_lines_only:
                return f"{one.name} was compiled for lines only (-g1, debuginfo=1)"
        return ""

    def body_of(self, symbol: ElfSymbol) -> int:
        """Return the address behind the prologue of a function that only a symbol describes."""
        unit = self.units.unit_at_address(symbol.address) if self.split.missing else None
        code = self.binary.read_at(symbol.address, len(_END_BRANCH + _FRAME)) or b""
        # Only the compiler's setting of a frame pointer is known to be a prologue.
        if unit is None or not code.removeprefix(_END_BRANCH).startswith(_FRAME):
            return symbol.address
        return self.lines.next_statement(unit.offset, symbol.address, symbol.size)

    @cached_property
    def lines(self) -> LineTable:
        """Its line tables."""
        return LineTable(self.units, self._cache)

    @cached_property
    def functions(self) -> FunctionIndex:
        """Its functions."""
        return FunctionIndex(
            self.units, self.lines, self._cache, lambda: self.symbols.function_names
        )

    @cached_property
    def scopes(self) -> ScopeVariables:
        """Its variables."""
        from debugger.symbols.dwarf.entry_locations import PrologueIndex
        from debugger.symbols.dwarf.scope_variables import ScopeVariables

        entries = PrologueIndex(self.binary, self.units, self.lines)
        return ScopeVariables(
            self.units, self._cache, entries, lambda: self.symbols.object_names, lambda: self.frames
        )

    @cached_property
    def results(self) -> KeptResults:
        """Which of its functions still return what their source returns."""
        from debugger.symbols.dwarf.return_values import KeptResults

        return KeptResults(self.binary, self.units, self.functions, self.symbols)

    @cached_property
    def frames(self) -> CallFrames:
        """Its call frame information."""
        return CallFrames(self.binary)

    @cached_property
    def symbols(self) -> SymbolTable:
        """Its symbols, for code without debug information."""
        return SymbolTable(self._elf_symbols())

    def _elf_symbols(self) -> list[ElfSymbol]:
        return list(self._with_symbols.read_symbols())

    @property
    def _with_symbols(self) -> ElfFile:
        return self.debug if self.debug.has_section(".symtab") else self.binary

    def symbol_at(self, address: int) -> ElfSymbol | None:
        """Return the symbol that an address is in; the first few are found without sorting all."""
        if "symbols" in self.__dict__:
            return self.symbols.symbol_at(address)
        # Sorting all symbols of a large library takes as long as some linear searches.
        if address not in self._symbol_at:
            if len(self._symbol_at) >= _ALONE_MAX:
                return self.symbols.symbol_at(address)
            self._symbol_at[address] = self._with_symbols.symbol_at(address)
        return self._symbol_at[address]

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()
