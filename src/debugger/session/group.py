"""Holds groups: named sets of sessions, whose members have labels."""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_labels import (
    MAIN,
    RANK_VARIABLES,
    choose_label,
    make_unique,
    select_members,
    sort_key,
)
from debugger.model.location import near_names
from debugger.model.program import EvaluationPurpose
from debugger.session.process_tree import find_member
from debugger.session.session import Session
from debugger.system import process_info

T = TypeVar("T")

MEMBERS_MAX = 1000
# Seconds after the last answer until a new member must have named itself; until then it is a pid.
_FACTS_S = 2.0
_AGAIN_S = 1.0  # the same, for one that has not done it at once
_ASK_TIMES = 3
_GONE = "its process has ended"
_NAMED_MAX = 400  # characters of the names of programs
_SHARING_LEAST = 2  # members of which something can be said to be shared
# Processes of multiprocessing itself, which run none of the program's code.
_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
_NAMES_FILE = Path(__file__).parent / "inside" / "member_names.py"
_READ_FACTS = "(lambda names: (exec(%r, names), names['read_facts'](%r))[1])({})"


class MemberFacts(Struct, frozen=True):
    """What names a member: its engine's variables, and its name in the engine."""

    variables: Mapping[str, str]
    process_name: str = ""
    # The kernel's numbers of its threads that are the debugger's own, where it has some.
    debugger_threads: frozenset[int] = frozenset()


_UNKNOWN = MemberFacts({})


@dataclass(frozen=True)
class Member:
    """A session of a group, with its label."""

    label: str
    session: Session


def drop_launcher(members: Iterable[Member]) -> list[Member]:
    """Return members without the launcher of a job, which has no debugger to ask."""
    return [one for one in members if not one.session.traits.is_launcher]


class SilentMember(Struct, frozen=True):
    """A member that did not answer, and the reason."""

    label: str
    reason: str


