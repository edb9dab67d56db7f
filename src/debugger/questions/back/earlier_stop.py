"""Chooses the earlier stop to go back to, among those that a second run made. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ResumeKind, Variable

if TYPE_CHECKING:
    from debugger.session.selection import Move


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

    It makes `stops` stops: by the resumes of `path` as far as these go, then at the user's
    breakpoints. From there on it stops also at `line`, until it has been there `arrivals` times,
    and then makes `steps`.
    """

    stops: int
    line: BreakpointSpec | None
    arrivals: int
    steps: tuple[ResumeKind, ...] = ()
    path: tuple[Move, ...] = ()
    # Our breakpoints that the session's run began with.
    begun: tuple[BreakpointSpec, ...] = ()

    @property
    def first(self) -> tuple[BreakpointSpec, ...]:
        """Our breakpoints that are set before the start, or the run passes them."""
        return self.begun if self.stops or self.line is None else (self.line,)

    def path_end(self, path: Sequence[Move]) -> tuple[Variable, ...]:
        """Return what the session, whose resumes are `path`, has shown at the plan's stop."""
        is_own = self.line is None and not self.steps and len(self.path) == self.stops - 1
        return path[self.stops - 1].shown if is_own and self.stops <= len(path) else ()


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


def may_miss_lines(arrivals: Sequence[Arrival], target: int, text: Sequence[str]) -> bool:
    """Return whether there may be lines behind an arrival at which no breakpoint stops.

    That is at a jump back, and where a block is left: the condition of a loop in C has code in two
    places of its line, and debuggers stop at the first. `text` are the lines of the source.
    """
    last = arrivals[-1]
    # Calls in between are left out: a function's own call is no jump back.
    passed = [one for one in arrivals[target:] if is_in_frame(one, last)]
    return any(
        (one.line or 0) >= (following.line or 0)
        or _read_indent(text, one.line) > _read_indent(text, following.line)
        for one, following in itertools.pairwise(passed)
    )


def _read_indent(text: Sequence[str], line: int | None) -> int:
    shown = text[line - 1] if line is not None and 0 < line <= len(text) else ""
    return len(shown) - len(shown.lstrip())


def find_other_line(
    before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]
) -> tuple[str, str] | None:
    """Return the first lines in which two runs' outputs differ, as far as both have come.

    Each line has its stream before it: the streams' order among each other may differ.
    """
    for stream in dict.fromkeys(one for one, _ in before):
        texts = [[text for each, text in one if each == stream] for one in (before, now)]
        common = min(map(len, texts))
        for number, (old, new) in enumerate(zip(*texts, strict=False), 1):
            # Of the last line there may be more to come.
            is_part = number == common and (old.startswith(new) or new.startswith(old))
            if old != new and not is_part:
                return old, new
    return None


def is_in_frame(one: Arrival, other: Arrival) -> bool:
    """Return whether two arrivals are in one frame, as far as depth and function tell."""
    return one.depth == other.depth and one.function == other.function


def plan_replay(
    arrivals: Sequence[Arrival],
    target: int,
    *,
    after: int,
    path: Sequence[Move] | None = None,
    begun: tuple[BreakpointSpec, ...] = (),
) -> ReplayPlan:
    """Return how a further run reaches `arrivals[target]`.

    Args:
        arrivals: The stops of a run, the session's stop last.
        target: The index of the one to reach.
        after: How many stops were made before the run stopped at further locations, too.
        path: The session's own resumes that the run has repeated, from its first stop on.
        begun: Our breakpoints that the session's run began with.

    Raises:
        ValueError: There is no source line where the stop could be reached again.
    """
    if path is not None and target <= len(path) and target < after:
        return ReplayPlan(target + 1, None, 0, path=tuple(path[:target]), begun=begun)
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
    if path is not None and begin:
        return ReplayPlan(begin, line, same, tuple(steps), tuple(path[: begin - 1]), begun)
    return ReplayPlan(_count_users(arrivals[:begin]), line, same, tuple(steps))


def _count_users(arrivals: Sequence[Arrival]) -> int:
    return sum(one.is_users and not _is_step(one) for one in arrivals)


def _is_step(arrival: Arrival) -> bool:
    return arrival.how not in {None, ResumeKind.CONTINUE}
