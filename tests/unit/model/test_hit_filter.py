"""The filter of hits: its options, its refusals, and which hits it keeps."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Registry, register_command
from debugger.model.hit_filter import (
    HitEvent,
    HitFilter,
    Hits,
    Refusal,
    build_hit_filter,
    parse_event,
    parse_nth,
    refuse_options,
    refuse_thread_name,
    require_one_condition,
)
from debugger.model.hit_selection import HitMark, NumberedHit, select_hits

BEGIN, END = HitMark(is_begin=True), HitMark(is_begin=False)


def numbers(hits, seen):
    return [one.number for one in select_hits(hits, seen)[0]]


def of_values(*values):
    return [NumberedHit(at, (value,)) for at, value in enumerate(values, 1)]


FIVE = of_values("a", "a", "b", "b", "a")


@pytest.mark.parametrize(
    ("hits", "kept"),
    [
        (HitFilter(), [1, 2, 3, 4, 5]),
        (HitFilter(nth=2), [2]),
        (HitFilter(nth=9), []),
        (HitFilter(nth=-1), [5]),
        (HitFilter(nth=-2), [4]),
        (HitFilter(nth=-6), []),
        (HitFilter(first=2), [1, 2]),
        (HitFilter(last=2), [4, 5]),
        (HitFilter(last=9), [1, 2, 3, 4, 5]),
        (HitFilter(changes=True), [1, 3, 5]),
        (HitFilter(changes=True, nth=2), [3]),
        (HitFilter(changes=True, last=2), [3, 5]),
        (HitFilter(changes=True, first=1), [1]),
    ],
)
def test_a_filter_keeps_the_hits_that_it_names(hits, kept):
    chosen, skipped = select_hits(hits, FIVE)
    assert [one.number for one in chosen] == kept
    assert skipped.total == len(FIVE) - len(kept)


def test_hits_count_after_one_event_and_until_another():
    a, b, c, d, e = FIVE
    hits = HitFilter(after=HitEvent("f:1"), until=HitEvent("f:9"))
    # An end before the beginning ends nothing; a second beginning begins nothing anew.
    assert numbers(hits, [a, END, b, BEGIN, c, d, END, BEGIN, e]) == [3, 4]
    assert numbers(HitFilter(after=HitEvent("f:1")), FIVE) == []
    assert numbers(HitFilter(until=HitEvent("f:1")), [a, b, END, c]) == [1, 2]
    assert numbers(HitFilter(after=HitEvent("f:1"), nth=1), [a, BEGIN, b, c]) == [2]


def test_only_hits_of_the_thread_count_and_are_compared():
    seen = [NumberedHit(1, ("x",), 1), NumberedHit(2, ("y",), 2), NumberedHit(3, ("x",), 1)]
    assert numbers(HitFilter(thread=1), seen) == [1, 3]
    assert numbers(HitFilter(thread=1, changes=True), seen) == [1]


@pytest.mark.parametrize(
    ("text", "number"), [("3", 3), ("last", -1), ("-2", -2), ("#4", 4), ("first", 1), (" 5 ", 5)]
)
def test_nth_is_a_number_from_either_end(text, number):
    assert parse_nth(text) == number


@pytest.mark.parametrize("text", ["0", "-0", "x", "", "1.5", "99999999", "-5000"])
def test_nth_refuses_what_is_no_number_of_a_hit(text):
    with pytest.raises(DebuggerError) as refused:
        parse_nth(text)
    assert refused.value.code is ErrorCode.USAGE
    assert "--nth last" in refused.value.hint


def test_an_event_is_a_location_with_a_condition_of_its_own():
    assert parse_event("f.c:10") == HitEvent("f.c:10")
    assert parse_event("f.c:10 if x > 3") == HitEvent("f.c:10", "x > 3")
    assert parse_event("run  if a if b else c") == HitEvent("run", "a if b else c")
    assert parse_event("notify") == HitEvent("notify")
    assert parse_event("f.c:10 if x > 3").text == "f.c:10 if x > 3"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nth": "3", "last": 2}, "--nth and --last exclude each other"),
        ({"first": 3, "last": 2}, "--first and --last exclude each other"),
        ({"first": 0}, "--first is 1 to"),
        ({"last": 5000}, "--last is 1 to 1,000"),
        ({"thread": "-1"}, "no thread has the number -1"),
        ({"when": (" ",)}, "empty expression"),
        ({"after": "a\nb"}, "one line"),
    ],
)
def test_options_without_a_meaning_are_refused_with_a_hint(given, message):
    with pytest.raises(DebuggerError) as refused:
        build_hit_filter("probe", **given)
    assert refused.value.code is ErrorCode.USAGE
    assert message in refused.value.message
    assert refused.value.hint


def test_the_options_repeat_the_filter():
    given = {"when": ("x > 1",), "nth": "last", "changes": True, "thread": "2", "inside": "main"}
    hits = build_hit_filter("probe", **given, after="f.c:1 if y", until="g")
    repeated = " ".join(hits.options())
    assert repeated == (
        "--when x > 1 --nth last --thread 2 --in main --after f.c:1 if y --until g --changes"
    )
    assert not HitFilter()
    assert hits


def test_a_command_with_one_condition_refuses_several():
    assert require_one_condition("calls", HitFilter(("a",))) == "a"
    assert require_one_condition("calls", HitFilter()) is None
    with pytest.raises(DebuggerError, match="one condition, not 2"):
        require_one_condition("calls", HitFilter(("a", "b")))


def refusing_live_last():
    return refuse_options({"last": Refusal("the future is unknown", "debugger probe --last N")})


async def test_a_command_gets_its_group_of_options_as_one_value():
    registry, got = Registry(), []

    @register_command("sample", group="G", registry=registry)
    async def sample(call, *, hits: Hits) -> None:
        """Sample."""
        got.append((call, hits))

    command = registry.get("sample")
    bound = command.bind_arguments({"nth": "2", "inside": "main"})
    assert set(bound) == {one.name for one in command.parameters}
    await command.run("call", **bound)
    assert got == [("call", HitFilter(nth=2, inside="main"))]


def test_a_refused_option_is_refused_with_its_reason():
    group = refusing_live_last()
    assert group.build("break", when=("x",)) == HitFilter(("x",))
    with pytest.raises(DebuggerError, match="break cannot take --last: the future") as refused:
        group.build("break", last=2)
    assert refused.value.hint == "debugger probe --last N"
    hidden = [one.name for one in group.parameters if one.about.is_hidden]
    assert hidden == ["last"]


def test_a_thread_is_chosen_by_its_number_or_its_name():
    numbered = build_hit_filter("probe", thread="2")
    assert (numbered.thread, numbered.thread_name) == (2, "")
    named = build_hit_filter("probe", thread="worker-1")
    assert (named.thread, named.thread_name) == (None, "worker-1")
    assert named.options() == ["--thread", "worker-1"]
    with pytest.raises(DebuggerError, match="no thread has the number -2"):
        build_hit_filter("probe", thread="-2")
    with pytest.raises(DebuggerError, match="no thread is known here by its name"):
        refuse_thread_name(named)
