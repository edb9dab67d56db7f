"""Defines the answer about a test run: the failed tests, and the origin of a wrong value."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView, SourceLine, VariableView
from debugger.model.answers.stops import ExceptionView, OutputLine
from debugger.questions.runner.answer import CallerView


class MadeView(Struct, frozen=True):
    """A line that made what the assertion reads, and what it made.

    `depth` is 0 in the assertion's own function, 1 in a function that it called, …; `call` says
    what that function was given and what it returned.
    """

    frame: FrameView
    text: str = ""
    values: tuple[VariableView, ...] = ()
    depth: int = 0
    call: str | None = None


class FailedTest(Struct, frozen=True):
    """A test that failed, by name; `message` is the first line of what was said of it."""

    name: str
    message: str = ""
    frame: FrameView | None = None


class SuiteAnswer(Struct, frozen=True):
    """Whether tests passed; of the first that failed, why.

    `outcome` is failed, passed, nothing (no test was run), broken (it could not be built, or
    collected), crashed (the tests ended without a word of one that failed) or running (the time was
    up first; `timed_out`). `made` are the lines that the assertion's values come from. `summary` is
    the runner's own. `phase` is where it failed, if not in the test itself. `session` is there
    while it is kept; `evidence` is the id of this answer.
    """

    outcome: str
    runner: str
    cause: str | None = None
    kind: str | None = None
    test: str | None = None
    phase: str | None = None
    exception: ExceptionView | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    values: tuple[VariableView, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    made: tuple[MadeView, ...] = ()
    inside: FrameView | None = None
    callers: tuple[CallerView, ...] = ()
    others: tuple[FailedTest, ...] = ()
    failed: int = 0
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
    session: str | UnsetType = UNSET
    evidence: str | UnsetType = UNSET
