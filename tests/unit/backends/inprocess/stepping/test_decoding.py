"""The destinations of every kind of instruction."""

from __future__ import annotations

import pytest

from debugger.backends.inprocess.stepping.function_body import (
    ControlFlow,
    decode_instruction,
    find_target,
)
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory


@pytest.mark.parametrize(
    ("code", "flow", "size", "leads"),
    [
        ("90", ControlFlow.ON, 1, None),
        ("f3a4", ControlFlow.ON, 2, None),  # rep movsb
        ("0f05", ControlFlow.ON, 2, None),  # syscall
        ("e8fb0f0000", ControlFlow.CALL, 5, 0x2000),
        ("eb10", ControlFlow.JUMP, 2, 0x1012),
        ("f2e9fa0f0000", ControlFlow.JUMP, 6, 0x2000),  # bnd jmp
        ("74fe", ControlFlow.BRANCH, 2, 0x1000),
        ("0f85fa0f0000", ControlFlow.BRANCH, 6, 0x2000),
        ("e310", ControlFlow.BRANCH, 2, 0x1012),  # jrcxz
        ("e210", ControlFlow.BRANCH, 2, 0x1012),  # loop
        ("c3", ControlFlow.RETURN, 1, None),
        ("f3c3", ControlFlow.RETURN, 2, None),
        ("c20800", ControlFlow.RETURN, 3, None),
        ("0f0b", ControlFlow.TRAP, 2, None),
    ],
)
def test_an_instruction_leads_on_or_elsewhere(code, flow, size, leads):
    one = decode_instruction(bytes.fromhex(code), 0x1000)
    assert one is not None
    assert (one.flow, one.size, one.target) == (flow, size, leads)
    assert one.next_address == 0x1000 + size


def test_what_is_no_instruction_is_said_to_be_none():
    assert decode_instruction(b"\x06", 0x1000) is None
    assert decode_instruction(b"", 0x1000) is None


MEMORY = {0x2010: 0x5555, 0x3018: 0x6666, 0x1106: 0x7777}


def read(address, size):
    if address not in MEMORY or size != 8:
        raise UnreadableMemory(address)
    return MEMORY[address].to_bytes(8, "little")


@pytest.mark.parametrize(
    ("code", "flow", "leads"),
    [
        ("ffd0", ControlFlow.CALL, 0x4444),  # call rax
        ("ffe0", ControlFlow.JUMP, 0x4444),  # jmp rax
        ("ff5310", ControlFlow.CALL, 0x5555),  # call [rbx + 0x10]
        ("ff64cb08", ControlFlow.JUMP, 0x6666),  # jmp [rbx + rcx*8 + 8]
        ("ff1500010000", ControlFlow.CALL, 0x7777),  # call [rip + 0x100]
    ],
)
def test_an_indirect_one_is_followed_by_its_registers_and_memory(code, flow, leads):
    one = decode_instruction(bytes.fromhex(code), 0x1000)
    assert one is not None
    assert one.flow is flow
    assert one.target is None
    assert one.place is not None
    registers = {"rax": 0x4444, "rbx": 0x2000, "rcx": 0x202}
    assert find_target(one.place, registers, read) == leads


def test_what_cannot_be_read_is_not_followed():
    one = decode_instruction(bytes.fromhex("ff5320"), 0x1000)
    assert one is not None
    assert one.place is not None
    with pytest.raises(UnreadableMemory):
        find_target(one.place, {"rbx": 0x2000}, read)
