"""Values and branches of a launcher's ranks, and of processes that are not Python's, compared."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from debuggees import find_marker, find_source
from left_out import leave_out
from process_trees import list_sessions, read_again

LAUNCHER = (str(find_source("groups/mpirun.openmpi")), "-n", "3")


def compare_values(cli: Cli, name: str, expressions: str, *words: str) -> dict[str, Any]:
    """Return the only probed place of a run; nothing of the run is left."""
    at = marked_location(name, "step")
    answer = answer_data(cli("--json", "probe", "--group", "--at", at, expressions, *words))
    assert list_sessions(cli) == {}
    (place,) = answer["places"]
    assert place["line"] == find_marker(name, "step")
    return dict(place)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param(
            "groups/forked_ranks.c", "take_step", marks=pytest.mark.adapter("gdb"), id="forks"
        ),
        pytest.param(
            "groups/cluster.js", "takeStep", marks=pytest.mark.adapter("js-debug"), id="cluster"
        ),
    ],
)
def test_the_process_whose_value_differs_first_is_named(cli: Cli, name: str, function: str) -> None:
    place = compare_values(cli, name, "step, value", "--", resolve_program(name))
    assert place["function"] == function
    assert [(one["value"], len(one["members"])) for one in place["counts"]] == [("4", 3)]
    value, step = place["expressions"]
    assert (value["expression"], value["hit"], value["differing"]) == ("value", 3, 1)
    assert [(one["value"], len(one["members"])) for one in value["values"]] == [
        ("20", 2),
        ("-1", 1),
    ]
    assert (step["expression"], step["hit"]) == ("step", None)


@pytest.mark.adapter("lldb-dap")
def test_the_values_of_a_launchers_ranks_are_compared(cli: Cli) -> None:
    words = ("--", *LAUNCHER, resolve_program("groups/rank.c"), "0")
    place = compare_values(cli, "groups/rank.c", "step, rank, none", "--limit", "2", *words)
    rank, step, none = sorted(place["expressions"], key=lambda one: str(one["hit"]))
    assert place["compared"] == 2
    assert {one["value"]: one["members"] for one in rank["values"]} == {
        "0": ["0"],
        "1": ["1"],
        "2": ["2"],
    }
    assert {step["expression"], none["expression"]} == {"step", "none"}
    assert (step["hit"], none["hit"]) == (None, None)


@pytest.mark.adapter("debugpy")
def test_the_ranks_of_python_are_recorded_below_their_launcher(cli: Cli) -> None:
    name = "groups/stepping_rank.py"
    words = ("--", *LAUNCHER, sys.executable, resolve_program(name))
    place = compare_values(cli, name, "value, step", *words)
    value = place["expressions"][0]
    assert (value["expression"], value["hit"]) == ("value", 3)
    assert value["values"][1] == {"value": "-1", "members": ["2"]}
    answer = read_again(cli, "path", "--group", *words)
    assert answer["members"] == ["0", "1", "2"]
    assert answer["splits"][0]["hit"] == 3
    assert answer["splits"][0]["ways"][0]["members"] == ["2"]


def test_a_place_that_no_process_comes_to_is_said(cli: Cli) -> None:
    program = resolve_program("groups/forked_ranks.c")
    never = cli("probe", "--group", "--at", "no_such_function", "1", "--", program, check=None)
    assert "processes came to no_such_function; exited with status 0" in never.err


def find_odd_line(cli: Cli, name: str, *words: str) -> dict[str, Any]:
    """Return the first line whose counts differ; nothing of the run is left."""
    answer = answer_data(cli("--json", "path", "--group", "--", *words))
    assert list_sessions(cli) == {}
    split = answer["counted"][0]
    assert (split["line"], split["after"]) == (
        find_marker(name, "odd"),
        find_marker(name, "branch"),
    )
    return dict(split)


@pytest.mark.parametrize("name", ["groups/branching.c", "groups/branching.js"])
def test_the_process_that_took_another_branch_is_named_in_other_languages(
    cli: Cli, name: str
) -> None:
    if name.endswith(".js") and shutil.which("node") is None:
        leave_out("node is missing (make tools)")
    never, once = find_odd_line(cli, name, resolve_program(name))["counts"]
    assert (never["value"], len(never["members"])) == ("0", 3)
    assert (once["value"], len(once["members"])) == ("1", 1)


def test_the_lines_of_a_launchers_compiled_ranks_are_compared(cli: Cli) -> None:
    words = (*LAUNCHER, resolve_program("groups/branching.c"))
    never, once = find_odd_line(cli, "groups/branching.c", *words)["counts"]
    assert (never["members"], once["members"]) == (["0", "1"], ["2"])


def test_values_of_a_launchers_node_ranks_are_refused_with_what_works(cli: Cli) -> None:
    if shutil.which("node") is None:
        leave_out("node is missing (make tools)")
    name = resolve_program("groups/branching.js")
    refused = cli("probe", "--group", "--at", "work", "total", "--", *LAUNCHER, "node", name)
    assert "cannot read values of javascript processes that a launcher starts" in refused.err
    assert f"hint: debugger path --group -- {LAUNCHER[0]}" in refused.err
