"""What does it mean that a thread has paused, in the words of every backend?"""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Protocol

from debugger.backends.frida.engine.events import Paused
from debugger.core.model import Exited, Reason, Stopped

ENTRY = "entry "

# si_code (sigaction(2)).
_MEANINGS = {
    ("SIGSEGV", 1): "nothing is mapped there",
    ("SIGSEGV", 2): "what is mapped there may not be used so",
    ("SIGSEGV", 128): "no address at all, or one that a program may not have",
    ("SIGBUS", 1): "the address is not aligned",
    ("SIGBUS", 2): "the file that is mapped there has ended",
    ("SIGFPE", 1): "integer divided by zero",
    ("SIGFPE", 2): "integer overflow",
    ("SIGFPE", 3): "floating point divided by zero",
    ("SIGILL", 1): "illegal instruction",
    ("SIGILL", 2): "illegal operand",
}
_WITH_ADDRESS = frozenset({("SIGSEGV", 1), ("SIGSEGV", 2), ("SIGBUS", 1), ("SIGBUS", 2)})


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
    name = signal_name(paused.signal)
    key = (name, paused.signal_code)
    meaning = _MEANINGS.get(key)
    if meaning is None and name == "SIGABRT":
        meaning = "the program has called abort"
    elif meaning is None and paused.signal_code <= 0:
        meaning = "it was sent"
    where = f" (address {paused.fault:#x})" if key in _WITH_ADDRESS else ""
    said = f"signal {name}" + (f": {meaning}" if meaning else "") + where
    return Stopped(Reason.SIGNAL, "crash", paused.thread, description=said, text=name, signal=name)


def signal_name(number: int) -> str:
    """Name a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def exited(status: int | None, number: int | None, *, is_guest: bool) -> Exited:
    """Read how a program ended."""
    if number is not None:
        return Exited(signal=signal_name(number))
    doubt = "its status is known only to who started it" if is_guest and status is None else None
    return Exited(code=status, doubt=doubt)
