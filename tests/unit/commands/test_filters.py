"""Is what `events` is asked for understood, and what means nothing refused with a way on?"""

from __future__ import annotations

import time

import pytest

from debugger.commands.filters import filters, number
from debugger.core.events import Kind
from debugger.errors import Code, DebuggerError
from debugger.timeline import Returned


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("5", Returned("=", 5)),
        ("-5", Returned("=", -5)),
        ("0x10", Returned("=", 16)),
        ("1.5", Returned("=", 1.5)),
        ("<0", Returned("<", 0)),
        (">= 100", Returned(">=", 100)),
        ("!=0", Returned("!=", 0)),
        ("==7", Returned("=", 7)),
        ("!=true", Returned("!=", "true")),
        ("=*", Returned("=", "*")),
        ("=<optimized out>", Returned("=", "<optimized out>")),
        ("true", Returned("=", "true")),
        ("97 'a'", Returned("=", "97 'a'")),
        ("*loud*", Returned("like", "*loud*")),
    ],
)
def test_a_returned_value_is_compared_equal_or_like(words, meant):
    assert filters(returned=words).returned == meant


@pytest.mark.parametrize(
    ("words", "nanoseconds"),
    [
        ("5ns", 5),
        ("1.5us", 1500),
        ("2µs", 2000),
        ("5ms", 5_000_000),
        ("0.25s", 250_000_000),
        ("2m", 120_000_000_000),
    ],
)
def test_a_duration_has_a_unit(words, nanoseconds):
    assert filters(min_duration=words).min_duration_ns == nanoseconds
    assert filters(max_duration=words).max_duration_ns == nanoseconds


@pytest.mark.parametrize(
    ("wrong", "says", "hint"),
    [
        ({"min_duration": "5"}, "--min-duration is a time like 5ms", "--help"),
        ({"max_duration": "-5ms"}, "--max-duration is a time like 5ms", "--help"),
        ({"min_duration": "2s", "max_duration": "5ms"}, "at least 2s and at most 5ms", "--help"),
        ({"returned": "<"}, "--returned < takes a number", "--help"),
        ({"returned": ">=abc"}, "--returned >= takes a number, not 'abc'", "--help"),
        ({"returned": "<optimized out>"}, "--returned '=VALUE'", "--help"),
        ({"since": "-1s", "until": "-9s"}, "no time is after -1s and up to -9s", "--help"),
        ({"kinds": ("function_entry",)}, "there are: output, stop", "--kind function_enter"),
    ],
)
def test_what_means_nothing_is_refused(wrong, says, hint):
    with pytest.raises(DebuggerError) as refused:
        filters(**wrong)
    assert refused.value.code is Code.USAGE
    assert says in refused.value.message
    assert hint in refused.value.hint


def test_times_are_so_long_ago_and_numbers_are_events():
    now = time.monotonic_ns()
    meant = filters(since="-5s", until="-500ms", kinds=("stop",))
    assert meant.kinds == {Kind.STOP}
    assert abs(meant.since_ns - (now - 5 * 10**9)) < 10**9
    assert abs(meant.until_ns - (now - 5 * 10**8)) < 10**9
    assert (number("--since", "-5s"), number("--since", None), number("--since", "12")) == (
        None,
        None,
        12,
    )
    assert filters(since="12").since_ns is None
    with pytest.raises(DebuggerError, match="not 'soon'"):
        number("--until", "soon")
