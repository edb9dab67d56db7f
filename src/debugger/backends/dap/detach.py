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
from debugger.backends.dap.conversation import AdapterConversation
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.backends.lldb import lldb_common as lldb
from debugger.errors import DebuggerError
from debugger.system.process_info import go_on, has_pending

# Seconds for the stop that a pause leads to. A pause may be lost (lldb-dap): the detach then goes
# on without it.
_HALT_S = 2.0
# Turns until no signal is pending. One is enough unless breakpoints are hit all the time.
_AGAIN = 3


@asynccontextmanager
async def detaching(
    connection: AdapterConnection, talk: AdapterConversation, adapter: DebugAdapter, *, kill: bool
) -> AsyncIterator[None]:
    """Pause a program that is not ended, and remove all breakpoints, around its detach.

    Failures are left to the detach itself. Afterwards no stop signal of the debugger's is pending.
    """
    # A detach from a running program, step by step:
    #
    # 1. Reports end: no stop of what follows is the user's.
    # 2. All lists of breakpoints are emptied while the program runs, so that no new hit comes.
    # 3. The program is paused. LLDB writes and removes traps reliably only in a stopped process.
    # 4. Traps that LLDB has left in the code are removed, at the addresses that its list of
    #    breakpoints had before step 2.
    # 5. A signal of the debugger's that is still pending (SIGSTOP of the pause, SIGTRAP of a hit or
    #    of delve's stop) would end or stop the program afterwards: it is continued, to take the
    #    signal under the debugger, and paused again, up to `_AGAIN` times.
    # 6. The disconnect itself, which the caller does at the `yield`.
    # 7. SIGCONT, for a stop signal that came to be pending during the disconnect.
    await _detach_program(connection, talk, adapter, kill=kill)
    yield
    pid = _local_pid(connection, talk)
    if adapter.clears_before_detach and not kill and pid is not None:
        go_on(pid)


def _local_pid(connection: AdapterConnection, talk: AdapterConversation) -> int | None:
    """Return the process, if it runs on this machine: neither a core file's nor a server's."""
    is_here = connection.attach_target is None or connection.attach_target.pid is not None
    return talk.events.pid if is_here else None


async def _detach_program(
    connection: AdapterConnection, talk: AdapterConversation, adapter: DebugAdapter, *, kill: bool
) -> None:
    attached = connection.attach_target
    is_core_file = attached is not None and attached.core is not None
    # `_run_until_clean` ends with a pause: a server that goes on for other clients would leave the
    # program stopped.
    is_server = attached is not None and attached.connect is not None
    is_released = adapter.releases_target and not is_server
    if (
        kill
        or not (adapter.clears_before_detach or is_released)
        or is_core_file
        or talk.client.is_lost
        # A busy adapter would let each of these requests run into its time limit.
        or talk.client.is_busy
    ):
        return
    talk.events.stop_reporting()
    with suppress(DebuggerError, TimeoutError):
        async with asyncio.timeout(adapter.detach_limit_s):
            await (
                _run_until_clean(connection, talk, adapter)
                if is_released
                else _clear_breakpoints(connection, talk)
            )


async def _clear_breakpoints(connection: AdapterConnection, talk: AdapterConversation) -> None:
    addresses = lldb.trap_addresses(await connection.run_raw(lldb.LIST, None))
    # Before it is stopped: LLDB may not come to that while breakpoints are hit again and again.
    await _send_empty_lists(connection, tuple(talk.sent))
    pid = _local_pid(connection, talk)
    for _ in range(_AGAIN):
        await _stop_program(talk)
        for address in addresses:
            for _ in range(lldb.TIMES):
                if not lldb.is_removed(
                    await connection.run_raw(lldb.removal_command(address), None)
                ):
                    break
        # Read from /proc: LLDB itself does not report a pending signal.
        if pid is None or not has_pending(pid):
            return
        # Thread 0: the adapters here stop and continue all threads together.
        await talk.send_request("continue", ask.ThreadArguments(0), dap.DapBody)


async def _run_until_clean(
    connection: AdapterConnection, talk: AdapterConversation, adapter: DebugAdapter
) -> None:
    """Run without breakpoints until no signal of the debugger's is pending, then pause."""
    for _ in range(_AGAIN):
        await adapter.release_target(connection.send_request, talk.events.halted, tuple(talk.sent))
        await _stop_program(talk)
        if talk.events.pid is None or not has_pending(talk.events.pid):
            return


async def _send_empty_lists(connection: AdapterConnection, files: tuple[str, ...]) -> None:
    lists: list[tuple[str, msgspec.Struct]] = [
        ("setBreakpoints", ask.SetBreakpointsArguments(ask.SourceReferenceArgument(path=one), ()))
        for one in files
    ]
    lists.append(("setFunctionBreakpoints", ask.SetFunctionBreakpointsArguments(())))
    lists.append(("setInstructionBreakpoints", ask.SetInstructionBreakpointsArguments(())))
    lists.append(("setExceptionBreakpoints", ask.SetExceptionBreakpointsArguments(())))
    for command, arguments in lists:
        with suppress(DebuggerError):  # of a kind that the adapter does not support none was set
            await connection.send_request(command, arguments, dap.BreakpointsBody)


async def _stop_program(talk: AdapterConversation) -> None:
    if talk.events.halted.is_set():
        return
    await talk.send_request("pause", ask.ThreadArguments(0), dap.DapBody)
    with suppress(TimeoutError):
        async with asyncio.timeout(_HALT_S):
            await talk.events.halted.wait()
