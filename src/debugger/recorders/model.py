"""Models a recording, the ordered events of one process, and the order to a recorder. Pure.

A call is an event of its own, or one of several that share a number and a count; each belongs to
its caller's number. Values are texts that the recorder truncated when it read them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from debugger.model.group_labels import RANK_VARIABLES
from debugger.model.location import match_paths
from debugger.recorders.test_failures import FailedTestRecord


class RecordedFunction(Struct, frozen=True):
    """A function of the program; `file` is absolute, `line` where it is defined."""

    number: int
    name: str
    file: str = ""
    line: int = 0
    is_users: bool = True


class RecordedValue(Struct, frozen=True):
    """A name and its value; None: it has none any more."""

    name: str
    text: str | None


class CallEntered(Struct, frozen=True, tag=True, tag_field="event"):
    """A call begins; `line` is the caller's, `at` the nanoseconds since the recording began."""

    call: int
    parent: int
    function: int
    thread: int
    at: int
    line: int = 0
    arguments: tuple[RecordedValue, ...] = ()


class LinePassed(Struct, frozen=True, tag=True, tag_field="event"):
    """A call reaches a line."""

    call: int
    at: int
    line: int


class ValuesChanged(Struct, frozen=True, tag=True, tag_field="event"):
    """The changes that the call's last passed line made."""

    call: int
    values: tuple[RecordedValue, ...]


class LinesSkipped(Struct, frozen=True, tag=True, tag_field="event"):
    """More lines ran than are recorded."""

    call: int
    lines: int


class LineBranched(Struct, frozen=True, tag=True, tag_field="event"):
    """A branching line continued at another line."""

    call: int
    line: int
    to: int


class CallReturned(Struct, frozen=True, tag=True, tag_field="event"):
    """A call ends with a value."""

    call: int
    at: int
    value: str


class CallRaised(Struct, frozen=True, tag=True, tag_field="event"):
    """An exception leaves a call, from this line of the call."""

    call: int
    at: int
    type: str
    message: str
    line: int = 0

    @property
    def exception_text(self) -> str:
        """The exception in one line."""
        return f"{self.type}: {self.message}" if self.message else self.type


class CallsMerged(Struct, frozen=True, tag=True, tag_field="event"):
    """Calls of the same path; the last such event of a number is the valid one."""

    call: int
    parent: int
    function: int
    thread: int
    at: int
    count: int
    raised: int = 0
    total_ns: int = 0


class LinesHit(Struct, frozen=True, tag=True, tag_field="event"):
    """The executed lines of a function; `firsts` has the time of each in nanoseconds."""

    function: int
    lines: tuple[int, ...]
    firsts: tuple[int, ...] = ()


class SourcePart(Struct, frozen=True):
    """The execution count of a line (column 0), or of the part that begins in it."""

    line: int
    column: int = 0
    # The column after the part; 0: the end of the line.
    to: int = 0
    times: int = 0
    first: int = 0  # its place in the order in which parts were first reached; 0: not known


class PartCounts(Struct, frozen=True, tag=True, tag_field="event"):
    """The execution counts of a function's parts, for functions without line events."""

    function: int
    parts: tuple[SourcePart, ...]


class BranchCount(Struct, frozen=True):
    """A branch of a line, the `number`th: the lines it goes on at, and how often it did each."""

    line: int
    number: int
    to: tuple[int, int]
    times: tuple[int, int]
    # It went to the first of the lines where a condition was true; of machine code that is unknown.
    is_condition: bool = False
    first: int = 0  # its place in the order of time, as that of a part


class BranchCounts(Struct, frozen=True, tag=True, tag_field="event"):
    """The branches of a function's lines, and its results, for functions without calls."""

    function: int
    branches: tuple[BranchCount, ...]
    results: tuple[str, ...] = ()


class ValueWritten(Struct, frozen=True, tag=True, tag_field="event"):
    """A line changed the watched value."""

    at: int
    thread: int
    function: int
    line: int
    old: str | None
    new: str | None
    stack: tuple[tuple[int, int], ...] = ()  # functions and lines, innermost first


class RecordedCell(Struct, frozen=True):
    """The value or the error text of a probe's expression."""

    text: str
    is_error: bool = False
    # The number of its object in the process; 0 of a plain value.
    number: int = 0
    # The element by which an array leaves the pattern that it begins with.
    departure: str = ""


class ProbeHit(Struct, frozen=True, tag=True, tag_field="event"):
    """A probe was hit; `hit` counts from 1 the hits at which its condition held."""

    probe: int
    hit: int
    at: int
    thread: int
    values: tuple[RecordedCell, ...]


class ProbeSeen(Struct, frozen=True, tag=True, tag_field="event"):
    """The state of a probe so far; the last such event of a number is the valid one."""

    probe: int
    # How often the location was reached.
    passed: int
    # How often its condition held.
    hits: int
    # How often the function of the location was entered.
    entered: int
    file: str
    line: int
    function: str
    # The executed lines of that function.
    lines: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    # The names in scope, if a name of the expressions was not.
    names: tuple[str, ...] = ()
    # The error of the condition, or the reason if there is no such location.
    problem: str = ""
    failed: int = 0
    # The file was run or imported.
    is_loaded: bool = False
    # The ordered probe, if its name matches several functions and this is one of them.
    of: int | None = None


