"""Commands beside each other are told apart."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.compared_commands import split_commands


def test_commands_follow_each_other_or_are_quoted():
    words = ["./a", "-x", "--vs", "./b"]
    assert split_commands(words, ["./c 'two words'"], verb="diff") == [
        ("./a", "-x"),
        ("./b",),
        ("./c", "two words"),
    ]


def test_a_command_behind_vs_may_be_quoted_after_the_dashes_too():
    words = ["./a", "1", "--vs", "./b 'two words'", "--vs", "./c"]
    assert split_commands(words, [], verb="path") == [
        ("./a", "1"),
        ("./b", "two words"),
        ("./c",),
    ]


def test_one_command_is_one():
    assert split_commands(["./a"], [], verb="path") == [("./a",)]
    assert split_commands([], [], verb="path") == [()]


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        (["./a", "--vs"], []),
        (["--vs", "./a"], []),
        ([], ["./a"]),
        (["./a"], ["'"]),
        (["./a", "--vs", "./b 'x"], []),
        (["./a"], [""]),
    ],
)
def test_what_is_no_command_is_refused(words, quoted):
    with pytest.raises(DebuggerError) as refused:
        split_commands(words, quoted, verb="diff")
    assert refused.value.code is ErrorCode.USAGE
    assert refused.value.hint.startswith("debugger diff -- ")
