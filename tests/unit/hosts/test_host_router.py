"""Which commands run on another host, and what the other side's command refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from debugger.cli import commands, parser
from debugger.daemon.command_request import CommandRequest
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import parse_addresses
from debugger.hosts.host_channel import HostChannel
from debugger.hosts.host_router import HostRouter, Route
from debugger.model.command_registry import COMMANDS

SESSION = "app@h1"


async def ignore_text(_text: str) -> None: ...


async def run_nothing(_request: object) -> dict[str, object]:
    raise AssertionError("nothing runs on this machine")


@pytest.fixture
def router() -> HostRouter:
    """Make a router to which a session on a host is known."""
    commands.register_all()
    found = HostRouter(run_nothing)
    (address,) = parse_addresses("h1", None, None)
    answer = {"sessions": [{"name": SESSION, "is_live": True}], "current": SESSION}
    found.hosts.host_at(address).note_answer(answer)
    return found


def find_route(router: HostRouter, *argv: str) -> Route | None:
    request = CommandRequest(id=1, stream=ignore_text, argv=argv)
    return router.find_route(parser.parse_argv(argv, COMMANDS), request)


@pytest.mark.parametrize(
    "argv",
    ["next", "print x", "try x=1", "probe --at f x", "hang", "crash", "use app@h1", "stop",
     "backtrace --group app@h1", "why x --session app@h1"],
)  # fmt: skip
def test_a_command_on_a_hosts_session_runs_there(router: HostRouter, argv: str) -> None:
    router.current = SESSION
    route = find_route(router, *argv.split())
    assert route is not None
    assert (route.hosts[0].label, route.session) == ("h1", SESSION)


def test_a_name_that_ends_with_a_connected_host_is_looked_up_there(router: HostRouter) -> None:
    """The client that began it has ended before the host's answer came."""
    stop = ("stop", "--group", "unknown@h1")
    assert find_route(router, *stop) is None
    (host,) = router.hosts.all_hosts()
    host.channel = cast("HostChannel", SimpleNamespace(is_open=True))
    route = find_route(router, *stop)
    assert route is not None
    assert (route.hosts[0].label, route.session) == ("h1", "unknown@h1")
    assert find_route(router, "stop", "--group", "unknown@h2") is None
    assert find_route(router, "start", "x.py", "--session", "unknown@h1") is None


@pytest.mark.parametrize(
    "argv",
    ["start x.py", "attach 5", "crash -- ./a", "hang --pid 5", "sessions", "config", "stop --all",
     "use other", "print x --session other", "test -- pytest", "evidence list", "setup --list"],
)  # fmt: skip
def test_what_begins_something_or_is_of_this_machine_runs_here(
    router: HostRouter, argv: str
) -> None:
    router.current = SESSION
    assert find_route(router, *argv.split()) is None


def test_a_named_host_is_where_any_command_runs(router: HostRouter) -> None:
    for argv in (["start", "x.py"], ["crash", "--", "./a"], ["doctor"], ["runs", "list"]):
        route = find_route(router, "--host", "h2", *argv)
        assert route is not None
        assert [one.label for one in route.hosts] == ["h2"]
    both = find_route(router, "start", "--group", "--host", "h1,h2", "x.py")
    assert both is not None
    assert [one.label for one in both.hosts] == ["h1", "h2"]
    behind = find_route(router, "start", "x.py", "--", "--host", "h2")
    assert behind is None


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        ("start --host h1,h2 x.py", "is for a group", "debugger start --group --host h1,h2 …"),
        ("next --host h1,h2", "is for a group", "--host h1"),
        ("mcp --host h1", "serves on the machine", "debugger mcp, there"),
        ("start --session app@h1 x.py", "is in use", "debugger stop --session app@h1 ends it"),
    ],
)
def test_what_means_nothing_on_a_host_is_refused(
    router: HostRouter, argv: str, message: str, hint: str
) -> None:
    with pytest.raises(DebuggerError, match=message) as caught:
        find_route(router, *argv.split())
    assert (caught.value.code, caught.value.hint) == (ErrorCode.USAGE, hint)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "debugger start --host user@server ./app"),
        (("--stdio", "--frob"), "debugger daemon connect --help"),
        (("--stdio", "--client", "../x"), "--client NAME"),
        (("--stdio", "--keep", "-1"), "--keep 300"),
        (("--stdio", "--keep", "x"), "--keep 300"),
    ],
)
def test_a_wrong_call_is_told_in_place_of_the_greeting(
    tmp_path: Path, words: tuple[str, ...], hint: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "debugger", "daemon", "connect", *words],
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(tmp_path / "run")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    answer = json.loads(ran.stdout)
    assert answer["greeting"] == "debugger"
    assert answer["error"]["code"] == "USAGE"
    assert answer["error"]["hint"] == hint
    assert not (tmp_path / "run" / "clients" / ".." / "x").exists()
