"""Functions that a Node program makes of texts are found by name, as it makes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS

Ask = Callable[..., Any]
MADE = ("evalSum", "inContext", "inScript", "made", "arrow", "Rule.check")

pytestmark = pytest.mark.adapter("js-debug")


@pytest.fixture(scope="module")
def ask(shared_cli: Ask, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Run a command in a folder that has the program and a library."""
    folder = tmp_path_factory.mktemp("made")
    program = (PROGRAMS / "made_functions.js").read_text("utf-8")
    (folder / "main.js").write_text(f"{program}require('dep').made(7);\n")
    # A library's function of the same name is not the program's.
    package = folder / "node_modules" / "dep"
    package.mkdir(parents=True)
    (package / "index.js").write_text("exports.made = function made(a) {\n  return a;\n};\n")
    return lambda *words, check=0: shared_cli(*words, cwd=folder, check=check)


@pytest.mark.parametrize("function", MADE)
def test_a_probe_hears_of_a_function_when_the_program_makes_it(ask: Ask, function: str) -> None:
    words = ("probe", "--json", "--rows", "9", "--at", function, "a", "--", "node", "main.js")
    rows = ask(*words).data["data"]["rows"]
    assert [one["values"][0] for one in rows] == ["1", "2", "3"]


def test_a_breakpoint_stops_in_a_made_function_under_its_condition(ask: Ask) -> None:
    stop = ask("start", "--break", "inContext if a > 1", "main.js").out
    assert stop.startswith("stopped: breakpoint 1, Object.inContext at evalmachine.<anonymous>:2")
    assert "a=2" in stop
    ask("stop")


def test_a_name_that_no_script_has_is_answered_with_what_was_searched(ask: Ask) -> None:
    said = ask("probe", "a", "--at", "evalSun", "--", "node", "main.js", check=None)
    assert "no function evalSun in the text of 1 script" in said.out + said.err


def test_two_made_functions_have_their_own_hits(ask: Ask) -> None:
    words = ("probe", "--json", "--at", "evalSum", "a", "--at", "evalSun", "a", "--", "node")
    places = ask(*words, "main.js").data["data"]["places"]
    assert [one["hits"] for one in places] == [3, 0]


def test_the_number_of_texts_that_are_searched_is_told_when_it_is_reached(
    shared_cli: Ask, tmp_path: Path
) -> None:
    (tmp_path / "many.js").write_text(
        "for (let i = 0; i < 2000; i++) eval(`${i}; 0`);\n"
        "eval('(function late(a) { return a; })')(4);\n"
    )
    said = shared_cli("probe", "a", "--at", "late", "--", "node", "many.js", cwd=tmp_path).out
    assert (
        "late: never hit\n  no function late in the scripts, nor in the first 2,000 texts" in said
    )


def test_an_invariant_is_checked_where_a_made_function_begins(ask: Ask) -> None:
    words = ("--json", "--at", "evalSum", "--", "node", "main.js")
    (held,) = ask("holds", "a > 0", *words).data["data"]["invariants"]
    assert (held["outcome"], held["true"]) == ("held", 3)
    (broken,) = ask("holds", "a < 3", *words).data["data"]["invariants"]
    assert (broken["outcome"], broken["true"], broken["first_false"]["ordinal"]) == ("broken", 2, 3)
    assert broken["why_unknown"].startswith("the check's function is in no file")


def test_questions_that_need_a_file_name_one_that_does_not(ask: Ask) -> None:
    said = ask("holds", "a > 0", "--each", "evalSum", "--", "node", "main.js", check=1).err
    assert "hint: debugger holds EXPR --at evalSum -- node main.js" in said
    said = ask("path", "--around", "evalSum", "--", "node", "main.js", check=1).err
    assert "and not the code that it makes of texts" in said
