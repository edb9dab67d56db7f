"""The loop on a stack that does not end."""

from __future__ import annotations

import pytest

from debugger.questions.hang.thread_sampling import SampledFrame, find_common_loop

ADDS = ["function add(rows) {", "  for (const row of rows) total += row;", "}"]
TURNS = ["function sum() {", "  while (cursor < last) {", "    add(page());", "  }", "}"]
SOURCES = {"add.js": ADDS, "sum.js": TURNS}


def _stacks(*rows: str) -> list[tuple[SampledFrame, ...]]:
    return [
        (
            SampledFrame("add", "add.js", 2, is_own=True, values={"rows": one}),
            SampledFrame("sum", "sum.js", 3, is_own=True, values={"cursor": "6", "last": "7"}),
        )
        for one in rows
    ]


def test_a_loop_that_ends_is_told_for_the_one_that_calls_it():
    found, place = find_common_loop(_stacks("[4]", "[4]", "[4]"), SOURCES.get)
    assert found is not None
    assert place is not None
    assert (found.text, place.function) == ("while (cursor < last) {", "sum")


@pytest.mark.parametrize("rows", [("[1]", "[2]", "[3]"), ("[1]", "[2]", "[1]")])
def test_a_loop_over_what_changes_may_be_the_one(rows: tuple[str, ...]):
    found, place = find_common_loop(_stacks(*rows), SOURCES.get)
    assert found is not None
    assert place is not None
    assert place.function == "add"


def test_a_loop_that_ends_is_told_where_there_is_no_other():
    stacks = [stack[:1] for stack in _stacks("[4]", "[4]")]
    found, place = find_common_loop(stacks, SOURCES.get)
    assert found is not None
    assert place is not None
    assert place.function == "add"
