"""Steps end in the right place, whatever breakpoint is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import marker, source
from debugger.backends.base import LogpointPassed
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ExitedProgram, Frame, ResumeKind, Stopped, StopReason
from kits import every_kit, where
from kits.kit import Kit, native
from live import Driven

_ROUND = 6  # steps; a turn of the loop has fewer
_IN_C = where(lambda kit: Path(kit.file).name == "loop.c")


async def _step(one: Driven, stop: Stopped, how: ResumeKind) -> tuple[Stopped, Frame]:
    await one.go_on(stop, how)
    stop = await one.seen.next((Stopped, ExitedProgram))
    assert isinstance(stop, Stopped), "the step was lost"
    return stop, await one.frame(stop)


async def _round(one: Driven, kit: Kit, stop: Stopped) -> Stopped:
    """Step until the loop comes to its call again."""
    for _ in range(_ROUND):
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.function) == (StopReason.STEP, kit.outer)
        if frame.line == kit.call_line:
            return stop
    raise AssertionError("the loop did not come back to its call")


async def _in_the_loop(one: Driven, kit: Kit, **changes: Any) -> Stopped:
    """Stop at the call in the first turn; the breakpoint there is another from then on."""
    stop = await one.to_stop(kit.loop(), BreakpointSpec(file=kit.file, line=kit.call_line))
    (bound,) = await one.add(BreakpointSpec(file=kit.file, line=kit.call_line, **changes))
    assert bound.verified, bound
    return stop


@pytest.mark.parametrize("way", ["condition", "hit_count"])
@every_kit
async def test_a_step_ends_at_a_breakpoint_that_need_not_stop_and_leaves_it_as_it_was(
    kit: Kit, drive: Callable[[Kit], Any], way: str
):
    wanted: Any = {"condition": f"i == {kit.first + 3}", "hit_count": 3}[way]
    async with drive(kit) as one:
        stop = await _in_the_loop(one, kit, **{way: wanted})
        for turn in (1, 2):
            stop = await _round(one, kit, stop)
            assert await one.value(stop, "i") == str(kit.first + turn)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.BREAKPOINT
        assert await one.value(stop, "i") == str(kit.first + 3)


@every_kit
async def test_a_step_ends_at_a_logpoint_which_logs_once(kit: Kit, drive: Callable[[Kit], Any]):
    async with drive(kit) as one:
        stop = await _in_the_loop(one, kit, log="at {i}")
        for _ in range(2):
            stop = await _round(one, kit, stop)
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == kit.ends
        logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
        assert logged == [f"at {kit.first + turn}" for turn in range(1, 5)]


@every_kit
async def test_a_step_over_a_call_stops_at_the_condition_that_holds_in_it(
    kit: Kit, drive: Callable[[Kit], Any]
):
    async with drive(kit) as one:
        stop = await one.to_stop(kit.loop(), BreakpointSpec(file=kit.file, line=kit.call_line))
        await one.add(BreakpointSpec(file=kit.file, line=kit.stop_line, condition=kit.condition(1)))
        stop = await _round(one, kit, stop)
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.function) == (StopReason.BREAKPOINT, kit.inner)
        assert await one.value(stop, kit.variable) == str(kit.first + 1)


@_IN_C
async def test_a_step_over_a_recursion_stops_at_the_condition_that_holds_in_it(
    kit: Kit, drive: Callable[[Kit], Any]
):
    file, deeper = str(source("recursion.c")), marker("recursion.c", "deeper")
    program = native("recursion.c", "9")(Path())
    async with drive(kit) as one:
        stop = await one.to_stop(program, BreakpointSpec(file=file, line=deeper))
        await one.add(BreakpointSpec(file=file, line=deeper, condition="depth == 6"))
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.line) == (StopReason.BREAKPOINT, deeper)
        assert await one.value(stop, "depth") == "6"
        # The step in here ends where the one over all, which was interrupted, has yet to come.
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert stop.reason is StopReason.STEP
        assert await one.value(stop, "depth") == "6"
