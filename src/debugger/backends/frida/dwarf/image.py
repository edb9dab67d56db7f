"""What is known of one binary: its lines, functions, scopes and call frames, opened together?"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from debugger.backends.frida.dwarf import binary as elf
from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf.binary import Binary, Symbol
from debugger.backends.frida.dwarf.cache import Cache
from debugger.backends.frida.dwarf.callframes import CallFrames
from debugger.backends.frida.dwarf.entries import Units
from debugger.backends.frida.dwarf.functions import Functions
from debugger.backends.frida.dwarf.lines import Lines
from debugger.backends.frida.dwarf.parameters import FunctionEntries
from debugger.backends.frida.dwarf.results import Results
from debugger.backends.frida.dwarf.scopes import Scopes
from debugger.backends.frida.dwarf.symbols import Symbols

_ALONE_MAX = 16  # symbols are looked for alone, before all are read


class Image:
    """One binary, in link-time addresses; each part is read when it is first asked for."""

    def __init__(self, path: str | Path, *, cache: Path | None = None) -> None:
        self.binary: Binary = elf.read(path)
        found = elf.debug_file(self.binary)
        self.has_debug = found is not None
        self.debug = found if found is not None else self.binary
        self._symbol_at: dict[int, Symbol | None] = {}
        self._cache = Cache(cache if self.has_debug else None, self.debug.identity)

    @cached_property
    def units(self) -> Units:
        """The units of its debug information."""
        return Units(self.debug.section, self._cache, self.binary.loaded)

    @cached_property
    def is_split(self) -> bool:
        """Whether its variables and types are in .dwo files, which are not read: lines are here."""
        return any(
            unit.top.has(dw.AT_DWO_NAME) or unit.top.has(dw.AT_GNU_DWO_NAME) for unit in self.units
        )

    @cached_property
    def lines(self) -> Lines:
        """Its line tables."""
        return Lines(self.units, self._cache)

    @cached_property
    def functions(self) -> Functions:
        """Its functions."""
        return Functions(self.units, self.lines, self._cache, lambda: self.symbols.names)

    @cached_property
    def scopes(self) -> Scopes:
        """Its variables."""
        entries = FunctionEntries(self.binary, self.units, self.lines)
        return Scopes(self.units, self._cache, entries, lambda: self.symbols.objects)

    @cached_property
    def results(self) -> Results:
        """Which of its functions still return what their source returns."""
        return Results(self.binary, self.units, self.functions, self.symbols)

    @cached_property
    def frames(self) -> CallFrames:
        """Its call frame information."""
        return CallFrames(self.binary)

    @cached_property
    def symbols(self) -> Symbols:
        """Its symbols, for code without debug information."""
        return Symbols(self._symbols())

    def _symbols(self) -> list[Symbol]:
        return list(self._with_symbols.symbols())

    @property
    def _with_symbols(self) -> Binary:
        return self.debug if self.debug.has(".symtab") else self.binary

    def symbol_at(self, address: int) -> Symbol | None:
        """Find the symbol that an address is in; for the first few this is faster than all."""
        if "symbols" in self.__dict__:
            return self.symbols.at(address)
        if address not in self._symbol_at:
            if len(self._symbol_at) >= _ALONE_MAX:
                return self.symbols.at(address)
            self._symbol_at[address] = self._with_symbols.symbol_at(address)
        return self._symbol_at[address]

    def close(self) -> None:
        """Let go of the cache."""
        self._cache.close()
