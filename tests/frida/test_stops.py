"""Threads are paused, inspected, changed and resumed, each by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest

from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineConditionFailed,
    EngineExited,
    EngineLost,
    EngineWatch,
    RecordLogged,
    ThreadPaused,
)
from debugger.errors import DebuggerError, ErrorCode
from live_engine import BOUND_S, build_program


@pytest.fixture
def waits():
    return build_program("waits.c", "-O0")


@pytest.fixture
def guest(waits):
    """The program that waits, running without us, with its output to be read."""
    process = subprocess.Popen(
        [str(waits.path), "100"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(2)]
    assert "ticks 100 3" in first[1]
    yield process
    process.kill()
    process.communicate()


def code_of(pid: int, address: int) -> bytes:
    """Read memory from outside, as it is."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        return os.pread(memory.fileno(), 64, address)


async def test_a_condition_stops_at_the_hit_it_is_true_for_alone(start_engine, waits):
    live = await start_engine(waits)
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(
                id="b", address=live.at("add"), condition="(c) => c.rsi.toInt32() === 2"
            ),
            EngineBreakpoint(
                id="t", address=live.at("tick"), condition="(c) => c.rdi.toInt32() > 1"
            ),
        ]
    )
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    assert (paused.points, paused.reason) == (("b",), "breakpoint")
    assert (paused.registers["rdi"], paused.registers["rsi"]) == (1, 2)
    assert paused.registers["rip"] == live.at("add")
    live.engine.resume([paused.thread])
    assert (await live.until(EngineExited)).status == 5
    assert {k: v.hits for k, v in (await live.engine.hit_counts()).items()} == {"b": 1, "t": 0}


async def test_a_failing_condition_is_told_and_does_not_stop(start_engine, waits):
    live = await start_engine(waits)
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="b", address=live.at("add"), condition="(c) => c.rdi.nothing.more")]
    )
    await live.engine.run_program()
    failed = await live.until(EngineConditionFailed)
    assert failed.point == "b"
    assert "undefined" in failed.text
    await live.until(EngineExited)
    assert not [one for one in live.events if isinstance(one, ThreadPaused)]


async def test_a_condition_that_reads_bad_memory_fails_and_the_program_lives(start_engine, waits):
    live = await start_engine(waits)
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(
                id="b", address=live.at("add"), condition="(c) => ptr(16).readS32() === 2"
            )
        ]
    )
    await live.engine.run_program()
    assert "access violation" in (await live.until(EngineConditionFailed)).text
    assert (await live.until(EngineExited)).status == 5


async def test_a_condition_that_is_no_javascript_is_refused_in_words(start_engine, waits):
    live = await start_engine(waits)
    failed = await live.engine.add_breakpoints(
        [
            EngineBreakpoint(id="bad", address=live.at("add"), condition="(c) => c.rdi ==="),
            EngineBreakpoint(id="good", address=live.at("add")),
        ]
    )
    assert list(failed) == ["bad"]
    assert "expression" in failed["bad"] or "token" in failed["bad"]


async def test_registers_memory_and_calls_of_a_paused_thread(start_engine, waits):
    live = await start_engine(waits)
    engine = live.engine
    await engine.add_breakpoints([EngineBreakpoint(id="b", address=live.at("add"))])
    await engine.run_program()
    thread = (await live.until(ThreadPaused)).thread
    called = await engine.call_function(
        thread, live.at("add"), takes=["int64", "int64"], returns="int64", values=["40", "2"]
    )
    assert called == "42"
    with pytest.raises(DebuggerError) as bad:
        await engine.call_function(
            thread, live.at("read_at"), takes=["pointer"], returns="int64", values=["0x10"]
        )
    assert bad.value.code is ErrorCode.EVALUATION_FAILED
    assert "access violation" in bad.value.message
    ticks = live.at("ticks")
    assert int.from_bytes(await engine.read_memory(ticks, 8), "little") == 100
    await engine.write_memory(ticks, (7).to_bytes(8, "little"))
    await engine.set_registers(thread, {"rsi": 30})
    assert (await engine.read_registers(thread))["rsi"] == 30
    engine.resume()
    await live.until(EngineExited)
    assert "ticks 7 31 " in live.output()


async def test_a_thread_may_be_sent_elsewhere(start_engine, waits):
    live = await start_engine(waits)
    await live.engine.add_breakpoints([EngineBreakpoint(id="b", address=live.at("add"))])
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    # Straight to the caller: a `ret` that is not executed leaves rax as we set it.
    stack = paused.registers["rsp"]
    target = int.from_bytes(await live.engine.read_memory(stack, 8), "little")
    code = await live.engine.read_memory(target, 1)
    assert code
    ret = await _find_ret(live)
    await live.engine.set_registers(paused.thread, {"rip": ret, "rax": 77})
    live.engine.resume()
    await live.until(EngineExited)
    assert " 77 " in live.output()


