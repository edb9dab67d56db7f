"""Stops the running members of a group together, and shows where they are."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager

import msgspec

from debugger.errors import DebuggerError
from debugger.model.debugger_words import Runtime
from debugger.model.events import EventKind, State
from debugger.model.program import StopReason
from debugger.questions.group.answer import GroupStacks
from debugger.questions.group.group_choice import ChosenMembers
from debugger.questions.group.member_stacks import read_group_stacks
from debugger.questions.hang.thread_sampling import go_on
from debugger.session.group import Group, Member, SilentMember, drop_launcher, is_started
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from debugger.system import process_info
from debugger.system.process_info import ThreadState
from debugger.system.suspended_processes import SuspendedProcesses, find_suspendable
from debugger.system.wait_holders import waits_forever

# Seconds between two looks at the members that have not stopped.
LOOK_S = 0.1
# Seconds in which a member that was suspended should stop once it goes on.
TURN_S = 0.2
# Seconds after the limit in which suspended members, which stand still already, get their turns.
_LAST_TURNS_S = 2.0
_TURNS_LEAST = 4  # members that go on at the same time: some wait for their debugger
_CHANGES = frozenset({EventKind.STOP, EventKind.EXIT})
_ASLEEP = frozenset({"S", "D"})

ReadThreads = Callable[[int], Mapping[int, ThreadState]]
FindSuspendable = Callable[[Mapping[int, Mapping[int, ThreadState]]], list[int]]


async def pause_members(
    chosen: ChosenMembers, patience: WaitLimit, *, waits_for_all: bool
) -> GroupStacks:
    """Stop the running members side by side, and show their stacks.

    New members are asked for their names afterwards: one that stands still answers sooner. Without
    `waits_for_all` no time is spent on members that wait in compiled code without an end.
    """
    members = drop_launcher(chosen.members)
    running = [one for one in members if one.session.state is State.RUNNING]
    pids = await asyncio.to_thread(find_crowd, running) if is_started(chosen.group) else []
    with SuspendedProcesses(pids) as suspended:
        pause = GroupPause(chosen.group, running, suspended, waits_for_all=waits_for_all)
        late = await pause.stop_all(patience)
    shown = chosen.members
    if not chosen.is_subset:
        sessions = {one.label: one.session for one in members}
        shown = tuple(await chosen.group.members())
        labels = {one.session: one.label for one in shown}
        late = [
            SilentMember(labels.get(sessions[one.label], one.label), one.reason) for one in late
        ]
    answer = await read_group_stacks(chosen.group, shown, by="line", every=False)
    return msgspec.structs.replace(answer, silent=(*late, *answer.silent))


def find_crowd(
    members: Iterable[Member],
    read_threads: ReadThreads = process_info.read_threads,
    find_suspendable: FindSuspendable = find_suspendable,
) -> list[int]:
    """Return the Python processes that compute, where they are more than there are processors.

    Each of them has as much of a processor as its debugger and this process, so that their stops
    would come one by one over many seconds. Those that could notice a suspension are left out.
    """
    pids = [one.session.pid for one in members if _is_python(one) and one.session.pid is not None]
    threads = {pid: read_threads(pid) for pid in pids}
    busy = {
        pid: found
        for pid, found in threads.items()
        if any(one.state == "R" for one in found.values())
    }
    return find_suspendable(busy) if len(busy) > count_processors() else []


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_python(member: Member) -> bool:
    return member.session.traits.runtime is Runtime.PYTHON


class GroupPause:
    """The stop of a group's members: all are asked at once, and awaited together.

    Members that are suspended meanwhile go on in turns, a few at a time: a process must run for
    some milliseconds until its debugger has stopped it.
    """

    def __init__(
        self,
        group: Group,
        members: Sequence[Member],
        suspended: SuspendedProcesses,
        *,
        waits_for_all: bool,
        read_threads: ReadThreads = process_info.read_threads,
    ) -> None:
        self._group = group
        self._members = members
        self._suspended = suspended
        self._waits_for_all = waits_for_all
        self._read_threads = read_threads
        self._failed: dict[str, str] = {}
        # When the turn of a member ends that was suspended.
        self._turns: dict[str, float] = {}
        # The threads of a member at the last look, where all of them waited without an end.
        self._waits: dict[str, tuple[ThreadState, ...]] = {}
        self._looked_at = 0.0

    async def stop_all(self, patience: WaitLimit) -> list[SilentMember]:
        """Stop the members (bounded); return those that did not stop, with the reason."""
        if not self._members:
            return []
        loop = asyncio.get_running_loop()
        began = loop.time()
        requests = [asyncio.ensure_future(self._request_stop(one)) for one in self._members]
        try:
            await self._wait_for_stops(began + patience.seconds, patience.interrupted)
        finally:
            for one in requests:
                one.cancel()
            await asyncio.gather(*requests, return_exceptions=True)
        waited = loop.time() - began
        silent = []
        for member in self._members:
            if member.session.state is not State.RUNNING:
                member.session.mark_reported()  # the answer shows it
                continue
            why = f"did not stop within {waited:.2g} s: it waits in compiled code"
            silent.append(SilentMember(member.label, self._failed.get(member.label, why)))
        return silent

    async def _request_stop(self, member: Member) -> None:
        try:
            member.session.control.check_agent("pause")
            await member.session.pause()
        except DebuggerError as error:
            if member.session.state is State.RUNNING:  # else it has stopped or ended by itself
                self._failed[member.label] = error.message

    async def _wait_for_stops(self, limit: float, interrupted: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        timeline = self._group.first.timeline
        while not interrupted.is_set():
            # Taken before the states are read: a stop in between wakes the wait at once.
            cursor = timeline.cursor()
            going = [one for one in self._members if self._is_going(one)]
            self._give_turns(going, loop.time())
            last = max((limit, *self._turns.values()))
            remaining = min(last, limit + _LAST_TURNS_S) - loop.time()
            if not going or remaining <= 0:
                return
            await timeline.wait(cursor, _CHANGES, min(remaining, LOOK_S), interrupted=interrupted)
            if not self._waits_for_all and loop.time() >= self._looked_at + LOOK_S:
                self._looked_at = loop.time()
                if await asyncio.to_thread(self._are_stuck, going):
                    return

    def _is_going(self, member: Member) -> bool:
        return member.session.state is State.RUNNING and member.label not in self._failed

    def _give_turns(self, going: Sequence[Member], now: float) -> None:
        count = sum(self._turns.get(one.label, now) > now for one in going)
        for one in going:
            pid = one.session.pid
            if pid is None or pid not in self._suspended:
                continue
            if count >= max(_TURNS_LEAST, count_processors()):
                return
            self._suspended.resume(pid)
            self._turns[one.label] = now + TURN_S
            count += 1

    def _are_stuck(self, going: Iterable[Member]) -> bool:
        """Test whether all that have not stopped wait as they did at the last look, without end."""
        for one in going:
            pid = one.session.pid
            if one.session.state is not State.RUNNING or pid is None:
                continue
            own = self._group.debugger_threads(one.session)
            waits = find_endless_waits(self._read_threads(pid), own) if _is_python(one) else ()
            before, self._waits[one.label] = self._waits.get(one.label), waits
            if not waits or waits != before:
                return False
        return True


def find_endless_waits(
    threads: Mapping[int, ThreadState], debugger: AbstractSet[int]
) -> tuple[ThreadState, ...]:
    """Return a process's own threads if each of them waits without a time-out, else none.

    Where the debugger's threads are not known, none is: they wait with time-outs.
    """
    own = tuple(one for number, one in threads.items() if number not in debugger)
    if not debugger or not all(
        one.state in _ASLEEP and one.call is not None and waits_forever(one.call) for one in own
    ):
        return ()
    return own


async def pause_session(session: Session, seconds: float) -> None:
    """Stop one session, without waiting for the stops of others (bounded).

    It is stopped to be read: if it stops later than that, it runs on.
    """
    timeline = session.timeline
    limit = asyncio.get_running_loop().time() + seconds
    try:
        await session.pause()
        while session.state is State.RUNNING:
            # Taken before the state is read: a stop in between wakes the wait at once.
            cursor = timeline.cursor()
            remaining = limit - asyncio.get_running_loop().time()
            if session.state is not State.RUNNING or remaining <= 0:
                break
            await timeline.wait(cursor, _CHANGES, remaining)
    finally:
        # Also where the one who waits is cancelled: nobody else would let it run on.
        session.pause_requests.withdraw()
    if session.state is not State.RUNNING:
        session.mark_reported()  # the answer shows it


@asynccontextmanager
async def stop_briefly(session: Session, seconds: float) -> AsyncIterator[bool]:
    """Stop a running session for as long as it is read; yield whether it has stopped for that."""
    if session.state is not State.RUNNING:
        yield False
        return
    try:
        await pause_session(session, seconds)
        yield _is_paused(session)
    finally:
        # One that has stopped at a breakpoint meanwhile stays there.
        if _is_paused(session):
            await go_on(session)


def _is_paused(session: Session) -> bool:
    stop = session.last_stop
    is_pause = stop is not None and stop.reason is StopReason.PAUSE
    return session.state is State.STOPPED and is_pause
