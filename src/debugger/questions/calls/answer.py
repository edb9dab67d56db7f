"""Defines the answer about single calls of a function."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.questions.recordings.answer import CallRow, RunView, ValueView, VaryView


class StepView(Struct, frozen=True):
    """A line of a call: its changes, and its calls as lines of a tree."""

    line: int
    text: str = ""
    changes: tuple[ValueView, ...] = ()
    callees: tuple[CallRow, ...] = ()
    depth: int = 0


class RoundsView(Struct, frozen=True):
    """Rounds of a loop that passed the same lines: `count` of all `rounds`.

    The items after it, one level deeper, are the steps of the first such round (`round` is its
    number) or of the last (`is_last`). `varies` belongs to the loop, and is set only with the
    loop's first shape. `is_loop` is false if the source has no loop there, and the repetition only
    returns to a statement's first line.
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
    """The counts of a branching line's targets, and its unreached ones; 0 is past its block."""

    line: int
    text: str
    taken: tuple[tuple[int, int], ...]
    never: tuple[int, ...] = ()


class LifeView(Struct, frozen=True):
    """One call, from its arguments to its end."""

    number: int
    function: str
    file: str
    line: int
    arguments: tuple[ValueView, ...]
    # The lines and loops of the call, in order.
    items: tuple[StepView | RoundsView, ...] = ()
    decisions: tuple[DecisionView, ...] = ()
    value: str | None = None
    error: str | None = None
    error_line: int = 0
    has_ended: bool = True
    took_ms: float = 0.0
    passed: int = 0
    skipped: int = 0
    # Calls that it made and of which only the count is known.
    counted: tuple[CallRow, ...] = ()
    # Calls whose calling line is unknown, as lines of a tree.
    callees: tuple[CallRow, ...] = ()
    thread: int = 1
    process: int | None = None  # its pid, where it was called in several


class Calls(Struct, frozen=True):
    """Calls of one function: `lives` line by line, `others` by their arguments and results.

    `seen` is the number of calls of `function` (0: unknown), under the requested name; `chosen` of
    them were recorded.
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
