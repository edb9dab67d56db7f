"""A failing line names the check that failed, and the values that it compared."""

from __future__ import annotations

import pytest

from debugger.sources.failed_check import find_failed_check

TESTS = """\
def test_sum():
    got = add(1, 2)
    assert got == WANTED[0], (
        got
    )
class TestIt:
    def test(self):
        self.assertEqual(add(1, 2), 4)
"""
CHECKS = """\
def check(a, b):
    for each in a:
        if each != b:
            raise ValueError(each)
    assert a
    assert (c := a) == b
"""


@pytest.mark.parametrize(
    ("source", "line", "found"),
    [
        (TESTS, 3, (3, "got", "WANTED[0]")),
        (TESTS, 4, (3, "got", "WANTED[0]")),
        (TESTS, 8, (8, "add(1, 2)", "4")),
        (TESTS, 2, None),
        (CHECKS, 4, (3, "each", "b")),
        (CHECKS, 5, None),
        (CHECKS, 6, None),
    ],
)
def test_the_operands_are_those_of_the_comparison(
    source: str, line: int, found: tuple[int, str, str] | None
) -> None:
    check = find_failed_check(source, line)
    assert (check and (check.line, check.left, check.right)) == found


def test_the_condition_is_true_where_the_check_fails() -> None:
    check = find_failed_check(TESTS, 3)
    assert check is not None
    assert check.fails_if == "(got) != (WANTED[0])"


def test_a_source_that_cannot_be_parsed_has_no_check() -> None:
    assert find_failed_check("assert (", 1) is None
