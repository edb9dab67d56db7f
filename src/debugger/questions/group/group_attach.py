"""Attaches to several running processes side by side, as one group."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.questions.group import group_pause, group_run
from debugger.questions.group.answer import GroupStacks, GroupStatus
from debugger.questions.group.group_choice import ChosenMembers
from debugger.questions.runner.command_call import (
    CommandCall,
    backend_maker,
    begin_session,
    breakpoint_notes,
)
from debugger.questions.runner.first_breakpoints import FirstBreakpoints
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from debugger.system import process_info as processes
from debugger.targets import attach_target
from debugger.targets.attach_request import AttachRequest, PreparedAttach
from debugger.targets.group_target import GroupSearch, find_group_processes

_PREPARE_S = 20.0  # seconds in which all processes must have been looked at
_NOTED_MAX = 5  # processes that could not be attached to, in notes


async def attach_group(
    call: CommandCall,
    request: AttachRequest,
    search: GroupSearch,
    breaks: FirstBreakpoints,
    patience: WaitLimit,
) -> GroupStatus | GroupStacks:
    """Attach to all processes of a search; those that cannot be attached to are noted.

    Raises:
        DebuggerError: What the search raises; the first failure if no process could be attached to.
    """
    try:
        async with asyncio.timeout(_PREPARE_S):
            prepared, failures = await asyncio.to_thread(_prepare_all, request, search)
    except TimeoutError:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"the processes were not found within {_PREPARE_S:g} s",
            hint="debugger attach --group --pids 1,2,3",
        ) from None
    if not prepared:
        raise _join_failures(failures)
    specs = breaks.build_specs(call, near=[], current=None, program=prepared[0].target.program)
    name = call.session_name or f"{_group_name(prepared[0])}{call.sessions.name_suffix}"
    sessions = await _create_sessions(call, name, prepared, specs)
    group = call.sessions.groups.add(sessions[0].name, sessions[0], is_main=search.tree is not None)
    outcomes = await asyncio.gather(
        *(
            _begin_member(call, session, one)
            for session, one in zip(sessions, prepared, strict=True)
        )
    )
    failures += [one for one in outcomes if one is not None]
    members = await group.members()
    if not members:
        raise _join_failures(failures)
    chosen = ChosenMembers(group, tuple(members))
    call.sessions.select(members[0].session.name)
    group.focused = None  # selecting a session puts it in focus
    answer = (
        await group_pause.pause_members(chosen, patience, waits_for_all=True)
        if request.pause
        else await group_run.describe_group(chosen)
    )
    notes = [f"not attached: {one}" for one in _first_lines(failures[:_NOTED_MAX])]
    notes += _count_others(failures)
    unbound = breakpoint_notes(members[0].session)
    return msgspec.structs.replace(answer, notes=(*notes, *unbound))


def _first_lines(failures: Sequence[DebuggerError]) -> list[str]:
    """Return the reasons without a debugger's own last words, which `attach PID` shows."""
    return [one.message.splitlines()[0] for one in failures]


def _count_others(failures: Sequence[DebuggerError]) -> list[str]:
    others = len(failures) - _NOTED_MAX
    return [f"{others} more could not be attached to"] if others > 0 else []


def _join_failures(failures: Sequence[DebuggerError]) -> DebuggerError:
    """Return the error of a group to no process of which could be attached."""
    if len(failures) == 1:
        return failures[0]
    reasons = "; ".join([*_first_lines(failures[:_NOTED_MAX]), *_count_others(failures)])
    return DebuggerError(failures[0].code, reasons, hint=failures[0].hint)


def _prepare_all(
    request: AttachRequest, search: GroupSearch
) -> tuple[list[PreparedAttach], list[DebuggerError]]:
    found = find_group_processes(
        search, processes.list_processes(), any_language=request.adapter is not None
    )
    prepared: list[PreparedAttach] = []
    failures: list[DebuggerError] = []
    for one in found:
        # A running member is not stopped by the attach; `--pause` stops all together afterwards.
        own = msgspec.structs.replace(request, what=str(one.pid), name=None, pause=False)
        try:
            prepared.append(attach_target.prepare_attach(own))
        except DebuggerError as error:
            failures.append(error)
    return prepared, failures


def _group_name(first: PreparedAttach) -> str:
    program = first.target.program or ""
    return Path(program).stem or f"group-{first.target.pid}"


async def _create_sessions(
    call: CommandCall,
    name: str,
    prepared: Sequence[PreparedAttach],
    specs: Sequence[BreakpointSpec],
) -> list[Session]:
    """Create the sessions of all members before any begins: they share the first one's timeline."""
    sessions: list[Session] = []
    for at, one in enumerate(prepared):
        session = await call.sessions.create(
            one.target,
            backend_maker(call, one.adapter),
            name=name if not at else f"{sessions[0].name}.{at}",
            joined=sessions[0] if sessions else None,
        )
        for spec in specs:
            session.breakpoints.add(spec)
        sessions.append(session)
    return sessions


async def _begin_member(
    call: CommandCall, session: Session, prepared: PreparedAttach
) -> DebuggerError | None:
    """Attach to one process; return the failure, after which its session is gone."""
    try:
        await begin_session(call, session)
    except DebuggerError as error:
        explained = attach_target.explain_attach_error(error, prepared)
        pid = str(prepared.target.pid)
        named = explained.message if pid in explained.message else f"{pid}: {explained.message}"
        return DebuggerError(explained.code, named, hint=explained.hint)
    return None
