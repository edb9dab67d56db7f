"""The event store: what happened, in order, within bounds."""

from __future__ import annotations

from debugger.timeline.asked import Filters, Returned
from debugger.timeline.folder import remove_left
from debugger.timeline.readings import Line, Lines, Page
from debugger.timeline.rows import number_of
from debugger.timeline.store import Timeline

__all__ = ["Filters", "Line", "Lines", "Page", "Returned", "Timeline", "number_of", "remove_left"]
