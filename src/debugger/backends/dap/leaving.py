"""How is a program that runs on let go of by LLDB, with nothing of the debugger left in it?

LLDB 19 that detaches from a program just when a breakpoint is hit, or stepped over, leaves its trap
in the code: the program dies of SIGTRAP. A thread that was told to stop, and had hit a breakpoint
first, still has the SIGSTOP before it: it would stop for good.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.conversation import Conversation
from debugger.backends.dap.profile import Inside, Profile
from debugger.backends.lldb import leaving as lldb
from debugger.errors import DebuggerError
from debugger.targets.threads import has_pending

_HALT_S = 2.0
_AGAIN = 3


async def leave(inside: Inside, talk: Conversation, profile: Profile, *, kill: bool) -> None:
    """Stop what is not ended, and take all breakpoints out; what fails is left to the detach."""
    is_past = inside.attached is not None and inside.attached.core is not None
    if kill or not profile.clears or is_past or talk.client.is_lost:
        return
    talk.events.mute()
    with suppress(DebuggerError, TimeoutError):
        async with asyncio.timeout(profile.detach_s):
            await _clear(inside, talk)


async def _clear(inside: Inside, talk: Conversation) -> None:
    found = lldb.addresses(await inside.raw(lldb.LIST, None))
    # Before it is stopped: LLDB may not come to that while breakpoints are hit again and again.
    await _empty(inside, tuple(talk.sent))
    is_here = inside.attached is None or inside.attached.pid is not None
    pid = talk.events.pid if is_here else None
    for _ in range(_AGAIN):
        await _halt(talk)
        for address in found:
            for _ in range(lldb.TIMES):
                if not lldb.is_removed(await inside.raw(lldb.removal(address), None)):
                    break
        if pid is None or not has_pending(pid):
            return
        await talk.request("continue", ask.OfThread(0), dap.Body)


async def _empty(inside: Inside, files: tuple[str, ...]) -> None:
    lists: list[tuple[str, msgspec.Struct]] = [
        ("setBreakpoints", ask.SetBreakpoints(ask.SourceArgument(path=one), ())) for one in files
    ]
    lists.append(("setFunctionBreakpoints", ask.SetFunctionBreakpoints(())))
    lists.append(("setInstructionBreakpoints", ask.SetInstructionBreakpoints(())))
    lists.append(("setExceptionBreakpoints", ask.SetExceptionBreakpoints(())))
    for command, arguments in lists:
        with suppress(DebuggerError):  # what the adapter does not have was not set
            await inside.request(command, arguments, dap.BreakpointsBody)


async def _halt(talk: Conversation) -> None:
    if talk.events.halted.is_set():
        return
    await talk.request("pause", ask.OfThread(0), dap.Body)
    with suppress(TimeoutError):
        async with asyncio.timeout(_HALT_S):
            await talk.events.halted.wait()
