"""The lines of Rust that give a value are found by the source alone."""

from __future__ import annotations

from debuggees import find_source
from debugger.questions.why import value_lines

_SOURCE = find_source("why/branches.rs").read_text("utf-8").splitlines()


def test_the_last_expressions_of_a_function_are_those_of_its_branches_and_arms() -> None:
    assert value_lines.last_expressions(_SOURCE, 1, len(_SOURCE)) == [7, 10, 13, 15]
    assert value_lines.last_expressions(["fn f() {", "    go();", "}"], 1, 3) == []


def test_a_match_gives_the_expressions_of_its_arms() -> None:
    assert value_lines.chosen_expressions(_SOURCE, 9) == [10, 13, 15]
    assert value_lines.chosen_expressions(_SOURCE, 2) == []


def test_an_arm_gives_its_expression_or_the_subject_that_its_pattern_takes_apart() -> None:
    def origin(number: int, name: str) -> tuple[str, int] | None:
        found = value_lines.arm_origin(_SOURCE, number, name)
        return None if found is None else (found[0].text, found[1])

    assert origin(15, "x") == ("-1", 15)
    assert origin(10, "x") == ("shape", 9)  # `r` is bound by the pattern
    assert origin(11, "w") == ("shape", 9)
    assert origin(12, "sum") is None
    assert value_lines.binds_in_arm("h", _SOURCE[10])
    assert not value_lines.binds_in_arm("Shape", _SOURCE[10])
