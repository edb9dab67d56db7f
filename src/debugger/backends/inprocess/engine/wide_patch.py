"""Decides whether a jump may replace the first instructions of a function, each too short alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import capstone
from capstone import x86_const

from debugger.backends.inprocess.engine.displaced_instruction import (
    DisplacedInstruction,
    NotDisplaceableError,
    decode_instruction,
    displace_instruction,
    relocate_bytes,
)

JUMP_SIZE = 5
_CODE_MAX = 1 << 16
_LEAVES = {
    capstone.CS_GRP_JUMP,
    capstone.CS_GRP_CALL,
    capstone.CS_GRP_RET,
    capstone.CS_GRP_IRET,
    capstone.CS_GRP_INT,
    capstone.CS_GRP_BRANCH_RELATIVE,
}
_PLAIN = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


def has_room(address: int, pieces: Sequence[tuple[int, bytes]]) -> bool:
    """Say whether nothing in a function's code goes into its first bytes, behind the very first.

    `pieces` are all of its code with their addresses; what cannot be read to its end is not known.
    """
    if sum(len(code) for _, code in pieces) > _CODE_MAX:
        return False
    inside = range(address + 1, address + JUMP_SIZE)
    for at, code in pieces:
        end = at
        for begin, size, mnemonic, operands in _PLAIN.disasm_lite(code, at):
            end = begin + size
            if mnemonic[0] in "jlcx" and operands[:2] == "0x" and int(operands, 16) in inside:
                return False
        if end != at + len(code):
            return False
    return True


def displace_some(code: bytes, address: int, slot: int, room: int) -> DisplacedInstruction | None:
    """Copy as many instructions as a jump needs; None where they cannot be moved together."""
    copy = b""
    size = 0
    while True:
        try:
            one = decode_instruction(code[size:], address + size)
            is_last = size + one.size >= JUMP_SIZE
            if is_last:
                last = displace_instruction(code[size:], address + size, slot + len(copy))
                whole = copy + last.code
                return DisplacedInstruction(whole, size + one.size) if len(whole) <= room else None
            if _leaves_function(one):
                return None
            copy += relocate_bytes(one, slot + len(copy))
            size += one.size
        except NotDisplaceableError:
            return None


def _leaves_function(one: Any) -> bool:
    return bool(_LEAVES & set(one.groups)) or any(
        it.type == x86_const.X86_OP_REG and it.reg == x86_const.X86_REG_RIP for it in one.operands
    )
