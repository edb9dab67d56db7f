"""Processes that wait for injection go on where nobody injects."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from debugger.backends.inprocess.engine.engine_events import EngineChildAppeared, ProgramReplaced
from debugger.backends.inprocess.engine_event_queue import EngineEventQueue


@pytest.mark.parametrize("is_read_later", [False, True])
async def test_who_waits_for_a_session_that_is_over_is_let_go(is_read_later):
    told = []
    engine = SimpleNamespace(pid=7, send_child_word=lambda pid, at: told.append((pid, at)))
    events = [
        EngineChildAppeared(pid=8, parent=7),
        EngineChildAppeared(pid=9, parent=7, at=90),
        ProgramReplaced(at=70),
    ]
    async with asyncio.TaskGroup() as tasks:
        hearing = EngineEventQueue(SimpleNamespace(engine=engine), tasks)
        if is_read_later:
            for event in events:
                hearing.queue_event(event)
        hearing.stop_reporting()
        hearing.start_reading()
        if not is_read_later:
            for event in events:
                hearing.queue_event(event)
    assert told == [(8, 0), (9, 90), (7, 70)]


async def test_who_runs_free_already_is_told_nothing():
    told = []
    engine = SimpleNamespace(pid=7, send_child_word=lambda pid, at: told.append((pid, at)))
    async with asyncio.TaskGroup() as tasks:
        hearing = EngineEventQueue(SimpleNamespace(engine=engine), tasks)
        hearing.stop_reporting()
        hearing.start_reading()
        hearing.queue_event(EngineChildAppeared(pid=8, parent=7, why="it is linked statically"))
        hearing.queue_event(ProgramReplaced(at=0, why="it is linked statically"))
    assert told == []
