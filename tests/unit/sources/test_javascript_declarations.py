"""A variable of JavaScript has no value before the line of its block that declares it."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import program_text
from debugger.sources.javascript_declarations import (
    find_inner_column,
    find_outer_declarations,
    find_unassigned,
    find_undeclared,
    guard_reads,
    linked_names,
)

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
    guarded = guard_reads(str(path), 3, "a < s && o.s > 1")
    assert "ReferenceError" in guarded
    assert guarded.startswith("a < ")
    assert guarded.endswith(" && o.s > 1")
    assert guard_reads(str(path), 14, "a < s && o.s > 1") == "a < s && o.s > 1"


VARS = program_text("vars.js")
VAR_NAMES = ["x", "y", "p", "i", "w", "f", "d", "e", "later"]


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        # A parameter has the value of the call, and an inner function may have assigned `f`.
        (2, 3, {"x", "i", "w", "d", "e"}),
        # Within its own declaration.
        (4, 5, {"x", "i", "w", "d", "e"}),
        (6, 11, {"i", "w", "d", "e"}),
        (7, 16, {"i", "w", "d", "e"}),
        # From here on a round before may have assigned what comes behind.
        (7, 19, {"d", "e"}),
        (8, 5, {"d", "e"}),
        (13, 5, {"e"}),
        (17, 16, set()),
        (20, 3, set()),
        # A method whose name is an expression is a function of its own.
        (23, 26, set()),
        (22, 1, {"later"}),
    ],
)
def test_variables_are_unassigned_before_what_can_assign_them(
    line: int, column: int, expected: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "vars.js"
    path.write_text(VARS)
    assert set(find_unassigned(str(path), line, column, VAR_NAMES)) == expected


def test_outer_declarations_are_those_of_the_blocks_around(tmp_path: Path) -> None:
    path = tmp_path / "outer.js"
    path.write_text("function f() {\n  let a = 1;\n  return () => b;\n}\nlet b = 2;\n")
    assert find_outer_declarations(str(path), 3, ["a", "b"], 16) == {"a": 2, "b": 5}
    assert find_outer_declarations(str(path), 2, ["a", "b"], 3) == {"b": 5}
    assert find_outer_declarations(str(path), 5, ["a", "b"], 1) == {}


def test_the_names_that_modules_share_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.mjs"
    path.write_text(
        "import first, { second, third as fourth } from './a.mjs';\nimport * as all from 'b';\n"
        "export const fifth = 5;\nexport { sixth as seventh };\nexport default class Eighth {}\n"
    )
    found = linked_names(str(path))
    assert {"first", "second", "fourth", "fifth", "sixth"} <= found
    assert "all" not in found
    guarded = guard_reads(str(path), 5, "fifth.size")
    assert guarded.startswith("(`${typeof fifth}`==='undefined'&&fifth!==undefined?")
    assert guarded.endswith(":fifth).size")


LOOPS = """\
function run(rows, t) {
  for (let k = 0; k < rows.length; k++) {
    t += rows[k];
  }
  for (const [a, b] of rows) t += a;
  for (let i = 0; i < 2; i++) { t += i; }
  rows.forEach((e) => { t += e; });
  return rows.map((e) => e.x).filter((e) => e.y);
}
async function wait() { let n = 0; while (n < 9) n = await n; }
const last = run([], 1);
"""


def test_the_variable_of_a_loop_has_no_value_at_its_head(tmp_path: Path) -> None:
    path = tmp_path / "loops.js"
    path.write_text(LOOPS)
    assert find_undeclared(str(path), 2, ["k"]) == {"k": 2}
    assert find_undeclared(str(path), 5, ["a", "b", "t"]) == {"a": 5, "b": 5}
    assert find_undeclared(str(path), 3, ["k"]) == {}


@pytest.mark.parametrize(
    ("line", "expression", "code"),
    [
        (2, "k", ""),
        (5, "b + 1", "t += a;"),
        (5, "rows", ""),
        (6, "i", "t += i; }"),
        (7, "e.x", "t += e; });"),
        (8, "e", ""),
        (10, "n < 5", "while (n < 9) n = await n; }"),
        (11, "last", ""),
    ],
)
def test_the_code_of_a_line_that_has_the_variables_of_an_expression_is_found(
    tmp_path: Path, line: int, expression: str, code: str
) -> None:
    path = tmp_path / "loops.js"
    path.write_text(LOOPS)
    column = find_inner_column(str(path), line, [expression])
    text = LOOPS.splitlines()[line - 1]
    assert (text[column - 1 :] if column is not None else "") == code
