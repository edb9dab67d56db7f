"""Runs raw debugger commands, and updates the session after their effects on the program."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from math import ceil
from typing import Any, TypeVar

import msgspec

from debugger.backends.abilities import RawCommandAbility
from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.debugger_words import RawEffect
from debugger.model.events import State
from debugger.session import stepping, value_inspection
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from debugger.system import process_info as processes

_BROKEN_OFF_S = 2.0  # seconds for an interrupted command to end
_LOOK_S = 0.1
T = TypeVar("T")


async def run_bounded(
    session: Session,
    job: Callable[[], Awaitable[T]],
    within_s: float | None,
    *,
    interrupt_s: float = _BROKEN_OFF_S,
) -> T:
    """Run a job of the session; one that takes too long is interrupted, if possible.

    LLDB waits for an expression that calls the program's functions as long as they take; a signal
    to the program ends them, and LLDB restores the program's position (19.1.7). A job that keeps
    LLDB itself busy continues until the backend abandons it, and is not waited for.

    Raises:
        DebuggerError: TIMEOUT, and what the job raises.
    """
    if within_s is None:
        return await session.run_job(job)

    async def limited() -> T:
        # Given up where it cannot be broken off: the next job must not wait behind it.
        try:
            async with asyncio.timeout(within_s + interrupt_s):
                return await job()
        except TimeoutError as error:
            raise _timeout_error(within_s) from error

    # A task, so that the time limit does not cancel a job that has begun.
    running = asyncio.ensure_future(session.run_job(limited))
    try:
        done, _ = await asyncio.wait({running}, timeout=within_s)
        if done:
            return running.result()
        await _broken_off(session, running, interrupt_s)
    finally:
        running.cancel()  # the wait; of the job only what has not begun
        with contextlib.suppress(asyncio.CancelledError, DebuggerError):
            await running
    raise _timeout_error(within_s)


def _timeout_error(within_s: float) -> DebuggerError:
    return DebuggerError(
        ErrorCode.TIMEOUT,
        f"the command did not end within {within_s:g} s",
        hint="debugger status shows the session; debugger stop ends it",
    )


async def _broken_off(session: Session, running: asyncio.Future[Any], within_s: float) -> None:
    """Interrupt the program once the command has resumed it, and wait for the command's end."""
    is_interrupted = False
    for _ in range(ceil(within_s / _LOOK_S)):
        # Compiling the expression may take longer than the command was given.
        is_interrupted = is_interrupted or _interrupt_program(session)
        done, _ = await asyncio.wait({running}, timeout=_LOOK_S)
        if done:
            return


def _interrupt_program(session: Session) -> bool:
    """Interrupt a program that LLDB has resumed for a command; tell whether it was resumed."""
    is_here = not (isinstance(session.target, AttachTarget) and session.target.connect)
    if session.pid is None or not is_here or session.state is not State.STOPPED:
        return False
    if not session.traits.signal_ends_calls:
        return False
    found = processes.look_at(session.pid)
    # A program at rest would get the signal when it goes on.
    if found is None or not found.tracer or found.state not in {"R", "S", "D"}:
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(session.pid, signal.SIGINT)
        return True
    return False


_INSTEAD = {
    RawEffect.DETACH: ("detach", "debugger detach ends the session and lets the program go on"),
    RawEffect.KILL: ("end", "debugger stop ends program and session"),
}


async def run_raw(
    session: Session, command: str, patience: WaitLimit, within_s: float | None
) -> answers.Raw:
    """Run a command; if it resumes the program, report the stop that follows.

    Raises:
        DebuggerError: USAGE for one that takes the program from the session, and what
        `value_inspection.run_raw_command` and `run_bounded` raise.
    """
    session.require_live("run a debugger command")
    effect = session.backend.find_ability(RawCommandAbility).classify_raw_command(command)
    if effect in _INSTEAD:
        verb, hint = _INSTEAD[effect]
        if effect is RawEffect.KILL and isinstance(session.target, AttachTarget):
            hint = "debugger stop --kill ends program and session"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"a raw command that would {verb} the program of this session",
            hint=hint,
        )
    if effect is RawEffect.INTERRUPT and session.state is State.RUNNING:
        # gdb's protocol refuses it while the program runs, and LLDB's looks like a SIGSTOP.
        stop = await stepping.pause_program(session, patience)
        return answers.Raw(command=command, output="", stop=stop)
    # Before the command: its stop may come at once.
    cursor = session.timeline.cursor()
    was_stopped = session.state is State.STOPPED
    answer = await run_bounded(
        session, lambda: value_inspection.run_raw_command(session, command), within_s
    )
    if effect is not RawEffect.STEP or not was_stopped:
        return answer
    stop = await stepping.wait_for_stop(session, patience, after=cursor)
    return msgspec.structs.replace(answer, stop=stop)
