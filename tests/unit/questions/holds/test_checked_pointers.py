"""What an invariant reads through a pointer is watched, and a call's entry is no loop's round."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugger.questions.holds.checked_lines import edge_lines, list_functions
from debugger.questions.holds.logged_checks import watched_paths


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        ("(*m).level <= (*m).max", ("m->level", "m->max")),
        ("*p == 3", ("*p", "p")),
        ("a * b > 2", ("a", "b")),
        ("m.level <= 4", ("m.level",)),
    ],
)
def test_what_a_pointer_points_to_is_watched(expression: str, paths: tuple[str, ...]) -> None:
    assert watched_paths(expression) == paths


def test_go_reads_a_field_through_a_pointer_by_a_dot() -> None:
    assert watched_paths("(*m).level < 3", is_go=True) == ("m.level",)


def test_a_function_that_begins_with_a_loop_is_entered_at_its_head(tmp_path: Path) -> None:
    source = tmp_path / "raise.rs"
    source.write_text("fn raise(n: u32) {\n    for _ in 0..n {\n        step();\n    }\n}\n")
    (function,) = [one for one in list_functions(str(source)) if one.name == "raise"]
    assert [(one.line, one.kind) for one in edge_lines(function)] == [(1, "entry"), (5, "return")]
