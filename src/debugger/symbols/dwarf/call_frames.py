"""Computes the caller's registers by the call frame information of .eh_frame."""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from debugger.symbols.dwarf.dwarf_codes import (
    read_signed,
    read_sleb128,
    read_text,
    read_uleb128,
    read_unsigned,
)
from debugger.symbols.dwarf.elf_file import ElfFile
from debugger.symbols.dwarf.location_evaluation import (
    MASK,
    EvaluationContext,
    Reader,
    UnavailableValue,
    evaluate_address,
    parse_operations,
)

RBP, RSP, RIP = 6, 7, 16
FS_BASE: Final = 58  # the pointer of the thread, which its thread-local variables lie below
# What a called function must keep (System V ABI, 3.2.1): rbx, rbp, r12 to r15.
PRESERVED: Final = (3, RBP, 12, 13, 14, 15)

_OMIT, _PCREL, _DATAREL, _INDIRECT = 0xFF, 0x10, 0x30, 0x80
_ABSOLUTE: Final = 0
# DW_EH_PE_ pointer encodings with a fixed size, in bytes (Linux Standard Base, 10.5.1).
_FORMATS: Final = {0: 8, 2: 2, 3: 4, 4: 8, 10: 2, 11: 4, 12: 8}
_SIGNED: Final = 8
# A length of all ones: the 64-bit form follows.
_EXTENDED: Final = 0xFFFFFFFF
# The encoding of the search table in .eh_frame_hdr that linkers write: DW_EH_PE_datarel |
# sdata4, sorted pairs of 4-byte offsets from the section's start.
_TABLE: Final = 0x3B


@dataclass(frozen=True, slots=True)
class _CommonEntry:
    code: int
    data: int
    returned: int
    encoding: int
    has_size: bool
    is_signal: bool
    instructions: bytes


@dataclass(frozen=True, slots=True)
class _FrameDescription:
    common: _CommonEntry
    low: int
    high: int
    instructions: bytes


@dataclass(frozen=True, slots=True)
class RegisterRule:
    """Describes where a register was saved: by the CFA, in another register, by an expression."""

    kind: str
    number: int = 0
    expression: bytes = b""


@dataclass(slots=True)
class FrameRules:
    """Holds the rules at one address: the CFA as (register, offset) or expression, and others."""

    cfa: tuple[int, int] | bytes = (RSP, 8)
    rules: dict[int, RegisterRule] = field(default_factory=dict)
    is_signal: bool = False
    returned: int = RIP


class CallFrames:
    """Reads the call frame information of one binary, in link-time addresses."""

    def __init__(self, binary: ElfFile) -> None:
        self._frames = binary.read_section(".eh_frame")
        self._start = binary.sections[".eh_frame"].address if self._frames else 0
        self._header = binary.read_section(".eh_frame_hdr")
        self._header_start = binary.sections[".eh_frame_hdr"].address if self._header else 0
        self._commons: dict[int, _CommonEntry] = {}

    def rules_at(self, pc: int) -> FrameRules | None:
        """Return the rules at an address, or None where the file says nothing of it."""
        # Broken or hand-written entries end in IndexError or KeyError: there are then no
        # rules.
        try:
            found = self._find_description(pc)
            return _execute_instructions(found, pc) if found is not None else None
        except (IndexError, KeyError):
            return None

    def _find_description(self, pc: int) -> _FrameDescription | None:
        starts, places = self._description_table
        number = bisect.bisect_right(starts, pc) - 1
        if number < 0:
            return None
        found = self._parse_description(places[number])
        return found if found is not None and found.low <= pc < found.high else None

    @cached_property
    def _description_table(self) -> tuple[list[int], list[int]]:
        """Map the beginnings of functions to the offsets of their descriptions."""
        header = self._header
        if len(header) > 12 and header[3] == _TABLE and header[2] & 0xF in _FORMATS:  # noqa: PLR2004
            count = read_unsigned(header, 8, 4)
            base = self._header_start
            view = memoryview(header)[12 : 12 + 8 * count].cast("i")
            starts = [base + one for one in view[::2]]
            places = [base + one - self._start for one in view[1::2]]
            return starts, places
        # Without the header's table (a static linker's, or stripped of it) all entries are
        # read once.
        found = []
        at = 0
        while at + 4 <= len(self._frames):
            length = read_unsigned(self._frames, at, 4)
            if not length:
                break
            one = self._parse_description(at)
            if one is not None:
                found.append((one.low, at))
            at += length + 4
        found.sort()
        return [low for low, _ in found], [at for _, at in found]

    def _parse_description(self, at: int) -> _FrameDescription | None:
        frames = self._frames
        length, at = read_unsigned(frames, at, 4), at + 4
        if length == _EXTENDED:
            length, at = read_unsigned(frames, at, 8), at + 8
        end = at + length
        back = read_unsigned(frames, at, 4)
        # A common entry (CIE) has 0 in the place of the distance back to its own.
        if not back:
            return None
        common = self._parse_common(at - back)
        at += 4
        low, at = self._read_pointer(common.encoding, at)
        size, at = self._read_pointer(common.encoding & 0xF, at)
        if common.has_size:
            extra, at = read_uleb128(frames, at)
            at += extra
        return _FrameDescription(common, low, low + size, frames[at:end])

    def _parse_common(self, start: int) -> _CommonEntry:
        known = self._commons.get(start)
        if known is not None:
            return known
        frames, at = self._frames, start
        length, at = read_unsigned(frames, at, 4), at + 4
        end = at + length
        at += 5
        letters = read_text(frames, at)
        at += len(letters) + 1
        code, at = read_uleb128(frames, at)
        data, at = read_sleb128(frames, at)
        returned, at = read_uleb128(frames, at)
        encoding = _ABSOLUTE
        if letters.startswith("z"):
            size, at = read_uleb128(frames, at)
            place, after = at, at + size
            for letter in letters[1:]:
                if letter == "R":
                    encoding, place = frames[place], place + 1
                elif letter == "L":
                    place += 1
                elif letter == "P":
                    _, place = self._read_pointer(frames[place], place + 1)
            at = after
        found = _CommonEntry(
            code,
            data,
            returned,
            encoding,
            letters.startswith("z"),
            "S" in letters,
            frames[at:end],
        )
        self._commons[start] = found
        return found

    def _read_pointer(self, encoding: int, at: int) -> tuple[int, int]:
        """Read a pointer by its encoding (Linux Standard Base, 10.5.1)."""
        if encoding == _OMIT:
            return 0, at
        kind = encoding & 0xF
        if kind == 1:
            value, after = read_uleb128(self._frames, at)
        elif kind == 9:  # noqa: PLR2004 - DW_EH_PE_sleb128
            value, after = read_sleb128(self._frames, at)
        else:
            size = _FORMATS[kind]
            read = read_signed if kind & _SIGNED else read_unsigned
            value, after = read(self._frames, at, size), at + size
        if encoding & 0x70 == _PCREL:
            value += self._start + at
        elif encoding & 0x70 == _DATAREL:
            value += self._header_start
        return value & MASK, after


