"""Defines the answers about the divergence of two runs, and about differing probed values."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.questions.probe.answer import ProbeRow
from debugger.questions.recordings.answer import CountView, RatioView, RunView, ValueView


class PointView(Struct, frozen=True):
    """One event of a run (call, line, return or raise) with its values."""

    kind: str
    function: str
    file: str
    line: int
    text: str = ""
    values: tuple[ValueView, ...] = ()


class DifferenceView(Struct, frozen=True):
    """A value that differs at an event of both runs; None: it did not change there."""

    point: PointView
    name: str
    left: str | None
    right: str | None


class HunkView(Struct, frozen=True):
    """Events of one run that the other lacks: how many, and the first of them."""

    left: int
    right: int
    first_left: PointView | None = None
    first_right: PointView | None = None


class Diff(Struct, frozen=True):
    """The divergence of two runs; `left` and `right` are the next events of each."""

    runs: tuple[RunView, ...]
    what: str
    # The number of equal events; of counted runs, the functions and lines that ran equally often.
    common: int
    left_only: int
    right_only: int
    parted_after: int = 0
    # The last equal events before the divergence.
    before: tuple[PointView, ...] = ()
    left: tuple[PointView, ...] = ()
    right: tuple[PointView, ...] = ()
    # Known values at the divergence.
    values: tuple[DifferenceView, ...] = ()
    # Differing values at common events before the divergence, in order.
    differences: tuple[DifferenceView, ...] = ()
    more_differences: int = 0
    hunks: tuple[HunkView, ...] = ()
    # Code that ran a different number of times, in the order of the files, or with a `ratio` only
    # what departs from it. Runs that are recorded line by line have it only with a ratio.
    counts: tuple[CountView, ...] = ()
    more_counts: int = 0
    ratio: RatioView | None = None
    is_whole: bool = True
    timed_out: bool = False
    engine: str = ""
    has_lines: bool = True  # whether lines were recorded, and not calls alone
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET


class ProbedPair(Struct, frozen=True):
    """A hit of each run, side by side; None: this run has no such hit."""

    left: ProbeRow | None = None
    right: ProbeRow | None = None


class ProbedColumn(Struct, frozen=True):
    """The values of one expression in both runs, at `compared` pairs of hits."""

    expression: str
    compared: int = 0
    # The pairs with different values; `left` and `right` are the first such values.
    different: int = 0
    left_hit: int = 0
    right_hit: int = 0
    left: str | None = None
    right: str | None = None
    # Pairs that differ only by addresses, which do not count as different.
    addresses: int = 0
    # Set if neither run had a value at any hit.
    error: str | None = None


class ProbedPlace(Struct, frozen=True):
    """One location in both runs: the number of hits, or the reason for none."""

    asked: str
    columns: tuple[ProbedColumn, ...]
    file: str | None = None
    line: int | None = None
    # The line in the other source, if it differs; else 0.
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
    """The differences of probed values between two runs."""

    runs: tuple[RunView, ...]
    places: tuple[ProbedPlace, ...]
    # The command that asked for it: `diff`, or `probe`.
    verb: str = "diff"
    # Hits of both runs with equal values; `different` counts those with different values.
    common: int = 0
    different: int = 0
    left_only: int = 0
    right_only: int = 0
    # All hits before this one are equal.
    parted_after: int = 0
    # The first hit that differs, or that only one run has.
    parted: ProbedPair | None = None
    # Equal hits just before `parted`; `after` are the next ones.
    before: tuple[ProbedPair, ...] = ()
    after: tuple[ProbedPair, ...] = ()
    # From here on the last `again_count` hits are equal again.
    again: ProbedPair | None = None
    again_count: int = 0
    is_whole: bool = True
    timed_out: bool = False
    means: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
    # The file that the answer was drawn in, if requested.
    picture: str | UnsetType = UNSET
