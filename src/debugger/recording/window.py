"""Defines the part of a run between two locations of which counts are reported. Pure.

What counts writes what it has where the program first comes to one place, and again where it next
comes to the other. Of functions that were entered before, only what they came to then is known.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from debugger.core.locate import matching
from debugger.recording.model import Noted, Recording
from debugger.recording.order import Place

_BEGAN, _ENDED = "began", "ended"


class Window(Struct, frozen=True):
    """From the first time at `start` to the next at `to`; `fits` knows by which names one is meant.

    `fits` takes what the user wrote, and the whole name of a function.
    """

    start: Place
    to: Place
    fits: Callable[[str, str], bool]

    def has_line(self, place: Place, file: str) -> int:
        """Return which line of a file a place means; 0 for none."""
        return place.line if place.file and matching(place.file, [file]) else 0

    def has_name(self, place: Place, *names: str) -> bool:
        """Tell whether one of a function's names is meant."""
        return bool(place.name) and any(self.fits(place.name, one) for one in names)


def marked(*, has_ended: bool) -> tuple[Noted, ...]:
    """Return what says of a recording that it is of such a part of a run alone."""
    return tuple(Noted(kind, 0, "") for kind in (_BEGAN, *([_ENDED] if has_ended else [])))


def has_begun(recording: Recording) -> bool:
    """Tell whether the process came to the first place; otherwise all of it was recorded."""
    return _has(recording, _BEGAN)


def has_ended(recording: Recording) -> bool:
    """Tell whether the process came to the other place then."""
    return _has(recording, _ENDED)


def _has(recording: Recording, kind: str) -> bool:
    return any(isinstance(one, Noted) and one.kind == kind for one in recording.events)
