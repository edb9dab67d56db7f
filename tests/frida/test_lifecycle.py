"""A program ends, crashes, forks and loads libraries as it would without the engine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from debugger.backends.inprocess.engine.agent_messages import unpack_call_records
from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    EngineBreakpoint,
    EngineChildAppeared,
    EngineExited,
    EngineLost,
    ModuleLoaded,
    RecordLogged,
    ThreadPaused,
    TracedFunction,
)
from debugger.errors import DebuggerError, ErrorCode
from live_engine import BOUND_S, PROGRAMS, build_program, run


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("segv", signal.SIGSEGV),
        ("thread", signal.SIGSEGV),
        ("handled", signal.SIGSEGV),
        ("abort", signal.SIGABRT),
        ("divide", signal.SIGFPE),
        ("ill", signal.SIGILL),
    ],
)
async def test_a_crash_is_shown_and_ends_the_program_as_it_would_have(start_engine, how, number):
    program = build_program("crashes.c", "-O0")
    status, out, _ = program.alone(how)
    assert status == -number
    live = await start_engine(program, how)
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    assert (paused.reason, paused.signal) == ("crash", number)
    if how in {"segv", "handled"}:
        assert (paused.fault, paused.registers["rdi"]) == (8, 8)
        assert live.at("reads") <= paused.registers["rip"] < live.at("reads") + 32
        live.engine.resume()
    while not any(isinstance(one, EngineExited) for one in live.events):
        live.engine.resume()
        event = await live.until(lambda one: isinstance(one, ThreadPaused | EngineExited))
        if isinstance(event, EngineExited):
            break
        live.engine.resume()
    assert (event.status, event.signal) == (None, number)
    assert live.output() == out


async def test_a_killed_program_is_told_with_its_signal(start_engine):
    live = await start_engine(build_program("waits.c", "-O0"), stdin=None)
    await live.engine.add_breakpoints([EngineBreakpoint(id="r", address=live.at("read_at"))])
    await live.engine.run_program()
    await live.until(ThreadPaused)
    os.kill(live.engine.pid, signal.SIGTERM)
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (None, signal.SIGTERM)
    with pytest.raises(DebuggerError) as gone:
        await live.engine.list_threads()
    assert gone.value.code is ErrorCode.PROGRAM_EXITED


async def test_forked_children_run_through_breakpoints(start_engine):
    program = build_program("forks.c", "-O0")
    status, out, _ = program.alone()
    live = await start_engine(program)
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="s", address=live.at("step"), log="(c) => 1", pauses=False)]
    )
    await live.engine.run_program()
    assert (await live.until(EngineExited)).status == status
    assert live.output() == out
    assert (await live.engine.hit_counts())["s"].hits == 5


async def test_children_that_are_followed_are_told_and_released(start_engine):
    program = build_program("forks.c", "-O0")
    status, out, _ = program.alone()
    live = await start_engine(program, follows_children=True)
    await live.engine.run_program()
    appeared = set()
    while True:
        event = await live.until(lambda one: isinstance(one, EngineChildAppeared | EngineExited))
        if isinstance(event, EngineExited):
            break
        appeared.add(event.pid)
        live.engine.send_child_word(event.pid, at=event.at)
    assert event.status == status
    assert live.output() == out
    assert len(appeared) >= 5


async def test_a_library_can_be_armed_before_its_first_instruction(start_engine, tmp_path: Path):
    library = tmp_path / "library.so"
    run("gcc", "-g", "-shared", "-fPIC", "-o", str(library), str(PROGRAMS / "library.c"))
    live = await start_engine(build_program("loads.c", "-O0"), str(library), holds_modules=True)
    await live.engine.run_program()
    hits = {}
    while True:
        event = await live.until(
            lambda one: isinstance(one, ModuleLoaded | ThreadPaused | EngineExited)
        )
        match event:
            case EngineExited():
                break
            case ModuleLoaded(module=module) if module.path == str(library):
                symbols = run("nm", str(library)).stdout.splitlines()
                where = {
                    line.split()[2]: int(line.split()[0], 16) for line in symbols if line[0] != " "
                }
                await live.engine.add_breakpoints(
                    EngineBreakpoint(id=name, address=module.base + where[name])
                    for name in ("begins", "added")
                )
            case ThreadPaused(reason=reason):
                if reason == "breakpoint":
                    hits[event.points[0]] = hits.get(event.points[0], 0) + 1
                live.engine.resume()
    assert event.status == 0
    assert live.output() == "15\n"
    assert hits == {"begins": 1, "added": 1}


async def test_nothing_of_ours_is_left(start_engine, tmp_path: Path):
    live = await start_engine(build_program("waits.c", "-O0"), stdin=None)
    await live.engine.add_breakpoints([EngineBreakpoint(id="r", address=live.at("read_at"))])
    await live.engine.run_program()
    await live.until(ThreadPaused)
    await live.engine.end_program()
    await live.until(EngineLost)
    assert not (tmp_path / "scratch1").exists()
    assert not Path(f"/proc/{live.engine.pid}").exists()
    assert not Path(f"/proc/{live.engine.host_pid}").exists()


async def test_a_static_program_is_refused_in_words(start_engine, tmp_path: Path):
    source = tmp_path / "static.c"
    source.write_text("#include <unistd.h>\nint main(void) { char c; return read(0, &c, 1); }\n")
    path = tmp_path / "static"
    run("gcc", "-static", "-o", str(path), str(source))
    program = build_program("waits.c", "-O0")
    program.path = path
    with pytest.raises(DebuggerError, match="linked statically") as refused:
        await start_engine(program)
    assert refused.value.hint is not None
    process = subprocess.Popen([str(path)], stdin=subprocess.PIPE)  # noqa: ASYNC220
    try:
        with pytest.raises(DebuggerError, match="linked statically"):
            await start_engine.attach(program, process.pid)
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


async def test_a_program_that_blocks_the_trap_is_refused_and_lives(start_engine, tmp_path: Path):
    program = build_program("waits.c", "-O0")
    blocks = (
        "import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [5]);"
        " print(1, flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
        ["python3", "-c", blocks], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(DebuggerError, match="SIGTRAP blocked"):
            await start_engine.attach(program, process.pid)
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("how", "status", "steps"), [("return", 3, 101), ("exit", 3, 101), ("quick", 3, 100)]
)
async def test_all_is_told_until_the_very_end(start_engine, how, status, steps):
    live = await start_engine(build_program("ending.c", "-O0"), how)
    step = EngineBreakpoint(id="s", address=live.at("step") + 4, pauses=False, log="() => 1")
    await live.engine.add_breakpoints(
        [step, EngineBreakpoint(id="l", address=live.at("last_step"))]
    )
    await live.engine.trace_functions([TracedFunction(id=1, address=live.at("step"))])
    await live.engine.run_program()
    if steps > 100:
        # What runs while the program exits is seen, too.
        assert (await live.until(ThreadPaused)).points == ("l",)
        live.engine.resume()
    assert (await live.until(EngineExited)).status == status
    assert (await live.engine.hit_counts())["s"].hits == steps
    assert live.engine.has_last_words
    assert sum(isinstance(one, RecordLogged) for one in live.events) == steps
    told = [
        one for batch in live.events if isinstance(batch, CallsRecorded) for one in batch_of(batch)
    ]
    assert len(told) == 2 * steps


def batch_of(batch):
    return list(unpack_call_records(batch.data))


async def test_what_a_killed_program_had_counted_before_is_told(start_engine):
    live = await start_engine(build_program("hammer.c", "-O0"), "1000000000")
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="w", address=live.at("work"), pauses=False)]
    )
    await live.engine.run_program()
    # Asked for until some were told by the program itself.
    async with asyncio.timeout(BOUND_S):
        while not live.engine.last_counts.get("w"):
            await live.engine.list_threads()
    os.kill(live.engine.pid, signal.SIGKILL)
    assert (await live.until(EngineExited)).signal == signal.SIGKILL
    assert (await live.engine.hit_counts())["w"].hits > 0
    assert not live.engine.has_last_words


@pytest.mark.parametrize("name", ["falls.c", "narrow.c"])
async def test_a_stack_that_overflows_is_shown_where_another_is_there(start_engine, name):
    live = await start_engine(build_program(name, "-O0"))
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="f", address=live.at("fall"), pauses=False)]
    )
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    assert (paused.reason, paused.signal) == ("crash", signal.SIGSEGV)
    assert live.at("fall") <= paused.registers["rip"] < live.at("fall") + 64
    live.engine.resume()
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (None, signal.SIGSEGV)


async def test_a_stack_of_a_thread_that_overflows_ends_the_program_as_it_would_have(start_engine):
    live = await start_engine(build_program("falls.c", "-O0"), "thread")
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="f", address=live.at("fall"), pauses=False)]
    )
    await live.engine.run_program()
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (None, signal.SIGSEGV)
    # No signal can be handled where no stack is left, so nothing could pause.
    assert not any(isinstance(one, ThreadPaused) for one in live.events)
