"""Reads by psutil which processes there are, on systems that have no /proc: macOS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import psutil
from msgspec import Struct

T = TypeVar("T")

# The letters of proc_pid_stat(5); whatever else psutil says is a process that lives.
_LETTERS = {
    psutil.STATUS_RUNNING: "R",
    psutil.STATUS_STOPPED: "T",
    psutil.STATUS_TRACING_STOP: "t",
    psutil.STATUS_ZOMBIE: "Z",
    psutil.STATUS_DEAD: "X",
}


class ProcessRow(Struct, frozen=True):
    """One process; what may not be read of it is empty, and its owner -1."""

    pid: int
    parent: int
    owner: int
    state: str
    name: str = ""
    exe: str = ""
    cwd: str = ""
    words: tuple[str, ...] = ()


class ListenerRow(Struct, frozen=True):
    """A TCP socket that listens, and the process that has it."""

    address: str
    port: int
    pid: int


def list_rows(pid: int | None = None) -> list[ProcessRow]:
    """Return all processes, or one; those that end meanwhile are left out."""
    return [row for row in map(_process_row, _psutil_processes(pid)) if row is not None]


def list_children(pid: int) -> list[ProcessRow]:
    """Return the processes that a process started."""
    found = _if_permitted(lambda: psutil.Process(pid).children())
    return [row for row in map(_process_row, found or ()) if row is not None]


def list_listeners() -> Iterator[ListenerRow]:
    """Yield the listening sockets of the processes that we may read: on macOS our own user's."""
    for process in psutil.process_iter():
        for one in _if_permitted(partial(process.net_connections, "tcp")) or ():
            if one.status == psutil.CONN_LISTEN:
                yield ListenerRow(one.laddr.ip, one.laddr.port, process.pid)


def _psutil_processes(pid: int | None) -> list[psutil.Process]:
    if pid is None:
        return list(psutil.process_iter())
    found = _if_permitted(lambda: psutil.Process(pid))
    return [] if found is None else [found]


def _process_row(process: psutil.Process) -> ProcessRow | None:
    try:
        with process.oneshot():
            return ProcessRow(
                pid=process.pid,
                parent=process.ppid(),
                owner=-1 if (uids := _if_permitted(process.uids)) is None else uids.effective,
                state=_LETTERS.get(process.status(), "S"),
                name=_if_permitted(process.name) or "",
                exe=_if_permitted(process.exe) or "",
                cwd=_if_permitted(process.cwd) or "",
                words=tuple(_if_permitted(process.cmdline) or ()),
            )
    except (psutil.Error, OSError):
        return None


def _if_permitted(read: Callable[[], T]) -> T | None:
    """Read something; None where that is forbidden, or gone with its process."""
    try:
        return read()
    except (psutil.Error, OSError):
        return None
