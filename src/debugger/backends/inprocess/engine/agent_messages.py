"""Parses one message of the agent into events, and decodes the records in it."""

from __future__ import annotations

import struct
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    EngineChildAppeared,
    EngineConditionFailed,
    EngineEvent,
    EngineModule,
    FunctionCalled,
    FunctionReturned,
    HitTally,
    ModuleLoaded,
    ModuleUnloaded,
    RecordLogged,
    RecordsDropped,
    ThreadPaused,
)

# struct record of code/trace.c: ready, function, thread, kind; the time in ns; six words; two
# halves of vectors; texts; the address to which a call returns. A change there is a change here.
CALL_RECORD: Final = struct.Struct("<4IQ6Q2Q40sQ")
ENTERED, LEFT, JUMPED, SKIPPED = range(4)
"""Kinds of records; of one SKIPPED the first word is how many calls of the function were, so far.
"""
WORDS_AT, REALS_AT, TEXTS_AT, CALLER_AT = 5, 11, 13, 14
"""Where in a record the words, the halves of vectors, the texts and the return address begin."""


def unpack_call_records(data: bytes) -> Iterator[FunctionCalled | FunctionReturned]:
    """Yield each record of a batch by itself."""
    for record in CALL_RECORD.iter_unpack(data):
        _, function, thread, kind, ns, *words, real0, real1, texts, _ = record
        common = {"function": function, "thread": thread, "time": ns / 1e3}
        reals = (real0, real1)
        if kind == ENTERED:
            yield FunctionCalled(arguments=tuple(words), reals=reals, texts=texts, **common)
        elif kind != SKIPPED:
            yield FunctionReturned(
                value=words[0],
                took=words[1] / 1e3,
                second=words[2],
                reals=reals,
                **common,
            )


# WORDS in code/log.c.
LOG_WORDS: Final = 12
"""How many values there is room for."""
# struct record of code/log.c: ready, point, thread; the time in ns, which hit it is; the
# values.
LOG_RECORD: Final = struct.Struct(f"<III4xQQ{LOG_WORDS}Q")


def unpack_log_records(data: bytes, names: Sequence[str], first: int) -> Iterator[RecordLogged]:
    """Yield each record of a batch by itself; `first` is the first one's number in the sequence.

    `names` are those of the points, by the numbers that the records have.
    """
    rows = enumerate(LOG_RECORD.iter_unpack(data), first)
    for sequence, (_, point, thread, ns, hits, *words) in rows:
        yield RecordLogged(
            point=names[point],
            thread=thread,
            hits=hits,
            values=tuple(words),
            time=ns / 1e3,
            sequence=sequence,
        )


_FULL = 4096 * CALL_RECORD.size  # DRAIN_MAX in agent/60_trace.js
_TIME = 4  # of the fields of calls.RECORD
_Row = RecordLogged | EngineConditionFailed


def read_events(
    payload: Mapping[str, Any], data: bytes | None, names: Sequence[str] = ()
) -> Iterator[EngineEvent]:
    """Yield the events of a message, in order; `names` are those of `unpack_log_records`."""
    # JavaScript's own records are lists and few; machine code's are bytes and come by the
    # thousand, so they are passed on as bytes and unpacked where they are used.
    match payload:
        case {"type": "records", "records": [*records], "lost": int(lost)}:
            rows = [_parse_record(row) for row in records]
            if data:
                rows = _merge_rows(rows, [*unpack_log_records(data, names, payload["first"])])
            yield from rows
            if lost:
                yield RecordsDropped(records=lost)
        case {"type": "calls", "lost": int(lost)}:
            yield CallsRecorded(data=data or b"", lost=lost)
        case {"type": "paused"}:
            yield _parse_paused(payload)
        case {"type": "forked", "pid": int(pid), "parent": int(parent)}:
            yield EngineChildAppeared(pid=pid, parent=parent)
        case {"type": "module"}:
            yield ModuleLoaded(module=read_module(payload))
        case {"type": "unmapped", "base": str(base), "size": int(size)}:
            yield ModuleUnloaded(base=int(base, 16), size=size)
        case _:
            return


