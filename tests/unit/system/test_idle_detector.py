"""Idle programs that wait for input, or for connections, are told from those that sleep or work."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from conftest import wait_until
from debugger.system.idle_detector import CONNECTIONS, INPUT, IdleDetector, IdleWait

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")

Start = Callable[[str], subprocess.Popen[bytes]]
SERVER = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], "
SERVER += "flush=True)"
BESIDE = "import threading, time; threading.Thread(target=lambda: {}, daemon=True).start(); "


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def run(code: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", f"print('ready', flush=True); {code}"]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(words, stdin=pipe, stdout=pipe))
        assert started[-1].stdout is not None
        assert started[-1].stdout.readline() == b"ready\n"
        return started[-1]

    yield run
    for one in started:
        one.kill()
        one.communicate()


def idle_wait(pid: int) -> IdleWait | None:
    """Check a process until it is in its last system call, and again after a second of quiet."""
    detector, found = IdleDetector(pid), []

    def check() -> bool:
        found.append(detector.update(time.monotonic()))
        return found[-1] is not None

    wait_until(check)
    return found[-1]


def stays_unknown(pid: int) -> bool:
    """Return whether checks, which a clock puts over nine seconds, know of no wait."""
    detector = IdleDetector(pid)
    return not any(detector.update(float(now)) for now in range(10))


def test_a_read_of_stdin_is_a_wait_for_input(start: Start) -> None:
    program = start("input()")
    found = idle_wait(program.pid)
    assert found is not None
    assert (found.kind, found.pid, found.call) == (INPUT, program.pid, "read")


def test_a_select_and_a_child_that_read_the_same_stdin_are_waits_for_input(start: Start) -> None:
    selects = idle_wait(start("import select; select.select([0], [], [])").pid)
    assert selects is not None
    assert selects.kind == INPUT
    parent = start("import subprocess; subprocess.run(['cat'])")
    found = idle_wait(parent.pid)
    assert found is not None
    assert (found.kind, found.program) == (INPUT, "cat")
    assert found.pid != parent.pid


@pytest.mark.parametrize("wait", ["s.accept()", "import select; select.select([s], [], [])"])
def test_a_server_without_requests_is_said_with_its_port(start: Start, wait: str) -> None:
    program = start(f"{SERVER}; {wait}")
    assert program.stdout is not None
    port = int(program.stdout.readline())
    found = idle_wait(program.pid)
    assert found is not None
    assert (found.kind, found.ports) == (CONNECTIONS, (port,))


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "import select; select.select([], [], [], 60)",
        BESIDE.format("time.sleep(60)") + "input()",  # what wakes by itself may come to a stop
        "import os; r, w = os.pipe(); os.read(r, 1)",
        BESIDE.format("[None for _ in iter(int, 1)]") + "input()",
    ],
    ids=["sleep", "select without descriptors", "a sleeper beside", "a pipe", "work beside"],
)
def test_a_program_that_sleeps_or_works_waits_for_nothing_that_is_said(
    start: Start, code: str
) -> None:
    program = start(code)
    assert stays_unknown(program.pid)
