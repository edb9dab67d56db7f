"""Rewrites one x86-64 instruction so that it runs at another address."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import capstone
from capstone import x86_const

# A conditional jump takes two bytes and two jumps of 14, an indirect call 13 bytes for its
# push and at most 15 for its jump; in a wide slot up to four bytes of other copies come
# before.
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
    """Says in words why an instruction cannot run at another address."""


@dataclass(frozen=True, slots=True)
class DisplacedInstruction:
    """Holds a copy: its code, and how many bytes the original instruction has."""

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
    """Copy the instruction at the beginning of `code`, which lies at `address`, to run at `slot`.

    The copy pushes, reads and jumps to what the original would: a call pushes the original return
    address, so that unwinding and exceptions see nothing of the copy.

    Raises:
        NotDisplaceableError: the instruction cannot be copied, and why.
    """
    one = decode_instruction(code, address)
    name = one.mnemonic.split()[-1]
    if name in _REFUSED:
        raise NotDisplaceableError(
            f"{one.mnemonic} at {address:#x} cannot be moved: {_REFUSED[name]}"
        )
    return DisplacedInstruction(_copy_instruction(one, slot), one.size)


# A call becomes a push of the original return address and a jump. A call from the slot would
# put an address in the arena on the stack, which no unwinder knows, and an exception would
# end in std::terminate. The price is the return predictor's: one misprediction for each hit.
# With CET shadow stacks (user space: Linux 6.6, glibc 2.39, opt-in) the return would fault.
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
        # `jmp [memory]` never comes back, so nothing has to follow it.
        return copy
    return copy + _jump_code(after)


def _direct_target(one: Any) -> int | None:
    """Return where a relative jump or call leads."""
    groups = set(one.groups)
    if not groups & {capstone.CS_GRP_JUMP, capstone.CS_GRP_CALL, capstone.CS_GRP_BRANCH_RELATIVE}:
        return None
    targets = [it.imm for it in one.operands if it.type == x86_const.X86_OP_IMM]
    return targets[0] if targets else None


# `jmp [rip+0]` with the target behind it: reaches everywhere, changes no register and no
# flag.
def _jump_code(target: int) -> bytes:
    return b"\xff\x25\0\0\0\0" + struct.pack("<Q", target)


def _push_code(word: int) -> bytes:
    """Push 64 bits and leave every register alone."""
    # push imm32             sign-extended to 64 bits
    # mov dword [rsp+4], high   overwrites the sign
    low, high = word & 0xFFFFFFFF, word >> 32
    return b"\x68" + struct.pack("<I", low) + b"\xc7\x44\x24\x04" + struct.pack("<I", high)


def _conditional_code(one: Any, target: int, after: int) -> bytes:
    """Rewrite a conditional jump as a short one over the jump for its fall-through."""
    raw = bytes(one.bytes)
    first, second = one.opcode[0], one.opcode[1]
    if first == _TWO_BYTES and second & 0xF0 == _NEAR:
        # 0F 8x with 32 bits is 7x with 8: the condition is the lower half of both.
        head = bytes([second - 0x10])
    elif first & 0xF0 == _SHORT:
        head = bytes([first])
    elif first in _LOOPS:
        head = raw[:-1]  # with the prefix that makes it count in ecx
    else:
        raise NotDisplaceableError(f"{one.mnemonic} at {one.address:#x} is no known branch")
    # The branch skips 14 bytes, one `_jump_code`. loop and jrcxz exist with 8-bit
    # displacements only, which is why every form is made short.
    on = _jump_code(after)
    return head + bytes([len(on)]) + on + _jump_code(target)


def _memory_operand(one: Any) -> Any:
    return next((it.mem for it in one.operands if it.type == x86_const.X86_OP_MEM), None)


def relocate_bytes(one: Any, at: int) -> bytes:
    """Copy an instruction's bytes; a rip-relative operand still means the same address."""
    memory = _memory_operand(one)
    raw = bytearray(one.bytes)
    if memory is None or memory.base not in {x86_const.X86_REG_RIP, x86_const.X86_REG_EIP}:
        return bytes(raw)
    offset = one.encoding.disp_offset
    # With an address-size prefix (67) rip is cut to 32 bits, which no displacement can make
    # up for.
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
    # The push changes rsp before the jump reads it, and no addressing form undoes that.
    if memory is None and one.operands[0].reg == x86_const.X86_REG_RSP:
        raise NotDisplaceableError(f"call rsp at {one.address:#x} cannot be moved")
    if memory is not None and memory.base == x86_const.X86_REG_RSP:
        raw = _above_the_pushed(one)
    else:
        raw = bytearray(relocate_bytes(one, slot + len(push)))
    modrm = one.encoding.modrm_offset
    # FF /2 is call, FF /4 is jmp: only three bits of the ModRM byte differ.
    raw[modrm] = (raw[modrm] & ~0x38) | _JUMP_INDIRECT << 3
    return push + bytes(raw)


def _above_the_pushed(one: Any) -> bytearray:
    """Encode a call's rsp-relative operand eight bytes higher, as the return address is pushed."""
    raw = bytes(one.bytes)
    modrm = one.encoding.modrm_offset
    # mod = 10 (32-bit displacement), rm = 100 (a SIB byte follows, which is kept): the
    # longest form always fits, whatever the original displacement was.
    mode_32_rm_sib = 0x80 | (_CALL_INDIRECT << 3) | 4
    displacement = _memory_operand(one).disp + 8
    return bytearray(
        raw[:modrm] + bytes([mode_32_rm_sib, raw[modrm + 1]]) + struct.pack("<i", displacement)
    )
