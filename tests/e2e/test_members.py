"""Programs that a launcher starts are members of a group, and run as they do without a debugger."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from debuggees import build_debuggee, find_source
from process_trees import is_alive, list_sessions, read_again

LAUNCHER = find_source("groups/mpirun.openmpi")
NATIVE = "groups/rank.c"
PYTHON = "groups/rank.py"
COUNT = 3
MEMBER = (sys.executable, "-m", "debugger", "member", "--")
pytestmark = pytest.mark.adapter("lldb-dap", "debugpy")


def run_job(runtime_dir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a job as a shell does; the first rank reads a line."""
    return subprocess.run(
        [LAUNCHER, "-n", str(COUNT), *words],
        # What a rank printed before another's failure ends it is not the same in each run.
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir), "LAUNCHER_WAITS": "1"},
        input="a line\n",
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def sorted_lines(text: str) -> list[str]:
    return sorted(text.splitlines())


@pytest.mark.parametrize(
    "words",
    [(resolve_program(NATIVE), "5", "read"), (sys.executable, resolve_program(PYTHON), "exit")],
    ids=["native", "python"],
)
def test_a_rank_runs_as_without_a_debugger_and_is_a_member_with_its_rank(
    cli: Cli, runtime_dir: Path, words: tuple[str, ...]
) -> None:
    plain = run_job(runtime_dir, *words)
    cli("break", "nowhere", check=None)  # starts the daemon
    debugged = run_job(runtime_dir, *MEMBER, *words)
    assert sorted_lines(debugged.stdout) == sorted_lines(plain.stdout)
    assert len(plain.stdout.splitlines()) >= COUNT
    assert sorted_lines(debugged.stderr) == sorted_lines(plain.stderr)
    assert debugged.returncode == plain.returncode != 0
    (name,) = {one.partition(".")[0] for one in list_sessions(cli)}
    status = read_again(cli, "status", "--group", name)
    assert [one["label"] for one in status["members"]] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("program", "words"),
    [(NATIVE, ()), (PYTHON, (sys.executable,))],
    ids=["native", "python"],
)
def test_a_launcher_that_we_start_gets_the_command_put_before_its_program(
    cli: Cli, program: str, words: tuple[str, ...]
) -> None:
    place = marked_location(program, "step")
    own = (*words, resolve_program(program), "0")
    start = ("start", "--group", "-b", place, "--", str(LAUNCHER), "-n", str(COUNT), *own)
    first = answer_data(cli("--json", *start, check=0))
    assert (first["group"], first["stop"]["reason"]) == ("rank", "breakpoint")
    stopped: set[str] = set()
    while len(stopped) < COUNT:
        states = read_again(cli, "status")["states"]
        stopped = {label for one in states if one["state"] == "stopped" for label in one["members"]}
        if len(stopped) < COUNT:
            cli("await", "--timeout", "10", check=None)
    assert stopped == {"0", "1", "2"}
    (branch,) = read_again(cli, "backtrace")["branches"]
    assert branch["members"] == ["0", "1", "2"]
    (row,) = read_again(cli, "print", "rank")["rows"]
    assert [(one["value"], one["members"]) for one in row["values"]] == [
        (str(rank), [str(rank)]) for rank in range(COUNT)
    ]
    cli("breakpoint", "remove", "--all", check=0)
    cli("break", place, "--condition", "_rank == 1", check=0)
    last = answer_data(cli("--json", "continue", check=0))
    assert (last["member"], last["stop"]["reason"]) == ("1", "breakpoint")
    cli("breakpoint", "remove", "--all", check=0)
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["member"], end["stop"]["exit_code"]) == ("main", 0)
    cli("stop", "--group", "rank", check=0)
    assert list_sessions(cli) == {}


def test_what_a_launcher_starts_one_after_another_is_one_group(cli: Cli, runtime_dir: Path) -> None:
    cli("break", "nowhere", check=None)  # starts the daemon
    member = shlex.join((*MEMBER, "/bin/true"))
    environment = {**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir)}
    subprocess.run(["/bin/sh", "-c", f"{member}; {member}; :"], env=environment, check=True)
    assert set(list_sessions(cli)) == {"true", "true.1"}
    assert len(read_again(cli, "status", "--group", "true")["members"]) == 2


@pytest.mark.parametrize("victim", ["launcher", "1", "daemon", "supervisor"])
def test_whatever_ends_first_nothing_of_a_job_is_left(
    cli: Cli, wait_until: Callable[..., None], victim: str
) -> None:
    place = marked_location(NATIVE, "step")
    words = ("-b", place, "--", str(LAUNCHER), "-n", str(COUNT), str(build_debuggee(NATIVE)), "0")
    cli("start", "--group", *words, check=0)
    found = {one["label"]: one["pid"] for one in read_again(cli, "status")["members"]}
    pids = list(found.values())
    if victim == "daemon":
        os.kill(read_again(cli, "daemon", "status")["pid"], signal.SIGKILL)
    elif victim == "supervisor":
        parent = int(Path(f"/proc/{found['main']}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(parent, signal.SIGKILL)
        wait_until(lambda: not is_alive(found["main"]), 60, what="the end of the launcher")
    elif victim == "launcher":
        os.kill(found["main"], signal.SIGKILL)
    else:
        # A rank is attached to, and is ours as its launcher is.
        cli("focus", victim, check=0)
        assert read_again(cli, "stop")["detached"] is False
    if victim != "daemon":
        cli("stop", "--group", "rank", check=0)
        assert list_sessions(cli) == {}
    wait_until(lambda: not any(map(is_alive, pids)), 60, what="the end of all processes")


def test_what_cannot_be_a_member_is_refused_as_a_shell_does(cli: Cli, runtime_dir: Path) -> None:
    missing = run_job(runtime_dir, *MEMBER, "./nothing-here")
    assert missing.returncode
    assert "nothing-here" in missing.stderr
    # Nothing is started where the launcher would not find it either.
    absent = cli("crash", "--group", "--", str(LAUNCHER), "-n", "2", "./nothing-here", check=None)
    assert absent.err.startswith("error: no such command: ./nothing-here\nhint: debugger crash ")
    assert absent.err.endswith(f"--group -- {LAUNCHER} -n 2 PROGRAM\n")
    empty = cli("start", "--group", "--", str(LAUNCHER), "-n", "4", check=None)
    assert "mpirun.openmpi is given no program" in empty.err
    failed = cli("start", "--group", "--", str(LAUNCHER), "-n", "x", "/bin/true", check=None)
    assert "exited: status 1" in failed.out
    assert list_sessions(cli)
