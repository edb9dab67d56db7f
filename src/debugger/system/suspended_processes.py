"""Suspends processes by SIGSTOP, and lets them go on one after another."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from types import TracebackType
from typing import Self


class SuspendedProcesses:
    """Processes that are suspended while this context lasts: its end lets all of them go on.

    A process gets no processor meanwhile, and sees nothing of it but the time. For processes that
    end with the debugger: whoever ends it in between leaves none suspended.
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
