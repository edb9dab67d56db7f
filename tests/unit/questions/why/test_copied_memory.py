"""Places with a value's bytes are watched together, and the writes that gave it are kept."""

from __future__ import annotations

from debugger.questions.why.answer import LinkCertainty
from debugger.questions.why.copied_memory import CopiedMemory, is_distinctive
from debugger.questions.why.native_steps import ValuePosition
from debugger.questions.why.traced_run import (
    TraceEvent,
    TraceFrame,
    TraceResult,
    TraceValue,
    WatchPlan,
)

_VALUE = "fbffffffffffffff"
_FRAME = TraceFrame("main", "a.cpp", 3)


def _position(address: int) -> ValuePosition:
    value = TraceValue("-5", "long", "int", address, 8, _VALUE)
    return ValuePosition("last", value, (_FRAME,), 0, LinkCertainty.SEEN)


def _write(key: str, sequence: int, count: int = 1) -> TraceEvent:
    return TraceEvent(key, count, sequence, (_FRAME,), old="00" * 8, new=_VALUE)


def _watch(key: str, address: int) -> WatchPlan:
    return WatchPlan(key, address, 8, value=_VALUE, is_copy=True)


def _copies(*addresses: int) -> CopiedMemory:
    copies = CopiedMemory()
    copies.note_end(TraceResult(reached=True, copies=addresses), _VALUE)
    return copies


def test_the_places_of_a_value_are_watched_besides_those_that_are_watched_already() -> None:
    plans = _copies(0x10, 0x20, 0x30).watches_for(_position(0x10), {0x10})
    assert [(one.address, one.value, one.is_copy) for one in plans] == [
        (0x20, _VALUE, True),
        (0x30, _VALUE, True),
    ]


def test_the_one_write_that_gave_a_place_its_value_is_kept_for_later_links() -> None:
    copies = _copies(0x20)
    result = TraceResult(reached=True, events=(_write("w2", 5),), counts={"w2": 1})
    copies.read_events(result, (_watch("w2", 0x20),))
    write = copies.write_of(_position(0x20))
    assert write is not None
    assert write.event.sequence == 5
    assert copies.write_of(_position(0x30)) is None


def test_of_several_writes_and_of_a_place_that_was_not_watched_to_the_end_none_is_chosen() -> None:
    copies = _copies(0x20, 0x30)
    events = (_write("w2", 5), _write("w2", 9, 2), _write("w3", 6))
    result = TraceResult(reached=True, events=events, counts={"w2": 2, "w3": 1}, hot=("w3",))
    copies.read_events(result, (_watch("w2", 0x20), _watch("w3", 0x30)))
    assert copies.write_of(_position(0x20)) is None
    assert copies.write_of(_position(0x30)) is None


def test_memory_that_had_the_value_from_the_beginning_was_not_written() -> None:
    copies = _copies(0x20)
    result = TraceResult(reached=True, initial={"w2": _VALUE})
    copies.read_events(result, (_watch("w2", 0x20),))
    assert copies.unwritten_run(_position(0x20)) == (result, "w2")
    assert copies.write_of(_position(0x20)) is None


def test_the_last_equal_write_before_an_event_is_found_where_one_run_shows_the_order() -> None:
    copies = _copies(0x20, 0x30)
    events = (_write("w2", 5), _write("w3", 9), _write("w4", 7))
    result = TraceResult(reached=True, events=events, counts={"w2": 1, "w3": 1})
    copies.read_events(result, (_watch("w2", 0x20), _watch("w3", 0x30)))
    found = copies.write_before(_VALUE, events[2])
    assert found is not None
    assert found.watch.address == 0x20
    last = copies.write_before(_VALUE, None)
    assert last is not None
    assert last.watch.address == 0x30
    assert copies.write_before(_VALUE, _write("other", 1)) is None


def test_small_numbers_are_equal_by_chance() -> None:
    texts = {7: False, -1: False, 0: False, 1 << 20: True, -5: True}
    found = {one: is_distinctive(one.to_bytes(8, "little", signed=True).hex()) for one in texts}
    assert found == texts
    assert not is_distinctive((-5).to_bytes(4, "little", signed=True).hex())
