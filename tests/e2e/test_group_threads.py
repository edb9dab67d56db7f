"""`hang --group` reads all threads: members wait for each other by locks, pipes and sockets."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, marked_location, resolve_program
from debuggees import build_debuggee
from process_trees import list_sessions, read_again
from running_programs import find_tracer, run_program

PROGRAM, NATIVE = "groups/waits.py", "groups/shared_mutex.c"
pytestmark = pytest.mark.adapter("debugpy")


def laggards(verdict: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the laggards: who, which thread, and where."""
    return [
        (",".join(one["members"]), one["thread"], f"{one['place']['file']}:{one['place']['line']}")
        for one in verdict["rows"]
        if one["is_laggard"] and one["place"]
    ]


def await_verdict(
    cli: Cli, wait_until: Callable[..., None], kind: str, count: int
) -> dict[str, Any]:
    """Ask until at least so many laggards have come to where they wait."""
    found: dict[str, Any] = {}

    def look() -> bool:
        found.update(read_again(cli, "hang", "--group")["verdict"])
        rows = [one for one in found["rows"] if one["is_laggard"]]
        # A member that has not answered so far has its pid for a name.
        is_named = all(not label.startswith("pid") for one in rows for label in one["members"])
        return found["kind"] == kind and len(rows) >= count and is_named

    wait_until(look, 60, what=kind)
    return found


def test_the_thread_that_holds_the_lock_of_a_laggards_thread_comes_first(
    cli: Cli, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "lock"
    cli("start", "--group", resolve_program(PROGRAM), "--no-wait", "--", "threads", path, check=0)
    verdict = await_verdict(cli, wait_until, "lagging", 3)
    first, *others = laggards(verdict)
    assert first == ("3", "thread hold", marked_location(PROGRAM, "holds"))
    assert sorted(others) == [
        ("2", "thread load", marked_location(PROGRAM, "loads")),
        ("4", "thread receive", marked_location(PROGRAM, "receives")),
    ]
    assert f"a lock on {path} that member 3 holds; 4 (thread receive) waits" in verdict["cause"]
    assert "; 1,3 wait in Barrier.wait" in verdict["cause"]
    cli("stop", check=0)


def test_a_program_that_joins_what_still_writes_to_its_queue_is_a_deadlock(
    cli: Cli, wait_until: Callable[..., None]
) -> None:
    cli("start", "--group", resolve_program(PROGRAM), "--no-wait", "--", "feeder", check=0)
    verdict = await_verdict(cli, wait_until, "deadlock", 2)
    assert ("main", "", marked_location(PROGRAM, "ends")) in laggards(verdict)
    assert "(thread QueueFeederThread) waits in Connection._send: writes to fd" in verdict["cause"]
    cli("stop", check=0)


def test_the_exception_of_the_thread_that_the_others_wait_for_is_told(cli: Cli) -> None:
    program, place = resolve_program("groups/unset.py"), marked_location("groups/unset.py", "raise")
    notes: list[str] = []
    for seconds in ("2", "10", "30"):  # until it has raised, on a machine with much to do
        notes = read_again(cli, "hang", "--group", "--after", seconds, "--", program)["notes"]
        if notes:
            break
    where = f"in coordinate {Path(place).name}"
    assert notes == [f"its output has a traceback: KeyError: 'workers', {where}"]


@pytest.mark.adapter("js-debug")
def test_a_node_process_that_computes_is_named_with_its_line(
    cli: Cli, wait_until: Callable[..., None]
) -> None:
    program, place = "groups/spinning.js", marked_location("groups/spinning.js", "spin")
    cli("start", "--group", resolve_program(program), "--no-wait", check=0)

    def describe(row: dict[str, Any]) -> str:
        at: dict[str, Any] = row["place"] or {"file": "", "line": 0}
        return row["call"] or f"{at['file']}:{at['line']}"

    def read_rows() -> dict[str, str]:
        rows = read_again(cli, "hang", "--group")["verdict"]["rows"]
        return {one["kind"]: describe(one) for one in rows}

    expected = {"computes": place, "waits": "an event loop"}
    wait_until(lambda: read_rows() == expected, 60, what="a member that computes")
    cli("stop", check=0)


@pytest.mark.adapter("gdb")
def test_compiled_and_python_members_wait_for_a_thread_of_another(
    cli: Cli, wait_until: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "lock"
    with ExitStack() as running:
        native = running.enter_context(
            run_program(build_debuggee(NATIVE), path, ready="held", env={**os.environ, "RANK": "0"})
        )
        child = int(Path(f"/proc/{native.pid}/task/{native.pid}/children").read_text())
        running.callback(os.kill, child, signal.SIGKILL)
        python = running.enter_context(
            run_program(
                *(sys.executable, resolve_program(PROGRAM), "held", path),
                ready="",
                env={**os.environ, "RANK": "2"},
            )
        )
        pids = [native.pid, child, python.pid]
        cli("attach", "--group", "--pids", ",".join(map(str, pids)), check=0)
        verdict = await_verdict(cli, wait_until, "blocked", 1)
        (first,) = laggards(verdict)
        assert (first[0], first[2]) == ("0", marked_location(NATIVE, "keeps"))
        details = {one["detail"].split(" that ")[0] for one in verdict["rows"]}
        assert {"a mutex", f"a lock on {path}"} <= details
        cli("detach", check=0)
        assert list_sessions(cli) == {}
        assert [find_tracer(one) for one in pids] == [0] * len(pids)
