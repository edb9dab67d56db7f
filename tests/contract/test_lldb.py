"""Steps of LLDB that end at a breakpoint that does not stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_specs_where
from adapter_specs.adapter_spec import AdapterSpec, native_program
from debuggees import find_marker, find_source
from debugger.backends import abilities
from debugger.backends.base import ConditionError, LogpointPassed
from debugger.backends.lldb.lldb_steps import NAME
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ExitedProgram, ResumeKind, Stopped, StopReason
from driven_backend import DrivenBackend

_INSTRUCTIONS = 20  # more than a turn of the loop has
_FILE = str(find_source("stepping.c"))
_lldb_specs = with_specs_where(lambda adapter_spec: "lldb" in adapter_spec.name)


def marked_breakpoint(name: str, **changes: Any) -> BreakpointSpec:
    return BreakpointSpec(file=_FILE, line=find_marker("stepping.c", name), **changes)


async def _before(one: DrivenBackend, name: str, *specs: BreakpointSpec) -> Stopped:
    """Stop at a line, which then has no breakpoint any more; set others."""
    stop = await one.to_stop(native_program("stepping.c")(Path()), marked_breakpoint(name))
    await one.backend.set_breakpoints(_FILE, [])
    for spec in specs:
        (bound,) = await one.add(spec)
        assert bound.verified, bound
    return stop


async def _stepped(one: DrivenBackend, stop: Stopped, how: ResumeKind, *, to: str) -> Stopped:
    await one.go_on(stop, how)
    return await _is_at(one, to)


async def _is_at(one: DrivenBackend, name: str) -> Stopped:
    stop = await one.seen.next((Stopped, ExitedProgram))
    assert isinstance(stop, Stopped), "the step was lost"
    assert (stop.reason, stop.hits) == (StopReason.STEP, ())
    assert (await one.frame(stop)).line == find_marker("stepping.c", name)
    return stop


_PASSING = {
    "condition": {"condition": "total == 1000"},
    "condition that fails": {"condition": "nothing == 1"},
    "hit count": {"hit_count": 100},
    "log": {"log": "here"},
    "other thread": {"thread": 1},
}
_AFTER_LOG = ("log", "other thread")


@pytest.mark.parametrize("how", [ResumeKind.NEXT, ResumeKind.STEP])
@_lldb_specs
async def test_a_step_that_jumps_to_it_ends(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], how: ResumeKind
):
    async with drive_backend(adapter_spec) as one:
        program = native_program("stepping.c", "9")(Path())
        stop = await one.to_stop(program, marked_breakpoint("jumps"))
        for way, changes in _PASSING.items():
            (bound,) = await one.add(marked_breakpoint("again", **changes))
            assert bound.verified, bound
            stop = await _stepped(one, stop, how, to="again")
            logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
            assert logged == ["here"] * (way in _AFTER_LOG)
            failed = [event for event in one.seen if isinstance(event, ConditionError)]
            assert bool(failed) is (way != "condition")
            stop = await _stepped(one, stop, how, to="lowers")
            stop = await _stepped(one, stop, how, to="jumps")


@pytest.mark.parametrize("how", [ResumeKind.NEXT, ResumeKind.STEP, ResumeKind.FINISH])
@_lldb_specs
async def test_a_step_that_returns_to_it_ends(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], how: ResumeKind
):
    async with drive_backend(adapter_spec) as one:
        program = native_program("stepping.c", "9")(Path())
        stop = await one.to_stop(program, marked_breakpoint("adds"))
        for changes in _PASSING.values():
            (bound,) = await one.add(marked_breakpoint("back", **changes))
            assert bound.verified, bound
            if how is not ResumeKind.FINISH:
                await one.go_on(stop, how)
                stop = await one.seen.next(Stopped)
            await _stepped(one, stop, how, to="back")
            await one.add(marked_breakpoint("adds"))
            await one.go_on(stop)
            stop = await one.seen.next(Stopped)


@pytest.mark.parametrize("way", [{"condition": "total == 1000"}, {"log": "here"}])
@_lldb_specs
async def test_a_step_that_jumps_to_where_a_function_begins_ends(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], way: dict[str, Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _before(one, "jumps", BreakpointSpec(function="count_down", **way))
        await _stepped(one, stop, ResumeKind.NEXT, to="again")
        logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
        assert logged == list(way.get("log", "").split())


@pytest.mark.parametrize("how", [ResumeKind.NEXT, ResumeKind.STEP])
@_lldb_specs
async def test_a_step_by_an_instruction_that_jumps_to_an_address_ends(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], how: ResumeKind
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(native_program("stepping.c")(Path()), marked_breakpoint("again"))
        await one.backend.set_breakpoints(_FILE, [])
        again = (await one.frame(stop)).address
        (bound,) = await one.add(BreakpointSpec(address=again, condition="total == 1000"))
        assert bound.verified, bound
        for _ in range(_INSTRUCTIONS):
            steps = one.backend.find_ability(abilities.InstructionStepAbility)
            await steps.step_instruction(how, stop.thread or 0)
            stop = await one.seen.next((Stopped, ExitedProgram))
            assert isinstance(stop, Stopped), "the step was lost"
            assert (stop.reason, stop.hits) == (StopReason.STEP, ())
            if (await one.frame(stop)).address == again:
                return
        raise AssertionError("the loop did not come back to its first instruction")


@_lldb_specs
async def test_after_a_step_no_breakpoint_is_left_that_the_user_did_not_set(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _before(one, "jumps", marked_breakpoint("again", condition="n == 1"))
        stop = await _stepped(one, stop, ResumeKind.NEXT, to="again")
        assert "Options: disabled" in await one.backend.run_raw(f"breakpoint list {NAME}", None)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.BREAKPOINT
        assert await one.value(stop, "n") == "1"
