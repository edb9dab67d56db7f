"""Names why a thread has paused, in the words that all backends share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.inspection.inspector import signal_address, signal_reason
from debugger.model.program import ExitedProgram, Stopped, StopReason
from debugger.model.signals import signal_name

ENTRY = "entry "


class InstalledBreakpoints(Protocol):
    """The breakpoints that are wanted."""

    def breakpoint_number(self, point: str) -> int | None:
        """Return the number of the breakpoint that a point is of; None if it is wanted no more."""

    def caught_word(self, numbers: Iterable[int]) -> str | None:
        """Return the word for what breakpoints catch; None where one is at a place."""


def to_stopped(paused: ThreadPaused, known: InstalledBreakpoints) -> Stopped | None:
    """Read what a thread has told; None for what is no stop of the user's."""
    match paused.reason:
        case "breakpoint":
            return _at_points(paused, known)
        case "pause":
            return Stopped(StopReason.PAUSE, "pause", paused.thread)
        case "watch":
            hits = tuple(int(name) for name, _, _ in paused.watches if name.lstrip("-").isdigit())
            return Stopped(StopReason.WATCHPOINT, "watch", paused.thread, hits=hits)
        case "crash":
            return _crash_stop(paused)
    return None


def _at_points(paused: ThreadPaused, known: InstalledBreakpoints) -> Stopped | None:
    numbers = [known.breakpoint_number(point) for point in paused.points]
    hits = tuple(dict.fromkeys(one for one in numbers if one is not None))
    word = known.caught_word(hits) if hits else None
    if word is not None:
        return Stopped(StopReason.EXCEPTION, word, paused.thread, hits=hits)
    if hits:
        return Stopped(StopReason.BREAKPOINT, "breakpoint", paused.thread, hits=hits)
    if any(point.startswith(ENTRY) for point in paused.points):
        return Stopped(StopReason.ENTRY, "entry", paused.thread)
    return None


def _crash_stop(paused: ThreadPaused) -> Stopped:
    name, why, about = signal_name(paused.signal), signal_reason(paused), signal_address(paused)
    said = f"signal {name}" + (f": {why}" if why else "")
    said += f" (address {about:#x})" if about is not None else ""
    return Stopped(
        StopReason.SIGNAL, "crash", paused.thread, description=said, text=name, signal=name
    )


def to_exited(status: int | None, number: int | None, *, is_guest: bool) -> ExitedProgram:
    """Read how a program ended."""
    if number is not None:
        return ExitedProgram(signal=signal_name(number))
    doubt = "its status is known only to who started it" if is_guest and status is None else None
    return ExitedProgram(code=status, doubt=doubt)
