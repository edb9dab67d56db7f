"""Locals that are surely not assigned yet are marked, and no other."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, resolve_program
from debuggees import build_debuggee, find_marker, find_source
from debugger.model.program import Instruction
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unassigned_locals import find_possible_locals, find_unassigned

FLOW = "unassigned/flow.c"
JUMPING = "unassigned/jumping.c"
MARK = "(not assigned yet)"
ORACLE = Path(__file__).parent.parent / "unassigned_oracle.py"
BACKENDS = [
    pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap")),
    pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb")),
    pytest.param(("--adapter", "codelldb"), marks=pytest.mark.adapter("codelldb")),
    pytest.param(("--backend", "lldb-cli"), marks=pytest.mark.adapter("lldb-cli")),
    pytest.param(("--backend", "frida"), marks=pytest.mark.adapter("frida")),
]
LATER = {"pair", "text", "turns", "doubled", "last", "given", "same", "line", "copied"}


def step_in_gdb(program: Path) -> dict[str, Any]:
    """Return the instructions of `work`, and at each that runs the locals that are written to."""
    words = ["gdb", "-q", "-nx", "-batch", "-x", str(ORACLE), str(program)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    line = next(one for one in ran.stdout.splitlines() if one.startswith("ORACLE "))
    found: dict[str, Any] = json.loads(line.removeprefix("ORACLE "))
    return found


def claims_of(program: Path, steps: dict[str, Any]) -> list[tuple[int, frozenset[str], set[str]]]:
    """Return line, claimed locals and written locals of each step."""
    image = BinaryImage(program)
    (function,) = image.functions.find_by_name("work")
    bias = steps["low"] - function.address
    code = [Instruction(address, text) for address, text in steps["code"]]
    found = []
    for address, written in steps["steps"]:
        place = image.lines.line_at(address - bias)
        assert place is not None
        possible = find_possible_locals(image, address - bias, place.line)
        names = frozenset[str]()
        if possible is not None:
            names = find_unassigned(possible.shift_by(bias), code, address, is_caller=False)
        found.append((place.line, names, set(written)))
    return found


@pytest.mark.adapter("gdb-cli")
@pytest.mark.parametrize(("name", "least"), [(FLOW, 1000), ("unassigned/flow.cpp", 100)])
def test_no_local_that_was_written_to_is_called_unassigned(name: str, least: int) -> None:
    program = build_debuggee(name)
    found = claims_of(program, step_in_gdb(program))
    assert sum(len(claimed) for _, claimed, _ in found) > least
    assert [
        (line, claimed & written) for line, claimed, written in found if claimed & written
    ] == []
    # Each local is written to in the end, or the comparison would show nothing.
    assert {"total", "last" if name == FLOW else "other"} <= found[-1][2]


@pytest.mark.adapter("gdb-cli")
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Og"])
def test_nothing_is_claimed_of_an_optimized_function(tmp_path: Path, level: str) -> None:
    program = tmp_path / "flow"
    words = ["gcc", "-g", level, "-fno-inline", "-o", str(program), str(find_source(FLOW))]
    subprocess.run(words, check=True, timeout=60)
    found = claims_of(program, step_in_gdb(program))
    assert found
    assert all(not claimed for _, claimed, _ in found)


def views_of(cli: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    """Return the locals by name."""
    found = answer_data(cli("--json", "locals", check=0))["variables"]
    return {one["name"]: one for one in found}


@pytest.mark.parametrize("words", BACKENDS)
def test_locals_of_later_lines_are_marked_until_they_are_assigned(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    places = [word for at in ("entry", "label") for word in ("-b", marked_location(FLOW, at))]
    cli("start", *words, resolve_program(FLOW), *places, check=0)
    found = views_of(cli)
    assert {"total", *LATER} <= {name for name, one in found.items() if one["value"] == MARK}
    assert found["count"]["value"] == "4"
    assert "kept" not in found or found["kept"]["value"] == "3"  # a static one
    assert "raw" not in found["count"]
    assert found["total"]["raw"]
    assert f"total = {MARK}\n" in cli("locals", check=0).out
    hint = "total is not assigned yet: this is what was in its memory before"
    assert answer_data(cli("--json", "print", "total", check=0))["hint"] == hint
    assert "hint" not in answer_data(cli("--json", "print", "count", check=0))
    sum_of_both = answer_data(cli("--json", "print", "count + last * (int)total", check=0))
    assert sum_of_both["hint"].startswith("last, total are not assigned yet")
    assert "hint" not in answer_data(cli("--json", "print", "sizeof(total)", check=0))
    changed = answer_data(cli("--json", "next", check=0))["changed"]
    total = next(one for one in changed if one["name"] == "total")
    assert (total["previous"], total["value"]) == (MARK, "0")
    # In main `first` is what the call returns: its own line has begun.
    cli("frame", "1", check=0)
    assert views_of(cli)["second"]["value"] == MARK
    cli("continue", check=0)
    # Control comes back to the label: what is declared behind it may have a value by then.
    marked = {name for name, one in views_of(cli).items() if one["value"] == MARK}
    assert {"last", "given", "same"} <= marked
    assert not marked & {"doubled", "total", "pair", "turns"}
    answer_data(cli("--json", "eval", "last + 1", check=0))
    assert views_of(cli)["last"]["value"] == MARK
    # What the user does is not in the program's code.
    cli("set", "last", "5", check=0)
    assert views_of(cli)["last"]["value"] == "5"


@pytest.mark.parametrize("words", BACKENDS)
def test_a_local_is_marked_behind_its_declaration_until_a_statement_assigns_it(
    cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    places = [
        word for at in ("before", "after", "again") for word in ("-b", marked_location(JUMPING, at))
    ]
    cli("start", *words, resolve_program(JUMPING), *places, check=0)
    assert [views_of(cli)[name]["value"] for name in ("result", "text")] == [MARK, MARK]
    changed = answer_data(cli("--json", "next", check=0)).get("changed", [])
    assert "text" not in [one["name"] for one in changed]
    cli("continue", check=0)
    assert views_of(cli)["result"]["value"] == "8"
    assert views_of(cli)["text"]["value"] != MARK
    cli("continue", check=0)
    # Here control came back from what is below: the code before it does not tell.
    assert views_of(cli)["result"]["value"] != MARK


@pytest.mark.adapter("lldb-dap")
def test_the_lines_of_a_call_show_no_value_before_it_is_assigned(cli: Callable[..., Any]) -> None:
    lines = cli("calls", "plain", "--", resolve_program(JUMPING), check=0).out.splitlines()
    shown = [one for one in lines if "result=" in one]
    assert len(shown) == 1
    assert "result = count * 2;" in shown[0]
    assert shown[0].endswith("result=8")


@pytest.mark.adapter("lldb-dap")
def test_a_jump_ends_what_the_code_tells_of_the_locals(cli: Callable[..., Any]) -> None:
    cli("start", resolve_program(FLOW), "-b", marked_location(FLOW, "late"), check=0)
    cli("jump", str(find_marker(FLOW, "entry")), check=0)
    assert MARK not in cli("locals", check=0).out


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        pytest.param("unassigned/deferred.rs", "lldb-dap", marks=pytest.mark.adapter("lldb-dap")),
        pytest.param("unassigned/declared.go", "delve", marks=pytest.mark.adapter("delve")),
    ],
)
def test_in_rust_and_go_a_local_is_not_there_before_it_is_assigned(
    cli: Callable[..., Any], name: str, marks: str
) -> None:
    program = resolve_program(name)
    places = [word for at in ("entry", "late") for word in ("-b", marked_location(name, at))]
    cli("start", "--adapter", marks, program, *places, check=0)
    assert views_of(cli).keys() == {"count"}
    cli("continue", check=0)
    assert {"count", "total", "text"} <= views_of(cli).keys()
    assert "last" not in views_of(cli)
    assert MARK not in cli("locals", check=0).out


@pytest.mark.adapter("js-debug")
def test_variables_of_javascript_are_marked_until_their_declaration_has_run(
    cli: Callable[..., Any],
) -> None:
    places = [
        word
        for at in ("inner", "entry", "round")
        for word in ("-b", marked_location("unassigned/late.mjs", at))
    ]
    cli("start", str(find_source("unassigned/late.mjs")), *places, check=0)
    # V8 ends a program whose debugger reads a property of what a module has not exported yet.
    refused = "config has no value yet: its declaration, in its module, has not run"
    assert refused in cli("print", "config.size", check=1).err
    cli("frame", "1", check=0)
    assert "config is declared in line 2" in cli("print", "config.size", check=1).err
    cli("continue", check=0)
    assert answer_data(cli("--json", "print", "config.size", check=0))["value"] == "2"
    cli("continue", check=0)
    marked = {name for name, one in views_of(cli).items() if one["value"] == MARK}
    # `note2` is named in a function that could run before.
    assert marked == {"text", "Row", "row", "last", "i"}
    assert "text is declared in line 11" in cli("print", "text.length", check=1).err
    hint = "row is not assigned yet: the debugger shows undefined for that"
    assert answer_data(cli("--json", "print", "row", check=0))["hint"] == hint
    changed = answer_data(cli("--json", "continue", check=0))["changed"]
    assert (changed[0]["name"], changed[0]["previous"]) == ("i", MARK)
    # In a loop it may have been assigned in the round before.
    assert views_of(cli)["last"]["value"] == "undefined"


@pytest.mark.adapter("js-debug")
def test_a_condition_of_javascript_fails_where_it_reads_an_undeclared_variable(
    cli: Callable[..., Any],
) -> None:
    program = str(find_source("unassigned/late.mjs"))
    words = ("--at", marked_location("unassigned/late.mjs", "entry"), "--when")
    out = cli("holds", "n > 0", *words, "Row", "--", "node", program).out
    assert "could not be evaluated at 1 check: Row: Row is declared in line 12" in out
    assert "not reached" not in out
    # A condition that is a variable alone is not taken for a location that was not reached.
    out = cli("holds", "n > 0", *words, "row", "--", "node", program).out
    assert "was reached, and no check meets --when row" in out
    assert "row: always undefined" in out
