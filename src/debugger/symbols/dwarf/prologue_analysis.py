"""Follows a function's first instructions: where each register and stack slot got its bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias

import capstone
from capstone import x86_const as x86

# Of each byte where it was at the function's entry: in a register ("rdi", 0), or in the caller's
# memory ("cfa", 16), counted from the canonical frame address. None is not known.
Source: TypeAlias = tuple[str, int] | None
Bytes: TypeAlias = tuple[Source, ...]
# A register holds known bytes, or an address of the frame: an offset from its canonical address.
Held: TypeAlias = Bytes | int

_WORD: Final = 8
_VECTOR: Final = 16
_HALF: Final = 4
_BYTE: Final = 8
_STEPS_MAX: Final = 160
_BRANCH_MAX: Final = 0x80
_WHOLE: Final = (
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
)  # fmt: skip
_VECTORS: Final = tuple(f"xmm{number}" for number in range(16))
# DWARF's numbers (System V ABI, AMD64, figure 3.36).
NUMBERS: Final = {
    **{name: number for number, name in enumerate(_WHOLE)},
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
    """Registers and the frame's memory before the instruction at `address`."""

    address: int
    registers: dict[str, Held] = field(default_factory=dict)
    memory: dict[int, Source] = field(default_factory=dict)

    def slot_bytes(self, offset: int, size: int) -> Bytes:
        """Return where the bytes came from that are now at an offset from the frame's address."""
        return tuple(
            self.memory.get(at, ("cfa", at) if at >= 0 else None)
            for at in range(offset, offset + size)
        )

    def place_of(self, sources: Bytes) -> str | None:
        """Find a register of which the lowest bytes are these."""
        for name, held in self.registers.items():
            if not isinstance(held, int) and held[: len(sources)] == sources:
                return name
        return None


def follow_prologue(code: bytes, address: int, end: int) -> list[PrologueState]:
    """Follow code from a function's entry up to `end`, or to where it calls, jumps or returns.

    Returns:
        The state before each instruction, and behind the last one.
    """
    state = PrologueState(address)
    state.registers = {name: _register_bytes(name, _WORD) for name in _WHOLE}
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
    """One instruction, carried out on what is known."""

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
            held = self._state.registers[register]
            change = one.operands[1].imm if name == "add" else -one.operands[1].imm
            assert isinstance(held, int)
            self._state.registers[register] = held + change
        elif name in {"shr", "sar"} and self._is_byte_shift(one.operands):
            held = self._read_operand(one.operands[0])
            count = one.operands[1].imm // _BYTE
            self._set_operand(
                one.operands[0], (*held[count:], *_unknown_bytes(min(count, len(held))))
            )
        elif name not in {"test", "cmp", "nop", "endbr64"}:
            self._forget_changed()
        return self._state

    def _move_instruction(self, name: str) -> None:
        to, source = self._one.operands
        if to.type == x86.X86_OP_REG and source.type == x86.X86_OP_REG and to.size == _WORD:
            held = self._state.registers.get(_register_name(self._one, source.reg))
            if isinstance(held, int):  # mov rbp, rsp
                self._set_operand(to, held)
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
            # Some register or other is pushed where only room is wanted.
            self._store_bytes(top - _WORD, _unknown_bytes(_WORD))

    def _forget_changed(self) -> None:
        """Of what is not followed, only know what it has changed."""
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
            held = self._state.registers.get(_register_name(self._one, operand.reg))
            if held is None or isinstance(held, int) or operand.reg in _HIGH:
                return _unknown_bytes(operand.size)
            return held[: operand.size]
        at = self._memory_offset(operand)
        return (
            self._state.slot_bytes(at, operand.size)
            if at is not None
            else _unknown_bytes(operand.size)
        )

    def _set_operand(self, operand: Any, value: Held) -> None:
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
            self._state.memory[at + number] = source if self._is_sure else None


def _unknown_bytes(size: int) -> Bytes:
    return (None,) * size


def _register_size(register: str) -> int:
    return _VECTOR if register.startswith("xmm") else _WORD


@cache
def _whole_registers() -> dict[str, str]:
    """Map the parts of registers to the whole."""
    found = {name: name for name in (*_WHOLE, *_VECTORS)}
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
