"""Defines the answer about single calls of a function."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.questions.recordings.answer import CallRow, RunView, ValueView, VaryView


class StepView(Struct, frozen=True):
    """A line that was passed: what it changed, and the calls that it made as lines of a tree."""

    line: int
    text: str = ""
    changes: tuple[ValueView, ...] = ()
    callees: tuple[CallRow, ...] = ()
    depth: int = 0


class RoundsView(Struct, frozen=True):
    """Rounds of a loop that passed the same lines: `count` of `rounds`, the first and the last.

    What follows, one deeper, are the steps of the first such round (`round` is its number) or of
    the last (`is_last`). `varies` belongs to the loop, and stands with its first shape. `is_loop`
    is false where the source has no loop there, and a statement's end belongs to its first line.
    """

    line: int
    rounds: int
    count: int
    round: int
    is_last: bool = False
    depth: int = 0
    more_shapes: int = 0
    varies: tuple[VaryView, ...] = ()
    is_loop: bool = True


class DecisionView(Struct, frozen=True):
    """How often a line that decides led where, and where it never did; 0 is past its block."""

    line: int
    text: str
    taken: tuple[tuple[int, int], ...]
    never: tuple[int, ...] = ()


class LifeView(Struct, frozen=True):
    """One call, from its arguments to its end; `items` are its lines and loops, in order.

    `counted` are calls that it made, of which only the number is known; `callees` those of which it
    is not known which line made them, as lines of a tree.
    """

    number: int
    function: str
    file: str
    line: int
    arguments: tuple[ValueView, ...]
    items: tuple[StepView | RoundsView, ...] = ()
    decisions: tuple[DecisionView, ...] = ()
    value: str | None = None
    error: str | None = None
    error_line: int = 0
    has_ended: bool = True
    took_ms: float = 0.0
    passed: int = 0
    skipped: int = 0
    counted: tuple[CallRow, ...] = ()
    callees: tuple[CallRow, ...] = ()
    thread: int = 1
    process: int | None = None  # its pid, where it was called in several


class Calls(Struct, frozen=True):
    """Calls of one function: `lives` are told line by line, `others` by what went in and came out.

    `seen` calls of `function`, as it was asked for, there were (0: not known); `chosen` were
    recorded.
    """

    run: RunView
    function: str
    seen: int
    chosen: int
    processes: int = 1
    lives: tuple[LifeView, ...] = ()
    others: tuple[LifeView, ...] = ()
    timed_out: bool = False
    engine: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
