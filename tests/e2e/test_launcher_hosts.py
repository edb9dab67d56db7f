"""A launcher of this machine, Open MPI's mpirun, starts ranks on other hosts: they are members.

The hosts are OpenSSH servers on loopback with processes and names of their own.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from debuggees import build_debuggee, find_marker
from left_out import leave_out
from process_trees import read_again
from ssh_hosts import SshHosts, require_hosts, write_debugger_config

PROGRAM = "groups/meet.c"
LAUNCHER = ("mpirun", "--host", "h1:2,h2:2", "-n", "4")
pytestmark = pytest.mark.adapter("lldb-dap")


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    found = require_hosts(2, is_isolated=True)
    yield found
    found.close()


@pytest.fixture
def at_hosts(
    shared_cli: Cli, shared_runtime_dir: Any, hosts: SshHosts, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cli]:
    """Run commands against the daemon that the tests share; its groups end with the test."""
    if shutil.which("mpirun") is None:
        leave_out("openmpi-bin is missing (make tools)")
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(f"OMPI_{name}", "1")
    for name in ("btl_tcp_if_include", "oob_tcp_if_include"):
        monkeypatch.setenv(f"OMPI_MCA_{name}", "lo")
    write_debugger_config(shared_runtime_dir, hosts, keep_s=60)
    yield shared_cli
    shared_cli("stop")
    assert answer_data(shared_cli("--json", "sessions", check=0))["sessions"] == []


def list_ranks(program: str = "") -> list[int]:
    """Return the processes that run the ranks' program, on any host."""
    name = program or str(build_debuggee(PROGRAM).resolve())
    every = psutil.process_iter(["exe", "cmdline"])
    return [one.pid for one in every if name in (one.info["exe"], *(one.info["cmdline"] or ()))]


def test_the_rank_that_lags_on_another_host_is_named_by_one_command(
    at_hosts: Cli, wait_until: Callable[..., None]
) -> None:
    words = (*LAUNCHER, str(build_debuggee(PROGRAM)))
    verdict = read_again(at_hosts, "hang", "--group", "--after", "1", "--", *words)["verdict"]
    first, others = verdict["rows"]
    assert (verdict["kind"], first["members"], others["members"]) == ("lagging", ["2"], [*"013"])
    assert (first["place"]["function"], first["place"]["line"]) == ("save", place_of("odd"))
    wait_until(lambda: not list_ranks(), what="the end of the ranks")


def test_a_program_that_no_host_has_is_the_reason_of_the_launchers_end(at_hosts: Cli) -> None:
    words = ("--cwd", str(Path.home()), "--", *LAUNCHER, "./missing")
    answer = at_hosts("hang", "--group", *words, check=0).out
    assert "no hang: it ended with status 1: no such command: ./missing" in answer


def list_members(branches: list[dict[str, Any]]) -> list[str]:
    return [label for one in branches for label in one["members"]]


def place_of(mark: str) -> int:
    return int(marked_location(PROGRAM, mark).rpartition(":")[2])


def test_the_first_rank_to_fail_is_named_with_the_others_of_all_hosts(
    at_hosts: Cli, wait_until: Callable[..., None]
) -> None:
    words = (*LAUNCHER, str(build_debuggee(PROGRAM)), "crash")
    crash = read_again(at_hosts, "crash", "--group", "--", *words)
    assert (crash["member"], crash["total"]) == ("2", 7)
    assert crash["crash"]["frame"]["line"] == place_of("crash")
    # As the launcher ended, and not its process on the other host.
    assert (crash["crash"]["exit_code"], crash["crash"].get("notes", [])) == (139, [])
    late = {one["label"] for one in crash["others"]["silent"]}
    assert {"0", "1", "3"} <= {*list_members(crash["others"]["branches"])} | late
    ended = {label for one in crash["ends"] for label in one["members"]}
    assert {"0", "1", "3"} <= ended
    wait_until(lambda: not list_ranks(), what="the end of the ranks")


