"""Defines the answer about invariants: how often each held, and what first made it false."""

from __future__ import annotations

from enum import Enum

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView


class InvariantOutcome(Enum):
    """The result of the checks of one invariant."""

    HELD = "held"  # true at each check
    BROKEN = "broken"  # true, then false
    FALSE_FROM_START = "false from the beginning"
    NOT_EVALUATED = "never evaluated"


class OperandChange(Struct, frozen=True):
    """An operand's values before and after a statement; None: unknown."""

    expression: str
    before: str | None = None
    after: str | None = None


class CheckedObject(Struct, frozen=True):
    """An object that an invariant reads: its number of its type, and where it was made."""

    name: str
    type: str
    ordinal: int
    made: FrameView | None = None


class FalseCheck(Struct, frozen=True):
    """The first check at which an invariant was false."""

    # entry, return or line.
    kind: str
    # The number of the visit of this place.
    ordinal: int
    frame: FrameView
    callers: tuple[FrameView, ...] = ()
    values: tuple[OperandChange, ...] = ()


class BreakingStatement(Struct, frozen=True):
    """The statement after which an invariant was false, up to the false check."""

    frame: FrameView
    text: str = ""
    callers: tuple[FrameView, ...] = ()
    operands: tuple[OperandChange, ...] = ()


class EarlierCondition(Struct, frozen=True):
    """A condition that was decided before the breaking statement, so that it was reached."""

    frame: FrameView
    # The last line of the condition's text.
    last_line: int
    text: str


class Invariant(Struct, frozen=True):
    """The checks of one invariant."""

    expression: str
    outcome: InvariantOutcome
    true: int = 0
    # The checks that raised an error; `error` is the last one.
    failed: int = 0
    error: str | None = None
    first_false: FalseCheck | None = None
    made_false_by: BreakingStatement | None = None
    decided_by: tuple[EarlierCondition, ...] = ()
    # The variables of the check that were others at the last good one.
    between: tuple[OperandChange, ...] = ()
    # Why the statement is not known.
    why_unknown: str | None = None
    objects: tuple[CheckedObject, ...] = ()
    notes: tuple[str, ...] = ()


class Holds(Struct, frozen=True):
    """The checks of invariants over a run."""

    invariants: tuple[Invariant, ...]
    checks: int = 0
    # The bound of the checks was reached: the run had more.
    is_full: bool = False
    # The run was ended once all invariants had been false.
    is_ended: bool = False
    means: str = ""
    adapter: str = ""
    runs: int = 1
    took_s: float = 0.0
    exit_code: int | None = None
    exit_signal: str | None = None
    timed_out: bool = False
    waited_s: float | None = None
    # The requested places that were never reached.
    unreached: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET

    @property
    def has_failed(self) -> bool:
        """Whether the run ended, and none of the invariants was ever evaluated."""
        unknown = (one.outcome is InvariantOutcome.NOT_EVALUATED for one in self.invariants)
        return not self.timed_out and all(unknown)
