"""Defines the shared parts of answers about recorded runs: run ends, calls, saved runs."""

from __future__ import annotations

from msgspec import Struct

from debugger.model.answers.stops import OutputLine


class RunView(Struct, frozen=True):
    """How a run ended: an exit status, a signal, or the time was up first (`timed_out`).

    Of the output the last lines are there, of `output_total`; `output_dropped` characters before
    these are not kept. `is_cut`: it was ended by us, when the question was answered.
    """

    command: str
    exit_code: int | None = None
    exit_signal: str | None = None
    timed_out: bool = False
    is_cut: bool = False
    took_s: float = 0.0
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    notes: tuple[str, ...] = ()


class ValueView(Struct, frozen=True):
    """A name, and what it held; None: nothing any more. `old` is what it held before."""

    name: str
    value: str | None
    old: str | None = None


class VaryView(Struct, frozen=True):
    """The values that one name had: how many, and how many differ; least and most of numbers."""

    name: str
    count: int
    distinct: int
    first: str
    last: str
    least: str | None = None
    most: str | None = None
    some: tuple[str, ...] = ()


class CallRow(Struct, frozen=True):
    """Calls of a function that are told in one line; without a function, rounds of a loop.

    `depth` is that in the tree, `order` which line is worth more: 0 is left out last. `raised`
    calls ended by an exception, `open` had not ended; `below` counts the calls that are not shown.
    `may_catch` is false of a function whose source has nothing that could catch an exception.
    """

    depth: int
    order: int
    function: str
    file: str = ""
    line: int = 0
    count: int = 1
    recursions: int = 0
    raised: int = 0
    open: int = 0
    threads: int = 1
    total_ms: float = 0.0
    self_ms: float = 0.0
    arguments: tuple[VaryView, ...] = ()
    value: VaryView | None = None
    errors: tuple[str, ...] = ()
    below: int = 0
    is_stopped: bool = False
    may_catch: bool = True


class SavedRun(Struct, frozen=True):
    """A run that was saved: by which question, of what, and which of its sources changed since."""

    name: str
    verb: str
    command: str
    cwd: str
    time: str
    exit_code: int | None = None
    exit_signal: str | None = None
    bytes: int = 0
    changed: tuple[str, ...] = ()


class SavedRuns(Struct, frozen=True):
    """The runs that are saved, oldest first."""

    runs: tuple[SavedRun, ...]
