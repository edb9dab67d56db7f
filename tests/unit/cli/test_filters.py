"""The filters of `events` are parsed, or refused with a hint."""

from __future__ import annotations

import time

import pytest

from debugger.cli.commands.output_commands import parse_event_number, parse_filters
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import EventKind
from debugger.session.timeline import ReturnedCondition


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("5", ReturnedCondition("=", 5)),
        ("-5", ReturnedCondition("=", -5)),
        ("0x10", ReturnedCondition("=", 16)),
        ("1.5", ReturnedCondition("=", 1.5)),
        ("<0", ReturnedCondition("<", 0)),
        (">= 100", ReturnedCondition(">=", 100)),
        ("!=0", ReturnedCondition("!=", 0)),
        ("==7", ReturnedCondition("=", 7)),
        ("!=true", ReturnedCondition("!=", "true")),
        ("=*", ReturnedCondition("=", "*")),
        ("=<optimized out>", ReturnedCondition("=", "<optimized out>")),
        ("true", ReturnedCondition("=", "true")),
        ("97 'a'", ReturnedCondition("=", "97 'a'")),
        ("*loud*", ReturnedCondition("like", "*loud*")),
    ],
)
def test_a_returned_value_is_compared_equal_or_like(words, meant):
    assert parse_filters(returned=words).returned == meant


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
    assert parse_filters(min_duration=words).min_duration_ns == nanoseconds
    assert parse_filters(max_duration=words).max_duration_ns == nanoseconds


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
        parse_filters(**wrong)
    assert refused.value.code is ErrorCode.USAGE
    assert says in refused.value.message
    assert hint in refused.value.hint


def test_times_are_so_long_ago_and_numbers_are_events():
    before = time.monotonic_ns()
    meant = parse_filters(since="-5s", until="-500ms", kinds=("stop",))
    after = time.monotonic_ns()
    assert meant.kinds == {EventKind.STOP}
    assert before - 5 * 10**9 <= meant.since_ns <= after - 5 * 10**9
    assert before - 5 * 10**8 <= meant.until_ns <= after - 5 * 10**8
    assert (
        parse_event_number("--since", "-5s"),
        parse_event_number("--since", "5s"),
        parse_event_number("--since", None),
        parse_event_number("--since", "12"),
    ) == (
        None,
        None,
        None,
        12,
    )
    assert parse_filters(since="12").since_ns is None
    with pytest.raises(DebuggerError, match="not 'soon'"):
        parse_event_number("--until", "soon")
