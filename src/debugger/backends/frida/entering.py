"""Finds the address where a program stops at its entry."""

from __future__ import annotations

from debugger.backends.frida.engine.engine import Engine
from debugger.backends.frida.engine.events import Breakpoint
from debugger.backends.frida.program import Program
from debugger.backends.frida.reasons import ENTRY
from debugger.errors import Code, DebuggerError


async def hold_at_entry(engine: Engine, program: Program) -> None:
    """Pause a program that was started where its own code begins.

    Raises:
        DebuggerError: LAUNCH_FAILED where no breakpoint can stand there.
    """
    points = [
        Breakpoint(id=f"{ENTRY}{number}", address=one.address, temporary=True)
        for number, one in enumerate(program.mains())
    ]
    refused = await engine.add(points)
    if len(refused) == len(points):
        why = "; ".join(refused.values()) or "it has no beginning that is known"
        raise DebuggerError(
            Code.LAUNCH_FAILED,
            f"the program cannot be stopped where it begins: {why}",
            hint="debugger start --break FUNCTION stops later",
        )
