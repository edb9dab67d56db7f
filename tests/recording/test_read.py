"""Every record is parsed, and a broken one is not believed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from debugger.recorders.call_tree import build_trees
from debugger.recorders.model import CallRaised, CallsMerged
from debugger.recorders.record_parser import parse_records


@given(st.lists(st.binary(max_size=60)))
def test_hostile_lines_raise_nothing(lines):
    assert parse_records(lines).events == ()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(st.lists(st.tuples(st.sampled_from("cfprvsxmhwntk"), st.lists(values, max_size=9))))
def test_records_of_any_content_raise_nothing_and_are_counted(records):
    lines = [json.dumps([kind, *rest]).encode() for kind, rest in records]
    recording = parse_records(lines)
    build_trees(recording)
    known = len(recording.events) + recording.unread
    assert known <= len(records)


def test_without_an_end_a_recording_is_not_whole():
    recording = parse_records([b'["n","exec",5,"x"]', b'["m",1,0,1,1,0,3,0,9]', b'["p",1,'])
    assert (recording.is_whole, recording.unread, recording.took_ns) == (False, 1, 5)
    assert recording.events[1] == CallsMerged(1, 0, 1, 1, 0, 3, 0, 9)


def test_half_a_character_is_written_out():
    (event,) = parse_records([b'["x",1,2,"E","a\\udc80b",3]']).events
    assert event == CallRaised(1, 2, "E", "a\\udc80b", 3)
