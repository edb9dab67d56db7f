"""`why` follows the part by which a value of Python failed its check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from debuggees import PROGRAMS, find_marker

SOURCE = "why/departures.py"


@pytest.mark.parametrize(
    ("case", "part", "markers"),
    [
        ("joined", ("got[10:]", "'!]'", "']'"), ("shouted", "loud")),
        ("cut", ("got[1:]", "'b>x</b>'", "'i>x</i>'"), ("bold",)),
        ("nested", ("got['pages'][1][13:]", "'!]'", "']'"), ("shouted", "loud")),
        ("counted", ("got[2]", "16", "9"), ("four",)),
    ],
)
def test_the_first_part_that_departs_is_followed(
    cli: Callable[..., Any], case: str, part: tuple[str, str, str], markers: tuple[str, ...]
) -> None:
    run = (sys.executable, "departures.py", case)
    told = cli("--json", "why", "got", "--at", "crash", "--", *run, check=0, cwd=PROGRAMS / "why")
    answer = told.data["data"]
    assert (answer["expression"], answer["value"], answer["other"]) == part
    last = [answer["links"][-1], *answer.get("reached", ())]
    lines = [one["frame"]["line"] for one in last]
    assert lines == [find_marker(SOURCE, one) for one in markers], str(answer["links"])


@pytest.mark.parametrize(("nth", "part"), [("1", "got"), ("2", "got[1:]")])
def test_a_line_that_checks_the_value_is_followed_by_the_part_if_it_will_fail(
    cli: Callable[..., Any], nth: str, part: str
) -> None:
    at = f"departures.py:{find_marker(SOURCE, 'checked')}"
    run = (sys.executable, "departures.py", "checked")
    words = ("--json", "why", "got", "--at", at, "--nth", nth, "--", *run)
    answer = cli(*words, check=0, cwd=PROGRAMS / "why").data["data"]
    assert answer["expression"] == part


def test_a_crash_names_the_statement_that_made_the_part(cli: Callable[..., Any]) -> None:
    run = (sys.executable, "departures.py", "joined")
    answer = cli("crash", "--", *run, check=0, cwd=PROGRAMS / "why")
    line = next(one for one in answer.out.splitlines() if one.startswith("why: "))
    assert line.startswith("why: got[10:]='!]', not ']', returned by shout (call 3) at "), line
    assert f"`loud` was true, departures.py:{find_marker(SOURCE, 'loud')}" in answer.out
