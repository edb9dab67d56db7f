"""When a local counts as changed."""

from __future__ import annotations

import pytest

from debugger.model.program import Variable
from debugger.model.value_refs import ValueRefs
from debugger.session.views import changed_values


@pytest.mark.parametrize(
    ("before", "now", "is_change"),
    [
        ("5", "50", True),
        ("5", "5", False),
        ("{a:1, b:2}", "{a:1, b:3}", True),
        ("{a:1, b:2}", "{a:1, ...}", False),
        ("{a:1, ...}", "{a:1, b:2}", False),
        ("{a:1, ...}", "{a:2, b:2}", True),
        ("0x10", "0x10 {a:1}", False),
        ("0x10", "0x11 {a:1}", True),
        ("{0, 1, ...}", "{0, 1, 2, 3, ...}", False),
    ],
)
def test_a_summary_that_ends_earlier_is_no_change(before: str, now: str, is_change: bool) -> None:
    found = changed_values([Variable("x", before)], [Variable("x", now)], ValueRefs(), most=100)
    assert bool(found) is is_change


def test_a_new_variable_is_a_change_without_a_value_before() -> None:
    (found,) = changed_values([], [Variable("x", "1")], ValueRefs(), most=100)
    assert (found.name, found.previous, found.value) == ("x", None, "1")


def test_an_inner_variable_is_not_compared_with_the_outer_one_of_its_name():
    def named(*values: str) -> list[Variable]:
        return [Variable("x", one) for one in values]

    def found(before: list[Variable], now: list[Variable]) -> list[tuple[str | None, str]]:
        return [
            (one.previous, one.value) for one in changed_values(before, now, ValueRefs(), most=100)
        ]

    assert found(named("0", "99"), named("0", "100")) == [("99", "100")]
    assert found(named("0", "99"), named("0")) == []
    assert found(named("0"), named("0", "99")) == []
