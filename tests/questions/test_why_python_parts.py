"""`why` follows a part of a value of Python into the piece, the item or the field that it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from debuggees import PROGRAMS, find_marker

SOURCE = "why/parts.py"
Why = Callable[[str], dict[str, Any]]


@pytest.fixture
def why(cli: Callable[..., Any]) -> Why:
    """Return what asks for the origin of an expression at the end of the program."""

    def run(expression: str) -> dict[str, Any]:
        at = f"parts.py:{find_marker(SOURCE, 'end')}"
        command = ["why", expression, "--at", at, "--timeout", "100"]
        words = ("--", sys.executable, "parts.py")
        told = cli("--json", *command, *words, check=0, cwd=PROGRAMS / "why", timeout=120)
        data: dict[str, Any] = told.data["data"]
        return data

    return run


@pytest.mark.parametrize(
    ("expression", "markers", "ended"),
    [
        # What a library calls back, as a key function, gives no result.
        ("best", ("best",), "allocation"),
        ("lowest", ("best",), "allocation"),
        # `b"abcdef"[2]` is of the second chunk, not of the last.
        ("picked", ("joined", "second"), "constant"),
        ("filled", ("joined", "second"), "constant"),
        ("item", ("extended",), "constant"),
        ("made", ("count",), "constant"),
        ("limit.low", ("setattr",), "constant"),
        ("deep", ("set",), "constant"),
        ("last", ("counted", "number"), "constant"),
        ("wide", ("opened", "yielded"), "constant"),
        # Through the methods of the class below, whose key is another one.
        ("found", ("caseless", "lower"), "constant"),
        # The statement that set the one item, and not its key.
        ("fixed", ("plain",), "constant"),
        # A method has filled it, and its constructor has made it of nothing.
        ("number", ("fromfile",), "not followed"),
    ],
)
def test_a_value_is_followed_to_the_statements_that_gave_it(
    why: Why, expression: str, markers: tuple[str, ...], ended: str
) -> None:
    answer = why(expression)
    lines = {one["frame"]["line"] for one in answer["links"]}
    assert {find_marker(SOURCE, name) for name in markers} <= lines
    assert answer["ended"] == ended


@pytest.mark.parametrize(
    ("expression", "ending"),
    [
        ("first", "byte 3 of it is at offset 3"),
        ("size", "byte 8 of it is at offset 8"),
        # By a `return` behind which a `with` and a `finally` run.
        ("octet", "byte 2 of it is at offset 12"),
        ("viewed", "mapped, offset 0; byte 12 of it is at offset 12"),
        # The second field of the record is the count of bytes that were read.
        ("length", "parts.py, read 1, offset 0"),
    ],
)
def test_bytes_are_followed_to_their_position_in_the_input(
    why: Why, expression: str, ending: str
) -> None:
    answer = why(expression)
    assert (answer["ended"], answer["ending"].endswith(ending)) == ("input", True)


def test_the_argument_of_a_coroutine_is_not_what_started_the_loop(why: Why) -> None:
    answer = why("fetched")
    last = answer["links"][-1]
    assert last["text"] == "passed as key to fetch by a library's code"
    assert answer["ended"] == "not followed"


@pytest.mark.parametrize(
    ("bug", "culprit", "text"),
    [
        ("field", "shelf.items", "the last item taken out of self.items"),
        ("ordered", "shelf.names", "'a' taken out of self.names"),
        ("key", "rates", "'a' taken out of cache"),
        ("queue", "waiting", "the last item taken out of waiting"),
        ("heap", "heap", "the last item taken out of heap"),
        ("set", "seen", "the last item taken out of seen"),
        ("slice", "cells", "the last item taken out of cells"),
        ("iterator", "rows", "rows used up: later uses of it get nothing"),
        ("made", "rates", "assigned to rates"),
    ],
)
def test_of_what_was_taken_out_of_a_container(
    cli: Callable[..., Any], bug: str, culprit: str, text: str
) -> None:
    command = ("crash", "--json", "--", sys.executable, "removed.py", bug)
    why = cli(*command, cwd=PROGRAMS / "results", timeout=60).data["data"]["why"]
    assert (why["expression"], why["text"]) == (culprit, text)
    assert why["frame"]["line"] == find_marker("results/removed.py", bug)


@pytest.mark.parametrize(
    ("bug", "culprit", "line"),
    [
        ("sequence", "last", "sequence"),
        ("mapping", "first", "mapping"),
        ("class", "down", "class"),
        ("pair", "after", "pair"),
        ("call", "y", "call"),
    ],
)
def test_a_name_that_a_case_or_the_failing_statement_gave_a_value(
    cli: Callable[..., Any], bug: str, culprit: str, line: str
) -> None:
    command = ("crash", "--json", "--", sys.executable, "matched.py", bug)
    why = cli(*command, cwd=PROGRAMS / "results", timeout=60).data["data"]["why"]
    assert why["expression"] == culprit
    assert why["frame"]["line"] == find_marker("results/matched.py", line)
