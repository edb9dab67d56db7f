"""Defines the answer about the functions that a run called."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.questions.recordings.answer import (
    CallRow,
    CountView,
    RatioView,
    RunView,
    ValueView,
)


class WayView(Struct, frozen=True):
    """A path of `count` calls to a location: functions, outermost first, with file and line.

    The line is that of the call. If it is unknown it is 0, or, on every step of the path, the
    function's first line.
    """

    count: int
    steps: tuple[tuple[str, str, int], ...]


class LineCount(Struct, frozen=True):
    """The execution count of a line; with a column, of the part that begins there."""

    line: int
    times: int
    text: str
    column: int = 0


class PlaceView(Struct, frozen=True):
    """A requested function: its number of calls, and the call paths to it.

    `lines` is set if only counts are known, and no paths.
    """

    function: str
    file: str
    line: int
    calls: int
    ways: tuple[WayView, ...]
    more_ways: int = 0
    lines: tuple[LineCount, ...] = ()


class EntryView(Struct, frozen=True):
    """Values of an argument or a result that only failing or only passing runs had."""

    name: str
    failing: tuple[str, ...]
    passing: tuple[str, ...]


class SourceLineView(Struct, frozen=True):
    """A source line that the failing run executed; `is_new`: no passing run did."""

    line: int
    text: str
    is_new: bool = False


class SuspectView(Struct, frozen=True):
    """A function, or lines of one, with its score and its counts of failing and passing runs."""

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
    # Of lines that only failing runs executed: no passing run called their function.
    is_new: bool = False
    # The condition before the lines that all runs came to, so that it decided; 0 if none is known.
    decided_by: int = 0
    # With the first lines of a function: those of its lines that compute most, the most first.
    excerpt: tuple[SourceLineView, ...] = ()


class OperandView(Struct, frozen=True):
    """An operand of a condition: where the failing run took its own way, and in the passing run.

    Of the passing run it is the only value, the least and the greatest, or some values.
    """

    expression: str
    failing: str
    passing: tuple[str, ...] = ()
    is_range: bool = False


class DivergingConditionView(Struct, frozen=True):
    """A condition that a failing and a passing run both evaluated, and differently."""

    function: str
    file: str
    line: int
    text: str
    operands: tuple[OperandView, ...]
    # Whether it is true where the failing run differs; None: it was not evaluated again.
    is_true_failing: bool | None = None
    passing_hits: int = 0


class ReturnView(Struct, frozen=True):
    """A return that the failing run passed, of a function that a branch's line calls."""

    function: str
    file: str
    line: int
    text: str


class BranchView(Struct, frozen=True):
    """A branch with another outcome: where it went on in the failing and the passing runs.

    Each outcome is `true`, `false`, or the line at which it goes on, with its count.
    """

    function: str
    file: str
    line: int
    text: str
    failing: tuple[tuple[str, int], ...]
    passing: tuple[tuple[str, int], ...]
    # By the source's names of functions, so it is inferred that these decided.
    returns: tuple[ReturnView, ...] = ()


class FailedCheckView(Struct, frozen=True):
    """Where the failing run failed, and the values that its check compared, if it did."""

    function: str
    file: str
    line: int
    text: str
    error: str = ""
    # The operands: an expression and its value in a second run.
    wrong: ValueView | None = None
    right: ValueView | None = None


class OriginView(Struct, frozen=True):
    """A call that the failure comes from: why, what it was given, and lines of its function."""

    function: str
    file: str
    line: int
    reason: str
    value: str | None = None
    arguments: tuple[ValueView, ...] = ()
    # Its callers, the nearest first: function, file and line of the call.
    callers: tuple[tuple[str, str, int], ...] = ()
    lines: tuple[SourceLineView, ...] = ()
    more_lines: int = 0


class PathAnswer(Struct, frozen=True):
    """The program's own functions of a run as a tree, or the suspects of failing runs."""

    # The failing runs, then the passing ones (the last `passing`).
    runs: tuple[RunView, ...]
    passing: int = 0
    calls: int = 0
    functions: int = 0
    files: int = 0
    # The call tree of one run.
    rows: tuple[CallRow, ...] = ()
    # Counts the tree's lines with the omitted ones.
    rows_total: int = 0
    places: tuple[PlaceView, ...] = ()
    between: tuple[str, ...] = ()
    # Only of compared runs: functions, and lines.
    suspects: tuple[SuspectView, ...] = ()
    suspect_lines: tuple[SuspectView, ...] = ()
    passing_lines: tuple[SuspectView, ...] = ()
    # Branches that all runs passed, and that went another way in failing or in passing ones.
    branches: tuple[BranchView, ...] = ()
    # The failing run's failure, and the calls that it comes from, the nearest to the cause first.
    failure: FailedCheckView | None = None
    origins: tuple[OriginView, ...] = ()
    # Whether the wrong value was found below the outermost calls, and not only in the script.
    is_origin_known: bool = False
    # The values at the condition before the first lines that one side alone executed.
    decision: DivergingConditionView | None = None
    # The ratio of the counts of the first failing run (A) and the first passing one (B), if their
    # inputs differ in size, and the counts that depart from it.
    ratio: RatioView | None = None
    counts: tuple[CountView, ...] = ()
    more_counts: int = 0
    timed_out: bool = False
    # The commands of runs of which nothing was recorded, as of one that was killed.
    unrecorded: tuple[str, ...] = ()
    engine: str = ""
    has_lines: bool = True  # whether lines were recorded, and not calls alone
    process: str | None = None  # the child process whose tree it is; else the program's own
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
    # The file that the answer was drawn in, if requested.
    picture: str | UnsetType = UNSET
