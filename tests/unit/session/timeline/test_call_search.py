"""Traced calls are stored, found by every filter, and counted when dropped."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from debugger.model.events import EventKind
from debugger.model.program import CallEvent
from debugger.session.timeline import Filters, ReturnedCondition, Timeline
from debugger.session.timeline.event_rows import BLOCK, number_of
from debugger.session.timeline.search_plan import COUNT_MAX
from event_loop import begin_task

ENTER, EXIT = EventKind.FUNCTION_ENTER, EventKind.FUNCTION_EXIT


@pytest.fixture
def timeline(tmp_path):
    one = Timeline(folder=tmp_path / "timelines")
    yield one
    one.close()


def call_entered(function: str, time_ns: int, thread: int = 1) -> CallEvent:
    return CallEvent(function, thread, time_ns, f"{function}(…)", file=f"/src/{function}.c", line=3)


def call_left(function: str, time_ns: int, returned: str, took: int, thread: int = 1) -> CallEvent:
    return CallEvent(
        function=function,
        thread=thread,
        time_ns=time_ns,
        text=f"{function} → {returned}",
        is_return=True,
        file=f"/src/{function}.c",
        line=3,
        returned=returned,
        duration_ns=took,
        trace=7,
    )


def add_calls(timeline: Timeline, *passages: CallEvent, lost: int = 0) -> None:
    timeline.append_passages(passages, session="s", lost=lost)


def many(timeline: Timeline, count: int) -> None:
    add_calls(timeline, *(call_entered("f", at) for at in range(count)))


def numbers(page) -> list[int]:
    return [one.seq for one in page.events]


def test_a_call_and_its_return_come_back_as_they_were_told(timeline):
    add_calls(
        timeline, call_entered("add", 100, thread=41), call_left("add", 150, "3", 50, thread=41)
    )
    call, back = timeline.events().events
    assert (call.kind, call.text, call.thread, call.time_ns) == (ENTER, "add(…)", 41, 100)
    assert (call.function, call.file, call.line) == ("add", "/src/add.c", 3)
    assert (call.session, call.data) == ("s", {})
    assert (back.kind, back.text, back.time_ns) == (EXIT, "add → 3", 150)
    assert back.data == {"returned": "3", "duration_ns": 50, "trace": 7}


def test_calls_that_come_together_are_all_stored_however_many(timeline):
    add_calls(timeline, *(call_left("f", at, str(200 - at), at) for at in range(423)))
    page = timeline.events(Filters(returned=ReturnedCondition("<", 0)), limit=500)
    assert [one.data["returned"] for one in page.events] == [str(-at) for at in range(1, 223)]
    assert timeline.events(limit=500).total == 423


def test_calls_stand_among_other_events_in_the_order_of_their_arrival(timeline):
    first = timeline.append(EventKind.STOP, session="s")
    add_calls(timeline, call_entered("f", 1))
    last = timeline.append(EventKind.RESUME, session="s")
    assert numbers(timeline.events()) == [first, first + 1, last]
    assert [one.kind for one in timeline.events().events] == [
        EventKind.STOP,
        ENTER,
        EventKind.RESUME,
    ]


def test_broken_unicode_in_a_call_is_kept_as_escapes(timeline):
    add_calls(timeline, call_left("f\ud800", 1, '"\udfff"', 1))
    (event,) = timeline.events().events
    assert event.function == "f\\ud800"
    assert event.data["returned"] == '"\\udfff"'


@pytest.fixture
def several(timeline):
    add_calls(
        timeline,
        call_entered("audio::mix", 100, thread=1),  # 1
        call_left("audio::mix", 200, "-2", 5_000_000, thread=1),  # 2
        call_entered("audio::play", 300, thread=2),  # 3
        call_left("audio::play", 400, '0x55 "loud"', 100, thread=2),  # 4
        call_entered("parse", 500, thread=2),  # 5
        call_left("parse", 600, "true", 200, thread=2),  # 6
        call_left("parse", 50, "0", 300, thread=3),  # 7: arrived late
        call_left("parse", 700, "0.5", 400, thread=3),  # 8
    )
    timeline.append(EventKind.STOP, "here", session="s", thread=2)  # 9
    return timeline


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kinds": {EXIT}}, [2, 4, 6, 7, 8]),
        ({"kinds": [ENTER, EventKind.STOP]}, [1, 3, 5, 9]),
        ({"kinds": list(EventKind)}, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ({"function": "parse"}, [5, 6, 7, 8]),
        ({"function": "*::*"}, [1, 2, 3, 4]),
        ({"function": "*pars*"}, [5, 6, 7, 8]),
        ({"function": "pars"}, []),
        ({"file": "parse.c"}, [5, 6, 7, 8]),
        ({"file": "/src/parse.c", "function": "audio::*"}, []),
        ({"thread": 2}, [3, 4, 5, 6, 9]),
        ({"thread": 2, "kinds": {EXIT}}, [4, 6]),
        ({"returned": ReturnedCondition("<", 0)}, [2]),
        ({"returned": ReturnedCondition("<=", 0)}, [2, 7]),
        ({"returned": ReturnedCondition(">=", 0.5)}, [4, 8]),
        ({"returned": ReturnedCondition(">", 0.5)}, [4]),
        ({"returned": ReturnedCondition("=", 0)}, [7]),
        ({"returned": ReturnedCondition("!=", 0)}, [2, 4, 8]),
        ({"returned": ReturnedCondition("=", 85)}, [4]),
        ({"returned": ReturnedCondition("=", "true")}, [6]),
        ({"returned": ReturnedCondition("!=", "true")}, [2, 4, 7, 8]),
        ({"returned": ReturnedCondition("like", "*loud*")}, [4]),
        ({"min_duration_ns": 300}, [2, 7, 8]),
        ({"max_duration_ns": 300}, [4, 6, 7]),
        ({"min_duration_ns": 200, "max_duration_ns": 400}, [6, 7, 8]),
        ({"since_ns": 600, "until_ns": 700}, [6, 8]),
        ({"until_ns": 100}, [1, 7]),
        ({"text": "→ 0", "function": "parse"}, [7, 8]),
        ({"function": "parse", "returned": ReturnedCondition("!=", 0), "thread": 3}, [8]),
        ({"kinds": {EXIT}, "function": "audio::*", "min_duration_ns": 101, "until_ns": 200}, [2]),
    ],
    ids=str,
)
@pytest.mark.parametrize("newest", [False, True])
def test_calls_pass_every_filter_alone_and_together(several, filters, expected, newest):
    page = several.events(Filters(**filters), newest=newest)
    assert numbers(page) == expected
    assert (page.total, page.is_least) == (len(expected), False)
    assert numbers(several.events(Filters(**filters), newest=newest, limit=1)) == (
        expected[-1:] if newest else expected[:1]
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("-3", -3),
        ("0x1F", 31),
        ("97 'a'", 97),
        ('0x7ffe "text"', 0x7FFE),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("18446744073709551615", 2.0**64),
        ("1_000", None),
        ("3abc", None),
        ("true", None),
        ("", None),
        ("nan", None),
        ("{1, 2}", None),
    ],
)
def test_the_number_of_a_value_is_the_one_that_it_begins_with(text, number):
    assert number_of(text) == number


def test_the_newest_calls_are_kept_and_the_others_counted_by_kind(tmp_path):
    timeline = Timeline(max_traced=80, folder=tmp_path)
    stop = timeline.append(EventKind.STOP, session="s")
    for at in range(100):
        add_calls(
            timeline, call_entered("f", at), call_left("f", at, "0", 1), call_left("f", at, "0", 1)
        )
    page = timeline.events(limit=500)
    kept = numbers(page)[1:]
    assert numbers(page)[0] == stop
    assert 70 <= len(kept) <= 80
    assert kept == list(range(kept[0], 302))
    assert page.dropped == 300 - len(kept)
    by_kind = [timeline.events(Filters(kinds={kind})) for kind in (ENTER, EXIT)]
    assert [one.total + one.dropped for one in by_kind] == [100, 200]
    timeline.close()


def test_the_bytes_of_calls_are_bounded_as_well():
    timeline = Timeline(max_traced_bytes=1000)
    for at in range(100):
        add_calls(timeline, call_entered("f" * 50, at))
    page = timeline.events(limit=500)
    assert 10 <= len(page.events) <= 20
    assert page.dropped == 100 - len(page.events)
    timeline.close()


def test_a_flood_of_calls_pushes_out_no_stop_and_no_line_of_output(timeline):
    timeline = Timeline(max_events=20, max_traced=50)
    timeline.append(EventKind.STOP, session="s")
    timeline.append(EventKind.LOGPOINT, session="s")
    many(timeline, 1000)
    kinds = Filters(kinds={EventKind.STOP, EventKind.LOGPOINT})
    assert len(timeline.events(kinds).events) == 2
    timeline.close()


def test_lost_calls_are_counted_as_dropped_of_both_kinds(timeline):
    add_calls(timeline, call_entered("f", 1), lost=5)
    add_calls(timeline, call_entered("f", 2))
    assert timeline.events().dropped == 10
    assert timeline.events(Filters(kinds={ENTER})).dropped == 5
    assert timeline.events(Filters(kinds={EXIT})).dropped == 5
    assert timeline.events(Filters(kinds={EventKind.STOP})).dropped == 0
    first = timeline.events(limit=1)
    assert first.dropped == 0
    assert timeline.events(since=first.next).dropped == 10


def test_more_events_than_are_counted_are_told_to_be_more(timeline):
    many(timeline, COUNT_MAX)
    page = timeline.events(Filters(function="f"))
    assert (page.total, page.is_least) == (COUNT_MAX, False)
    many(timeline, 1)
    page = timeline.events(Filters(function="f"))
    assert (page.total, page.is_least) == (COUNT_MAX, True)


def test_pages_go_on_over_the_bounds_of_blocks_in_both_directions(timeline):
    count = 3 * BLOCK + 100
    add_calls(
        timeline, *(call_left("f", at, str(at % 5000), at % 5000) for at in range(1, count + 1))
    )
    for filters in (
        Filters(returned=ReturnedCondition("=", 77)),
        Filters(min_duration_ns=4998),
        Filters(function="f", thread=1, returned=ReturnedCondition("<", 2)),
    ):
        expected = [
            at
            for at in range(1, count + 1)
            if (filters.min_duration_ns and at % 5000 >= 4998)
            or (filters.function and at % 5000 < 2)
            or (not filters.function and not filters.min_duration_ns and at % 5000 == 77)
        ]
        forwards, since = [], 0
        while page := numbers(timeline.events(filters, since=since, limit=3)):
            forwards += page
            since = page[-1]
        assert forwards == expected
        backwards, before = [], None
        while page := numbers(timeline.events(filters, before=before, limit=3, newest=True)):
            backwards = page + backwards
            before = page[0]
        assert backwards == expected


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({"kinds": {EXIT}}, "kind"),
        ({"thread": 1}, "thread"),
        ({"function": "f"}, "place"),
        ({"file": "f.c"}, "place"),
        ({"min_duration_ns": 1}, "duration_ns"),
        ({"min_duration_ns": 1, "max_duration_ns": 9}, "duration_ns"),
        ({"returned": ReturnedCondition("<", 9)}, "number"),
        ({"returned": ReturnedCondition("=", 5)}, "number"),
        ({"returned": ReturnedCondition("!=", 4)}, "number"),
        ({"since_ns": 5, "until_ns": 9}, None),
        ({"function": "f", "kinds": {EXIT}, "thread": 1}, "place"),
    ],
    ids=str,
)
@pytest.mark.parametrize("count", [10, 10_000])
def test_every_indexed_filter_is_answered_by_its_index(timeline, filters, index, count):
    add_calls(timeline, *(call_left("f", at, "5", 5) for at in range(count)))
    plan = timeline.explain(Filters(**filters))
    looked_up = [line for line in plan if line.startswith("LOOK call")]
    if index is not None:
        assert [line.split()[3] for line in looked_up] == [index]
    assert not [line for line in plan if line.startswith("SCAN ") and "subquery" not in line], plan
    assert any("INTEGER PRIMARY KEY (rowid" in line for line in plan), plan


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        (Filters(kinds={EventKind.STOP}), "event_kind (kind=? AND seq>? AND seq<?)"),
        (Filters(thread=1), "event_thread (thread=? AND seq>? AND seq<?)"),
        (Filters(function="f"), "event_place (place=? AND seq>? AND seq<?)"),
    ],
)
def test_what_is_no_call_is_looked_for_by_an_index_of_its_own(timeline, filters, index):
    timeline.append(EventKind.STOP, session="s", thread=1, function="f")
    assert any(index in line for line in timeline.explain(filters))
    assert numbers(timeline.events(filters)) == [1]


def test_a_search_that_nothing_leads_to_goes_through_all(timeline):
    many(timeline, 10)
    plan = timeline.explain(Filters(text="f"))
    assert all("event_" not in line and "LOOK" not in line for line in plan), plan


def test_of_several_filters_the_one_that_leaves_the_fewest_leads(timeline):
    add_calls(timeline, *(call_left("f", at, "5", 5 if at else 500) for at in range(5000)))
    plan = timeline.explain(Filters(function="f", kinds={EXIT}, min_duration_ns=100, thread=1))
    assert [line.split()[3] for line in plan if "LOOK" in line] == ["duration_ns"]


def test_numbers_are_compared_exactly_in_full_blocks_and_in_the_last(timeline):
    large = 2**63 - 1
    for _ in range(BLOCK // 4 + 1):
        add_calls(
            timeline,
            *(call_left("f", 1, text, 1) for text in (str(large), str(large - 1), "0.5", "-3")),
        )
    per = BLOCK // 4 + 1
    for filters, each in (
        (ReturnedCondition("=", large), 1),
        (ReturnedCondition("<", large), 3),
        (ReturnedCondition("!=", large - 1), 3),
        (ReturnedCondition(">", 0.25), 3),
        (ReturnedCondition("<=", -3), 1),
    ):
        assert timeline.events(Filters(returned=filters)).total == each * per


def test_calls_between_gaps_larger_than_a_block_are_found(timeline):
    for _ in range(BLOCK // 2 + 1):
        add_calls(timeline, call_entered("f", 1), call_left("f", 2, "7", 1), lost=40)
    page = timeline.events(Filters(returned=ReturnedCondition("=", 7)), limit=500)
    assert page.total == BLOCK // 2 + 1
    assert numbers(page)[:3] == [2, 84, 166]
    last = timeline.events(Filters(kinds={EXIT}), limit=1, newest=True)
    assert numbers(last) == [BLOCK // 2 * 82 + 2]


def test_times_are_found_where_calls_arrive_late_and_out_of_order():
    clock = [10**6]
    timeline = Timeline(clock=lambda: clock[0])
    for at in range(5000):
        clock[0] += 10
        add_calls(timeline, call_entered("f", clock[0] - (at * 7919) % 900))
        if at % 10 == 0:
            timeline.append(EventKind.STOP, session="s")
    every = [
        one
        for since in range(0, 6000, 500)
        for one in timeline.events(since=since, before=since + 501, limit=500).events
    ]
    assert len(every) == 5500
    for since, until in ((10**6, 10**6 + 500), (10**6 + 20_000, 10**6 + 20_100), (0, 10**6 + 30)):
        expected = [one.seq for one in every if since <= one.time_ns <= until]
        page = timeline.events(Filters(since_ns=since, until_ns=until), limit=500)
        assert numbers(page) == expected
        cursor = timeline.since_time_ns(since)
        assert cursor == min(one.seq for one in every if one.time_ns >= since) - 1
    timeline.close()


async def test_a_wait_wakes_for_a_call(timeline):
    waits = await begin_task(timeline.wait(0, {EXIT}, 10))
    # Woken after the first one, if that were woken too.
    other = await begin_task(timeline.wait(0, {EventKind.FUNCTION_ENTER}, 10))
    add_calls(timeline, call_entered("f", 1))
    await asyncio.wait_for(other, 20)
    assert not waits.done()
    add_calls(timeline, call_left("f", 1, "0", 1))
    assert (await asyncio.wait_for(waits, 20)).kind is EXIT


def test_calls_that_cannot_be_written_are_counted_as_dropped(timeline, monkeypatch):
    def full(*_args, **_more):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(timeline._database, "write_calls", full)
        add_calls(timeline, call_entered("f", 1), call_left("f", 2, "0", 1))
        page = timeline.events()
    assert (page.events, page.dropped) == ([], 2)
    add_calls(timeline, call_entered("g", 3))
    assert [one.function for one in timeline.events().events] == ["g"]


def test_more_is_told_of_a_crash_and_of_nothing_else(timeline):
    stop = timeline.append(EventKind.STOP, "here", session="s")
    crash = timeline.append(EventKind.CRASH, "SIGSEGV", session="s", thread=4)
    timeline.amend(crash, {"registers": {"rip": "0x1"}}, function="f", file="/a.c", line=3)
    page = timeline.events(Filters(function="f"))
    (event,) = page.events
    assert (event.seq, event.kind, event.thread, event.text) == (
        crash,
        EventKind.CRASH,
        4,
        "SIGSEGV",
    )
    assert (event.file, event.line, event.data) == ("/a.c", 3, {"registers": {"rip": "0x1"}})
    for other in (stop, crash + 1):
        with pytest.raises(ValueError, match="amended"):
            timeline.amend(other, {})
