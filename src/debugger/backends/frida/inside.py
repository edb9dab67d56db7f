"""Defines what the parts of the backend may request of their one program."""

from __future__ import annotations

from typing import Protocol

from debugger.backends.base import Event
from debugger.backends.frida.dwarf.unwind import Modules
from debugger.backends.frida.engine.engine import Engine
from debugger.backends.frida.engine.events import Paused


class Inside(Protocol):
    """The program, its binaries, and its threads that wait."""

    @property
    def engine(self) -> Engine:
        """The engine inside the program."""

    @property
    def modules(self) -> Modules:
        """The binaries that are loaded now, by run-time address."""

    def paused(self, thread: int) -> Paused:
        """Return what a thread that waits has told.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """

    def tell(self, event: Event) -> None:
        """Tell the session."""
