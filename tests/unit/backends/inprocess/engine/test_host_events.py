"""A program that became another and ended since is reported as such."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from debugger.backends.inprocess.engine.engine_events import (
    EngineEvent,
    EngineExited,
    EngineLost,
    ProgramReplaced,
)
from debugger.backends.inprocess.engine.host_events import HostEventDispatcher

# The kernel's numbers end below this one, so that no process has it.
NOBODY = 1 << 22
WHY = "it gives rights to who runs it"


class FakeAgentConnection:
    def take_end(self, reason: str) -> None:
        self.reason = reason


async def report_events(*events: dict[str, Any]) -> list[EngineEvent]:
    seen: list[EngineEvent] = []
    hearing = HostEventDispatcher(seen.append)
    inside: Any = FakeAgentConnection()
    hearing.set_agent(inside)
    hearing.pid = NOBODY
    hearing.ready.set_result(0)
    for event in events:
        hearing.handle_event(event)
    return seen


FREE = {"event": "became", "pid": NOBODY, "child": NOBODY, "at": 0, "why": WHY}
LAST = {"type": "send", "payload": {"type": "last", "tally": {}}}
SAID_LAST = {"event": "message", "pid": NOBODY, "message": LAST, "data": None}


def gone(reason: str) -> dict[str, Any]:
    return {"event": "detached", "pid": NOBODY, "reason": reason}


@pytest.mark.parametrize("reason", ["process-terminated", "process-replaced"])
async def test_what_became_another_and_ended_at_once_is_told_with_the_reason(reason: str):
    lost, became = await report_events(FREE, gone(reason))
    assert isinstance(lost, EngineLost)
    assert became == ProgramReplaced(at=0, why=WHY)


async def test_what_could_not_become_another_ends_as_itself():
    (lost,) = await report_events(FREE, SAID_LAST, gone("process-terminated"))
    assert lost == EngineLost(reason="process-terminated")


async def test_who_was_left_by_us_has_become_nothing():
    (lost,) = await report_events(FREE, gone("application-requested"))
    assert lost == EngineLost(reason="application-requested")


async def test_the_end_of_a_program_whose_child_keeps_its_connection_open_is_told_at_once():
    seen: list[EngineEvent] = []
    hearing = HostEventDispatcher(seen.append)
    inside = FakeAgentConnection()
    hearing.set_agent(cast("Any", inside))
    hearing.pid = NOBODY
    hearing.ready.set_result(0)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        ended: asyncio.Future[tuple[int | None, int | None]] = asyncio.Future()
        hearing.watch_for_end(ended, tasks)
        hearing.handle_event(SAID_LAST)
        ended.set_result((3, None))
    # What is asked of it now is refused, and waits for nobody.
    assert inside.reason == "process-terminated"
    assert seen == [EngineLost(reason="process-terminated"), EngineExited(status=3, signal=None)]
