"""A program really goes on after a detach."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import debuggees
import running_programs

LATE_S = 6.0  # as on a machine with much to do
PROGRAMS = [
    pytest.param("ticker.c", marks=pytest.mark.adapter("lldb-dap")),
    pytest.param("ticker.py", marks=pytest.mark.adapter("debugpy")),
]


def _program(name: str) -> str:
    return str(
        debuggees.build_debuggee(name) if name.endswith(".c") else debuggees.find_source(name)
    )


def _count(progress: Path) -> int:
    lines = progress.read_text().split() if progress.exists() else []
    return int(lines[-1]) if lines else 0


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_detached_program_goes_on_printing_after_the_daemon_is_gone(
    name: str,
    is_stopped: bool,
    cli: Callable[..., Any],
    wait_until: Callable[..., Any],
    tmp_path: Path,
) -> None:
    progress = tmp_path / "progress"
    place = f"{debuggees.find_source(name)}:{debuggees.find_marker(name, 'tick')}"
    breaks = ["--break", place] if is_stopped else ["--no-wait"]
    cli("start", *breaks, _program(name), "--", str(progress), check=0)
    pid = cli("--json", "status").data["data"]["pid"]
    try:
        answer = cli("detach", check=0)
        assert f"pid {pid} goes on" in answer.out
        cli("daemon", "stop", check=0)
        seen = _count(progress)
        # 100 lines of 500 characters fill a pipe's or a terminal's buffer that nobody reads.
        wait_until(lambda: _count(progress) > seen + 200, what="the program to go on")
    finally:
        _end(pid)


@pytest.mark.adapter("lldb-dap")
def test_attaching_leaves_the_program_running_and_stops_it_only_when_asked(
    cli: Callable[..., Any], wait_until: Callable[..., Any], tmp_path: Path
) -> None:
    progress = tmp_path / "progress"
    pid = os.posix_spawn(
        _program("ticker.c"),
        ["ticker", str(progress)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)],
    )
    try:
        wait_until(lambda: _count(progress) > 0, what="the program to begin")
        assert cli("attach", str(pid), check=0).out.startswith("running")
        seen = _count(progress)
        wait_until(lambda: _count(progress) > seen, what="the program to go on")
        answer = cli("--json", "pause", check=0)
        assert answer.data["data"]["reason"] == "pause"
        cli("detach", check=0)
        seen = _count(progress)
        wait_until(lambda: _count(progress) > seen, what="the program to go on")
        answer = cli("--json", "attach", str(pid), "--pause", check=0)
        assert (answer.data["data"]["state"], answer.data["data"]["reason"]) == ("stopped", "pause")
        left = cli("stop", check=0).out
        assert f"(pid {pid} goes on)" in left
        assert "stop --kill" in left
        cli("attach", str(pid), check=0)
        assert f"process {pid} was killed" in cli("stop", "--kill", check=0).out
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    finally:
        _end(pid)


HOT = [
    pytest.param("hot_threads.c", "--adapter", "lldb-dap", marks=pytest.mark.adapter("lldb-dap")),
    pytest.param("hot_threads.c", "--backend", "lldb-cli", marks=pytest.mark.adapter("lldb-dap")),
    pytest.param("hot_threads.go", "--adapter", "delve", marks=pytest.mark.adapter("delve")),
]


@pytest.mark.parametrize(("name", "option", "by"), HOT)
def test_threads_that_hit_a_breakpoint_again_and_again_survive_a_detach(
    cli: Callable[..., Any], wait_until: Callable[..., Any], name: str, option: str, by: str
) -> None:
    program = debuggees.build_debuggee(name)
    place = f"{debuggees.find_source(name)}:{debuggees.find_marker(name, 'hot')}"
    for _ in range(3):
        with subprocess.Popen([str(program)], stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == b"here\n"
                cli("attach", str(process.pid), option, by, check=0)
                cli("break", place, "--log", "{at}", check=0)
                cli("detach", check=0)
                before = _switches(process.pid, name)
                wait_until(
                    lambda pid=process.pid, before=before: _have_gone_on(pid, name, before),
                    what="all threads to go on",
                )
                assert process.poll() is None
            finally:
                process.kill()


@pytest.mark.adapter("delve")
def test_what_delve_launched_survives_a_detach_from_a_hot_breakpoint(
    cli: Callable[..., Any], wait_until: Callable[..., Any]
) -> None:
    source = debuggees.find_source("hot_threads.go")
    place = f"{source}:{debuggees.find_marker('hot_threads.go', 'hot')}"
    for _ in range(4):
        cli("start", "--no-wait", debuggees.build_debuggee("hot_threads.go"), check=0)
        pid = cli("--json", "status").data["data"]["pid"]
        try:
            wait_until(lambda: cli("output", check=0).out.startswith("here"))
            cli("break", place, "--log", "{at}", check=0)
            cli("detach", check=0)
            before = _switches(pid, "hot_threads.go")
            wait_until(
                lambda pid=pid, before=before: _have_gone_on(pid, "hot_threads.go", before),
                what="the goroutines to go on",
            )
        finally:
            _end(pid)


@pytest.mark.adapter("gdb")
def test_a_program_survives_a_detach_for_which_its_debugger_was_late(
    cli: Callable[..., Any],
) -> None:
    # A program that gdb has launched dies with it.
    program = debuggees.build_debuggee("endless.c")
    cli("start", "--no-wait", "--adapter", "gdb", program, check=0)
    pid = cli("--json", "status").data["data"]["pid"]
    gdb = running_programs.find_tracer(pid)
    os.kill(gdb, signal.SIGSTOP)
    timer = threading.Timer(LATE_S, os.kill, (gdb, signal.SIGCONT))
    timer.start()
    try:
        assert f"pid {pid} goes on" in cli("detach", check=0).out
    finally:
        timer.join()
        _end(pid)


def _switches(pid: int, name: str) -> list[int]:
    """Return how often each thread went to sleep; of Go's the sum, for it moves its work about.

    Those that work do so thousands of times a second; a stopped or a dead one never does.
    """
    counts = []
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        with suppress(OSError):  # a thread that has ended meanwhile
            lines = status.read_text().splitlines()
            (found,) = [line for line in lines if line.startswith("voluntary_ctxt_switches")]
            counts.append(int(found.split()[1]))
    return [sum(counts)] if name.endswith(".go") else counts


def _have_gone_on(pid: int, name: str, before: list[int]) -> bool:
    now = _switches(pid, name)
    return all(one > seen + 200 for one, seen in zip(now, before, strict=True))


@pytest.mark.adapter("lldb-dap")
def test_the_daemons_end_names_what_is_lost_and_what_it_let_go_of(
    cli: Callable[..., Any], wait_until: Callable[..., Any], tmp_path: Path
) -> None:
    progress = tmp_path / "progress"
    process = subprocess.Popen([_program("ticker.c"), progress], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: _count(progress) > 0, what="the program to begin")
        cli("crash", "--", "true", check=0)
        cli("attach", str(process.pid), check=0)
        told = cli("daemon", "stop", check=0).out
        assert f"attached to, and let go of: pid {process.pid}; lost: evidence e1" in told
        seen = _count(progress)
        wait_until(lambda: _count(progress) > seen, what="the program to go on")
    finally:
        _end(process.pid)
        process.wait()