async def _find_ret(live):
    code = await live.engine.read_memory(live.at("add"), 64)
    return live.at("add") + code.index(b"\xc3")


async def test_code_is_read_as_the_program_wrote_it(start_engine, waits):
    live = await start_engine(waits)
    before = await live.engine.read_memory(live.at("tick"), 64)
    addresses = [one for one in waits.statements() if 0 <= one - waits.symbol("tick") < 64]
    await live.engine.add_breakpoints(
        EngineBreakpoint(id=str(one), address=live.base + one, pauses=False) for one in addresses
    )
    assert await live.engine.read_memory(live.at("tick"), 64) == before
    raw = code_of(live.engine.pid, live.at("tick"))
    assert raw != before
    with pytest.raises(DebuggerError, match="a breakpoint was set"):
        await live.engine.write_memory(live.at("tick"), b"\x90" * 8)
    await live.engine.remove_breakpoints(map(str, addresses))
    raw = code_of(live.engine.pid, live.at("tick"))
    assert raw == before


async def test_two_threads_pause_apart(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "3", "2")
    await live.engine.add_breakpoints([EngineBreakpoint(id="w", address=live.at("work"))])
    await live.engine.run_program()
    first = await live.until(ThreadPaused)
    second = await live.until(ThreadPaused)
    assert first.thread != second.thread
    assert set(live.engine.paused_threads) == {first.thread, second.thread}
    hits = []
    for _ in range(2):
        live.engine.resume([first.thread])
        hits.append(await live.until(ThreadPaused))
    assert {one.thread for one in hits} == {first.thread}
    assert second.thread in live.engine.paused_threads
    await live.engine.remove_breakpoints(["w"])
    assert len(live.engine.resume()) == 2
    assert (await live.until(EngineExited)).status == 7


async def test_ignored_hits_every_nth_and_temporary_points(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "100", "1")
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(id="i", address=live.at("work"), ignore=97),
        ]
    )
    await live.engine.run_program()
    assert [(await _next_hits(live)) for _ in range(3)] == [98, 99, 100]
    await live.until(EngineExited)

    live = await start_engine(build_program("hammer.c", "-O0"), "100", "1")
    await live.engine.add_breakpoints([EngineBreakpoint(id="e", address=live.at("work"), every=40)])
    await live.engine.run_program()
    assert [(await _next_hits(live)) for _ in range(3)] == [1, 41, 81]
    await live.until(EngineExited)

    live = await start_engine(build_program("hammer.c", "-O0"), "100", "1")
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="t", address=live.at("work"), temporary=True)]
    )
    await live.engine.run_program()
    assert await _next_hits(live) == 1
    await live.until(EngineExited)


async def _next_hits(live):
    paused = await live.until(ThreadPaused)
    live.engine.resume([paused.thread])
    return paused.hits


async def test_a_point_for_one_thread_stops_no_other(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "20", "3")
    await live.engine.add_breakpoints([EngineBreakpoint(id="w", address=live.at("work"))])
    await live.engine.run_program()
    chosen = (await live.until(ThreadPaused)).thread
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="one", address=live.at("work"), thread=chosen)]
    )
    await live.engine.remove_breakpoints(["w"])
    live.engine.resume()
    seen = []
    while len(seen) < 10:
        paused = await live.until(ThreadPaused)
        seen.append(paused)
        live.engine.resume([paused.thread])
    assert {one.thread for one in seen if "one" in one.points} == {chosen}
    await live.engine.remove_breakpoints(["one"])
    live.engine.resume()
    await live.until(EngineExited)


async def test_what_is_disabled_does_not_stop_until_it_is_enabled(start_engine, waits):
    live = await start_engine(waits)
    await live.engine.add_breakpoints([EngineBreakpoint(id="b", address=live.at("add"))])
    await live.engine.add_breakpoints([EngineBreakpoint(id="r", address=live.at("read_at"))])
    await live.engine.enable_breakpoints(["b", "r"], on=False)
    await live.engine.enable_breakpoints(["r"], on=True)
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    assert paused.points == ("r",)
    live.engine.resume()
    await live.until(EngineExited)


async def test_a_running_program_is_paused_and_its_waits_go_on(start_engine, waits):
    read, write = os.pipe()
    live = await start_engine(waits, stdin=f"/proc/{os.getpid()}/fd/{read}")
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="r", address=live.at("read_at"), temporary=True)]
    )
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    live.engine.resume()
    (asked,) = await live.engine.pause()
    stopped = await live.until(ThreadPaused)
    assert (asked, stopped.reason) == (paused.thread, "pause")
    assert stopped.registers["rip"] != 0
    live.engine.resume()
    os.close(write)
    os.close(read)
    assert (await live.until(EngineExited)).status == 5
    assert "ends" in live.output()


