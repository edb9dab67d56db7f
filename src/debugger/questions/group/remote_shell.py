"""Runs the process that a launcher, such as mpirun, starts on this host for its ranks here.

The launcher reaches other hosts by ssh, and the children of its process there are the ranks. In
the place of ssh it runs `debugger member --shell`, so that this process is started by the debugger
of that host, and its ranks find their way to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugger.backends import select_backend
from debugger.errors import DebuggerError
from debugger.model.breakpoints import Breakpoint
from debugger.model.events import EventKind, State
from debugger.questions.group import group_crash, group_join
from debugger.questions.group.answer import GroupCrash, JoinedMember, RemoteShellEnd
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.session.session import Session

_FAILED = 1  # the status where none is known
_LONGEST_S = 24 * 3600.0
_LOOK_S = 60.0  # seconds between two looks for an end


async def begin_remote_shell(
    call: CommandCall, command: Sequence[str], group: str, breakpoints: str
) -> JoinedMember:
    """Start a shell command as the launcher of a group, which its ranks join.

    `breakpoints` are those of the group's other parts (`encode_breakpoints`).

    Raises:
        DebuggerError: USAGE for a name in use; LAUNCH_FAILED.
    """
    target = group_join.prepare_shell(call, command, group)
    session = await call.sessions.create(
        target, select_backend.launcher_maker(call.scratch_root), name=group
    )
    for known in msgspec.json.decode(breakpoints, type=list[Breakpoint]):
        session.breakpoints.adopt(known)
    call.sessions.groups.add(group, session, is_main=True)
    try:
        await session.run_job(session.start_program)
    except DebuggerError:
        await call.sessions.close(session, kill=True)
        raise
    return JoinedMember(group, str(target.program), target.args)


async def explain_remote_crash(call: CommandCall, command: Sequence[str], group: str) -> GroupCrash:
    """Run a shell command as the launcher of a group to the first failure of a rank.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    question = QuestionRun(
        sessions=call.sessions,
        target=group_join.prepare_shell(call, command, group),
        make_backend=select_backend.launcher_maker(call.scratch_root),
        name=group,
        breakpoints=group_crash.LAUNCHER_BREAKS,
        # The question on the launcher's machine has the user's limit, and ends this one with it.
        patience=call.wait_limit(_LONGEST_S),
    )
    return await group_crash.explain_run(call, question, group, is_part=True)


async def await_remote_shell(call: CommandCall, group: str) -> RemoteShellEnd:
    """Wait until the launcher of a group has ended.

    Raises:
        DebuggerError: NO_SESSION.
    """
    session = call.sessions.groups.get(group).first
    timeline = session.timeline
    while True:
        cursor = timeline.cursor()  # taken first: an end after the look wakes the wait
        if session.state is State.TERMINATED or call.interrupted.is_set():
            break
        await timeline.wait(cursor, {EventKind.EXIT}, _LOOK_S, interrupted=call.interrupted)
    return RemoteShellEnd(group, _read_status(session))


def _read_status(session: Session) -> int:
    exited = session.exited
    return exited.code if exited is not None and exited.code is not None else _FAILED
