"""A variable of JavaScript has no value before the line of its block that declares it."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import program_text
from debugger.sources.javascript_declarations import find_undeclared, replace_undeclared

TEXT = program_text("declarations.js")
NAMES = ["top", "a", "b", "s", "inner", "i", "f", "q", "x", "z", "after"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (3, {"s": 3, "f": 9, "x": 13, "z": 13}),
        (4, {"f": 9, "x": 13, "z": 13}),
        (5, {"inner": 5, "f": 9, "x": 13, "z": 13}),
        (6, {"f": 9, "x": 13, "z": 13}),
        (10, {"q": 10}),
        (11, {}),
        (13, {"x": 13, "z": 13}),
        (14, {}),
        (16, {"after": 17}),
        (99, {}),
    ],
)
def test_names_that_are_declared_at_a_line_or_behind_it_are_found(
    line: int, expected: dict[str, int], tmp_path: Path
) -> None:
    path = tmp_path / "add.js"
    path.write_text(TEXT)
    assert find_undeclared(str(path), line, NAMES) == expected
    assert find_undeclared(str(tmp_path / "other.js"), line, NAMES) == {}


def test_an_expression_fails_where_it_reads_an_undeclared_name(tmp_path: Path) -> None:
    path = tmp_path / "add.js"
    path.write_text(TEXT)
    replaced = replace_undeclared(str(path), 3, "a < s && o.s > 1")
    assert "ReferenceError" in replaced
    assert replaced.startswith("a < ")
    assert replaced.endswith(" && o.s > 1")
    assert replace_undeclared(str(path), 14, "a < s && o.s > 1") == "a < s && o.s > 1"
