"""Returns the location of a function's variables while its prologue has not stored them yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import Any, Final, TypeAlias

import capstone
from capstone import x86_const as x86

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnits
from debugger.symbols.dwarf.elf_file import ElfFile
from debugger.symbols.dwarf.line_table import LineTable
from debugger.symbols.dwarf.location_evaluation import LocationOperation

# Where a byte was at the function's entry: in a register ("rdi", 0), or in the caller's
# memory ("cfa", 16), counted from the canonical frame address. None is unknown.
Source: TypeAlias = tuple[str, int] | None
Bytes: TypeAlias = tuple[Source, ...]
# A register holds known bytes, or an address of the frame: an offset from its canonical address.
RegisterContent: TypeAlias = Bytes | int

_WORD: Final = 8
_VECTOR: Final = 16
_HALF: Final = 4
_BYTE: Final = 8
# Prologues are short; variadic functions save 14 registers, large frames probe their stack.
_STEPS_MAX: Final = 160
# A variadic function jumps over eight stores of vectors if al is 0: less than 128 bytes.
_BRANCH_MAX: Final = 0x80
_REGISTERS_64: Final = (
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
)  # fmt: skip
_VECTORS: Final = tuple(f"xmm{number}" for number in range(16))
# DWARF's numbers (System V ABI, AMD64, figure 3.36).
NUMBERS: Final = {
    **{name: number for number, name in enumerate(_REGISTERS_64)},
    **{name: number + 17 for number, name in enumerate(_VECTORS)},
}
_MOVES: Final = frozenset({
    "mov", "movabs", "movzx", "movsx", "movsxd", "movss", "movsd", "movaps", "movups", "movapd",
    "movupd", "movdqa", "movdqu", "movq", "movd",
})  # fmt: skip
_LEAVES: Final = {
    capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_RET, capstone.CS_GRP_INT,
    capstone.CS_GRP_IRET,
}  # fmt: skip
_HIGH: Final = {x86.X86_REG_AH, x86.X86_REG_BH, x86.X86_REG_CH, x86.X86_REG_DH}


@dataclass
class PrologueState:
    """Holds what registers and the frame's memory contain before the instruction at `address`."""

    address: int
    registers: dict[str, RegisterContent] = field(default_factory=dict)
    memory: dict[int, Source] = field(default_factory=dict)

    def slot_bytes(self, offset: int, size: int) -> Bytes:
        """Return the origin of the bytes that are now at an offset from the frame's address."""
        # Above the frame is the caller's memory: arguments that were passed on the stack.
        return tuple(
            self.memory.get(at, ("cfa", at) if at >= 0 else None)
            for at in range(offset, offset + size)
        )

    def place_of(self, sources: Bytes) -> str | None:
        """Return a register whose lowest bytes are these."""
        for name, content in self.registers.items():
            if not isinstance(content, int) and content[: len(sources)] == sources:
                return name
        return None


def follow_prologue(code: bytes, address: int, end: int) -> list[PrologueState]:
    """Follow code from a function's entry up to `end`, or to where it calls, jumps or returns.

    Returns:
        The state before each instruction, and behind the last one.
    """
    # At -O0 the debug information says where an argument is behind the prologue: in a slot of
    # the frame that is not written before then. A breakpoint at the function's first
    # instruction would show the caller's leftovers. So the prologue's instructions are
    # followed with symbolic contents:
    #
    # 1. At the entry each register holds its own bytes, and rsp is an offset from the
    #    canonical address.
    # 2. A move, push, lea, add or sub to the stack pointer, or a shift by whole bytes carries
    #    origins along; whatever else writes to something makes that unknown.
    # 3. At any instruction the bytes of the variable's final slot, taken from the state
    #    behind the prologue, are looked for: stored already, still in a register, or in the
    #    caller's memory.
    #
    # No calling convention is assumed: optimised code, records in registers and Rust do not
    # keep to C's.
    state = PrologueState(address)
    state.registers = {name: _register_bytes(name, _WORD) for name in _REGISTERS_64}
    state.registers |= {name: _register_bytes(name, _VECTOR) for name in _VECTORS}
    state.registers["rsp"] = -_WORD  # where the return address is
    found = [state]
    skipped_until = 0
    for one in _make_decoder().disasm(code, address):
        if found[-1].address >= end or len(found) > _STEPS_MAX:
            break
        if _LEAVES & set(one.groups) or one.mnemonic.startswith(("rep", "syscall", "ud2", "hlt")):
            # A function of varying arguments jumps over the stores of the vectors.
            target = _forward_target(one)
            if target is None or target > end:
                break
            skipped_until = max(skipped_until, target)
        step = _InstructionStep(found[-1], one, is_sure=one.address >= skipped_until)
        found.append(step.next_state())
    return found


