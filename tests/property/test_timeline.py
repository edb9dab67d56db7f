"""The timeline agrees with a plain list, however output is cut and read."""

from __future__ import annotations

import operator
from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from debugger.model.events import LASTING_KINDS, TRACE_KINDS, Event, EventKind, OutputStream
from debugger.model.program import CallEvent
from debugger.session.timeline import Filters, ReturnedCondition, Timeline

SESSIONS = st.sampled_from(["a", "b"])
STREAMS = st.sampled_from([OutputStream.STDOUT, OutputStream.STDERR])
TEXT = st.text(st.sampled_from("ab\n\r é𝄞\ud800"), max_size=12)
STEPS = st.lists(
    st.one_of(
        st.tuples(SESSIONS, STREAMS, TEXT),
        st.just("read"),
        st.tuples(st.just("end"), SESSIONS),
    ),
    max_size=25,
)
WIDTHS = st.sampled_from([1, 2, 3, 5, 8192])
RECORDS = st.sampled_from([kind for kind in EventKind if kind is not EventKind.OUTPUT])


class PlainTimeline:
    """What was written, as one would do it without bounds, chunks or cursors."""

    def __init__(self) -> None:
        self.done: dict[tuple[str, OutputStream], list[str]] = {}
        self.rest: dict[tuple[str, OutputStream], str] = {}

    def write(self, session, stream, text):
        key = (session, stream)
        *lines, rest = (self.rest.get(key, "") + text.replace("\ud800", "\\ud800")).split("\n")
        self.done.setdefault(key, []).extend(line.removesuffix("\r") for line in lines)
        self.rest[key] = rest

    def end(self, session):
        for key in [key for key in self.rest if key[0] == session]:
            if left := self.rest.pop(key).removesuffix("\r"):
                self.done[key].append(left)

    def lines(self):
        for session, _ in list(self.rest):
            self.end(session)
        return {key: lines for key, lines in self.done.items() if lines}


def joined(pieces):
    """Put pieces of lines together by what they say of themselves."""
    lines: dict = {}
    for key, text, continues in pieces:
        of = lines.setdefault(key, [])
        if continues:
            of[-1] += text
        else:
            of.append(text)
    return lines


@given(steps=STEPS, width=WIDTHS)
def test_any_chunking_and_any_reading_gives_the_same_lines(steps, width):
    timeline, plain = Timeline(max_line=width), PlainTimeline()
    read, seqs, cursor = [], [], 0
    for step in [*steps, "read"]:
        if step == "read":
            page = timeline.events(since=cursor, limit=500)
            cursor = page.next
            seqs += [one.seq for one in page.events]
            read += [
                ((one.session, OutputStream(one.data["stream"])), one.text, "continues" in one.data)
                for one in page.events
            ]
        elif step[0] == "end":
            timeline.end_output(session=step[1])
            plain.end(step[1])
        else:
            session, stream, text = step
            timeline.append_output(stream, text, session=session)
            plain.write(session, stream, text)
    assert joined(read) == plain.lines()
    assert seqs == list(range(1, len(seqs) + 1))
    assert all(len(text) <= width for _, text, _ in read)
    timeline.close()


@given(
    steps=st.lists(st.tuples(STREAMS, TEXT, st.booleans()), max_size=20),
    limit=st.sampled_from([None, 1, 2]),
    width=WIDTHS,
)
def test_lines_joined_by_the_store_are_those_that_were_written(steps, limit, width):
    timeline, plain = Timeline(max_line=width), PlainTimeline()
    read, cursor = [], 0

    def look():
        found = timeline.lines(since=cursor, limit=limit)
        read.extend(((("s", one.stream), one.text, one.continues)) for one in found.lines)
        assert found.next >= cursor
        assert found.dropped == 0
        return found.next

    for stream, text, is_read in steps:
        timeline.append_output(stream, text, session="s")
        plain.write("s", stream, text)
        if is_read:
            cursor = look()
    while (before := cursor) < timeline.cursor():
        cursor = look()
        assert cursor > before
    expected = plain.lines()
    assert joined(read) == expected
    at_once = timeline.lines()
    shown = [(("s", one.stream), one.text, one.continues) for one in at_once.lines]
    assert joined(shown) == expected
    assert timeline.lines(tail=3).lines == at_once.lines[-3:]
    timeline.close()


@given(
    chunks=st.lists(
        st.tuples(st.lists(st.text("aé", max_size=6), max_size=8), st.booleans()), max_size=12
    ),
    most=st.integers(1, 12),
    size=st.integers(0, 30),
)
def test_the_newest_lines_that_fit_are_kept_and_all_others_counted(chunks, most, size):
    timeline, written = Timeline(max_events=most, max_bytes=size), []
    for lines, is_read in chunks:
        timeline.append_output(
            OutputStream.STDOUT, "".join(f"{line}\n" for line in lines), session="s"
        )
        written += lines
        if is_read:
            timeline.lines()
    kept = len(written)
    while kept > most or sum(len(one.encode()) for one in written[len(written) - kept :]) > size:
        kept -= 1
    read = timeline.lines()
    assert [one.text for one in read.lines] == written[len(written) - kept :]
    assert read.dropped == len(written) - kept
    for since in range(len(written) + 1):
        assert timeline.lines(since=since).dropped == max(len(written) - kept - since, 0)
    timeline.close()


