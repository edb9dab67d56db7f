"""The event store: what happened, in order, within bounds."""

from __future__ import annotations

from debugger.timeline.readings import Line, Lines, Page
from debugger.timeline.store import Timeline

__all__ = ["Line", "Lines", "Page", "Timeline"]
