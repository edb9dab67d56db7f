"""`why` follows the part by which a value of JavaScript failed its check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, find_marker

SOURCE = "why/departures.js"


@pytest.mark.parametrize(
    ("case", "expression", "part", "markers"),
    [
        ("cut", "got", ("got.slice(1)", "'b>x</b>'", "'i>x</i>'"), ("bold",)),
        ("nested", "got", ("got.pages[1].slice(28)", "' b</li>'", "'; b</li>'"), ("entity",)),
        ("counted", "got", ("got[2]", "16", "9"), ("four",)),
        ("joined", "got[10]", ("got[10]", "'!'", None), ("shouted", "loud")),
    ],
)
def test_the_first_part_that_departs_is_followed(
    cli: Callable[..., Any],
    case: str,
    expression: str,
    part: tuple[str, str, str | None],
    markers: tuple[str, ...],
) -> None:
    run = ("node", "departures.js", case)
    words = ("--json", "why", expression, "--at", "crash", "--", *run)
    answer = cli(*words, check=0, cwd=PROGRAMS / "why").data["data"]
    assert (answer["expression"], answer["value"], answer.get("other")) == part
    last = [answer["links"][-1], *answer.get("reached", ())]
    lines = [one["frame"]["line"] for one in last]
    assert lines == [find_marker(SOURCE, one) for one in markers], str(answer["links"])
    assert {one["certainty"] for one in answer["links"]} == {"seen"}


@pytest.mark.adapter("js-debug")
def test_a_failed_test_of_node_names_the_statement_that_made_the_part(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    program = PROGRAMS / SOURCE
    text = (
        f"process.argv[2] = 'joined';\nrequire('node:test')('joins', () => require('{program}'));\n"
    )
    (tmp_path / "joined.test.js").write_text(text)
    words = ("test", "--", "node", "--test", tmp_path / "joined.test.js")
    answer = cli(*words, check=0, cwd=program.parent)
    line = next(one for one in answer.out.splitlines() if one.startswith("why: "))
    assert line.startswith("why: got.slice(10)='!]', not ']', returned by shout(word='c', "), line
    place = f"departures.js:{find_marker(SOURCE, 'shouted')} in shout"
    assert place in line
    assert f"`loud` was true, departures.js:{find_marker(SOURCE, 'loud')}" in answer.out
