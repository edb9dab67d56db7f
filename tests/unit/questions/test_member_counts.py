"""Which lines ran in some processes only, or more often there."""

from __future__ import annotations

import pytest

from debugger.model.group_merge import MergedValue
from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.branch_answer import build_counted_branches
from debugger.questions.group.member_counts import (
    CountSplit,
    FunctionCounts,
    LineTimes,
    MemberCounts,
    collect_counts,
    find_count_splits,
)
from debugger.questions.group.render import format_member_branches
from debugger.recorders.model import (
    CallsMerged,
    LinesHit,
    PartCounts,
    RecordedFunction,
    Recording,
    SourcePart,
)

FILE = "/job/step.c"


def member(label: str, *functions: FunctionCounts, only_lines: bool = False) -> MemberCounts:
    return MemberCounts(label, functions, only_lines=only_lines)


def function(name: str, times: dict[int, int], calls: int = 1, first: int = 1) -> FunctionCounts:
    lines = (
        LineTimes(line, 0, count, first + at) for at, (line, count) in enumerate(times.items())
    )
    return FunctionCounts(FILE, name, calls, tuple(lines))


def test_the_first_line_that_ran_in_one_member_only_is_named_with_the_line_before() -> None:
    usual = {10: 1, 11: 4, 12: 4, 14: 4}
    ranks = [member(str(one), function("work", usual)) for one in (0, 1, 3)]
    odd = member("2", function("work", {10: 1, 11: 4, 12: 4, 13: 1, 14: 4}))
    (split,) = find_count_splits([*ranks, odd])
    counts = (MergedValue("0", ("0", "1", "3")), MergedValue("1", ("2",)))
    assert split == CountSplit(FILE, "work", 13, counts, after=12)


def test_functions_that_all_called_alike_come_before_those_that_differ_by_their_callers() -> None:
    called = [
        member("0", function("early", {1: 9}, calls=9), function("late", {20: 1, 21: 3}, first=50)),
        member("1", function("early", {1: 2}, calls=2), function("late", {20: 1, 21: 4}, first=50)),
    ]
    assert [one.function for one in find_count_splits(called)] == ["late", "early"]


def test_a_line_that_did_not_run_comes_before_one_that_ran_less_often() -> None:
    found = find_count_splits(
        [
            member("0", function("often", {1: 1, 2: 5}), function("never", {9: 1, 10: 1}, first=9)),
            member("1", function("often", {1: 1, 2: 6}), function("never", {9: 1}, first=9)),
        ]
    )
    assert [(one.function, one.line) for one in found] == [("never", 10), ("often", 2)]


def test_a_fork_is_not_compared_in_the_function_in_which_it_began() -> None:
    parent = member("main", function("main", {30: 1, 31: 1, 32: 1}))
    child = member("1", function("main", {32: 1, 33: 1}))
    assert find_count_splits([parent, child]) == ()


def test_a_part_of_a_line_that_one_member_does_not_list_is_not_compared() -> None:
    whole = FunctionCounts(FILE, "work", 1, (LineTimes(5, 0, 2, 1),))
    parted = FunctionCounts(FILE, "work", 1, (LineTimes(5, 0, 2, 1), LineTimes(5, 8, 1, 2)))
    assert find_count_splits([member("0", whole), member("1", parted)]) == ()


def test_counts_and_lines_of_recordings_are_collected() -> None:
    known = RecordedFunction(1, "work", FILE, 10)
    parts = PartCounts(1, (SourcePart(10, times=1, first=4), SourcePart(11, times=7)))
    merged = CallsMerged(1, 0, 1, 1, 1, 3)
    counted = collect_counts("0", Recording(functions={1: known}, events=(merged, parts)))
    lines = (LineTimes(10, 0, 1, 4), LineTimes(11, 0, 7, 0))
    assert counted == member("0", FunctionCounts(FILE, "work", 3, lines))
    hit = Recording(functions={1: known}, events=(merged, LinesHit(1, (10, 11), (0, 5))))
    lines = (LineTimes(10, 0, 1, 1), LineTimes(11, 0, 1, 6))
    expected = member("0", FunctionCounts(FILE, "work", 3, lines), only_lines=True)
    assert collect_counts("0", hit) == expected


@pytest.mark.parametrize(
    ("only_lines", "ran", "known"),
    [(False, "ran 3 times", "how often lines ran is known"), (True, "ran", "which lines ran is")],
)
def test_the_answer_says_who_ran_a_line_and_what_is_not_known(
    only_lines: bool, ran: str, known: str
) -> None:
    members = [
        member("0", function("work", {10: 1, 11: 3}), only_lines=only_lines),
        member("1", function("work", {10: 1}), only_lines=only_lines),
    ]
    answer = build_counted_branches("job", members, "exited with status 0")
    sections = format_member_branches(answer, RenderPage(OutputStyle.PLAIN, 100, 4000))
    lines = fit_sections(sections, 400).splitlines()
    assert lines[:3] == [
        "job: 2 members; exited with status 0",
        f"work step.c:11 {ran} on 0 · did not run on 1",
        "  after line 10, the same on all",
    ]
    assert lines[3].startswith(known)
