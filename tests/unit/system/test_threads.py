"""A process goes on that a debugger's stop has reached too late."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress

import debuggees
from debugger.system import process_info


def test_a_process_that_was_stopped_goes_on() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        process_info.go_on(process.pid)
        out, _ = process.communicate(b"x", timeout=60)
    assert (process.returncode, out) == (0, b"x")


def test_a_process_goes_on_of_which_one_thread_has_taken_the_stop_alone(
    wait_until: Callable[..., None],
) -> None:
    program = debuggees.build_debuggee("half_stopped.c")
    with subprocess.Popen([program], stdout=subprocess.PIPE, process_group=0) as process:

        def states() -> list[str]:
            return [one.state for one in process_info.read_threads(process.pid).values()]

        try:
            wait_until(lambda: states() == ["D", "T"], what="one thread to stop alone")
            process_info.go_on(process.pid)
            out, _ = process.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out) == (0, b"on\n")


def test_one_that_has_gone_is_left_alone() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    process_info.go_on(process.pid)
