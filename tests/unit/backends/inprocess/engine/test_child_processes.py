"""The exit status of a process that is not our child."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from debugger.backends.inprocess.engine import child_processes
from debugger.backends.inprocess.engine.engine import ReturnTrampolines
from event_loop import begin_task

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is for Linux")


@pytest.mark.parametrize(
    ("ends", "known"), [("exit 7", (7, None)), ("kill -11 $$", (None, signal.SIGSEGV))]
)
async def test_the_end_of_a_process_is_its_status_or_its_signal(ends, known):
    child = subprocess.Popen(["sh", "-c", f"read line; {ends}"], stdin=subprocess.PIPE)  # noqa: ASYNC220
    process = child_processes.ForeignProcess(child.pid)
    waiting = asyncio.ensure_future(process.wait_for_end())
    assert child.stdin is not None
    child.stdin.close()
    async with asyncio.timeout(60):
        assert await waiting == known
    child.wait()
    process.close()


async def test_who_waits_for_an_end_may_give_it_up_in_any_order():
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # noqa: ASYNC220
    process = child_processes.ForeignProcess(child.pid)
    waiting = await begin_task(process.wait_for_end())
    waiting.cancel()
    process.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    process.close()
    child.communicate()


def test_a_process_without_us_that_lives_has_become_another():
    assert child_processes.has_become_another(os.getpid())
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert not child_processes.has_become_another(gone.pid)


def test_what_stands_for_callers_is_found_by_where_its_own_address_lies():
    returns = ReturnTrampolines(None)
    parents = ReturnTrampolines(None)
    returns.set_trampolines(0x10000, 0x1000)
    parents.set_trampolines(0x80000, 0x2000)
    returns.inherit_from(parents)
    words = [0x10008, 0x11000, 0x81FF8, 7]
    stack = b"".join(one.to_bytes(8, "little") for one in words)
    assert returns.find_trampolines(0x7000, stack) == {0: 0x11008, 16: 0x83FF8}
    # From an odd address the words are those that are aligned.
    assert returns.find_trampolines(0x7003, b"xxxxx" + stack) == {5: 0x11008, 21: 0x83FF8}


def test_code_that_was_changed_is_found_and_put_back_as_its_file_has_it():
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        at = code_of(child.pid, "libc.so")
        assert child_processes.patched_pages(child.pid) == []
        child_processes.write_process(child.pid, [(at + 0x123, b"\xcc\xe9\xcc")])
        ((page, content),) = child_processes.patched_pages(child.pid)
        assert page == at
        assert content[0x123:0x126] != b"\xcc\xe9\xcc"
        child_processes.restore_code(child.pid, [])
        assert child_processes.patched_pages(child.pid) == []
        # What differs in much is the program's own doing.
        child_processes.write_process(child.pid, [(at, b"\xcc" * 4096)])
        assert child_processes.patched_pages(child.pid) == []
    finally:
        child.kill()
        child.communicate()


def code_of(pid: int, name: str) -> int:
    """Find where a library's code begins, once the process has loaded all and waits for input."""
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        if not Path(f"/proc/{pid}/syscall").read_text().startswith("0 0x0 "):
            continue
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            if name in line and " r-xp " in line:
                return int(line.split("-")[0], 16)
    raise AssertionError(f"{pid} has no {name}")
