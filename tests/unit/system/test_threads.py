"""A process goes on that a debugger's stop has reached too late."""

from __future__ import annotations

import os
import signal
import subprocess

from debugger.system import process_info


def test_a_process_that_was_stopped_goes_on() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        process_info.go_on(process.pid)
        out, _ = process.communicate(b"x", timeout=10)
    assert (process.returncode, out) == (0, b"x")


def test_one_that_has_gone_is_left_alone() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    process_info.go_on(process.pid)
