"""Watchpoints: counts, values before and after, and setting them again after a restart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from debugger.backends.abilities import WatchpointAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.program import Frame, StopReason
from debugger.session import stop_report
from debugger.session.inspection import frame_of
from debugger.session.session import Session
from fakes.fake_backend import FakeBackend


class FakeWatchpoints:
    """Four debug registers; what is watched is a variable of the fake's."""

    slot_count = 4

    def __init__(self) -> None:
        self.set: list[int] = []

    async def set_watchpoint(self, wanted: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        assert frame is not None
        if wanted.spec.watch == "1":
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, "1 has no address")
        self.set.append(wanted.id)
        return BoundBreakpoint(verified=True, backend_id=-wanted.id, again=wanted.spec.watch)

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        assert bound.backend_id is not None
        self.set.remove(-bound.backend_id)


def armed(backend: FakeBackend) -> FakeWatchpoints:
    backend.abilities[WatchpointAbility] = found = FakeWatchpoints()
    return found


async def watch(session: Session, expression: str) -> Breakpoint:
    async def job() -> Breakpoint:
        frame = await frame_of(session)
        spec = BreakpointSpec(watch=expression)
        return await session.binding.watching.add(spec, session.backend, frame)

    return await session.run_job(job)


async def watch_stop(session: Session) -> Any:
    return await session.run_job(lambda: stop_report.report_stop(session))


async def test_a_stop_shows_the_value_before_and_after(session_factory):
    session, backend = await session_factory.stopped()
    armed(backend)
    added = await watch(session, "i")
    assert session.binding.watching.last_value(added.id) == "0"
    backend.values["i"] = "7"
    backend.stop(11, StopReason.WATCHPOINT, hits=[-added.id])
    told = await watch_stop(session)
    (seen,) = told.watched
    assert (seen.id, seen.expression, seen.previous, seen.value) == (added.id, "i", "0", "7")
    assert told.hit_breakpoints == (added.id,)
    assert session.breakpoints.get(added.id).hits == 1


async def test_a_debugger_that_does_not_say_which_was_hit_is_asked_what_changed(session_factory):
    session, backend = await session_factory.stopped()
    armed(backend)
    backend.values["j"] = "5"
    await watch(session, "i")
    second = await watch(session, "j")
    backend.values["j"] = "6"
    backend.stop(11, StopReason.WATCHPOINT)
    told = await watch_stop(session)
    assert [(one.id, one.previous, one.value) for one in told.watched] == [(second.id, "5", "6")]
    assert told.hit_breakpoints == (second.id,)


async def test_the_same_stop_told_twice_says_the_same(session_factory):
    session, backend = await session_factory.stopped()
    armed(backend)
    added = await watch(session, "i")
    backend.values["i"] = "1"
    backend.stop(11, StopReason.WATCHPOINT, hits=[-added.id])
    first, second = await watch_stop(session), await watch_stop(session)
    assert first.watched == second.watched != ()


async def test_the_fifth_is_refused_and_a_removed_one_makes_room(session_factory):
    session, backend = await session_factory.stopped()
    registers = armed(backend)
    backend.values |= dict.fromkeys("abcde", "0")
    added = [await watch(session, name) for name in "abcd"]
    with pytest.raises(DebuggerError, match="all 4 hardware watchpoints are in use: 1, 2, 3, 4"):
        await watch(session, "e")
    assert len(session.breakpoints.user_breakpoints()) == len(registers.set) == 4
    await session.run_job(lambda: session.binding.remove(added[0]))
    assert (await watch(session, "e")).id == 5


@pytest.mark.parametrize("off", [True, False])
async def test_a_watchpoint_that_is_off_takes_no_register(session_factory, off: bool):
    session, backend = await session_factory.stopped()
    registers = armed(backend)
    added = await watch(session, "i")
    if off:
        await session.run_job(lambda: session.binding.enable(added.id, on=False))
        assert registers.set == []
    frame = await session.run_job(lambda: frame_of(session))
    again = await session.run_job(lambda: session.binding.enable(added.id, on=True, frame=frame))
    assert again.bound is not None
    assert again.bound.verified
    assert registers.set == [added.id]


async def test_what_cannot_be_watched_leaves_nothing_behind(session_factory):
    session, backend = await session_factory.stopped()
    armed(backend)
    with pytest.raises(DebuggerError, match="no address"):
        await watch(session, "1")
    assert session.breakpoints.user_breakpoints() == []


async def test_a_debugger_without_watchpoints_refuses(session_factory):
    session, _ = await session_factory.stopped()
    with pytest.raises(DebuggerError) as raised:
        await watch(session, "i")
    assert raised.value.code is ErrorCode.NOT_SUPPORTED


async def test_after_a_restart_it_is_set_again_in_its_function(
    session_factory, patience: Callable[..., Any]
):
    del patience
    session, backend = await session_factory.stopped()
    armed(backend)
    added = await watch(session, "i")
    await session.run_job(session.restart)
    again = session_factory.backends[-1]
    registers = armed(again)
    assert registers.set == []
    again.values["i"] = "3"
    again.stop(10)
    await watch_stop(session)
    assert registers.set == [added.id]
    assert session.binding.watching.last_value(added.id) == "3"
