"""Defines the part of a run between two locations of which counts are reported. Pure.

What counts writes what it has where the program first comes to one place, and again where it next
comes to the other. Of functions that were entered before, only what they came to then is known.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from debugger.model.location import match_paths
from debugger.recorders.model import Recording, RecordingNote
from debugger.recorders.recording_order import FunctionPlace

_BEGAN, _ENDED = "began", "ended"


class RecordingWindow(Struct, frozen=True):
    """From the first time at `start` to the next at `to`; `fits` knows by which names one is meant.

    `fits` takes what the user wrote, and the whole name of a function.
    """

    start: FunctionPlace
    to: FunctionPlace
    fits: Callable[[str, str], bool]

    def has_line(self, place: FunctionPlace, file: str) -> int:
        """Return which line of a file a place means; 0 for none."""
        return place.line if place.file and match_paths(place.file, [file]) else 0

    def has_name(self, place: FunctionPlace, *names: str) -> bool:
        """Tell whether one of a function's names is meant."""
        return bool(place.name) and any(self.fits(place.name, one) for one in names)


def window_notes(*, has_ended: bool) -> tuple[RecordingNote, ...]:
    """Return what says of a recording that it is of such a part of a run alone."""
    return tuple(RecordingNote(kind, 0, "") for kind in (_BEGAN, *([_ENDED] if has_ended else [])))


def has_begun(recording: Recording) -> bool:
    """Tell whether the process came to the first place; otherwise all of it was recorded."""
    return _has_note(recording, _BEGAN)


def has_ended(recording: Recording) -> bool:
    """Tell whether the process came to the other place then."""
    return _has_note(recording, _ENDED)


def _has_note(recording: Recording, kind: str) -> bool:
    return any(isinstance(one, RecordingNote) and one.kind == kind for one in recording.events)
