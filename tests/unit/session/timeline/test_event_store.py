"""Events are kept in order and within bounds, counted when dropped, and found again."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from debuggees import program_text
from debugger.model.events import EventKind, OutputStream
from debugger.session.timeline import Filters, LogLine, Timeline
from debugger.session.timeline.event_store import MAX_PAGE
from debugger.session.timeline.retention import DroppedCounts
from event_loop import begin_task

OUT, ERR = OutputStream.STDOUT, OutputStream.STDERR
OUTPUT = {EventKind.OUTPUT}


class Clock:
    """A clock that stands still until it is told the time."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def timeline():
    one = Timeline()
    yield one
    one.close()


def wrote(timeline: Timeline, text: str, stream: OutputStream = OUT, session: str = "s") -> None:
    timeline.append_output(stream, text, session=session)


def texts(found) -> list[str]:
    return [one.text for one in getattr(found, "lines", None) or getattr(found, "events", [])]


# Lines


def test_streams_are_told_apart_and_keep_their_order(timeline):
    wrote(timeline, "a\nb\n")
    wrote(timeline, "oops\n", ERR)
    wrote(timeline, "c\n")
    read = timeline.lines()
    assert [(line.stream, line.text) for line in read.lines] == [
        (OUT, "a"),
        (OUT, "b"),
        (ERR, "oops"),
        (OUT, "c"),
    ]
    assert read.dropped == 0


def test_a_cursor_reads_on_where_the_last_reading_ended(timeline):
    wrote(timeline, "a\nb\n")
    first = timeline.lines()
    wrote(timeline, "c\n")
    second = timeline.lines(since=first.next)
    assert (texts(first), texts(second)) == (["a", "b"], ["c"])
    assert texts(timeline.lines(since=second.next)) == []


def test_a_partial_line_is_shown_at_once_and_goes_on_in_the_next_reading(timeline):
    wrote(timeline, "name? ")
    prompt = timeline.lines()
    assert prompt.lines == [LogLine(OUT, "name? ", seq=1, open=True)]
    wrote(timeline, "Ada\n")
    rest = timeline.lines(since=prompt.next)
    assert rest.lines == [LogLine(OUT, "Ada", seq=2, continues=True)]
    assert timeline.lines().lines == [LogLine(OUT, "name? Ada", seq=2)]


def test_a_line_that_was_read_in_many_parts_is_whole_again_later(timeline):
    for part in ("10%", " 50%", " 90%"):
        wrote(timeline, part)
        assert texts(timeline.events(limit=1, newest=True)) == [part]
    wrote(timeline, "\n")
    assert texts(timeline.lines()) == ["10% 50% 90%"]


def test_a_line_read_when_it_was_just_full_leaves_no_empty_part():
    timeline = Timeline(max_line=4)
    wrote(timeline, "abcd")
    timeline.cursor()
    wrote(timeline, "e\n")
    assert texts(timeline.events()) == ["abcd", "e"]


def test_an_unfinished_line_is_one_event_when_nobody_looked_between(timeline):
    for letter in "slow\n":
        wrote(timeline, letter)
    assert [(one.seq, one.text) for one in timeline.events().events] == [(1, "slow")]


def test_a_windows_line_end_is_one_line_end_even_when_it_is_split(timeline):
    wrote(timeline, "a\r")
    assert texts(timeline.lines()) == ["a"]
    wrote(timeline, "\nb\r\nc\n")
    assert texts(timeline.lines()) == ["a", "b", "c"]


def test_a_line_that_is_too_long_is_split_and_says_that_it_continues():
    timeline = Timeline(max_line=4)
    wrote(timeline, "abcdefghij\nk\n")
    shown = [(one.text, one.continues, one.open) for one in timeline.lines().lines]
    assert shown == [
        ("abcd", False, True),
        ("efgh", True, True),
        ("ij", True, False),
        ("k", False, False),
    ]


def test_lines_of_interleaved_streams_stand_in_the_order_of_their_ends(timeline):
    wrote(timeline, "begun ")
    timeline.cursor()
    wrote(timeline, "whole\n", ERR)
    wrote(timeline, "done\n")
    assert texts(timeline.lines()) == ["whole", "begun done"]
    assert texts(timeline.lines(tail=1)) == ["begun done"]


