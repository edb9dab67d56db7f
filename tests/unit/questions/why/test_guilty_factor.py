"""Which operand alone explains a computed number."""

from __future__ import annotations

import pytest

from debugger.questions.why.guilty_factor import find_guilty_factor


@pytest.mark.parametrize(
    ("expression", "values", "result", "guilty"),
    [
        ("3.14 * r_ * r_ * scale_", {"r_": "3", "scale_": "0"}, "0", "scale_"),
        ("x * factor", {"x": "5", "factor": "-3"}, "-15", "factor"),
        ("x * factor / 100", {"x": "-5", "factor": "-3"}, "0.15", None),
        ("a * b", {"a": "-1", "b": "2"}, "-2", "a"),
        ("a * b", {"a": "0", "b": "0"}, "0", None),
        ("a / b", {"a": "1", "b": "0"}, "0", None),
        ("p->n * s.w", {"p->n": "0", "s.w": "2"}, "0", "p->n"),
        ("a * b", {"a": "-1"}, "-2", None),
        ("a + b", {"a": "-1", "b": "0"}, "-1", None),
        ("a + b", {"a": "nan", "b": "2"}, "nan", "a"),
        ("a * f(b)", {"a": "-1", "b": "2"}, "-2", None),
    ],
)
def test_the_one_factor_that_explains_a_product_is_found(
    expression: str, values: dict[str, str], result: str, guilty: str | None
) -> None:
    assert find_guilty_factor(expression, values, result) == guilty