@pytest.mark.parametrize("name", ["groups/branching.c", "groups/stepping_rank.py"])
def test_the_rank_on_another_host_that_took_another_branch_is_named(
    at_hosts: Cli, name: str, wait_until: Callable[..., None]
) -> None:
    program = resolve_program(name)
    ranks = [sys.executable, program] if name.endswith(".py") else [program]
    answer = read_again(at_hosts, "path", "--group", "--", *LAUNCHER, *ranks)
    assert answer["members"] == ["0", "1", "2", "3"]
    if name.endswith(".py"):
        assert answer["splits"][0]["ways"][0]["members"] == ["2"]
    else:
        (split,) = answer["counted"]
        assert split["line"] == find_marker(name, "odd")
        assert [one["members"] for one in split["counts"]] == [["0", "1", "3"], ["2"]]
    wait_until(lambda: not list_ranks(program), what="the end of the ranks")


@pytest.mark.parametrize(
    ("name", "place", "expression"),
    [
        ("groups/branching.c", "branch", "total"),
        ("groups/stepping_rank.py", "step", "value"),
    ],
)
def test_values_of_the_ranks_of_all_hosts_are_compared_hit_by_hit(
    at_hosts: Cli, name: str, place: str, expression: str
) -> None:
    program = resolve_program(name)
    ranks = [sys.executable, program] if name.endswith(".py") else [program]
    at = marked_location(name, place)
    words = ("--group", "--at", at, expression, "--", *LAUNCHER, *ranks)
    answer = answer_data(at_hosts("--json", "probe", *words, check=0))
    assert (answer["members"], answer.get("notes", [])) == (["0", "1", "2", "3"], [])
    (found,) = answer["places"]
    assert [(one["value"], one["members"]) for one in found["counts"]] == [("4", [*"0123"])]


def test_a_program_that_the_other_hosts_do_not_have_is_refused_with_what_works(
    at_hosts: Cli, tmp_path: Path
) -> None:
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    (tmp_path / "go.mod").write_text("module ranks\n")
    words = ("--cwd", str(tmp_path), "--", *LAUNCHER, "go", "run", str(tmp_path))
    refused = at_hosts("path", "--group", *words)
    assert "a Go program with counters, which other hosts do not have" in refused.err
    assert "hint: debugger path --group --host h1,h2 -- go run" in refused.err


def test_ranks_of_all_hosts_stop_and_a_host_that_dies_is_named(
    at_hosts: Cli, hosts: SshHosts, wait_until: Callable[..., None]
) -> None:
    words = (*LAUNCHER, str(build_debuggee(PROGRAM)))
    start = ("--json", "start", "--group", "-b", marked_location(PROGRAM, "step"), "--", *words)
    first = answer_data(at_hosts(*start, check=0))
    assert (first["group"], first["stop"]["reason"]) == ("meet", "breakpoint")
    wait_until(lambda: " 4 stopped (0-3)" in at_hosts("status").out, what="all stops")
    (row,) = read_again(at_hosts, "print", "rank")["rows"]
    assert {one["value"]: one["members"] for one in row["values"]} == {n: [n] for n in "0123"}
    lines = at_hosts("output", "--all", check=0).out
    assert all(f"{rank}| rank {rank}\n" in lines for rank in "0123")
    hit = answer_data(at_hosts("--json", "break", marked_location(PROGRAM, "odd"), check=0))
    assert {"h1", "h2"} <= {name for one in hit["replies"] for name in one["hosts"]}
    stop = answer_data(at_hosts("--json", "continue", check=0))
    assert (stop["member"], stop["stop"]["frame"]["line"]) == ("2", place_of("odd"))
    # The first process of a host's own processes: with it all of them end.
    os.kill(hosts.named("h2").process.pid, signal.SIGKILL)
    text = at_hosts("backtrace", check=0).out
    assert "no answer: 2-3,main@h2: h2: " in text
    at_hosts("stop")
    wait_until(lambda: not list_ranks(), what="the end of the ranks")
