"""What is known of values of Go by the text of a statement and of what was logged."""

from __future__ import annotations

import pytest

from debugger.questions.why import go_values


@pytest.mark.parametrize(
    ("text", "values", "total"),
    [
        ("id*10 + i", {"id": "2", "i": "1"}, "21"),
        ("a - b*-2", {"a": "1", "b": "3"}, "7"),
        ("a + f(b)", {"a": "1", "b": "3"}, None),
        ("a / b", {"a": "4", "b": "2"}, None),
        ("name", {"name": '"x"'}, None),
    ],
)
def test_a_sum_of_known_numbers_has_a_value(
    text: str, values: dict[str, str], total: str | None
) -> None:
    assert go_values.sum_of(text, values) == total


def test_values_are_different_only_if_both_are_known_numbers_or_texts() -> None:
    assert go_values.are_different("-999", "20")
    assert go_values.are_different('"a"', '"b"')
    assert not go_values.are_different("0x10", "16")
    assert not go_values.are_different("x", "3")
    assert not go_values.are_different(None, "3")
