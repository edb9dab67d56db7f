"""Rewrites one x86-64 instruction so that it runs at another address."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import capstone
from capstone import x86_const

SLOT_MAX = 64
_INSTRUCTION_MAX = 15
_SIGNED_32 = 1 << 31
_LOOPS = range(0xE0, 0xE4)  # loopne, loope, loop, jrcxz
_CALL, _JUMPS = 0xE8, (0xE9, 0xEB)
_GROUP_5 = 0xFF
_SHORT, _NEAR, _TWO_BYTES = 0x70, 0x80, 0x0F  # conditional jumps, by their upper four bits
_CALL_INDIRECT, _JUMP_INDIRECT = 2, 4  # the /digit of opcode FF
# What means something else, or nothing at all, anywhere but in its own place.
_REFUSED = {
    "int3": "it is a breakpoint instruction already",
    "int1": "it is a trap of its own",
    "hlt": "it faults",
    "ud0": "it faults",
    "ud1": "it faults",
    "ud2": "it faults",
    "lcall": "it is a far call",
    "xbegin": "a transaction begins there",
    "sysenter": "it does not come back to where it was",
}


class NotDisplaceableError(ValueError):
    """Why an instruction cannot be carried out elsewhere, in words."""


@dataclass(frozen=True, slots=True)
class DisplacedInstruction:
    """The copy: its code, and how many bytes the instruction has in its own place."""

    code: bytes
    size: int


def _make_disassembler() -> Any:
    one = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    one.detail = True
    return one


_DECODER = _make_disassembler()


def decode_instruction(code: bytes, address: int) -> Any:
    """Decode one instruction.

    Raises:
        NotDisplaceableError: there is none.
    """
    found = next(_DECODER.disasm(code[:_INSTRUCTION_MAX], address, 1), None)
    if found is None:
        raise NotDisplaceableError(f"there is no instruction at {address:#x}")
    return found


def displace_instruction(code: bytes, address: int, slot: int) -> DisplacedInstruction:
    """Copy the instruction that begins `code`, which lies at `address`, to run at `slot`.

    What it pushes, jumps to and reads is what it would have been in its own place: a call pushes
    the original return address, so that unwinding and exceptions see nothing of the copy.

    Raises:
        NotDisplaceableError: it cannot be copied, and why.
    """
    one = decode_instruction(code, address)
    name = one.mnemonic.split()[-1]
    if name in _REFUSED:
        raise NotDisplaceableError(
            f"{one.mnemonic} at {address:#x} cannot be moved: {_REFUSED[name]}"
        )
    return DisplacedInstruction(_copy_instruction(one, slot), one.size)


def _copy_instruction(one: Any, slot: int) -> bytes:
    after = one.address + one.size
    opcode = one.opcode[0]
    direct = _direct_target(one)
    if direct is not None:
        if opcode == _CALL:
            return _push_code(after) + _jump_code(direct)
        if opcode in _JUMPS:
            return _jump_code(direct)
        return _conditional_code(one, direct, after)
    if opcode == _GROUP_5 and (one.modrm >> 3) & 7 == _CALL_INDIRECT:
        return _indirect_call(one, slot, after)
    copy = relocate_bytes(one, slot)
    if opcode == _GROUP_5 and (one.modrm >> 3) & 7 == _JUMP_INDIRECT:
        return copy
    return copy + _jump_code(after)


def _direct_target(one: Any) -> int | None:
    """Find where a relative jump or call goes."""
    groups = set(one.groups)
    if not groups & {capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_BRANCH_RELATIVE}:
        return None
    targets = [it.imm for it in one.operands if it.type == x86_const.X86_OP_IMM]
    return targets[0] if targets else None


def _jump_code(target: int) -> bytes:
    return b"\xff\x25\0\0\0\0" + struct.pack("<Q", target)


def _push_code(word: int) -> bytes:
    """Push 64 bits and leave every register alone."""
    low, high = word & 0xFFFFFFFF, word >> 32
    return b"\x68" + struct.pack("<I", low) + b"\xc7\x44\x24\x04" + struct.pack("<I", high)


def _conditional_code(one: Any, target: int, after: int) -> bytes:
    """Branch over the way on, to the way there."""
    raw = bytes(one.bytes)
    first, second = one.opcode[0], one.opcode[1]
    if first == _TWO_BYTES and second & 0xF0 == _NEAR:
        head = bytes([second - 0x10])
    elif first & 0xF0 == _SHORT:
        head = bytes([first])
    elif first in _LOOPS:
        head = raw[:-1]  # with the prefix that makes it count in ecx
    else:
        raise NotDisplaceableError(f"{one.mnemonic} at {one.address:#x} is no known branch")
    on = _jump_code(after)
    return head + bytes([len(on)]) + on + _jump_code(target)


def _memory_operand(one: Any) -> Any:
    return next((it.mem for it in one.operands if it.type == x86_const.X86_OP_MEM), None)


def relocate_bytes(one: Any, at: int) -> bytes:
    """Copy the bytes; what is relative to rip still means the same place."""
    memory = _memory_operand(one)
    raw = bytearray(one.bytes)
    if memory is None or memory.base not in {x86_const.X86_REG_RIP, x86_const.X86_REG_EIP}:
        return bytes(raw)
    offset = one.encoding.disp_offset
    if memory.base == x86_const.X86_REG_EIP or not offset:
        raise NotDisplaceableError(
            f"{one.mnemonic} {one.op_str} at {one.address:#x} cannot be moved: its address is "
            f"relative to eip"
        )
    (distance,) = struct.unpack_from("<i", raw, offset)
    distance += one.address - at
    if not -_SIGNED_32 <= distance < _SIGNED_32:
        raise NotDisplaceableError(
            f"{one.mnemonic} {one.op_str} at {one.address:#x} cannot be moved: what it refers to "
            f"is more than 2 GiB from {at:#x}"
        )
    struct.pack_into("<i", raw, offset, distance)
    return bytes(raw)


def _indirect_call(one: Any, slot: int, after: int) -> bytes:
    push = _push_code(after)
    memory = _memory_operand(one)
    if memory is None and one.operands[0].reg == x86_const.X86_REG_RSP:
        raise NotDisplaceableError(f"call rsp at {one.address:#x} cannot be moved")
    if memory is not None and memory.base == x86_const.X86_REG_RSP:
        raw = _above_the_pushed(one)
    else:
        raw = bytearray(relocate_bytes(one, slot + len(push)))
    modrm = one.encoding.modrm_offset
    raw[modrm] = (raw[modrm] & ~0x38) | _JUMP_INDIRECT << 3
    return push + bytes(raw)


def _above_the_pushed(one: Any) -> bytearray:
    """Read from the stack as if the return address were not on it yet."""
    raw = bytes(one.bytes)
    modrm = one.encoding.modrm_offset
    mode_32_rm_sib = 0x80 | (_CALL_INDIRECT << 3) | 4
    displacement = _memory_operand(one).disp + 8
    return bytearray(
        raw[:modrm] + bytes([mode_32_rm_sib, raw[modrm + 1]]) + struct.pack("<i", displacement)
    )
