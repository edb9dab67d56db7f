"""Chooses the earlier stop to go back to, among those that a second run made. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ResumeKind


class BackKind(StrEnum):
    """How far to go back; each undoes the command of the same name."""

    NEXT = "back"
    STEP = "back-step"
    FINISH = "back-finish"
    CONTINUE = "back-continue"


class Arrival(Struct, frozen=True):
    """A stop of the second run before the session's stop, or the session's stop itself."""

    file: str | None
    line: int | None
    function: str
    # The number of frames, as far as it was read.
    depth: int
    # How the program came there; None is its start.
    how: ResumeKind | None
    # It stopped there by itself or at a breakpoint of the user's, and not only at one of ours.
    is_users: bool

    @property
    def location(self) -> tuple[str | None, int | None]:
        """The source line."""
        return (self.file, self.line)


class ReplayPlan(Struct, frozen=True):
    """How a further run reaches an earlier stop.

    It makes `stops` stops at the user's breakpoints. From there on it stops also at `line`, until
    it has been there `arrivals` times, and then makes `steps`.
    """

    stops: int
    line: BreakpointSpec | None
    arrivals: int
    steps: tuple[ResumeKind, ...] = ()


def previous_stops(
    kind: BackKind, arrivals: Sequence[Arrival], caller: tuple[str | None, int | None] | None
) -> list[int]:
    """Return the indexes of the stops that a kind goes back to, the earliest first.

    Args:
        kind: How far to go back; STEP is found among the steps of a further run instead.
        arrivals: The stops of a run, the session's stop last.
        caller: The line of the frame that called the session's.
    """
    last = arrivals[-1]
    calls = [
        index
        for index, one in enumerate(arrivals[:-1])
        if one.depth == last.depth - 1 and one.location == caller
    ]
    if kind is BackKind.CONTINUE:
        return [index for index, one in enumerate(arrivals[:-1]) if one.is_users]
    if kind is BackKind.FINISH:
        return calls
    # What was before the call is in the caller, and known only if it was stepped through: an
    # earlier call's lines are not the lines before.
    call = calls[-1] if calls else -1
    begin = max(call, 0)
    while begin and _is_step(arrivals[begin]) and is_in_frame(arrivals[begin - 1], arrivals[begin]):
        begin -= 1
    return [
        index
        for index, one in enumerate(arrivals[:-1])
        if index >= begin and (is_in_frame(one, last) or index <= call)
    ]


def may_miss_lines(arrivals: Sequence[Arrival], target: int) -> bool:
    """Tell whether there may be lines behind an arrival at which no breakpoint stops.

    That is at a jump back: the condition of a loop in C has code in two places of its line, and
    debuggers stop at the first.
    """
    last = arrivals[-1]
    return any(
        is_in_frame(one, last) and (one.line or 0) >= (following.line or 0)
        for one, following in itertools.pairwise(arrivals[target:])
    )


def is_in_frame(one: Arrival, other: Arrival) -> bool:
    """Tell whether two arrivals are in one frame, as far as depth and function tell."""
    return one.depth == other.depth and one.function == other.function


def plan_replay(arrivals: Sequence[Arrival], target: int, *, after: int) -> ReplayPlan:
    """Return how a further run reaches `arrivals[target]`.

    Args:
        arrivals: The stops of a run, the session's stop last.
        target: The index of the one to reach.
        after: How many stops were made before the run stopped at further locations, too.

    Raises:
        ValueError: There is no source line where the stop could be reached again.
    """
    steps: list[ResumeKind] = []
    at = target
    while (how := arrivals[at].how) not in {None, ResumeKind.CONTINUE}:
        assert how is not None
        steps.insert(0, how)
        at -= 1
    reached = arrivals[at]
    if reached.is_users and at < after:
        return ReplayPlan(_count_users(arrivals[: at + 1]), None, 0, tuple(steps))
    if reached.file is None or reached.line is None:
        message = f"no source line in {reached.function}"
        raise ValueError(message)
    begin = after if at >= after else 0  # a stop at our line of the session's stop, before `after`
    same = sum(
        one.location == reached.location and not _is_step(one) for one in arrivals[begin : at + 1]
    )
    line = BreakpointSpec(file=reached.file, line=reached.line)
    return ReplayPlan(_count_users(arrivals[:begin]), line, same, tuple(steps))


def _count_users(arrivals: Sequence[Arrival]) -> int:
    return sum(one.is_users and not _is_step(one) for one in arrivals)


def _is_step(arrival: Arrival) -> bool:
    return arrival.how not in {None, ResumeKind.CONTINUE}