async def test_a_sleep_that_was_paused_is_not_cut_short(start_engine, waits):
    live = await start_engine(waits, "1")
    await live.engine.add_breakpoints([EngineBreakpoint(id="t", address=live.at("tick"))])
    await live.engine.run_program()
    await live.until(ThreadPaused)
    await live.engine.pause()
    reasons = [(await live.until(ThreadPaused)).reason for _ in range(2)]
    assert reasons == ["pause", "pause"]
    live.engine.resume()
    await live.until(EngineExited)
    assert "slept 0 0" in live.output()


async def test_a_logpoint_tells_its_values_in_order_and_does_not_stop(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "500", "1")
    await live.engine.add_breakpoints(
        [
            EngineBreakpoint(
                id="l",
                address=live.at("work"),
                pauses=False,
                log="(c) => [c.rdi.toString(), 'text', null]",
                condition="(c) => true",
            )
        ]
    )
    await live.engine.run_program()
    await live.until(EngineExited)
    told = [one for one in live.events if isinstance(one, RecordLogged)]
    assert [one.hits for one in told] == list(range(1, 501))
    assert told[0].values == ["0x1", "text", None]
    assert [one.sequence for one in told] == sorted(one.sequence for one in told)
    assert [one.time for one in told] == sorted(one.time for one in told)


async def test_a_watched_change_stops_the_thread_that_made_it(start_engine, waits):
    live = await start_engine(waits)
    await live.engine.set_watch(EngineWatch(id="w", address=live.at("shared")))
    await live.engine.run_program()
    seen = []
    for _ in range(12):
        paused = await live.until(ThreadPaused)
        seen.append(paused.watches)
        live.engine.resume()
    assert seen[:2] == [
        (("w", b"\0" * 8, b"\x08" + b"\0" * 7),),
        (("w", b"\x08" + b"\0" * 7, b"\x10" + b"\0" * 7),),
    ]
    await live.engine.remove_watch("w")
    assert (await live.until(EngineExited)).status == 5


@pytest.mark.parametrize("access", ["r", "rw"])
async def test_a_watched_read_stops_where_it_is_made(start_engine, waits, access):
    live = await start_engine(waits)
    await live.engine.add_breakpoints([EngineBreakpoint(id="r", address=live.at("read_at"))])
    await live.engine.run_program()
    assert (await live.until(ThreadPaused)).points == ("r",)
    await live.engine.set_watch(
        EngineWatch(id="w", address=live.at("shared"), access=access, changes=False)
    )
    live.engine.resume()
    paused = await live.until(ThreadPaused)
    assert [one[0] for one in paused.watches] == ["w"]
    assert live.at("read_at") < paused.registers["rip"] < live.at("read_at") + 32
    await live.engine.remove_watch("w")
    live.engine.resume()
    assert (await live.until(EngineExited)).status == 5


async def test_the_fifth_watchpoint_is_refused(start_engine, waits):
    live = await start_engine(waits)
    for number in range(4):
        await live.engine.set_watch(
            EngineWatch(id=str(number), address=live.at("shared") + 8 * number)
        )
    with pytest.raises(DebuggerError, match="all four watchpoints"):
        await live.engine.set_watch(EngineWatch(id="5", address=live.at("ticks")))


async def test_a_guest_is_left_as_it_was(start_engine, waits, guest):
    live = await start_engine.attach(waits, guest.pid)
    before = code_of(guest.pid, live.at("tick"))
    await live.engine.add_breakpoints([EngineBreakpoint(id="t", address=live.at("tick"))])
    await live.engine.set_watch(EngineWatch(id="w", address=live.at("shared")))
    guest.stdin.write("x")
    guest.stdin.flush()
    await live.until(ThreadPaused)
    await live.engine.detach()
    await live.until(EngineLost)
    assert code_of(guest.pid, live.at("tick")) == before
    out, _ = await asyncio.to_thread(guest.communicate, "yy", BOUND_S)
    assert out == "ends\n"
    assert guest.returncode == 5


async def test_a_guest_goes_on_when_we_are_killed_while_it_is_paused(start_engine, waits, guest):
    live = await start_engine.attach(waits, guest.pid)
    before = code_of(guest.pid, live.at("tick"))
    await live.engine.add_breakpoints([EngineBreakpoint(id="t", address=live.at("tick"))])
    guest.stdin.write("x")
    guest.stdin.flush()
    await live.until(ThreadPaused)
    assert code_of(guest.pid, live.at("tick")) != before
    os.kill(live.engine.host_pid, signal.SIGKILL)
    await live.until(EngineLost)
    async with asyncio.timeout(BOUND_S):
        while code_of(guest.pid, live.at("tick")) != before:
            await asyncio.sleep(0.01)
    out, _ = await asyncio.to_thread(guest.communicate, "yy", BOUND_S)
    assert out == "ends\n"
    assert guest.returncode == 5
