"""What a number became that its type does not hold."""

from __future__ import annotations

import pytest

from debugger.questions.why.answer import Why
from debugger.questions.why.wrapped_number import add_overflows, describe_overflow


@pytest.mark.parametrize(
    ("statement", "values", "old", "new", "found"),
    [
        (
            "int bytes = w * h;",
            {"w": "70000", "h": "70000"},
            None,
            "605032704",
            "w * h = 70000 * 70000 is 4900000000",
        ),
        (
            "size := w * h",
            {"w": "70000", "h": "70000"},
            None,
            "605032704",
            "w * h = 70000 * 70000 is 4900000000",
        ),
        (
            "total *= r->k;",
            {"r->k": "70000"},
            "70000",
            "605032704",
            "total * r->k = 70000 * 70000 is 4900000000",
        ),
        (
            "unsigned left = have - need;",
            {"have": "4", "need": "5"},
            None,
            "4294967295",
            "have - need = 4 - 5 is -1",
        ),
        ("let small = n as u8;", {"n": "300"}, None, "44", "n is 300"),
        (
            "if (a == b) x = a * 2;",
            {"a": "2000000000"},
            None,
            "-294967296",
            "a * 2 = 2000000000 * 2 is 4000000000",
        ),
        (
            "for (int i = 0; i < n; i++) sum += v[i];",
            {"v[i]": "2000000000"},
            "2000000000",
            "-294967296",
            "sum + v[i] = 2000000000 + 2000000000 is 4000000000",
        ),
        (
            "static int f(int w) { return w * w; }",
            {"w": "70000"},
            None,
            "605032704",
            "w * w = 70000 * 70000 is 4900000000",
        ),
        (
            "size_t n = (size_t)(count - 1) * size;",
            {"count": "0", "size": "8"},
            None,
            "18446744073709551608",
            "(count - 1) * size = (0 - 1) * 8 is -8",
        ),
    ],
)
def test_a_number_that_its_type_does_not_hold_is_explained(
    statement: str, values: dict[str, str], old: str | None, new: str, found: str
) -> None:
    text = describe_overflow(statement, values, old, new)
    assert text == f"overflow: {found}, which its type does not hold: it became {new}"


@pytest.mark.parametrize(
    ("statement", "values", "old", "new"),
    [
        ("int x = a + b;", {"a": "1", "b": "2"}, None, "3"),
        ("int x = a + b;", {"a": "1", "b": "2"}, None, "7"),
        ("int x = a / b;", {"a": "1", "b": "2"}, None, "259"),
        ("int x = next(a);", {"a": "300"}, None, "44"),
        ("int x = a, y = b;", {"a": "1", "b": "300"}, None, "44"),  # `x` became 44 elsewhere
        ("x = a * c;", {"a": "70000"}, None, "605032704"),
        ("total *= k;", {"k": "70000"}, None, "605032704"),
        ("double x = a * 2;", {"a": "70000"}, None, "140000.5"),
        ("if (a == b)", {"a": "300", "b": "44"}, None, "44"),
    ],
)
def test_other_results_are_no_overflow(
    statement: str, values: dict[str, str], old: str | None, new: str
) -> None:
    assert not describe_overflow(statement, values, old, new)


def test_an_answer_without_links_stays_as_it_is() -> None:
    answer = Why("r", "fail", "r: not followed")
    assert add_overflows(answer) == answer
