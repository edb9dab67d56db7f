"""Chooses the members that a command acts on: by --group, --members, or the current group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import State
from debugger.model.group_labels import format_members
from debugger.questions.group.group_options import NO_CHOICE, GroupChoice
from debugger.questions.runner.command_call import CommandCall
from debugger.session.group import Group, Member, is_started
from debugger.session.process_tree import find_member


@dataclass(frozen=True)
class ChosenMembers:
    """A group, and those of its members that a command acts on."""

    group: Group
    members: tuple[Member, ...]
    # Some were named; else these are all.
    is_subset: bool = False

    def member_of(self, session_name: str) -> str:
        """Return the label of a session; "" for one that is no member."""
        found = (one.label for one in self.members if one.session.name == session_name)
        return next(found, "")


async def choose_members(
    call: CommandCall, choice: GroupChoice, *, asks_names: bool = True
) -> ChosenMembers | None:
    """Return the members that a command acts on; None where it acts on a session.

    Without options a command acts on a group if the current session belongs to one of which no
    member is in focus, or if the call names that group as its session. Without `asks_names` no time
    is spent on the names of new members, for a command that acts on all before it names any.

    Raises:
        DebuggerError: NO_SESSION for an unknown group; USAGE, NOT_FOUND for a bad set.
    """
    group = _find_group(call, choice)
    if group is None:
        return None
    alone = group.every_session()
    if choice == NO_CHOICE and len(alone) == 1 and alone[0].state is not State.RUNNING:
        return None  # a group of one behaves as a session; while it runs, others may still come
    if asks_names or choice.members is not None:
        members = await group.select(choice.members)
    else:
        members = group.known_members()
    if not members:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"the group {group.name} has no members", hint="debugger sessions"
        )
    return ChosenMembers(group, tuple(members), is_subset=choice.members is not None)


async def choose_running_member(call: CommandCall) -> ChosenMembers | None:
    """Return the member in focus while it runs: its stack is read as in an answer of its group."""
    groups = call.sessions.groups
    if not groups.live_groups():
        return None
    session = call.current_session()
    group = groups.group_of(session)
    if group is None or session.state is not State.RUNNING:
        return None
    own = [one for one in await group.members() if one.session is session]
    return ChosenMembers(group, tuple(own), is_subset=True) if own else None


def acts_on_members(call: CommandCall, arguments: Mapping[str, Any]) -> bool:
    """Return whether a command acts on several members, each with a person's hold of its own.

    Args:
        call: The call.
        arguments: The command's own, by name: the options of a group are apart.
    """
    if not set(GroupChoice.__struct_fields__) <= set(arguments):
        return False
    group = _find_group(call, GroupChoice(arguments["group"], arguments["members"]))
    return group is not None and len(group.every_session()) > 1


def _find_group(call: CommandCall, choice: GroupChoice) -> Group | None:
    groups = call.sessions.groups
    if choice.group is not None:
        return groups.get(choice.group)
    if choice.members is None and call.session_name is not None:
        # A group has the name of the session that began it, which is the member `main`.
        named = groups.find(call.session_name)
        return named if named is not None and named.focused is None else None
    if choice.members is None and (call.sessions.current is None or not groups.live_groups()):
        return None
    session = call.current_session()
    group = groups.group_of(session)
    if choice.members is not None:
        if group is None:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--members is of a group, and the session {session.name} is in none",
                hint="debugger start --group PROGRAM begins one",
            )
        return group
    return group if group is not None and group.focused is None else None


def all_ended(chosen: ChosenMembers) -> DebuggerError:
    """Return the error for a command that needs a member that has not ended."""
    ended = "all members have ended"
    if chosen.is_subset:
        verb = "has" if len(chosen.members) == 1 else "have"
        ended = f"{format_members(one.label for one in chosen.members)} {verb} ended"
    return DebuggerError(
        ErrorCode.PROGRAM_EXITED,
        ended,
        hint=f"debugger status --group {chosen.group.name}; debugger restart runs it again"
        if is_started(chosen.group)
        else f"debugger stop --group {chosen.group.name}",
    )


async def choose_group(call: CommandCall, name: str | None = None) -> ChosenMembers:
    """Return all members of the named group, else of the current group, or of the only one.

    Raises:
        DebuggerError: NO_SESSION.
    """
    group = _any_group(call, GroupChoice(name))
    return ChosenMembers(group, tuple(await group.select(None)))


async def focus_member(call: CommandCall, label: str, choice: GroupChoice) -> ChosenMembers:
    """Put one member in focus, or with `all` the group; it becomes the current session.

    Raises:
        DebuggerError: NO_SESSION, NOT_FOUND; USAGE where the label names several members.
    """
    group = _any_group(call, choice)
    if label == "all":
        every = await group.select(None)
        group.focused = None
        session = find_member(group.first, call.sessions.current or "") or every[0].session
        call.sessions.select(session.name)
        group.focused = None  # selecting a session puts it in focus
        return ChosenMembers(group, tuple(every))
    chosen = await group.select(label)
    if len(chosen) != 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"focus takes one member, and {label} names {len(chosen)}",
            hint=f"debugger focus {chosen[0].label}; debugger focus all acts on all",
        )
    call.sessions.select(chosen[0].session.name)
    return ChosenMembers(group, tuple(chosen), is_subset=True)


def _any_group(call: CommandCall, choice: GroupChoice) -> Group:
    """Return the named group, that of the session, or the only one."""
    groups = call.sessions.groups
    if choice.group is not None:
        return groups.get(choice.group)
    every = groups.live_groups()
    name = call.session_name or call.sessions.current
    own = groups.group_of(call.sessions.get(name)) if name is not None else None
    found = own or (every[0] if len(every) == 1 else None)
    if found is None:
        names = ", ".join(one.name for one in every)
        raise DebuggerError(
            ErrorCode.NO_SESSION,
            f"which group? There are: {names}" if names else "there is no group",
            hint=f"--group {every[0].name}" if every else "debugger start --group PROGRAM",
        )
    return found
