"""What the question after the difference of two runs is answered with, where both were probed."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.probe import ProbeRow
from debugger.model.answers.recorded import RunView


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
