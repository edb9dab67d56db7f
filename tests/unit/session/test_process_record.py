"""What is known of a session's process beside what its debugger reports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from debugger.backends.base import AttachTarget
from debugger.model.program import ExitedProgram, Stopped, StopReason
from debugger.session import process_record
from debugger.session.process_record import ProcessRecord
from debugger.system.process_info import look_at, read_exit_status

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
# Its parent traces it (PTRACE_TRACEME, <sys/ptrace.h>): it is stopped where `sleep` begins.
_TRACED = """
import ctypes, os
ctypes.CDLL(None).ptrace(0, 0, None, None)
os.execvp("sleep", ["sleep", "1000"])
"""


@on_linux
def test_a_traced_process_that_was_killed_is_known_until_its_parent_waits(
    wait_until: Callable[..., None],
) -> None:
    here = ProcessRecord(AttachTarget(1, cwd="/", env={}))
    elsewhere = ProcessRecord(AttachTarget(1, cwd="/", env={}, connect=("h1", 5678)))
    with subprocess.Popen([sys.executable, "-c", _TRACED]) as process:

        def is_stopped() -> bool:
            found = look_at(process.pid)
            return found is not None and found.state == "t"

        wait_until(is_stopped, what="its first stop")
        assert here.find_death(process.pid) is None
        os.kill(process.pid, signal.SIGKILL)  # Popen would take the stop for the end
        killed = ExitedProgram(signal="SIGKILL")
        wait_until(lambda: here.find_death(process.pid) == killed, what="its end")
        # The number is of a process of another machine.
        assert elsewhere.find_death(process.pid) is None
    assert here.find_death(process.pid) is None


@on_linux
def test_the_end_of_a_process_that_has_lost_its_debugger_is_none_of_its_own(
    wait_until: Callable[..., None],
) -> None:
    record = ProcessRecord(AttachTarget(1, cwd="/", env={}))
    with subprocess.Popen(["sleep", "1000"]) as process:
        process.kill()
        wait_until(lambda: read_exit_status(process.pid) == -9, what="its end")
        assert record.find_death(process.pid) is None


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGCONT"])
def test_a_launcher_ends_its_programs_by_signals_that_do_not_stop_them(name: str) -> None:
    stop = Stopped(StopReason.SIGNAL, "signal", 1, signal=name)
    held = ProcessRecord(AttachTarget(1, cwd="/", env={}, held_entry=(0x1000, b"\x90")))
    assert held.is_ended_by(stop)
    assert not ProcessRecord(AttachTarget(1, cwd="/", env={})).is_ended_by(stop)


@on_linux
def test_a_process_without_children_is_asked_again_once_a_process_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    newest = [os.getpid() + 1]

    def list_none(pid: int) -> dict[int, tuple[str, ...]]:
        read.append(pid)
        return {}

    monkeypatch.setattr(process_record, "_newest_process", lambda: newest[0])
    monkeypatch.setattr(process_record.process_info, "child_commands", list_none)
    record = ProcessRecord(AttachTarget(os.getpid(), cwd="/", env={}))
    for _ in range(3):
        assert record.list_children(os.getpid()) == {}
    assert len(read) == 1
    newest[0] += 1
    record.list_children(os.getpid())
    assert len(read) == 2
    newest[0] = 0  # the kernel does not say it
    record.list_children(os.getpid())
    record.list_children(os.getpid())
    assert len(read) == 4


@on_linux
def test_a_child_that_begins_after_a_stop_is_listed_at_the_next() -> None:
    record = ProcessRecord(AttachTarget(os.getpid(), cwd="/", env={}))
    before = record.list_children(os.getpid())
    with subprocess.Popen(["sleep", "1000"]) as child:
        assert child.pid in record.list_children(os.getpid())
        child.kill()
    assert child.pid not in before
    assert child.pid not in record.list_children(os.getpid())
