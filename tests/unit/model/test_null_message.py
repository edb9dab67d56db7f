"""Tests that values in debuggers' formats are recognised as empty."""

from __future__ import annotations

import pytest

from debugger.model.null_message import is_empty

EMPTY = [
    *("[]int len: 0, cap: 0, []", "[]int nil", "map[string]int []"),  # delve
    *("size=0", "0x7fffffffe350 size=0", "length 0"),  # LLDB, the JVM
    *("[]", "{}", "()", "set()", "deque([])", "OrderedDict()", "(0) []", "''", '""'),
]
FILLED = [
    "[0]",
    "{'a': 1}",
    "(1) [0]",
    "f()(1)",
    "size=10",
    "[]int len: 10, cap: 16, [0]",
    "0",
    "'a'",
]


@pytest.mark.parametrize("value", EMPTY)
def test_an_empty_container_is_recognised(value: str) -> None:
    assert is_empty(value)


@pytest.mark.parametrize("value", FILLED)
def test_another_value_is_not_empty(value: str) -> None:
    assert not is_empty(value)