class RecordingNote(Struct, frozen=True, tag=True, tag_field="event"):
    """A note on the recording: an exec, a failing condition, a tracer of the program's own."""

    kind: str
    at: int
    text: str


Event: TypeAlias = (
    CallEntered
    | LinePassed
    | ValuesChanged
    | LinesSkipped
    | LineBranched
    | CallReturned
    | CallRaised
    | CallsMerged
    | LinesHit
    | PartCounts
    | BranchCounts
    | ValueWritten
    | ProbeHit
    | ProbeSeen
    | FailedTestRecord
    | RecordingNote
)


class RecordedProcess(Struct, frozen=True):
    """The recorded process; `words` is its command line, if known."""

    pid: int = 0
    parent: int = 0
    language: str = ""
    interpreter: str = ""
    words: tuple[str, ...] = ()
    is_fork: bool = False
    time_ns: int = 0
    # Those that an engine of many processes names its members by.
    variables: Mapping[str, str] = {}


class Recording(Struct, frozen=True):
    """The recorded events of one process."""

    process: RecordedProcess = RecordedProcess()
    functions: Mapping[int, RecordedFunction] = {}
    threads: Mapping[int, str] = {}
    events: tuple[Event, ...] = ()
    # Events that did not fit.
    dropped: int = 0
    # Requested calls, of which `chosen` are recorded.
    seen: int = 0
    chosen: int = 0
    took_ns: int = 0
    # Functions whose later calls are in no event.
    stopped: frozenset[int] = frozenset()
    # The number of those calls, where it is known.
    further: Mapping[int, int] = {}
    # False if the process ended without notice: its last sums may be missing.
    is_whole: bool = False
    unread: int = 0  # lines that are no records

    @property
    def has_calls(self) -> bool:
        """Whether the requested function was called; a killed process has no total."""
        return bool(self.seen) or any(isinstance(one, CallEntered) for one in self.events)

    @property
    def uncounted(self) -> frozenset[int]:
        """The functions of which it is not known how often they were called."""
        return self.stopped - (self.further.keys() if self.is_whole else frozenset())

    @property
    def executed_functions(self) -> frozenset[int]:
        """The functions that ran; of what is counted, those are known, too, that did not."""
        counted = {one.function for one in self.events if isinstance(one, PartCounts)}
        ran = {
            one.function
            for one in self.events
            if (isinstance(one, CallsMerged) and one.count)
            or (isinstance(one, PartCounts) and any(part.times for part in one.parts))
        }
        return frozenset(self.functions) - (counted - ran)

    def counted_lines(self, functions: Collection[int]) -> frozenset[int]:
        """Return the lines of functions that ran, as far as they were counted."""
        counts = (one for one in self.events if isinstance(one, PartCounts))
        parts = (part for one in counts if one.function in functions for part in one.parts)
        return frozenset(part.line for part in parts if part.times)

    def find_function(self, number: int) -> RecordedFunction:
        """Return a function; one without a description has its number as its name."""
        return self.functions.get(number) or RecordedFunction(number, f"#{number}")


class LineRecording(Enum):
    """The recorded lines: none, only the set of executed lines, or each with its changes."""

    NONE = "none"
    HIT = "hit"
    EACH = "each"


class FunctionSpot(Struct, frozen=True):
    """A function by the file and first line of its code, and the name that the code has."""

    file: str
    line: int
    code: str


class FunctionPlace(Struct, frozen=True):
    """Functions by name (`*` matches anything), by the end of their file's path, or by a line."""

    name: str = ""
    file: str = ""
    line: int = 0
    # What else the name means by the sources: lambdas, and functions with their module's name.
    spots: tuple[FunctionSpot, ...] = ()
    # Also code that is none of the program's own files: generated, installed, or elsewhere.
    is_anywhere: bool = False


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


class OriginOrder(Struct, frozen=True):
    """An expression whose value is followed back from a line, a function's entry or an event."""

    expression: str
    file: str = ""
    line: int = 0
    name: str = ""
    # `crash` or `fail` instead of a line: the exception that ends the program, or a test.
    event: str = ""
    # More expressions, whose values at an event are followed back in the same run.
    further: tuple[str, ...] = ()
    when: str = ""
    # The hit that counts; -1 is the last one.
    nth: int = 1
    # Of the last hit, the value at each of a run is looked at: a run before did not repeat itself.
    every_hit: bool = False
    # The statements to record: after them, only the calls are counted.
    statements: int = 6_000
    # The statements of imported modules' bodies, and of what they call.
    import_statements: int = 2_000
    # If set, only these calls are recorded, by the first and the last of each range of numbers.
    windows: tuple[tuple[int, int], ...] = ()
    # Single calls that are recorded as well.
    frames: tuple[int, ...] = ()
    # Attributes and globals whose writes are recorded everywhere.
    names: tuple[str, ...] = ()


