"""Groups whose members are on several hosts: OpenSSH servers on loopback."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli_commands import Cli, answer_data, marked_location, resolve_program
from ssh_hosts import (
    SshHosts,
    children_of,
    daemon_pid,
    require_hosts,
    start_command,
    write_debugger_config,
)

PROGRAM = "groups/job.py"
RANKS = "groups/host_ranks.py"
HOSTS = "h1,h2,h3,h4"
pytestmark = pytest.mark.adapter("debugpy")


@pytest.fixture(scope="module")
def hosts() -> Iterator[SshHosts]:
    found = require_hosts(4)
    yield found
    found.close()


@pytest.fixture
def port() -> Iterator[str]:
    """Listen where the ranks meet; nobody answers them."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield str(server.getsockname()[1])


@pytest.fixture
def at_hosts(shared_cli: Cli, shared_runtime_dir: Any, hosts: SshHosts) -> Iterator[Cli]:
    """Run commands against the daemon that the tests share; its groups end with the test."""
    write_debugger_config(shared_runtime_dir, hosts, keep_s=60)
    yield shared_cli
    shared_cli("stop")
    assert answer_data(shared_cli("--json", "sessions", check=0))["sessions"] == []


def start_job(cli: Cli, port: str, *words: str, on: str = HOSTS) -> dict[str, Any]:
    program = resolve_program(PROGRAM)
    return answer_data(
        cli("--json", "start", "--group", "--host", on, program, *words, "--", port, check=None)
    )


def values_of(cli: Cli, expression: str, *words: str) -> dict[str, list[str]]:
    answer = answer_data(cli("--json", "print", expression, *words, check=0))
    return {one["value"]: one["members"] for one in answer["rows"][0]["values"]}


def test_ranks_on_four_hosts_are_one_tree_and_the_odd_one_is_found(
    at_hosts: Cli, port: str, wait_until: Callable[..., None]
) -> None:
    start_job(at_hosts, port, "--no-wait")

    def is_all_there() -> bool:
        text = at_hosts("backtrace").out
        return "0-1,3-7: work job.py" in text and "`connection.recv(1)  # @meet`" in text

    wait_until(is_all_there, 60, what="all ranks at their places")
    lines = at_hosts("backtrace", check=0).out.splitlines()
    assert lines[0] == "job: 12 members: 12 running (0-7,main@h1-4)"
    assert lines[1].startswith("main@h1-4: <module> job.py:")
    odd = next(one for one in lines if one.startswith("  2: work job.py:"))
    assert odd.endswith("`threading.Event().wait()  # @odd`")
    verdict = answer_data(at_hosts("--json", "hang", "--group", check=0))["verdict"]
    assert (verdict["kind"], verdict["rows"][0]["members"]) == ("lagging", ["2"])
    assert "0-1,3-7 wait at all_reduce job.py:" in verdict["cause"]


def test_stops_values_and_focus_of_a_group_over_hosts(
    at_hosts: Cli, port: str, wait_until: Callable[..., None]
) -> None:
    stop = start_job(at_hosts, port, "--break", marked_location(PROGRAM, "branch"), on="h1,h2")
    assert (stop["group"], stop["stop"]["reason"]) == ("job", "breakpoint")
    wait_until(
        lambda: " 4 stopped (0-3)" in at_hosts("status").out, 30, what="the stops of all ranks"
    )
    assert values_of(at_hosts, "step") == {"120": ["0", "1", "3"], "119": ["2"]}
    assert values_of(at_hosts, "rank", "--members", "2-3") == {"2": ["2"], "3": ["3"]}
    added = at_hosts("break", marked_location(PROGRAM, "odd"), check=0).out
    assert added.startswith("h1, h2: breakpoint 2: job.py:")
    at_hosts("focus", "2", check=0)
    assert at_hosts("print", "rank", check=0).out == "rank = 2\n"
    at_hosts("focus", "all", check=0)
    hit = answer_data(at_hosts("--json", "continue", "--timeout", "30", check=0))
    assert (hit["member"], hit["stop"]["frame"]["function"]) == ("2", "save")
    assert "0-1,3,main@h1-2: running" in at_hosts("await", "--timeout", "0").out
    events = answer_data(at_hosts("--json", "events", "--limit", "500", check=0))["events"]
    assert {"0", "1", "2", "3"} <= {one.get("member") for one in events}
    assert [one["time_ns"] for one in events] == sorted(one["time_ns"] for one in events)
    unknown = at_hosts("backtrace", "--members", "9")
    assert "no member '9'; there are: 0-3,main@h1-2" in unknown.err


