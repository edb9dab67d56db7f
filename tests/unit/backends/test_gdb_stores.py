"""Which instructions store to watched memory, as gdb's disassembler writes them."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable

import pytest


@pytest.fixture
def stores_to_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bool]:
    monkeypatch.setitem(sys.modules, "gdb", types.ModuleType("gdb"))
    name = "debugger.backends.adapters.gdb.inside.gdb_stores"
    monkeypatch.delitem(sys.modules, name, raising=False)
    found: Callable[[str], bool] = importlib.import_module(name).stores_to_memory
    monkeypatch.delitem(sys.modules, name)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "mov    %eax,-0x14(%rbp)",
        "movl   $0x0,0x8(%rax,%rcx,4)",
        "movups %xmm0,(%rdi)",
        "rep stos %al,%es:(%rdi)",
        "rep movsq %ds:(%rsi),%es:(%rdi)",
        "lock cmpxchg %edx,(%rdi)",
        "addl   $0x1,-0x4(%rbp)",
        "mov    %eax,0x2ecd(%rip)        # 0x404010 <total>",
        "sete   0x3(%rax)",
        "mov    %rax,%fs:0x28",
    ],
)
def test_an_instruction_whose_last_operand_is_memory_stores(
    stores_to_memory: Callable[[str], bool], text: str
) -> None:
    assert stores_to_memory(text)


@pytest.mark.parametrize(
    "text",
    [
        "mov    -0x14(%rbp),%eax",
        "cmpl   $0x0,-0x4(%rbp)",
        "test   %eax,(%rdi)",
        "lea    0x8(%rax),%rdx",
        "call   *0x8(%rax)",
        "imull  0x10(%rax)",
        "jmp    0x401136 <main>",
        "nopw   0x0(%rax,%rax,1)",
        "ret",
    ],
)
def test_a_load_a_comparison_and_a_jump_store_nothing(
    stores_to_memory: Callable[[str], bool], text: str
) -> None:
    assert not stores_to_memory(text)