def _execute_instructions(description: _FrameDescription, pc: int) -> FrameRules:
    common = description.common
    row = FrameRules(is_signal=common.is_signal, returned=common.returned)
    # The common entry's instructions hold for all addresses, and DW_CFA_restore returns to
    # their result.
    machine = _RuleState(common, row)
    machine.run_instructions(common.instructions, description.low, MASK)
    machine.initial = dict(row.rules)
    machine.run_instructions(description.instructions, description.low, pc)
    return row


_OFFSET_EXTENDED, _RESTORE_EXTENDED, _UNDEFINED, _SAME, _REGISTER = 5, 6, 7, 8, 9
_REMEMBER, _RESTORE_STATE, _DEF_CFA, _DEF_CFA_REGISTER, _DEF_CFA_OFFSET = 10, 11, 12, 13, 14
_DEF_CFA_EXPRESSION, _EXPRESSION, _OFFSET_SF, _DEF_CFA_SF, _DEF_CFA_OFFSET_SF = 15, 16, 17, 18, 19
_VAL_OFFSET, _VAL_OFFSET_SF, _VAL_EXPRESSION, _ARGS_SIZE = 20, 21, 22, 0x2E
_ADVANCE, _OFFSET = 1, 2
_ADVANCES: Final = {2: 1, 3: 2, 4: 4}


