"""Cleans the code of forked child processes, releases or kills them, and reads their end."""

from __future__ import annotations

import asyncio
import fcntl
import mmap
import os
import signal
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.signals import parse_memory_map

_PAGE: Final = mmap.PAGESIZE
_WORD: Final = 8
# Of an entry of pagemap (Documentation/admin-guide/mm/pagemap.rst): in memory, and of a file still.
_PRESENT, _OF_FILE = 1 << 63, 1 << 61
# A swapped page was written to as well: pages of files are dropped and read again.
_SWAPPED = 1 << 62
# Hooks are few bytes; a page that differs in more is relocated, and the program's own.
_CHANGED_MAX: Final = 512
_FIELDS: Final = 6


def patched_pages(pid: int) -> list[tuple[int, bytes]]:
    """Find the pages of code that were written to, each with its file's own bytes.

    Raises:
        OSError: the process has gone, or may not be read.
    """
    # A forked child has its parent's patched code, and Frida does not know which bytes it
    # changed there (its hooks of fork, execve, _exit, sigaction). So every executable page
    # that is no longer the file's own (a private copy) is compared with the file.
    found: list[tuple[int, bytes]] = []
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    pagemap = os.open(f"/proc/{pid}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for low, high, offset, path in _code_mappings(pid):
            written = _written_pages(pagemap, low, high)
            if written:
                found += _differing_pages(memory, written, low - offset, path)
    finally:
        os.close(memory)
        os.close(pagemap)
    return found


def _code_mappings(pid: int) -> Iterator[tuple[int, int, int, str]]:
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    for line in maps.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < _FIELDS or "x" not in fields[1] or not fields[5].startswith("/"):
            continue
        # Frida's agent is a memfd; a deleted file cannot be read again by its name.
        if not fields[5].startswith("/memfd:") and not fields[5].endswith(" (deleted)"):
            low, high = (int(one, 16) for one in fields[0].split("-"))
            yield low, high, int(fields[2], 16), fields[5]


def _written_pages(pagemap: int, low: int, high: int) -> list[int]:
    count = (high - low) // _PAGE
    # 8 bytes for each page. Without CAP_SYS_ADMIN the frame numbers are 0, but the flags are
    # there.
    entries = memoryview(os.pread(pagemap, count * _WORD, low // _PAGE * _WORD)).cast("Q")
    return [
        low + number * _PAGE
        for number, entry in enumerate(entries)
        if entry & _SWAPPED or (entry & _PRESENT and not entry & _OF_FILE)
    ]


def _differing_pages(
    memory: int, pages: list[int], bias: int, path: str
) -> Iterator[tuple[int, bytes]]:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        for page in pages:
            should, has = os.pread(file, _PAGE, page - bias), os.pread(memory, _PAGE, page)
            changed = sum(one != other for one, other in zip(should, has, strict=False))
            if len(should) == len(has) and 0 < changed <= _CHANGED_MAX:
                yield page, should
    finally:
        os.close(file)


Ending = tuple[int | None, int | None]

# The words that a waiting process reads: FOLLOWED, go on with the agent inside; FREE, go on
# without it; WAIT, wait for longer, as somebody is about to enter (agent/65_children.js,
# code/arrive.S).
FOLLOWED, FREE, WAIT = 1, 2, 3

# pidfd_info (include/uapi/linux/pidfd.h), which tells of the end since Linux 6.15.
_GET_INFO = 0xC040FF0B
_HAS_EXIT = 1 << 3
_INFO = struct.Struct("<Q52xi")
# The last field of proc_pid_stat(5), exit_code, which is set for a zombie alone.
_STAT_CODE = -1


def write_process(pid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
    """Write into a process; pieces that are not mapped there any more are skipped.

    Raises:
        OSError: the process has gone, or may not be written to.
    """
    memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
    try:
        for address, data in pieces:
            with suppress(OSError):
                os.pwrite(memory, data, address)
    finally:
        os.close(memory)


def restore_code(pid: int, ours: Iterable[tuple[int, bytes]]) -> None:
    """Restore the code that a child has from its parent: `ours`, and Frida's own changes.

    Raises:
        OSError: the process has gone, or may not be written to.
    """
    write_process(pid, [*ours, *patched_pages(pid)])


def let_go(pid: int, at: int, word: int, ours: Iterable[tuple[int, bytes]] = ()) -> None:
    """Send a word to a waiting child; with FREE its code is restored first."""
    with suppress(OSError):  # it has gone
        # Before the word: from then on the child runs, and could hit an int3 without a
        # handler.
        if word == FREE:
            restore_code(pid, ours)
        write_process(pid, [(at, struct.pack("<i", word))])


def mapped_file(pid: int, address: int) -> str | None:
    """Return the file that a process has mapped at an address, or None."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    mapped = (one.name for one in parse_memory_map(lines) if one.start <= address < one.end)
    return next((name for name in mapped if name.startswith("/")), None)


def has_become_another(pid: int) -> bool:
    """Return whether a process lives on without the agent that was in it, as after an exec.

    A process that is ending has nothing mapped any more.
    """
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False
    return bool(maps) and "frida-agent" not in maps


def not_entered(pid: int, error: OSError | DebuggerError) -> DebuggerError:
    """Build the error for a child that cannot be entered and runs without the agent."""
    text = error.message if isinstance(error, DebuggerError) else error.strerror
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"cannot inject into the child process {pid}, which runs without a debugger: {text}",
        hint="debugger sessions lists those that are debugged",
    )


class ForeignProcess:
    """Refers to a process that is no child of ours by a pidfd: its number may become another's."""

    def __init__(self, pid: int) -> None:
        """Open a pidfd for the process.

        Raises:
            OSError: there is no process of this number.
        """
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    def kill_process(self) -> None:
        """Kill the process, if it lives."""
        with suppress(OSError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    async def wait_for_end(self) -> Ending:
        """Wait for the end of the process; return its status or its signal, or neither."""
        if self.is_closed():
            return None, None
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        # A pidfd becomes readable when the process is a zombie. Its parent may reap it at any
        # time from then on, so the status is read from /proc first, and from the pidfd where
        # that is too late.
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
        # As waitpid(2) has it: the signal in the lower seven bits, bit 7 for a core, the
        # status above.
        number = code & 0x7F
        return (None, number) if number else (code >> 8 & 0xFF, None)

    def _of_reaped(self) -> int | None:
        info = bytearray(_INFO.pack(_HAS_EXIT, 0))
        try:
            fcntl.ioctl(self._descriptor, _GET_INFO, info)
        except OSError:  # an older kernel
            return None
        mask, code = _INFO.unpack(info)
        return int(code) if mask & _HAS_EXIT else None

    def is_closed(self) -> bool:
        """Return whether the descriptor was closed."""
        return self._descriptor < 0

    def close(self) -> None:
        """Close the descriptor."""
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
