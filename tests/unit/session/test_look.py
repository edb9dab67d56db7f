"""Is a stop named by what the session alone knows?"""

from __future__ import annotations

import pytest

from debugger.core.breakpoints import Breakpoint, Spec
from debugger.core.model import Reason, Stopped
from debugger.session.look import named


@pytest.mark.parametrize("reason", [Reason.STEP, Reason.BREAKPOINT, Reason.PAUSE])
def test_a_stop_that_was_asked_for_is_a_pause_whatever_the_adapter_calls_it(reason: Reason):
    stop = named(Stopped(reason, reason.value), [], is_entry=False, is_pause=True)
    assert (stop.reason, stop.raw_reason) == (Reason.PAUSE, reason.value)


def test_a_breakpoint_that_is_hit_while_a_pause_is_asked_for_is_a_breakpoint():
    hit = Breakpoint(id=1, spec=Spec(file="/a.c", line=3))
    stop = named(Stopped(Reason.BREAKPOINT, "breakpoint"), [hit], is_entry=False, is_pause=True)
    assert stop.reason is Reason.BREAKPOINT


def test_a_step_that_nobody_paused_is_a_step():
    stop = named(Stopped(Reason.STEP, "step"), [], is_entry=False, is_pause=False)
    assert stop.reason is Reason.STEP
