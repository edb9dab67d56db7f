"""Forked processes of native programs, with each debugger that follows a fork."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, marked_location, print_value
from process_trees import (
    NATIVE,
    WORKED,
    await_child,
    is_alive,
    list_sessions,
    read_again,
    start_forking,
)

followed = pytest.mark.parametrize(
    "by",
    [
        pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb"), id="gdb"),
        pytest.param(("--backend", "frida"), marks=pytest.mark.adapter("frida"), id="frida"),
    ],
)


@followed
def test_forked_children_stop_at_once_and_end_with_their_own_status(
    cli: Cli, by: tuple[str, str], wait_until: Any
) -> None:
    stop = start_forking(cli, by, "many", 2, "--break", WORKED)
    # A stop of the other one during a step would be the step's answer.
    wait_until(lambda: _stopped(cli) == ["family.1", "family.2"], what="both children to stop")
    seen = {}
    while stop["reason"] == "breakpoint":
        assert stop["frame"]["function"] == "work"
        assert stop["notes"][0] == f"this is {stop['session']}, a child process of family"
        assert list_sessions(cli)[stop["session"]]["parent"] == "family"
        number = print_value(cli, "number")
        seen[stop["session"]] = 2 * int(number)
        stepped = read_again(cli, "next")
        found = (stepped["session"], print_value(cli, "twice"))
        assert found == (stop["session"], str(2 * int(number))), cli("events", check=0).out
        stop = read_again(cli, "continue")
    assert set(seen) == {"family.1", "family.2"}
    assert (stop["session"], stop["exit_code"], stop["never_hit"]) == ("family", 0, [])
    assert stop["output"][-1]["text"] == "ended, together 6"
    known = list_sessions(cli)
    assert {name: known[name]["exit_code"] for name in seen} == seen


def _stopped(cli: Cli) -> list[str]:
    return sorted(name for name, one in list_sessions(cli).items() if one["state"] == "stopped")


@followed
def test_a_breakpoint_that_is_added_later_reaches_a_forked_child(
    cli: Cli, by: tuple[str, str], wait_until: Any, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    start_forking(cli, by, "lasting", gate, "--no-wait")
    await_child(cli, wait_until)
    read_again(cli, "--session", "family", "break", marked_location(NATIVE, "turn"))
    stop = read_again(cli, "--session", "family", "await")
    assert (stop["session"], stop["reason"]) == ("family.1", "breakpoint")
    read_again(cli, "breakpoint", "remove", "--all")
    read_again(cli, "continue", "--no-wait")
    stop = read_again(cli, "--session", "family.1", "pause")
    assert (stop["session"], stop["reason"]) == ("family.1", "pause")
    gate.touch()
    assert read_again(cli, "continue")["output"][-1]["text"] == "ended, together 6"


@followed
def test_stopping_ends_forked_children_alone_or_with_their_parent(
    cli: Cli, by: tuple[str, str], wait_until: Any, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    start_forking(cli, by, "lasting", gate, "--no-wait")
    child = await_child(cli, wait_until)
    ended = read_again(cli, "--session", "family.1", "stop")
    assert ended["ended"] == ["family.1"]
    assert not is_alive(child)
    assert read_again(cli, "--session", "family", "await")["exit_code"] == 0
    read_again(cli, "--session", "family", "restart", "--no-wait")
    child = await_child(cli, wait_until)
    pids = [one["pid"] for one in list_sessions(cli).values()]
    assert child in pids
    whole = read_again(cli, "--session", "family", "stop")
    assert set(whole["ended"]) == {"family", "family.1"}
    assert list_sessions(cli) == {}
    assert [pid for pid in pids if is_alive(pid)] == []
