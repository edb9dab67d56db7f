"""A stop's name, from what the session alone knows."""

from __future__ import annotations

import pytest

from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.program import Stopped, StopReason
from debugger.session.selection import name_stop


@pytest.mark.parametrize("reason", [StopReason.STEP, StopReason.BREAKPOINT, StopReason.PAUSE])
def test_a_stop_that_was_asked_for_is_a_pause_whatever_the_adapter_calls_it(reason: StopReason):
    stop = name_stop(Stopped(reason, reason.value), [], is_entry=False, is_pause=True)
    assert (stop.reason, stop.raw_reason) == (StopReason.PAUSE, reason.value)


def test_a_breakpoint_that_is_hit_while_a_pause_is_asked_for_is_a_breakpoint():
    hit = Breakpoint(id=1, spec=BreakpointSpec(file="/a.c", line=3))
    stop = name_stop(
        Stopped(StopReason.BREAKPOINT, "breakpoint"), [hit], is_entry=False, is_pause=True
    )
    assert stop.reason is StopReason.BREAKPOINT


def test_a_step_that_nobody_paused_is_a_step():
    stop = name_stop(Stopped(StopReason.STEP, "step"), [], is_entry=False, is_pause=False)
    assert stop.reason is StopReason.STEP
