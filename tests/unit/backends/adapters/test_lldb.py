"""LLDB through its adapters: watchpoints, exceptions, values of real programs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, find_marker, find_source
from debugger.backends import abilities, select_backend
from debugger.backends.base import AttachTarget, BreakpointChanged, ConditionError
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec, WatchAccess
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Stopped,
    StopReason,
)
from driven_backend import DrivenBackend, drive_adapter, launch_target
from running_programs import dump_core

ADAPTERS = [
    pytest.param(name, marks=pytest.mark.adapter(name))
    for name in ("lldb-dap", "codelldb", "lldb-cli")
]
each_adapter = pytest.mark.parametrize("adapter", ADAPTERS)
WATCHED = str(find_source("watched.cpp"))
Drive = Callable[[str], Any]


@pytest.fixture
def drive(runtime_dir: Path) -> Drive:
    def make(adapter: str) -> Any:
        chosen = select_backend.ADAPTERS.get(adapter, select_backend.BY_COMMAND_LINE)
        found = select_backend.find_adapter(chosen, os.environ, {})
        return drive_adapter(chosen, found, runtime_dir / "scratch")

    return make


async def stop_at(one: DrivenBackend, place: str) -> Stopped:
    """Stop the program of watched memory at a marker, and leave no breakpoint there."""
    where = BreakpointSpec(file=WATCHED, line=find_marker("watched.cpp", place))
    stop = await one.to_stop(launch_target(build_debuggee("watched.cpp")), where)
    await one.backend.set_breakpoints(WATCHED, [])
    return stop


async def watch(one: DrivenBackend, stop: Stopped, expression: str, **more: Any) -> BoundBreakpoint:
    wanted = Breakpoint(id=50, spec=BreakpointSpec(watch=expression, **more))
    ability = one.backend.find_ability(abilities.WatchpointAbility)
    return await ability.set_watchpoint(wanted, await one.frame(stop))


async def values(one: DrivenBackend, stop: Stopped, bound: BoundBreakpoint) -> list[str]:
    """Run to the end; return what was watched at each stop."""
    seen = []
    await one.go_on(stop)
    while isinstance(happened := await one.seen.next(Stopped | ExitedProgram), Stopped):
        assert happened.reason is StopReason.WATCHPOINT
        assert happened.hits == (bound.backend_id,)
        seen.append(await one.value(happened, bound.again or ""))
        await one.go_on(happened)
    assert happened == ExitedProgram(code=0)
    return seen


@each_adapter
async def test_a_write_stops_when_it_changes_the_value_and_else_does_not(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "loop")
        assert await values(one, stop, await watch(one, stop, "total")) == ["1", "0", "1", "0", "1"]
    async with drive(adapter) as one:
        stop = await stop_at(one, "loop")
        assert await values(one, stop, await watch(one, stop, "quiet")) == []
        assert not [
            one for one in one.seen if isinstance(one, BreakpointChanged) and not one.bound.verified
        ]


@each_adapter
@pytest.mark.parametrize(
    ("condition", "seen"), [("total == 0", ["0", "0"]), ("total > 0", ["1", "1", "1"])]
)
async def test_a_condition_is_asked_at_each_change_also_back_to_an_earlier_value(
    adapter, drive: Drive, condition, seen
):
    async with drive(adapter) as one:
        stop = await stop_at(one, "loop")
        bound = await watch(one, stop, "total", condition=condition)
        assert await values(one, stop, bound) == seen


@each_adapter
async def test_a_condition_that_fails_is_told_and_does_not_stop(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "loop")
        bound = await watch(one, stop, "total", condition="no_such_name == 1")
        assert await values(one, stop, bound) == []
        failed = [event for event in one.seen if isinstance(event, ConditionError)]
        assert len(failed) == 6  # at each write: it cannot be told whether one changed anything
        assert failed[0].number == 50
        assert "no_such_name" in failed[0].message


@each_adapter
async def test_a_read_stops_and_a_write_does_not_where_reads_are_wanted(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "loop")
        bound = await watch(one, stop, "pair.second", access=WatchAccess.READ)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        frame = await one.frame(stop)
        assert (frame.function, frame.line) == ("sum", find_marker("watched.cpp", "read"))
        # Read once more, as an argument of printf; what wrote it in between did not stop.
        assert await values(one, stop, bound) == ["5"]


@each_adapter
async def test_a_reference_and_an_address_are_watched_where_they_lead(adapter, drive: Drive):
    for expression in ("same", "*(&total + 0)"):
        async with drive(adapter) as one:
            stop = await stop_at(one, "work")
            bound = await watch(one, stop, expression)
            address = await one.value(stop, "&total")
            assert int(re.findall("0x[0-9a-f]+", address)[0], 16) == int(bound.address or "", 16)
            assert await values(one, stop, bound) == ["1", "0", "1", "0", "1"]


@each_adapter
async def test_a_local_is_let_go_of_when_its_frame_is_left_and_that_is_told(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "work")
        bound = await watch(one, stop, "local")
        other = await watch(one, stop, "large.last")
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.hits == (bound.backend_id,)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.hits == (other.backend_id,)
        left = [event.bound for event in one.seen if isinstance(event, BreakpointChanged)]
        (told,) = [each for each in left if each.backend_id == bound.backend_id]
        assert not told.verified
        assert "frame has been left" in (told.why or "")


REFUSED = {
    "large": "32 bytes",
    "bits.high": "bit-field",
    "local + 1": "rvalue",
    "no_such_name": "no_such_name",
    '"text"': "not in memory",
    "*(int *)8": "no memory is mapped",
}


@each_adapter
async def test_what_cannot_be_watched_is_refused_and_takes_no_slot(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "work")
        for expression, problem in REFUSED.items():
            with pytest.raises(DebuggerError, match=problem) as raised:
                await watch(one, stop, expression)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
        for name in ("local", "total", "quiet", "large.last"):
            assert (await watch(one, stop, name)).verified
        with pytest.raises(DebuggerError, match="cannot be watched"):
            await watch(one, stop, "turn")


THROWN = [
    ExceptionDetails("Most", "virtual what"),
    ExceptionDetails("Second", "second base"),
    ExceptionDetails("(anonymous namespace)::Hidden", "hidden"),
    ExceptionDetails("Holds<int>", "holds"),
    ExceptionDetails("Plain", "{code:7}"),
    ExceptionDetails("int", "42"),
    ExceptionDetails("char const*", '"text"'),
    ExceptionDetails("std::string", '"a string"'),
    ExceptionDetails(
        "std::out_of_range",
        "vector::_M_range_check: __n (which is 5) >= this->size() (which is 2)",
    ),
    ExceptionDetails("std::out_of_range", "again"),
    ExceptionDetails("std::out_of_range", "again"),
]


async def all_thrown(one: DrivenBackend, word: str) -> list[ExceptionDetails | None]:
    stop = await one.to_stop(
        launch_target(build_debuggee("thrown.cpp")), BreakpointSpec(catch=word)
    )
    told = []
    while isinstance(stop, Stopped):
        assert stop.reason is StopReason.EXCEPTION
        told.append(await one.backend.read_exception(stop))
        await one.go_on(stop)
        stop = await one.seen.next(Stopped | ExitedProgram)
    assert stop == ExitedProgram(code=0)
    return told


@each_adapter
async def test_what_is_thrown_is_told_by_its_type_and_what_it_says(adapter, drive: Drive):
    async with drive(adapter) as one:
        assert await all_thrown(one, "throw") == THROWN
    async with drive(adapter) as one:
        assert await all_thrown(one, "catch") == THROWN


@each_adapter
async def test_an_exception_that_nobody_catches_is_the_cause_of_the_abort(adapter, drive: Drive):
    async with drive(adapter) as one:
        await one.backend.start(launch_target(build_debuggee("thrown.cpp"), "uncaught"))
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        assert (stop.reason, stop.signal) == (StopReason.SIGNAL, "SIGABRT")
        told = await one.backend.read_exception(stop)
        assert told is not None
        assert (told.type, told.causes) == (
            "SIGABRT",
            ("std::runtime_error: nobody catches this",),
        )


@pytest.mark.adapter("rustc")
@each_adapter
async def test_a_rust_panic_says_its_message(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await one.to_stop(
            launch_target(build_debuggee("panic.rs")), BreakpointSpec(catch="panic")
        )
        assert stop.reason is StopReason.EXCEPTION
        told = await one.backend.read_exception(stop)
        message = "index out of bounds: the len is 5 but the index is 7"
        assert told == ExceptionDetails("panic", message)


@each_adapter
async def test_memory_is_read_up_to_the_end_of_what_is_mapped(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "work")
        ability = one.backend.find_ability(abilities.MemoryAbility)
        frame = await one.frame(stop)
        raw = await one.backend.run_raw("memory region $sp", frame)
        end = int(raw.partition("-")[2].partition(")")[0], 16)
        for count in (16, 1000, 20_000):
            assert len(await ability.read_memory(end - count, count + 500)) == count
        with pytest.raises(DebuggerError):
            await ability.read_memory(end, 1)


@each_adapter
async def test_a_command_and_its_registers_are_about_the_frame_that_is_meant(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "work")
        inner, outer, *_ = await one.frames(stop)
        for frame in (outer, inner, outer):
            assert frame.function in await one.backend.run_raw("frame info", frame)
        assert await one.backend.argument_names(inner) == ["turn"]
        assert await one.backend.argument_names(outer) == []


@each_adapter
async def test_a_failed_condition_at_an_address_is_told_and_does_not_stop(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "work")
        address = (await one.frame(stop)).address
        ability = one.backend.find_ability(abilities.InstructionBreakpointAbility)
        wanted = [
            Breakpoint(id=9, spec=BreakpointSpec(address=address, condition="no_such_name == 1")),
            Breakpoint(id=8, spec=BreakpointSpec(address="0x8")),
        ]
        good, bad = await ability.set_instruction_breakpoints(wanted)
        assert (good.verified, bad.verified) == (True, False)
        assert "0x8" in (bad.why or "")
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
        failed = [event for event in one.seen if isinstance(event, ConditionError)]
        assert [event.number for event in failed] == [9] * 5


@each_adapter
async def test_an_address_with_a_hit_count_stops_from_that_hit_on(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "work")
        address = (await one.frame(stop)).address
        ability = one.backend.find_ability(abilities.InstructionBreakpointAbility)
        wanted = Breakpoint(id=9, spec=BreakpointSpec(address=address, hit_count=3))
        (bound,) = await ability.set_instruction_breakpoints([wanted])
        for turn in ("3", "4"):
            await one.go_on(stop)
            stop = await one.seen.next(Stopped)
            assert (stop.hits, await one.value(stop, "turn")) == ((bound.backend_id,), turn)


@each_adapter
async def test_a_struct_is_told_as_a_whole_however_often_it_is_asked(adapter, drive: Drive):
    async with drive(adapter) as one:
        stop = await stop_at(one, "loop")
        frame = await one.frame(stop)
        for _ in range(5):
            value = await one.backend.evaluate("pair", frame, EvaluationPurpose.PRINT)
            (told,) = await one.backend.complete_values([value])
            assert told.value == "{first:1, second:2}"


@each_adapter
async def test_what_a_register_holds_is_not_watched_in_its_place(adapter, drive: Drive):
    where = BreakpointSpec(
        file=str(find_source("registers.c")), line=find_marker("registers.c", "held")
    )
    async with drive(adapter) as one:
        stop = await one.to_stop(launch_target(build_debuggee("registers.c")), where)
        frame = await one.frame(stop)
        place = await one.backend.run_raw("frame variable --location held", frame)
        assert not place.startswith("0x")
        for expression in ("held", "(held)", "*&held"):
            with pytest.raises(DebuggerError, match="not in memory"):
                await watch(one, stop, expression)
        assert (await watch(one, stop, "kept")).verified


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the core files are ELF")
@each_adapter
async def test_a_core_files_signal_is_told_with_its_address_as_of_a_live_crash(
    adapter, drive: Drive, tmp_path: Path
):
    program = build_debuggee("crash.c")
    async with drive(adapter) as one:
        await one.backend.start(launch_target(program))
        await one.backend.run_program()
        live = await one.seen.next(Stopped)
        told = await one.backend.read_exception(live)
        assert told is not None
        assert "0x0" in told.message
    core = AttachTarget(
        None,
        cwd="/",
        env=dict(os.environ),
        program=str(program),
        core=str(dump_core(program, tmp_path)),
    )
    async with drive(adapter) as one:
        await one.backend.attach(core)
        await one.backend.run_program()
        stop = await one.seen.next(Stopped)
        assert (stop.reason, stop.signal) == (live.reason, live.signal)
        assert await one.backend.read_exception(stop) == told
        assert (await one.frame(stop)).function == "list_pop"
