"""Defines the answer about a change that was tried at a stop."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import (
    Assignment,
    ChangedValue,
    FrameView,
    SourceLine,
    VariableView,
)
from debugger.model.answers.stops import ExceptionView, OutputLine


class Expected(Struct, frozen=True):
    """A condition where the trial came to: its value, and what took part in it.

    `problem` says why it has none; `held` is None then.
    """

    expression: str
    held: bool | None = None
    value: str | None = None
    operands: tuple[VariableView, ...] = ()
    problem: str | None = None


class Tried(Struct, frozen=True):
    """What came of a change: whether what was expected held, and what the program wrote.

    `tried_at` is where the values were set, `frame` where the trial ended, in `state` stopped,
    running or terminated; `reached` tells of `until`. `is_here`: the session itself went on.
    `differs` is what was otherwise in the second run than in the session, before the change.
    """

    session: str
    verdict: str
    state: str
    tried_at: FrameView | None = None
    assigned: tuple[Assignment, ...] = ()
    returned: str | None = None
    until: str | None = None
    reached: bool | None = None
    expected: Expected | None = None
    reason: str | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    exit_code: int | None = None
    signal: str | None = None
    exception: ExceptionView | None = None
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    is_here: bool = False
    differs: tuple[ChangedValue, ...] = ()
    differs_total: int = 0
    timed_out: bool = False
    took_s: float | None = None
    adapter: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