def test_a_host_that_dies_is_named_and_the_others_go_on(
    at_hosts: Cli, port: str, hosts: SshHosts, wait_until: Callable[..., None]
) -> None:
    start_job(at_hosts, port, "--no-wait", on="h1,h2")
    wait_until(lambda: "(0-3,main@h1-2)" in at_hosts("backtrace").out, 60, what="all ranks")
    status = answer_data(at_hosts("--json", "daemon", "status", "--host", "h2", check=0))
    os.kill(status["pid"], signal.SIGKILL)
    wait_until(lambda: not hosts.named("h2").processes(), what="the end of all on the host")
    text = at_hosts("backtrace", check=0).out
    assert "no answer: 2-3,main@h2: h2: the daemon on h2 has ended; lost: " in text
    assert "\n0-1: " in text
    assert "main@h1,0-1" in at_hosts("status", check=0).out.replace("0-1,main@h1", "main@h1,0-1")
    at_hosts("stop", check=0)
    wait_until(lambda: not sessions_on(hosts, "h1"), what="the end of the ranks")


def sessions_on(hosts: SshHosts, name: str) -> list[str]:
    """Return the command lines of the ranks on a host."""
    found = []
    for pid in hosts.named(name).processes():
        try:
            words = psutil.Process(pid).cmdline()
        except psutil.NoSuchProcess:
            continue
        found += [" ".join(words)] if any(one.endswith("job.py") for one in words) else []
    return found


SIGNALLED = """
import os, pathlib, sys, time
lines = 0
while not pathlib.Path(sys.argv[1]).exists():
    lines += 1
    print(f"tick {lines}\\n", end="", flush=True)
    time.sleep(0.05)
if os.environ["DEBUGGER_HOST_INDEX"] == "1":
    print(f"last {lines}\\n", end="", flush=True)
    lines += 0  # stops
while True:
    time.sleep(60)
"""


def test_a_connection_that_breaks_in_a_wait_loses_nothing_and_is_made_again(
    at_hosts: Cli,
    hosts: SshHosts,
    shared_runtime_dir: Path,
    tmp_path: Path,
    wait_until: Callable[..., None],
) -> None:
    program, signalled = tmp_path / "signalled.py", tmp_path / "go"
    program.write_text(SIGNALLED)
    words = ("--break", f"{program}:10", "--no-wait", "--", str(signalled))
    at_hosts("start", "--group", "--host", "h1,h2", str(program), *words, check=0)
    assert "2 running (main@h1-2)" in at_hosts("status", check=0).out
    waiting = start_command(shared_runtime_dir, "--json", "await", "--timeout", "120")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=1.0)
    config = hosts.folder / "config"
    before = config.read_text()
    try:
        # Nobody listens there: the host cannot be reached again.
        config.write_text(before.replace(f"Port {hosts.named('h2').port}", "Port 1"))
        for one in children_of(daemon_pid(shared_runtime_dir), "ssh"):
            if "h2" in psutil.Process(one).cmdline():
                os.kill(one, signal.SIGKILL)
        status = at_hosts("status", check=0).out
        assert "1 running (main@h1) · 1 no answer (main@h2)" in status
        assert "  main@h2: no answer, h2: the connection was refused" in status
        signalled.touch()
    finally:
        config.write_text(before)
    stop = json.loads(waiting.communicate(timeout=60)[0])["data"]
    assert (stop["member"], stop["stop"]["reason"]) == ("main@h2", "breakpoint")
    events = ("--json", "--budget", "200000", "events", "--limit", "500", "--members", "main@h2")
    wait_until(lambda: "last" in at_hosts("output", "--all").out, what="the output of both")
    texts = [one["text"] for one in answer_data(at_hosts(*events, check=0))["events"]]
    ticks = [one.split() for one in texts if one.startswith(("tick", "last"))]
    first, count = int(ticks[0][1]), int(ticks[-1][1])
    assert ticks == [*(["tick", str(n)] for n in range(first, count + 1)), ["last", str(count)]]


