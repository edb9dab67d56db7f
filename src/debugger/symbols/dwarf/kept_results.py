"""Says whether a function still returns the value that its source returns.

A compiler that sees all callers leaves out a result that none of them uses, and what is then in the
register is something else. The debug information does not say so; the callers' code does.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final

import capstone
from capstone import x86_const as x86

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugUnits
from debugger.symbols.dwarf.elf_file import ElfFile
from debugger.symbols.dwarf.function_index import DebugFunction, FunctionIndex
from debugger.symbols.dwarf.symbol_table import SymbolTable

_CALL: Final = re.compile(b"\xe8")
_CALL_SIZE: Final = 5
_CODE_MAX: Final = 96
_DEPTH_MAX: Final = 4
_RESULTS: Final = frozenset({"rax", "eax", "ax", "al", "xmm0", "ymm0"})
_CLEARS: Final = frozenset({"xor", "sub", "pxor", "xorps", "xorpd", "vpxor", "vxorps"})


class KeptResults:
    """The results of the functions of one binary."""

    def __init__(
        self, binary: ElfFile, units: DebugUnits, functions: FunctionIndex, symbols: SymbolTable
    ) -> None:
        self._binary = binary
        self._units = units
        self._functions = functions
        self._symbols = symbols
        self._known: dict[int, bool] = {}

    def are_kept(self, function: DebugFunction, depth: int = 0) -> bool:
        """Say whether what a function returns is where a caller would find it."""
        if function.address not in self._known:
            self._known[function.address] = not self._may_be_changed(function) or any(
                self._is_used(pc, depth) for pc in self._call_returns.get(function.address, ())
            )
        return self._known[function.address]

    def _may_be_changed(self, function: DebugFunction) -> bool:
        symbol = self._symbols.symbol_at(function.address)
        if symbol is not None and ".isra." in symbol.name:
            return True
        unit = self._units.unit_at_address(function.address)
        producer = unit.top_entry.get_text(dw.AT_PRODUCER) if unit is not None else ""
        # LLVM gives what it has changed no other name; without optimisation it changes nothing.
        return ("LLVM" in producer or "clang" in producer) and self._is_optimised

    @cached_property
    def _is_optimised(self) -> bool:
        sections = self._units.sections
        return bool(sections["loc"]) or bool(sections["loclists"])

    @cached_property
    def _call_returns(self) -> dict[int, list[int]]:
        """Map each function that is called directly to where its callers go on."""
        found: dict[int, list[int]] = {}
        section = self._binary.sections.get(".text")
        code = self._binary.read_section(".text")
        if section is None:
            return found
        for match in _CALL.finditer(code):
            at = match.start()
            distance = int.from_bytes(code[at + 1 : at + _CALL_SIZE], "little", signed=True)
            after = section.address + at + _CALL_SIZE
            found.setdefault(after + distance, []).append(after)
        return found

    def _is_used(self, pc: int, depth: int) -> bool:
        """Say whether the code behind a call reads the result before it is gone."""
        decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        decoder.detail = True
        for one in decoder.disasm(self._binary.read_at(pc, _CODE_MAX) or b"", pc):
            if one.group(capstone.CS_GRP_RET):
                return depth < _DEPTH_MAX and self._is_returned(pc, depth + 1)
            if one.group(capstone.CS_GRP_CALL) or one.group(capstone.CS_GRP_JUMP):
                return False
            read, written = one.regs_access()
            if not _clears_result(one) and any(one.reg_name(it) in _RESULTS for it in read):
                return True
            if any(one.reg_name(it) in _RESULTS for it in written):
                return False
        return False

    def _is_returned(self, pc: int, depth: int) -> bool:
        """Say whether a caller gives on what it was given."""
        outer = [one for one in self._functions.functions_at(pc - 1) if not one.is_inlined]
        entry = self._units.find_entry(outer[0].entry) if outer else None
        return entry is not None and entry.type is not None and self.are_kept(outer[0], depth)


def _clears_result(one: Any) -> bool:
    operands = [it.reg for it in one.operands if it.type == x86.X86_OP_REG]
    return (
        one.mnemonic in _CLEARS and len(operands) == len(one.operands) and len(set(operands)) == 1
    )
