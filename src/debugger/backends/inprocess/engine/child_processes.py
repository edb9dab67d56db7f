"""Handles forked child processes: releases or kills them, and gets their exit status.

It waits in the memory that it has of its parent, for a word (agent/65_children.js).
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from debugger.backends.inprocess.engine.code_cleaning import patched_pages
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.fault_address import parse_memory_map

Ending = tuple[int | None, int | None]

# The words that a process waits for: to go on with us inside, or without; or to wait for longer.
FOLLOWED, FREE, WAIT = 1, 2, 3

# pidfd_info (include/uapi/linux/pidfd.h), which tells of the end since Linux 6.15.
_GET_INFO = 0xC040FF0B
_HAS_EXIT = 1 << 3
_INFO = struct.Struct("<Q52xi")
# The last field of proc_pid_stat(5), which is true of a zombie alone.
_STAT_CODE = -1


def write_process(pid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
    """Write into a process; what is not mapped there any more is left out.

    Raises:
        OSError: it has gone, or is not ours to write to.
    """
    memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
    try:
        for address, data in pieces:
            with suppress(OSError):
                os.pwrite(memory, data, address)
    finally:
        os.close(memory)


def restore_code(pid: int, ours: Iterable[tuple[int, bytes]]) -> None:
    """Put the code back that a child has of its parent: `ours`, and what Frida has changed.

    Raises:
        OSError: it has gone, or is not ours to write to.
    """
    write_process(pid, [*ours, *patched_pages(pid)])


def let_go(pid: int, at: int, word: int, ours: Iterable[tuple[int, bytes]] = ()) -> None:
    """Tell a child that waits for a word, which gets its own code back if it is to be free."""
    with suppress(OSError):  # it has gone
        if word == FREE:
            restore_code(pid, ours)
        write_process(pid, [(at, struct.pack("<i", word))])


def mapped_file(pid: int, address: int) -> str | None:
    """Return the file that a process has mapped at an address, None where there is none."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    mapped = (one.name for one in parse_memory_map(lines) if one.start <= address < one.end)
    return next((name for name in mapped if name.startswith("/")), None)


def has_become_another(pid: int) -> bool:
    """Tell whether a process that we were inside lives, without us: an exec has done that.

    What is ending has nothing mapped any more.
    """
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False
    return bool(maps) and "frida-agent" not in maps


def not_entered(pid: int, error: OSError | DebuggerError) -> DebuggerError:
    """Say that a child runs without us, and why."""
    said = error.message if isinstance(error, DebuggerError) else error.strerror
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"the child process {pid} cannot be entered, and runs free: {said}",
        hint="debugger sessions lists those that are debugged",
    )


class ForeignProcess:
    """A process that is no child of ours, by a descriptor: its number may become another's."""

    def __init__(self, pid: int) -> None:
        """Take hold of it.

        Raises:
            OSError: there is none of this number.
        """
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    def kill_process(self) -> None:
        """Kill it, if it lives."""
        with suppress(OSError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    async def wait_for_end(self) -> Ending:
        """Wait for its end; return its status or its signal, neither where nobody can know."""
        if self.is_closed():
            return None, None
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._descriptor, over.set)
        try:
            await over.wait()
        finally:
            if self._descriptor >= 0:
                loop.remove_reader(self._descriptor)
        code = _of_zombie(self.pid)
        if code is None:  # its parent was faster
            code = self._of_reaped()
        if code is None:
            return None, None
        number = code & 0x7F
        return (None, number) if number else (code >> 8 & 0xFF, None)

    def _of_reaped(self) -> int | None:
        told = bytearray(_INFO.pack(_HAS_EXIT, 0))
        try:
            fcntl.ioctl(self._descriptor, _GET_INFO, told)
        except OSError:  # an older kernel
            return None
        mask, code = _INFO.unpack(told)
        return int(code) if mask & _HAS_EXIT else None

    def is_closed(self) -> bool:
        """Tell whether it was let go of."""
        return self._descriptor < 0

    def close(self) -> None:
        """Let go of the descriptor."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


def _of_zombie(pid: int) -> int | None:
    try:
        words = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return int(words[_STAT_CODE]) if words[0] == "Z" else None
