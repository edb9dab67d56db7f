"""The event store: what happened, in order, within bounds."""

from __future__ import annotations

from debugger.session.timeline.event_rows import number_of
from debugger.session.timeline.event_store import Timeline
from debugger.session.timeline.filters import Filters, ReturnedCondition
from debugger.session.timeline.pages import EventPage, LinePage, LogLine
from debugger.session.timeline.timeline_folder import remove_abandoned

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
