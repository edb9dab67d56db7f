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


VALUES = """\
import sys

def main(how):
    sizes = {"a": 1, "b": 2}
    sizes["b"] = 0
    if how == "divided":
        return {name: 10 / size for name, size in sizes.items()}
    return [size.real // size for size in sizes.values()]

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


@pytest.mark.parametrize("how", ["divided", "valued"])
def test_the_variable_of_a_comprehension_is_followed_as_a_value_of_its_dictionary(
    cli: Callable[..., Any], tmp_path: Path, how: str
) -> None:
    (tmp_path / "rows.py").write_text(VALUES)
    command = ("crash", "--json", "--", sys.executable, "rows.py", how)
    why = cli(*command, cwd=tmp_path, timeout=60).data["data"]["why"]
    assert (why["expression"], why["statement"]) == ('sizes["b"]', 'sizes["b"] = 0')


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = [v.n for k, v in self.rows.items()]", ("v", "self.rows", True)),
        ("x = [v.n for v in rows.values() if v]", ("v", "rows", True)),
        ("x = [p for p in rows.items()]", ("", "", False)),
        ("x = [k for k in rows.keys()]", ("", "", False)),
        ("x = [v for v in make().values()]", ("", "", False)),
        ("x = [a.b for a in self.rows['k'] if a]", ("a", "self.rows['k']", False)),
        ("x = [a.b\n     for a in rows\n    ]", ("a", "rows", False)),
        ("x = [a for row in rows for a in row]", ("row", "rows", False)),
        ("x = [a for a in make()]", ("", "", False)),
        ("x = [k for k, v in rows]", ("", "", False)),
        ("x = [a for a in rows[i]]", ("", "", False)),
        ("x = [a for a in rows] + [b for b in rows]", ("", "", False)),
        ("x = (a for a in rows)", ("", "", False)),
        ("x = [", ("", "", False)),
    ],
)
def test_the_container_of_a_comprehension_is_one_that_a_name_leads_to(
    source: str, found: tuple[str, str]
) -> None:
    assert find_source(source, ast.ListComp, 1) == found
