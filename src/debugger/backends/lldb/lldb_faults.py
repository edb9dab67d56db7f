"""Keeps the faults of LLDB's own calls from a program that it has paused.

lldb-dap 19.1.7 has a thread call `__cxa_current_exception_type` for each `stackTrace`. Where the
program was paused amid a dlopen, libstdc++ is loaded and not relocated yet, and the call faults.
LLDB restores the thread, and hands the fault to it when the program runs on: ranks of Open MPI,
which load dozens of libraries in `MPI_Init`, died of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from debugger.model.program import Stopped, StopReason

# The signals of a call that went wrong. LLDB still stops for them.
_FAULTS = "SIGSEGV SIGBUS SIGILL"


class FaultAccess(Protocol):
    """Gives access to LLDB's command line, and to what runs at each stop."""

    @property
    def stop_checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""

    async def run_raw(self, command: str, frame: None) -> str:
        """Run a command of LLDB's command line and return its output."""


class WithheldFaults:
    """Withholds faults from a paused program: up to its next stop of another kind.

    A fault of its own stops it there, and is handed on as ever. One that was on its way when it was
    paused comes again, as its instruction is executed again.
    """

    def __init__(self, lldb: FaultAccess) -> None:
        self._lldb = lldb

    @classmethod
    async def begin(cls, lldb: FaultAccess) -> None:
        """Withhold faults from the program, which was paused."""
        if any(isinstance(one, cls) for one in lldb.stop_checks):
            return
        await lldb.run_raw(f"process handle --pass false {_FAULTS}", None)
        # Each stop goes through the filter from here on; the first that is no pause ends that.
        lldb.stop_checks.append(cls(lldb))

    async def __call__(self, stop: Stopped) -> None:
        """Hand faults on again, at a stop that is no pause."""
        if stop.reason is StopReason.PAUSE:
            return
        self._lldb.stop_checks.remove(self)
        await self._lldb.run_raw(f"process handle --pass true {_FAULTS}", None)
