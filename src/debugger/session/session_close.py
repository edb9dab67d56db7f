"""Ends a session so that what becomes of its program is known, and hints that fit what it was."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import expression_hints
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from debugger.session.session_state import is_running_program
from debugger.system.process_info import ProcessInfo, look_at

_RESTART = "debugger restart"
_OVER = frozenset("ZX")


@dataclass(frozen=True)
class ProcessFate:
    """What became of a program that was attached to: whether it goes on, and what to know of it."""

    goes_on: bool
    notes: tuple[str, ...] = ()


async def let_go(sessions: SessionList, session: Session) -> ProcessFate:
    """End a session and leave its program running."""
    was_live = session.is_live
    closed = await sessions.close(session, kill=False)
    if not is_running_program(session.target):
        return ProcessFate(goes_on=False)
    if not was_live:
        return ProcessFate(goes_on=False, notes=("the program had ended before",))
    pid = session.pid
    if not _is_on_this_machine(session) or pid is None:
        return ProcessFate(goes_on=True, notes=closed.notes)
    found = _find_living(pid)
    if found is None:
        return ProcessFate(goes_on=False, notes=(f"process {pid} has ended meanwhile",))
    if found.state == "T":
        note = f"a signal has stopped it: kill -CONT {pid}"
        return ProcessFate(goes_on=True, notes=(*closed.notes, note))
    return ProcessFate(goes_on=True, notes=closed.notes)


async def kill_attached(sessions: SessionList, session: Session) -> ProcessFate:
    """End a session and the process that it was attached to."""
    was_live, pid = session.is_live, session.pid
    await sessions.close(session, kill=True)
    if not was_live:
        return ProcessFate(goes_on=False, notes=("the program had ended before",))
    if not _is_on_this_machine(session) or pid is None:
        note = "its debugger was asked to kill the program; whether it did is not known here"
        return ProcessFate(goes_on=False, notes=(note,))
    if _find_living(pid) is not None:
        return ProcessFate(goes_on=True, notes=(f"process {pid} could not be killed",))
    return ProcessFate(goes_on=False, notes=(f"process {pid} was killed",))


def fit_hint(error: DebuggerError, session: Session, command: str) -> DebuggerError:
    """Replace a hint where another one helps, after a command's expression or the program's end.

    What was attached to cannot be started again by us, and of several processes others may run.
    """
    if error.code is ErrorCode.EVALUATION_FAILED:
        hint = expression_hints.choose_hint(error.message, error.hint, command)
        return DebuggerError(error.code, error.message, hint=hint)
    if error.hint is None or _RESTART not in error.hint:
        return error
    relatives = session.family.tree_sessions(session)
    running = [one.name for one in relatives if one is not session and one.is_live]
    if running:
        hint = f"debugger use {running[0]}: it still runs"
    elif isinstance(session.target, AttachTarget):
        hint = _attach_again(session, session.target)
    else:
        return error
    return DebuggerError(error.code, error.message, hint=hint)


def _attach_again(session: Session, target: AttachTarget) -> str:
    if target.core is not None:
        return f"debugger attach --core {target.core}"
    if target.connect is not None:
        host, port = target.connect
        return f"debugger attach --connect {host}:{port}, if the server still listens"
    if session.pid is not None and _find_living(session.pid) is not None:
        return f"debugger attach {session.pid}"
    return "it was attached to, and has ended: debugger start PROGRAM starts one"


def _is_on_this_machine(session: Session) -> bool:
    return not (isinstance(session.target, AttachTarget) and session.target.connect is not None)


def _find_living(pid: int) -> ProcessInfo | None:
    found = look_at(pid)
    return None if found is None or found.state in _OVER else found
