"""What raw commands of LLDB and gdb do to the program."""

from __future__ import annotations

import pytest

from debugger.model.debugger_words import RawEffect, gdb_effect, lldb_effect


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("thread step-over", RawEffect.STEP),
        ("n", RawEffect.STEP),
        ("next", RawEffect.STEP),
        ("process interrupt", RawEffect.INTERRUPT),
        ("pro int", RawEffect.INTERRUPT),
        ("process detach", RawEffect.DETACH),
        ('"process" det -s 1', RawEffect.DETACH),
        ("detach", RawEffect.DETACH),
        ("process kill", RawEffect.KILL),
        ("kill", RawEffect.KILL),
        ("process status", RawEffect.NONE),
        ("thread backtrace", RawEffect.NONE),
        ("frame variable", RawEffect.NONE),
        ("settings show", RawEffect.NONE),
        ("disassemble", RawEffect.NONE),
        ("continue", RawEffect.NONE),
    ],
)
def test_a_command_of_lldb_is_known_by_its_prefix(command, effect):
    assert lldb_effect(command) is effect


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("next", RawEffect.STEP),
        ("finish", RawEffect.STEP),
        ("interrupt", RawEffect.INTERRUPT),
        ("detach", RawEffect.DETACH),
        ("kill", RawEffect.KILL),
        ("info locals", RawEffect.NONE),
        ("set var x = 1", RawEffect.NONE),
        ("signal 0", RawEffect.NONE),
    ],
)
def test_a_command_of_gdb_is_known_by_its_name(command, effect):
    assert gdb_effect(command) is effect