def _merge_rows(rows: Sequence[_Row], logged: Sequence[RecordLogged]) -> list[_Row]:
    """Sort the records of JavaScript and of machine code by time, and number them in that order."""
    # The agent has numbered both, but apart from each other: the set of numbers is right,
    # their order is not.
    both = sorted([*rows, *logged], key=attrgetter("time"))
    numbers = sorted(one.sequence for one in both)
    return [
        one if one.sequence == number else msgspec.structs.replace(one, sequence=number)
        for one, number in zip(both, numbers, strict=True)
    ]


def split_later(
    logged: Sequence[EngineEvent], events: Sequence[EngineEvent]
) -> tuple[Sequence[EngineEvent], list[EngineEvent]]:
    """Split logpoint records where a full batch of calls ends: the rest waits for the next one."""
    # A batch that is not full was the last one in the ring: nothing of the same time can
    # follow.
    if not events or not isinstance(events[0], CallsRecorded) or len(events[0].data) < _FULL:
        return logged, []
    (*_, last) = CALL_RECORD.iter_unpack(events[0].data[-CALL_RECORD.size :])
    later: list[EngineEvent] = [
        one for one in logged if isinstance(one, _Row) and one.time * 1000 > last[_TIME]
    ]
    return [one for one in logged if one not in later], later


def among_calls(
    logged: Sequence[EngineEvent], events: Sequence[EngineEvent]
) -> Iterator[EngineEvent]:
    """Insert logpoint records, in their order, among the calls and returns, by their times."""
    if not logged or not events or not isinstance(events[0], CallsRecorded):
        yield from [*logged, *events]
        return
    data, lost = events[0].data, events[0].lost
    times = [one[_TIME] for one in CALL_RECORD.iter_unpack(data)]
    at = 0
    for one in logged:
        upto = at
        if isinstance(one, _Row):
            upto = bisect(times, int(one.time * 1000), at)
        # The calls before this record leave as one event: slices of the batch, which are not
        # unpacked.
        if upto > at:
            yield CallsRecorded(data=data[at * CALL_RECORD.size : upto * CALL_RECORD.size])
            at = upto
        yield one
    yield CallsRecorded(data=data[at * CALL_RECORD.size :], lost=lost)
    yield from events[1:]


def _parse_record(row: Sequence[Any]) -> _Row:
    point, thread, sequence, time, hits, text = row
    # A failed condition has no hit: the text is the error.
    if hits is None:
        return EngineConditionFailed(
            point=point, thread=thread, text=text, time=time, sequence=sequence
        )
    return RecordLogged(
        point=point, thread=thread, hits=hits, values=text, time=time, sequence=sequence
    )


def _parse_paused(payload: Mapping[str, Any]) -> ThreadPaused:
    return ThreadPaused(
        thread=payload["thread"],
        reason=payload["reason"],
        registers=read_registers(payload["registers"]),
        time=payload["time"],
        sequence=payload["sequence"],
        vectors=_parse_number(payload.get("vectors")),
        points=tuple(payload.get("ids", ())),
        hits=payload.get("hits", 0),
        watches=tuple(
            (one["id"], bytes.fromhex(one["before"]), bytes.fromhex(one["after"]))
            for one in payload.get("watches", ())
        ),
        signal=payload.get("signal", 0),
        signal_code=payload.get("code", 0),
        fault=_parse_number(payload.get("fault")),
        base=_parse_number(payload.get("base")),
    )


def _parse_number(text: str | None) -> int:
    return int(text, 16) if text else 0


def read_registers(texts: Mapping[str, str]) -> dict[str, int]:
    """Parse registers as the agent writes them."""
    # As text, since a Number of JavaScript does not hold 64 bits.
    return {name: int(text, 16) for name, text in texts.items()}


def read_module(payload: Mapping[str, Any]) -> EngineModule:
    """Parse a module as the agent writes it."""
    return EngineModule(
        name=payload["name"],
        path=payload["path"],
        base=int(payload["base"], 16),
        size=payload["size"],
    )


def read_tally(value: Mapping[str, Any]) -> dict[str, HitTally]:
    """Parse the counts of all points."""
    return {point: HitTally(hits=hits, dropped=dropped) for point, (hits, dropped) in value.items()}
