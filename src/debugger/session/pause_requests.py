"""Counts the pauses that were requested of a program, and finds the stops that nobody awaits.

A pause is a signal or a request that the program meets later: on a busy machine, or in code that
the debugger cannot stop, seconds later. Until then the one who requested it may have given up
(`withdraw`), or may have requested it again; the program then stops a second time once it runs on.
"""

from __future__ import annotations

from debugger.model.program import Stopped, StopReason

# Debuggers stop a program by these, and report the second of two as a signal that came to it.
_PAUSING_SIGNALS = frozenset({"SIGSTOP", "SIGINT"})


class PauseRequests:
    """The pauses of one session that its program has not stopped for yet."""

    def __init__(self) -> None:
        self._count = 0
        # Nobody awaits them any more.
        self._is_withdrawn = False
        # Stops that may follow the one that answered all requests.
        self._repeated = 0

    @property
    def is_pending(self) -> bool:
        """Whether a stop was requested and has not come."""
        return self._count > 0

    def add(self) -> None:
        """Record a request, which somebody awaits."""
        self._count, self._is_withdrawn = self._count + 1, False

    def withdraw(self) -> None:
        """Record that nobody awaits the stop any more."""
        self._is_withdrawn = self._count > 0

    def is_unexpected(self, stop: Stopped) -> bool:
        """Return whether a stop is a pause that was withdrawn, or that repeats the last one."""
        if self._count:
            return self._is_withdrawn and stop.reason is StopReason.PAUSE
        is_signal = stop.reason is StopReason.SIGNAL and stop.signal in _PAUSING_SIGNALS
        return self._repeated > 0 and (stop.reason is StopReason.PAUSE or is_signal)

    def pass_stop(self) -> None:
        """Record that the program runs on from a stop that nobody awaits."""
        # Those that were requested after it had begun may still come.
        self._repeated = max(0, (self._count or self._repeated) - 1)
        self._count, self._is_withdrawn = 0, False

    def end_with(self, stop: Stopped) -> None:
        """Record the stop that the program makes for all requests, or for another reason."""
        is_pause = stop.reason is StopReason.PAUSE
        self._repeated = max(0, self._count - 1) if is_pause else 0
        self._count, self._is_withdrawn = 0, False

    def forget(self) -> None:
        """Forget all requests: the program is run anew."""
        self._count, self._repeated, self._is_withdrawn = 0, 0, False
