"""A displaced instruction does what the original does, wherever it lies."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

capstone = pytest.importorskip("capstone")

from debugger.backends.inprocess.engine.displaced_instruction import (  # noqa: E402 - after the question whether it can
    SLOT_MAX,
    NotDisplaceableError,
    displace_instruction,
)

DECODER = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
DECODER.detail = True
HOME = st.integers(0x5555_0000_0000, 0x5555_0FFF_FFFF)
# With a displacement added, still within 32 bits.
DISTANCE = st.integers(-0x3FFF_0000, 0x3FFF_0000)
REL32 = st.integers(-0x4000_0000, 0x3FFF_FFFF)


def decoded(code, address):
    return list(DECODER.disasm(code, address))


def jump_at(code, at):
    """Where `jmp [rip]` with its target behind it goes."""
    assert code[at : at + 6] == b"\xff\x25\0\0\0\0"
    return struct.unpack_from("<Q", code, at + 6)[0]


def pushed(code):
    assert (code[0], code[5:9]) == (0x68, b"\xc7\x44\x24\x04")
    return struct.unpack_from("<I", code, 1)[0] | struct.unpack_from("<I", code, 9)[0] << 32


PLAIN = [
    ("55", "push rbp"),
    ("4889e5", "mov rbp, rsp"),
    ("c745fc05000000", "mov dword ptr [rbp - 4], 5"),
    ("f3480f1efa", None),
    ("c5fc58c1", "vaddps ymm0, ymm0, ymm1"),
    ("f0480fb10f", "lock cmpxchg qword ptr [rdi], rcx"),
    ("f3a4", "rep movsb"),
    ("0f05", "syscall"),
    ("64488b042528000000", "mov rax, qword ptr fs:[0x28]"),
    ("48b88877665544332211", "movabs rax, 0x1122334455667788"),
]


@pytest.mark.parametrize(("text", "means"), PLAIN)
@given(home=HOME, distance=DISTANCE)
def test_what_does_not_look_at_rip_is_copied_as_it_is(text, means, home, distance):
    code = bytes.fromhex(text)
    copy = displace_instruction(code + b"\x90" * 8, home, home + distance)
    assert copy.size == len(code)
    assert copy.code.startswith(code)
    assert jump_at(copy.code, len(code)) == home + len(code)
    if means is not None:
        one = decoded(copy.code, home + distance)[0]
        assert f"{one.mnemonic} {one.op_str}".strip() == means or means.startswith(one.mnemonic)


RIP_RELATIVE = [
    ("488b05", ""),  # mov rax, [rip+x]
    ("8305", "05"),  # add dword [rip+x], 5
    ("c705", "44332211"),  # mov dword [rip+x], imm32
    ("66c705", "2211"),
    ("488d3d", ""),  # lea rdi, [rip+x]
    ("c5fd6f05", ""),  # vmovdqa ymm0, [rip+x]
    ("62f17c482805", ""),  # vmovaps zmm0, [rip+x]
    ("f20f1005", ""),  # movsd xmm0, [rip+x]
    ("660f3a0f05", "04"),  # palignr xmm0, [rip+x], 4
]


@pytest.mark.parametrize(("head", "tail"), RIP_RELATIVE)
@given(home=HOME, distance=DISTANCE, offset=REL32)
def test_what_is_relative_to_rip_means_the_same_place(head, tail, home, distance, offset):
    code = bytes.fromhex(head) + struct.pack("<i", offset) + bytes.fromhex(tail)
    slot = home + distance
    copy = displace_instruction(code, home, slot)
    (before,), after = decoded(code, home), decoded(copy.code[: len(code)], slot)[0]
    assert (after.mnemonic, after.size) == (before.mnemonic, before.size)
    places = [one.address + one.size + one.disp for one in (before, after)]
    assert places[0] == places[1]
    assert before.bytes[-len(tail) // 2 :] == after.bytes[-len(tail) // 2 :] or not tail
    assert jump_at(copy.code, len(code)) == home + len(code)


@given(home=HOME, distance=DISTANCE, offset=REL32)
def test_a_call_pushes_its_own_return_address(home, distance, offset):
    copy = displace_instruction(b"\xe8" + struct.pack("<i", offset), home, home + distance)
    assert pushed(copy.code) == home + 5
    assert jump_at(copy.code, 13) == home + 5 + offset


@pytest.mark.parametrize(("text", "size"), [("e9", 4), ("eb", 1)])
@given(home=HOME, distance=DISTANCE, offset=st.integers(-128, 127))
def test_a_jump_goes_where_it_went(text, size, home, distance, offset):
    code = bytes.fromhex(text) + offset.to_bytes(size, "little", signed=True)
    copy = displace_instruction(code, home, home + distance)
    assert jump_at(copy.code, 0) == home + len(code) + offset


@pytest.mark.parametrize("condition", range(16))
@pytest.mark.parametrize("is_near", [False, True])
@given(home=HOME, distance=DISTANCE, offset=st.integers(-128, 127))
def test_a_conditional_jump_has_both_ways(condition, is_near, home, distance, offset):
    code = bytes([0x70 + condition]) + offset.to_bytes(1, "little", signed=True)
    if is_near:
        code = bytes([0x0F, 0x80 + condition]) + struct.pack("<i", offset)
    copy = displace_instruction(code, home, home + distance).code
    assert copy[:2] == bytes([0x70 + condition, 14])
    assert jump_at(copy, 2) == home + len(code)
    assert jump_at(copy, 16) == home + len(code) + offset


@pytest.mark.parametrize("text", ["e0", "e1", "e2", "e3", "67e2", "67e3"])
def test_a_loop_counts_and_has_both_ways(text):
    code = bytes.fromhex(text) + b"\xf0"
    copy = displace_instruction(code, 0x401000, 0x402000).code
    assert copy[: len(code)] == bytes.fromhex(text) + b"\x0e"
    assert jump_at(copy, len(code)) == 0x401000 + len(code)
    assert jump_at(copy, len(code) + 14) == 0x401000 + len(code) - 16


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("ffd0", "jmp rax"),
        ("41ffd4", "jmp r12"),
        ("ff5008", "jmp qword ptr [rax + 8]"),
        ("ff14c7", "jmp qword ptr [rdi + rax*8]"),
        ("41ff5308", "jmp qword ptr [r11 + 8]"),
        ("ff542408", "jmp qword ptr [rsp + 0x10]"),
        ("ff1424", "jmp qword ptr [rsp + 8]"),
        ("ff9424f0000000", "jmp qword ptr [rsp + 0xf8]"),
        ("ff54c408", "jmp qword ptr [rsp + rax*8 + 0x10]"),
        ("3effd0", "notrack jmp rax"),
    ],
)
def test_an_indirect_call_pushes_and_jumps_to_the_same_place(text, becomes):
    code = bytes.fromhex(text)
    copy = displace_instruction(code, 0x401000, 0x402000).code
    assert pushed(copy) == 0x401000 + len(code)
    one = decoded(copy[13:], 0x40200D)[0]
    assert f"{one.mnemonic} {one.op_str}" == becomes


@given(home=HOME, distance=DISTANCE, offset=REL32)
def test_a_call_through_memory_at_rip_reads_the_same_word(home, distance, offset):
    code = b"\xff\x15" + struct.pack("<i", offset)
    slot = home + distance
    copy = displace_instruction(code, home, slot).code
    assert pushed(copy) == home + 6
    one = decoded(copy[13:], slot + 13)[0]
    assert one.mnemonic == "jmp"
    assert one.address + one.size + one.disp == home + 6 + offset


@pytest.mark.parametrize("text", ["c3", "c20800", "ffe0", "ff20", "f2c3", "f3c3"])
def test_what_never_comes_back_needs_no_way_on(text):
    code = bytes.fromhex(text)
    assert displace_instruction(code, 0x401000, 0x402000).code.startswith(code)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cc", "breakpoint instruction already"),
        ("f4", "faults"),
        ("0f0b", "faults"),
        ("ffd4", "call rsp"),
        ("c7f810000000", "transaction"),
        ("678b0510000000", "relative to eip"),
        ("06", "no instruction"),
        ("", "no instruction"),
    ],
)
def test_what_cannot_be_copied_is_refused_in_words(text, says):
    with pytest.raises(NotDisplaceableError, match=says) as refused:
        displace_instruction(bytes.fromhex(text), 0x401000, 0x402000)
    assert "0x401000" in str(refused.value)


def test_a_slot_out_of_reach_is_refused():
    with pytest.raises(NotDisplaceableError, match="2 GiB"):
        displace_instruction(bytes.fromhex("488b0510000000"), 0x401000, 0x7F00_0000_0000)


@given(code=st.binary(min_size=1, max_size=16), home=HOME, distance=DISTANCE)
def test_any_bytes_are_copied_or_refused_and_fit_a_slot(code, home, distance):
    try:
        copy = displace_instruction(code, home, home + distance)
    except NotDisplaceableError:
        return
    assert 0 < copy.size <= len(code)
    assert len(copy.code) <= SLOT_MAX
