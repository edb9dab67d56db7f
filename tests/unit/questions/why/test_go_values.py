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


@pytest.mark.parametrize(
    ("text", "part", "value", "number"),
    [
        ("[]main.Row len: 2, cap: 4, [{ID: 1, Price: 50},{ID: 2, Price: 70}]", ".Price", "70", 1),
        (
            "[]main.Row len: 2, cap: 4, [{ID: 1, Price: 70},{ID: 2, Price: 70}]",
            ".Price",
            "70",
            None,
        ),
        ("[]int len: 3, cap: 3, [4,5,6]", "", "6", 2),
        ("[3]int [4,5,6]", "", "5", 1),
        ("[]int len: 70, cap: 70, [4,5,...+68 more]", "", "5", None),
        ("main.Row {ID: 1}", ".ID", "1", None),
    ],
)
def test_the_one_element_that_has_a_value_is_found(
    text: str, part: str, value: str, number: int | None
) -> None:
    assert go_values.only_element(text, part, value) == number