def test_the_first_or_the_last_lines_can_be_asked_for_but_not_both(timeline):
    wrote(timeline, "".join(f"{n}\n" for n in range(10)))
    assert texts(timeline.lines(tail=2)) == ["8", "9"]
    assert texts(timeline.lines(tail=0)) == []
    assert texts(timeline.lines(tail=10**30)) == [str(n) for n in range(10)]
    first = timeline.lines(limit=3)
    assert texts(first) == ["0", "1", "2"]
    assert texts(timeline.lines(since=first.next, limit=2)) == ["3", "4"]
    with pytest.raises(ValueError, match="not both"):
        timeline.lines(limit=1, tail=1)


def test_broken_unicode_is_kept_as_escapes(timeline):
    wrote(timeline, "a\ud800b\n")
    timeline.append(EventKind.STOP, "\udfff", session="s", function="f\ud800")
    assert texts(timeline.events()) == ["a\\ud800b", "\\udfff"]
    assert timeline.events(Filters(function="f*")).total == 1


def test_a_restarted_program_begins_a_new_line(timeline):
    wrote(timeline, "cut off")
    wrote(timeline, "other", session="t")
    timeline.end_output(session="s")
    wrote(timeline, "again\n")
    wrote(timeline, " goes on\n", session="t")
    assert texts(timeline.lines()) == ["cut off", "again", "other goes on"]


def test_cleared_output_is_neither_there_nor_counted_as_dropped():
    timeline = Timeline(max_events=3)
    wrote(timeline, "1\n2\n3\n4\nopen")
    assert timeline.lines().dropped == 2
    stop = timeline.append(EventKind.STOP, session="s")
    assert timeline.clear_output() == 3
    read = timeline.lines()
    assert (read.lines, read.dropped) == ([], 0)
    assert [one.seq for one in timeline.events().events] == [stop]
    wrote(timeline, "new\n")
    assert timeline.lines().lines == [LogLine(OUT, "new", seq=stop + 1)]


# Limits


@pytest.mark.parametrize("is_read_between", [False, True])
def test_the_newest_lines_are_kept_and_the_others_counted(is_read_between):
    timeline = Timeline(max_events=100)
    for n in range(1000):
        wrote(timeline, f"{n}\n")
        if is_read_between and n % 7 == 0:
            timeline.lines()
    read = timeline.lines()
    assert texts(read) == [str(n) for n in range(900, 1000)]
    assert read.dropped == 900
    assert timeline.lines(since=890).dropped == 10
    assert timeline.lines(since=950).dropped == 0


def test_bytes_are_bounded_as_well_and_counted_in_utf8():
    timeline = Timeline(max_bytes=10)
    wrote(timeline, "ééé\nééé\nab\n")
    read = timeline.lines()
    assert (texts(read), read.dropped) == (["ééé", "ab"], 1)


def test_line_ends_do_not_count_as_bytes():
    timeline = Timeline(max_bytes=4)
    wrote(timeline, "a\r\nb\r\nc\nd\n")
    assert texts(timeline.lines()) == ["a", "b", "c", "d"]


def test_one_line_over_the_limit_is_dropped_and_counted():
    timeline = Timeline(max_bytes=10)
    wrote(timeline, "x" * 11 + "\n")
    read = timeline.lines()
    assert (read.lines, read.dropped) == ([], 1)


def test_output_does_not_push_out_stops_nor_stops_output():
    timeline = Timeline(max_events=5)
    stop = timeline.append(EventKind.STOP, session="s")
    wrote(timeline, "x\n" * 100)
    for _ in range(4):
        timeline.append(EventKind.RESUME, session="s")
    assert timeline.events(Filters(kinds={EventKind.STOP})).events[0].seq == stop
    assert len(timeline.lines().lines) == 5


