"""Defines the shared answers about a whole run: the crash, the stored evidence."""

from __future__ import annotations

import re

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView, PointerView, SourceLine, VariableView
from debugger.model.answers.stops import ExceptionView, OutputLine


class CallerView(Struct, frozen=True):
    """A calling frame: its line, and the values that the call uses."""

    frame: FrameView
    text: str = ""
    values: tuple[VariableView, ...] = ()


class ThreadGroup(Struct, frozen=True):
    """Threads at the same location."""

    count: int
    frame: FrameView | None = None
    names: tuple[str, ...] = ()


class ReachingCondition(Struct, frozen=True):
    """A condition by which the statement of a link was reached, and whether it was true."""

    frame: FrameView
    text: str
    is_true: bool
    # Its operands with their values, where a run has read them.
    values: str = ""


# A value's text begins so: in Python and JavaScript, and as debuggers of compiled programs show it.
_WITH_PARTS = re.compile(r"b?['\"]|[\[{(]|size=\d|0x[0-9a-f]+ [\"{]")


class ValueOrigin(Struct, frozen=True):
    """The origin of the wrong value of a crash or a failed test, in one line."""

    # The expression that the cause names, and the part of it that is followed: `[3]['name']`.
    expression: str
    value: str | None = None
    part: str = ""
    # What happened last before the value was there, or as far back as it was followed.
    text: str = ""
    # seen (in this run), rerun (in a further run) or inferred (by the source); empty without text.
    certainty: str = ""
    frame: FrameView | None = None
    statement: str = ""
    # The number of links back.
    links: int = 0
    # Why it is not known, or not further.
    reason: str = ""
    # The command that shows all links; empty where none does.
    command: str = ""
    # Where the values come from of which it was made, the last of them first.
    earlier: tuple[FrameView, ...] = ()
    # What happened at the first of all.
    earliest: str = ""
    # What the value was compared with, where it departs from it.
    other: str | None = None
    # The conditions by which the last statement was reached, the innermost first.
    reached: tuple[ReachingCondition, ...] = ()
    # Those on the way, where it leads back to what the failed check itself passed.
    decided: tuple[ReachingCondition, ...] = ()
    # What is known of the memory that was written: freed before, overrun, shared.
    details: tuple[str, ...] = ()

    def has_parts(self) -> bool:
        """Return whether the value has parts: the first wrong one is followed further than it."""
        return _WITH_PARTS.match(self.value or "") is not None


class FreedBlock(Struct, frozen=True):
    """The life of a heap block that a crash used after it was freed, by further runs."""

    # The pointer to it, and where that was used.
    expression: str
    value: str
    frame: FrameView
    size: int
    # The program's own frames of the `free`, the innermost first.
    freed: tuple[FrameView, ...] = ()
    # Those of the last reference's end, if a count became zero before.
    dropped: tuple[FrameView, ...] = ()
    # Those of the allocation that got the block since, and of its free.
    reused: tuple[FrameView, ...] = ()
    freed_again: tuple[FrameView, ...] = ()
    # The memory that held the pointer by which it was freed, and the write that put it there.
    holder: str = ""
    stored: tuple[FrameView, ...] = ()
    statement: str = ""


class Crash(Struct, frozen=True):
    """The explanation of a crash, or of a run without one."""

    # crashed, survived (a fault was reported, and the program continued), exited (no crash), failed
    # (it ended with a nonzero status after an exception that was caught, as far as known), raised
    # (the requested first exception, caught or not), or running (the wait timed out: `timed_out`).
    outcome: str
    cause: str | None = None
    # One word for the cause.
    kind: str | None = None
    signal: str | None = None
    address: str | None = None
    address_kind: str | None = None
    address_text: str | None = None
    exception: ExceptionView | None = None
    thread: int | None = None
    thread_name: str = ""
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    # The values that the statement reads.
    values: tuple[VariableView, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    # The suspicious pointers among these and the faulting address, explained; at most 3.
    pointers: tuple[PointerView, ...] = ()
    # The names of further ones.
    pointers_omitted: tuple[str, ...] = ()
    # The origin of the value that the cause names, if it names one.
    why: ValueOrigin | None = None
    # Of what a failed check compared that value with.
    why_compared: ValueOrigin | None = None
    # The freed memory that the crash used, if it did.
    freed_block: FreedBlock | None = None
    # The library function of the crash, below `frame`.
    inside: FrameView | None = None
    callers: tuple[CallerView, ...] = ()
    frames_total: int | None = None
    threads: tuple[ThreadGroup, ...] = ()
    threads_total: int = 0
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    # The number of output lines omitted because they are stack traces.
    traces_left_out: int = 0
    exit_code: int | None = None
    exit_signal: str | None = None
    # The exit code of a program that an exception or panic ends; for the text only.
    usual_exit: int | None = None
    # Faults that were reported earlier in the run.
    earlier: tuple[str, ...] = ()
    adapter: str = ""
    timed_out: bool = False
    waited_s: float | None = None
    notes: tuple[str, ...] = ()
    # Only while the session is kept.
    session: str | UnsetType = UNSET
    # The id of this answer in the evidence list.
    evidence: str | UnsetType = UNSET


class EvidenceView(Struct, frozen=True):
    """One stored answer: its command, and its source files that changed since."""

    id: str
    command: str
    cwd: str
    time: str
    summary: str
    files: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


class EvidenceList(Struct, frozen=True):
    """The stored answers; the oldest `dropped` ones were deleted."""

    evidence: tuple[EvidenceView, ...]
    dropped: int = 0


class EvidenceShown(Struct, frozen=True):
    """One stored answer, unchanged."""

    evidence: EvidenceView
    text: str
    # `evidence draw` draws it.
    is_drawn: bool = False


class DrawnCall(Struct, frozen=True):
    """A line of a tree of calls, as it is shown: calls of a function, or rounds of a loop."""

    depth: int
    name: str
    # Of the run's time, or of its calls: 0 to 1.
    share: float
    result: str = ""
    file: str = ""
    line: int = 0
    # What stands out: an exception, a call that had not ended, what another run did otherwise.
    marks: tuple[str, ...] = ()
    facts: str = ""
    recursions: int = 0


class DrawnCallTree(Struct, frozen=True):
    """The calls of one run as a tree: its lines in order, each with its depth."""

    title: str
    end: str
    # What a share is a part of: time, calls.
    measure: str
    rows: tuple[DrawnCall, ...]
    # Lines that are left out.
    omitted: int = 0


class EvidenceDrawing(Struct, frozen=True):
    """One stored answer as a picture: SVG or text, or the trees of the calls of one or two runs."""

    id: str
    svg: str = ""
    # In characters.
    text: str = ""
    trees: tuple[DrawnCallTree, ...] = ()
    # The file that it was written to.
    picture: str = ""


class EvidenceReport(Struct, frozen=True):
    """All stored answers as Markdown, or the file that holds this text."""

    count: int
    text: str
    file: str | None = None
    stale: int = 0
    bytes: int = 0
