"""Defines the order to a recorder: the requested events, as one JSON value. Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from debugger.model.location import match_paths
from debugger.recorders.model import Recording, RecordingNote


class LineRecording(Enum):
    """Which lines are recorded: none, which were passed at all, or each with what it changed."""

    NONE = "none"
    HIT = "hit"
    EACH = "each"


class FunctionPlace(Struct, frozen=True):
    """Functions by name (`*` stands for anything), by the end of their file's path, by a line."""

    name: str = ""
    file: str = ""
    line: int = 0


class WatchOrder(Struct, frozen=True):
    """Whose assignments are told: a value's, by its name at a place, and steps from there.

    A step is `("attribute", name)` or `("item", key)`. The name is meant the `hit`th time that the
    place is reached, which is one of the functions asked for, and `when` holds; what wrote it
    before is told, too.
    """

    root: str
    steps: tuple[tuple[str, str | int], ...]
    place: FunctionPlace
    hit: int = 1
    when: str = ""


class ProbeOrder(Struct, frozen=True):
    """Expressions at a line, or where functions of a name are entered.

    Of the hits at which `when` holds, those from `first` to `last` count (0: to the end), within
    these nanoseconds of the run. With `is_split` each function of the name is a probe of its own.
    """

    expressions: tuple[str, ...]
    file: str = ""
    line: int = 0
    name: str = ""
    when: str = ""
    first: int = 1
    last: int = 0
    from_ns: int = 0
    to_ns: int = 0
    is_split: bool = False


class RecordingLimits(Struct, frozen=True):
    """How much is recorded at most; all else is counted."""

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
    """What is to be recorded of a program.

    `roots` hold the program's own code, without what lies in `left_out`, in the interpreter's own
    folders or in installed packages. Without `functions`, all of it is recorded; with them, the
    calls of these from the `nth` on, `most` of them, for which `when` holds, with their callees
    down to `depth` (-1: all), and lines of the first `line_depth` levels. With `probes` only these
    are recorded; with `tests` only the tests that fail, that called `traced` line by line. Where
    there are any in `only`, these are the only tests that are run, in this order. With `ends_run`
    the first process whose probes all had their `last` hit has the whole run ended.
    """

    roots: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    functions: tuple[FunctionPlace, ...] = ()
    nth: int = 1
    most: int = 20
    when: str = ""
    depth: int = -1
    lines: LineRecording = LineRecording.NONE
    line_depth: int = 1
    watch: WatchOrder | None = None
    probes: tuple[ProbeOrder, ...] = ()
    ends_run: bool = False
    tests: bool = False
    traced: str = ""
    only: tuple[str, ...] = ()
    limits: RecordingLimits = RecordingLimits()


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
