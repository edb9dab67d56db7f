"""Generated methods, functions made from texts, and a library's are found by name in Python."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, build_debuggee

PROBED = [
    ("Point.__init__", "x", ["0", "1", "1", "1", "2", "1"]),
    ("Point.__eq__", "self.x", ["0", "1", "2"]),
    ("Pair.__new__", "left", ["0", "1", "2"]),
    ("twice", "n", ["0", "1", "2"]),
    ("<made>:3", "total", ["0", "2", "4"]),
    ("json.loads", "s", ["'{\"n\": 0}'", "'{\"n\": 1}'", "'{\"n\": 2}'"]),
    ("JSONDecoder.decode", "len(s)", ["8", "8", "8"]),
]


Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def ask(shared_cli: Ask, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Ask a question of the program, in a folder of its own."""
    folder = tmp_path_factory.mktemp("generated")
    shutil.copy(PROGRAMS / "generated.py", folder)
    return lambda *words, check=0: shared_cli(
        *words, "--", sys.executable, "generated.py", cwd=folder, check=check
    )


@pytest.mark.parametrize(("function", "expression", "values"), PROBED)
def test_a_probe_finds_a_function_that_no_source_of_the_program_has(
    ask: Ask, function: str, expression: str, values: list[str]
) -> None:
    words = ("probe", "--json", "--rows", "9", "--at", function, expression)
    rows = ask(*words, check=0).data["data"]["rows"]
    assert [one["values"][0] for one in rows] == values


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("Point.__eq__", "#1 Point.__eq__(self=Point(x=0, y=5), other=Point(x=1, y=5)) → False"),
        ("Pair.__new__", "left=0, right=Point(x=0, y=5)) → Pair("),
        ("<made>:2", "#2 twice(n=1) → 2 <made>:1"),
        ("json.loads", "json.loads was called 3 times"),
    ],
)
def test_its_calls_are_shown(ask: Ask, function: str, says: str) -> None:
    assert says in ask("calls", function, check=0).out


def test_an_invariant_is_checked_in_it(ask: Ask) -> None:
    words = ("holds", "--json", "x < 2", "--at", "Point.__init__")
    (one,) = ask(*words, check=0).data["data"]["invariants"]
    assert (one["outcome"], one["true"]) == ("broken", 4)
    words = ("holds", "--json", "isinstance(result, dict)", "--each", "json.loads")
    (one,) = ask(*words, check=0).data["data"]["invariants"]
    assert (one["outcome"], one["true"]) == ("held", 3)


def test_a_name_that_is_near_one_of_the_program_is_no_librarys(
    ask: Ask,
) -> None:
    answer = ask("probe", "--at", "Pont.__init__", "x", check=1)
    assert "Pont.__init__: never hit" in answer.out
    # The tracer of Python 3.11 calls this function of its own.
    assert "never hit" in ask("probe", "--at", "CallTracer.end", "0", check=1).out
    for question in (("who-wrote", "i"), ("why", "i"), ("holds", "i >= 0")):
        refused = ask(*question, "--at", "mian", check=1)
        assert "no function mian in 1 Python file (generated.py); there is main" in refused.err
        assert f"debugger {question[0]}" in refused.err.partition("hint: ")[2]


@pytest.mark.adapter("lldb-dap")
@pytest.mark.parametrize("question", [("who-wrote", "n"), ("why", "n")])
def test_a_function_that_a_native_program_does_not_have_is_named_with_near_ones(
    shared_cli: Ask, question: tuple[str, ...]
) -> None:
    program = build_debuggee("loopfn.c")
    refused = shared_cli(*question, "--at", "adddd", "--", program, check=1)
    message, _, hint = refused.err.partition("\nhint: ")
    assert f"no function adddd in the program ({Path(program).name}" in message
    assert "FILE:LINE" in hint
