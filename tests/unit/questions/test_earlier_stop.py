"""The stop to go back to is chosen among those of a second run."""

from __future__ import annotations

import pytest

from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ResumeKind
from debugger.questions.back.earlier_stop import (
    Arrival,
    BackKind,
    ReplayPlan,
    find_other_line,
    may_miss_lines,
    plan_replay,
    previous_stops,
)
from debugger.questions.runner.stop_position import hide_addresses
from debugger.session.selection import Move


def arrival(
    line: int,
    depth: int = 1,
    how: ResumeKind | None = ResumeKind.CONTINUE,
    *,
    is_users: bool = False,
) -> Arrival:
    return Arrival("a.c", line, "main" if depth == 1 else "work", depth, how, is_users)


# main calls `work` at line 13, which has lines 6 and 7; the user's breakpoint is at 7.
RUN = [
    arrival(13, how=None),
    arrival(6, 2),
    arrival(7, 2, is_users=True),
    arrival(13),
    arrival(6, 2),
    arrival(7, 2, is_users=True),
]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (BackKind.NEXT, [3, 4]),
        (BackKind.FINISH, [0, 3]),
        (BackKind.CONTINUE, [2]),
    ],
)
def test_a_kind_goes_back_to_its_stops(kind: BackKind, expected: list[int]) -> None:
    assert previous_stops(kind, RUN, ("a.c", 13)) == expected


def test_the_lines_before_a_call_are_those_that_the_caller_was_stepped_through() -> None:
    stepped = [
        arrival(11, how=None, is_users=True),
        arrival(12, how=ResumeKind.NEXT),
        arrival(13, how=ResumeKind.NEXT),
        arrival(6, 2, ResumeKind.STEP),
        arrival(7, 2, ResumeKind.NEXT),
    ]
    assert previous_stops(BackKind.NEXT, stepped, ("a.c", 13)) == [0, 1, 2, 3]
    assert previous_stops(BackKind.NEXT, [*RUN[:2], *stepped[2:]], ("a.c", 13)) == [2, 3]


def test_a_stop_is_reached_again_by_counting_the_arrivals_at_its_line() -> None:
    line = BreakpointSpec(file="a.c", line=6)
    assert plan_replay(RUN, 4, after=0) == ReplayPlan(0, line, 2)
    assert plan_replay(RUN, 4, after=3) == ReplayPlan(1, line, 1)
    assert plan_replay(RUN, 2, after=3) == ReplayPlan(1, None, 0)


def test_steps_are_repeated_after_the_stop_that_they_began_at() -> None:
    stepped = [
        arrival(7, 2, is_users=True),
        arrival(8, 2, ResumeKind.NEXT),
        arrival(9, 2, ResumeKind.NEXT),
    ]
    assert plan_replay(stepped, 1, after=3) == ReplayPlan(1, None, 0, (ResumeKind.NEXT,))
    ours = [arrival(7, 2), *stepped[1:]]
    line = BreakpointSpec(file="a.c", line=7)
    assert plan_replay(ours, 1, after=3) == ReplayPlan(0, line, 1, (ResumeKind.NEXT,))


def test_a_stop_without_a_source_line_cannot_be_reached_again() -> None:
    nowhere = Arrival(None, None, "memcpy", 2, ResumeKind.CONTINUE, is_users=False)
    with pytest.raises(ValueError, match="no source line in memcpy"):
        plan_replay([nowhere, RUN[-1]], 0, after=0)


def test_the_sessions_own_resumes_are_repeated_up_to_the_stop() -> None:
    ours = (BreakpointSpec(file="a.c", line=13),)
    path = [Move(how, None, (), ours) for how in (ResumeKind.NEXT, ResumeKind.CONTINUE)]
    steps = [arrival(7, 2, is_users=True), arrival(13, how=ResumeKind.NEXT), arrival(13)]
    plan = plan_replay(steps, 1, after=3, path=path, begun=ours)
    assert plan == ReplayPlan(2, None, 0, path=(path[0],), begun=ours)
    assert plan.first == ours
    # Behind the second stop the run has stopped at further lines, too.
    run = [*steps[:2], arrival(6, 2), arrival(7, 2), arrival(13)]
    line = BreakpointSpec(file="a.c", line=7)
    assert plan_replay(run, 3, after=2, path=path) == ReplayPlan(2, line, 1, path=(path[0],))


def test_lines_may_be_missed_where_a_block_is_left_or_begins_again() -> None:
    text = ["for (;;) {", "  one();", "}", "two();", "three();"]
    assert may_miss_lines([arrival(2), arrival(4)], 0, text)  # the condition in line 1
    assert may_miss_lines([arrival(2), arrival(2)], 0, text)
    assert not may_miss_lines([arrival(4), arrival(5)], 0, text)
    assert not may_miss_lines([arrival(2), arrival(4), arrival(5)], 1, text)
    # A call in between is no jump back.
    called = [arrival(4), arrival(1, 2), arrival(4, 2), arrival(5)]
    assert not may_miss_lines(called, 0, text)


def test_the_numbers_of_a_thread_and_its_address_are_no_difference() -> None:
    shown = "<Thread(Thread-6 (move), started daemon 140235) at 0x7f2c>"
    assert hide_addresses(shown) == "<Thread(Thread-… (move), started daemon …) at 0x…>"


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ([("stdout", "a"), ("stdout", "b")], [("stdout", "a")], None),
        ([("stdout", "a"), ("stderr", "e")], [("stderr", "e"), ("stdout", "a")], None),
        ([("stdout", "half a li")], [("stdout", "half a line")], None),
        ([("stdout", "pid 1"), ("stdout", "b")], [("stdout", "pid 2")], ("pid 1", "pid 2")),
        ([("stdout", "a"), ("stdout", "b")], [("stdout", "ab"), ("stdout", "b")], ("a", "ab")),
    ],
)
def test_the_first_line_that_two_runs_print_differently_is_found(
    before: list[tuple[str, str]], now: list[tuple[str, str]], expected: tuple[str, str] | None
) -> None:
    assert find_other_line(before, now) == expected
