"""Reserves the recorder's tool id of sys.monitoring."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBERS = (4, 3)  # PEP 669 gives them to nobody


def claimed() -> int:
    """Take a free tool id; -1 if other tools have taken both."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    for number in _NUMBERS:
        try:
            monitoring.use_tool_id(number, "debugger")
        except ValueError:
            continue
        return number
    return -1


def register_callbacks(tool: int, *callbacks: tuple[int, Any]) -> None:
    """Register the callback of each event of a tool."""
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    for event, callback in callbacks:
        monitoring.register_callback(tool, event, callback)
