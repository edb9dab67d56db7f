"""Traced calls and returns match their declarations, and the program notices nothing."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import CallsTraced
from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    EngineBreakpoint,
    EngineExited,
    EngineLost,
    ThreadPaused,
    TracedFunction,
)
from debugger.backends.inprocess.tracing_ability import InProcessTracing
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary, unwind_stack
from live_engine import BOUND_S, PROGRAMS, build_program, run

FLAGS = [("-O0",), ("-O2",), ("-O2", "-no-pie"), ("-O2", "-fcf-protection=full")]
_DWARF = {"rax": 0, "rdx": 1, "rcx": 2, "rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7, "rip": 16}


@dataclass
class Traced:
    """A live program with tracing, and the passages that it has told."""

    live: Any
    modules: LoadedBinaries
    tracing: InProcessTracing
    told: list[CallsTraced] = field(default_factory=list)

    async def end(self):
        await self.live.engine.run_program()
        exited = await self.live.until(EngineExited)
        for event in self.live.events:
            if isinstance(event, CallsRecorded):
                self.tracing.report_calls(event)
        return exited

    @property
    def passages(self):
        return [passage for one in self.told for passage in one.passages]

    def texts(self, name):
        return [one.text for one in self.passages if one.function == name]


@pytest.fixture
def trace(start_engine):
    async def begin(program, *args):
        live = await start_engine(program, *args)
        image = BinaryImage(program.path)
        modules = LoadedBinaries([LoadedBinary(image, live.base, live.base + (1 << 24))])
        told: list[CallsTraced] = []
        inside = SimpleNamespace(engine=live.engine, modules=modules, report_event=told.append)
        return Traced(live, modules, InProcessTracing(inside), told)

    return begin


@pytest.mark.parametrize("flags", FLAGS, ids="".join)
async def test_arguments_and_results_are_told_by_their_declared_types(trace, flags):
    program = build_program("calls.cpp", *flags)
    status, out, _ = program.alone()
    one = await trace(program)
    (traced,) = await one.tracing.trace_functions(["audio::**"])
    assert (traced.functions, traced.left_out, traced.why) == (8, 0, None)
    exited = await one.end()
    assert (exited.status, one.live.output()) == (status, out)
    assert one.texts("audio::add")[:2] == ["audio::add(a=1, b=-2)", "audio::add → -1"]
    assert one.texts("audio::scale") == [
        "audio::scale(by=1.5, times=2, rest=0.25)",
        "audio::scale → 3.25",
    ]
    assert one.texts("audio::is_on") == [
        "audio::is_on(mode=Mode::on, color=GREEN, really=true)",
        "audio::is_on → true",
    ]
    greeted = one.texts("audio::greet")
    assert greeted[0] == 'audio::greet(name="Ada \\"L\\"", letter=120 \'x\', byte=200)'
    assert greeted[2] == "audio::greet(name=0x10, letter=121 'y', byte=7)"
    assert greeted[4].startswith('audio::greet(name="a text that is much longer than the roo"…')
    assert one.texts("audio::nothing") == ["audio::nothing()", "audio::nothing returned"]
    assert one.texts("audio::large") == ["audio::large(a=7, small={…}, s=-3)", "audio::large → {…}"]
    assert one.texts("audio::inner::deep") == ["audio::inner::deep(n=3)", "audio::inner::deep → -3"]


async def test_recursion_nests_and_each_return_has_its_time_and_its_place(trace):
    one = await trace(build_program("calls.cpp", "-O0"))
    await one.tracing.trace_functions(["audio::fold"])
    await one.end()
    passages = one.passages
    assert [it.text for it in passages[:2]] == ["audio::fold(n=20)", "audio::fold(n=19)"]
    assert [it.is_return for it in passages] == [False] * 20 + [True] * 20
    assert passages[-1].text == "audio::fold → 210"
    assert passages[-1].returned == "210"
    took = [it.duration_ns for it in passages[20:]]
    assert took == sorted(took)
    times = [it.time_ns for it in passages]
    assert times == sorted(times)
    assert passages[0].file is not None
    assert passages[0].file.endswith("calls.cpp")
    assert passages[0].trace == 1


@pytest.mark.parametrize("flags", FLAGS, ids="".join)
async def test_exceptions_and_longjmps_pass_through_traced_functions(trace, flags):
    program = build_program("calls.cpp", *flags)
    status, out, err = program.alone("3000")
    one = await trace(program, "3000")
    await one.tracing.trace_functions(["**"])
    exited = await one.end()
    assert (exited.status, exited.signal) == (status, None)
    assert (one.live.output(), one.live.output("err")) == (out, err)
    entered = Counter(it.function for it in one.passages if not it.is_return)
    left = Counter(it.function for it in one.passages if it.is_return)
    lost = sum(it.lost for it in one.told)
    assert lost == 0
    calls = 2 * 3000 + 3 * 200
    assert (entered["catches"], left["catches"]) == (calls, calls)
    assert (entered["lands"], left["lands"]) == (3000, 3000)
    assert (entered["leaps"], left["leaps"]) == (3000, 0)
    # Half of them throw.
    assert (entered["thrower"], left["thrower"]) == (calls, calls // 2)


async def test_a_call_at_the_end_is_told_as_such(trace):
    program = build_program("calls.cpp", "-O2")
    one = await trace(program)
    await one.tracing.trace_functions(["jumps", "jumped_to"])
    exited = await one.end()
    assert exited.status == 9
    assert [it.text for it in one.passages] == [
        "jumps(n=20)",
        "jumps ended in a call, whose return is its own",
        "jumped_to(n=40)",
        "jumped_to → 41",
    ]


async def test_the_stack_inside_traced_functions_is_what_it_would_be(trace):
    one = await trace(build_program("calls.cpp", "-O0"))
    live = one.live
    await one.tracing.trace_functions(["**"])
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="t", address=live.at("_Z7throweri") + 4)]
    )
    await live.engine.run_program()
    paused = await live.until(ThreadPaused)
    registers = {_DWARF[name]: it for name, it in paused.registers.items() if name in _DWARF}
    memory = await live.engine.read_memory(paused.registers["rsp"], 4096)

    def read(address, size):
        at = address - paused.registers["rsp"]
        return memory[at : at + size]

    names = [it.function for it in unwind_stack(registers, one.modules, read)]
    assert names[:4] == ["thrower", "between", "catches", "main"]
    live.engine.resume()
    await live.engine.remove_breakpoints(["t"])
    live.engine.resume()
    await live.until(EngineExited)


async def test_more_calls_under_way_than_there_is_room_for_are_told_without_returns(trace):
    program = build_program("deep.c", "-O0")
    status, out, _ = program.alone("3000")
    one = await trace(program, "3000")
    await one.tracing.trace_functions(["down"])
    exited = await one.end()
    assert (exited.status, one.live.output()) == (status, out)
    entered = sum(not it.is_return for it in one.passages)
    assert entered == 3000 * 3
    left = sum(it.is_return for it in one.passages)
    assert left == 512 * 3


async def test_a_pattern_that_means_nothing_says_why(trace):
    one = await trace(build_program("calls.cpp", "-O0"))
    (missing,) = await one.tracing.trace_functions(["audio::ad"])
    assert (missing.functions, missing.why) == (0, "no function has such a name")
    assert "audio::add" in missing.near_names
    (file,) = await one.tracing.trace_functions(["@file:cals.cpp"])
    assert file.why == "no function of a file cals.cpp has code"
    assert "calls.cpp" in file.near_names
    (star,) = await one.tracing.trace_functions(["audio::*"])
    assert "audio::inner::deep" not in star.names
    (there,) = await one.tracing.trace_functions(["@file:calls.cpp"])
    assert there.functions > star.functions
    assert await one.tracing.traced_patterns() == [star, there]


async def test_what_is_not_traced_any_more_is_told_no_more(trace):
    one = await trace(build_program("calls.cpp", "-O0"))
    first, _ = await one.tracing.trace_functions(["audio::add", "audio::*"])
    with pytest.raises(DebuggerError, match="no trace 7; there are: 1, 2") as none:
        await one.tracing.untrace_functions([7])
    assert none.value.code is ErrorCode.NOT_FOUND
    await one.tracing.untrace_functions([2])
    await one.end()
    assert {it.function for it in one.passages} == {"audio::add"}
    assert first.id == 1


async def test_a_program_without_debug_information_is_traced_by_symbol(trace, tmp_path):
    program = build_program("calls.cpp", "-O0")
    program.path = tmp_path / "calls"
    run("strip", "-g", "-o", str(program.path), str(build_program("calls.cpp", "-O0").path))
    one = await trace(program)
    (traced,) = await one.tracing.trace_functions(["audio::add"])
    assert traced.functions == 1
    assert (await one.end()).status == 9
    assert one.texts("audio::add")[:2] == [
        "audio::add(0x1, 0xfffffffe, …)",
        "audio::add → 0xffffffff",
    ]


async def test_hot_functions_are_sampled_and_said_so(trace):
    program = build_program("hammer.c", "-O0")
    status, out, _ = program.alone("300000")
    one = await trace(program, "300000")
    await one.tracing.trace_functions(["work", "main"])
    await one.live.engine.add_breakpoints(
        [EngineBreakpoint(id="end", address=one.live.at("main") + 4)]
    )
    await one.live.engine.run_program()
    await one.live.until(ThreadPaused)
    await one.live.engine.remove_breakpoints(["end"])
    await one.live.engine.add_breakpoints([EngineBreakpoint(id="x", address=_exit_of(one.live))])
    one.live.engine.resume()
    await one.live.until(ThreadPaused)
    hot, cold = (
        (await one.tracing.traced_patterns())[0].sampled,
        (await one.tracing.traced_patterns())[1].sampled,
    )
    assert (hot, cold) == (("work",), ())
    one.live.engine.resume()
    assert (await one.live.until(EngineExited)).status == status
    assert one.live.output() == out


def _exit_of(live):
    """The address of the only `ret` of main."""
    program = live.program
    told = run(
        "objdump", "-d", "--disassemble=main", "--no-show-raw-insn", str(program.path)
    ).stdout
    rets = [line for line in told.splitlines() if line.rstrip().endswith("ret")]
    return live.base + int(rets[0].split(":")[0], 16)


async def test_a_program_is_left_in_the_middle_of_traced_calls(start_engine):
    read, write = os.pipe()
    live = await start_engine(
        build_program("waits.c", "-O0"), stdin=f"/proc/{os.getpid()}/fd/{read}"
    )
    await live.engine.trace_functions(
        [TracedFunction(id=1, address=live.at("main"), has_room=True)]
    )
    await live.engine.add_breakpoints(
        [EngineBreakpoint(id="r", address=live.at("read_at"), temporary=True)]
    )
    await live.engine.run_program()
    await live.until(ThreadPaused)
    await live.engine.detach()
    await live.until(EngineLost)
    os.close(write)
    os.close(read)
    exited = await live.until(EngineExited)
    assert (exited.status, exited.signal) == (5, None)
    assert live.output().endswith("ends\n")


async def test_the_first_instructions_give_way_only_until_a_point_is_set_among_them(start_engine):
    program = build_program("hammer.c", "-O0", "-fcf-protection=none")
    rounds = "3000000"
    status, out, _ = program.alone(rounds)
    live = await start_engine(program, rounds)
    work = live.at("work")
    await live.engine.trace_functions([TracedFunction(id=1, address=work, has_room=True)], rate=10)
    await live.engine.run_program()
    await _until_code(live, work, lambda code: code[0] == 0xE9)
    # Between the two: `push rbp`, and `mov rbp, rsp` behind it.
    await live.engine.add_breakpoints([EngineBreakpoint(id="in", address=work + 1, pauses=False)])
    await _until_code(live, work, lambda code: code[0] == code[1] == 0xCC)
    await live.engine.untrace_functions([1])
    await live.engine.remove_breakpoints(["in"])
    await _until_code(live, work, lambda code: code == b"\x55\x48\x89\xe5")
    assert (await live.until(EngineExited)).status == status
    assert live.output() == out


async def _until_code(live, address, is_so):
    async with asyncio.timeout(BOUND_S):
        with Path(f"/proc/{live.engine.pid}/mem").open("rb", buffering=0) as memory:  # noqa: ASYNC230
            while not is_so(os.pread(memory.fileno(), 4, address)):
                await live.engine.list_threads()


async def test_a_library_that_is_loaded_later_is_traced_by_patterns_that_stand(
    start_engine, tmp_path: Path
):
    library = tmp_path / "libadded.so"
    run("gcc", "-g", "-shared", "-fPIC", "-o", str(library), str(PROGRAMS / "library.c"))
    live = await start_engine(build_program("loads.c", "-O0"), str(library), holds_modules=True)
    image = BinaryImage(live.program.path)
    main = LoadedBinary(image, live.base, live.base + (1 << 24))
    told: list[CallsTraced] = []
    inside = SimpleNamespace(
        engine=live.engine, modules=LoadedBinaries([main]), report_event=told.append
    )
    one = Traced(live, inside.modules, InProcessTracing(inside), told)
    (nothing, users) = await one.tracing.trace_functions(["added", "@usercode"])
    assert (nothing.functions, nothing.why) == (0, "no function has such a name")
    assert (users.functions, users.names) == (1, ("main",))
    assert [it.id for it in await one.tracing.traced_patterns()] == [users.id]
    await live.engine.run_program()
    held = await live.until(lambda it: isinstance(it, ThreadPaused) and it.reason == "module")
    (mapped,) = [it for it in await live.engine.list_modules() if it.path == str(library)]
    new = LoadedBinary(BinaryImage(library), mapped.base, mapped.base + mapped.size)
    await one.tracing.on_loaded([new])
    found = {it.id: it.names for it in await one.tracing.traced_patterns()}
    assert found == {nothing.id: ("added",), users.id: ("main", "added", "begins")}
    live.engine.resume([held.thread])
    exited = await one.end()
    assert exited.status == 0
    assert one.texts("added") == ["added(x=4)", "added → 15"]
