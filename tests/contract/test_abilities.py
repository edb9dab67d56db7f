"""Abilities: what a debugger advertises works, and the rest is refused in words."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_every_spec, with_specs_where
from adapter_specs.adapter_spec import AdapterSpec, ThrowingProgram
from debugger.backends import abilities, select_backend
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, ResumeKind, Stopped, StopReason
from driven_backend import DrivenBackend

Drive = Callable[[AdapterSpec], Any]
ALL = tuple(
    kind
    for kind in vars(abilities).values()
    if isinstance(kind, type) and kind.__module__ == abilities.__name__
)
_NO_ADDRESS = 8


def with_specs_able_to(kind: type[Any]) -> pytest.MarkDecorator:
    """Run a test with each specification that has an ability."""
    return with_specs_where(lambda adapter_spec: kind in adapter_spec.abilities)


async def _in_the_loop(one: DrivenBackend, adapter_spec: AdapterSpec) -> Stopped:
    """Stop inside the loop's inner function, with no breakpoint left."""
    stop = await one.to_stop(
        adapter_spec.loop(), BreakpointSpec(file=adapter_spec.file, line=adapter_spec.stop_line)
    )
    await one.backend.set_breakpoints(adapter_spec.file, [])
    return stop


async def _address(one: DrivenBackend, stop: Stopped) -> int:
    return int((await one.frame(stop)).address or "", 16)


def _stops(one: DrivenBackend) -> int:
    return len([event for event in one.seen if isinstance(event, Stopped)])


def test_the_abilities_are_found():
    assert {
        abilities.MemoryAbility,
        abilities.WatchpointAbility,
        abilities.RawCommandAbility,
    } < set(ALL)


@with_specs_able_to(abilities.MemoryAbility)
async def test_memory_is_read_and_written(
    adapter_spec: AdapterSpec, drive_backend: Drive, tmp_path: Path
):
    wanted = adapter_spec.memory
    assert wanted is not None
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(wanted.program(tmp_path), wanted.at)
        memory = one.backend.find_ability(abilities.MemoryAbility)
        told = re.search("0x[0-9a-f]+", await one.value(stop, wanted.address))
        assert told is not None
        address = int(told[0], 16)
        assert await memory.read_memory(address, len(wanted.holds)) == wanted.holds
        await memory.write_memory(address, b"\x2a\x00")
        assert await memory.read_memory(address + 1, 2) == b"\x00" + wanted.holds[2:3]
        assert await one.value(stop, wanted.first) == wanted.last
        for call in (memory.read_memory(_NO_ADDRESS, 4), memory.write_memory(_NO_ADDRESS, b"\x2a")):
            with pytest.raises(DebuggerError) as raised:
                await call
            assert raised.value.code is ErrorCode.EVALUATION_FAILED


def _has_what_it_declares(backend: Any, adapter_spec: AdapterSpec) -> None:
    """Check that a backend has the abilities that it declares, and refuses the others."""
    for kind in ALL:
        if kind in adapter_spec.abilities:
            assert backend.find_ability(kind) is backend.find_ability(kind), kind
            continue
        with pytest.raises(DebuggerError, match=f"{adapter_spec.name} cannot") as raised:
            backend.find_ability(kind)
        assert raised.value.code is ErrorCode.NOT_SUPPORTED
        assert raised.value.hint
        assert (
            adapter_spec.debug_adapter.ability_alternatives.get(
                kind, select_backend.adapters_with(kind)
            )
            in raised.value.hint
        )
    assert (
        adapter_spec.abilities
        == adapter_spec.debug_adapter.request_abilities
        | adapter_spec.debug_adapter.own_abilities.keys()
    )
    assert (
        not adapter_spec.debug_adapter.request_abilities
        & adapter_spec.debug_adapter.broken_abilities
    )


async def _registers_have_the_address(
    one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped
) -> None:
    ability = one.backend.find_ability(abilities.RegisterAbility)
    for frame in (await one.frames(stop))[:2]:
        groups = await ability.read_registers(frame)
        assert all(group.name and group.registers for group in groups)
        values = {each.name.lower(): each.value for one in groups for each in one.registers}
        counter = values.get("rip") or values.get("pc") or ""
        assert int(counter, 16) == int(frame.address or "", 16)


async def _machine_code_begins_at_the_address(
    one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped
) -> None:
    address = await _address(one, stop)
    ability = one.backend.find_ability(abilities.DisassemblyAbility)
    shown = await ability.read_instructions(address, 5)
    assert [each.address for each in shown] == sorted({each.address for each in shown})
    assert (len(shown), shown[0].address) == (5, address)
    assert (shown[0].file, shown[0].line) == (adapter_spec.file, adapter_spec.stop_line)
    assert all(each.text for each in shown)
    with pytest.raises(DebuggerError) as raised:
        await ability.read_instructions(_NO_ADDRESS, 5)
    assert raised.value.code is ErrorCode.EVALUATION_FAILED