def _register_bytes(name: str, size: int) -> Bytes:
    return tuple((name, number) for number in range(size))


def _forward_target(one: Any) -> int | None:
    is_conditional = one.mnemonic.startswith("j") and one.mnemonic != "jmp"
    if not is_conditional or one.operands[0].type != x86.X86_OP_IMM:
        return None
    target = int(one.operands[0].imm)
    return target if 0 < target - one.address <= _BRANCH_MAX else None


class _InstructionStep:
    """Executes one instruction on what is known."""

    def __init__(self, before: PrologueState, one: Any, *, is_sure: bool) -> None:
        self._one = one
        self._is_sure = is_sure
        self._state = PrologueState(
            one.address + one.size, dict(before.registers), dict(before.memory)
        )

    def next_state(self) -> PrologueState:
        one = self._one
        name = one.mnemonic.removeprefix("v") if len(one.operands) == 2 else one.mnemonic  # noqa: PLR2004
        # Of two operands in memory it is a string instruction, which has one of these names too.
        kinds = [operand.type for operand in one.operands]
        if name in _MOVES and len(kinds) == 2 and kinds.count(x86.X86_OP_MEM) < 2:  # noqa: PLR2004
            self._move_instruction(name)
        elif name == "push":
            self._push_instruction()
        elif name == "lea":
            target = self._memory_offset(one.operands[1])
            self._set_operand(
                one.operands[0], target if target is not None else _unknown_bytes(_WORD)
            )
        elif name in {"sub", "add"} and self._is_frame(one.operands):
            register = _register_name(one, one.operands[0].reg)
            content = self._state.registers[register]
            change = one.operands[1].imm if name == "add" else -one.operands[1].imm
            assert isinstance(content, int)
            self._state.registers[register] = content + change
        elif name in {"shr", "sar"} and self._is_byte_shift(one.operands):
            content = self._read_operand(one.operands[0])
            count = one.operands[1].imm // _BYTE
            self._set_operand(
                one.operands[0], (*content[count:], *_unknown_bytes(min(count, len(content))))
            )
        elif name not in {"test", "cmp", "nop", "endbr64"}:
            self._forget_changed()
        return self._state

    def _move_instruction(self, name: str) -> None:
        to, source = self._one.operands
        if to.type == x86.X86_OP_REG and source.type == x86.X86_OP_REG and to.size == _WORD:
            content = self._state.registers.get(_register_name(self._one, source.reg))
            if isinstance(content, int):  # mov rbp, rsp
                self._set_operand(to, content)
                return
        size = min(to.size, source.size)
        if name in {"movq", "movsd"}:
            size = _WORD
        elif name in {"movd", "movss"}:
            size = _HALF
        self._set_operand(to, (*self._read_operand(source), *_unknown_bytes(size))[:size])

    def _push_instruction(self) -> None:
        top = self._state.registers["rsp"]
        if isinstance(top, int):
            self._state.registers["rsp"] = top - _WORD
            # A push both saves a register and makes room: its content is not taken for a
            # variable's.
            # Some register or other is pushed where only room is wanted.
            self._store_bytes(top - _WORD, _unknown_bytes(_WORD))

    def _forget_changed(self) -> None:
        """Mark everything that an unknown instruction has written as unknown."""
        one = self._one
        _, written = one.regs_access()
        for number in written:
            register = _register_name(one, number)
            if register in self._state.registers:
                self._state.registers[register] = _unknown_bytes(
                    len(_register_bytes(register, _register_size(register)))
                )
        for operand in one.operands:
            if operand.type == x86.X86_OP_MEM and operand.access & capstone.CS_AC_WRITE:
                at = self._memory_offset(operand)
                if at is not None:
                    self._store_bytes(at, _unknown_bytes(operand.size))

    def _is_frame(self, operands: Any) -> bool:
        if operands[0].type != x86.X86_OP_REG or operands[1].type != x86.X86_OP_IMM:
            return False
        return isinstance(
            self._state.registers.get(_register_name(self._one, operands[0].reg)), int
        )

    @staticmethod
    def _is_byte_shift(operands: Any) -> bool:
        return (
            len(operands) == 2  # noqa: PLR2004
            and operands[0].type == x86.X86_OP_REG
            and operands[1].type == x86.X86_OP_IMM
            and operands[1].imm % _BYTE == 0
        )

    def _memory_offset(self, operand: Any) -> int | None:
        """Return where in the frame an operand of memory is."""
        if operand.type != x86.X86_OP_MEM or operand.mem.segment or operand.mem.index:
            return None
        base = self._state.registers.get(_register_name(self._one, operand.mem.base))
        return base + operand.mem.disp if isinstance(base, int) else None

    def _read_operand(self, operand: Any) -> Bytes:
        if operand.type == x86.X86_OP_REG:
            content = self._state.registers.get(_register_name(self._one, operand.reg))
            if content is None or isinstance(content, int) or operand.reg in _HIGH:
                return _unknown_bytes(operand.size)
            return content[: operand.size]
        at = self._memory_offset(operand)
        return (
            self._state.slot_bytes(at, operand.size)
            if at is not None
            else _unknown_bytes(operand.size)
        )

    def _set_operand(self, operand: Any, value: RegisterContent) -> None:
        if operand.type == x86.X86_OP_MEM:
            at = self._memory_offset(operand)
            if at is not None:
                self._store_bytes(
                    at, value if not isinstance(value, int) else _unknown_bytes(_WORD)
                )
            return
        register = _register_name(self._one, operand.reg)
        before = self._state.registers.get(register)
        if before is None:
            return
        if isinstance(value, int):
            self._state.registers[register] = value
            return
        size = _register_size(register)
        if operand.reg in _HIGH:
            value = _unknown_bytes(size)
        elif operand.size < _HALF and not isinstance(before, int):  # the rest stays
            value = (*value[: operand.size], *before[operand.size :])
        self._state.registers[register] = (*value, *_unknown_bytes(size))[:size]

    def _store_bytes(self, at: int, value: Bytes) -> None:
        for number, source in enumerate(value):
            # Behind a branch that may have been taken nothing is sure.
            self._state.memory[at + number] = source if self._is_sure else None


