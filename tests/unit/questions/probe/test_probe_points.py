"""Requests for a probe are parsed."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError
from debugger.questions.probe.probe_points import (
    HitRange,
    assign_conditions,
    parse_range,
    split_expressions,
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("total, n", ("total", "n")),
        ("f(a, b), d['x, y'], [1, 2]", ("f(a, b)", "d['x, y']", "[1, 2]")),
        (r"""'it\'s, so', "a, b" """, (r"'it\'s, so'", '"a, b"')),
        ("1'000, x", ("1'000", "x")),
        ("{'a': 1, 'b': 2}", ("{'a': 1, 'b': 2}",)),
        ("", ()),
    ],
)
def test_expressions_are_taken_apart_at_their_commas(text: str, parts: tuple[str, ...]) -> None:
    assert split_expressions(text) == parts


@pytest.mark.parametrize("text", ["a,,b", "a,", "a\nb", ", ".join("abcdefghijklm"), "x" * 401])
def test_expressions_that_cannot_be_meant_are_refused(text: str) -> None:
    with pytest.raises(DebuggerError):
        split_expressions(text)


@pytest.mark.parametrize(
    ("start", "end", "limit", "found"),
    [
        (None, None, None, HitRange()),
        ("100", None, 10, HitRange(100, 109, ends_run=True)),
        ("100", "104", 10, HitRange(100, 104, ends_run=True)),
        ("2.5s", "300ms", None, None),
        ("1s", "3s", None, HitRange(from_s=1.0, to_s=3.0)),
        ("300ms", "7", None, HitRange(1, 7, 0.3)),
        ("5", "4", None, None),
        ("x", None, None, None),
        ("0", None, None, None),
        (None, None, 0, None),
        ("2.5s", None, 3, None),
    ],
)
def test_a_range_is_of_hits_or_of_time(
    start: str | None, end: str | None, limit: int | None, found: HitRange | None
) -> None:
    if found is None:
        with pytest.raises(DebuggerError):
            parse_range(start, end, limit)
    else:
        assert parse_range(start, end, limit) == found


def test_a_range_says_what_it_has_and_when_it_is_over() -> None:
    within = HitRange(3, 5, 0.5, 2.0)
    assert [hit for hit in range(1, 8) if within.contains(hit, 1.0)] == [3, 4, 5]
    assert not within.contains(4, 0.4)
    assert not within.contains(4, 2.1)
    assert within.is_over(5, 1.0)
    assert within.is_over(1, 2.1)
    assert not within.is_over(4, 1.0)


def test_a_condition_is_for_all_places_or_for_one_each() -> None:
    assert assign_conditions([], 2) == (None, None)
    assert assign_conditions(["x"], 2) == ("x", "x")
    assert assign_conditions(["x", "y"], 2) == ("x", "y")
    with pytest.raises(DebuggerError):
        assign_conditions(["x", "y"], 3)