def test_traces_are_dropped_first():
    timeline = Timeline(max_events=20)
    stops = [timeline.append(EventKind.STOP, session="s") for _ in range(10)]
    for _ in range(100):
        timeline.append(EventKind.LOGPOINT, session="s")
    page = timeline.events()
    assert [one.seq for one in page.events if one.kind is EventKind.STOP] == stops
    assert (page.total, page.dropped) == (20, 90)
    assert timeline.events(Filters(kinds={EventKind.STOP})).dropped == 0
    assert timeline.events(Filters(kinds={EventKind.LOGPOINT})).dropped == 90


def test_many_stops_leave_a_tenth_of_the_room_to_traces():
    timeline = Timeline(max_events=20)
    for _ in range(20):
        timeline.append(EventKind.FUNCTION_ENTER, session="s")
    for _ in range(100):
        timeline.append(EventKind.STOP, session="s")
    assert timeline.events(Filters(kinds={EventKind.FUNCTION_ENTER})).total == 2
    assert timeline.events(Filters(kinds={EventKind.STOP})).total == 18


def test_a_crash_and_an_exit_are_never_dropped():
    timeline = Timeline(max_events=10, max_bytes=1000)
    crash = timeline.append(EventKind.CRASH, "boom" * 1000, session="s")
    end = timeline.append(EventKind.EXIT, session="s")
    for _ in range(50):
        timeline.append(EventKind.STOP, "x" * 90, session="s")
        timeline.append(EventKind.LOGPOINT, "x" * 90, session="s")
    wrote(timeline, "x\n" * 50)
    found = timeline.events(Filters(kinds={EventKind.CRASH, EventKind.EXIT}))
    assert [one.seq for one in found.events] == [crash, end]
    assert found.dropped == 0


def test_what_was_dropped_is_counted_where_it_stood_and_never_too_low():
    drops = DroppedCounts()
    true = range(1, 10_001, 2)
    for seq in true:
        drops.add(EventKind.LOGPOINT, seq)
    assert drops.count(None, after=0, upto=10_000) == len(true)
    assert drops.count({EventKind.STOP}, after=0, upto=10_000) == 0
    assert drops.count({EventKind.LOGPOINT}, after=9_900, upto=10_000) == 50
    for after, upto in ((0, 1), (500, 1000), (2000, 2001), (9_000, 9_998)):
        exact = sum(after < seq <= upto for seq in true)
        assert drops.count({EventKind.LOGPOINT}, after=after, upto=upto) >= exact


MILLION = program_text("counted_lines/event_store_million.py")


def test_a_million_lines_are_bounded_in_memory():
    ran = subprocess.run(
        [sys.executable, "-c", MILLION], capture_output=True, text=True, timeout=60, check=True
    )
    grown, kept, dropped, last = map(int, ran.stdout.split())
    assert (kept, dropped, last) == (10_000, 990_001, 1_000_001)
    assert grown < 64, f"{grown} MiB for 100 MB of output"


# Events


PAGING = {"since", "before", "limit", "newest"}


def recorded(timeline: Timeline) -> None:
    for number, function in enumerate(("main", "parse_line", "parse_file", None), 1):
        timeline.append(
            EventKind.FUNCTION_ENTER,
            f"call {number}",
            session="s",
            thread=number % 2,
            function=function,
            file="/a.c",
            line=number,
            data={"depth": number},
        )
    timeline.append(EventKind.STOP, "here", session="s", thread=1, function="main")


