"""A fault of LLDB's own call is not handed to the program that was paused, and the next one is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from debugger.backends.lldb.lldb_faults import WithheldFaults
from debugger.model.program import Stopped, StopReason

PAUSED = Stopped(StopReason.PAUSE, "exception", 1)
FAULTED = Stopped(StopReason.SIGNAL, "exception", 1, signal="SIGSEGV")


class RecordedCommands:
    def __init__(self) -> None:
        self.stop_checks: list[Callable[[Stopped], Awaitable[None]]] = []
        self.commands: list[str] = []

    async def run_raw(self, command: str, frame: None) -> str:
        del frame
        self.commands.append(command)
        return ""

    async def stop(self, stop: Stopped) -> None:
        if stop.reason is StopReason.PAUSE:
            await WithheldFaults.begin(self)
        for check in tuple(self.stop_checks):
            await check(stop)


async def test_faults_are_withheld_from_a_pause_to_the_next_stop_of_another_kind() -> None:
    lldb = RecordedCommands()
    await lldb.stop(PAUSED)
    await lldb.stop(PAUSED)
    assert lldb.commands == ["process handle --pass false SIGSEGV SIGBUS SIGILL"]
    await lldb.stop(FAULTED)
    assert lldb.commands[1:] == ["process handle --pass true SIGSEGV SIGBUS SIGILL"]
    assert lldb.stop_checks == []
    await lldb.stop(FAULTED)
    assert len(lldb.commands) == 2
