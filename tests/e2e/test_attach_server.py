"""Debugging through a debug server, repeatedly, with every failure reported."""

from __future__ import annotations

import os
import socket
import sys

import pytest

import debuggees
from cli_commands import answer_data, marked_location, print_value, resolve_program
from driven_backend import write_configuration
from refused_commands import check_refused
from running_programs import (
    attach_to_stop,
    debugpy_server_command,
    find_free_port,
    process_state,
    run_program,
    serve_clients,
)

lldb = pytest.mark.adapter("lldb-dap")
python = pytest.mark.adapter("debugpy")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")


@pytest.fixture
def served():
    """Run endless.py with debugpy's server in it; give its process and its port."""
    port = find_free_port()
    words = debugpy_server_command(debuggees.find_source("endless.py"), port)
    with run_program(*words, ready="counting") as process:
        yield process, port


@python
def test_a_server_is_attached_to_let_go_and_attached_to_again(cli, served):
    process, port = served
    seen = 0
    for _ in range(3):
        place = marked_location("endless.py", "count")
        stop = attach_to_stop(cli, "--connect", f"localhost:{port}", "--break", place)
        assert (stop["reason"], stop["frame"]["function"]) == ("breakpoint", "count")
        counter = int(print_value(cli, "counter"))
        assert counter > seen  # it ran on meanwhile
        seen = counter
        told = answer_data(cli("--json", "status", check=0))
        assert (told["pid"], told["adapter"]) == (process.pid, "debugpy")
        assert f"pid {process.pid} goes on" in cli("detach", check=0).out
        assert process.poll() is None


@python
def test_a_server_stops_its_program_when_asked_to(cli, served):
    process, port = served
    stop = answer_data(cli("--json", "attach", "--connect", str(port), "--pause", check=0))
    assert (stop["state"], stop["reason"]) == ("stopped", "pause")
    assert stop["session"] == f"localhost-{port}"
    cli("set", "running", "False", check=0)
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "exit"
    assert process.wait(60) == 0


@lldb
def test_a_server_of_lldbs_is_attached_to_and_its_program_goes_on(cli, require_tool, wait_until):
    server = require_tool("lldb-server")
    port = find_free_port()
    words = (server, "gdbserver", f"127.0.0.1:{port}", "--", resolve_program("endless.c"))
    with run_program(*words) as process:
        wait_until(lambda: _listens(port))
        place = marked_location("endless.c", "count")
        stop = attach_to_stop(cli, "--connect", f"127.0.0.1:{port}", "--break", place)
        assert stop["frame"]["function"] == "count"
        assert int(print_value(cli, "running")) == 1
        pid = answer_data(cli("--json", "status", check=0))["pid"]
        assert pid not in {None, process.pid}
        cli("detach", check=0)
        try:
            assert process_state(pid) == "R"
        finally:
            os.kill(pid, 9)


def _listens(port: int) -> bool:
    # Not by a connection: this server takes one client only.
    with open("/proc/net/tcp", encoding="ascii") as table:
        return any(f":{port:04X} 00000000:0000 0A" in line for line in table)


def test_a_port_that_nobody_listens_at_is_told_without_a_wait(cli, runtime_dir):
    # A wait for an answer would outlast the command's own bound in `cli`.
    write_configuration(
        runtime_dir / "config.toml", adapter="debugpy", arguments=(), dap_initialize_secs=600
    )
    port = find_free_port()
    for adapter in ((), ("--adapter", "debugpy"), ("--adapter", "lldb-dap")):
        words = ("attach", "--connect", f"localhost:{port}", *adapter)
        says = f"nothing listens at localhost:{port}"
        check_refused(cli, *words, exit=1, code="NOT_FOUND", says=says, hint="debugpy --listen")


def test_what_listens_and_is_no_debug_server_is_named_before_it_is_spoken_to(cli):
    heard: list[bytes] = []
    with serve_clients(lambda client: heard.append(client.recv(1))) as port:
        words = ("attach", "--connect", f"localhost:{port}")
        says = f"process {os.getpid()} ("
        check_refused(cli, *words, exit=1, code="NOT_SUPPORTED", says=says, hint="--adapter NAME")
    assert heard == []


def _greets(client: socket.socket) -> None:
    client.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")


def _refuses(client: socket.socket) -> None:
    client.recv(1 << 16)
    client.sendall(b"HTTP/1.0 400 Bad request\r\nContent-Length: 3\r\n\r\nno\n")
    client.close()


@python
@pytest.mark.parametrize(
    ("talk", "code"),
    [
        pytest.param(_greets, "TIMEOUT", id="greets"),
        pytest.param(_refuses, "ADAPTER_FAILED", id="refuses"),
        pytest.param(lambda _: None, "TIMEOUT", id="says-nothing"),
        pytest.param(lambda client: client.close(), "ADAPTER_FAILED", id="closes"),
    ],
)
def test_what_does_not_speak_as_a_debug_server_is_told_in_time(cli, runtime_dir, talk, code):
    write_configuration(
        runtime_dir / "config.toml", adapter="debugpy", arguments=(), dap_initialize_secs=1.5
    )
    with serve_clients(talk) as port:
        words = ("attach", "--connect", f"localhost:{port}", "--adapter", "debugpy")
        says = f"the server at localhost:{port} is not a debug server for debugpy"
        check_refused(cli, *words, exit=1, code=code, says=says, hint="debugpy --listen")
        assert answer_data(cli("--json", "sessions", check=0))["sessions"] == []


@lldb
def test_what_does_not_speak_as_gdbs_server_is_told(cli):
    with serve_clients(lambda client: client.close()) as port:
        words = ("attach", "--connect", f"localhost:{port}", "--adapter", "lldb-dap")
        says = "is not a debug server for lldb-dap"
        check_refused(cli, *words, exit=1, code="ADAPTER_FAILED", says=says, hint="gdbserver")
        assert answer_data(cli("--json", "sessions", check=0))["sessions"] == []


def test_a_place_that_is_none_is_refused(cli):
    usage = {"exit": 2, "code": "USAGE", "hint": "--connect"}
    check_refused(cli, "attach", "--connect", "localhost", **usage, says="not HOST:PORT")
    check_refused(cli, "attach", "--connect", "localhost:70000", **usage, says="not HOST:PORT")
    check_refused(
        cli, "attach", "--connect", "192.0.2.1:5678", **usage, says="cannot be read from here"
    )
    missing = {"exit": 1, "code": "NOT_FOUND", "hint": "--connect"}
    check_refused(cli, "attach", "--connect", "nosuch.invalid:1", **missing, says="no such host")
