"""Stores the events of a process tree in order, within limits."""

from __future__ import annotations

from debugger.session.timeline.database import remove_abandoned
from debugger.session.timeline.event_rows import number_of
from debugger.session.timeline.event_store import Timeline
from debugger.session.timeline.search_plan import (
    EventPage,
    Filters,
    LinePage,
    LogLine,
    ReturnedCondition,
)

__all__ = [
    "EventPage",
    "Filters",
    "LinePage",
    "LogLine",
    "ReturnedCondition",
    "Timeline",
    "number_of",
    "remove_abandoned",
]
