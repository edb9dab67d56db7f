"""Of a group's processes the first that fails is named, and what it did to the others."""

from __future__ import annotations

import sys

import pytest

from cli_commands import Cli, resolve_program
from debuggees import find_marker, find_source
from process_trees import list_sessions, read_again

POOL = "groups/pool.py"
RANK = "groups/rank.c"
LAUNCHER = str(find_source("groups/mpirun.openmpi"))
pytestmark = pytest.mark.adapter("debugpy")


@pytest.mark.parametrize(
    ("way", "first", "main"),
    [
        ("segv", "ended by SIGSEGV", "BrokenProcessPool, then ended with status 1"),
        ("exit", "ended with status 3", "BrokenProcessPool, then ended with status 1"),
        ("killed", "ended by SIGKILL", "BrokenProcessPool, then ended with status 1"),
        ("raise", "ended with status 1", "ended with status 1"),
    ],
)
def test_the_worker_that_failed_is_named_and_not_what_its_end_led_to(
    cli: Cli, way: str, first: str, main: str
) -> None:
    answer = read_again(cli, "crash", "--group", "--", sys.executable, resolve_program(POOL), way)
    assert answer["how"] == first
    assert answer["member"] in {"1", "2", "3", "4"}
    ends = {label: one["how"] for one in answer["ends"] for label in one["members"]}
    assert ends.pop("main") == main
    assert set(ends.values()) == {"ended by SIGTERM"}
    assert len(ends) == 3
    if way in {"exit", "killed", "raise"}:
        assert answer["crash"]["frame"]["line"] == find_marker(POOL, way)
    if way in {"exit", "killed", "raise"}:
        assert [(one["name"], one["value"]) for one in answer["crash"]["locals"]] == [("item", "2")]
    if way == "raise":
        assert answer["crash"]["exception"]["type"] == "ValueError"
    assert list_sessions(cli) == {}


def test_the_exception_of_a_task_has_the_place_and_the_values_of_its_worker(cli: Cli) -> None:
    answer = read_again(
        cli, "crash", "--group", "--", sys.executable, resolve_program(POOL), "task"
    )
    assert answer["member"] in {"1", "2", "3", "4"}
    crash = answer["crash"]
    assert (crash["exception"]["type"], crash["frame"]["function"]) == ("ValueError", "work")
    assert crash["frame"]["line"] == find_marker(POOL, "raise")
    assert [(one["name"], one["value"]) for one in crash["locals"]] == [("item", "2")]
    ends = {label: one["how"] for one in answer["ends"] for label in one["members"]}
    assert ends["main"] == "ValueError, then ended with status 1"


@pytest.mark.adapter("lldb-dap")
def test_a_rank_that_crashes_is_shown_where_it_is_and_where_the_others_were(cli: Cli) -> None:
    words = (LAUNCHER, "-n", "3", resolve_program(RANK), "0", "crash")
    answer = read_again(cli, "crash", "--group", "--", *words)
    assert (answer["member"], answer["crash"]["signal"]) == ("1", "SIGSEGV")
    assert answer["crash"]["frame"]["line"] == find_marker(RANK, "crash")
    where = {label for one in answer["others"]["branches"] for label in one["members"]}
    assert where <= {"0", "2"}
    assert "main" in {label for one in answer["ends"] for label in one["members"]}
    text = cli("crash", "--group", "--", *words).out
    assert text.startswith("member 1 of rank failed first\ncrash: ")
    assert list_sessions(cli) == {}


@pytest.mark.adapter("gdb")
def test_what_a_compiled_program_forks_is_followed(cli: Cli) -> None:
    program = resolve_program("groups/forked_crash.c")
    answer = read_again(cli, "crash", "--group", "--", program)
    assert (answer["crash"]["signal"], answer["member"][:3]) == ("SIGSEGV", "pid")
    assert answer["crash"]["frame"]["line"] == find_marker("groups/forked_crash.c", "crash")


def test_a_group_without_a_failure_has_no_first_one(cli: Cli) -> None:
    words = ("--", sys.executable, resolve_program(POOL), "none")
    answer = read_again(cli, "crash", "--group", *words)
    assert (answer["member"], answer["crash"]["outcome"]) == ("", "exited")
    refused = cli("crash", "--group", "--keep", *words, check=None)
    assert "--keep and --raised are for one process" in refused.err
    assert "crash --group takes a command" in cli("crash", "--group", check=None).err


def test_a_launcher_that_starts_nothing_is_the_one_that_failed(cli: Cli) -> None:
    words = (LAUNCHER, "-n", "many", resolve_program("groups/rank.py"))
    answer = read_again(cli, "crash", "--group", "--", *words)
    assert (answer["member"], answer["how"]) == ("main", "ended with status 1")
    assert "invalid literal" in answer["crash"]["output"][-1]["text"]
