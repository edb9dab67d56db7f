"""Suspends processes by SIGSTOP, and lets them go on one after another."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from debugger.system.process_info import ThreadState, read_threads, status_of

# Calls that go on after SIGCONT as if nothing had been; epoll_wait, semop and others end with EINTR
# instead, signal(7).
_RESTARTED = re.compile(
    r"accept4?|(?:clock_)?nanosleep|connect|fcntl|flock|futex|p?poll|p?select6?|pread64|pwrite64"
    r"|pause|(?:read|write)v?|recv(?:from|msg)|rt_sigsuspend|send(?:msg|to)|wait4|waitid"
)
_WAITS = {"wait4": 2, "waitid": 3}  # where the options stand
_STOPS_TOO = 2 | 8  # WUNTRACED, or WSTOPPED of waitid; WCONTINUED
_ASLEEP = frozenset("SD")

ReadThreads = Callable[[int], Mapping[int, ThreadState]]
ReadStatus = Callable[[int], Mapping[str, str]]


def read_status(pid: int) -> Mapping[str, str]:
    """Read /proc/PID/status; nothing where there is none."""
    try:
        return status_of(Path(f"/proc/{pid}/status").read_text("utf-8", "replace"))
    except OSError:
        return {}


def find_suspendable(
    threads: Mapping[int, Mapping[int, ThreadState]],
    read_status: ReadStatus = read_status,
    read_threads: ReadThreads = read_threads,
) -> list[int]:
    """Return those of some processes whose program cannot notice a suspension, beside the time.

    SIGCONT runs a handler, or ends a `sigwait` for it; so does SIGCHLD in the parent, whose waits
    may ask for stops, too; another tracer sees the SIGSTOP; some calls end with EINTR.

    Args:
        threads: Of each process, by its pid.
        read_status: Reads a process's state; each is read once.
        read_threads: Reads the threads of a parent.
    """
    parents: dict[int, bool] = {}

    def is_indifferent(parent: int) -> bool:
        if parent not in parents:
            waits = map(_waits_for_stops, read_threads(parent).values())
            parents[parent] = not (_receives(read_status(parent), signal.SIGCHLD) or any(waits))
        return parents[parent]

    def is_suspendable(pid: int) -> bool:
        own = read_status(pid)
        return (
            _read_number(own, "TracerPid", 10) == 0
            and not _receives(own, signal.SIGCONT)
            and all(map(_goes_on_unseen, threads[pid].values()))
            and is_indifferent(_read_number(own, "PPid", 10) or 0)
        )

    return [pid for pid in threads if is_suspendable(pid)]


def _read_number(status: Mapping[str, str], field: str, base: int) -> int | None:
    try:
        return int(status[field], base)
    except (KeyError, ValueError):
        return None


def _receives(status: Mapping[str, str], number: signal.Signals) -> bool:
    """Return whether a process has a handler for a signal, or blocks it to wait for it."""
    masks = [_read_number(status, field, 16) for field in ("SigCgt", "SigBlk")]
    return any(mask is None or mask >> (number - 1) & 1 for mask in masks)


def _goes_on_unseen(thread: ThreadState) -> bool:
    if thread.state not in _ASLEEP:
        return True
    return thread.call is not None and _RESTARTED.fullmatch(thread.call.name) is not None


def _waits_for_stops(thread: ThreadState) -> bool:
    call = thread.call
    if call is None or call.name not in _WAITS:
        return False
    options = call.arguments[_WAITS[call.name] :][:1]
    return not options or bool(options[0] & _STOPS_TOO)


class SuspendedProcesses:
    """Processes that are suspended while this context lasts: its end lets all of them go on.

    For processes that `find_suspendable` returns, and that end with the debugger: whoever ends it
    in between leaves none suspended.
    """

    def __init__(self, pids: Iterable[int]) -> None:
        self._requested = tuple(pids)
        self._suspended: list[int] = []

    def __enter__(self) -> Self:
        self._suspended = [one for one in self._requested if _send(one, signal.SIGSTOP)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._suspended:
            self.resume(self._suspended[0])

    def __contains__(self, pid: int) -> bool:
        return pid in self._suspended

    def resume(self, pid: int) -> None:
        """Let a process go on."""
        self._suspended.remove(pid)
        _send(pid, signal.SIGCONT)


def _send(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):  # it has ended, or is another user's
        return False
    return True
