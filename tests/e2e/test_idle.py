"""A program that waits for input, or for requests, is reported at once, with what to do."""

from __future__ import annotations

import threading
import urllib.request

import pytest

from cli_commands import Cli, answer_data, resolve_program

SERVER = resolve_program("server.py")


@pytest.mark.adapter("lldb-dap")
def test_a_program_that_reads_its_input_ends_the_wait_and_the_answer_says_how_to_go_on(
    cli: Cli,
) -> None:
    answer = cli("start", resolve_program("stdin.c"), check=3)
    assert answer.out.startswith("running: it waits for input (read of stdin by stdin, pid ")
    assert "debugger input TEXT" in answer.out
    cli("input", "hello", check=0)
    waiting = answer_data(cli("--json", "await", check=3))["waiting"]
    assert (waiting["kind"], waiting["call"]) == ("input", "read")
    cli("input", "--eof", check=0)
    assert "1 lines" in cli("await", check=0).out


@pytest.mark.adapter("debugpy")
def test_a_server_without_requests_ends_the_wait_but_an_await_gets_the_next_request(
    cli: Cli,
) -> None:
    # A page of another test may have asked at this port, and may ask again.
    asked = "do_GET if self.path == '/asked'"
    idle = answer_data(cli("--json", "start", SERVER, "--break", asked, check=3))
    assert idle["waiting"]["kind"] == "connections"
    (port,) = idle["waiting"]["ports"]
    url = f"http://127.0.0.1:{port}/asked"
    asking = threading.Thread(target=lambda: urllib.request.urlopen(url, timeout=60).read())
    asking.start()
    stop = answer_data(cli("--json", "await", check=0))
    assert stop["frame"]["function"] == "do_GET"
    assert answer_data(cli("--json", "continue", check=3))["waiting"]["ports"] == [port]
    asking.join()
