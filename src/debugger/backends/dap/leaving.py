"""Detaches from a running program without leaving traps or signals in it.

A detach of LLDB 19 at the moment when a breakpoint is hit, or stepped over, leaves its trap in the
code: the program dies of SIGTRAP. A thread that was requested to stop, but had hit a breakpoint
first, still has the SIGSTOP pending: it would stop for good. Delve stops a program by a SIGTRAP,
which stays pending where a breakpoint was hit first, and would end the program.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.conversation import Conversation
from debugger.backends.dap.profile import Inside, LetGo, Profile
from debugger.backends.lldb import leaving as lldb
from debugger.errors import DebuggerError
from debugger.targets.threads import go_on, has_pending

_HALT_S = 2.0
_AGAIN = 3


@asynccontextmanager
async def leaving(
    inside: Inside, talk: Conversation, profile: Profile, *, kill: bool
) -> AsyncIterator[None]:
    """Pause a program that is not ended, and remove all breakpoints, around its detach.

    Failures are left to the detach itself. Afterwards no stop signal of the debugger's is pending.
    """
    await _leave(inside, talk, profile, kill=kill)
    yield
    pid = _pid_here(inside, talk)
    if profile.clears and not kill and pid is not None:
        go_on(pid)


def _pid_here(inside: Inside, talk: Conversation) -> int | None:
    """Return the process, if it runs on this machine: neither a core file's nor a server's."""
    is_here = inside.attached is None or inside.attached.pid is not None
    return talk.events.pid if is_here else None


async def _leave(inside: Inside, talk: Conversation, profile: Profile, *, kill: bool) -> None:
    attached = inside.attached
    is_past = attached is not None and attached.core is not None
    # A server that goes on for others would leave it standing.
    is_server = attached is not None and attached.connect is not None
    let_go = profile.let_go if not is_server else None
    if (
        kill
        or not (profile.clears or let_go)
        or is_past
        or talk.client.is_lost
        or talk.client.is_busy
    ):
        return
    talk.events.mute()
    with suppress(DebuggerError, TimeoutError):
        async with asyncio.timeout(profile.detach_s):
            await (_clear(inside, talk) if let_go is None else _run_on(inside, talk, let_go))


async def _clear(inside: Inside, talk: Conversation) -> None:
    found = lldb.addresses(await inside.raw(lldb.LIST, None))
    # Before it is stopped: LLDB may not come to that while breakpoints are hit again and again.
    await _empty(inside, tuple(talk.sent))
    pid = _pid_here(inside, talk)
    for _ in range(_AGAIN):
        await _halt(talk)
        for address in found:
            for _ in range(lldb.TIMES):
                if not lldb.is_removed(await inside.raw(lldb.removal(address), None)):
                    break
        if pid is None or not has_pending(pid):
            return
        await talk.request("continue", ask.OfThread(0), dap.Body)


async def _run_on(inside: Inside, talk: Conversation, let_go: LetGo) -> None:
    """Run without breakpoints until no signal of the debugger's is pending, then pause."""
    for _ in range(_AGAIN):
        await let_go(inside.request, talk.events.halted, tuple(talk.sent))
        await _halt(talk)
        if talk.events.pid is None or not has_pending(talk.events.pid):
            return


async def _empty(inside: Inside, files: tuple[str, ...]) -> None:
    lists: list[tuple[str, msgspec.Struct]] = [
        ("setBreakpoints", ask.SetBreakpoints(ask.SourceArgument(path=one), ())) for one in files
    ]
    lists.append(("setFunctionBreakpoints", ask.SetFunctionBreakpoints(())))
    lists.append(("setInstructionBreakpoints", ask.SetInstructionBreakpoints(())))
    lists.append(("setExceptionBreakpoints", ask.SetExceptionBreakpoints(())))
    for command, arguments in lists:
        with suppress(DebuggerError):  # of a kind that the adapter does not support none was set
            await inside.request(command, arguments, dap.BreakpointsBody)


async def _halt(talk: Conversation) -> None:
    if talk.events.halted.is_set():
        return
    await talk.request("pause", ask.OfThread(0), dap.Body)
    with suppress(TimeoutError):
        async with asyncio.timeout(_HALT_S):
            await talk.events.halted.wait()
