"""Tools that play docker, podman and kubectl: what the debugger makes of their behaviour."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from debugger import __version__
from debugger.config import Config, HostSettings
from debugger.errors import DebuggerError
from debugger.hosts import host_channel, own_wheel
from debugger.hosts.host_address import HostTools, parse_addresses
from debugger.hosts.host_call import find_tools
from debugger.hosts.host_channel import ChannelBroken, HostChannel
from debugger.hosts.path_mapping import map_answer, map_arguments
from debugger.model.location import source_map

GREETING = {"greeting": "debugger", "v": 1, "version": __version__, "daemon": __version__, "pid": 7}
# Answers each request with its words, after some text of it; `die` ends it in between.
ECHO = """\
import json, sys, time
print("Last login: never"); print(sys.argv[1], flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "cancel" in asked:
        print(json.dumps({"id": asked["cancel"], "text": "cancelled"}), flush=True)
        continue
    if asked["command"] == "die":
        sys.stderr.write("client_loop: send disconnect: Broken pipe\\n"); sys.exit(255)
    if asked["command"] == "wait":
        continue
    print(json.dumps({"id": asked["id"], "progress": "1 s"}))
    print(json.dumps({"id": asked["id"], "stream": "line\\n"}))
    answer = {"id": asked["id"], "success": True, "text": asked["command"]}
    print(json.dumps({**answer, "ticks": time.monotonic()}), flush=True)
"""


def write_tool(folder: Path, name: str, source: str) -> str:
    """Write a tool that ignores how it is called, and return its path."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(0o755)
    return str(path)


def echo_tool(folder: Path, greeting: dict[str, Any] = GREETING) -> HostTools:
    source = ECHO.replace("sys.argv[1]", repr(json.dumps(greeting)))
    return HostTools(container=(write_tool(folder, "docker", source),))


async def open_channel(tools: HostTools, within_s: float = 20.0) -> HostChannel:
    (address,) = parse_addresses(None, "box", None)
    return await HostChannel.open(address, tools, (), dict(os.environ), within_s=within_s)


async def test_requests_are_answered_side_by_side_behind_the_noise_of_a_login(
    tmp_path: Path,
) -> None:
    channel = await open_channel(echo_tool(tmp_path))
    assert channel.greeting.pid == GREETING["pid"]
    streamed: list[str] = []

    async def stream(text: str) -> None:
        streamed.append(text)

    answers = await asyncio.gather(
        channel.request({"command": "a"}, stream=stream), channel.request({"command": "b"})
    )
    assert [one["text"] for one in answers] == ["a", "b"]
    assert streamed == ["line\n"]
    assert answers[1]["stream"] == "line\n"
    await channel.close()
    assert not channel.is_open


async def test_an_interrupted_request_is_cancelled_there(tmp_path: Path) -> None:
    channel = await open_channel(echo_tool(tmp_path))
    interrupted = asyncio.Event()
    waiting = asyncio.create_task(channel.request({"command": "wait"}, interrupted=interrupted))
    assert (await channel.request({"command": "a"}))["text"] == "a"
    interrupted.set()
    assert (await waiting)["text"] == "cancelled"
    await channel.close()


async def test_a_host_that_lives_is_waited_for_and_a_frozen_one_is_not(tmp_path: Path) -> None:
    living = await open_channel(echo_tool(tmp_path))
    living.quiet_s = 0.01
    waiting = asyncio.create_task(living.request({"command": "wait"}))
    while living.clock == living.greeting.clock:  # until it has been asked whether it lives
        await asyncio.wait({waiting}, timeout=0.01)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    await living.close()
    source = f"import time\nprint({json.dumps(GREETING)!r}, flush=True)\ntime.sleep(600)"
    frozen = await open_channel(HostTools(container=(write_tool(tmp_path, "podman", source),)))
    frozen.quiet_s = frozen.alive_s = 0.05
    with pytest.raises(DebuggerError, match=r"box has answered nothing for 0\.1 s"):
        await frozen.request({"command": "wait"})
    await frozen.close(0.0)


async def test_a_tool_that_dies_breaks_the_request_with_its_last_words(tmp_path: Path) -> None:
    channel = await open_channel(echo_tool(tmp_path))
    with pytest.raises(ChannelBroken, match="Broken pipe"):
        await channel.request({"command": "die"})
    with pytest.raises(ChannelBroken):
        await channel.request({"command": "a"})
    await channel.close()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys; sys.exit('Error response from daemon: No such container: box')", "no cont"),
        ("import sys; sys.exit(127)", "box has no debugger"),
        ("while True: print('y')", "says something else"),
        ("import time; time.sleep(60)", "did not answer within 1 s"),
        ("print('x' * 20_000_000)", "says something else"),
    ],
)
async def test_what_is_no_debugger_is_an_error_within_the_bound(
    tmp_path: Path, source: str, message: str
) -> None:
    tools = HostTools(container=(write_tool(tmp_path, "docker", source),))
    with pytest.raises(DebuggerError, match=message):
        await open_channel(tools, within_s=1.0 if "sleep" in source else 20.0)


