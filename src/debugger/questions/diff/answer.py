"""Defines the answers about the divergence of two runs, and about differing probed values."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.questions.probe.answer import ProbeRow
from debugger.questions.recordings.answer import RunView, ValueView


class PointView(Struct, frozen=True):
    """Something that a run did: call, line, return or raise, with the values that belong to it."""

    kind: str
    function: str
    file: str
    line: int
    text: str = ""
    values: tuple[ValueView, ...] = ()


class DifferenceView(Struct, frozen=True):
    """A value that differs at what both runs did; None: it did not change there."""

    point: PointView
    name: str
    left: str | None
    right: str | None


class HunkView(Struct, frozen=True):
    """What one run did and the other did not: how much, and what it begins with."""

    left: int
    right: int
    first_left: PointView | None = None
    first_right: PointView | None = None


class CountView(Struct, frozen=True):
    """What ran `left` and `right` times: the lines from `line` to `last`, or, without text, a call.

    With a column it is what begins there within the line.
    """

    function: str
    file: str
    line: int
    left: int
    right: int
    text: str = ""
    column: int = 0
    last: int = 0


class Diff(Struct, frozen=True):
    """Where two runs of a program part; `left` and `right` are what each did next.

    `common` steps are the same in both, `before` those just before they part. `differences` are of
    steps that both made before that, in their order; `values` what is known where they part.
    Of runs that were counted there are `counts` instead: what ran another number of times, in the
    order of the files; `common` functions and lines ran as often.
    """

    runs: tuple[RunView, ...]
    what: str
    common: int
    left_only: int
    right_only: int
    parted_after: int = 0
    before: tuple[PointView, ...] = ()
    left: tuple[PointView, ...] = ()
    right: tuple[PointView, ...] = ()
    values: tuple[DifferenceView, ...] = ()
    differences: tuple[DifferenceView, ...] = ()
    more_differences: int = 0
    hunks: tuple[HunkView, ...] = ()
    counts: tuple[CountView, ...] = ()
    more_counts: int = 0
    is_whole: bool = True
    timed_out: bool = False
    engine: str = ""
    has_lines: bool = True  # whether lines were recorded, and not calls alone
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET


class ProbedPair(Struct, frozen=True):
    """A hit of each run, one beside the other; None: this run has none there."""

    left: ProbeRow | None = None
    right: ProbeRow | None = None


class ProbedColumn(Struct, frozen=True):
    """What one expression gave in both runs, at `compared` pairs of hits.

    At `different` of them the values differ; `left` and `right` are the first such values.
    `addresses` counts those that differ by addresses alone, which is no difference.
    `error` is there where neither run had a value at any hit.
    """

    expression: str
    compared: int = 0
    different: int = 0
    left_hit: int = 0
    right_hit: int = 0
    left: str | None = None
    right: str | None = None
    addresses: int = 0
    error: str | None = None


class ProbedPlace(Struct, frozen=True):
    """One place in both runs: how often each came there, or why it did not.

    `right_line` is that of the other source, where this is not the same; 0: it is.
    """

    asked: str
    columns: tuple[ProbedColumn, ...]
    file: str | None = None
    line: int | None = None
    right_line: int = 0
    function: str | None = None
    when: str | None = None
    left_hits: int = 0
    right_hits: int = 0
    left_why: str | None = None
    right_why: str | None = None
    names_in_scope: tuple[str, ...] = ()
    near_names: tuple[str, ...] = ()


class DiffOfProbes(Struct, frozen=True):
    """Where the values differ that expressions had at places of two runs.

    Of the hits that both have, `common` are the same and `different` are not; of `parted_after`
    all before are. `parted` is the first that differs, or that one run alone has, `before` the same
    ones just before it, `after` what comes next. From `again` on the last `again_count` are the
    same once more. Places are those of each row's index.
    """

    runs: tuple[RunView, ...]
    places: tuple[ProbedPlace, ...]
    common: int = 0
    different: int = 0
    left_only: int = 0
    right_only: int = 0
    parted_after: int = 0
    parted: ProbedPair | None = None
    before: tuple[ProbedPair, ...] = ()
    after: tuple[ProbedPair, ...] = ()
    again: ProbedPair | None = None
    again_count: int = 0
    is_whole: bool = True
    timed_out: bool = False
    means: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
