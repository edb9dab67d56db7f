"""Child processes, debugged from inside like the program itself."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import debuggees
import process_trees
from cli_commands import Cli, marked_location, print_value, start_program
from debuggees import program_text
from process_trees import NATIVE, WORKED, await_child, is_alive, list_sessions, read_again

pytestmark = pytest.mark.adapter("frida")

# A child begins with what its parent has blocked, as programs do that fork with care.
_MASKED = program_text("counted_lines/frida_children_masked.c")


# Becomes the program of its first argument once the file of its second is there.
_GATED = """#include <pthread.h>
#include <unistd.h>
static void *waits(void *unused) {
    for (;;) pause();
    return unused;
}
int main(int count, char **words) {
    pthread_t other;
    pthread_create(&other, 0, waits, 0);
    while (access(words[2], F_OK) != 0) usleep(1000);
    execl(words[1], words[1], (char *)0);
    return count;
}
"""


def execute(cli: Cli, mode: str, *words: str, target: object = "", count: int = 1) -> Any:
    """Start the program that runs another; return the stop or the end."""
    words = (*words, "--", mode, str(target or debuggees.build_debuggee("loop.c")), str(count))
    return start_program(cli, "execs.c", "--backend", "frida", *words)


def is_stopped_in(cli: Cli, function: str) -> bool:
    """Return whether the current session is stopped there."""
    now = cli("--json", "context").data
    return bool(now["ok"] and now["data"]["frame"]["function"] == function)


def fork(cli: Cli, mode: str, word: object = "", *words: str) -> Any:
    """Start the program that forks; return the stop or the end."""
    return process_trees.start_forking(cli, ("--backend", "frida"), mode, word, *words)


def test_a_place_that_the_parent_stops_at_too_stops_in_each_process_once(cli: Cli) -> None:
    """The child has the parent's patched code, which is taken out before its own is patched."""
    stop = fork(cli, "deep", 2, "--break", f"{NATIVE}:{debuggees.find_marker(NATIVE, 'work')}")
    sessions = []
    while stop["reason"] == "breakpoint":
        sessions.append(stop["session"])
        stop = read_again(cli, "continue")
    assert sessions == ["family.2", "family.1"]
    assert stop["output"][-1]["text"] == "ended, together 6"


def test_a_breakpoint_in_the_function_that_forks_is_left_whole_in_the_child(cli: Cli) -> None:
    stop = fork(
        cli,
        "many",
        1,
        "--break",
        marked_location(NATIVE, "fork"),
        "--break",
        marked_location(NATIVE, "in_child"),
    )
    assert (stop["session"], stop["frame"]["function"]) == ("family", "make")
    stop = read_again(cli, "continue")
    assert (stop["session"], stop["frame"]["function"]) == ("family.1", "make")
    stack = read_again(cli, "backtrace")["frames"]
    assert [one["function"] for one in stack[:2]] == ["make", "main"]
    end = read_again(cli, "continue")
    assert (end["session"], end["output"][-1]["text"]) == ("family", "ended, together 2")


