"""Opens one binary's debug information: lines, functions, scopes and call frames together."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from pathlib import Path

from debugger.symbols.dwarf import elf_file as elf
from debugger.symbols.dwarf.call_frames import CallFrames
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.debug_entries import DebugUnits
from debugger.symbols.dwarf.elf_file import ElfFile, ElfSymbol
from debugger.symbols.dwarf.entry_locations import PrologueIndex
from debugger.symbols.dwarf.function_index import FunctionIndex
from debugger.symbols.dwarf.kept_results import KeptResults
from debugger.symbols.dwarf.line_table import LineTable
from debugger.symbols.dwarf.scope_variables import ScopeVariables
from debugger.symbols.dwarf.split_debug import SplitParts, find_parts
from debugger.symbols.dwarf.symbol_table import SymbolTable

_UNITS_MAX = 100  # units that are asked whether they have variables
_END_BRANCH = b"\xf3\x0f\x1e\xfa"
_FRAME = b"\x55\x48\x89\xe5"  # push rbp; mov rbp, rsp
_ALONE_MAX = 16  # symbols are looked for alone, before all are read


class BinaryImage:
    """One binary, in link-time addresses; each part is read when it is first asked for."""

    def __init__(self, path: str | Path, *, cache: Path | None = None) -> None:
        self.binary: ElfFile = elf.read_elf(path)
        found = elf.debug_file(self.binary)
        self.has_debug = found is not None
        self.debug = found if found is not None else self.binary
        self._symbol_at: dict[int, ElfSymbol | None] = {}
        self.split = find_parts(self.debug, self.binary) if self.has_debug else SplitParts()
        # What was read before without a .dwo file that is there now is of no use.
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
        """Say why variables are missing: in the unit at an address, or in any; "" is: none are."""
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
        """Give the address behind the prologue of a function that only a symbol is known of."""
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
        entries = PrologueIndex(self.binary, self.units, self.lines)
        return ScopeVariables(
            self.units, self._cache, entries, lambda: self.symbols.object_names, lambda: self.frames
        )

    @cached_property
    def results(self) -> KeptResults:
        """Which of its functions still return what their source returns."""
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
        """Find the symbol that an address is in; for the first few this is faster than all."""
        if "symbols" in self.__dict__:
            return self.symbols.symbol_at(address)
        if address not in self._symbol_at:
            if len(self._symbol_at) >= _ALONE_MAX:
                return self.symbols.symbol_at(address)
            self._symbol_at[address] = self._with_symbols.symbol_at(address)
        return self._symbol_at[address]

    def close(self) -> None:
        """Let go of the cache."""
        self._cache.close()
