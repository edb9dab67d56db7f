"""What is answered to why a program hangs: a verdict, and what each thread does."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView, SourceLine, VariableView
from debugger.model.answers.stops import OutputLine


class HangGroup(Struct, frozen=True):
    """Threads, tasks or goroutines that do the same at the same place.

    `state` says what they wait for, with who holds it; `cpu` is of one processor, 0 to 1; `frames`
    are the user's own, innermost first.
    """

    count: int
    names: tuple[str, ...]
    noun: str = "thread"
    state: str = ""
    cpu: float | None = None
    frames: tuple[FrameView, ...] = ()


class VariedView(Struct, frozen=True):
    """A variable that changed between the samples."""

    name: str
    first: str
    last: str


class LoopView(Struct, frozen=True):
    """A loop that a thread goes round in: its header, the lines seen, what changes in it."""

    line: int
    text: str
    lines: tuple[int, ...]
    changed: tuple[VariedView, ...] = ()
    same: tuple[VariableView, ...] = ()


class Hang(Struct, frozen=True):
    """Why a program does not come to its end.

    `kind` is deadlock, busy, moving, io, child, sleeping, waiting, running, stopped, unknown, or
    ended where it came to its end. `cpu` is the whole process's use, 1 being one processor, over
    `window_s`; `samples` counts the stacks taken of each thread, `took_s` is all that it took.
    """

    kind: str
    cause: str
    pid: int | None = None
    cpu: float | None = None
    window_s: float = 0.0
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    loop: LoopView | None = None
    groups: tuple[HangGroup, ...] = ()
    total: int = 0
    samples: int = 0
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    exit_code: int | None = None
    exit_signal: str | None = None
    took_s: float | None = None
    adapter: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