def test_a_forked_child_that_outlives_the_program_is_waited_for(cli: Cli, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    end = fork(cli, "behind", gate)
    assert (end["session"], end["exit_code"]) == ("family", 0)
    assert end["left_running"] == ["family.1"]
    gate.touch()
    end = read_again(cli, "await")
    assert (end["session"], end["reason"], end["exit_code"]) == ("family.1", "exit", 6)
    assert [one["text"] for one in end["output"]] == ["3 is worked"]


def test_a_child_that_is_killed_ends_with_its_signal(
    cli: Cli, wait_until: Any, tmp_path: Path
) -> None:
    fork(cli, "lasting", tmp_path / "gate", "--no-wait")
    os.kill(await_child(cli, wait_until), signal.SIGKILL)
    end = read_again(cli, "--session", "family", "await")
    assert (end["session"], end["exit_code"]) == ("family", 0)
    assert list_sessions(cli)["family.1"]["signal"] == "SIGKILL"


def test_a_detached_program_and_its_children_go_on(
    cli: Cli, wait_until: Any, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    fork(cli, "lasting", gate, "--no-wait", "--break", WORKED)
    await_child(cli, wait_until)
    pids = [one["pid"] for one in list_sessions(cli).values()]
    read_again(cli, "--session", "family", "detach")
    assert [pid for pid in pids if not is_alive(pid)] == []
    gate.touch()
    wait_until(lambda: not any(map(is_alive, pids)), what="the ends of both")


def test_of_many_children_some_run_free_unharmed_and_that_is_said(cli: Cli) -> None:
    end = fork(cli, "many", 50)
    assert end["output"][-1]["text"] == "ended, together 2550"
    known = list_sessions(cli)
    debugged = [name for name in known if name != "family"]
    assert 16 <= len(debugged) < 50
    assert len({known[name]["exit_code"] for name in debugged}) == len(debugged)
    told = read_again(cli, "--session", "family", "events", "--kind", "adapter")
    said = [one["text"] for one in told["events"]]
    assert any("the others run free" in one for one in said)


@pytest.mark.parametrize("mode", ["fork", "vfork", "spawn", "system", "popen"])
def test_a_child_that_executes_another_program_stops_in_it(cli: Cli, mode: str) -> None:
    stop = execute(cli, mode, "--break", marked_location("loop.c", "start"))
    assert (stop["session"] != "execs", stop["frame"]["function"]) == (True, "sum_to")
    assert print_value(cli, "n") == "4"
    end = read_again(cli, "continue")
    assert (end["session"], end["exit_code"]) == ("execs", 3)
    assert [one["text"] for one in end["output"]][-1] == "sum 30"
    assert {one["exit_code"] for one in list_sessions(cli).values()} == {3}


@pytest.mark.parametrize("mode", ["exec", "chain", "thread"])
def test_a_program_that_becomes_another_is_followed_in_its_own_session(cli: Cli, mode: str) -> None:
    stop = execute(cli, mode, "--break", marked_location("loop.c", "start"))
    assert (stop["session"], stop["frame"]["function"]) == ("execs", "sum_to")
    assert print_value(cli, "n") == "4"
    read_again(cli, "step")
    end = read_again(cli, "continue")
    assert (end["session"], end["exit_code"], list(list_sessions(cli))) == ("execs", 3, ["execs"])
    assert [one["text"] for one in end["output"]][-1] == "sum 30"


def test_a_program_that_a_script_runs_is_followed_too(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n{debuggees.build_debuggee('loop.c')} $1\nexit 5\n")
    script.chmod(0o755)
    stop = execute(cli, "spawn", "--break", marked_location("loop.c", "start"), target=script)
    assert (stop["frame"]["function"], print_value(cli, "n")) == ("sum_to", "4")
    assert read_again(cli, "continue")["exit_code"] == 5
    assert list_sessions(cli)[stop["session"]]["exit_code"] == 3


def test_a_thread_that_is_stopped_is_gone_when_another_becomes_a_program(
    cli: Cli, wait_until: Any, tmp_path: Path
) -> None:
    program, gate = tmp_path / "gated", tmp_path / "gate"
    program.with_suffix(".c").write_text(_GATED)
    argv = ["gcc", "-g", "-pthread", program.with_suffix(".c"), "-o", program]
    subprocess.run(argv, check=True, timeout=60)
    places = ("--break", "waits", "--break", marked_location("loop.c", "start"))
    words = (*places, "--", debuggees.build_debuggee("loop.c"), gate)
    stop = read_again(cli, "start", str(program), "--backend", "frida", *map(str, words))
    assert stop["frame"]["function"] == "waits"
    gate.touch()
    wait_until(lambda: is_stopped_in(cli, "sum_to"), what="the stop in the other program")
    pending = read_again(cli, "breakpoint", "list")["breakpoints"][0]
    assert (pending["verified"], pending["hits"]) == (False, 1)
    assert read_again(cli, "continue")["exit_code"] == 3


def test_of_many_executed_programs_some_run_free_unharmed_and_that_is_said(cli: Cli) -> None:
    end = execute(cli, "many", count=50)
    assert end["output"][-1]["text"] == "together 150"
    known = list_sessions(cli)
    assert 17 <= len(known) < 51
    assert {one["exit_code"] for name, one in known.items() if name != "execs"} == {3}
    told = read_again(cli, "--session", "execs", "events", "--kind", "adapter")
    assert any("the others run free" in one["text"] for one in told["events"])


def test_a_child_that_was_forked_with_all_signals_blocked_is_entered_too(
    cli: Cli, tmp_path: Path
) -> None:
    file, program = tmp_path / "masked.c", tmp_path / "masked"
    file.write_text(_MASKED)
    subprocess.run(["gcc", "-g", file, "-o", program], check=True, timeout=60)
    words = ("start", program, "--backend", "frida", "--break", "masked.c:8")
    stop = read_again(cli, *map(str, words))
    assert (stop["session"], print_value(cli, "blocks")) == ("masked.1", "1")
    end = read_again(cli, "continue")
    assert (end["session"], end["exit_code"]) == ("masked", 5)


def test_a_child_that_stays_in_its_parents_memory_is_left_alone(cli: Cli) -> None:
    end = fork(cli, "shared", "", "--break", marked_location(NATIVE, "make"))
    assert (end["session"], end["reason"], end["exit_code"]) == ("family", "exit", 0)
    assert list(list_sessions(cli)) == ["family"]
