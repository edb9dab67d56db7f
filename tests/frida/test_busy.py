"""The agent neither waits for itself nor reports its own calls."""

from __future__ import annotations

import pytest

from debugger.backends.inprocess.engine.displaced_instruction import decode_instruction
from debugger.backends.inprocess.engine.engine_events import (
    EngineBreakpoint,
    EngineExited,
    ThreadPaused,
    TracedFunction,
)
from live_engine import build_program, run

PAUSES = 12
ROUNDS = 20
# What is written at the end is written once more; of others libc itself makes some calls.
CALLS = {"write": ROUNDS + 1, "read": ROUNDS, "open64": ROUNDS, "close": ROUNDS}
NEVER = "int predicate(void *frame) { return 0; }"
WORDS = "int values(void *frame, unsigned long long *words) { words[0] = 1; return 1; }"


async def _make_hot(live, way):
    work = live.at("work")
    if way == "trace":
        await live.engine.trace_functions([TracedFunction(id=1, address=work)], rate=1000)
        return
    ways = {
        "count": {"pauses": False},
        "log": {"pauses": False, "log": "(c) => 1", "rate": 1000},
        "condition": {"condition": "(c) => c.rdi === null"},
        "native": {"native": NEVER},
        "record": {"pauses": False, "log": "(c) => 1", "record": WORDS, "width": 1},
    }
    assert (
        await live.engine.add_breakpoints([EngineBreakpoint(id="w", address=work, **ways[way])])
        == {}
    )


@pytest.mark.parametrize("way", ["count", "log", "condition", "native", "record", "trace"])
async def test_threads_that_are_hot_pause_in_the_programs_code_and_are_unharmed(start_engine, way):
    # There the first instruction has room for a jump, so that most time is spent in what logs.
    program = build_program("hammer.c", "-O2" if way == "record" else "-O0")
    rounds = "30000000"
    status, out, _ = program.alone(rounds)
    live = await start_engine(program, rounds)
    await _make_hot(live, way)
    await live.engine.run_program()
    modules = await live.engine.list_modules()
    for _ in range(PAUSES // 4 if way == "record" else PAUSES):
        for _ in await live.engine.pause():
            at = (await live.until(ThreadPaused)).registers["rip"]
            (module,) = (one for one in modules if one.base <= at < one.base + one.size)
            assert "frida" not in module.name
            assert "vdso" not in module.name  # where records have their time from
        live.engine.resume()
    if way == "trace":
        await live.engine.untrace_functions([1])
    else:
        await live.engine.remove_breakpoints(["w"])
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (status, None)
    assert live.output() == out


@pytest.mark.parametrize(
    "name", ["write", "read", "open64", "close", "malloc", "free", "memcpy", "pthread_mutex_lock"]
)
async def test_what_the_agent_calls_itself_stops_the_program_alone(start_engine, name):
    live = await start_engine(build_program("chatty.c", "-O0"), str(ROUNDS))
    (libc,) = (one for one in await live.engine.list_modules() if one.name.startswith("libc.so"))
    told = run("nm", "-D", "--defined-only", libc.path).stdout
    (line,) = (one for one in told.splitlines() if f" {name}@@" in one)
    point = EngineBreakpoint(id="p", address=libc.base + int(line.split()[0], 16))
    assert await live.engine.add_breakpoints([point]) == {}
    await live.engine.run_program()
    stops = 0
    while isinstance(
        end := await live.until(lambda one: isinstance(one, ThreadPaused | EngineExited)),
        ThreadPaused,
    ):
        assert await live.engine.pause() == []
        live.engine.resume()
        stops += 1
    assert (end.status, end.signal) == (3, None)
    assert (await live.engine.hit_counts())["p"].hits == stops
    assert stops == CALLS.get(name, stops)


async def test_what_the_agent_calls_is_told_from_its_callers_in_the_middle_too(start_engine):
    for _ in range(4):  # the agent seldom comes there, and only while the program ends
        live = await start_engine(build_program("chatty.c", "-O0"), "1")
        (libc,) = (
            one for one in await live.engine.list_modules() if one.name.startswith("libc.so")
        )
        told = run("nm", "-D", "--defined-only", libc.path).stdout
        (line,) = (one for one in told.splitlines() if " mmap64@@" in one)
        begin = libc.base + int(line.split()[0], 16)
        behind = begin + decode_instruction(await live.engine.read_memory(begin, 16), begin).size
        # The first instruction leaves the stack alone.
        point = EngineBreakpoint(id="p", address=behind, caller=("rsp", 0))
        assert await live.engine.add_breakpoints([point]) == {}
        await live.engine.run_program()
        event = await live.until(lambda one: isinstance(one, ThreadPaused | EngineExited))
        while isinstance(event, ThreadPaused):
            live.engine.resume()
            event = await live.until(lambda one: isinstance(one, ThreadPaused | EngineExited))
        assert event.status == 3
