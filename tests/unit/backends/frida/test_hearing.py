"""Does anybody who waits to be entered go on where nobody is there to do so?"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from debugger.backends.frida.engine.events import Became, ChildAppeared
from debugger.backends.frida.hearing import Hearing


@pytest.mark.parametrize("is_read_later", [False, True])
async def test_who_waits_for_a_session_that_is_over_is_let_go(is_read_later):
    told = []
    engine = SimpleNamespace(pid=7, tell_child=lambda pid, at: told.append((pid, at)))
    events = [ChildAppeared(pid=8, parent=7), ChildAppeared(pid=9, parent=7, at=90), Became(at=70)]
    async with asyncio.TaskGroup() as tasks:
        hearing = Hearing(SimpleNamespace(engine=engine), tasks)
        if is_read_later:
            for event in events:
                hearing.take(event)
        hearing.mute()
        hearing.listen()
        if not is_read_later:
            for event in events:
                hearing.take(event)
    assert told == [(8, 0), (9, 90), (7, 70)]


async def test_who_runs_free_already_is_told_nothing():
    told = []
    engine = SimpleNamespace(pid=7, tell_child=lambda pid, at: told.append((pid, at)))
    async with asyncio.TaskGroup() as tasks:
        hearing = Hearing(SimpleNamespace(engine=engine), tasks)
        hearing.mute()
        hearing.listen()
        hearing.take(ChildAppeared(pid=8, parent=7, why="it is linked statically"))
        hearing.take(Became(at=0, why="it is linked statically"))
    assert told == []
