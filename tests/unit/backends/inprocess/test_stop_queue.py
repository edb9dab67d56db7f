"""One stop is reported at a time, and waiting threads are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from debugger.backends.inprocess import stop_queue as module
from debugger.backends.inprocess.stop_queue import StopQueue
from debugger.model.program import Stopped, StopReason

MAIN, FIRST, SECOND = 10, 11, 12


class Threads:
    """The engine: which threads were let go, and which were asked to pause."""

    def __init__(self) -> None:
        self.resumed: list[int] = []
        self.asked: list[int] = []

    @property
    def engine(self) -> Threads:
        return self

    def resume(self, threads: Iterable[int] | None = None) -> list[int]:
        self.resumed += sorted(threads or ())
        return list(threads or ())

    async def pause(self, threads: Iterable[int] | None = None) -> list[int]:
        going = [one for one in threads or () if one not in self.asked]
        self.asked += sorted(going)
        return going


class Table:
    """The queue under test, and what it told."""

    def __init__(self) -> None:
        self.threads = Threads()
        self.told: list[Stopped] = []
        self.removed: set[int] = set()
        self.stops = StopQueue(self.threads, tell=self.told.append, holds=self._holds)

    def _holds(self, stop: Stopped) -> bool:
        return not set(stop.hits) & self.removed

    def told_of(self) -> list[int | None]:
        return [one.thread for one in self.told]


@pytest.fixture
async def table() -> Table:
    return Table()


def hit(thread: int, number: int = 1) -> Stopped:
    return Stopped(StopReason.BREAKPOINT, "breakpoint", thread, hits=(number,))


def paused(thread: int) -> Stopped:
    return Stopped(StopReason.PAUSE, "pause", thread)


async def test_a_second_stop_waits_until_the_first_has_gone_on(table):
    table.stops.add_stop(hit(FIRST))
    table.stops.add_stop(hit(SECOND))
    assert table.told_of() == [FIRST]
    assert table.stops.waiting_threads == [SECOND]
    table.stops.go_on()
    assert table.told_of() == [FIRST, SECOND]
    assert table.threads.resumed == [FIRST]


async def test_a_stop_whose_breakpoint_was_removed_meanwhile_is_none(table):
    table.stops.add_stop(hit(FIRST))
    table.stops.add_stop(hit(SECOND, 2))
    table.removed.add(2)
    table.stops.go_on()
    assert table.told_of() == [FIRST]
    assert table.threads.resumed == [FIRST, SECOND]


async def test_one_thread_goes_on_alone_and_the_others_go_with_the_next(table):
    await table.stops.pause_all([MAIN, FIRST])
    table.stops.add_stop(paused(MAIN))
    table.stops.add_stop(paused(FIRST))
    table.stops.go_on_alone(FIRST)
    assert table.threads.resumed == [FIRST]
    table.stops.add_stop(hit(FIRST))
    table.stops.go_on()
    assert table.threads.resumed == [FIRST, MAIN, FIRST]


async def test_all_threads_pause_as_one_stop(table):
    await table.stops.pause_all([MAIN, FIRST, SECOND])
    for thread in (SECOND, MAIN):
        table.stops.add_stop(paused(thread))
        assert table.told == []
    table.stops.add_stop(paused(FIRST))
    assert table.told == [paused(MAIN)]
    table.stops.go_on()
    assert sorted(table.threads.resumed) == [MAIN, FIRST, SECOND]


async def test_a_breakpoint_that_comes_before_the_pause_of_all_is_told_after_it(table):
    await table.stops.pause_all([MAIN, FIRST])
    table.stops.add_stop(hit(FIRST))
    table.stops.add_stop(paused(MAIN))
    assert table.told == [paused(MAIN)]
    table.stops.go_on()
    assert table.told == [paused(MAIN), hit(FIRST)]


async def test_a_thread_that_does_not_pause_is_not_waited_for(table, monkeypatch):
    monkeypatch.setattr(module, "GATHER_S", 0.01)
    await table.stops.pause_all([MAIN, FIRST])
    table.stops.add_stop(paused(MAIN))
    await _until(table, 1)
    # It comes at last: it stays, and goes on with the others.
    table.stops.add_stop(paused(FIRST))
    assert table.told == [paused(MAIN)]
    table.stops.go_on()
    assert sorted(table.threads.resumed) == [MAIN, FIRST]


async def test_a_pause_that_comes_after_another_stop_is_none(table):
    await table.stops.pause_one([MAIN, FIRST])
    assert table.threads.asked == [MAIN]
    table.stops.add_stop(hit(FIRST))
    table.stops.add_stop(paused(MAIN))
    assert table.told == [hit(FIRST)]
    assert table.threads.resumed == [MAIN]


async def test_another_thread_is_asked_where_one_does_not_pause(table):
    await table.stops.pause_one([MAIN, FIRST])
    await table.stops.pause_one([MAIN, FIRST])
    assert table.threads.asked == [MAIN, FIRST]
    table.stops.add_stop(paused(FIRST))
    assert table.told == [paused(FIRST)]


async def test_who_waits_is_told_of_after_the_step(table):
    table.stops.add_stop(hit(FIRST))
    table.stops.add_stop(hit(SECOND))
    table.stops.note_step(FIRST)
    assert table.told_of() == [FIRST]
    table.stops.add_stop(Stopped(StopReason.STEP, "step", FIRST))
    assert table.told[1:] == [Stopped(StopReason.STEP, "step", FIRST)]
    table.stops.go_on()
    assert table.told_of() == [FIRST, FIRST, SECOND]


async def test_a_step_that_does_not_end_holds_up_nobody(table, monkeypatch):
    monkeypatch.setattr(module, "STEP_FIRST_S", 0.01)
    table.stops.add_stop(hit(FIRST))
    table.stops.add_stop(hit(SECOND))
    table.stops.note_step(FIRST)
    await _until(table, 2)
    assert table.told_of() == [FIRST, SECOND]


async def test_a_step_that_cannot_begin_leaves_the_thread_where_it_was(table):
    table.stops.add_stop(hit(FIRST))
    table.stops.note_step(FIRST)
    table.stops.stepped_in_vain(FIRST)
    table.stops.add_stop(hit(SECOND))
    assert table.told_of() == [FIRST]
    table.stops.go_on()
    assert table.threads.resumed == [FIRST]


async def _until(table: Table, count: int) -> None:
    async with asyncio.timeout(60):
        while len(table.told) < count:
            await asyncio.sleep(0.005)
