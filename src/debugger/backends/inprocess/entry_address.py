"""Finds the address where a program stops at its entry."""

from __future__ import annotations

from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint
from debugger.backends.inprocess.loaded_program import LoadedProgram
from debugger.backends.inprocess.stop_reasons import ENTRY
from debugger.errors import DebuggerError, ErrorCode


async def hold_at_entry(engine: Engine, program: LoadedProgram) -> None:
    """Pause a program that was started where its own code begins.

    Raises:
        DebuggerError: LAUNCH_FAILED where no breakpoint can stand there.
    """
    points = [
        EngineBreakpoint(id=f"{ENTRY}{number}", address=one.address, temporary=True)
        for number, one in enumerate(program.main_addresses())
    ]
    refused = await engine.add_breakpoints(points)
    if len(refused) == len(points):
        why = "; ".join(refused.values()) or "it has no beginning that is known"
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"the program cannot be stopped where it begins: {why}",
            hint="debugger start --break FUNCTION stops later",
        )