def _unknown_bytes(size: int) -> Bytes:
    return (None,) * size


def _register_size(register: str) -> int:
    return _VECTOR if register.startswith("xmm") else _WORD


@cache
def _whole_registers() -> dict[str, str]:
    """Map the parts of registers to the whole registers."""
    found = {name: name for name in (*_REGISTERS_64, *_VECTORS)}
    found |= {f"ymm{number}": f"xmm{number}" for number in range(16)}
    for letter in "abcd":
        for part in (f"e{letter}x", f"{letter}x", f"{letter}l", f"{letter}h"):
            found[part] = f"r{letter}x"
    for word in ("si", "di", "bp", "sp"):
        for part in (f"e{word}", word, f"{word}l"):
            found[part] = f"r{word}"
    for number in range(8, 16):
        for part in "dwb":
            found[f"r{number}{part}"] = f"r{number}"
    return found


def _register_name(one: Any, number: int) -> str:
    name = one.reg_name(number) or ""
    return _whole_registers().get(name, name)


def _make_decoder() -> capstone.Cs:
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.detail = True
    return decoder


_NAMES: Final = {number: name for name, number in NUMBERS.items()}
_FRAME: Final = {NUMBERS["rsp"], NUMBERS["rbp"]}
_CODE_MAX: Final = 512
_UNKNOWN: Final = "not known at the entry"

Place = tuple[LocationOperation, ...]


@dataclass(frozen=True, slots=True)
class PrologueExtent:
    """Describes a function's first code: its entry, where its prologue ends, and the line there."""

    entry: int
    body: int
    end: int
    line: str = ""


@dataclass(frozen=True, slots=True)
class _FrameSlot:
    """Describes where a location leads in the frame; `is_pointed` where the value is behind it."""

    offset: int
    is_pointed: bool = False