async def test_an_error_in_place_of_the_greeting_comes_through(tmp_path: Path) -> None:
    error = {"code": "DENIED", "message": "the runtime directory is open", "hint": "chmod"}
    tools = echo_tool(tmp_path, {**GREETING, "error": error})
    with pytest.raises(DebuggerError, match="the runtime directory is open") as caught:
        await open_channel(tools)
    assert caught.value.hint == "chmod"


async def test_other_versions_are_refused(tmp_path: Path) -> None:
    channel = await open_channel(echo_tool(tmp_path, {**GREETING, "daemon": "0.0.1"}))
    (address,) = parse_addresses(None, "box", None)
    with pytest.raises(DebuggerError, match=r"is of version 0\.0\.1") as caught:
        host_channel.check_version(address, channel.greeting, ends_daemon=False)
    assert caught.value.hint.startswith("debugger daemon stop --container box")
    host_channel.check_version(address, channel.greeting, ends_daemon=True)
    await channel.close()


def test_the_tools_are_configured_as_command_lines(tmp_path: Path) -> None:
    write_tool(tmp_path, "podman", "")
    env = {"PATH": str(tmp_path)}
    assert find_tools(Config(), env) == HostTools(container=("podman",))
    own = HostSettings(ssh="ssh -F 'a b'", container="nerdctl", kubectl="oc")
    found = find_tools(Config(hosts=own), env)
    assert found == HostTools(("ssh", "-F", "a b"), ("nerdctl",), ("oc",))
    with pytest.raises(DebuggerError, match="not a command") as caught:
        find_tools(Config(hosts=HostSettings(ssh="ssh '")), env)
    assert caught.value.hint == "debugger config --path"


def test_folders_are_mapped_in_arguments_and_answers() -> None:
    folders = source_map({"/srv/app": "/home/me/app", "/srv/app/lib": "~/lib"}, "/home/me")
    given = ["/home/me/app/x.py:3", "/home/me/apple", ("/home/me/lib/y.py",), 5, None]
    assert map_arguments(given, folders) == [
        *("/srv/app/x.py:3", "/home/me/apple", ["/srv/app/lib/y.py"], 5, None),
    ]
    answer = {"text": "at /srv/app/x.py:3, /srv/app/lib/y.py and /srv/apple; x/srv/app", "n": 1}
    assert map_answer(answer, folders) == {
        "text": "at /home/me/app/x.py:3, /home/me/lib/y.py and /srv/apple; x/srv/app",
        "n": 1,
    }


def test_the_wheel_has_all_files_with_their_digests_and_runs(tmp_path: Path) -> None:
    name, content = own_wheel.build_wheel()
    wheel = tmp_path / name
    wheel.write_bytes(content)
    with zipfile.ZipFile(wheel) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    assert "debugger/system/supervisor.py" in files
    assert not [one for one in files if "__pycache__" in one]
    (record,) = [one for one in files if one.endswith(".dist-info/RECORD")]
    rows = [row.split(",") for row in files.pop(record).decode().splitlines()]
    assert rows.pop() == [record, "", ""]
    for path, digest, size in rows:
        data = files.pop(path)
        text = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={text}", len(data))
    assert files == {}
    # Python imports from the file itself.
    program = f"import sys; sys.path.insert(0, {str(wheel)!r}); import debugger; print(debugger)"
    command = [sys.executable, "-I", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert str(wheel) in ran.stdout
