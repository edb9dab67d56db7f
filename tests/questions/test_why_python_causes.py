"""`crash` of Python: the value that an exception is about, where its message names none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from debuggees import find_marker, find_source

PROGRAM = "results/complained.py"
ANSWERS = [
    ("awaited", "row"),
    ("unpacked", "line"),
    ("converted", "match.group(2)"),
    ("summed", 'prices["b"]'),
    ("ordered", 'rows[2]["age"]'),
    ("joined", "boxes[1].width"),
    ("loaded", 'load(["1", "", "3"])[1]'),
    ("listed", 'number(["a"])[1]'),
    ("spread", 'option("b")'),
    ("updated", 'option("b")'),
    ("hashed", "names[1]"),
    ("method", "name"),
    ("looked_up", "name"),
    ("divided", "self.height"),
    ("used_up", "values"),
    ("changed", "seen"),
    ("added", "seen"),
    ("decorated", 'count("abc")'),
    ("bound", "over(1)"),
    ("locked", 'left["n"]'),
]


@pytest.mark.parametrize(("bug", "expression"), ANSWERS, ids=[one[0] for one in ANSWERS])
def test_the_value_that_an_exception_is_about_is_followed(
    cli: Callable[..., Any], bug: str, expression: str
) -> None:
    command = ("crash", "--json", "--", sys.executable, "complained.py", bug)
    why = cli(*command, cwd=find_source(PROGRAM).parent, timeout=60).data["data"]["why"]
    assert why["expression"] == expression
    lines = [why["frame"]["line"], *(one["line"] for one in why.get("earlier", ()))]
    assert find_marker(PROGRAM, bug) in lines


def test_the_container_and_the_part_that_failed_are_named(cli: Callable[..., Any]) -> None:
    def cause(bug: str) -> str:
        command = ("crash", "--json", "--no-why", "--", sys.executable, "complained.py", bug)
        return str(cli(*command, cwd=find_source(PROGRAM).parent).data["data"]["cause"])

    assert cause("looked_up").startswith("key 'z' is not in table")
    assert cause("part").startswith('rows.get(1)["tags"] returned None')
    assert cause("divided").startswith("division by zero: self.height is 0")
