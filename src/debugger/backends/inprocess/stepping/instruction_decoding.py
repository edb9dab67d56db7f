"""Finds the addresses that one machine instruction may lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import capstone
from capstone import x86_const

from debugger.symbols.dwarf.location_evaluation import MASK, Reader

INSTRUCTION_MAX: Final = 15
_LOOPS: Final = {"loop", "loope", "loopne"}
_TRAPS: Final = {"ud0", "ud1", "ud2", "hlt", "int3"}


class ControlFlow(Enum):
    """What an instruction does to the flow of control."""

    ON = "on"
    CALL = "call"
    JUMP = "jump"
    BRANCH = "branch"
    RETURN = "return"
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """Where an indirect call or jump finds its target: a register, or memory at a sum of some."""

    register: str = ""
    base: str = ""
    index: str = ""
    scale: int = 1
    offset: int = 0
    is_memory: bool = False


@dataclass(frozen=True, slots=True)
class DecodedInstruction:
    """One instruction; `target` is where it leads, or `place` where that is to be found."""

    address: int
    size: int
    flow: ControlFlow
    text: str
    target: int | None = None
    place: TargetPlace | None = None

    @property
    def next_address(self) -> int:
        """The address behind it."""
        return self.address + self.size


def _make_decoder() -> Any:
    one = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    one.detail = True
    return one


_DECODER: Final = _make_decoder()


def decode_instruction(code: bytes, address: int) -> DecodedInstruction | None:
    """Decode the instruction that begins `code`; None where there is none."""
    one = next(_DECODER.disasm(code[:INSTRUCTION_MAX], address, 1), None)
    if one is None:
        return None
    flow = _control_flow(one)
    text = f"{one.mnemonic} {one.op_str}".strip()
    if flow not in {ControlFlow.CALL, ControlFlow.JUMP, ControlFlow.BRANCH} or not one.operands:
        return DecodedInstruction(address, one.size, flow, text)
    operand = one.operands[0]
    if operand.type == x86_const.X86_OP_IMM:
        return DecodedInstruction(address, one.size, flow, text, target=operand.imm & MASK)
    return DecodedInstruction(address, one.size, flow, text, place=_target_place(one, operand))


def _control_flow(one: Any) -> ControlFlow:
    groups = set(one.groups)
    name = one.mnemonic.split()[-1]
    if name in _TRAPS:
        return ControlFlow.TRAP
    if capstone.CS_GRP_CALL in groups:
        return ControlFlow.CALL
    if capstone.CS_GRP_RET in groups or capstone.CS_GRP_IRET in groups:
        return ControlFlow.RETURN
    if name == "jmp":
        return ControlFlow.JUMP
    if capstone.CS_GRP_JUMP in groups or name in _LOOPS or name == "xbegin":
        return ControlFlow.BRANCH
    return ControlFlow.ON


def _target_place(one: Any, operand: Any) -> TargetPlace:
    if operand.type == x86_const.X86_OP_REG:
        return TargetPlace(register=one.reg_name(operand.reg))
    memory = operand.mem
    base = one.reg_name(memory.base) if memory.base else ""
    offset = memory.disp
    if base == "rip":
        base, offset = "", offset + one.address + one.size
    index = one.reg_name(memory.index) if memory.index else ""
    if index == "riz":
        index = ""
    return TargetPlace("", base, index, memory.scale, offset, is_memory=True)


def find_target(place: TargetPlace, registers: Mapping[str, int], read: Reader) -> int:
    """Find where an indirect call or jump leads, with the registers that it would run with.

    Raises:
        KeyError: A register that it needs is not among them.
        Unreadable: It leads through memory that cannot be read.
    """
    if not place.is_memory:
        return registers[place.register]
    at = place.offset
    if place.base:
        at += registers[place.base]
    if place.index:
        at += registers[place.index] * place.scale
    return int.from_bytes(read(at & MASK, 8), "little")
