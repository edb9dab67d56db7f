"""Labels, sets of members, and merged stacks and values, whatever the members are."""

from __future__ import annotations

import multiprocessing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_labels import (
    RANK_VARIABLES,
    choose_label,
    clean_label,
    format_members,
    join_runs,
    make_unique,
    select_members,
    sort_key,
    write_rank,
)
from debugger.model.group_merge import (
    BY_FUNCTION,
    BY_LINE,
    BY_STATE,
    MemberStack,
    StackBranch,
    StackPlace,
    merge_stacks,
    merge_values,
)
from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.answer import GroupStacks, GroupValues, MergedState, NamedValues
from debugger.questions.group.render import format_stacks, format_values

NUMBERS = st.integers(0, 1200).map(str)
LABELS = st.one_of(
    NUMBERS,
    st.just("main"),
    st.integers(0, 30).map(lambda one: f"gw{one}"),
    st.integers(0, 30).map(lambda one: f"pid{one}"),
    st.text("abz09-_:/#é", min_size=1, max_size=8).map(clean_label).filter(bool),
)
MEMBERS = st.lists(LABELS, unique=True, min_size=1, max_size=40)
PLACES = st.builds(
    StackPlace,
    function=st.sampled_from(["main", "work", "wait", "load"]),
    file=st.sampled_from([None, "/a.py", "/b.py"]),
    line=st.integers(1, 3),
)
STACKS = st.builds(
    lambda labels, frames, states: [
        MemberStack(label, states[at % len(states)], frames[at % len(frames)])
        for at, label in enumerate(labels)
    ],
    MEMBERS,
    st.lists(st.lists(PLACES, max_size=6).map(tuple), min_size=1, max_size=8),
    st.lists(st.sampled_from(["running", "stopped"]), min_size=1, max_size=3),
)


@given(MEMBERS)
def test_a_written_set_names_exactly_its_members(labels: list[str]) -> None:
    half = labels[::2]
    # A label that reads like a range of others is taken as the label that it is.
    assert set(half) <= set(select_members(format_members(half), labels))


@given(st.lists(st.integers(0, 300), unique=True, min_size=1))
def test_numbers_are_written_as_ranges_and_read_back(numbers: list[int]) -> None:
    labels = [str(one) for one in range(301)]
    text = format_members(map(str, numbers))
    assert select_members(text, labels) == [str(one) for one in sorted(numbers)]


def test_ranges_are_short() -> None:
    assert format_members(map(str, [*range(6), 7])) == "0-5,7"
    assert format_members(["gw1", "gw0", "main", "gw3"]) == "main,gw0-1,gw3"
    assert join_runs(["job", "job.1", "job.2", "a-1", "a-2"]) == ["job", "job.1-2", "a-1", "a-2"]
    assert format_members(["host-1", "host-2"]) == "host-1,host-2"
    assert format_members([]) == ""
    assert format_members(["01", "02"]) == "01,02"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("w0-2", "w0 w1 w2"),
        ("w0-w1,7", "w0 w1 7"),
        ("not w0", "main 7 w1 w2"),
        ("not w0-1, main", "7 w2"),
        ("!w*", "main 7"),
        ("! 7", "main w0 w1 w2"),
    ],
)
def test_a_set_may_be_a_range_of_names_or_all_but_some(text: str, names: str) -> None:
    chosen = select_members(text, ["main", "7", "w0", "w1", "w2"])
    assert set(chosen) == set(names.split())


def test_a_label_that_begins_like_an_exclusion_is_the_label() -> None:
    assert select_members("!x", ["!x", "y"]) == ["!x"]


@pytest.mark.parametrize(
    "text", ["", " ", ",", "9", "3-1", "x*", "a b", "not", "not 9", "not all", "!", "w0-x1"]
)
def test_a_set_that_names_nobody_is_refused_with_those_that_exist(text: str) -> None:
    with pytest.raises(DebuggerError) as refused:
        select_members(text, ["main", "0", "1", "2"])
    assert refused.value.code in {ErrorCode.USAGE, ErrorCode.NOT_FOUND}
    assert refused.value.hint.startswith("--members ")


@given(st.lists(LABELS, max_size=20))
def test_labels_become_unique(labels: list[str]) -> None:
    taken: list[str] = []
    for label in labels:
        taken.append(make_unique(label, taken))
    assert len(set(taken)) == len(labels)


@given(MEMBERS)
def test_labels_have_one_order(labels: list[str]) -> None:
    ordered = sorted(labels, key=sort_key)
    assert sorted(dict.fromkeys(ordered), key=sort_key) == ordered
    numbers = [int(one) for one in ordered if one.isdecimal() and str(int(one)) == one]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("variables", "name", "label"),
    [
        ({"RANK": "3", "LOCAL_RANK": "1"}, "", "3"),
        ({"OMPI_COMM_WORLD_RANK": "2"}, "Process-1", "2"),
        ({"SLURM_PROCID": "7"}, "", "7"),
        ({"PYTEST_XDIST_WORKER": "gw1"}, "MainProcess", "gw1"),
        ({}, "SpawnProcess-4", "4"),
        ({}, "ForkPoolWorker-12", "12"),
        ({}, "Process-2:1", "2:1"),
        ({}, "reader, first", "reader_first"),
        ({}, "MainProcess", "main"),
        ({}, "", "pid55"),
        ({"RANK": "  "}, "", "pid55"),
    ],
)
def test_a_label_comes_from_the_engine_then_from_multiprocessing_then_from_the_pid(
    variables: dict[str, str], name: str, label: str
) -> None:
    assert choose_label(variables, name, 55) == label


