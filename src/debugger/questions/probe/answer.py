"""Defines the answer to a probe: rows, summaries, and the run's distance to unreached locations."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView
from debugger.model.answers.stops import OutputLine


class ProbeRow(Struct, frozen=True):
    """One hit: the how manieth of its place (from 1), when, by which thread; a value a column.

    `place` is the index of its place in the answer; `at_s` counts from the start of the run.
    """

    place: int
    hit: int
    at_s: float
    values: tuple[str, ...]
    thread: int | None = None


class ProbeChange(Struct, frozen=True):
    """At this hit a value was not what it was before."""

    hit: int
    previous: str
    value: str


class ProbeCount(Struct, frozen=True):
    """How often there was a value, and at which hit first."""

    value: str
    count: int
    hit: int


class ProbeColumn(Struct, frozen=True):
    """What one expression gave over all hits whose values were taken.

    `distinct` is exact up to `distinct_max`. `minimum` and `maximum` are there for numbers.
    `turn` is where what only rose fell, or the other way. `outliers` are the few values that lie
    far off, or that are of another kind than all others. `failed` counts the hits that gave no
    value; the last `error` is why; `is_never_there`: none of them did.
    """

    expression: str
    taken: int = 0
    distinct: int = 0
    is_distinct_exact: bool = True
    common: tuple[ProbeCount, ...] = ()
    minimum: ProbeCount | None = None
    maximum: ProbeCount | None = None
    first: str | None = None
    last: str | None = None
    change: ProbeChange | None = None
    turn: ProbeChange | None = None
    outliers: tuple[ProbeCount, ...] = ()
    failed: int = 0
    error: str | None = None
    is_never_there: bool = False


class ProbePlace(Struct, frozen=True):
    """One place: how often it was passed, what was taken of it, or how near the run came.

    `hits` are those at which the condition held, as far as they can be counted; `taken` those whose
    values were looked at: all, or a part of them, evenly spread. `why` is there without hits.
    """

    asked: str
    columns: tuple[ProbeColumn, ...]
    file: str | None = None
    line: int | None = None
    function: str | None = None
    when: str | None = None
    hits: int = 0
    taken: int = 0
    passed: int | None = None
    failed_conditions: int = 0
    condition_error: str | None = None
    why: str | None = None
    nearest_lines: tuple[int, ...] = ()
    near_names: tuple[str, ...] = ()
    names_in_scope: tuple[str, ...] = ()


class Probe(Struct, frozen=True):
    """The values of expressions at places of one run, in the order of time.

    `outcome` is exited, signalled, ended (how is not known), limit (it was ended after the last hit
    that was asked for) or running: the time was up (`timed_out`), or it was attached to and all
    hits that were asked for had been.
    `rows` are the first, the last and a part of those between, of `rows_total`. `means` says what
    took the values: recorder, logpoints, frida, stops; `took_s` is how long the program ran with
    it. `output` is empty unless it was asked for; `csv` has the rows, if that was. So many rows are
    to be shown as `shows_rows` says; 0: those that tell most.
    """

    outcome: str
    places: tuple[ProbePlace, ...]
    rows: tuple[ProbeRow, ...] = ()
    rows_total: int = 0
    means: str = ""
    adapter: str = ""
    took_s: float | None = None
    exit_code: int | None = None
    exit_signal: str | None = None
    stopped: str | None = None
    frame: FrameView | None = None
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    shows_output: bool = False
    shows_rows: int = 0
    timed_out: bool = False
    waited_s: float | None = None
    csv: str | None = None
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
