"""Which member took another branch first."""

from __future__ import annotations

import pytest

from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.answer import MemberBranches
from debugger.questions.group.member_branches import (
    BranchWay,
    CodeLine,
    ExitRun,
    LineExit,
    MemberLines,
    PassedLine,
    collect_lines,
    find_splits,
)
from debugger.questions.group.render import format_member_branches
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    Event,
    LinePassed,
    LinesSkipped,
    RecordedFunction,
    Recording,
)

STEP = RecordedFunction(1, "step", "/job/train.py", 10)


def lines(call: int, *numbers: int) -> list[Event]:
    return [LinePassed(call, 0, one) for one in numbers]


def enter(call: int) -> CallEntered:
    return CallEntered(call, 0, STEP.number, 1, 0)


def collect(*events: Event, label: str = "0") -> MemberLines:
    return collect_lines(label, Recording(functions={STEP.number: STEP}, events=events))


def exits(found: MemberLines) -> dict[int, list[LineExit]]:
    return {one.line.line: one.list_exits() for one in found.lines}


def went(label: str, line: int, *ways: int, since: int = 0) -> MemberLines:
    key = CodeLine("/job/train.py", "step", line)
    runs = [ExitRun(LineExit(to), 1, since + at) for at, to in enumerate(ways)]
    return MemberLines(label, [PassedLine(key, runs)])


def merged(*parts: MemberLines) -> MemberLines:
    return MemberLines(parts[0].label, [one for each in parts for one in each.lines])


def test_times_in_a_row_that_go_on_alike_are_one_entry():
    found = collect(*(each for call in range(1, 5) for each in (enter(call), *lines(call, 11, 12))))
    (one,) = [each for each in found.lines if each.line.line == 11]
    assert one.runs == (ExitRun(LineExit(12), 4, one.runs[0].order),)
    assert (one.count_times(), one.find_order(0), one.find_order(2)) == (4, one.runs[0].order, None)


def test_a_line_goes_on_in_its_own_call_or_at_its_end():
    found = collect(
        *(enter(1), *lines(1, 11, 12)),
        *(enter(2), *lines(2, 11), CallRaised(2, 0, "KeyError", "'a'", 11)),
        *(*lines(1, 13), CallReturned(1, 0, "None")),
        *(enter(3), *lines(3, 11)),
    )
    assert exits(found) == {
        11: [LineExit(12), LineExit(end="raises KeyError")],  # of the third it is not known
        12: [LineExit(13)],
        13: [LineExit(end="returns")],
    }


@pytest.mark.parametrize("end", [LinesSkipped(1, 500), CallsMerged(9, 0, STEP.number, 1, 0, 500)])
def test_what_comes_after_lines_that_are_not_recorded_has_no_number(end):
    found = collect(enter(1), *lines(1, 11, 12), end, *lines(1, 13, 14))
    assert exits(found) == {11: [LineExit(12)]}


def test_the_first_time_that_one_goes_another_way_is_found_with_who_went_where():
    members = [
        went("0", 11, 12, 12, 12),
        went("1", 11, 12, 13),
        went("2", 11, 12, 12, 14),
        MemberLines("main", {}),
    ]
    (split,) = find_splits(members)
    assert (split.function, split.line, split.hit) == ("step", 11, 2)
    assert (split.compared, split.differing) == (3, 2)
    assert split.ways == (BranchWay(13, "", ("1",)), BranchWay(12, "", ("0", "2")))


def test_a_line_that_only_one_member_came_to_is_no_difference():
    assert find_splits([went("0", 11, 12, 13), went("1", 21, 22), went("2", 31, 32)]) == ()
    assert find_splits([went("0", 11, 12, 12, 13), went("1", 11, 12)]) == ()


def test_where_all_went_the_same_way_before_comes_first_then_the_order_of_time():
    always = [went("0", 5, 6), went("1", 5, 7)]
    late = [went("0", 30, 31, 31, since=50), went("1", 30, 31, 32, since=50)]
    early = [went("0", 20, 21, 21, since=20), went("1", 20, 21, 22, since=20)]
    members = [merged(*one) for one in zip(always, late, early, strict=True)]
    assert [one.line for one in find_splits(members)] == [20, 30, 5]


def test_the_answer_names_the_line_and_the_ways():
    (split,) = find_splits([went("0", 11, 12, 12), went("1", 11, 12, 13), went("2", 11, 12, 12)])
    page = RenderPage(OutputStyle.PLAIN, 100, 4000)
    answer = MemberBranches("job", ("0", "1", "2"), (split,), 3, 40, "exited with status 0", "e1")
    assert fit_sections(format_member_branches(answer, page), page.limit).splitlines() == [
        "job: 3 members; exited with status 0",
        "step train.py:11: different ways at hit 2 (at 1 of 2 times)",
        "  1: goes on at 13",
        "  0,2: go on at 12",
        "… and after 2 more lines",
        "evidence: e1",
    ]
    same = MemberBranches("job", ("0", "1"), (), 0, 40, "exited with status 0")
    assert fit_sections(format_member_branches(same, page), page.limit).splitlines() == [
        "job: 2 members; exited with status 0",
        "all went the same way after 40 lines",
    ]
