"""Defines the answer about a test run: the failed tests, and the origin of a wrong value."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView, SourceLine, VariableView
from debugger.model.answers.stops import ExceptionView, OutputLine
from debugger.questions.runner.answer import CallerView, ReachingCondition, ValueOrigin


class MadeView(Struct, frozen=True):
    """A line that made a value of the assertion, and that value."""

    frame: FrameView
    text: str = ""
    values: tuple[VariableView, ...] = ()
    # 0 in the assertion's own function, 1 in a function that it called, …
    depth: int = 0
    # The arguments and the result of that function.
    call: str | None = None


class SpectrumRow(Struct, frozen=True):
    """Lines of one function that the failing test ran, and how many of the passing ones did."""

    frame: FrameView
    # The last line; the first is the frame's.
    last: int
    text: str = ""
    passing: int = 0
    # The condition before them that other tests came to, too, and what it was in the failing one.
    reached: tuple[ReachingCondition, ...] = ()


class SpectrumView(Struct, frozen=True):
    """The lines of the failing test that the fewest of the passing tests beside it ran."""

    # The passing tests that were run for it, each alone.
    passing: int
    names: tuple[str, ...] = ()
    rows: tuple[SpectrumRow, ...] = ()
    # The lines that as few passing tests ran as the first row's, and that are in no row.
    more: int = 0
    took_s: float = 0.0
    # What all of the passing tests that came to its function ran, and the failing one did not.
    left_out: tuple[SpectrumRow, ...] = ()


class DroppedPromiseView(Struct, frozen=True):
    """A statement of the failing test's code that drops a promise which nobody ever awaited."""

    frame: FrameView
    text: str = ""
    # The line that made it.
    made: FrameView | None = None
    # At the end of the run: pending, fulfilled or rejected.
    state: str = "pending"
    # The promises that the statement dropped.
    count: int = 1


class FailedTest(Struct, frozen=True):
    """A failed test; `message` is the first line of the runner's message."""

    name: str
    message: str = ""
    frame: FrameView | None = None


class SuiteAnswer(Struct, frozen=True):
    """The result of a test run, with an explanation of the first failure."""

    # failed, passed, nothing (no test was run), broken (build or collection failed), crashed (the
    # tests ended without reporting a failure) or running (timed out: `timed_out`).
    outcome: str
    runner: str
    cause: str | None = None
    kind: str | None = None
    test: str | None = None
    # The phase of the failure, if not the test itself.
    phase: str | None = None
    exception: ExceptionView | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    values: tuple[VariableView, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    # The lines that made the assertion's values.
    made: tuple[MadeView, ...] = ()
    # Of these the one that made the value that the assertion reads.
    why: ValueOrigin | None = None
    # Of a JavaScript test, by a further run.
    dropped_promises: tuple[DroppedPromiseView, ...] = ()
    # What the failing test ran, compared with passing ones.
    spectrum: SpectrumView | None = None
    inside: FrameView | None = None
    callers: tuple[CallerView, ...] = ()
    others: tuple[FailedTest, ...] = ()
    failed: int = 0
    # The runner's own summary.
    summary: str = ""
    errors: tuple[str, ...] = ()
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    exit_code: int | None = None
    exit_signal: str | None = None
    took_s: float | None = None
    method: str = ""
    timed_out: bool = False
    notes: tuple[str, ...] = ()
    # Only while the session is kept.
    session: str | UnsetType = UNSET
    # The id of this answer in the evidence list.
    evidence: str | UnsetType = UNSET
