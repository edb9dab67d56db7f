"""A program is held at its first instruction until it is released."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from debugger.system import entry_hold
from debugger.system.exit_watch import ExitWatch

pytestmark = pytest.mark.skipif(not entry_hold.is_supported(), reason="not on this machine")
SECONDS = 20.0
# A process that waits for a line, and then becomes another program.
BECOMES = "import os, sys; sys.stdin.readline(); os.execv('/bin/echo', ['echo', 'begun'])"


def test_a_held_program_begins_when_it_is_released() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BECOMES], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        entry_hold.trace_exec(process.pid)
        process.stdin.write(b"go\n")
        process.stdin.flush()
        held = entry_hold.hold_after_exec(process.pid)
        assert held is not None
        readable, _, _ = select.select([process.stdout], [], [], 0.3)
        assert not readable
        entry_hold.release_running(process.pid, *held)
        assert process.stdout.read() == b"begun\n"
        assert process.wait(SECONDS) == 0


def test_only_a_held_place_is_written_to() -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        start = int(Path(f"/proc/{process.pid}/maps").read_text().partition("-")[0], 16)
        assert not entry_hold.release_entry(process.pid, start, b"\0\0")
        assert not entry_hold.release_entry(process.pid, start, b"\0" * 40)


def test_a_process_that_ends_instead_of_an_exec_is_not_held() -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        entry_hold.trace_exec(process.pid)
        process.kill()
        assert entry_hold.hold_after_exec(process.pid) is None


def test_the_status_of_a_process_is_known_before_and_after_its_parent_waits() -> None:
    pid = os.fork()
    if not pid:
        os._exit(3)
    watch = ExitWatch(pid)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert watch.read_status() == 3
    os.waitpid(pid, 0)
    # Linux before 6.15 does not tell.
    assert watch.read_status() in {3, None}
    watch.close()
    assert watch.read_status() is None
