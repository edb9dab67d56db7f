"""Every filter of the timeline, by the command and by the tool."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, resolve_program
from debuggees import find_marker, find_source
from mcp_client import connect_stdio

pytestmark = pytest.mark.adapter("lldb-dap")


@pytest.fixture
def logged(cli) -> Any:
    """Run a program that passed two logpoints and a breakpoint, and has ended."""
    cli("start", resolve_program("loop.c"), "--break", marked_location("loop.c", "call"), check=0)
    cli("break", marked_location("loop.c", "return"), "--log", "returns {i * i}", check=0)
    cli("break", "sum_to", "--log", "sums to {n}", check=0)
    assert answer_data(cli("--json", "continue", check=0))["exit_code"] == 3
    return cli


def texts(cli: Any, *words: str) -> list[str]:
    return [one["text"] for one in answer_data(cli("--json", "events", *words, check=0))["events"]]


def test_events_tell_the_place_of_the_breakpoint_that_they_are_of(logged) -> None:
    events = answer_data(logged("--json", "events", "--kind", "logpoint", check=0))["events"]
    places = {(one["file"], one["line"], one.get("function")) for one in events}
    file = str(find_source("loop.c"))
    assert places == {
        (file, find_marker("loop.c", "return"), None),
        (file, find_marker("loop.c", "start"), "sum_to"),
    }
    assert f"(sum_to loop.c:{find_marker('loop.c', 'start')})" in logged("events").out


FILTERS = [
    (("--text", "returns 9"), ["returns 9"]),
    (("--text", "RETURNS"), []),
    (("--function", "sum_*"), ["sums to 5"]),
    (("--function", "sum"), []),
    (("--file", "loop.c", "--text", "sums"), ["sums to 5"]),
    (("--file", "oop.c"), []),
    (("--file", "other.c"), []),
    (("--until", "0"), []),
    (("--until", "-60m"), []),
    (("--since", "-60m", "--until", "-0s", "--text", "to 5"), ["sums to 5"]),
    (("--thread", "999999"), []),
    (("--returned", "16"), []),  # told by a logpoint is not returned by a function
    (("--min-duration", "0ns"), []),
]


def test_a_stop_is_found_by_the_function_in_which_the_program_stopped(cli) -> None:
    cli("start", resolve_program("loop.c"), "--break", marked_location("loop.c", "start"), check=0)
    cli("watch", "sum", check=0)
    cli("continue", check=0)
    stops = answer_data(cli("--json", "events", "--kind", "stop", "--function", "sum_to", check=0))
    reasons = [one["data"]["reason"] for one in stops["events"]]
    assert reasons == ["breakpoint", "watchpoint"]
    assert {one["file"] for one in stops["events"]} == {str(find_source("loop.c"))}


def test_each_filter_is_kept(logged) -> None:
    for words, expected in FILTERS:
        assert texts(logged, "--kind", "logpoint", *words) == expected, words


def test_the_filters_are_kept_while_events_are_followed(logged) -> None:
    told = logged("events", "--follow", "--kind", "logpoint", "--text", "returns 4", check=0).out
    assert [line.partition(" ")[2] for line in told.splitlines()][:1] == ["logpoint returns 4"]
    assert "returns 9" not in told
    assert "sums to" not in told


NO_FILTERS = [
    (("--until", "soon"), "--until is an event's number or -5s, not 'soon'"),
    (("--since", "1e3"), "--since is an event's number or -5s, not '1e3'"),
    (("--follow", "--until", "5"), "--follow goes on, --until ends"),
    (("--limit", "0"), "--limit is 1 to 500"),
    (("--min-duration", "5"), "--min-duration is a time like 5ms"),
    (("--min-duration", "1s", "--max-duration", "5ms"), "at least 1s and at most 5ms"),
    (("--returned", "<many"), "--returned < takes a number, not 'many'"),
    (("--kind", "function_entry"), "debugger events --kind function_enter"),
]


def test_filters_that_mean_nothing_are_refused(logged) -> None:
    for words, says in NO_FILTERS:
        told = logged("events", *words, check=2)
        assert says in told.err, words


async def test_the_tool_keeps_them_too(logged) -> None:
    async with connect_stdio() as agent:
        asked: dict[str, Any] = {"eventType": ["logpoint"], "file": "loop.c", "text": "returns 1"}
        told = await agent.call("debug_query", **asked, timeFrom="-60m", timeTo="-0s")
        assert [one["text"] for one in told.data["events"]] == ["returns 1", "returns 16"]
        told = await agent.call("debug_query", **asked, timeTo="-60m")
        assert told.data["events"] == []
        told = await agent.call("debug_query", **asked, returned="!=0", minDuration="1ns")
        assert told.data["events"] == []
        assert "takes a number" in await agent.refused("debug_query", returned=">x")
        told = await agent.call("debug_query", function="sum_to")
        assert {one["function"] for one in told.data["events"]} == {"sum_to"}


def test_the_files_of_events_go_with_their_session(cli, runtime_dir) -> None:
    cli("start", resolve_program("loop.c"), "--break", marked_location("loop.c", "call"), check=0)
    assert list(runtime_dir.glob("timelines/*/events.db"))
    cli("stop", check=0)
    assert not (runtime_dir / "timelines").exists()


def _has_ended(pid: int) -> bool:
    """Return whether a process has given up its files and locks; its parent may not know yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    # The other threads share its files, and may end after the first.
    return stat.rpartition(") ")[2][0] in "ZX" and len(threads) <= 1


def test_the_files_of_events_of_a_daemon_that_was_killed_go_with_the_next(
    cli, runtime_dir, wait_until
) -> None:
    cli("start", resolve_program("loop.c"), "--break", marked_location("loop.c", "call"), check=0)
    pid = answer_data(cli("--json", "daemon", "status"))["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: _has_ended(pid), what="the daemon to be gone")
    assert list(runtime_dir.glob("timelines/*/events.db"))
    assert "died" in cli("sessions").err
    assert not (runtime_dir / "timelines").exists()