def test_an_event_comes_back_as_it_was(timeline):
    recorded(timeline)
    first = timeline.events().events[0]
    assert (first.seq, first.kind, first.session, first.thread) == (
        1,
        EventKind.FUNCTION_ENTER,
        "s",
        1,
    )
    assert (first.function, first.file, first.line) == ("main", "/a.c", 1)
    assert (first.text, first.data) == ("call 1", {"depth": 1})


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"kinds": {EventKind.STOP}}, [5]),
        ({"kinds": set()}, []),
        ({"function": "parse_*"}, [2, 3]),
        ({"function": "parse"}, []),
        ({"function": "MAIN"}, []),
        ({"thread": 1}, [1, 3, 5]),
        ({"thread": 10**30}, []),
        ({"text": "all 2"}, [2]),
        ({"text": "%"}, []),
        ({"file": "/a.c"}, [1, 2, 3, 4]),
        ({"file": "a.c"}, [1, 2, 3, 4]),
        ({"file": ".c"}, []),
        ({"file": "x/a.c"}, []),
        ({"file": "*"}, []),
        ({"until_ns": 10**30}, [1, 2, 3, 4, 5]),
        ({"until_ns": -1}, []),
        ({"since": 2, "before": 5}, [3, 4]),
        ({"since": -5, "before": 10**30}, [1, 2, 3, 4, 5]),
        ({"since": 10**30}, []),
        ({"before": -1}, []),
        ({"limit": 2}, [1, 2]),
        ({"limit": 2, "newest": True}, [4, 5]),
        ({"limit": -1}, []),
        ({"kinds": {EventKind.FUNCTION_ENTER}, "thread": 1, "function": "main"}, [1]),
    ],
    ids=str,
)
def test_events_pass_every_filter(timeline, filters, expected):
    recorded(timeline)
    paging = {key: filters[key] for key in PAGING & filters.keys()}
    asked = Filters(**{key: filters[key] for key in filters.keys() - PAGING})
    assert [one.seq for one in timeline.events(asked, **paging).events] == expected


def test_pages_follow_each_other_in_both_directions(timeline):
    for number in range(1, 24):
        timeline.append(EventKind.STOP if number % 3 else EventKind.RESUME, session="s")
    stops = [number for number in range(1, 24) if number % 3]
    forwards, since = [], 0
    for _ in range(8):
        page = timeline.events(Filters(kinds={EventKind.STOP}), since=since, limit=2)
        forwards += [one.seq for one in page.events]
        since = page.next
    assert forwards == stops
    assert since == 23
    backwards, before = [], None
    for _ in range(8):
        page = timeline.events(Filters(kinds={EventKind.STOP}), before=before, limit=2, newest=True)
        backwards = [one.seq for one in page.events] + backwards
        before = page.events[0].seq
    assert backwards == stops


def test_a_page_has_a_most_and_counts_all(timeline):
    wrote(timeline, "x\n" * (MAX_PAGE + 100))
    page = timeline.events(limit=10**9)
    assert (len(page.events), page.total, page.next) == (MAX_PAGE, MAX_PAGE + 100, MAX_PAGE)


def test_a_cursor_can_be_found_for_a_time():
    clock = Clock()
    timeline = Timeline(clock=clock)
    for clock.now in (10, 20, 20, 30):
        timeline.append(EventKind.STOP, session="s")
    cursors = [timeline.since_time_ns(at) for at in (-1, 10, 11, 20, 21, 31)]
    assert cursors == [0, 0, 1, 1, 3, 4]
    assert [one.time_ns for one in timeline.events(since=1).events] == [20, 20, 30]


def test_a_cursor_lies_after_the_part_of_a_line_that_is_there(timeline):
    wrote(timeline, "before")
    cursor = timeline.cursor()
    wrote(timeline, " after\n")
    assert texts(timeline.lines(since=cursor)) == [" after"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"kind": EventKind.OUTPUT}, ValueError),
        ({"thread": 2**63}, ValueError),
        ({"line": -(2**63) - 1}, ValueError),
        ({"data": {"x": object()}}, TypeError),
        ({"data": {"x": "\ud800"}}, ValueError),
    ],
    ids=["output", "thread", "line", "no JSON", "half a surrogate pair"],
)
def test_what_cannot_be_stored_is_refused_and_leaves_nothing_behind(timeline, wrong, error):
    with pytest.raises(error):
        timeline.append(**{"kind": EventKind.STOP, "session": "s", **wrong})
    assert timeline.append(EventKind.STOP, session="s") == 1
    assert timeline.events().total == 1


# Waiting


async def started(coroutine) -> asyncio.Task:
    task = await begin_task(coroutine)
    assert not task.done()
    return task