class Group:
    """A named set of sessions that share a timeline, and which of them is in focus."""

    def __init__(
        self, name: str, first: Session, *, main: Session | None, pattern: str | None = None
    ) -> None:
        self.name = name
        # Of the command lines of its members; the main program is one in any case.
        self.pattern = pattern
        # The process that started the members, where they came by themselves.
        self.launcher_pid: int | None = None
        self.first = first
        # The program that started the others, if the group has one.
        self.main = main
        # The name of the session that commands without --members act on; None: on all of them.
        self.focused: str | None = None
        # By the session itself: the members of a restarted program have the earlier ones' names.
        self._facts: dict[Session, MemberFacts] = {}
        self._labels: dict[Session, str] = {}
        self._late: set[Session] = set()
        # Processes that run without a debugger, as it could not attach to them, by pid: why.
        self.alone: dict[int, str] = {}
        # Processes that have asked for a debugger, and have none yet.
        self.expected: set[int] = set()
        # Those that are not asked again.
        self._named: set[Session] = set()

    def every_session(self) -> list[Session]:
        """Return all sessions of the group, also those of multiprocessing's helpers."""
        return self.first.family.tree_sessions(self.first)

    def describe_omitted(self) -> list[str]:
        """Say which of its processes no answer is about."""
        forgotten, count = self.first.family.count_forgotten(self.first), len(self.sessions())
        notes = []
        if self.alone:
            pids, why = ", ".join(map(str, self.alone)), next(iter(self.alone.values()))
            notes.append(f"without a debugger, and no members: {pids[:_NAMED_MAX]}: {why}")
        if gone := [pid for pid in sorted(self.expected) if process_info.look_at(pid) is None]:
            pids = ", ".join(map(str, gone))[:_NAMED_MAX]
            notes.append(f"ended before a debugger had attached, and no members: {pids}")
        if forgotten:
            notes.append(f"{forgotten:,} more members ended earlier, and are no longer kept")
        if count > MEMBERS_MAX:
            notes.append(f"commands act on {MEMBERS_MAX:,} of the {count:,} members")
        if self.pattern is not None and count == 1 < len(self.every_session()):
            known = {one.target.program or "" for one in self.every_session() if one.parent}
            there = ", ".join(sorted(known))[:_NAMED_MAX]
            notes.append(f"no process matches {self.pattern}; there are: {there}")
        return notes

    def sessions(self) -> list[Session]:
        """Return the sessions of all members, also of those that have ended."""
        return [
            one
            for one in self.every_session()
            if not _is_helper(one) and (one is self.main or self._fits_pattern(one))
        ]

    def _fits_pattern(self, session: Session) -> bool:
        if self.pattern is None or not isinstance(session.target, LaunchTarget):
            return True
        words = (session.target.program, session.target.module, *session.target.args)
        return fnmatchcase(" ".join(filter(None, words)), self.pattern)

    def forget_focus(self) -> None:
        """Give the focus back to the group where the member in focus is gone."""
        if self.focused is not None and find_member(self.first, self.focused) is None:
            self.focused = None

    def note_facts(self, session: Session, facts: MemberFacts) -> None:
        """Record what names a member, where it is known without asking the process."""
        self._facts[session] = facts
        self._named.add(session)
        self._late.discard(session)
        self._labels.pop(session, None)

    def debugger_threads(self, session: Session) -> frozenset[int]:
        """Return the threads of a member that are its debugger's, by the kernel's numbers."""
        return self._facts_of(session).debugger_threads

    def _is_named(self, session: Session) -> bool:
        """Return whether a member has its final name.

        A fork is its parent at first; xdist names a worker after its start.
        """
        facts, above = self._facts_of(session), self._facts_of(_find_parent(session))
        is_renamed = facts.process_name not in {"", "MainProcess"}
        return is_renamed or bool(_without(facts.variables, above.variables))

    async def members(self) -> list[Member]:
        """Return the members in the order of their labels; new ones are named first (bounded)."""
        every = self._chosen_sessions()
        await self._name_members([one for one in every if one.is_live])
        return self._label_members(every)

    def known_members(self) -> list[Member]:
        """Return the members as `members`, without asking the new ones for their names."""
        return self._label_members(self._chosen_sessions())

    def _chosen_sessions(self) -> list[Session]:
        """Return the sessions that commands act on: those that have ended are left out first."""
        sessions = self.sessions()
        for one in sessions:
            one.notice_death()
        self._forget_all_but(set(sessions))
        if len(sessions) > MEMBERS_MAX:
            sessions = sorted(sessions, key=lambda one: not one.is_live)[:MEMBERS_MAX]
        return sessions

    async def _name_members(self, sessions: Iterable[Session]) -> None:
        """Ask members for what names them (bounded); those that are late are asked again."""
        unnamed = [Member(one.name, one) for one in sessions if one not in self._named]
        within_s = _AGAIN_S if self._late.issuperset(one.session for one in unnamed) else _FACTS_S
        found, _ = await ask_members(unnamed, lambda one: _read_facts(one.session), within_s)
        for session in (one.session for one in unnamed):
            facts = found.get(session.name)
            if facts is None:
                self._late.add(session)
                continue
            self._late.discard(session)
            self._labels.pop(session, None)
            self._facts[session] = facts
            if session is self.main or self._is_named(session):
                self._named.add(session)

    def _label_members(self, sessions: Sequence[Session]) -> list[Member]:
        for session in sessions:
            # It may have ended before it was asked, or while it was; or be late, on a busy machine.
            is_unasked = not session.is_live or session in self._late
            started_with = session.process.variables
            if is_unasked and started_with and not self._facts_of(session).variables:
                self._facts[session] = MemberFacts(started_with)
                self._labels.pop(session, None)
            self._label_session(session)
        members = [Member(self._labels[one], one) for one in sessions]
        return sorted(members, key=lambda one: sort_key(one.label))

    def _forget_all_but(self, sessions: AbstractSet[Session]) -> None:
        self._facts = {one: facts for one, facts in self._facts.items() if one in sessions}
        self._labels = {one: label for one, label in self._labels.items() if one in sessions}
        self._late &= sessions
        self._named &= sessions

    def _label_session(self, session: Session) -> str:
        known = self._labels.get(session)
        if known is None:
            known = make_unique(self._choose_label(session), set(self._labels.values()))
            self._labels[session] = known
        return known

    def _choose_label(self, session: Session) -> str:
        if session is self.main:
            return MAIN
        facts = self._facts_of(session)
        # A process that multiprocessing did not start calls itself the main one, too.
        name = "" if facts.process_name == "MainProcess" else facts.process_name
        parent = _find_parent(session)
        above = self._facts_of(parent).variables if parent is not None else self._shared_variables()
        label = choose_label(_without(facts.variables, above), name, session.pid)
        # What a rank starts has the rank's variables, and is no rank itself. What the program had
        # from its start, as a shell or a test runner set it, makes it no rank.
        if parent is None or parent is self.main or _without(facts.variables, above):
            return label
        own_of_parent = _without(above, self._facts_of(self.main).variables)
        return f"{self._label_session(parent)}/{label}" if own_of_parent else label

    def _facts_of(self, session: Session | None) -> MemberFacts:
        return self._facts.get(session, _UNKNOWN) if session is not None else _UNKNOWN

    def _shared_variables(self) -> Mapping[str, str]:
        """Return what all members without a parent have: it distinguishes none of them."""
        known = [self._facts_of(one).variables for one in self.sessions() if one.parent is None]
        if len(known) < _SHARING_LEAST:
            return {}
        return {
            name: text
            for name, text in known[0].items()
            if all(one.get(name) == text for one in known)
        }

    async def select(self, members: str | None) -> list[Member]:
        """Return the members that a set names, all without one.

        Raises:
            DebuggerError: USAGE, NOT_FOUND.
        """
        every = await self.members()
        if members is None:
            return every
        chosen = select_members(members, [one.label for one in every])
        return [one for one in every if one.label in chosen]

    def session_named(self, name: str) -> Session | None:
        """Return a member's session by the session's name."""
        return find_member(self.first, name)


def _is_helper(session: Session) -> bool:
    return (session.target.program or "").endswith(_HELPERS)


