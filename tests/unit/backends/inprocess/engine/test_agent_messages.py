"""Messages of the agent and the host are parsed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from debugger.backends.inprocess.engine import agent_messages
from debugger.backends.inprocess.engine.agent_messages import (
    CALL_RECORD,
    among_calls,
    read_events,
    read_tally,
    split_later,
    unpack_call_records,
)
from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    EngineConditionFailed,
    FunctionCalled,
    FunctionReturned,
    RecordLogged,
    RecordsDropped,
    ThreadPaused,
)
from debugger.backends.inprocess.engine.message_frames import MessageUnpacker, pack_message


def test_a_batch_is_read_in_order_with_what_was_lost():
    batch = {
        "type": "records",
        "lost": 3,
        "records": [
            ["a", 7, 1, 1.5, 1, [1, "0x10"]],
            ["b", 7, 2, 2.5, None, "Error: no"],
        ],
    }
    assert list(read_events(batch, None)) == [
        RecordLogged(point="a", thread=7, hits=1, values=[1, "0x10"], time=1.5, sequence=1),
        EngineConditionFailed(point="b", thread=7, text="Error: no", time=2.5, sequence=2),
        RecordsDropped(records=3),
    ]


def test_what_machine_code_and_what_javascript_logged_are_put_in_the_order_of_time():
    rows = [["js", 7, 1, 1.5, 1, "one"], ["js", 7, 2, 3.5, None, "Error: no"]]
    ring = agent_messages.LOG_RECORD.pack(1, 0, 8, 1_000, 4, *range(agent_messages.LOG_WORDS))
    ring += agent_messages.LOG_RECORD.pack(
        2, 1, 9, 3_000, 5, 2**64 - 1, *[0] * (agent_messages.LOG_WORDS - 1)
    )
    batch = {"type": "records", "lost": 0, "records": rows, "first": 3}
    told = list(read_events(batch, ring, ["c", "d"]))
    assert told == [
        RecordLogged(point="c", thread=8, hits=4, values=tuple(range(12)), time=1.0, sequence=1),
        RecordLogged(point="js", thread=7, hits=1, values="one", time=1.5, sequence=2),
        RecordLogged(
            point="d", thread=9, hits=5, values=(2**64 - 1, *[0] * 11), time=3.0, sequence=3
        ),
        EngineConditionFailed(point="js", thread=7, text="Error: no", time=3.5, sequence=4),
    ]


def test_calls_are_read_from_the_ring():
    texts = b"\3Ada".ljust(40, b"\0")
    ring = CALL_RECORD.pack(1, 5, 70, 0, 2_000, 1, 2, 3, 4, 5, 6, 7, 8, texts, 0)
    ring += CALL_RECORD.pack(2, 5, 70, 1, 9_500, 2**64 - 1, 7_500, 4, 0, 0, 0, 0, 0, bytes(40), 0)
    ring += CALL_RECORD.pack(3, 5, 70, 2, 9_600, 0, 7_600, 0, 0, 0, 0, 0, 0, bytes(40), 0)
    (calls,) = read_events({"type": "calls", "lost": 2}, ring)
    assert calls == CallsRecorded(data=ring, lost=2)
    assert list(unpack_call_records(ring)) == [
        FunctionCalled(
            function=5,
            thread=70,
            arguments=(1, 2, 3, 4, 5, 6),
            time=2.0,
            reals=(7, 8),
            texts=texts,
        ),
        FunctionReturned(function=5, thread=70, value=2**64 - 1, took=7.5, time=9.5, second=4),
        FunctionReturned(function=5, thread=70, value=0, took=7.6, time=9.6),
    ]


def test_a_pause_is_read_with_all_that_it_tells():
    (paused,) = read_events(
        {"type": "paused", "reason": "watch", "thread": 7, "registers": {"rax": "0x10"}}
        | {"vectors": "0x7f00", "time": 1.0, "sequence": 9}
        | {"watches": [{"id": "w", "before": "00", "after": "ff"}]},
        None,
    )
    assert isinstance(paused, ThreadPaused)
    assert (paused.registers, paused.vectors) == ({"rax": 16}, 0x7F00)
    assert paused.watches == (("w", b"\0", b"\xff"),)


def test_what_nobody_knows_tells_nothing():
    assert list(read_events({"type": "news"}, None)) == []


def test_counts_are_read_by_point():
    tally = read_tally({"a": [5, 2]})
    assert (tally["a"].hits, tally["a"].dropped) == (5, 2)


@given(
    values=st.lists(st.dictionaries(st.text(max_size=5), st.binary(max_size=50)), max_size=5),
    size=st.integers(1, 40),
)
def test_messages_come_through_in_pieces_of_any_size(values, size):
    stream = b"".join(map(pack_message, values))
    unpacker = MessageUnpacker()
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [one for piece in pieces for one in unpacker.add_bytes(piece)] == values


def call(number: int, time_ns: int) -> bytes:
    return CALL_RECORD.pack(number, 5, 70, 0, time_ns, *[0] * 8, bytes(40), 0)


def logged(time_us: float) -> RecordLogged:
    return RecordLogged(point="p", thread=70, hits=1, values="", time=time_us, sequence=1)


def test_what_was_logged_stands_among_the_calls_by_the_time_of_both():
    first, second, third = (call(number, 1_000 * number) for number in (1, 2, 3))
    calls = CallsRecorded(data=first + second + third, lost=7)
    early, late = logged(1.5), logged(2.5)
    after = RecordsDropped(records=1)
    assert list(among_calls([early, late], [calls, after])) == [
        CallsRecorded(data=first),
        early,
        CallsRecorded(data=second),
        late,
        CallsRecorded(data=third, lost=7),
        after,
    ]
    assert list(among_calls([early], [after])) == [early, after]


def test_what_is_later_than_a_full_batch_of_calls_waits_for_the_next():
    full = CallsRecorded(data=b"".join(call(number, 1_000) for number in range(4096)))
    early, late = logged(0.5), logged(1.5)
    assert split_later([early, late], [full]) == ([early], [late])
    assert split_later([early, late], [CallsRecorded(data=call(1, 1_000))]) == ([early, late], [])