class _RuleState:
    """Runs the instructions of one function's call frame information (DWARF 5, 6.4.2)."""

    def __init__(self, common: _CommonEntry, row: FrameRules) -> None:
        self._common = common
        self._row = row
        self._remembered: list[tuple[tuple[int, int] | bytes, dict[int, RegisterRule]]] = []
        self.initial: dict[int, RegisterRule] = {}

    def run_instructions(self, code: bytes, place: int, pc: int) -> None:
        at = 0
        while at < len(code):
            one, at = code[at], at + 1
            high, low = one >> 6, one & 0x3F
            if high == _ADVANCE or (not high and low in _ADVANCES):
                delta = low
                if not high:
                    size = _ADVANCES[low]
                    delta, at = read_unsigned(code, at, size), at + size
                place += delta * self._common.code
                # Rows are valid from their address on: the first that begins beyond pc ends
                # the run.
                if place > pc:
                    return
            elif high == _OFFSET:
                offset, at = read_uleb128(code, at)
                self._row.rules[low] = RegisterRule("offset", offset * self._common.data)
            elif high:
                self._restore_register(low)
            elif low == 1:
                place, at = read_unsigned(code, at, 8), at + 8
            else:
                at = self._plain_instruction(low, code, at)

    def _restore_register(self, register: int) -> None:
        rule = self.initial.get(register)
        if rule is None:
            self._row.rules.pop(register, None)
        else:
            self._row.rules[register] = rule

    def _plain_instruction(self, one: int, code: bytes, at: int) -> int:
        row = self._row
        if one == _REMEMBER:
            self._remembered.append((row.cfa, dict(row.rules)))
        elif one == _RESTORE_STATE:
            row.cfa, row.rules = self._remembered.pop()
        elif one == _DEF_CFA_EXPRESSION:
            size, at = read_uleb128(code, at)
            row.cfa, at = code[at : at + size], at + size
        elif one in {_DEF_CFA, _DEF_CFA_REGISTER, _DEF_CFA_OFFSET, _DEF_CFA_SF, _DEF_CFA_OFFSET_SF}:
            return self._cfa_instruction(one, code, at)
        elif one == _ARGS_SIZE:
            _, at = read_uleb128(code, at)
        elif one:
            return self._rule_instruction(one, code, at)
        return at

    def _cfa_instruction(self, one: int, code: bytes, at: int) -> int:
        register, offset = self._row.cfa if isinstance(self._row.cfa, tuple) else (RSP, 0)
        if one in {_DEF_CFA, _DEF_CFA_REGISTER, _DEF_CFA_SF}:
            register, at = read_uleb128(code, at)
        if one in {_DEF_CFA, _DEF_CFA_OFFSET}:
            offset, at = read_uleb128(code, at)
        elif one in {_DEF_CFA_SF, _DEF_CFA_OFFSET_SF}:
            offset, at = read_sleb128(code, at)
            offset *= self._common.data
        self._row.cfa = (register, offset)
        return at

    def _rule_instruction(self, one: int, code: bytes, at: int) -> int:
        rules = self._row.rules
        register, at = read_uleb128(code, at)
        if one == _RESTORE_EXTENDED:
            self._restore_register(register)
        elif one == _UNDEFINED:
            rules[register] = RegisterRule("undefined")
        elif one == _SAME:
            rules.pop(register, None)
        elif one == _REGISTER:
            other, at = read_uleb128(code, at)
            rules[register] = RegisterRule("register", other)
        elif one in {_EXPRESSION, _VAL_EXPRESSION}:
            size, at = read_uleb128(code, at)
            kind = "expression" if one == _EXPRESSION else "value"
            rules[register] = RegisterRule(kind, expression=code[at : at + size])
            at += size
        elif one in {_OFFSET_EXTENDED, _VAL_OFFSET}:
            offset, at = read_uleb128(code, at)
            kind = "offset" if one == _OFFSET_EXTENDED else "address"
            rules[register] = RegisterRule(kind, offset * self._common.data)
        elif one in {_OFFSET_SF, _VAL_OFFSET_SF}:
            offset, at = read_sleb128(code, at)
            kind = "offset" if one == _OFFSET_SF else "address"
            rules[register] = RegisterRule(kind, offset * self._common.data)
        else:
            raise KeyError(one)
        return at


def compute_cfa(row: FrameRules, registers: Mapping[int, int], read: Reader) -> int:
    """Compute the canonical frame address by a row.

    Raises:
        UnavailableValue: A register that it needs is not known.
        UnreadableMemory: It leads through memory that cannot be read.
    """
    if isinstance(row.cfa, bytes):
        return evaluate_address(parse_operations(row.cfa), EvaluationContext(registers, read))
    number, offset = row.cfa
    if number not in registers:
        raise UnavailableValue("the frame's registers were not saved")
    return (registers[number] + offset) & MASK


def caller_registers(row: FrameRules, registers: Mapping[int, int], read: Reader) -> dict[int, int]:
    """Return the registers of the caller, as far as they are known.

    Raises:
        UnavailableValue: A register that they depend on is not known.
        UnreadableMemory: They lie in memory that cannot be read.
    """
    base = compute_cfa(row, registers, read)
    # A signal's frame has saved all registers; after a call only those that the callee must
    # keep are the caller's.
    names = registers if row.is_signal else PRESERVED
    found = {number: registers[number] for number in names if number in registers}
    # The CFA is by definition the caller's stack pointer at the call, unless a rule says
    # otherwise.
    found[RSP] = base
    found.pop(RIP, None)
    for number, rule in row.rules.items():
        value = _register_value(rule, base, registers, read)
        if value is None:
            found.pop(number, None)
        else:
            found[number] = value
    if row.returned in found:
        found[RIP] = found[row.returned]
    return found


def _register_value(
    rule: RegisterRule, base: int, registers: Mapping[int, int], read: Reader
) -> int | None:
    match rule.kind:
        case "offset":
            return read_unsigned(read((base + rule.number) & MASK, 8), 0, 8)
        case "address":
            return (base + rule.number) & MASK
        case "register":
            return registers.get(rule.number)
        case "expression":
            place = evaluate_address(
                parse_operations(rule.expression), EvaluationContext(registers, read), base
            )
            return read_unsigned(read(place, 8), 0, 8)
        case "value":
            return evaluate_address(
                parse_operations(rule.expression), EvaluationContext(registers, read), base
            )
    return None
