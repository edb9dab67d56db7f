"""`why` and `who-wrote` follow values of Node by breakpoints that record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debugger.questions.who_wrote.javascript_writes import (
    find_writing_lines,
    parse_stack,
    split_expression,
)

PROGRAMS = Path(__file__).parents[1] / "programs" / "why"
_LOCATION = "promises.js:27"


@pytest.mark.adapter("js-debug")
def test_a_field_that_was_changed_in_an_async_function(cli: Callable[..., Any]) -> None:
    words = ["first.total", "--at", _LOCATION, "--", "node", "promises.js"]
    told = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=90)
    data = told.data["data"]
    (link,) = data["links"]
    assert (link["frame"]["line"], link["old"], link["new"]) == (12, "80", "0")
    assert link["certainty"] == "seen"
    assert [(one["function"], one["line"]) for one in link["stack"]] == [("async main", 24)]
    values = {one["text"]: one["value"] for one in link["operands"]}
    assert values == {"target.total": "80", "share": "1"}
    assert data["runs"] == 2


@pytest.mark.adapter("js-debug")
def test_an_element_that_another_function_changed(cli: Callable[..., Any]) -> None:
    words = ["x[0]", "--at", _LOCATION, "--", "node", "promises.js"]
    data = cli("--json", "why", *words, check=0, cwd=PROGRAMS, timeout=90).data["data"]
    assert [one["frame"]["line"] for one in data["links"]] == [16]
    assert (data["ended"], data["ending"]) == ("constant", "'changed'")
    wrote = cli("--json", "who-wrote", *words, check=0, cwd=PROGRAMS, timeout=90).data["data"]
    assert (wrote["frame"]["line"], wrote["writes"]) == (16, 1)
    assert wrote["method"].startswith("breakpoints at 2 lines")
    assert cli("sessions", check=0).out == "no sessions\n"


def test_lines_that_may_write_a_field_are_found() -> None:
    text = (
        "a.b = 1;\na.b == 1;\nif (x.a.b) {}\nthis.b += 2; // a.b = 3\nc.b++;\nd.bb = 1;\n--e.b;\n"
    )
    found = list(find_writing_lines("/f.js", text, "order.b"))
    assert [(one.line, one.owner) for one in found] == [(1, "a"), (4, "this"), (5, "c"), (7, "e")]


def test_lines_that_may_write_an_element_or_a_variable_are_found() -> None:
    text = "x[i + 1] = 2;\nx[0] === 1;\nrow.cells.push(4);\nlet total = 0;\no.total = 1;\n"
    found = list(find_writing_lines("/f.js", text, "x[0]"))
    assert [(one.line, one.owner, one.key) for one in found] == [
        (1, "x", "i + 1"),
        (3, "row.cells", "0"),
    ]
    assert [one.line for one in find_writing_lines("/f.js", text, "total")] == [4]


def test_an_expression_is_split_into_its_object_and_its_key() -> None:
    assert split_expression("a.b.c") == ("a.b", "c", "")
    assert split_expression("rows[2]") == ("rows", "", "2")
    assert split_expression("total") == ("", "", "")


def test_a_stack_of_v8_is_parsed_without_its_own_frames() -> None:
    text = (
        "Error\n    at <anonymous>:1:9\n    at discount (/w/a.js:12:10)\n"
        "    at async main (file:///w/b%20c.mjs:24:3)\n    at node:internal/main:1:1\n"
    )
    assert [(one.function, one.file, one.line) for one in parse_stack(text)] == [
        ("discount", "/w/a.js", 12),
        ("async main", "/w/b c.mjs", 24),
    ]
