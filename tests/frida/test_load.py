"""The engine under load: busy threads, millions of hits, thousands of calls."""

from __future__ import annotations

import time

import pytest

from debugger.backends.inprocess.engine.agent_messages import unpack_call_records
from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    EngineBreakpoint,
    EngineConditionFailed,
    EngineExited,
    FunctionCalled,
    FunctionReturned,
    RecordLogged,
    RecordsDropped,
    ThreadPaused,
    TracedFunction,
)
from live_engine import build_program


async def test_points_come_and_go_under_four_hammering_threads(start_engine):
    program = build_program("hammer.c", "-O0")
    rounds = "30000000"
    status, out, _ = program.alone(rounds)
    live = await start_engine(program, rounds)
    first, last = program.symbol("work"), program.symbol("hammer")
    addresses = [one for one in program.statements() if first <= one < last]
    points = [
        EngineBreakpoint(
            id=str(one), address=live.base + one, pauses=False, log="(c) => 1", every=1000, rate=50
        )
        for one in addresses
    ]
    await live.engine.run_program()
    done = 0
    while done < 25:
        assert await live.engine.add_breakpoints(points) == {}
        await live.engine.remove_breakpoints([one.id for one in points])
        done += 1
    assert not any(isinstance(one, EngineExited) for one in live.events)
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (status, None)
    assert live.output() == out


async def test_every_hit_of_four_threads_is_counted(start_engine):
    live = await start_engine(build_program("hammer.c", "-O2"), "20000")
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="w", address=live.at("work"), pauses=False)]
    )
    await live.engine.run_program()
    await live.until(EngineExited)
    assert (await live.engine.hit_counts())["w"].hits == 80000


async def test_threads_that_hit_at_once_are_told_different_numbers(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "500")
    point = EngineBreakpoint(id="l", address=live.at("work"), pauses=False, log="(c) => 0")
    await live.engine.add_breakpoints([point])
    await live.engine.run_program()
    await live.until(EngineExited)
    told = [one.hits for one in live.events if isinstance(one, RecordLogged)]
    assert sorted(told) == list(range(1, 2001))


@pytest.mark.parametrize("beside", [None, "counted", "asked"])
async def test_the_hits_of_several_places_of_a_breakpoint_are_one_count(start_engine, beside):
    program = build_program("hammer.c", "-O0")
    # One thread alone comes beyond the ignored hits, however the others are scheduled.
    live = await start_engine(program, "20000")
    begin, end = live.at("work"), live.at("hammer")
    places = [live.base + one for one in program.statements() if begin <= live.base + one < end]
    condition = "(c) => true" if beside == "asked" else None
    wanted = [
        EngineBreakpoint(id=str(at), address=at, group="g", ignore=30_000, condition=condition)
        for at in places[:3]
    ]
    if beside == "counted":
        wanted.append(EngineBreakpoint(id="other", address=places[1], pauses=False))
    assert await live.engine.add_breakpoints(wanted) == {}
    await live.engine.run_program()
    told = [(await live.until(ThreadPaused)) for _ in range(4)]
    assert sorted(one.hits for one in told) == [30_001, 30_002, 30_003, 30_004]
    await live.engine.remove_breakpoints([one.id for one in wanted])
    live.engine.resume()
    await live.until(EngineExited)


async def test_ten_million_hits_are_logged_within_their_rate_and_the_rest_is_counted(start_engine):
    program = build_program("hammer.c", "-O0")
    live = await start_engine(program, "2500000")
    # The first statement behind the prologue whose instruction has room for a jump.
    site = await _roomy(live, program)
    began = time.monotonic()
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="w", address=site, pauses=False, log="(c) => 1", rate=200)]
    )
    await live.engine.run_program()
    exited = await live.until(EngineExited)
    took = time.monotonic() - began
    assert exited.status == 7
    logged = sum(isinstance(one, RecordLogged) for one in live.events)
    tally = (await live.engine.hit_counts())["w"]
    assert tally.hits == 10_000_000
    assert 1 <= logged <= 200 * took + 200
    assert tally.dropped == tally.hits - logged


