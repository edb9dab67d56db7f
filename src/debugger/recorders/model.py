"""Models a recording: the ordered events of one process, in any language. Pure.

A call is an event of its own, or one of several that share a number and a count; each belongs to
its caller's number. Values are texts that the recorder truncated when it read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from debugger.recorders.test_failures import FailedTestRecord


class RecordedFunction(Struct, frozen=True):
    """A function of the program; `file` is absolute, `line` where it is defined."""

    number: int
    name: str
    file: str = ""
    line: int = 0
    is_users: bool = True


class RecordedValue(Struct, frozen=True):
    """A name and what it holds; None: it holds nothing any more."""

    name: str
    text: str | None


class CallEntered(Struct, frozen=True, tag=True, tag_field="event"):
    """A call begins; `line` is the caller's, `at` nanoseconds since the recording began."""

    call: int
    parent: int
    function: int
    thread: int
    at: int
    line: int = 0
    arguments: tuple[RecordedValue, ...] = ()


class LinePassed(Struct, frozen=True, tag=True, tag_field="event"):
    """A line of a call is come to."""

    call: int
    at: int
    line: int


class ValuesChanged(Struct, frozen=True, tag=True, tag_field="event"):
    """What the line that a call passed last has changed."""

    call: int
    values: tuple[RecordedValue, ...]


class LinesSkipped(Struct, frozen=True, tag=True, tag_field="event"):
    """More lines were passed than are recorded."""

    call: int
    lines: int


class LineBranched(Struct, frozen=True, tag=True, tag_field="event"):
    """A line that decides has led to another."""

    call: int
    line: int
    to: int


class CallReturned(Struct, frozen=True, tag=True, tag_field="event"):
    """A call ends with a value."""

    call: int
    at: int
    value: str


class CallRaised(Struct, frozen=True, tag=True, tag_field="event"):
    """An exception leaves a call, from this line of it."""

    call: int
    at: int
    type: str
    message: str
    line: int = 0

    @property
    def exception_text(self) -> str:
        """What is said of it in one line."""
        return f"{self.type}: {self.message}" if self.message else self.type


class CallsMerged(Struct, frozen=True, tag=True, tag_field="event"):
    """Calls that came the same way; the last such event of a number holds."""

    call: int
    parent: int
    function: int
    thread: int
    at: int
    count: int
    raised: int = 0
    total_ns: int = 0


class LinesHit(Struct, frozen=True, tag=True, tag_field="event"):
    """Which lines of a function were passed at all; `firsts`: when each was, in nanoseconds."""

    function: int
    lines: tuple[int, ...]
    firsts: tuple[int, ...] = ()


class SourcePart(Struct, frozen=True):
    """How often a line ran from its first character on (column 0), or what begins within it.

    `to` is the column behind it; 0: the line's end.
    """

    line: int
    column: int = 0
    to: int = 0
    times: int = 0


class PartCounts(Struct, frozen=True, tag=True, tag_field="event"):
    """How often the parts of a function's source ran; no line of it was told singly."""

    function: int
    parts: tuple[SourcePart, ...]


class ValueWritten(Struct, frozen=True, tag=True, tag_field="event"):
    """A line has changed what is watched."""

    at: int
    thread: int
    function: int
    line: int
    old: str | None
    new: str | None
    stack: tuple[tuple[int, int], ...] = ()  # functions and lines, innermost first


class RecordedCell(Struct, frozen=True):
    """What an expression of a probe gave; an error's text is one, too."""

    text: str
    is_error: bool = False


class ProbeHit(Struct, frozen=True, tag=True, tag_field="event"):
    """A probe was hit; `hit` counts from 1 the hits at which its condition held."""

    probe: int
    hit: int
    at: int
    thread: int
    values: tuple[RecordedCell, ...]


class ProbeSeen(Struct, frozen=True, tag=True, tag_field="event"):
    """What is known of a probe so far; the last such event of a number holds.

    `passed` counts how often the place was come to, `hits` how often its condition held. Of the
    function that it is in: `entered`, and the `lines` that were passed. `names` were in scope where
    a name was not. `problem` is what the condition failed with, or why there is no such place.
    `is_loaded`: the file was run or imported. `of` is the probe that was ordered, where its name
    stands for several functions and this is one of them.
    """

    probe: int
    passed: int
    hits: int
    entered: int
    file: str
    line: int
    function: str
    lines: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    problem: str = ""
    failed: int = 0
    is_loaded: bool = False
    of: int | None = None


class RecordingNote(Struct, frozen=True, tag=True, tag_field="event"):
    """Something about the recording: an exec, a condition that fails, a tracer of the program's."""

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
    | ValueWritten
    | ProbeHit
    | ProbeSeen
    | FailedTestRecord
    | RecordingNote
)


class RecordedProcess(Struct, frozen=True):
    """Which process was recorded; `words` is its command line, where it is known."""

    pid: int = 0
    parent: int = 0
    language: str = ""
    interpreter: str = ""
    words: tuple[str, ...] = ()
    is_fork: bool = False
    time_ns: int = 0


class Recording(Struct, frozen=True):
    """What one process did.

    `dropped` events did not fit; `seen` calls were asked for, of which `chosen` are recorded;
    `stopped` functions were counted no more; without `is_whole` the process ended without a word,
    and its last sums may be missing.
    """

    process: RecordedProcess = RecordedProcess()
    functions: Mapping[int, RecordedFunction] = {}
    threads: Mapping[int, str] = {}
    events: tuple[Event, ...] = ()
    dropped: int = 0
    seen: int = 0
    chosen: int = 0
    took_ns: int = 0
    stopped: frozenset[int] = frozenset()
    is_whole: bool = False
    unread: int = 0  # lines that are no records

    @property
    def has_calls(self) -> bool:
        """Whether what was asked for was called: one that was killed has not said how often."""
        return bool(self.seen) or any(isinstance(one, CallEntered) for one in self.events)

    def find_function(self, number: int) -> RecordedFunction:
        """Return a function; one that is not described has its number for a name."""
        return self.functions.get(number) or RecordedFunction(number, f"#{number}")
