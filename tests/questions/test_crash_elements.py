"""`crash` follows the variable of a comprehension as the element that it is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debugger.questions.crash.comprehension_element import find_source

PROGRAM = """\
import sys

def main(how):
    rows = [{"n": 1}]
    rows.append(None)
    if how == "generated":
        return sum(row["n"] for row in rows)
    return {row["n"]: row for row in rows}

main(sys.argv[1])
"""


@pytest.mark.parametrize("how", ["generated", "made"])
def test_the_variable_of_a_comprehension_is_followed_as_an_element(
    cli: Callable[..., Any], tmp_path: Path, how: str
) -> None:
    (tmp_path / "rows.py").write_text(PROGRAM)
    answer = cli("crash", "--", sys.executable, "rows.py", how, check=0, cwd=tmp_path)
    assert "row is None" in answer.out
    assert "rows.append(None)" in answer.out.partition("why: ")[2].partition("\n")[0]
    assert ".0=" not in answer.out


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = [a.b for a in self.rows['k'] if a]", ("a", "self.rows['k']")),
        ("x = [a.b\n     for a in rows\n    ]", ("a", "rows")),
        ("x = [a for row in rows for a in row]", ("row", "rows")),
        ("x = [a for a in make()]", ("", "")),
        ("x = [k for k, v in rows]", ("", "")),
        ("x = [a for a in rows[i]]", ("", "")),
        ("x = [a for a in rows] + [b for b in rows]", ("", "")),
        ("x = (a for a in rows)", ("", "")),
        ("x = [", ("", "")),
    ],
)
def test_the_container_of_a_comprehension_is_one_that_a_name_leads_to(
    source: str, found: tuple[str, str]
) -> None:
    assert find_source(source, ast.ListComp, 1) == found
