"""Defines the shared parts of answers about recorded runs: run ends, calls, saved runs."""

from __future__ import annotations

from msgspec import Struct

from debugger.model.answers.stops import OutputLine


class RunView(Struct, frozen=True):
    """The end of a run: an exit status, a signal, or a time-out (`timed_out`)."""

    command: str
    exit_code: int | None = None
    exit_signal: str | None = None
    timed_out: bool = False
    # We ended the run, when the question was answered.
    is_cut: bool = False
    took_s: float = 0.0
    # The last lines, of `output_total`; `output_dropped` characters before them are lost.
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    notes: tuple[str, ...] = ()


class ValueView(Struct, frozen=True):
    """A name and its value; None: it has none any more. `old` is the value before."""

    name: str
    value: str | None
    old: str | None = None


class VaryView(Struct, frozen=True):
    """A summary of one name's values: how many, how many distinct, the range of numbers."""

    name: str
    count: int
    distinct: int
    first: str
    last: str
    least: str | None = None
    most: str | None = None
    some: tuple[str, ...] = ()


class RatioView(Struct, frozen=True):
    """The factor by which `matching` of `compared` counts of two runs differ."""

    # As text, at least 1; `is_more_left` tells which run has more.
    text: str
    is_more_left: bool
    matching: int
    # The functions and lines that ran in both runs, and more than once.
    compared: int


class CountView(Struct, frozen=True):
    """Code that ran `left` times in one run and `right` times in the other.

    The code is the lines from `line` to `last`, or, without text, a call. With a column it is the
    part of the line that begins there.
    """

    function: str
    file: str
    line: int
    left: int
    right: int
    text: str = ""
    column: int = 0
    last: int = 0


class CallRow(Struct, frozen=True):
    """Calls of a function in one line of a tree; without a function, rounds of a loop."""

    depth: int
    # The line's rank: 0 is omitted last.
    order: int
    function: str
    file: str = ""
    line: int = 0
    count: int = 1
    recursions: int = 0
    # Calls that ended by an exception.
    raised: int = 0
    # Calls that had not ended.
    open: int = 0
    threads: int = 1
    total_ms: float = 0.0
    self_ms: float = 0.0
    arguments: tuple[VaryView, ...] = ()
    value: VaryView | None = None
    # The number of calls with known arguments and values, the first ones; 0: not counted.
    known: int = 0
    errors: tuple[str, ...] = ()
    # The number of omitted calls below this line.
    below: int = 0
    is_stopped: bool = False
    # False if the function's source has nothing that could catch an exception.
    may_catch: bool = True


class SavedRun(Struct, frozen=True):
    """A saved run: its question, its command, and its sources that changed since."""

    name: str
    verb: str
    command: str
    cwd: str
    time: str
    exit_code: int | None = None
    exit_signal: str | None = None
    bytes: int = 0
    changed: tuple[str, ...] = ()


class SavedRuns(Struct, frozen=True):
    """The runs that are saved, oldest first."""

    runs: tuple[SavedRun, ...]