async def test_a_wait_wakes_for_its_kind_alone(timeline):
    waits = await started(timeline.wait(0, {EventKind.STOP}, 10))
    # Woken after the first one, if that were woken too.
    others = [await started(timeline.wait(0, one, 10)) for one in ({EventKind.RESUME}, OUTPUT)]
    timeline.append(EventKind.RESUME, session="s")
    wrote(timeline, "x\n")
    await asyncio.wait_for(asyncio.gather(*others), 20)
    assert not waits.done()
    stop = timeline.append(EventKind.STOP, session="s")
    found = await asyncio.wait_for(waits, 20)
    assert (found.seq, found.kind) == (stop, EventKind.STOP)


async def test_a_wait_returns_at_once_what_came_after_its_cursor(timeline):
    old = timeline.append(EventKind.STOP, session="s")
    new = timeline.append(EventKind.STOP, session="s")
    assert (await timeline.wait(0, {EventKind.STOP}, 0)).seq == old
    assert (await timeline.wait(old, {EventKind.STOP}, 0)).seq == new
    assert await timeline.wait(new, {EventKind.STOP}, 0) is None


async def test_a_wait_for_output_wakes_for_a_prompt_without_a_newline(timeline):
    waits = await started(timeline.wait(0, OUTPUT, 10))
    wrote(timeline, "name? ")
    assert (await asyncio.wait_for(waits, 20)).text == "name? "


async def test_every_waiter_wakes(timeline):
    waits = [await started(timeline.wait(0, {EventKind.EXIT}, 10)) for _ in range(3)]
    end = timeline.append(EventKind.EXIT, session="s")
    assert [one.seq for one in await asyncio.wait_for(asyncio.gather(*waits), 20)] == [end] * 3


async def test_a_wait_that_is_over_in_vain_gives_nothing(timeline):
    assert await asyncio.wait_for(timeline.wait(0, {EventKind.STOP}, 0.01), 20) is None


class ListenedEvent(asyncio.Event):
    """An event that notes that somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.listened = asyncio.Event()

    async def wait(self) -> bool:
        """Note it, and wait."""
        self.listened.set()
        return await super().wait()


async def test_an_interruption_ends_a_wait_at_its_begin_and_later(timeline):
    early, late = asyncio.Event(), ListenedEvent()
    for interrupted in (early, late):
        waits = await started(timeline.wait(0, {EventKind.STOP}, 60, interrupted=interrupted))
        if interrupted is late:
            await asyncio.wait_for(late.listened.wait(), 20)
        interrupted.set()
        assert await asyncio.wait_for(waits, 20) is None
        assert await timeline.wait(0, {EventKind.STOP}, 60, interrupted=interrupted) is None


async def test_closing_ends_the_waits():
    timeline = Timeline()
    waits = await started(timeline.wait(0, {EventKind.STOP}, 60))
    timeline.close()
    assert await asyncio.wait_for(waits, 20) is None


def test_what_a_logpoint_printed_is_one_event_and_a_line_of_output():
    timeline = Timeline(max_events=10)
    timeline.append_output(OutputStream.STDOUT, "early\n", session="s")
    for number in range(50):
        timeline.append(EventKind.LOGPOINT, f"log {number}", session="s", time_ns=number)
    lines = timeline.lines()
    assert [one.text for one in lines.lines][:2] == ["early", "log 40"]
    assert {one.stream for one in lines.lines[1:]} == {OutputStream.CONSOLE}
    assert lines.dropped == 40
    assert [one.text for one in timeline.lines(tail=2).lines] == ["log 48", "log 49"]
    assert timeline.events().events[-1].time_ns == 49
    assert timeline.clear_output() == 11
    assert timeline.lines().lines == []
    assert timeline.events(Filters(kinds={EventKind.LOGPOINT})).total == 10
    timeline.close()


async def test_an_event_that_waits_in_memory_is_told_as_the_database_tells_it(timeline):
    timeline.append(EventKind.RESUME, session="s")
    cursor = timeline.cursor()
    where = {"thread": 1, "function": "f", "file": "a.c", "line": 3}
    timeline.append(EventKind.STOP, "at \ud800", session="s", data={"hits": [1]}, **where)
    told = await timeline.wait(cursor, {EventKind.STOP}, 1)
    assert told is not None
    assert [told] == timeline.events(Filters(kinds={EventKind.STOP})).events
    assert await timeline.wait(cursor, {EventKind.STOP}, 1) == told
