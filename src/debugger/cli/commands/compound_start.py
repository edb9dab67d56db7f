"""Starts the configurations of a compound of launch.json side by side, as one group."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.cli.commands import configured_start
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_labels import clean_label
from debugger.questions.group import group_run
from debugger.questions.group.answer import GroupStop
from debugger.questions.runner.command_call import (
    CommandCall,
    backend_maker,
    begin_session,
    breakpoint_notes,
    locate_target,
    with_default,
)
from debugger.questions.runner.configured_target import find_configured_parts
from debugger.questions.runner.first_breakpoints import FirstBreakpoints
from debugger.session import stepping, stop_report
from debugger.session.group import MemberFacts
from debugger.session.session import MakeBackend, Session
from debugger.session.stepping import WaitLimit
from debugger.targets import launch_target
from debugger.targets.attach_request import AttachRequest
from debugger.targets.launch_target import LaunchRequest


class CompoundPart(Struct, frozen=True):
    """A configuration of a compound, ready to start."""

    name: str
    target: LaunchTarget | AttachTarget
    make: MakeBackend
    notes: tuple[str, ...] = ()


async def start_compound(
    call: CommandCall,
    name: str,
    typed: LaunchRequest,
    breaks: FirstBreakpoints,
    patience: WaitLimit | None,
) -> GroupStop:
    """Start what a compound names, and wait for the first stop; without a limit, do not wait.

    Raises:
        DebuggerError: What resolving a configuration raises; the first failure if none starts.
    """
    if typed.program is not None or typed.args:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{name!r} is a compound: it takes no program and no arguments",
            hint=f"debugger start --config {name!r}",
        )
    names = find_configured_parts(call, name)
    parts = [await _prepare_part(call, one, typed) for one in names]
    sessions = await _create_sessions(call, name, parts, breaks)
    first = sessions[0]
    group = call.sessions.groups.add(first.name, first, is_main=False)
    for session, part in zip(sessions, parts, strict=True):
        group.note_facts(session, MemberFacts({}, part.name))
    begun = await asyncio.gather(
        *(begin_session(call, one) for one in sessions), return_exceptions=True
    )
    failures = [one for one in begun if isinstance(one, DebuggerError)]
    if len(failures) == len(sessions):
        raise failures[0]
    known = next(one for one in sessions if not one.is_closed)
    if patience is None:
        answer = stop_report.report_running(known, waited_s=None)
    else:
        answer = await stepping.wait_for_stop(known, patience, after=0)
    lost = [
        f"not started: {part.name}: {failure.message}"
        for part, failure in zip(parts, begun, strict=True)
        if isinstance(failure, DebuggerError)
    ]
    noted = dict.fromkeys(f"{part.name}: {note}" for part in parts for note in part.notes)
    notes = (*answer.notes, *noted, *lost, *breakpoint_notes(known))
    answer = msgspec.structs.replace(answer, notes=notes)
    return await group_run.report_group_stop(group, answer)


async def _prepare_part(call: CommandCall, name: str, typed: LaunchRequest) -> CompoundPart:
    configured = configured_start.apply_configuration(call, name, typed)
    if isinstance(configured.request, AttachRequest):
        prepared = await locate_target(configured.request, hint="debugger attach PID")
        notes = (*configured.notes, *prepared.notes)
        return CompoundPart(name, prepared.target, backend_maker(call, prepared.adapter), notes)
    launch, adapter = launch_target.prepare_launch(with_default(call, configured.request))
    return CompoundPart(name, launch, backend_maker(call, adapter), configured.notes)


async def _create_sessions(
    call: CommandCall, name: str, parts: Sequence[CompoundPart], breaks: FirstBreakpoints
) -> list[Session]:
    """Create all sessions before any begins: they share the first one's timeline."""
    sessions: list[Session] = []
    for part in parts:
        first = sessions[0] if sessions else None
        own = call.session_name or call.sessions.unused_name(clean_label(name) or "compound")
        session = await call.sessions.create(
            part.target,
            part.make,
            name=own if first is None else call.sessions.name_member(first),
            joined=first,
        )
        sessions.append(session)
    target = parts[0].target
    for spec in breaks.build_specs(call, near=[target.cwd], current=None, program=target.program):
        added = sessions[0].breakpoints.add(spec)
        for session in sessions[1:]:
            session.breakpoints.adopt(added)
    return sessions