async def _roomy(live, program):
    from debugger.backends.inprocess.engine.displaced_instruction import decode_instruction

    first, last = program.symbol("hammer"), program.symbol("main")
    calls = []
    at = live.base + first
    while at < live.base + last:
        one = decode_instruction(await live.engine.read_memory(at, 16), at)
        if one.mnemonic == "call":
            calls.append(one.address)
        at += one.size
    return calls[0]


async def test_records_that_nobody_has_room_for_are_counted(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "20000")
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(
                id="w",
                address=live.at("work"),
                pauses=False,
                log="(c) => 'x'.repeat(200)",
                condition="(c) => 1",
            )
        ]
    )
    await live.engine.run_program()
    await live.until(EngineExited)
    tally = (await live.engine.hit_counts())["w"]
    logged = sum(isinstance(one, RecordLogged) for one in live.events)
    lost = sum(one.records for one in live.events if isinstance(one, RecordsDropped))
    assert tally.hits == 80000
    assert logged + lost == 80000
    assert tally.dropped == lost


async def test_a_condition_in_machine_code_decides_without_javascript(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "20000", "2")
    native = "int predicate (const unsigned long long * frame) { return frame[8] == 2; }"
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(
                id="n",
                address=live.at("work"),
                pauses=False,
                log="(c) => c.rdi.toInt32()",
                native=native,
            )
        ]
    )
    await live.engine.run_program()
    assert (await live.until(EngineExited)).status == 7
    values = [one.values for one in live.events if isinstance(one, RecordLogged)]
    assert values
    assert set(values) == {2}


async def test_machine_code_that_cannot_tell_has_javascript_asked(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "100", "1")
    unsure = "int predicate (const unsigned long long * frame) { return -(frame[8] == 1); }"
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(
                id="words",
                address=live.at("work"),
                native=unsure,
                condition="(c) => { throw new Error('no memory there'); }",
            ),
            EngineBreakpoint(
                id="true",
                address=live.at("work"),
                native=unsure,
                condition="(c) => true",
                log="() => 1",
                pauses=False,
            ),
        ]
    )
    await live.engine.run_program()
    failed = await live.until(EngineConditionFailed)
    assert (failed.point, failed.text) == ("words", "Error: no memory there")
    await live.until(EngineExited)
    tally = await live.engine.hit_counts()
    assert (tally["words"].hits, tally["true"].hits) == (0, 1)


async def test_calls_and_returns_are_traced_with_arguments_and_results(start_engine):
    program = build_program("hammer.c", "-O0")
    status, out, _ = program.alone("500")
    live = await start_engine(program, "500")
    await live.engine.trace_functions(
        [
            TracedFunction(id=1, address=live.at("work")),
            TracedFunction(id=2, address=live.at("hammer")),
        ]
    )
    began = time.monotonic()
    await live.engine.run_program()
    assert (await live.until(EngineExited)).status == status
    ran_us = (time.monotonic() - began) * 1e6
    assert live.output() == out
    batches = [one for one in live.events if isinstance(one, CallsRecorded)]
    told = [one for batch in batches for one in unpack_call_records(batch.data)]
    called = [one for one in told if isinstance(one, FunctionCalled)]
    returned = [one for one in told if isinstance(one, FunctionReturned)]
    lost = sum(one.lost for one in batches)
    assert len(called) + len(returned) + lost == 2 * (4 * 500 + 4)
    assert lost == 0
    assert {one.arguments[0] for one in called if one.function == 2} == {1, 2, 3, 4}
    first = next(one for one in called if one.function == 1 and one.arguments[0] == 1)
    result = next(one for one in returned if one.function == 1 and one.thread == first.thread)
    assert result.value == _work(1)
    assert result.time >= first.time
    assert 0 <= result.took <= ran_us


def _work(seed: int) -> int:
    x = seed * 3 + 1
    x ^= x >> 3
    return x + seed if x & 1 else x
