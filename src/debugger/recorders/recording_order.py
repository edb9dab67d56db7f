"""Defines the order to a recorder: the requested events, as one JSON value. Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from debugger.model.location import match_paths
from debugger.recorders.model import Recording, RecordingNote


class LineRecording(Enum):
    """The recorded lines: none, only the set of executed lines, or each with its changes."""

    NONE = "none"
    HIT = "hit"
    EACH = "each"


class FunctionPlace(Struct, frozen=True):
    """Functions by name (`*` matches anything), by the end of their file's path, or by a line."""

    name: str = ""
    file: str = ""
    line: int = 0


class WatchOrder(Struct, frozen=True):
    """The value whose assignments are recorded: its name at a location, and the path from there."""

    root: str
    # Each step is `("attribute", name)` or `("item", key)`.
    steps: tuple[tuple[str, str | int], ...]
    # One of the requested functions; the name is resolved at its `hit`th time with `when` true.
    # Earlier writes are reported, too.
    place: FunctionPlace
    hit: int = 1
    when: str = ""


class ProbeOrder(Struct, frozen=True):
    """Expressions at a line, or at the entry of functions of a name."""

    expressions: tuple[str, ...]
    file: str = ""
    line: int = 0
    name: str = ""
    # The condition of a hit.
    when: str = ""
    # The range of hits that count, up to `last` (0: no end).
    first: int = 1
    last: int = 0
    # The range of the run's time in which hits count, up to `to_ns`.
    from_ns: int = 0
    to_ns: int = 0
    # Each function of the name is a probe of its own.
    is_split: bool = False


class RecordingLimits(Struct, frozen=True):
    """The limits of a recording; everything beyond them is only counted."""

    bytes: int = 32 << 20  # of one process's records
    files: int = 64  # processes
    text: int = 120  # characters of a value
    items: int = 6  # of a container or object that are shown
    depth: int = 2  # of containers in containers
    each: int = 50  # calls of one function that are told singly
    calls: int = 20_000  # told singly in all
    events: int = 200_000
    merged: int = 20_000  # ways to functions that are counted apart
    counted: int = 100_000  # calls that came one way, after which they are counted no more
    lines: int = 5_000  # of one call
    writes: int = 1_000  # of what is watched
    probed: int = 10_000  # hits of one probe that are told one by one; then fewer and fewer are


class RecordingOrder(Struct, frozen=True):
    """The request to a recorder."""

    # Folders of the program's own code.
    roots: tuple[str, ...]
    # Folders in `roots` that do not count; the interpreter's and installed packages never do.
    left_out: tuple[str, ...] = ()
    # If empty, everything is recorded; else only calls of these functions.
    functions: tuple[FunctionPlace, ...] = ()
    # The first recorded call of `functions`; `most` calls are recorded, those with `when` true.
    nth: int = 1
    most: int = 20
    when: str = ""
    # The depth of callees to record; -1: all.
    depth: int = -1
    lines: LineRecording = LineRecording.NONE
    # The levels of calls whose lines are recorded.
    line_depth: int = 1
    watch: WatchOrder | None = None
    # If set, only these are recorded.
    probes: tuple[ProbeOrder, ...] = ()
    # The first process whose probes all had their `last` hit ends the whole run.
    ends_run: bool = False
    # Record only failed tests.
    tests: bool = False
    # The test to trace line by line.
    traced: str = ""
    # If set, the only tests to run, in this order.
    only: tuple[str, ...] = ()
    limits: RecordingLimits = RecordingLimits()


_BEGAN, _ENDED = "began", "ended"


class RecordingWindow(Struct, frozen=True):
    """A part of a run: from the first time at `start` to the next time at `to`."""

    start: FunctionPlace
    to: FunctionPlace
    # Tells whether a name as the user typed it matches a function's full name.
    fits: Callable[[str, str], bool]

    def has_line(self, place: FunctionPlace, file: str) -> int:
        """Return the line of a file that a location names; 0 for none."""
        return place.line if place.file and match_paths(place.file, [file]) else 0

    def has_name(self, place: FunctionPlace, *names: str) -> bool:
        """Tell whether one of a function's names is an edge of the window."""
        return bool(place.name) and any(self.fits(place.name, one) for one in names)


def window_notes(*, has_ended: bool) -> tuple[RecordingNote, ...]:
    """Return the notes of a recording that is limited to a window."""
    return tuple(RecordingNote(kind, 0, "") for kind in (_BEGAN, *([_ENDED] if has_ended else [])))


def has_begun(recording: Recording) -> bool:
    """Tell whether the process reached the window's start; otherwise all of it was recorded."""
    return _has_note(recording, _BEGAN)


def has_ended(recording: Recording) -> bool:
    """Tell whether the process reached the window's end after its start."""
    return _has_note(recording, _ENDED)


def _has_note(recording: Recording, kind: str) -> bool:
    return any(isinstance(one, RecordingNote) and one.kind == kind for one in recording.events)
