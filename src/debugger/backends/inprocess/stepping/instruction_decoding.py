"""Decodes single machine instructions, and finds the addresses that control may reach from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import capstone
from capstone import x86_const

from debugger.symbols.dwarf.location_evaluation import MASK, Reader

# The longest instruction of x86-64 (Intel SDM, volume 2, 2.3.11).
INSTRUCTION_MAX: Final = 15
# capstone 5 puts loop into its group of relative branches only, and not into that of jumps.
_LOOPS: Final = {"loop", "loope", "loopne"}
# hlt is privileged, the others raise by definition: what follows is not reached by itself.
_TRAPS: Final = {"ud0", "ud1", "ud2", "hlt", "int3"}


class ControlFlow(Enum):
    """Says how an instruction changes the flow of control."""

    ON = "on"
    CALL = "call"
    JUMP = "jump"
    BRANCH = "branch"
    RETURN = "return"
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """Describes where an indirect call or jump finds its target: a register, or memory."""

    register: str = ""
    base: str = ""
    index: str = ""
    scale: int = 1
    offset: int = 0
    is_memory: bool = False


@dataclass(frozen=True, slots=True)
class DecodedInstruction:
    """Describes an instruction; `target` is where it leads, or `place` is where to read that."""

    address: int
    size: int
    flow: ControlFlow
    text: str
    target: int | None = None
    place: TargetPlace | None = None

    @property
    def next_address(self) -> int:
        """The address of the next instruction in memory."""
        return self.address + self.size


def _make_decoder() -> Any:
    one = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    one.detail = True
    return one


_DECODER: Final = _make_decoder()


def decode_instruction(code: bytes, address: int) -> DecodedInstruction | None:
    """Decode the instruction at the beginning of `code`; None where there is none."""
    # A step asks three things of an instruction: does control go on behind it, where else may
    # it go, and is that a call. So capstone's groups are reduced to six kinds of flow:
    #
    # - ON: to the next instruction. BRANCH: there or to the next one. JUMP: there alone.
    # - CALL: to the next one, after a function has run. RETURN: out of the function. TRAP:
    #   nowhere.
    #
    # An immediate operand is the target itself, as capstone adds rip to it. Any other operand
    # is a `TargetPlace`, whose value is known only when the thread is at the instruction
    # (`find_target`): jump tables, virtual calls, calls through the global offset table.
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
    # The last word: prefixes such as `bnd`, `notrack` and `rep` come before it.
    name = one.mnemonic.split()[-1]
    if name in _TRAPS:
        return ControlFlow.TRAP
    if capstone.CS_GRP_CALL in groups:
        return ControlFlow.CALL
    if capstone.CS_GRP_RET in groups or capstone.CS_GRP_IRET in groups:
        return ControlFlow.RETURN
    # Before the group: CS_GRP_JUMP contains conditional jumps as well.
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
    # rip is the address behind this instruction, which is known, so it becomes part of the
    # offset.
    if base == "rip":
        base, offset = "", offset + one.address + one.size
    index = one.reg_name(memory.index) if memory.index else ""
    # capstone's name for "no index" in a SIB byte.
    if index == "riz":
        index = ""
    return TargetPlace("", base, index, memory.scale, offset, is_memory=True)


def find_target(place: TargetPlace, registers: Mapping[str, int], read: Reader) -> int:
    """Compute where an indirect call or jump leads, with the registers before it.

    Raises:
        KeyError: A register of the operand is not among them.
        UnreadableMemory: The target is in memory that cannot be read.
    """
    if not place.is_memory:
        return registers[place.register]
    at = place.offset
    if place.base:
        at += registers[place.base]
    if place.index:
        at += registers[place.index] * place.scale
    return int.from_bytes(read(at & MASK, 8), "little")
