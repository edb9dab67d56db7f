"""A program with the engine inside lives, ends and loads libraries as it does without."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, marked_location
from debuggees import build_debuggee
from live_engine import PROGRAMS
from refused_commands import check_refused
from running_programs import run_program

pytestmark = [
    pytest.mark.adapter("frida"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is for Linux"),
]
Cli = Callable[..., Any]
FRIDA = ("--backend", "frida")
WITHOUT_STOP, STILL_RUNS = ("--timeout", "0.2"), 3


@pytest.fixture
def loader(tmp_path: Path) -> Path:
    """Build a program that loads a library by a relative path, and the library beside it."""
    options = ("gcc", "-g", "-o")
    library, program = tmp_path / "library.so", tmp_path / "reloads"
    plugin = (*options, library, "-shared", "-fPIC", PROGRAMS / "library.c")
    subprocess.run(plugin, check=True, timeout=60)
    subprocess.run((*options, program, PROGRAMS / "reloads.c"), check=True, timeout=60)
    return program


def begin(cli: Cli, loader: Path, library: str, times: int) -> None:
    words = (loader, *FRIDA, "--stop-on-entry", "--", library, str(times))
    cli("start", *words, cwd=loader.parent, check=0)


def go_on(cli: Cli) -> dict[str, Any]:
    return answer_data(cli("--json", "continue", check=0))


def test_a_library_that_is_loaded_again_by_a_relative_path_has_its_breakpoint_each_time(
    cli: Cli, loader: Path
):
    begin(cli, loader, "./library.so", 2)
    cli("break", "added", check=0)
    cli("trace", "add", "added", check=0)
    for _ in range(4):
        assert go_on(cli)["stack"][0]["function"] == "added"
        modules = answer_data(cli("--json", "modules", check=0))["modules"]
        assert any(one["path"] == str(loader.parent / "library.so") for one in modules)
    (traced,) = answer_data(cli("--json", "trace", "list", check=0))["traced"]
    assert traced["functions"] == 1
    assert go_on(cli)["reason"] == "exit"
    (listed,) = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert (listed["hits"], listed["verified"]) == (4, False)
    assert "loaded no more" in listed["why_unbound"]
    entered = answer_data(cli("--json", "events", "--kind", "function_enter", check=0))["events"]
    assert len(entered) == 4


def test_what_a_library_brings_first_does_not_wait_for_the_lock_of_the_loader(
    cli: Cli, loader: Path
):
    begin(cli, loader, "./library.so", 1)
    cli("trace", "add", "added", check=0)
    cli("log", "added", "x {x}", check=0)
    cli("break", "library.c:6", "-c", "x > 5", check=0)
    assert go_on(cli)["exit_code"] == (11 + 1) + (12 + 1)


def test_what_is_asked_for_in_a_constructor_of_a_library_is_done_at_once_or_refused(
    cli: Cli, loader: Path
):
    begin(cli, loader, "./library.so", 1)
    cli("break", "begins", check=0)
    assert go_on(cli)["stack"][0]["function"] == "begins"
    check_refused(cli, "watch", "calls", exit=4, code="WRONG_STATE", says="loading a library")
    cli("trace", "add", "main", check=0)
    cli("log", "main", "m {argc}", check=0)
    cli("break", "added", "-c", "x == 5", check=0)
    cli("detach", check=0)


def test_a_program_whose_main_thread_has_left_ends_with_its_last_thread(cli: Cli):
    told = answer_data(cli("--json", "start", build_debuggee("main_leaves.c"), *FRIDA, check=0))
    assert (told["reason"], told["exit_code"]) == ("exit", 0)
    output = answer_data(cli("--json", "output", check=0))
    assert [one["text"] for one in output["lines"]] == ["worked", "exit handler"]


def test_a_program_that_seccomp_kills_ends_by_its_signal(cli: Cli):
    told = answer_data(cli("--json", "start", build_debuggee("strict.c"), *FRIDA, check=0))
    assert (told["reason"], told["signal"]) == ("exit", "SIGKILL")


def host_of(runtime_dir: Path) -> int:
    """Find the process that holds Frida, below the daemon and its guard."""
    daemon = json.loads((runtime_dir / "daemon.json").read_text())["pid"]
    (host,) = [
        int(child)
        for guard in children(daemon)
        for child in children(guard)
        if b"engine.frida_host" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    return host


def children(pid: int | str) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for one in tasks for child in one.read_text().split()]


def read_counts(server: subprocess.Popen[str]) -> list[int]:
    assert server.stdout is not None
    return [int(word) for word in server.stdout.readline().split()]


def go_on_serving(server: subprocess.Popen[str]) -> None:
    """Read what a server prints until every thread has served since."""
    before = read_counts(server)
    while any(now <= then for now, then in zip(read_counts(server), before, strict=True)):
        assert server.poll() is None


def test_an_attached_server_outlives_the_process_that_holds_frida(
    cli: Cli, runtime_dir: Path, wait_until: Callable[..., None]
):
    with run_program(build_debuggee("server.c"), ready=" ") as server:
        cli("attach", str(server.pid), *FRIDA, check=0)
        cli("trace", "add", "main", check=0)
        cli("break", "serve", check=0)
        cli("wait", check=0)
        os.kill(host_of(runtime_dir), signal.SIGKILL)
        go_on_serving(server)

        def status() -> dict[str, Any]:
            return dict(answer_data(cli("--json", "status", check=0)))

        wait_until(lambda: status()["state"] == "terminated")
        assert f"process {server.pid} runs on" in status()["error"]
        cli("attach", str(server.pid), *FRIDA, "--session", "again", check=0)
        cli("break", "serve", "--session", "again", check=0)
        assert answer_data(cli("--json", "wait", "--session", "again", check=0))[
            "hit_breakpoints"
        ] == [1]
        cli("detach", "--session", "again", check=0)
        go_on_serving(server)


def run_traced(cli: Cli, *words: str) -> list[dict[str, Any]]:
    """Run a program to its end with a trace and a logpoint in the same function."""
    cli("start", build_debuggee("sampled.c"), *FRIDA, "--stop-on-entry", "--", *words, check=0)
    cli("trace", "add", "work", check=0)
    cli("log", marked_location("sampled.c", "half"), "half {half}", check=0)
    assert go_on(cli)["exit_code"] == 3
    return list(answer_data(cli("--json", "events", "--limit", "500", check=0))["events"])


def test_what_a_logpoint_printed_stands_among_the_traced_calls_with_its_thread(cli: Cli):
    events = run_traced(cli)
    kinds = ["function_enter", "logpoint", "function_exit"]
    shown = [one for one in events if one["kind"] in kinds]
    assert [one["kind"] for one in shown] == kinds * 3
    assert len({one["thread"] for one in shown}) == 1
    assert [one["text"] for one in events if one["kind"] == "exit"] == ["status 3"]


def test_calls_and_hits_that_were_too_many_are_counted(cli: Cli):
    run_traced(cli, "many")
    page = answer_data(cli("--json", "events", "--kind", "function_enter", check=0))
    assert page["dropped"] > 0
    (traced,) = answer_data(cli("--json", "trace", "list", check=0))["traced"]
    assert traced["sampled"] == ["work"]
    assert traced["skipped"][0] > 0
    assert f"{traced['skipped'][0]:,} of work" in cli("trace", "list", check=0).out
    (listed,) = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert listed["hits"] == 200_000
    output = answer_data(cli("--json", "output", "--all", "--budget", "100000", check=0))
    assert output["lines"][0]["text"] == "first"
    added = answer_data(cli("--json", "break", "main", check=0))
    assert "has ended" in added["why_unbound"]


def test_a_busy_server_keeps_nothing_of_more_attaches_than_the_last_ones(cli: Cli):
    with run_program(build_debuggee("server.c"), ready=" ") as server:
        descriptors, mappings, sizes = [], [], []
        for _ in range(6):
            cli("attach", str(server.pid), *FRIDA, check=0)
            cli("trace", "add", "serve", check=0)
            cli("log", "serve", "request {request}", check=0)
            cli("detach", check=0)
            go_on_serving(server)
            descriptors.append(len(list(Path(f"/proc/{server.pid}/fd").iterdir())))
            count, size = mapped(server.pid)
            mappings.append(count)
            sizes.append(size)
        assert len(set(descriptors)) == 1
        # Each attach left six or more. What varies are the stacks that libc keeps.
        assert mappings[-1] <= mappings[1] + 6
        assert sizes[-1] < 2 * sizes[0]


def mapped(pid: int) -> tuple[int, int]:
    """Return how many mappings a process has, and the size of code that it may write to."""
    lines = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    ranges = [
        [int(one, 16) for one in words[0].split("-")] for words in lines if words[1] == "rwxp"
    ]
    return len(lines), sum(high - low for low, high in ranges)
