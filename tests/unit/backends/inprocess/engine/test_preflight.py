"""Programs that injection would kill are refused, with a reason and a next command."""

from __future__ import annotations

import os
import platform
import signal
import struct
import sys
import threading
from pathlib import Path

import pytest

from debugger.backends.inprocess.engine import preflight
from debugger.errors import DebuggerError, ErrorCode

PROGRAM_HEADERS = 64


def elf(*, machine: int = 62, width: int = 2, kinds: tuple[int, ...] = (3, 1)) -> bytes:
    head = bytearray(b"\x7fELF" + bytes([width, 1, 1]) + bytes(57))
    struct.pack_into("<HH", head, 16, 3, machine)
    struct.pack_into("<Q", head, 32, PROGRAM_HEADERS)
    struct.pack_into("<HH", head, 54, 56, len(kinds))
    return bytes(head) + b"".join(struct.pack("<I", kind) + bytes(52) for kind in kinds)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"#!/bin/sh\n", "not an ELF program"),
        (b"", "not an ELF program"),
        (elf(machine=183), "not for x86-64"),
        (elf(width=1), "not for x86-64"),
        (elf(kinds=(1, 1)), "linked statically"),
    ],
)
def test_a_file_that_cannot_be_entered_is_refused_with_a_hint(tmp_path: Path, content, says):
    path = tmp_path / "program"
    path.write_bytes(content)
    with pytest.raises(DebuggerError, match=says) as refused:
        preflight.check_program(str(path))
    assert refused.value.code is ErrorCode.NOT_SUPPORTED
    assert "debugger start" in refused.value.hint


def test_a_file_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(DebuggerError, match="cannot be read") as refused:
        preflight.check_program(str(tmp_path / "none"))
    assert refused.value.code is ErrorCode.LAUNCH_FAILED


def test_a_dynamic_program_may_be_entered(tmp_path: Path):
    path = tmp_path / "program"
    path.write_bytes(elf())
    preflight.check_program(str(path))


@pytest.mark.skipif(platform.system() != "Linux", reason="reads /proc")
def test_a_process_that_is_not_there_is_refused():
    with pytest.raises(DebuggerError) as refused:
        preflight.check_process(2**22 + 1)
    assert refused.value.code is ErrorCode.NOT_FOUND


@pytest.mark.skipif(platform.system() != "Linux", reason="reads /proc")
def test_the_thread_that_blocks_the_trap_is_named_and_no_other():
    thread = threading.get_native_id()
    before = preflight.blocking_threads(os.getpid())
    assert thread not in before
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTRAP})
    try:
        assert thread in preflight.blocking_threads(os.getpid())
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTRAP})


def test_another_machine_is_refused(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(DebuggerError, match="aarch64"):
        preflight.check_machine()


@pytest.mark.skipif(sys.platform != "linux", reason="is for Linux")
def test_a_kernel_thread_is_refused_in_words():
    if not Path("/proc/2/stat").exists() or "kthreadd" not in Path("/proc/2/stat").read_text():
        pytest.skip("no kernel threads are to be seen here")
    with pytest.raises(DebuggerError) as refused:
        preflight.check_process(2)
    assert refused.value.code in {ErrorCode.NOT_SUPPORTED, ErrorCode.DENIED}


@pytest.mark.parametrize(
    ("status", "says", "hint"),
    [
        ({"State": "T (stopped)"}, "stopped by a signal", "kill -CONT 7"),
        ({"State": "S (sleeping)", "Seccomp": "1"}, "only read, write and exit", "--adapter gdb"),
    ],
)
def test_a_process_that_would_be_woken_or_killed_is_refused(status, says, hint):
    with pytest.raises(DebuggerError, match=says) as refused:
        preflight.check_state(7, status)
    assert hint in (refused.value.hint or "")
    preflight.check_state(7, {"State": "R (running)", "Seccomp": "2"})
