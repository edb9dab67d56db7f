"""Calls and returns of traced functions make a recording, whatever is missing."""

from __future__ import annotations

from collections import Counter

import pytest

from debugger.model.events import Event, EventKind
from debugger.recorders.call_tree import CallNode, build_trees, walk_calls
from debugger.recorders.model import CallRaised, CallReturned
from debugger.recorders.traced_recording import RETURNS_MAX, make_recording, parse_arguments


def event(kind: EventKind, function: str, at: int, *, thread=7, text="", **data) -> Event:
    return Event(at, 100 + at, kind, "s", thread, function, "/a.c", 3, text or function, data)


def enter(function: str, at: int, **given) -> Event:
    return event(EventKind.FUNCTION_ENTER, function, at, **given)


def leave(function: str, at: int, **given) -> Event:
    return event(EventKind.FUNCTION_EXIT, function, at, **given)


def shape(made, calls: list[CallNode]) -> list:
    return [(made.find_function(one.function).name, shape(made, one.children)) for one in calls]


def callers_of(made, call: CallNode) -> list[str]:
    if call.parent is None:
        return []
    above = made.find_function(call.parent.function).name
    return [*callers_of(made, call.parent), above]


def test_calls_are_those_of_the_function_that_is_running_in_their_thread():
    made = make_recording(
        [
            enter("main", 1),
            enter("work", 2, thread=8),
            enter("add", 3, text="add(a=1, b=2)"),
            leave("add", 5, returned="3"),
            leave("work", 6, thread=8),
            leave("main", 9),
        ],
        language="native",
    )
    roots = build_trees(made)
    assert shape(made, roots) == [("main", [("add", [])]), ("work", [])]
    add = roots[0].children[0]
    assert [(one.name, one.text) for one in add.arguments] == [("a", "1"), ("b", "2")]
    assert (add.value, add.total_ns, roots[0].total_ns) == ("3", 2, 8)
    assert set(made.threads) == {7, 8}


def test_what_has_no_return_was_left_by_an_exception_or_a_jump():
    made = make_recording(
        [enter("main", 1), enter("a", 2), enter("b", 3), leave("main", 4)], language="native"
    )
    assert [one.call for one in made.events if isinstance(one, CallRaised)] == [3, 2]


def test_returns_are_given_to_the_calls_that_the_tracer_had_room_for():
    deep = RETURNS_MAX + 3
    entered = [enter("f", at) for at in range(deep)]
    left = [leave("f", deep + at, returned=str(at)) for at in range(RETURNS_MAX)]
    made = make_recording([*entered, *left], language="native")
    returned = [(one.call, one.value) for one in made.events if isinstance(one, CallReturned)]
    assert (returned[0], returned[-1]) == ((RETURNS_MAX, "0"), (1, str(RETURNS_MAX - 1)))
    unseen = [one.call for one in made.events if isinstance(one, CallRaised)]
    assert unseen == [deep, deep - 1, deep - 2]


def test_calls_that_were_only_counted_are_where_those_that_were_told_are():
    told = [enter("main", 1)]
    for at in (2, 5):
        told += [enter("hot", at), enter("leaf", at + 1), leave("leaf", at + 1)]
        told += [enter("both", at + 2), leave("both", at + 2), leave("hot", at + 2)]
    told += [enter("both", 8), leave("both", 8), leave("main", 9)]
    skipped = {"hot": 1_000, "leaf": 2_000, "both": 5, "never": 1}
    made = make_recording(told, language="native", skipped=skipped)
    (main,) = build_trees(made)
    calls = [(made.find_function(one.function).name, one.count) for one in main.children]
    assert sorted(calls) == [("both", 1), ("hot", 1), ("hot", 1), ("hot", 1_000)]
    (merged,) = (one for one in main.children if one.count > 1)
    assert [(made.find_function(one.function).name, one.count) for one in merged.children] == [
        ("leaf", 2_000)
    ]


def test_a_return_of_what_was_never_entered_is_passed_over():
    made = make_recording([leave("a", 1), enter("b", 2), leave("a", 3)], language="native")
    (root,) = build_trees(made)
    assert not root.has_ended


def test_addresses_are_the_same_in_runs_that_are_compared():
    calls = [
        enter("a", 1, text="a(p=0x7ffdabe87430, n=0x10)"),
        leave("a", 2, returned="0x55aabbcc"),
    ]
    (root,) = build_trees(make_recording(calls, language="native", is_compared=True))
    assert [one.text for one in root.arguments] == ["0x…", "0x10"]
    assert root.value == "0x…"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("f()", []),
        ("f", []),
        ('f(s="a, b=\\"c\\"", n=1)', [("s", '"a, b=\\"c\\""'), ("n", "1")]),
        ("f(p={1, 2}, c=40 '(', q=x)", [("p", "{1, 2}"), ("c", "40 '('"), ("q", "x")]),
    ],
)
def test_arguments_are_told_apart_at_their_own_commas(text, values):
    assert [(one.name, one.text) for one in parse_arguments(text, "f")] == values


def test_what_a_call_that_was_only_counted_called_is_not_its_callers():
    def pass_through(at: int) -> list[Event]:
        return [
            enter("outer", at),
            enter("hot", at + 1, caller="outer"),
            leave("hot", at + 2),
            leave("outer", at + 3),
        ]

    rare = [enter("rare", 20, caller="hot"), leave("rare", 21)]
    late = [enter("hot", 30, caller="outer"), leave("hot", 31)]
    skipped = {"hot": 40, "outer": 30}
    for told, chain in (
        (pass_through(1) + rare, ["outer", "hot"]),
        (pass_through(1) + late + rare, ["outer", "hot"]),
        (pass_through(1) + rare + late + rare, ["outer", "hot"]),
    ):
        made = make_recording(told, language="native", skipped=skipped)
        for one in walk_calls(build_trees(made)):
            if made.find_function(one.function).name == "rare":
                assert callers_of(made, one) == chain
        counts = Counter()
        for one in walk_calls(build_trees(made)):
            counts[made.find_function(one.function).name] += one.count
        names = [one.function for one in told if one.kind is EventKind.FUNCTION_ENTER]
        assert counts == Counter(names) + Counter(skipped)