class FunctionStart:
    """Follows the first instructions of one function, once for all of its variables."""

    def __init__(self, extent: PrologueExtent, read: Callable[[int, int], bytes | None]) -> None:
        self._extent = extent
        # Optimised code has no prologue of its own: what it stores, it stores before it branches.
        self._is_mixed = extent.body == extent.entry
        end = min(extent.end, extent.entry + _CODE_MAX) if self._is_mixed else extent.body
        code = read(extent.entry, end - extent.entry) or b""
        self._states = follow_prologue(code, extent.entry, end)
        self._is_whole = self._is_mixed or self._states[-1].address == extent.body

    @property
    def body_address(self) -> int:
        """The address behind the prologue."""
        return self._extent.body

    def is_in_prologue(self, address: int) -> bool:
        """Return whether an address is where the prologue may be under way."""
        return any(one.address == address for one in self._states[:-1]) or (
            self._extent.entry <= address < self._extent.body
        )

    @property
    def explain_location(self) -> str:
        """The reason why a parameter has no location here, and where it has one."""
        line = self._extent.line
        return f"{_UNKNOWN}; {line} knows it" if line else _UNKNOWN

    def is_unset(self, address: int, place: Place, base: Place) -> bool:
        """Return whether a location is in the frame, where no statement has stored anything yet."""
        slot = self._frame_slot(place, base)
        return slot is not None and slot.offset < 0 and address < self._extent.body

    def location_at(
        self, address: int, place: Place, base: Place, size: int, *, is_listed: bool
    ) -> Place | None:
        """Return the location that holds at an address; None where it is not known.

        Args:
            address: The link-time address, which `is_in_prologue` knows.
            place: The location that the debug information has for it.
            base: The function's frame base.
            size: The bytes of the variable.
            is_listed: Whether `place` is of a list, which is for this very address.
        """
        found: list[LocationOperation] = []
        for part, count in _split_pieces(place):
            known = self._part_location(address, part, base, count or size, is_listed=is_listed)
            if known is None or (count and any(one.name == "piece" for one in known)):
                return None
            found += known
            if count:
                found.append(LocationOperation("piece", count))
        return tuple(found)

    def _part_location(
        self, address: int, place: Place, base: Place, size: int, *, is_listed: bool
    ) -> Place | None:
        now = next((one for one in self._states if one.address == address), None)
        # A frame that counts from its canonical address needs no register: what is said of one
        # there is said of this address, while LLVM says it of what is behind the prologue.
        is_exact = is_listed and base[:1] == (LocationOperation("call_frame_cfa"),)
        slot = self._frame_slot(place, base) if not is_exact or place[0].name != "breg" else None
        if slot is not None:
            return self._of_slot(address, now, slot, size, place)
        # GCC writes a list of one stretch, which is the whole function, as one expression.
        is_traced = base[:1] == (LocationOperation("call_frame_cfa"),) and self._is_mixed
        if is_listed or is_traced or address >= self._extent.body > self._extent.entry:
            return place
        if any(one.name in {"fbreg", "call_frame_cfa"} for one in place):
            return None
        return self._of_register(now, place)

    def _frame_slot(self, place: Place, base: Place) -> _FrameSlot | None:
        """Parse a location in the frame: an offset, and perhaps a pointer there."""
        if not place:
            return None
        is_pointed = len(place) > 1 and place[-1].name == "deref"
        rest = place[:-1] if is_pointed else place
        first, offset = rest[0], 0
        match [one.name for one in rest]:
            case ["fbreg"]:
                start, offset = self._base_offset(base), first.first
            case ["breg"]:
                start, offset = self._register_offset(first.first), first.second
            case ["call_frame_cfa"]:
                start = 0
            case ["call_frame_cfa", "plus_uconst"]:
                start, offset = 0, rest[1].first
            case ["call_frame_cfa", "const", "plus"]:
                start, offset = 0, rest[1].first
            case _:
                return None
        return _FrameSlot(start + offset, is_pointed) if start is not None else None

    def _base_offset(self, base: Place) -> int | None:
        match base:
            case (LocationOperation(name="call_frame_cfa"),):
                return 0
            case (LocationOperation(name="reg", first=number),):
                return self._register_offset(number)
            case (LocationOperation(name="breg", first=number, second=offset),):
                start = self._register_offset(number)
                return start + offset if start is not None else None
        return None

    def _register_offset(self, number: int) -> int | None:
        """Return a frame register's value behind the prologue, as an offset in the frame."""
        if number not in _FRAME or (not self._is_whole and number == NUMBERS["rsp"]):
            return None
        content = self._states[-1].registers.get(_NAMES.get(number, ""))
        return content if isinstance(content, int) else None

    def _of_slot(
        self, address: int, now: PrologueState | None, slot: _FrameSlot, size: int, place: Place
    ) -> Place | None:
        size = _WORD if slot.is_pointed else size
        location = (
            *_frame_location(slot.offset),
            *((LocationOperation("deref"),) if slot.is_pointed else ()),
        )
        if slot.offset >= 0:  # the caller has put it there
            return location
        content = self._stored_bytes(self._states[-1], slot.offset, size)
        if size and None not in content:
            is_stored = now is not None and self._stored_bytes(now, slot.offset, size) == content
            if is_stored or address >= self._states[-1].address:
                return location
            found = _origin_location(content, now) if now is not None else None
            return _pointed_location(found) if slot.is_pointed else found
        is_behind = address >= self._extent.body and address != self._extent.entry
        return place if is_behind else None

    @staticmethod
    def _stored_bytes(state: PrologueState, offset: int, size: int) -> Bytes:
        return tuple(state.memory.get(offset + number) for number in range(size))

    def _of_register(self, now: PrologueState | None, place: Place) -> Place | None:
        """Translate registers in one expression that is for the whole function."""
        found = []
        for one in place:
            if one.name not in {"reg", "breg", "regval"}:
                found.append(one)
                continue
            content = self._states[-1].registers.get(_NAMES.get(one.first, ""))
            if not self._is_whole or content is None or isinstance(content, int) or now is None:
                return None
            register = now.place_of(content[:_WORD]) if None not in content[:_WORD] else None
            if register is None:
                return None
            found.append(LocationOperation(one.name, NUMBERS[register], one.second))
        return tuple(found)


