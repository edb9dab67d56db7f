"""Defines what the parts of the backend may request of their one program."""

from __future__ import annotations

from typing import Protocol

from debugger.backends.base import BackendEvent
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.symbols.dwarf.unwinding import LoadedBinaries


class TargetAccess(Protocol):
    """Gives access to the program, its binaries, and its paused threads."""

    @property
    def engine(self) -> Engine:
        """The engine inside the program."""

    @property
    def modules(self) -> LoadedBinaries:
        """The binaries that are loaded now, by run-time address."""

    def paused_thread(self, thread: int) -> ThreadPaused:
        """Return the report of a paused thread.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""
