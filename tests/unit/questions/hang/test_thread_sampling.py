"""The loop on a stack that does not end."""

from __future__ import annotations

import pytest

from debugger.model.program import Frame
from debugger.questions.hang.goroutine_waits import is_in_signal_handler
from debugger.questions.hang.thread_sampling import SampledFrame, StackSample, find_common_loop

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


def test_a_goroutine_in_the_handler_of_a_signal_shows_nothing_of_its_own():
    waits = (Frame(0, "runtime.gopark", 1), Frame(1, "main.main", 2))
    handler = (Frame(0, "runtime.sigtramp", 3), Frame(1, "???", 4))
    loop = (Frame(0, "main.sum", 5), Frame(1, "main.main", 6))
    assert is_in_signal_handler(StackSample(frames={1: waits, 7: handler}))
    assert not is_in_signal_handler(StackSample(frames={1: waits, 7: loop, 9: ()}))
