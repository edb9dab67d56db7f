"""Are commands told apart that stand beside each other?"""

from __future__ import annotations

import pytest

from debugger.errors import Code, DebuggerError
from debugger.targets.several import several


def test_commands_follow_each_other_or_are_quoted():
    words = ["./a", "-x", "--vs", "./b"]
    assert several(words, ["./c 'two words'"], verb="diff") == [
        ("./a", "-x"),
        ("./b",),
        ("./c", "two words"),
    ]


def test_one_command_is_one():
    assert several(["./a"], [], verb="path") == [("./a",)]
    assert several([], [], verb="path") == [()]


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        (["./a", "--vs"], []),
        (["--vs", "./a"], []),
        ([], ["./a"]),
        (["./a"], ["'"]),
        (["./a"], [""]),
    ],
)
def test_what_is_no_command_is_refused(words, quoted):
    with pytest.raises(DebuggerError) as refused:
        several(words, quoted, verb="diff")
    assert refused.value.code is Code.USAGE
    assert refused.value.hint.startswith("debugger diff -- ")
