"""Reads the value that a function has just returned, and checks that it still returns it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import capstone
from capstone import x86_const as x86

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnits
from debugger.symbols.dwarf.debug_types import DebugType, TypeKind
from debugger.symbols.dwarf.elf_file import ElfFile, SymbolTable
from debugger.symbols.dwarf.function_index import DebugFunction, FunctionIndex
from debugger.symbols.dwarf.typed_values import TypedValue

_CALL: Final = re.compile(b"\xe8")
_CALL_SIZE: Final = 5
# The code behind a call uses the result soon, or not at all.
_CODE_MAX: Final = 96
_CALL_DEPTH_MAX: Final = 4
_RESULTS: Final = frozenset({"rax", "eax", "ax", "al", "xmm0", "ymm0"})
_CLEARS: Final = frozenset({"xor", "sub", "pxor", "xorps", "xorpd", "vpxor", "vxorps"})


class KeptResults:
    """Tells which functions of one binary still return what their source returns."""

    def __init__(
        self, binary: ElfFile, units: DebugUnits, functions: FunctionIndex, symbols: SymbolTable
    ) -> None:
        self._binary = binary
        self._units = units
        self._functions = functions
        self._symbols = symbols
        self._known: dict[int, bool] = {}

    def are_kept(self, function: DebugFunction, depth: int = 0) -> bool:
        """Return whether a function's result is where a caller would find it."""
        # A compiler may drop a result that no caller uses, without a word in the debug
        # information: GCC names such a clone .isra., LLVM changes the function itself. Only a
        # caller that reads the register behind the call proves that the result is there.
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
        # Each E8 byte, be it an opcode or not: a false one leads to an address that is no
        # function's entry.
        for match in _CALL.finditer(code):
            at = match.start()
            distance = int.from_bytes(code[at + 1 : at + _CALL_SIZE], "little", signed=True)
            after = section.address + at + _CALL_SIZE
            found.setdefault(after + distance, []).append(after)
        return found

    def _is_used(self, pc: int, depth: int) -> bool:
        """Return whether the code behind a call reads the result before it is gone."""
        decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        decoder.detail = True
        for one in decoder.disasm(self._binary.read_at(pc, _CODE_MAX) or b"", pc):
            if one.group(capstone.CS_GRP_RET):
                return depth < _CALL_DEPTH_MAX and self._is_returned(pc, depth + 1)
            if one.group(capstone.CS_GRP_CALL) or one.group(capstone.CS_GRP_JUMP):
                return False
            read, written = one.regs_access()
            if not _clears_result(one) and any(one.reg_name(it) in _RESULTS for it in read):
                return True
            if any(one.reg_name(it) in _RESULTS for it in written):
                return False
        return False

    def _is_returned(self, pc: int, depth: int) -> bool:
        """Return whether a caller returns what it was given."""
        outer = [one for one in self._functions.functions_at(pc - 1) if not one.is_inlined]
        entry = self._units.find_entry(outer[0].entry) if outer else None
        return entry is not None and entry.type is not None and self.are_kept(outer[0], depth)


def _clears_result(one: Any) -> bool:
    operands = [it.reg for it in one.operands if it.type == x86.X86_OP_REG]
    return (
        one.mnemonic in _CLEARS and len(operands) == len(one.operands) and len(set(operands)) == 1
    )


_RAX, _RDX, _XMM0, _XMM1 = 0, 1, 17, 18
_WORD: Final = 8
_IN_REGISTERS: Final = 16
_MASK: Final = (1 << 64) - 1
# DW_AT_calling_convention of a type whose objects are passed by address (DWARF 5, 5.7.1.1).
_BY_REFERENCE, _BY_VALUE = 4, 5
_IN_CLASS: Final = 1
_RUST: Final = 0x1C
_RECORDS: Final = frozenset({TypeKind.STRUCT, TypeKind.UNION, TypeKind.ARRAY})
_DEPTH_MAX: Final = 16


def value_of(kind: DebugType, registers: Mapping[int, int]) -> TypedValue | None:
    """Return a value out of the registers in which functions return it; None where unknown.

    Args:
        kind: The type that the function is declared to return.
        registers: The registers right after the return, by DWARF number.
    """
    if kind.kind in {TypeKind.VOID, TypeKind.OTHER, TypeKind.FUNCTION}:
        return None
    # System V ABI, 3.2.3: class MEMORY. The caller has passed the address, and rax returns
    # it.
    if kind.kind in _RECORDS and (kind.size > _IN_REGISTERS or is_by_reference(kind)):
        return TypedValue(kind, address=registers.get(_RAX, 0))
    leaves = set(_scalar_parts(kind, 0))
    # A long double is on the stack of the x87.
    if any(one.kind is TypeKind.FLOAT and one.size > _WORD for _, one in leaves):
        return None
    if _is_of_rust(kind) and not _is_as_in_c(kind, leaves):
        return None
    # Each eight bytes go to the next register of their class: SSE if all in them is
    # floating-point.
    integers, real, content = [_RAX, _RDX], [_XMM0, _XMM1], b""
    for at in range(0, max(kind.size, 1), _WORD):
        within = [one for offset, one in leaves if offset < at + _WORD and offset + one.size > at]
        is_real = bool(within) and all(one.kind is TypeKind.FLOAT for one in within)
        word = registers.get((real if is_real else integers).pop(0), 0)
        content += (word & _MASK).to_bytes(_WORD, "little")
    return TypedValue(kind, content=content[: kind.size])


