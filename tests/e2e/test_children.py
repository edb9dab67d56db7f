"""The child processes of a program are debugged as one process tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import debuggees
import process_trees
from cli_commands import Cli, answer_data, marked_location, print_value, start_program
from debuggees import program_text
from process_trees import NATIVE, WORKED, await_child, is_alive, list_sessions, read_again

PROGRAM = "workers.py"
WORK = marked_location(PROGRAM, "work")
python = pytest.mark.adapter("debugpy")


def states(cli: Cli) -> dict[str, str]:
    """Return the states of a family, without the helpers that multiprocessing starts."""
    return {
        name: one["state"]
        for name, one in list_sessions(cli).items()
        if not Path(one["program"]).name.startswith("multiprocessing.")
    }


@python
@pytest.mark.parametrize(
    ("kind", "numbers", "ends"),
    [
        ("fork", {"1", "2"}, "ended [0, 0]"),
        ("spawn", {"1", "2"}, "ended [0, 0]"),
        ("forkserver", {"1", "2"}, "ended [0, 0]"),
        ("os.fork", {"3"}, "ended 4"),
        ("pool", {"1", "2", "3"}, "ended [2, 4, 6]"),
        ("subprocess", {"7"}, "14"),
    ],
)
def test_each_worker_stops_once_and_is_told_once(
    cli: Cli, kind: str, numbers: set[str], ends: str
) -> None:
    stop = start_program(cli, PROGRAM, "--break", WORK, "--", kind)
    seen = []
    while stop["reason"] == "breakpoint":
        assert stop["frame"]["function"] == "work"
        assert f"this is {stop['session']}, a child process of" in stop["notes"][0]
        assert Path(list_sessions(cli)[stop["session"]]["program"]).name == PROGRAM
        seen.append(print_value(cli, "number"))
        stop = answer_data(cli("--json", "continue", check=0))
    assert (len(seen), set(seen)) == (len(numbers), numbers)
    assert (stop["session"], stop["reason"], stop["exit_code"]) == ("workers", "exit", 0)
    assert ends in [one["text"] for one in stop["output"]]
    assert stop["never_hit"] == []
    assert set(states(cli).values()) == {"terminated"}


@python
def test_a_child_does_not_wait_for_pydevd_at_its_end(cli: Cli) -> None:
    start_program(cli, PROGRAM, "--break", WORK, "--", "subprocess")
    waits = "__import__('pydevd').PyDB._PyDB__wait_for_threads_to_finish.__name__"
    assert print_value(cli, waits) == "'_await_threads'"


@python
def test_a_breakpoint_that_is_added_later_reaches_the_children_that_run(
    cli: Cli, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    cli("start", debuggees.find_source(PROGRAM), "--no-wait", "--", "lasting", gate, check=0)
    add = ("--session", "workers", "break", marked_location(PROGRAM, "turn"))
    seen = set()
    assert answer_data(cli("--json", *add, check=0))["id"] == 1
    for _ in range(2):
        stop = answer_data(cli("--json", "--session", "workers", "await", check=0))
        assert (stop["reason"], stop["hit_breakpoints"]) == ("breakpoint", [1])
        seen.add(stop["session"])
    assert seen == {"workers.1", "workers.2"}
    # From a child it reaches its sibling too, and is gone everywhere at once.
    second = answer_data(
        cli(
            "--json",
            "--session",
            "workers.1",
            "break",
            marked_location(PROGRAM, "counted"),
            check=0,
        )
    )
    assert second["id"] == 2
    cli("--session", "workers.2", "breakpoint", "disable", "1", check=0)
    for name in ("workers", "workers.1", "workers.2"):
        known = answer_data(cli("--json", "--session", name, "breakpoint", "list", check=0))
        assert [(one["id"], one["enabled"]) for one in known["breakpoints"]] == [
            (1, False),
            (2, True),
        ]
        assert known["breakpoints"][0]["hits"] == 2
    gate.touch()
    met = set()
    for name in ("workers.1", "workers.2"):
        cli("--session", name, "continue", "--no-wait", check=0)
    for _ in range(2):
        stop = answer_data(cli("--json", "--session", "workers", "await", check=0))
        assert stop["hit_breakpoints"] == [2]
        met.add(print_value(cli, "name"))
    assert met == {"'a'", "'b'"}
    cli("--session", "workers.1", "breakpoint", "remove", "--all", check=0)
    known = answer_data(cli("--json", "--session", "workers.2", "breakpoint", "list", check=0))
    assert known["breakpoints"] == []


TWO = program_text("counted_lines/children_two.py")


@python
def test_a_process_that_was_continued_answers_before_another_that_stands(
    cli: Cli, tmp_path: Path
) -> None:
    program = tmp_path / "two.py"
    program.write_text(TWO)
    cli("start", program, "--no-wait", "--break", "two.py:5", check=0)
    cli("catch", "raised", "ZeroDivisionError", check=0)
    names = [answer_data(cli("--json", "await", check=0))["session"]]
    while len(names) < 2:
        stop = answer_data(cli("--json", "--session", "two", "await", check=0))
        names.append(stop["session"])
    assert len(set(names)) == 2
    for name in names:
        known = answer_data(cli("--json", "--session", name, "print", "number", check=0))
        if known["value"] == "1":
            raising = name
    stop = answer_data(cli("--json", "--session", raising, "continue", check=0))
    assert (stop["session"], stop["reason"]) == (raising, "exception")
    assert f" {raising} stop" in cli("events", check=0).out
    cli("--session", raising, "breakpoint", "remove", "--all", check=0)
    cli("--session", raising, "continue", "--no-wait", check=0)


@python
def test_stopping_a_child_ends_only_it_and_says_so(cli: Cli, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    stop = start_program(
        cli, PROGRAM, "--break", marked_location(PROGRAM, "turn"), "--", "lasting", str(gate)
    )
    child = stop["session"]
    pid = list_sessions(cli)[child]["pid"]
    ended = answer_data(cli("--json", "--session", child, "stop", check=0))
    assert ended["ended"] == [child]
    assert ended["notes"] == ["workers goes on: debugger stop --session workers ends all"]
    assert not is_alive(pid)
    assert states(cli)["workers"] == "running"
    rest = [name for name in states(cli) if name != "workers"]
    assert child not in rest
    pids = [one["pid"] for one in list_sessions(cli).values()]
    whole = answer_data(cli("--json", "--session", "workers", "stop", check=0))
    assert set(whole["ended"]) == {"workers", *rest}
    assert list_sessions(cli) == {}
    assert [pid for pid in pids if is_alive(pid)] == []


@python
def test_a_child_that_outlives_the_program_is_waited_for(cli: Cli, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    end = start_program(cli, PROGRAM, "--", "behind", str(gate))
    assert (end["session"], end["exit_code"]) == ("workers", 0)
    assert end["left_running"] == ["workers.1"]
    assert states(cli) == {"workers": "terminated", "workers.1": "running"}
    waited = cli("--json", "await", "--timeout", "0.2")
    assert (waited.exit, answer_data(waited)["session"]) == (3, "workers.1")
    gate.touch()
    end = answer_data(cli("--json", "await", check=0))
    assert (end["session"], end["reason"]) == ("workers.1", "exit")
    assert [one["text"] for one in end["output"]] == ["child counted"]
    assert set(states(cli).values()) == {"terminated"}
    again = cli("--json", "await", check=4)
    assert again.data["error"]["code"] == "PROGRAM_EXITED"


@python
def test_what_runs_behind_a_shell_is_said_not_to_be_debugged(cli: Cli) -> None:
    cli("start", debuggees.find_source(PROGRAM), "--no-wait", "--", "shell", check=0)
    answer = cli("--json", "await", "--timeout", "1")
    while not (notes := answer_data(answer)["notes"]):
        assert answer.exit == 3, answer
        answer = cli("--json", "await", "--timeout", "1")
    assert "not debugged, started by the program" in notes[0]
    assert "(sh)" in notes[0]
    again = answer_data(cli("--json", "await", "--timeout", "0"))
    assert again["notes"] == []
    cli("input", "--eof", check=0)
    end = answer_data(cli("--json", "await", check=0))
    assert end["exit_code"] == 0
    printed = answer_data(cli("--json", "output", "--all", check=0))["lines"]
    assert [one["text"] for one in printed] == ["14"]


@pytest.mark.adapter("lldb-dap")
def test_at_a_fork_the_parent_is_followed_and_the_child_is_said_to_run_free(cli: Cli) -> None:
    stop = start_program(
        cli, "forks.c", "--break", marked_location("forks.c", "parent"), "--", "fork", "60"
    )
    child = print_value(cli, "child")
    assert f"not debugged, started by the program: {child} (" in stop["notes"][0]
    again = answer_data(cli("--json", "next", check=0))
    assert again["notes"] == []


# -- the processes that a native program forks, with gdb -------------------------------------------


gdb = pytest.mark.adapter("gdb")


def fork(cli: Cli, mode: str, word: object = "", *words: str) -> Any:
    """Start the native program with gdb; return the stop or the end."""
    return process_trees.start_forking(cli, ("--adapter", "gdb"), mode, word, *words)


@gdb
def test_children_of_children_stop_too(cli: Cli) -> None:
    stop = fork(cli, "deep", 3, "--break", WORKED)
    parents = []
    while stop["reason"] == "breakpoint":
        parents.append((stop["session"], list_sessions(cli)[stop["session"]]["parent"]))
        stop = read_again(cli, "continue")
    assert parents == [
        ("family.3", "family.2"),
        ("family.2", "family.1"),
        ("family.1", "family"),
    ]
    assert stop["output"][-1]["text"] == "ended, together 12"


@gdb
def test_a_breakpoint_binds_in_what_a_child_executes(cli: Cli) -> None:
    place = marked_location("loop.c", "step")
    stop = fork(cli, "exec", debuggees.build_debuggee("loop.c"), "--break", place)
    assert (stop["session"], stop["frame"]["function"]) == ("family.1", "calculate")
    assert print_value(cli, "i") == "1"
    read_again(cli, "breakpoint", "remove", "--all")
    end = read_again(cli, "continue")
    assert (end["session"], end["output"][-1]["text"]) == ("family", "ended, together 3")


@gdb
def test_a_step_over_a_fork_is_not_lost_and_the_child_is_no_stranger(cli: Cli) -> None:
    stop = fork(cli, "many", 1, "--break", marked_location(NATIVE, "fork"))
    assert stop["session"] == "family"
    line = stop["frame"]["line"]
    for further in (1, 4):
        stop = read_again(cli, "next")
        assert (stop["session"], stop["reason"], stop["frame"]["line"]) == (
            "family",
            "step",
            line + further,
        )
        assert not [one for one in stop["notes"] if "not debugged" in one]
    assert read_again(cli, "continue")["output"][-1]["text"] == "ended, together 2"


@gdb
def test_a_forked_child_that_outlives_the_program_is_waited_for(cli: Cli, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    end = fork(cli, "behind", gate)
    assert (end["session"], end["exit_code"]) == ("family", 0)
    assert end["left_running"] == ["family.1"]
    gate.touch()
    end = read_again(cli, "await")
    assert (end["session"], end["reason"], end["exit_code"]) == ("family.1", "exit", 6)
    assert [one["text"] for one in end["output"]] == ["3 is worked"]


@gdb
def test_of_many_children_some_run_free_and_all_end(cli: Cli) -> None:
    end = fork(cli, "many", 50)
    while end["reason"] != "exit":
        end = answer_data(cli("--json", "await"))
    assert end["output"][-1]["text"] == "ended, together 2550"
    known = list_sessions(cli)
    debugged = [name for name in known if name != "family"]
    assert 16 <= len(debugged) < 50
    codes = {known[name]["exit_code"] for name in debugged}
    assert len(codes) == len(debugged)  # each is another child's
    assert {one["state"] for one in known.values()} == {"terminated"}


@gdb
@pytest.mark.parametrize("mode", ["spawn", "shared"])
def test_a_child_in_its_parents_memory_is_left_alone(cli: Cli, mode: str) -> None:
    end = fork(cli, mode, "", "--break", marked_location(NATIVE, "make"))
    assert (end["session"], end["reason"], end["exit_code"]) == ("family", "exit", 0)
    assert list(list_sessions(cli)) == ["family"]


@gdb
def test_a_child_that_gdb_cannot_take_hold_of_goes_on(cli: Cli) -> None:
    end = fork(cli, "traced", "", "--break", WORKED)
    assert (end["session"], end["reason"], end["exit_code"]) == ("family", "exit", 0)
    assert [one["text"] for one in end["output"]] == ["1 is worked", "ended, together 2"]
    assert list_sessions(cli)["family.1"]["state"] == "terminated"


@gdb
def test_a_detached_program_and_its_children_go_on(
    cli: Cli, wait_until: Any, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    fork(cli, "lasting", gate, "--no-wait")
    await_child(cli, wait_until)
    pids = [one["pid"] for one in list_sessions(cli).values()]
    read_again(cli, "--session", "family", "detach")
    assert [pid for pid in pids if not is_alive(pid)] == []
    gate.touch()
    wait_until(lambda: not any(map(is_alive, pids)), what="the ends of both")