def leaves(branches: tuple[StackBranch, ...]) -> list[StackBranch]:
    return [leaf for one in branches for leaf in (leaves(one.branches) if one.branches else [one])]


def paths(branches: tuple[StackBranch, ...], label: str) -> list[tuple[StackPlace, ...]]:
    found = []
    for one in branches:
        if label in one.members:
            below = paths(one.branches, label) if one.branches else [()]
            found += [(*one.frames, *rest) for rest in below]
    return found


@given(STACKS)
def test_each_member_stands_in_one_leaf_with_its_own_stack(stacks: list[MemberStack]) -> None:
    merged = merge_stacks(stacks, BY_LINE)
    for one in stacks:
        assert paths(merged, one.label) == [one.frames]
    assert sorted(label for leaf in leaves(merged) for label in leaf.members) == sorted(
        one.label for one in stacks
    )


@given(STACKS, st.sampled_from([BY_LINE, BY_FUNCTION, BY_STATE]))
def test_the_branch_with_fewest_members_comes_first(stacks: list[MemberStack], by: str) -> None:
    pending = [merge_stacks(stacks, by)]
    while pending:
        branches = pending.pop()
        counts = [len(one.members) for one in branches]
        assert counts == sorted(counts)
        pending += [one.branches for one in branches if one.branches]


@given(STACKS)
def test_by_function_never_has_more_leaves_than_by_line(stacks: list[MemberStack]) -> None:
    lines, functions = (leaves(merge_stacks(stacks, by)) for by in (BY_LINE, BY_FUNCTION))
    assert len(functions) <= len(lines)


@given(st.dictionaries(LABELS, st.sampled_from(["1", "2", "<A at 0x7f00aa11>"]), min_size=1))
def test_each_member_has_one_merged_value(values: dict[str, str]) -> None:
    merged = merge_values(values)
    assert sorted(label for one in merged for label in one.members) == sorted(values)
    counts = [len(one.members) for one in merged]
    assert counts == sorted(counts, reverse=True)


def test_values_that_differ_in_addresses_only_are_one() -> None:
    merged = merge_values({"0": "<A at 0x7f0000000010>", "1": "<A at 0x7f0000000020>", "2": "7"})
    assert [(one.value, one.members) for one in merged] == [
        ("<A at 0x…>", ("0", "1")),
        ("7", ("2",)),
    ]


def simulated(count: int) -> list[MemberStack]:
    """Return stacks of which one is odd, and some differ by line."""
    base = tuple(StackPlace(f"layer_{at}", "/job/model.py", 10 + at) for at in range(30))
    found = []
    for at in range(count):
        end = StackPlace("all_reduce", "/job/comm.py", 100 + at % 7)
        odd = StackPlace("load_batch", "/job/data.py", 7, "batch = next(loader)")
        found.append(
            MemberStack(str(at), "running", (*base[: 30 - at % 3], odd if at == 617 else end))
        )
    return found


def test_a_thousand_members_fit_the_page_and_the_odd_one_is_first() -> None:
    stacks = simulated(1000)
    labels = tuple(one.label for one in stacks)
    answer = GroupStacks(
        "job", 1000, (MergedState("running", labels),), merge_stacks(stacks, BY_LINE), BY_LINE
    )
    page = RenderPage(OutputStyle.PLAIN, 100, 4000)
    text = fit_sections(format_stacks(answer, page), page.limit)
    assert len(text) <= 4000
    lines = text.splitlines()
    assert lines[0] == "job: 1,000 members: 1,000 running (0-999)"
    assert next(one for one in lines if "load_batch" in one).strip().startswith("617: ")


def test_a_thousand_different_values_fit_the_page() -> None:
    merged = merge_values({str(at): f"value {at}" * 30 for at in range(1000)})
    answer = GroupValues("job", 1000, (NamedValues("step", merged),))
    page = RenderPage(OutputStyle.PLAIN, 100, 4000)
    assert len(fit_sections(format_values(answer, page), page.limit)) <= 4000


def test_a_condition_has_the_rank_of_the_process_that_meets_it() -> None:
    assert write_rank("_rank == 2 and x._rank", (), "2") == "2 == 2 and x._rank"
    assert write_rank("_rank == 1", (), "gw1") == '"gw1" == 1'
    assert write_rank("_rank == 1", (), "") == "_rank == 1"
    assert write_rank("last_rank == 1", (), None) == "last_rank == 1"


@pytest.mark.parametrize(
    ("variables", "inherited", "rank"),
    [
        ({"RANK": "3", "LOCAL_RANK": "1"}, (), 3),
        ({"RANK": "3", "LOCAL_RANK": "1"}, ("RANK",), 1),
        ({"PYTEST_XDIST_WORKER": "gw1"}, (), "gw1"),
        ({}, (), "MainProcess"),
    ],
)
def test_a_python_process_finds_its_rank_itself(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    inherited: tuple[str, ...],
    rank: int | str,
) -> None:
    for name in RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert eval(write_rank("_rank", inherited, None), {}, {}) == rank
    assert eval(write_rank("_rank", inherited, None), {"_rank": 7}, {}) == 7


def test_a_process_of_multiprocessing_has_the_number_in_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(multiprocessing.current_process(), "name", "ForkPoolWorker-12")
    assert eval(write_rank("_rank", RANK_VARIABLES, None), {}, {}) == 12
