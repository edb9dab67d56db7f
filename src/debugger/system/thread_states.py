"""Reads what a process's threads do from /proc, without stopping them."""

from __future__ import annotations

import os
import platform
import re
import signal
import struct
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from debugger.model.thread_waits import SystemCall, system_call

_STATE, _USER, _SYSTEM = 0, 11, 12  # the fields of proc_pid_stat(5), counted from the state
_THREADS_MAX = 2000
# The signals that debuggers work with, as proc_pid_status(5) has them: bit 0 is signal 1.
_DEBUGGERS = 1 << signal.SIGTRAP - 1 | 1 << signal.SIGSTOP - 1


class ThreadState(Struct, frozen=True):
    """One thread: its name, its state letter, its processor time in seconds."""

    number: int
    name: str
    state: str
    cpu_s: float
    call: SystemCall | None = None


def read_threads(pid: int) -> dict[int, ThreadState]:
    """Read the state of a process's threads, the first one first; nothing without /proc."""
    try:
        numbers = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return {}
    found = (_read_thread(pid, number) for number in numbers[:_THREADS_MAX])
    return {one.number: one for one in found if one is not None}


def _read_thread(pid: int, number: int) -> ThreadState | None:
    folder = Path(f"/proc/{pid}/task/{number}")
    try:
        before, _, rest = (folder / "stat").read_text("utf-8", "replace").rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    ticks = int(fields[_USER]) + int(fields[_SYSTEM])
    try:
        call = system_call((folder / "syscall").read_text(), platform.machine())
    except OSError:
        call = None
    return ThreadState(
        number=number,
        name=before.partition("(")[2],
        state=fields[_STATE],
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        call=call,
    )


def is_suspended(pid: int) -> bool:
    """Tell whether a stop signal has suspended a process (SIGSTOP, SIGTSTP), not a debugger."""
    first = next(iter(read_threads(pid).values()), None)
    return first is not None and first.state == "T"


def queued_s(pid: int) -> float:
    """Return the longest time that one of a process's threads has waited for a processor.

    The time is the second number of /proc/PID/task/TID/schedstat, in nanoseconds; 0 without it.
    """
    found = [0.0]
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            found.append(int(file.read_text().split()[1]) / 1e9)
        except (OSError, ValueError, IndexError):
            continue
    return max(found)


def has_pending(pid: int) -> bool:
    """Tell whether a thread that a debugger has stopped has another pending stop or trap."""
    for number in read_threads(pid):
        try:
            text = Path(f"/proc/{pid}/task/{number}/status").read_text("utf-8", "replace")
        except OSError:
            continue
        masks = re.findall(r"^S(?:ig|hd)Pnd:\s*([0-9a-f]+)$", text, re.MULTILINE)
        if any(int(one, 16) & _DEBUGGERS for one in masks):
            return True
    return False


def go_on(pid: int) -> None:
    """Continue a process that a debugger's stop has reached late, or has yet to reach.

    SIGCONT also discards pending stop signals (signal(7)).
    """
    with suppress(OSError):  # it has gone
        text = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
        if re.search(r"^State:\s*T", text, re.MULTILINE) or has_pending(pid):
            os.kill(pid, signal.SIGCONT)


def words_at(pid: int, address: int, count: int) -> tuple[int, ...]:
    """Read 32-bit numbers of a process's memory; nothing if they cannot be read."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
            file.seek(address)
            data = file.read(4 * count)
    except (OSError, ValueError, OverflowError):
        return ()
    return struct.unpack(f"={len(data) // 4}i", data[: len(data) // 4 * 4])