async def _program_is_the_first_module(
    one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped
) -> None:
    # debugpy 1.8.22 lists the modules of the frames that it has shown.
    await one.frames(stop)
    modules = await one.backend.find_ability(abilities.ModuleAbility).list_modules()
    assert modules[0].path == adapter_spec.loop().program
    assert all(module.name for module in modules)


async def _program_is_among_its_sources(
    one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped
) -> None:
    ability = one.backend.find_ability(abilities.LoadedSourceAbility)
    assert adapter_spec.loop().program in await ability.list_loaded_sources()


async def _only_one_command_of_its_own_is_run(
    one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped
) -> None:
    wanted = adapter_spec.raw
    assert wanted is not None
    frame = await one.frame(stop)
    ability = one.backend.find_ability(abilities.RawCommandAbility)
    assert wanted.says in await ability.run_raw(wanted.command, frame)
    for command in (f"{wanted.command}\n{wanted.command}", f"{wanted.command}\r"):
        with pytest.raises(DebuggerError) as raised:
            await ability.run_raw(command, frame)
        assert raised.value.code is ErrorCode.USAGE


# What is read at one stop, and changes nothing.
READ: dict[type[Any], Callable[[DrivenBackend, AdapterSpec, Stopped], Awaitable[None]]] = {
    abilities.RegisterAbility: _registers_have_the_address,
    abilities.DisassemblyAbility: _machine_code_begins_at_the_address,
    abilities.ModuleAbility: _program_is_the_first_module,
    abilities.LoadedSourceAbility: _program_is_among_its_sources,
    abilities.RawCommandAbility: _only_one_command_of_its_own_is_run,
}


@with_every_spec
async def test_a_debugger_reads_what_it_declares_and_refuses_the_rest(
    adapter_spec: AdapterSpec, drive_backend: Drive
):
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec)
        _has_what_it_declares(one.backend, adapter_spec)
        for kind in READ.keys() & adapter_spec.abilities:
            await READ[kind](one, adapter_spec, stop)


@with_specs_able_to(abilities.InstructionBreakpointAbility)
async def test_an_address_is_stopped_at(adapter_spec: AdapterSpec, drive_backend: Drive):
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec)
        address = await _address(one, stop)
        (bound,) = await one.add(BreakpointSpec(address=hex(address)))
        assert bound.verified
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert (stop.reason, await _address(one, stop)) == (StopReason.BREAKPOINT, address)
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first + 1)
        ability = one.backend.find_ability(abilities.InstructionBreakpointAbility)
        assert await ability.set_instruction_breakpoints([]) == []
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == adapter_spec.ends
        assert _stops(one) == 2


@with_specs_able_to(abilities.InstructionStepAbility)
async def test_one_instruction_is_stepped(adapter_spec: AdapterSpec, drive_backend: Drive):
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec)
        ability = one.backend.find_ability(abilities.InstructionStepAbility)
        for how in (ResumeKind.STEP, ResumeKind.NEXT):
            address = await _address(one, stop)
            assert stop.thread is not None
            await ability.step_instruction(how, stop.thread)
            stop = await one.seen.next(Stopped)
            assert stop.reason is StopReason.STEP
            assert 0 < await _address(one, stop) - address < 16
            frame = await one.frame(stop)
            assert (frame.function, frame.line) == (adapter_spec.inner, adapter_spec.stop_line)


@with_specs_able_to(abilities.JumpAbility)
async def test_a_line_is_jumped_over_and_not_run(adapter_spec: AdapterSpec, drive_backend: Drive):
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec)
        assert stop.thread is not None
        ability = one.backend.find_ability(abilities.JumpAbility)
        for line in (10_000, adapter_spec.call_line):
            with pytest.raises(DebuggerError) as raised:
                await ability.jump_to(adapter_spec.file, line, stop.thread)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
        await ability.jump_to(adapter_spec.file, adapter_spec.jump_line, stop.thread)
        if ability.is_stop_reported:
            stop = await one.seen.next(Stopped)
            assert stop.reason is StopReason.GOTO
        frame = await one.frame(stop)
        assert (frame.function, frame.line) == (adapter_spec.inner, adapter_spec.jump_line)
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == adapter_spec.ends
        printed = one.seen.printed(OutputStream.STDOUT)
        assert adapter_spec.prints not in printed
        assert (
            adapter_spec.prints.replace(str(adapter_spec.first), str(adapter_spec.first + 1))
            in printed
        )


@with_specs_able_to(abilities.StepTargetAbility)
async def test_one_of_several_calls_in_a_line_is_stepped_into(
    adapter_spec: AdapterSpec, drive_backend: Drive, tmp_path: Path
):
    wanted = adapter_spec.calls
    assert wanted is not None
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(wanted.program(tmp_path), wanted.at)
        assert stop.thread is not None
        ability = one.backend.find_ability(abilities.StepTargetAbility)
        targets = await ability.list_step_targets(await one.frame(stop))
        assert len(targets) >= 2
        (target,) = [target for target in targets if wanted.label in target.label]
        await ability.step_into_target(target, stop.thread)
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.STEP
        assert (await one.frame(stop)).function == wanted.function