def test_a_host_that_cannot_be_reached_does_not_hinder_the_others(at_hosts: Cli, port: str) -> None:
    answer = at_hosts(
        "start", "--group", "--host", "h1,nowhere.invalid", resolve_program(PROGRAM),
        *("--break", marked_location(PROGRAM, "branch"), "--", port), check=0,
    )  # fmt: skip
    assert "*@nowhere.invalid: nowhere.invalid: " in answer.out
    assert "stopped: breakpoint 1, work at job.py:" in answer.out


def test_values_of_ranks_on_all_hosts_are_compared_hit_by_hit(at_hosts: Cli) -> None:
    program, place = resolve_program(RANKS), marked_location(RANKS, "step")
    words = ("--group", "--host", "h1,h2", "--at", place, "loss, number", "--", program)
    answer = answer_data(at_hosts("--json", "probe", *words, check=0))
    assert answer["members"] == ["0", "1", "2", "3", "main@h1", "main@h2"]
    (found,) = answer["places"]
    loss, number = found["expressions"]
    assert (loss["expression"], loss["hit"], loss["values"][0]["members"]) == (
        "loss",
        3,
        ["0", "1", "3"],
    )
    assert loss["values"][1] == {"value": "nan", "members": ["2"]}
    assert (number["hit"], found["compared"]) == (None, 4)
    never = at_hosts(
        "diff", *words[:3], "--at", marked_location(RANKS, "raise"), "rank", "--", program
    )
    assert "none of 6 processes came to" in never.err


def test_the_rank_on_any_host_that_took_another_branch_is_named(at_hosts: Cli) -> None:
    words = ("--group", "--host", "h1,h2", "--", resolve_program(RANKS), "turn")
    answer = answer_data(at_hosts("--json", "path", *words, check=0))
    assert answer["members"] == ["0", "1", "2", "3", "main@h1", "main@h2"]
    first = answer["splits"][0]
    assert (first["line"], first["hit"], first["compared"]) == (
        int(marked_location(RANKS, "turn").rpartition(":")[2]),
        3,
        4,
    )
    assert [one["members"] for one in first["ways"]] == [["2"], ["0", "1", "3"]]


def test_the_first_member_to_fail_on_any_host_is_named(at_hosts: Cli) -> None:
    words = ("--group", "--host", "h1,h2", "--", resolve_program(RANKS), "fail")
    crash = answer_data(at_hosts("--json", "crash", *words, check=0))
    assert crash["member"] == "2"
    assert crash["crash"]["frame"]["line"] == int(
        marked_location(RANKS, "raise").rpartition(":")[2]
    )
    ends = {label: one["how"] for one in crash["ends"] for label in one["members"]}
    assert ends["main@h2"] == "ended with status 1"
    # The other host's ranks may not have begun when this one fails.
    assert 2 <= crash["total"] <= 6


def innermost_functions(branches: list[dict[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in branches:
        found |= dict.fromkeys(one["members"], one["frames"][-1]["function"])
        found |= innermost_functions(one["branches"])
    return found


def let_rank_fail(server: socket.socket, stack: ExitStack) -> None:
    """Take the connections of all ranks, and answer the one that waits to fail."""
    connections = [stack.enter_context(server.accept()[0]) for _ in range(4)]
    readable, _, _ = select.select(connections, [], [])
    readable[0].sendall(b"!")


def test_where_the_members_of_all_hosts_were_at_a_failure_is_shown(at_hosts: Cli) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=let_rank_fail, args=(server, stack), daemon=True).start()
        words = (resolve_program(PROGRAM), str(server.getsockname()[1]), "fail")
        crash = answer_data(
            at_hosts("--json", "crash", "--group", "--host", "h1,h2", "--", *words, check=0)
        )
    assert (crash["member"], crash["crash"]["exception"]["type"]) == ("2", "ValueError")
    where = innermost_functions(crash["others"]["branches"])
    # On a busy machine a stack may come too late, and its member is named.
    late = {one["label"] for one in crash["others"]["silent"]}
    assert sorted({*where} | late) == ["0", "1", "3", "main@h1", "main@h2"]
    assert {where.get(rank, "all_reduce") for rank in "013"} == {"all_reduce"}
    ends = {label: one["how"] for one in crash["ends"] for label in one["members"]}
    assert ends["0"] == "runs on"
