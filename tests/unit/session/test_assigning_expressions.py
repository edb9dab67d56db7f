"""Which expressions of the user's may set a variable, so that its memory is no longer unset."""

from __future__ import annotations

import pytest

from debugger.session.assigned_locals import may_assign


@pytest.mark.parametrize(
    "expression",
    ["x = 5", "x += 1", "x <<= 2", "y >>= 1", "x++", "--x", "f(&x)", "p->set (1)", "`memory write"],
)
def test_an_assignment_or_a_call_may_set_a_variable(expression: str) -> None:
    assert may_assign(expression)


@pytest.mark.parametrize(
    "expression", ["x", "x == 5", "a != b", "x <= y", "x >= y", "*p->next", "a[2] + 1", "(long)x"]
)
def test_what_only_reads_sets_nothing(expression: str) -> None:
    assert not may_assign(expression)