@with_specs_where(
    lambda adapter_spec: (
        adapter_spec.spins and abilities.SingleThreadAbility in adapter_spec.abilities
    )
)
async def test_a_thread_steps_alone_while_the_others_stay(
    adapter_spec: AdapterSpec, drive_backend: Drive, tmp_path: Path
):
    wanted = adapter_spec.spins
    assert wanted is not None
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(wanted.program(tmp_path), wanted.at)
        assert stop.thread is not None
        line = (await one.frame(stop)).line or 0
        before = await one.value(stop, wanted.turns)
        ability = one.backend.find_ability(abilities.SingleThreadAbility)
        await ability.resume_single_thread(ResumeKind.NEXT, stop.thread)
        now = await one.seen.next(Stopped)
        assert (now.reason, now.thread) == (StopReason.STEP, stop.thread)
        assert (await one.frame(now)).line == line + 1
        assert await one.value(now, wanted.turns) == before
        await one.go_on(now, ResumeKind.NEXT)
        now = await one.seen.next(Stopped)
        assert (await one.frame(now)).line == line + 2
        assert await one.value(now, wanted.turns) != before


@with_specs_able_to(abilities.WatchpointAbility)
async def test_what_is_watched_stops_the_program_when_it_is_written(
    adapter_spec: AdapterSpec, drive_backend: Drive, tmp_path: Path
):
    assert adapter_spec.watched
    for wanted in adapter_spec.watched:
        async with drive_backend(adapter_spec) as one:
            stop = await one.to_stop(wanted.program(tmp_path), wanted.at)
            ability = one.backend.find_ability(abilities.WatchpointAbility)
            frame = await one.frame(stop)
            with pytest.raises(DebuggerError) as raised:
                await one.watch("no_such_name", frame)
            assert raised.value.code is ErrorCode.EVALUATION_FAILED
            bound = await one.watch(wanted.expression, frame)
            assert bound.verified
            assert bound.again
            for value in wanted.values:
                await one.go_on(stop)
                stop = await one.seen.next(Stopped)
                assert stop.reason is StopReason.WATCHPOINT
                assert bound.backend_id is None or bound.backend_id in stop.hits
                assert await one.value(stop, bound.again) == value
            await ability.remove_watchpoint(bound)
            await one.go_on(stop)
            assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
            assert _stops(one) == 1 + len(wanted.values)


def _throws(adapter_spec: AdapterSpec) -> ThrowingProgram:
    assert adapter_spec.throws is not None
    return adapter_spec.throws


@with_specs_able_to(abilities.ExceptionAbility)
@pytest.mark.parametrize("is_typed", [False, True], ids=["any type", "its type"])
async def test_an_exception_that_is_caught_stops_the_program_and_says_what_was_thrown(
    adapter_spec: AdapterSpec, drive_backend: Drive, tmp_path: Path, is_typed: bool
):
    wanted = _throws(adapter_spec)
    async with drive_backend(adapter_spec) as one:
        spec = BreakpointSpec(catch=wanted.word, type=wanted.type if is_typed else None)
        stop = await one.to_stop(wanted.program(tmp_path), spec)
        assert stop.reason is StopReason.EXCEPTION
        details = await one.backend.read_exception(stop)
        assert details is not None
        assert (details.type, details.message) == (wanted.type, wanted.message)
        ability = one.backend.find_ability(abilities.ExceptionAbility)
        assert wanted.word in ability.catch_filters
        assert await ability.set_catches([]) == []
        await one.go_on(stop)
        await one.seen.next(ExitedProgram)
        assert _stops(one) == 1


@with_specs_able_to(abilities.ExceptionAbility)
@pytest.mark.parametrize("is_caught", [False, True], ids=["nothing", "another type"])
async def test_an_exception_that_nobody_asked_for_stops_nothing(
    adapter_spec: AdapterSpec, drive_backend: Drive, tmp_path: Path, is_caught: bool
):
    wanted = _throws(adapter_spec)
    async with drive_backend(adapter_spec) as one:
        await one.backend.start(wanted.program(tmp_path))
        if is_caught:
            (bound,) = await one.add(BreakpointSpec(catch=wanted.word, type=wanted.other))
            assert bound.verified or bound.backend_id is not None  # gdb 16 binds it later
        await one.backend.run_program()
        await one.seen.next(ExitedProgram)
        assert _stops(one) == 0


@with_specs_able_to(abilities.ReturnValueAbility)
async def test_what_a_function_returned_is_told_or_is_among_the_locals(
    adapter_spec: AdapterSpec, drive_backend: Drive
):
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec)
        await one.go_on(stop, ResumeKind.FINISH)
        stop = await one.seen.next(Stopped)
        frame = await one.frame(stop)
        value = await one.backend.find_ability(abilities.ReturnValueAbility).returned_value(
            stop, frame
        )
        assert (value.value if value is not None else None) == adapter_spec.returns
        if adapter_spec.returned_as is not None:
            assert (await one.locals(frame))[adapter_spec.returned_as].value == str(
                adapter_spec.first
            )
