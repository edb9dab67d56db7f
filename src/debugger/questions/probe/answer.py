"""Defines the answer to a probe: rows, summaries, and the run's distance to unreached locations."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView
from debugger.model.answers.stops import OutputLine


class ProbeRow(Struct, frozen=True):
    """One hit of a location: its number (from 1), time, thread, and a value for each column."""

    # The index of the location in the answer.
    place: int
    hit: int
    # Seconds since the start of the run.
    at_s: float
    values: tuple[str, ...]
    thread: int | None = None


class ProbeChange(Struct, frozen=True):
    """A hit at which the value differs from the previous one."""

    hit: int
    previous: str
    value: str


class ProbeCount(Struct, frozen=True):
    """A value, its number of occurrences, and its first hit."""

    value: str
    count: int
    hit: int


class ProbeObject(Struct, frozen=True):
    """An object that an expression was at some hits; one number is one object in all columns.

    Of a compiled program it is an address: what was freed there may have been another object.
    """

    number: int
    hits: int
    # The first and the last hit of each stretch.
    spans: tuple[tuple[int, int], ...]


class ProbeColumn(Struct, frozen=True):
    """A summary of one expression over all hits with values."""

    expression: str
    taken: int = 0
    # Exact only if `is_distinct_exact`.
    distinct: int = 0
    is_distinct_exact: bool = True
    common: tuple[ProbeCount, ...] = ()
    # Only of numbers, as is `maximum`.
    minimum: ProbeCount | None = None
    maximum: ProbeCount | None = None
    first: str | None = None
    last: str | None = None
    change: ProbeChange | None = None
    # The first fall of a value that otherwise only rose, or the reverse.
    turn: ProbeChange | None = None
    # The few values far from the rest, or of another kind than all others.
    outliers: tuple[ProbeCount, ...] = ()
    # The objects that it was, the most frequent ones, and the number of all.
    objects: tuple[ProbeObject, ...] = ()
    objects_total: int = 0
    are_addresses: bool = False
    # The first hit at which an array leaves the pattern that its elements begin with.
    departure: ProbeCount | None = None
    # The hits without a value; `error` is the reason of the last one.
    failed: int = 0
    error: str | None = None
    # No hit had a value.
    is_never_there: bool = False


class ProbePlace(Struct, frozen=True):
    """One location: its hits and their summary, or the reason why it was never reached."""

    asked: str
    columns: tuple[ProbeColumn, ...]
    file: str | None = None
    line: int | None = None
    function: str | None = None
    when: str | None = None
    # The hits that the filter leaves, as far as they can be counted; `passed` are all.
    hits: int = 0
    # The hits with values: all of them, or an evenly spread part.
    taken: int = 0
    passed: int | None = None
    failed_conditions: int = 0
    condition_error: str | None = None
    # Only without hits.
    why: str | None = None
    # The operands of a condition that was never true, by a second run without it.
    refused: tuple[ProbeColumn, ...] = ()
    nearest_lines: tuple[int, ...] = ()
    near_names: tuple[str, ...] = ()
    names_in_scope: tuple[str, ...] = ()
    # `after` or `until`: an event of the filter, and no location of its own.
    event: str = ""


class ProbeNarrowing(Struct, frozen=True):
    """The statement between two hits after which a value had changed, by a second run."""

    # The numbers of the two hits.
    first: int
    second: int
    frame: FrameView
    statement: str
    # The run of the statement since the first hit that changed it, and all of its runs.
    run: int
    runs: int
    before: str | None = None
    after: str | None = None
    # Nothing changed it further before the second hit.
    is_final: bool = False
    # What the statement called, the arguments that its loop chose, and where the first comes from.
    called: FrameView | None = None
    operands: tuple[str, ...] = ()
    source: FrameView | None = None


class Probe(Struct, frozen=True):
    """The values of expressions at locations of one run, in order of time."""

    # exited, signalled, ended (in an unknown way), limit (ended by us after the last requested hit)
    # crash, fail, exit or hang (ended by us at that event), or running: timed out, or attached to
    # and past the last requested hit.
    outcome: str
    places: tuple[ProbePlace, ...]
    # The first, the last and a part of the middle of `rows_total` rows.
    rows: tuple[ProbeRow, ...] = ()
    # The filter's events, and its options, without the conditions.
    events: tuple[ProbePlace, ...] = ()
    filter: str = ""
    # What changed the values between the hits, with `--changes`.
    narrowed: tuple[ProbeNarrowing, ...] = ()
    rows_total: int = 0
    # The method: recorder, logpoints, frida, stops, or failure (what a failed test showed).
    means: str = ""
    adapter: str = ""
    # The duration of the run with the probes.
    took_s: float | None = None
    exit_code: int | None = None
    exit_signal: str | None = None
    stopped: str | None = None
    frame: FrameView | None = None
    # Empty unless requested.
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    shows_output: bool = False
    # The number of rows to show; 0: the most informative ones.
    shows_rows: int = 0
    timed_out: bool = False
    waited_s: float | None = None
    # The rows as CSV, if requested.
    csv: str | None = None
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
    # The file that the answer was drawn in, if requested.
    picture: str | UnsetType = UNSET

    @property
    def has_failed(self) -> bool:
        """Whether the run ended, and came to none of the places."""
        reached = (one.hits or one.passed or one.refused for one in self.places)
        return not self.timed_out and not any(reached)
