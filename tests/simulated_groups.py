"""Groups of sessions whose programs are in memory."""

from __future__ import annotations

import asyncio
from typing import Any

from debugger.backends.base import ChildStarted
from debugger.session.group import Group, MemberFacts
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from event_loop import await_condition
from fakes.fake_backend import LAUNCH, FakeBackend


async def start_program(sessions: SessionList) -> tuple[Group, FakeBackend]:
    """Start a program as the main member of the group `job`."""
    made: list[FakeBackend] = []

    def make(sink: Any, tasks: asyncio.TaskGroup) -> FakeBackend:
        made.append(FakeBackend(sink, tasks))
        return made[-1]

    main = await sessions.create(LAUNCH, make, name="job")
    await main.run_job(main.start_program)
    return sessions.groups.add("job", main, is_main=True), made[-1]


async def start_member(above: FakeBackend) -> FakeBackend:
    """Let a program start another one."""
    child = FakeBackend(lambda _: None, None)  # type: ignore[arg-type]
    above.sink(ChildStarted(child, 4712, ("worker.py",)))
    await await_condition(lambda: "run" in child.calls, what="the child's run")
    return child


async def start_joined(
    sessions: SessionList, first: Session | None, name: str | None = None
) -> tuple[Session, FakeBackend]:
    """Start a program that nothing of ours has started, as a member of the first one's group."""
    made: list[FakeBackend] = []

    def make(sink: Any, tasks: asyncio.TaskGroup) -> FakeBackend:
        made.append(FakeBackend(sink, tasks))
        return made[-1]

    chosen = name if first is None else sessions.name_member(first)
    session = await sessions.create(LAUNCH, make, name=chosen, joined=first)
    await session.run_job(session.start_program)
    return session, made[-1]


async def start_group(sessions: SessionList, count: int) -> tuple[Group, list[FakeBackend]]:
    """Start a program with processes below it, ranks 0 to count - 1, all of them stopped."""
    group, above = await start_program(sessions)
    group.note_facts(group.first, MemberFacts({}))
    backends = [await start_member(above) for _ in range(count)]
    members = [one for one in group.sessions() if one is not group.first]
    for rank, session in enumerate(members):
        group.note_facts(session, MemberFacts({"RANK": str(rank)}))
    for backend in backends:
        backend.stop(10)
    await await_condition(
        lambda: all(one.last_stop is not None for one in members), what="all stops"
    )
    return group, backends
