"""What instructions do with the variables in a frame, in both syntaxes of disassemblers."""

from __future__ import annotations

import pytest

from debugger.symbols.dwarf.frame_slots import (
    FrameAccess,
    FrameSlot,
    changed_slots,
    has_frame_pointer,
    parse_access,
)

NUMBER = FrameSlot(-0x14, 4, is_indexed=False)
TABLE = FrameSlot(-0x40, 16, is_indexed=True)


@pytest.mark.parametrize(
    ("att", "intel", "access"),
    [
        ("mov %eax,-0x14(%rbp)", "mov dword ptr [rbp - 0x14], eax", FrameAccess(-0x14, 4)),
        ("movl $0x0, -0x14(%rbp)", "mov dword ptr [rbp-0x14], 0x0", FrameAccess(-0x14, 4)),
        ("movb $1,-1(%rbp)", "mov byte ptr [rbp - 1], 1", FrameAccess(-1, 1)),
        ("mov %r12w,-0x2(%rbp)", "mov word ptr [rbp - 2], r12w", FrameAccess(-2, 2)),
        ("mov %rax,-0x20(%rbp)", "mov qword ptr [rbp - 0x20], rax", FrameAccess(-0x20, 8)),
        ("movaps %xmm0,-0x30(%rbp)", "movaps xmmword ptr [rbp - 0x30], xmm0", FrameAccess(-48, 16)),
        ("fstpt -0x20(%rbp)", "fstp xword ptr [rbp - 0x20]", FrameAccess(-0x20, 64)),
        ("sete -0x1(%rbp)", "sete byte ptr [rbp - 1]", FrameAccess(-1, 1)),
        ("lea -0x14(%rbp),%rdi", "lea rdi, [rbp - 0x14]", FrameAccess(-0x14, 0)),
        (
            "mov %edx,-0x40(%rbp,%rax,4)",
            "mov dword ptr [rbp + rax*4 - 0x40], edx",
            FrameAccess(-0x40, 4, is_indexed=True),
        ),
    ],
)
def test_a_write_or_an_address_is_read_from_either_syntax(
    att: str, intel: str, access: FrameAccess
):
    assert parse_access(att) == (access,)
    assert parse_access(intel) == (access,)


@pytest.mark.parametrize(
    "text",
    [
        "mov -0x14(%rbp),%eax",
        "mov eax, dword ptr [rbp - 0x14]",
        "cmpl $0x0,-0x14(%rbp)",
        "cmp dword ptr [rbp - 0x14], 0",
        "push -0x14(%rbp)",
        "movss -0x14(%rbp),%xmm0",
    ],
)
def test_reading_changes_nothing(text: str):
    assert parse_access(text) == ()


@pytest.mark.parametrize(
    "text",
    ["mov %rbp,%rax", "mov (%rax,%rbp,1),%ecx", "mov ecx, dword ptr [rax + rbp]", "mov rax, rbp"],
)
def test_what_makes_the_frame_pointer_a_value_leaves_all_unknown(text: str):
    assert parse_access(text) is None
    assert changed_slots(["push %rbp", text], {"n": NUMBER}) is None


@pytest.mark.parametrize(
    ("texts", "changed"),
    [
        (["push %rbp", "mov %rsp,%rbp", "sub $0x20,%rsp", "pop %rbp"], ""),
        (["mov %eax,-0x18(%rbp)", "mov %eax,-0x10(%rbp)"], ""),  # neighbours
        (["mov %rax,-0x18(%rbp)"], "n"),
        (["lock xadd %eax,-0x14(%rbp)"], "n"),
        (["xchg -0x14(%rbp),%eax"], "n"),
        (["mov %edx,-0x40(%rbp,%rax,4)"], "t"),
        (["lea -0x30(%rbp),%rax"], "t"),  # its end, from which it may be filled
        (["lea -0x10(%rbp),%rax"], "n"),
        (["movups %xmm0,-0x20(%rbp)"], "n"),
        (["callq 0x401030 ; symbol stub for: rbp"], ""),
    ],
)
def test_the_changed_ones_are_those_whose_bytes_are_met(texts: list[str], changed: str):
    assert changed_slots(texts, {"n": NUMBER, "t": TABLE}) == frozenset(changed)


def test_a_function_without_a_frame_pointer_of_its_own_is_known():
    assert has_frame_pointer(["endbr64", "pushq  %rbp", "movq   %rsp, %rbp"])
    assert has_frame_pointer(["push rbp", "mov rbp, rsp"])
    assert not has_frame_pointer(["lea 0x8(%rsp),%r10", "and $0xfffffffffffffff0,%rsp"])
    assert not has_frame_pointer(["push %rbp"])
