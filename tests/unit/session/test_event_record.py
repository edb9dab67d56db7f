"""Events say where something happened only where that is known."""

from __future__ import annotations

from debugger.model.breakpoints import Breakpoints, BreakpointSpec
from debugger.model.events import EventKind
from debugger.model.program import Stopped, StopReason
from debugger.session.event_record import EventRecord
from debugger.session.timeline import Filters, Timeline


def test_the_stop_of_a_watchpoint_does_not_name_the_function_that_it_was_set_in() -> None:
    timeline, breakpoints = Timeline(), Breakpoints()
    record = EventRecord(timeline, "app", breakpoints)
    line = breakpoints.add(BreakpointSpec(file="/a.c", line=3))
    watched = breakpoints.add(BreakpointSpec(watch="n", function="main"))
    record.add_stop(Stopped(StopReason.BREAKPOINT, "breakpoint", 1), (line.id,))
    record.add_stop(Stopped(StopReason.WATCHPOINT, "watchpoint", 1), (watched.id,))
    page = timeline.events(Filters(kinds=frozenset({EventKind.STOP})))
    assert [(one.file, one.function) for one in page.events] == [("/a.c", None), (None, None)]