def _split_pieces(place: Place) -> Iterator[tuple[Place, int]]:
    """Split a location into its pieces, each with its size; 0 where it is one."""
    part: list[LocationOperation] = []
    for one in place:
        if one.name == "piece":
            yield tuple(part), one.first
            part = []
        else:
            part.append(one)
    if part:
        yield tuple(part), 0


def _frame_location(offset: int) -> Place:
    cfa = LocationOperation("call_frame_cfa")
    if offset >= 0:
        return (cfa, LocationOperation("plus_uconst", offset))
    return (cfa, LocationOperation("const", offset), LocationOperation("plus"))


def _origin_location(content: Bytes, now: PrologueState) -> Place | None:
    """Return the location of bytes with a known origin: registers, or the caller's memory."""
    # Consecutive bytes of one origin form one piece.
    groups: list[list[tuple[str, int]]] = []
    for source in content:
        if source is None:
            return None
        last = groups[-1][-1] if groups else None
        if last is not None and source == (last[0], last[1] + 1):
            groups[-1].append(source)
        else:
            groups.append([source])
    found: list[LocationOperation] = []
    for group in groups:
        name, first = group[0]
        if name == "cfa":
            found += _frame_location(first)
        else:
            register = now.place_of(tuple(group))
            if register is None:
                return None
            found.append(LocationOperation("reg", NUMBERS[register]))
        if len(groups) > 1:
            found.append(LocationOperation("piece", len(group)))
    return tuple(found)


def _pointed_location(pointer: Sequence[LocationOperation] | None) -> Place | None:
    """Return the location of what a pointer names, by the pointer's own."""
    if pointer is None or any(one.name == "piece" for one in pointer):
        return None
    if pointer[0].name == "reg":
        return (LocationOperation("breg", pointer[0].first, 0),)
    return (*pointer, LocationOperation("deref"))


class PrologueIndex:
    """Follows the functions of one binary from their entries, on demand."""

    def __init__(self, binary: ElfFile, units: DebugUnits, lines: LineTable) -> None:
        self._binary = binary
        self._units = units
        self._lines = lines
        self._starts: dict[int, FunctionStart | None] = {}

    def find_function_start(self, function: DebugEntry, address: int) -> FunctionStart | None:
        """Return the start of a function where an address is before its prologue's end."""
        if function.tag != dw.TAG_SUBPROGRAM:
            return None
        low = function.get_address(dw.AT_LOW_PC)
        # The cheap test first: most addresses are far behind the entry, and need no
        # disassembly.
        if low is not None and not low <= address < low + _CODE_MAX:
            return None
        if function.offset not in self._starts:
            self._starts[function.offset] = self._function_start(function, address)
        found = self._starts[function.offset]
        return found if found is not None and found.is_in_prologue(address) else None

    def _function_start(self, function: DebugEntry, address: int) -> FunctionStart | None:
        unit = self._units.unit_at_address(address)
        known = self._lines.spans_at(unit.offset, address) if unit is not None else []
        span = next((one for one in known if one.entry == function.offset), None)
        if unit is None or span is None:
            return None
        body = self._lines.prologue_end(unit.offset, span)
        place = self._lines.line_at(body) if body > span.first else None
        line = f"{PurePath(place.file).name}:{place.line}" if place and place.line else ""
        high = span.high if span.low <= span.first < span.high else span.first
        return FunctionStart(PrologueExtent(span.first, body, high, line), self._binary.read_at)
