"""The answers of a group's parts on several hosts become the answer of one group."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError
from debugger.hosts.answer_merge import (
    HostEvents,
    list_labels,
    merge_answers,
    merge_events,
    read_answer,
    relabel_answer,
)
from debugger.model import answers as a
from debugger.model.group_merge import MemberStack, StackPlace, merge_stacks, merge_values
from debugger.output import to_data
from debugger.output.stream_text import format_events
from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.answer import (
    GroupCrash,
    GroupHang,
    GroupStacks,
    GroupStatus,
    GroupStop,
    GroupValues,
    MemberBranches,
    MemberEnd,
    MemberProbes,
    MemberView,
    MergedState,
    NamedValues,
    ProbedPoint,
)
from debugger.questions.group.laggards import judge_waits
from debugger.questions.group.member_counts import FunctionCounts, LineTimes, MemberCounts
from debugger.questions.group.member_differences import MemberHits
from debugger.questions.group.member_wait import MemberWait
from debugger.questions.runner.answer import Crash
from debugger.recorders.model import ProbeSeen
from debugger.session.group import SilentMember

PLACES = st.builds(StackPlace, st.sampled_from("fgh"), st.just("/x.py"), st.integers(1, 3))
STACKS = st.lists(st.lists(PLACES, max_size=4).map(tuple), min_size=2, max_size=8)


def build_stacks(stacks: list[MemberStack], by: str) -> GroupStacks:
    states = (MergedState("running", tuple(one.label for one in stacks)),)
    return GroupStacks("g", len(stacks), states, merge_stacks(stacks, by), by)


@given(STACKS, st.integers(0, 8), st.sampled_from(["line", "function", "state"]))
def test_stacks_merged_by_host_and_then_together_are_those_merged_at_once(
    frames: list[tuple[StackPlace, ...]], at: int, by: str
) -> None:
    every = [MemberStack(str(n), "running", one) for n, one in enumerate(frames)]
    parts = [build_stacks(part, by) for part in (every[:at], every[at:]) if part]
    merged = merge_answers("g", parts, ())
    assert isinstance(merged, GroupStacks)
    assert merged.branches == merge_stacks(every, by)
    assert merged.total == len(every)
    assert list_labels(merged) == {one.label for one in every}


def test_values_in_frames_of_several_functions_stay_apart() -> None:
    parts = [
        GroupValues("g", 1, (NamedValues("x", merge_values({label: "1"}), function),))
        for label, function in (("0", "load"), ("1", "save"), ("2", "load"))
    ]
    merged = merge_answers("g", parts, ())
    assert isinstance(merged, GroupValues)
    found = {row.function: row.values[0].members for row in merged.rows}
    assert found == {"load": ("0", "2"), "save": ("1",)}


@given(st.lists(st.sampled_from(["1", "2", "<x at 0x7f00aa11bb22>"]), min_size=2, max_size=8))
def test_values_merged_by_host_are_those_merged_at_once(texts: list[str]) -> None:
    values = {str(number): text for number, text in enumerate(texts)}
    halves = [dict(list(values.items())[:1]), dict(list(values.items())[1:])]
    parts = [GroupValues("g", len(one), (NamedValues("x", merge_values(one)),)) for one in halves]
    merged = merge_answers("g", parts, [SilentMember("9", "late")])
    assert isinstance(merged, GroupValues)
    found = {label: one.value for one in merged.rows[0].values for label in one.members}
    assert found.keys() == values.keys()
    assert [len(one.members) for one in merged.rows[0].values] == [
        len(one.members) for one in merge_values(values)
    ]
    assert merged.silent == (SilentMember("9", "late"),)


def test_a_laggard_is_judged_among_the_members_of_all_hosts() -> None:
    meet, odd = StackPlace("meet", "/x.py", 5), StackPlace("save", "/x.py", 9)
    waits = [
        [MemberWait("0", "waits", meet), MemberWait("1", "waits", meet)],
        [MemberWait("2", "waits", odd), MemberWait("3", "waits", meet)],
    ]
    parts = [GroupHang("g", 2, judge_waits(part), notes=("raised",)) for part in waits]
    merged = merge_answers("g", parts, ())
    assert isinstance(merged, GroupHang)
    assert merged.verdict.kind == "lagging"
    assert merged.verdict == judge_waits([one for part in waits for one in part])
    assert merged.notes == ("raised",)


def build_stop(member: str, state: str, others: tuple[MergedState, ...] = ()) -> GroupStop:
    return GroupStop("g", member, a.Stop(session=member, state=state, reason="breakpoint"), others)


def test_the_stop_of_one_host_comes_before_those_that_run_or_have_ended() -> None:
    parts = [
        build_stop("0", "terminated"),
        build_stop("", "running", (MergedState("running", ("1", "2")),)),
        build_stop("3", "stopped", (MergedState("running", ("4",)),)),
    ]
    merged = merge_answers("g", parts, [SilentMember("5", "h4: lost")])
    assert isinstance(merged, GroupStop)
    assert (merged.member, merged.stop.state) == ("3", "stopped")
    assert merged.others == (
        MergedState("h4: lost", ("5",)),
        MergedState("running", ("1", "2", "4")),
        MergedState("ended", ("0",)),
    )


def test_answers_of_different_kinds_are_not_merged() -> None:
    status = GroupStatus("g", "", (), (MemberView("0", "s", 1, "running"),))
    assert merge_answers("g", [build_stop("0", "stopped"), status], ()) is None


def test_an_answer_comes_through_json_and_gets_other_labels() -> None:
    stacks = build_stacks([MemberStack("main", "running", (StackPlace("f"),))], "line")
    status = GroupStatus("g", "0", (), (MemberView("0", "s", 1, "running"),))
    for one in (stacks, status, build_stop("0", "stopped")):
        read = read_answer(to_data(one, budget=None))
        assert read == one
        renamed = relabel_answer(one, lambda label: f"{label}@h")
        assert list_labels(renamed) == {f"{label}@h" for label in list_labels(one)}
    assert read_answer({"lines": []}) is None


def test_events_of_hosts_are_in_one_order_of_time() -> None:
    def page(*times: int) -> a.Events:
        events = tuple(a.EventView(n, time, "stop", "s", 1, "", {}, member="0")
                       for n, time in enumerate(times))  # fmt: skip
        return a.Events(events, len(times), dropped=1, total=len(times))

    one, other = page(5, 9), page(101, 108)
    parts = [HostEvents(one, 0, 2_000_000, str), HostEvents(other, -100, 1_500_000, str.upper)]
    merged = merge_events(parts, 3)
    assert [one.time_ns for one in merged.events] == [5, 8, 9]
    assert (merged.total, merged.dropped, merged.earlier) == (4, 2, 1)
    view = RenderPage(OutputStyle.PLAIN, 100, 4000)
    shown = fit_sections(format_events(merged, view), view.limit)
    last = "the hosts' clocks are compared within 3.5 ms: the order of nearer events is not certain"
    assert shown.splitlines()[-1] == last
    assert merge_events([parts[0]]).clock_error_ns == 0


def build_crash(member: str, how: str, failed_ns: int | None, *ends: MemberEnd) -> GroupCrash:
    return GroupCrash(
        "g", 2, member, how, Crash("crashed", cause=how), None, ends, False, failed_ns
    )


def test_the_first_failure_of_all_hosts_is_told_with_those_after_it() -> None:
    parts = [
        build_crash("0", "ended by SIGTERM", 3_500_000_000, MemberEnd(("1",), "runs on", 0.0)),
        build_crash("2", "null pointer", 1_000_000_000, MemberEnd(("3",), "ended by SIGTERM", 1.2)),
        build_crash("", "", None),
    ]
    merged = merge_answers("g", parts, [SilentMember("4", "h4: lost")])
    assert isinstance(merged, GroupCrash)
    assert (merged.member, merged.how, merged.total) == ("2", "null pointer", 7)
    assert [(one.how, one.members, one.after_s) for one in merged.ends] == [
        # More than a second apart.
        ("ended by SIGTERM", ("3",), 1.2),
        ("ended by SIGTERM", ("0",), 2.5),
        ("runs on", ("1",), 2.5),
        ("no answer: h4: lost", ("4",), None),
    ]
    none = merge_answers("g", [build_crash("", "", None)] * 2, ())
    assert isinstance(none, GroupCrash)
    assert (none.member, none.ends) == ("", ())


def test_failures_that_the_clocks_cannot_order_are_said_and_the_fault_is_first() -> None:
    replace = msgspec.structs.replace
    stopped = replace(build_crash("0", "SIGSEGV", 1_010_000_000), error_ns=20_000_000)
    ended = replace(build_crash("2", "ended by SIGTERM", 1_000_000_000), blame=3)
    later = build_crash("5", "ended by SIGTERM", 1_500_000_000)
    merged = merge_answers("g", [ended, stopped, later], ())
    assert isinstance(merged, GroupCrash)
    assert merged.member == "0"
    (note,) = merged.notes
    assert note == "which of 0,2 failed first is not certain: clocks known to 20.0 ms"
    sure = merge_answers("g", [ended, replace(stopped, error_ns=9_000_000), later], ())
    assert isinstance(sure, GroupCrash)
    assert (sure.member, sure.notes) == ("2", ())


def test_hits_of_all_hosts_are_compared_and_come_through_json() -> None:
    def build(label: str, *losses: str) -> MemberProbes:
        seen = {0: ProbeSeen(0, len(losses), len(losses), 1, "/x.py", 3, "step")}
        hits = MemberHits(label, {0: {at + 1: (one, "7") for at, one in enumerate(losses)}}, seen)
        points = (ProbedPoint(0, "x.py:3", ("loss", "number")),)
        part = MemberProbes("g", (label,), (), "exited with status 0", 1.0, None, (hits,), points)
        read = read_answer(to_data(part, budget=None))
        assert read == part
        return relabel_answer(part, lambda one: f"{one}@h{len(losses)}")  # type: ignore[return-value]

    merged = merge_answers("g", [build("0", "1.0", "0.5"), build("0", "1.0", "nan", "2")], ())
    assert isinstance(merged, MemberProbes)
    (place,) = merged.places
    assert (place.compared, place.counts[0].members) == (2, ("0@h2",))
    assert [(one.expression, one.hit) for one in place.expressions] == [
        ("loss", 2),
        ("number", None),
    ]
    with pytest.raises(DebuggerError, match=r"none of 1 processes came to x\.py:3") as caught:
        merge_answers("g", [build("0")], ())
    # `probe` without --group refuses a launcher.
    assert caught.value.hint.startswith("debugger probe --group --at FUNCTION EXPR -- CMD")


def test_counted_lines_of_all_hosts_are_compared_and_come_through_json() -> None:
    def count(label: str, *lines: int) -> MemberBranches:
        times = tuple(LineTimes(one, 0, 1, one) for one in lines)
        counts = (MemberCounts(label, (FunctionCounts("/job/a.c", "work", 1, times),)),)
        end = "exited with status 0"
        return MemberBranches("a", (label,), (), 0, 0, end, counts=counts, is_counted=True)

    first = read_answer(to_data(count("0", 10, 11), budget=None))
    assert isinstance(first, MemberBranches)
    lost = [SilentMember("*@h3", "h3: no answer")]
    merged = merge_answers("a", [first, count("2", 10, 11, 12)], lost)
    assert isinstance(merged, MemberBranches)
    (split,) = merged.counted
    assert (merged.members, split.line, split.after) == (("0", "2"), 12, 11)
    assert merged.end == "exited with status 0; h3: no answer"
    with pytest.raises(DebuggerError, match="fewer than 2 processes were recorded") as caught:
        merge_answers("a", [count("0", 10)], lost)
    assert caught.value.hint == "debugger path -- CMD shows what one process does"
