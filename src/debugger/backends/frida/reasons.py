"""Names why a thread has paused, in the words that all backends share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from debugger.backends.frida.engine.events import Paused
from debugger.backends.frida.looking.crashes import address, reason
from debugger.core.model import Exited, Reason, Stopped
from debugger.core.signals import signal_name

ENTRY = "entry "


class Known(Protocol):
    """The breakpoints that are wanted."""

    def number(self, point: str) -> int | None:
        """Return the number of the breakpoint that a point is of; None if it is wanted no more."""

    def caught(self, numbers: Iterable[int]) -> str | None:
        """Return the word for what breakpoints catch; None where one is at a place."""


def stopped(paused: Paused, known: Known) -> Stopped | None:
    """Read what a thread has told; None for what is no stop of the user's."""
    match paused.reason:
        case "breakpoint":
            return _at_points(paused, known)
        case "pause":
            return Stopped(Reason.PAUSE, "pause", paused.thread)
        case "watch":
            hits = tuple(int(name) for name, _, _ in paused.watches if name.lstrip("-").isdigit())
            return Stopped(Reason.WATCHPOINT, "watch", paused.thread, hits=hits)
        case "crash":
            return _crashed(paused)
    return None


def _at_points(paused: Paused, known: Known) -> Stopped | None:
    numbers = [known.number(point) for point in paused.points]
    hits = tuple(dict.fromkeys(one for one in numbers if one is not None))
    word = known.caught(hits) if hits else None
    if word is not None:
        return Stopped(Reason.EXCEPTION, word, paused.thread, hits=hits)
    if hits:
        return Stopped(Reason.BREAKPOINT, "breakpoint", paused.thread, hits=hits)
    if any(point.startswith(ENTRY) for point in paused.points):
        return Stopped(Reason.ENTRY, "entry", paused.thread)
    return None


def _crashed(paused: Paused) -> Stopped:
    name, why, about = signal_name(paused.signal), reason(paused), address(paused)
    said = f"signal {name}" + (f": {why}" if why else "")
    said += f" (address {about:#x})" if about is not None else ""
    return Stopped(Reason.SIGNAL, "crash", paused.thread, description=said, text=name, signal=name)


def exited(status: int | None, number: int | None, *, is_guest: bool) -> Exited:
    """Read how a program ended."""
    if number is not None:
        return Exited(signal=signal_name(number))
    doubt = "its status is known only to who started it" if is_guest and status is None else None
    return Exited(code=status, doubt=doubt)