def _find_parent(session: Session) -> Session | None:
    """Return the session of the process that started another: a fork server only did it for it."""
    parent = session.parent
    while parent is not None and _is_helper(parent):
        parent = parent.parent
    return parent


def _without(variables: Mapping[str, str], inherited: Mapping[str, str]) -> Mapping[str, str]:
    return {name: text for name, text in variables.items() if inherited.get(name) != text}


async def _read_facts(session: Session) -> MemberFacts | None:
    """Ask a Python process for what names it; None where it cannot answer.

    Of other programs the environment is known with which they were started.
    """
    if session.state not in {State.RUNNING, State.STOPPED}:
        return None
    if session.traits.runtime is not Runtime.PYTHON:
        return MemberFacts(process_info.read_environment(session.pid or 0, RANK_VARIABLES))
    expression = _READ_FACTS % (_NAMES_FILE.read_text("utf-8"), RANK_VARIABLES)
    try:
        answer = await session.run_job(
            lambda: session.backend.evaluate(expression, None, EvaluationPurpose.EVALUATE)
        )
        # debugpy 1.8.22 shows a text with quotes or without, by what asked for it.
        text = answer.value
        read = json.loads(ast.literal_eval(text) if text[:1] in "'\"" else text)
        variables, name, threads = read
    except (DebuggerError, ValueError, SyntaxError):
        return None  # until it answers it is named by what it was started with, or its pid
    return MemberFacts(dict(variables), str(name), frozenset(threads))


class GroupList:
    """The groups of the daemon by name."""

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        # Members come at the same time: the first one's session begins the group.
        self.joining = asyncio.Lock()

    def add(self, name: str, first: Session, *, is_main: bool, pattern: str | None = None) -> Group:
        """Create a group of a session and of all that share its timeline."""
        group = Group(name, first, main=first if is_main else None, pattern=pattern)
        self._groups[name] = group
        return group

    def live_groups(self) -> list[Group]:
        """Return the groups that still have sessions; the others are forgotten."""
        self._groups = {name: one for name, one in self._groups.items() if one.every_session()}
        return list(self._groups.values())

    def group_of(self, session: Session) -> Group | None:
        """Return the group of a session."""
        return next((one for one in self.live_groups() if session in one.sessions()), None)

    def find(self, name: str) -> Group | None:
        """Return a group by its name; None if there is none."""
        return next((one for one in self.live_groups() if one.name == name), None)

    def get(self, name: str) -> Group:
        """Return a group by its name.

        Raises:
            DebuggerError: NO_SESSION, naming those that exist.
        """
        found = self.find(name)
        if found is not None:
            return found
        groups = [one.name for one in self.live_groups()]
        near = near_names(name, groups)
        raise DebuggerError(
            ErrorCode.NO_SESSION,
            f"no group {name!r}; there are: {', '.join(groups) or 'none'}",
            hint=f"--group {near[0]}" if near else "debugger start --group PROGRAM begins one",
        )

    def note_selected(self, session: Session) -> None:
        """Record that the user chose a session: its group's commands act on it alone."""
        group = self.group_of(session)
        if group is not None:
            group.focused = session.name


async def ask_members(
    members: Sequence[Member], ask: Callable[[Member], Awaitable[T]], seconds: float
) -> tuple[dict[str, T], list[SilentMember]]:
    """Ask members side by side; one that fails or is late is named, and delays no other.

    A member is late `seconds` after the last answer of another, and in any case after three times
    that: on a machine with much to do, a thousand members take longer than one.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + _ASK_TIMES * seconds
    found: dict[str, T] = {}
    silent: dict[str, SilentMember] = {}

    async def ask_one(member: Member) -> None:
        if _is_gone(member.session):
            silent[member.label] = SilentMember(member.label, _GONE)
            return
        try:
            found[member.label] = await ask(member)
        except TimeoutError:
            silent[member.label] = late(member)
        except DebuggerError as error:
            silent[member.label] = SilentMember(member.label, error.message)
        if not limit.expired():
            limit.reschedule(min(loop.time() + seconds, ends_at))

    def late(member: Member) -> SilentMember:
        return SilentMember(member.label, f"no answer within {seconds:g} s")

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds) as limit:
            await asyncio.gather(*map(ask_one, members))
    answered = {one.label: found[one.label] for one in members if one.label in found}
    return answered, [
        _find_suspended(one) or silent.get(one.label) or late(one)
        for one in members
        if one.label not in found
    ]


def _is_gone(session: Session) -> bool:
    """Return whether a process has ended, and its debugger has not reported that yet.

    debugpy's launcher first waits for the processes that it has left, up to 8 s.
    """
    return session.is_live and session.process.is_over_unreported(session.pid)


def _find_suspended(member: Member) -> SilentMember | None:
    """Describe a member that does not answer because a signal has stopped its process."""
    pid = member.session.pid
    if pid is None or not process_info.is_suspended(pid):
        return None
    return SilentMember(member.label, f"a signal has stopped it: kill -CONT {pid} lets it go on")


def is_started(group: Group) -> bool:
    """Return whether we started the group's programs, and so end them with it."""
    return isinstance(group.first.target, LaunchTarget)
