"""Events say where something happened only where that is known."""

from __future__ import annotations

from debugger.core.breakpoints import Breakpoints, Spec
from debugger.core.events import Kind
from debugger.core.model import Reason, Stopped
from debugger.session.record import Record
from debugger.timeline import Filters, Timeline


def test_the_stop_of_a_watchpoint_does_not_name_the_function_that_it_was_set_in() -> None:
    timeline, breakpoints = Timeline(), Breakpoints()
    record = Record(timeline, "app", breakpoints)
    line = breakpoints.add(Spec(file="/a.c", line=3))
    watched = breakpoints.add(Spec(watch="n", function="main"))
    record.stop(Stopped(Reason.BREAKPOINT, "breakpoint", 1), (line.id,))
    record.stop(Stopped(Reason.WATCHPOINT, "watchpoint", 1), (watched.id,))
    page = timeline.events(Filters(kinds=frozenset({Kind.STOP})))
    assert [(one.file, one.function) for one in page.events] == [("/a.c", None), (None, None)]
