"""Defines and builds the answer about a tried change. Pure."""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from debugger.model import answers
from debugger.model.answers.frames import (
    Assignment,
    ChangedValue,
    FrameView,
    SourceLine,
    VariableView,
)
from debugger.model.answers.stops import ExceptionView, OutputLine
from debugger.model.events import State


class Expected(Struct, frozen=True):
    """A condition at the end of the trial: its value, and its operands."""

    expression: str
    # None if the condition could not be evaluated; `problem` is the reason.
    held: bool | None = None
    value: str | None = None
    operands: tuple[VariableView, ...] = ()
    problem: str | None = None


class Tried(Struct, frozen=True):
    """The result of a tried change: the expectation, and the program's output."""

    session: str
    verdict: str
    # stopped, running or terminated.
    state: str
    # The location where the values were set.
    tried_at: FrameView | None = None
    assigned: tuple[Assignment, ...] = ()
    returned: str | None = None
    until: str | None = None
    # Whether the trial reached the location of `until`.
    reached: bool | None = None
    expected: Expected | None = None
    reason: str | None = None
    # The location where the trial ended.
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    exit_code: int | None = None
    signal: str | None = None
    exception: ExceptionView | None = None
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    # The trial ran in the session itself.
    is_here: bool = False
    # Differences between the second run and the session, before the change.
    differs: tuple[ChangedValue, ...] = ()
    differs_total: int = 0
    timed_out: bool = False
    took_s: float | None = None
    adapter: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET


_TEXT = 300


def where_it_ended(stop: answers.Stop) -> str:
    """Describe the location of a run's stop or end."""
    at = ""
    if stop.frame is not None:
        line = f" {Path(stop.frame.file).name}:{stop.frame.line}" if stop.frame.file else ""
        at = f" in {stop.frame.function}{line}"
    if stop.timed_out or stop.state == State.RUNNING.value:
        return f"it still runs{at}"
    if stop.state == State.TERMINATED.value:
        if stop.signal is not None:
            return f"it was ended by {stop.signal}"
        return (
            f"it exited with status {stop.exit_code}" if stop.exit_code is not None else "it ended"
        )
    why = stop.reason or "stopped"
    if stop.exception is not None and stop.reason == "exception":
        why = f"{stop.exception.type}: {stop.exception.message}"[:_TEXT]
    elif stop.signal is not None:
        why = stop.signal
    return f"it stopped{at} ({why})"


def _trial_verdict(
    ended: str, expected: Expected | None, until: str | None, *, reached: bool | None
) -> str:
    if expected is None:
        if reached is False:
            return f"{until} was not reached: {ended}"
        return ended
    if expected.held is None:
        return f"not known whether {expected.expression}: {expected.problem}"
    text = "holds" if expected.held else "does not hold"
    sides = ", ".join(f"{one.name}={one.value}" for one in expected.operands)
    return f"{expected.expression} {text} ({sides or f'it is {expected.value}'})"


def build_trial_answer(
    stop: answers.Stop,
    *,
    until: str | None,
    reached: bool | None,
    expected: Expected | None,
    timed_out: bool,
    tried_at: answers.FrameView | None,
    assigned: tuple[answers.Assignment, ...],
    returned: str | None,
    output: tuple[answers.OutputLine, ...],
    output_total: int,
) -> Tried:
    """Build the answer about a trial that ended at a stop."""
    at_end = stop
    if timed_out:  # that it was stopped to see where it is, is nothing of its own
        at_end = answers.Stop(stop.session, State.RUNNING.value, frame=stop.frame)
    ended = where_it_ended(at_end)
    return Tried(
        session=stop.session,
        verdict=_trial_verdict(ended, expected, until, reached=reached),
        state=State.RUNNING.value if timed_out else stop.state,
        tried_at=tried_at,
        assigned=assigned,
        returned=returned,
        until=until,
        reached=reached,
        expected=expected,
        reason=None if timed_out else stop.reason,
        frame=stop.frame,
        source=stop.source,
        locals=stop.locals,
        locals_total=stop.locals_total,
        exit_code=stop.exit_code,
        signal=stop.signal,
        exception=stop.exception,
        output=output,
        output_total=output_total,
        timed_out=timed_out,
        notes=stop.notes,
    )
