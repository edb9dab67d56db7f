"""Defines the shared answers about a whole run: the crash, the stored evidence."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView, SourceLine, VariableView
from debugger.model.answers.stops import ExceptionView, OutputLine


class CallerView(Struct, frozen=True):
    """A function that called the next one: its line, and the values that belong to the call."""

    frame: FrameView
    text: str = ""
    values: tuple[VariableView, ...] = ()


class ThreadGroup(Struct, frozen=True):
    """Threads that are at the same place."""

    count: int
    frame: FrameView | None = None
    names: tuple[str, ...] = ()


class Crash(Struct, frozen=True):
    """Why a program crashed, or that it did not.

    `outcome` is crashed, survived (something was reported, and it went on), exited (no crash),
    failed (it ended with a status other than 0 after an exception that was caught, as far as is
    known), raised (an exception, whoever would have caught it), or running (the time was up first;
    `timed_out`). `kind` is a word for the cause.
    `values` are those of what the statement reads; `inside` is the library's function that it
    happened in, below `frame`; `earlier` what was reported before. `traces_left_out` counts lines
    of the output.
    `session` is there while it is kept; `evidence` is the id of this answer.
    """

    outcome: str
    cause: str | None = None
    kind: str | None = None
    signal: str | None = None
    address: str | None = None
    address_kind: str | None = None
    address_text: str | None = None
    exception: ExceptionView | None = None
    thread: int | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    values: tuple[VariableView, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    inside: FrameView | None = None
    callers: tuple[CallerView, ...] = ()
    frames_total: int | None = None
    threads: tuple[ThreadGroup, ...] = ()
    threads_total: int = 0
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    traces_left_out: int = 0
    exit_code: int | None = None
    exit_signal: str | None = None
    # The exit code of a program that an exception or panic ends; for the text only.
    usual_exit: int | None = None
    earlier: tuple[str, ...] = ()
    adapter: str = ""
    timed_out: bool = False
    waited_s: float | None = None
    notes: tuple[str, ...] = ()
    session: str | UnsetType = UNSET
    evidence: str | UnsetType = UNSET


class EvidenceView(Struct, frozen=True):
    """One answer that was kept: how it was asked for, and which of its files changed since."""

    id: str
    command: str
    cwd: str
    time: str
    summary: str
    files: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class EvidenceList(Struct, frozen=True):
    """The answers that are kept; of the oldest `dropped` are not."""

    evidence: tuple[EvidenceView, ...]
    dropped: int = 0


class EvidenceShown(Struct, frozen=True):
    """One answer again, as it was."""

    evidence: EvidenceView
    text: str


class EvidenceReport(Struct, frozen=True):
    """All answers that are kept, as Markdown; or the file that they were written to."""

    count: int
    text: str
    file: str | None = None
    stale: int = 0
    bytes: int = 0
