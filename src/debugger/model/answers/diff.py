"""What the question after the difference of two runs is answered with."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.recorded import RunView, ValueView


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