@given(kinds=st.lists(st.tuples(RECORDS, st.booleans()), max_size=80), most=st.integers(1, 30))
def test_traces_go_first_and_crash_and_exit_never(kinds, most):
    timeline = Timeline(max_events=most)
    for kind, is_read in kinds:
        timeline.append(kind, session="s")
        if is_read:
            timeline.events()
    page = timeline.events(limit=500)
    assert len(page.events) == page.total
    assert page.total + page.dropped == len(kinds)
    kept = [one.kind for one in page.events]
    assert sum(kind not in LASTING_KINDS for kind in kept) <= most
    ends = timeline.events(Filters(kinds=LASTING_KINDS))
    assert (ends.dropped, ends.total) == (0, sum(kind in LASTING_KINDS for kind, _ in kinds))
    for group in (TRACE_KINDS, frozenset(EventKind) - TRACE_KINDS - LASTING_KINDS):
        of_group = [seq for seq, (kind, _) in enumerate(kinds, 1) if kind in group]
        left = [one.seq for one in page.events if one.kind in group]
        assert left == of_group[len(of_group) - len(left) :]
        assert timeline.events(Filters(kinds=group)).dropped == len(of_group) - len(left)
        if group is not TRACE_KINDS and len(left) < len(of_group):
            assert sum(kind in TRACE_KINDS for kind in kept) * 10 <= most
    timeline.close()


FUNCTIONS = st.sampled_from(["main", "audio::mix", "audio::play"])
NUMBERS = st.integers(-3, 3)
CALLS = st.builds(
    CallEvent,
    function=FUNCTIONS,
    thread=st.integers(1, 3),
    time_ns=st.integers(0, 20),
    text=st.sampled_from(["f()", "f → 1"]),
    is_return=st.booleans(),
    file=st.sampled_from(["/a.c", "/b.c", None]),
    returned=st.one_of(st.none(), NUMBERS.map(str), st.just("true")),
    duration_ns=st.one_of(st.none(), st.integers(0, 5)),
)
FILTERS = st.builds(
    Filters,
    kinds=st.one_of(
        st.none(),
        st.sets(
            st.sampled_from([EventKind.STOP, EventKind.FUNCTION_ENTER, EventKind.FUNCTION_EXIT])
        ),
    ),
    function=st.one_of(st.none(), FUNCTIONS, st.just("audio::*")),
    file=st.one_of(st.none(), st.just("a.c")),
    thread=st.one_of(st.none(), st.integers(1, 3)),
    text=st.one_of(st.none(), st.just("→")),
    returned=st.one_of(
        st.none(),
        st.builds(ReturnedCondition, st.sampled_from(["<", "<=", "=", ">=", ">", "!="]), NUMBERS),
        st.just(ReturnedCondition("=", "true")),
    ),
    min_duration_ns=st.one_of(st.none(), st.integers(0, 5)),
    max_duration_ns=st.one_of(st.none(), st.integers(0, 5)),
    since_ns=st.one_of(st.none(), st.integers(0, 20)),
    until_ns=st.one_of(st.none(), st.integers(0, 20)),
)
COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "!=": operator.ne,
}


def passes(one: Event, asked: Filters) -> bool:
    """Return whether an event passes all filters, as one would ask it of each event in turn."""
    returned, took = one.data.get("returned"), one.data.get("duration_ns")
    wants = asked.returned
    if wants is not None:
        if returned is None or (wants.is_number and returned == "true"):
            return False
        if not COMPARED[wants.operator](
            int(returned) if wants.is_number else returned, wants.value
        ):
            return False
    return all(
        (
            asked.kinds is None or one.kind in asked.kinds,
            asked.function is None or fnmatchcase(one.function or "", asked.function),
            asked.file is None or one.file == f"/{asked.file}",
            asked.thread is None or one.thread == asked.thread,
            asked.text is None or asked.text in one.text,
            asked.min_duration_ns is None or (took is not None and took >= asked.min_duration_ns),
            asked.max_duration_ns is None or (took is not None and took <= asked.max_duration_ns),
            asked.since_ns is None or one.time_ns >= asked.since_ns,
            asked.until_ns is None or one.time_ns <= asked.until_ns,
        )
    )


@given(
    steps=st.lists(st.one_of(st.integers(1, 3), st.lists(CALLS, max_size=8)), max_size=12),
    asked=st.lists(FILTERS, min_size=1, max_size=8),
    limit=st.integers(1, 5),
)
def test_any_filters_find_what_looking_at_every_event_finds(steps, asked, limit):
    timeline = Timeline(clock=lambda: 10)
    for step in steps:
        if isinstance(step, int):
            timeline.append(EventKind.STOP, "stops →", session="s", thread=step)
        else:
            timeline.append_passages(step, session="s")
    every = timeline.events(limit=500).events
    assert len(every) == sum(1 if isinstance(one, int) else len(one) for one in steps)
    for filters in asked:
        expected = [one for one in every if passes(one, filters)]
        page = timeline.events(filters, limit=limit)
        assert page.events == expected[:limit]
        assert page.total == len(expected)
        assert timeline.events(filters, limit=limit, newest=True).events == expected[-limit:]
        rest = timeline.events(filters, since=page.next, limit=500)
        assert page.events + rest.events == expected
    timeline.close()
