"""Encodes and decodes the names of a step's breakpoint sites."""

from __future__ import annotations

from typing import Final

from debugger.backends.inprocess.engine.engine_events import ThreadPaused

PREFIX: Final = "step."


def site_name(number: int, unseen: int) -> str:
    """Name a point where so many inlined copies begin that the step has not gone into."""
    return f"{PREFIX}{number}.{unseen}"


def is_step(point: str) -> bool:
    """Tell whether a point is a step's."""
    return point.startswith(PREFIX)


def count_hidden(paused: ThreadPaused) -> int:
    """Count the innermost frames that a thread's step has not gone into, though it is there.

    An inlined copy begins where its call is: who has stepped to the call is not inside.
    """
    if not paused.points or not all(map(is_step, paused.points)):
        return 0
    return min(int(one.rpartition(".")[2]) for one in paused.points)
