"""Defines the answer about the functions that a run called."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.questions.recordings.answer import CallRow, RunView


class WayView(Struct, frozen=True):
    """How `count` calls came to a place: functions, outermost first, each with file and line.

    The line is the one of the call; where it is not known 0, or, for all of them, the function's.
    """

    count: int
    steps: tuple[tuple[str, str, int], ...]


class LineCount(Struct, frozen=True):
    """How often a line ran; with a column, what begins there within it."""

    line: int
    times: int
    text: str
    column: int = 0


class PlaceView(Struct, frozen=True):
    """A function that was asked about: how often it was called, by which ways.

    `lines` are there where only counts are known, and not the ways.
    """

    function: str
    file: str
    line: int
    calls: int
    ways: tuple[WayView, ...]
    more_ways: int = 0
    lines: tuple[LineCount, ...] = ()


class EntryView(Struct, frozen=True):
    """Values of an argument, or of what came back, that only failing or passing runs had."""

    name: str
    failing: tuple[str, ...]
    passing: tuple[str, ...]


class SuspectView(Struct, frozen=True):
    """A function, or lines of one, with its score and how many runs of each kind came to it."""

    function: str
    file: str
    line: int
    score: float
    failing: int
    passing: int
    last: int = 0
    column: int = 0  # what begins there within the line
    text: str = ""
    entries: tuple[EntryView, ...] = ()


class PathAnswer(Struct, frozen=True):
    """What ran: the program's own functions as a tree, or what only failing runs did.

    `runs` are those that failed, then those that passed (the last `passing`); `rows` is the tree
    of one run. `rows_total` counts its lines with those that are not here. `suspects` are there
    when runs were compared: functions, and lines.
    """

    runs: tuple[RunView, ...]
    passing: int = 0
    calls: int = 0
    functions: int = 0
    files: int = 0
    rows: tuple[CallRow, ...] = ()
    rows_total: int = 0
    places: tuple[PlaceView, ...] = ()
    between: tuple[str, ...] = ()
    suspects: tuple[SuspectView, ...] = ()
    suspect_lines: tuple[SuspectView, ...] = ()
    passing_lines: tuple[SuspectView, ...] = ()
    timed_out: bool = False
    engine: str = ""
    has_lines: bool = True  # whether lines were recorded, and not calls alone
    process: str | None = None  # the child process whose tree it is; else the program's own
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