class ProbeOrder(Struct, frozen=True):
    """Expressions at a line, or at the entry of functions of a name."""

    expressions: tuple[str, ...]
    file: str = ""
    line: int = 0
    name: str = ""
    spots: tuple[FunctionSpot, ...] = ()  # as a `FunctionPlace` has them
    is_anywhere: bool = False
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
    # Only hits of this thread (0: of any), of threads of this name, below a call of this function.
    thread: int = 0
    thread_name: str = ""
    inside: str = ""
    # Only hits at which a value differs from the hit before.
    changes: bool = False
    # The number of last hits that are kept, however many there are.
    kept_last: int = 0
    # `after` or `until`: a hit begins, or ends, the hits of the other locations that count.
    event: str = ""
    # A recorded hit has its number among all at which the condition was true.
    numbers_all: bool = False
    # The end of the process, which has no line.
    is_exit: bool = False


class CheckPlace(Struct, frozen=True):
    """A place of checks: a line, or functions by name (`*` matches anything) or by file."""

    # at: the line, or the entry; each: entry and exit; in: each line and exit.
    kind: str
    name: str = ""
    file: str = ""
    line: int = 0
    # `after` or `until`: it begins, or ends, the checks of the other places, with a condition.
    event: str = ""
    when: str = ""
    # The sources do not have the name: also code that is generated, installed, or elsewhere.
    is_anywhere: bool = False


class NarrowOrder(Struct, frozen=True):
    """Two visits of checks between which an invariant became false."""

    # The index of the invariant.
    expression: int
    # The visit at which it was true; 0: from the construction of the object.
    start: int
    end: int
    # The object's name in the invariant, its type, and its number among the objects of that type.
    name: str = ""
    type: str = ""
    ordinal: int = 0
    # The lines that are followed at most.
    steps: int = 1_000_000
    # The part of these lines after which it is evaluated: from the one to the other; 0: all.
    first_step: int = 0
    last_step: int = 0


class CheckOrder(Struct, frozen=True):
    """Invariants, and the places where they are checked."""

    expressions: tuple[str, ...]
    # The operands of each invariant.
    operands: tuple[tuple[str, ...], ...]
    places: tuple[CheckPlace, ...]
    when: str = ""
    # Only the check of this number at each place, only the first ones, only of a thread (0: any).
    nth: int = 0
    first: int = 0
    thread: int = 0
    # A Python literal that the invariants read as `known`.
    known: str = ""
    most: int = 1_000_000
    narrow: NarrowOrder | None = None


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
    # Calls of a rewritten function, or starts and resumptions of a generator function, after which
    # calls are only counted.
    followed: int = 10_000
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
    # Only the calls of these numbers (none: all), of this thread (0: any), of threads of this name,
    # below a call of this function, whose arguments differ from those of the call before.
    numbers: tuple[int, ...] = ()
    thread: int = 0
    thread_name: str = ""
    inside: str = ""
    changes: bool = False
    # The depth of callees to record; -1: all.
    depth: int = -1
    lines: LineRecording = LineRecording.NONE
    # The levels of calls whose lines are recorded.
    line_depth: int = 1
    # The lines of each function's first calls are compared with another run's: fewer calls of a
    # function the more is recorded already; further ones are only counted.
    is_compared: bool = False
    watch: WatchOrder | None = None
    # If set, only the origin of its value is recorded.
    origin: OriginOrder | None = None
    # If set, only these are recorded.
    probes: tuple[ProbeOrder, ...] = ()
    # If set, only these are evaluated.
    checks: CheckOrder | None = None
    # The first process whose probes all had their `last` hit ends the whole run.
    ends_run: bool = False
    # Record only failed tests.
    tests: bool = False
    # The test to trace line by line.
    traced: str = ""
    # If set, the only tests to run, in this order.
    only: tuple[str, ...] = ()
    # The variables of the environment that each process reports.
    variables: tuple[str, ...] = RANK_VARIABLES
    # Where rewritten code is kept for the next run; "" for nowhere.
    code_folder: str = ""
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
        """Return whether one of a function's names is an edge of the window."""
        return bool(place.name) and any(self.fits(place.name, one) for one in names)


def window_notes(*, has_ended: bool) -> tuple[RecordingNote, ...]:
    """Return the notes of a recording that is limited to a window."""
    return tuple(RecordingNote(kind, 0, "") for kind in (_BEGAN, *([_ENDED] if has_ended else [])))


def has_begun(recording: Recording) -> bool:
    """Return whether the process reached the window's start; otherwise all of it was recorded."""
    return _has_note(recording, _BEGAN)


def has_ended(recording: Recording) -> bool:
    """Return whether the process reached the window's end after its start."""
    return _has_note(recording, _ENDED)


def _has_note(recording: Recording, kind: str) -> bool:
    return any(isinstance(one, RecordingNote) and one.kind == kind for one in recording.events)
