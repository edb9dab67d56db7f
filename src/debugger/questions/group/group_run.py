"""Resumes, pauses and ends the members of a group, and reports where they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.events import EventKind, State
from debugger.model.group_labels import format_members
from debugger.model.group_merge import order_members
from debugger.model.program import ResumeKind
from debugger.questions.group.answer import (
    GroupStacks,
    GroupStatus,
    GroupStop,
    MemberView,
    MergedState,
)
from debugger.questions.group.group_choice import ChosenMembers, all_ended
from debugger.questions.group.member_stacks import describe_state, merge_states, read_group_stacks
from debugger.questions.runner.command_call import CommandCall
from debugger.session import process_tree, session_list, stepping
from debugger.session.group import (
    Group,
    Member,
    SilentMember,
    ask_members,
    is_started,
)
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit

_WHERE_S = 1.0  # seconds until a stopped member must have told its line
_SETTLE_S = 0.5  # seconds after the first stop in which the others' stops are awaited
_QUIET_S = 0.05  # seconds without another stop after which they are not awaited any more
_STARTING = {State.INITIALIZING, State.CONFIGURING}
_GOING = {*_STARTING, State.RUNNING}
_NAMED_MAX = 20  # processes in a message
_END_S = 8.0  # seconds in which a member must have resumed


async def continue_members(
    chosen: ChosenMembers, patience: WaitLimit | None
) -> GroupStop | GroupStacks:
    """Resume the stopped members side by side, and report the first stop of any.

    Raises:
        DebuggerError: WRONG_STATE where none is stopped.
    """
    stopped = [one for one in chosen.members if one.session.state is State.STOPPED]
    if not stopped:
        raise _none_stopped(chosen)
    cursor = chosen.group.first.timeline.cursor()
    _, silent = await ask_members(
        stopped,
        lambda one: stepping.resume_session(one.session, ResumeKind.CONTINUE),
        _END_S,
    )
    if patience is None:
        return await list_group(chosen, silent)
    if len(silent) == len(stopped):
        if all(one.session.control.holder is not None for one in stopped):
            stopped[0].session.control.check_agent("continue")
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            f"no member could be resumed: {silent[0].reason}",
            hint="debugger status",
        )
    resumed = next(one for one in stopped if one.label not in {each.label for each in silent})
    answer = await stepping.wait_for_stop(resumed.session, patience, after=cursor)
    left = tuple(f"{one.label} did not go on: {one.reason}" for one in silent[:_NAMED_MAX])
    answer = msgspec.structs.replace(answer, notes=(*answer.notes, *left))
    return await report_group_stop(chosen.group, answer)


def _none_stopped(chosen: ChosenMembers) -> DebuggerError:
    if not any(one.session.is_live for one in chosen.members):
        return all_ended(chosen)
    who = f"no member of {chosen.group.name}"
    if chosen.is_subset:
        who = f"none of {format_members(one.label for one in chosen.members)}"
    return DebuggerError(
        ErrorCode.WRONG_STATE,
        f"{who} is stopped",
        hint="debugger await waits for a stop; debugger pause stops all",
    )


async def list_group(chosen: ChosenMembers, silent: Sequence[SilentMember]) -> GroupStacks:
    """Return the states of members without their stacks."""
    return GroupStacks(
        chosen.group.name,
        len(chosen.members),
        merge_states(chosen.members),
        (),
        "state",
        tuple(silent),
    )


async def wait_for_group(chosen: ChosenMembers, patience: WaitLimit) -> GroupStop | GroupStacks:
    """Wait for the next stop of any member, or the end of the group's program.

    While a person has taken over all members, wait for the hand-back, and report where they are.
    """
    if all(one.session.control.holder is not None for one in chosen.members):
        await chosen.members[0].session.control.wait_handed_back(patience)
        return await read_group_stacks(chosen.group, chosen.members, by="line", every=False)
    first = process_tree.find_running(chosen.members[0].session)
    return await report_group_stop(chosen.group, await stepping.wait_for_stop(first, patience))


async def report_group_stop(group: Group, stop: answers.Stop) -> GroupStop:
    """Report a stop with its member, and where the others are."""
    if stop.state == State.STOPPED.value:
        await _let_others_stop(group)
    members = await group.members()
    own = next((one for one in members if one.session.name == stop.session), None)
    others = [one for one in members if one is not own or stop.state == State.RUNNING.value]
    notes = [one for one in stop.notes if not process_tree.is_of_sessions(one)]
    return GroupStop(
        group=group.name,
        member=own.label if own is not None and stop.state != State.RUNNING.value else "",
        stop=msgspec.structs.replace(stop, notes=(*notes, *group.describe_omitted())),
        others=await _merge_places(others) if len(members) > 1 else (),
        timed_out=stop.timed_out,
    )


async def _let_others_stop(group: Group) -> None:
    """Wait briefly for stops at the same time: members meet the same breakpoint together."""
    timeline = group.first.timeline
    limit = asyncio.get_running_loop().time() + _SETTLE_S
    while any(one.state in _GOING for one in group.sessions()):
        remaining = limit - asyncio.get_running_loop().time()
        event = await timeline.wait(
            timeline.cursor(), {EventKind.STOP}, max(0.0, min(_QUIET_S, remaining))
        )
        is_starting = any(one.state in _STARTING for one in group.sessions())
        if remaining <= 0 or (event is None and not is_starting):
            return


async def _merge_places(members: Sequence[Member]) -> tuple[MergedState, ...]:
    """Return where members are: the line of a stopped one, else the state; fewest first."""
    stopped = [one for one in members if one.session.state is State.STOPPED]
    places, silent = await ask_members(stopped, lambda one: _stop_place(one.session), _WHERE_S)
    late = {one.label: f"stopped, {one.reason}" for one in silent}
    by_place: dict[str, list[str]] = {}
    for one in members:
        where = places.get(one.label) or late.get(one.label) or describe_state(one.session)
        by_place.setdefault(where, []).append(one.label)
    found = [MergedState(where, order_members(labels)) for where, labels in by_place.items()]
    return tuple(sorted(found, key=lambda one: len(one.members)))


async def _stop_place(session: Session) -> str:
    stop = session.last_stop
    reason = f" ({stop.reason.value})" if stop is not None else ""
    stack = await session.run_job(
        lambda: session.backend.read_stack(session.selection.thread or 0, levels=1)
    )
    if not stack.frames:
        return f"stopped{reason}"
    frame = stack.frames[0]
    file = f" {(frame.file or '').rpartition('/')[2]}:{frame.line}" if frame.file else ""
    return f"stopped at {frame.function}{file}{reason}"


async def describe_group(chosen: ChosenMembers) -> GroupStatus:
    """Describe a group and its members."""
    stopped = [one for one in chosen.members if one.session.state is State.STOPPED]
    places, silent = await ask_members(stopped, lambda one: _stop_place(one.session), _WHERE_S)
    places |= {one.label: one.reason for one in silent}
    # Of one whose debugger was lost, why: how the process ended is what came of that.
    places |= {one.label: one.session.error for one in chosen.members if one.session.error}
    focused = next(
        (one.label for one in chosen.members if one.session.name == chosen.group.focused), ""
    )
    notes = chosen.group.describe_omitted()
    return GroupStatus(
        group=chosen.group.name,
        focused=focused,
        states=merge_states(chosen.members),
        members=tuple(
            MemberView(
                one.label,
                one.session.name,
                one.session.pid,
                describe_state(one.session),
                places.get(one.label, ""),
            )
            for one in chosen.members
        ),
        notes=tuple(notes),
    )


async def end_members(call: CommandCall, chosen: ChosenMembers, *, kill: bool) -> answers.Ended:
    """End members, or all of the group: started programs are killed, attached ones let go.

    With `kill` attached processes are killed, too: those that --members names.

    Raises:
        DebuggerError: DENIED for killing attached processes that were not named.
    """
    if kill and not is_started(chosen.group) and not chosen.is_subset:
        raise _unnamed_kill(chosen)
    notes: list[str] = []
    sessions = [one.session for one in chosen.members]
    if not chosen.is_subset:
        # The helpers of multiprocessing, and members that were too many to be named.
        sessions = process_tree.find_roots(chosen.group.first)
    _check_held(sessions, "stop")
    names = _live_names(sessions)
    by = session_list.kill_attached if kill else session_list.let_go
    # A compound may start some of its programs and attach to others.
    started = [one for one in sessions if is_ours(one)]
    attached = [one for one in sessions if one not in started]
    await asyncio.gather(*(call.sessions.close(one, kill=True) for one in started))
    fates = await asyncio.gather(*(by(call.sessions, one) for one in attached))
    notes += dict.fromkeys(note for fate in fates for note in fate.notes)
    if attached and not kill:
        notes.append(
            "they were attached to, and run on: stop --kill --members all ends such programs"
        )
    return answers.Ended(
        ended=names,
        detached=not kill and not is_started(chosen.group),
        notes=tuple(notes),
    )


def _live_names(sessions: Sequence[Session]) -> tuple[str, ...]:
    """Return the names of sessions, and of those of the processes below them."""
    trees = [(one, *process_tree.descendants(one)) for one in sessions]
    return tuple(dict.fromkeys(one.name for tree in trees for one in tree if one.is_live))


def _check_held(sessions: Sequence[Session], command: str) -> None:
    """Refuse to end members, or what ends with them, of which a person has taken over one.

    Raises:
        DebuggerError: DENIED.
    """
    for session in sessions:
        for one in (session, *process_tree.descendants(session)):
            if one.is_live:
                one.control.check_agent(command)


def is_ours(session: Session) -> bool:
    """Return whether we started a process, or the program that started it."""
    return isinstance(process_tree.root_session(session).target, LaunchTarget)


def _unnamed_kill(chosen: ChosenMembers) -> DebuggerError:
    processes = [f"{one.session.pid} ({one.label})" for one in chosen.members]
    shown = ", ".join(processes[:_NAMED_MAX])
    more = f" and {len(processes) - _NAMED_MAX} more" if len(processes) > _NAMED_MAX else ""
    return DebuggerError(
        ErrorCode.DENIED,
        f"they were attached to, and were not started here: {shown}{more}",
        hint="debugger stop --kill --members all kills them; debugger stop lets them run on",
    )


async def detach_members(call: CommandCall, chosen: ChosenMembers) -> answers.Ended:
    """Let members run on, and end their sessions."""
    sessions = [one.session for one in chosen.members]
    if not chosen.is_subset:
        sessions = process_tree.find_roots(chosen.group.first)
    _check_held(sessions, "detach")
    names = _live_names(sessions)
    fates = await asyncio.gather(*(session_list.let_go(call.sessions, one) for one in sessions))
    notes = dict.fromkeys(note for fate in fates for note in fate.notes)
    return answers.Ended(
        ended=names, detached=any(one.goes_on for one in fates), notes=tuple(notes)
    )