def is_by_reference(kind: DebugType, depth: int = 0) -> bool:
    """Return whether C++ passes objects of a class by address, since copying one is not trivial."""
    if kind.kind is TypeKind.ARRAY:
        return is_by_reference(kind.target_type, depth + 1)
    entry = kind.without_names.entry
    if kind.kind not in _RECORDS or entry is None or depth > _DEPTH_MAX:
        return False
    # Clang says it outright; of GCC it follows from the class's members (Itanium C++ ABI,
    # 3.1.1).
    how = entry.get_number(dw.AT_CALLING_CONVENTION)
    if how in {_BY_REFERENCE, _BY_VALUE}:
        return how == _BY_REFERENCE
    is_special = any(_forbids_registers(one, kind) for one in entry.children)
    return is_special or any(is_by_reference(one.type, depth + 1) for one in kind.members)


def _forbids_registers(one: DebugEntry, kind: DebugType) -> bool:
    """Return whether a part of a class makes it one that is not copied bit by bit."""
    if one.tag not in {dw.TAG_INHERITANCE, dw.TAG_SUBPROGRAM} or one.get_number(dw.AT_VIRTUALITY):
        return one.tag in {dw.TAG_INHERITANCE, dw.TAG_SUBPROGRAM}
    is_users = not one.get_flag(dw.AT_ARTIFICIAL) and one.get_number(dw.AT_DEFAULTED) != _IN_CLASS
    if one.tag == dw.TAG_INHERITANCE or not is_users:
        return False
    name = (
        kind.without_names.entry.get_text(dw.AT_NAME)
        if kind.without_names.entry is not None
        else ""
    )
    own, name = one.get_text(dw.AT_NAME).partition("<")[0], name.partition("<")[0]
    return own == f"~{name}" or (own == name and _is_copying(one, kind))


def _is_copying(constructor: DebugEntry, kind: DebugType) -> bool:
    """Return whether a constructor takes another object of its class."""
    takes = [
        one
        for one in constructor.children
        if one.tag == dw.TAG_PARAMETER and not one.get_flag(dw.AT_ARTIFICIAL)
    ]
    if len(takes) != 1 or takes[0].type is None:
        return False
    taken = DebugType(takes[0].type, kind.definition)
    return (
        taken.kind is TypeKind.REFERENCE
        and taken.target_type.without_names.name == kind.without_names.name
    )


def _scalar_parts(kind: DebugType, at: int, depth: int = 0) -> Iterator[tuple[int, DebugType]]:
    """Yield what is no record in a type, with its offset; of an enum of Rust, of all its cases."""
    if depth > _DEPTH_MAX:
        return
    if kind.kind is TypeKind.ARRAY:
        size = kind.target_type.size
        for offset in range(0, min(kind.size, _IN_REGISTERS), size) if size else ():
            yield from _scalar_parts(kind.target_type, at + offset, depth + 1)
    elif kind.kind in {TypeKind.STRUCT, TypeKind.UNION}:
        if kind.discriminant is not None and kind.discriminant.offset is not None:
            yield at + kind.discriminant.offset, kind.discriminant.type.without_names
        cases = [one for case in kind.variants for one in case.members]
        for one in cases or kind.members:
            if one.offset is not None:
                yield from _scalar_parts(one.type, at + one.offset, depth + 1)
    else:
        yield at, kind.without_names


def _is_of_rust(kind: DebugType) -> bool:
    entry = kind.without_names.entry
    return entry is not None and entry.unit.top_entry.get_number(dw.AT_LANGUAGE) == _RUST


def _is_as_in_c(kind: DebugType, leaves: set[tuple[int, DebugType]]) -> bool:
    """Return whether Rust, whose convention is written nowhere, returns a type as C does.

    It does so with one number, and with two of which each fills a register.
    """
    if _has_array(kind):
        return False
    forms = {(at, one.size, one.kind is TypeKind.FLOAT) for at, one in leaves}
    if kind.size <= _WORD or len(forms) == 1:
        return len(forms) <= 1 and all(size == kind.size for _, size, _ in forms)
    return {(at, size) for at, size, _ in forms} == {(0, _WORD), (_WORD, _WORD)} and len(forms) == 2  # noqa: PLR2004


def _has_array(kind: DebugType, depth: int = 0) -> bool:
    cases = [one for case in kind.variants for one in case.members]
    return kind.kind is TypeKind.ARRAY or (
        depth < _DEPTH_MAX and any(_has_array(one.type, depth + 1) for one in cases or kind.members)
    )
