"""Changes are parsed, and conditions judged."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.try_change.trial import (
    TrialChange,
    condition_operands,
    is_true,
    parse_changes,
)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("x=3", [("x", "3")]),
        ("order->total = f(a == b, 2)", [("order->total", "f(a == b, 2)")]),
        ("x = 3, y.z = 'a;b'", [("x", "3"), ("y.z", "'a;b'")]),
        ("x = 3, 4", [("x", "3, 4")]),
        ("a=1; b=2;", [("a", "1"), ("b", "2")]),
        ("names['a=b'] = 1", [("names['a=b']", "1")]),
        ("x += 2", [("x", "(x) + (2)")]),
        ("x <<= 2", [("x", "(x) << (2)")]),
        ("n := 4", [("n", "4")]),
        ("ok = a >= b", [("ok", "a >= b")]),
        ("return", [(None, None)]),
        ("return -1;", [(None, "-1")]),
        ("returned = 2", [("returned", "2")]),
        ("x=1; return x == 2", [("x", "1"), (None, "x == 2")]),
    ],
)
def test_a_change_is_read(word: str, meant: list[tuple[str | None, str | None]]) -> None:
    assert parse_changes((word,)) == tuple(TrialChange(*one) for one in meant)


@pytest.mark.parametrize(
    "words",
    [(), ("x",), ("x ==3",), ("x >= 3",), ("=3",), ("x=",), ("f(x=3)",), ("return 1", "x=2")],
)
def test_what_changes_nothing_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(DebuggerError) as refused:
        parse_changes(words)
    assert refused.value.code is ErrorCode.USAGE
    assert "debugger try" in (refused.value.hint or "")


def test_two_lines_are_no_change() -> None:
    with pytest.raises(DebuggerError):
        parse_changes(("x=3\nshell ls",))


@pytest.mark.parametrize(
    ("expression", "sides"),
    [
        ("order->total == limit * 2", ("order->total", "limit * 2", "limit")),
        ("len(items) > 3", ("len(items)", "items")),
        ("a == 1 and b < 2", ("a", "b")),
        ("ready", ()),
    ],
)
def test_the_operands_of_a_condition_are_known(expression: str, sides: tuple[str, ...]) -> None:
    assert condition_operands(expression, hash_comments=True) == sides


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        *[(one, True) for one in ("true", "True", "1", "-3", "0x7f", "0.5", "97 'a'", "0x1 <f>")],
        *[(one, False) for one in ("false", "False", "0", "0x0", "None", "nil", "0 '\\0'", "0.0")],
        *[(one, None) for one in ("'a'", "{x:1}", "[]int len: 0", "12:30")],
    ],
)
def test_a_value_is_true_or_not_or_no_condition(value: str, truth: bool | None) -> None:
    assert is_true(value) is truth
