"""The arguments of a function of one line are in place where the program stops in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from adapter_specs import with_specs_where
from adapter_specs.adapter_spec import AdapterSpec, native_program
from debuggees import find_marker, find_source
from debugger.backends.base import LogpointPassed
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ExitedProgram, ResumeKind, Stopped, StopReason
from driven_backend import DrivenBackend

_FILE = str(find_source("oneline.c"))
_PROGRAM = native_program("oneline.c")
_native_specs = with_specs_where(
    lambda adapter_spec: adapter_spec.name in {"lldb-dap", "codelldb", "lldb-cli", "gdb", "frida"}
)


def _line(name: str, **changes: Any) -> BreakpointSpec:
    return BreakpointSpec(file=_FILE, line=find_marker("oneline.c", name), **changes)


async def _next(
    one: DrivenBackend, stop: Stopped, how: ResumeKind = ResumeKind.CONTINUE
) -> Stopped:
    await one.go_on(stop, how)
    stop = await one.seen.next((Stopped, ExitedProgram))
    assert isinstance(stop, Stopped), "the program ran to its end"
    return stop


@pytest.mark.parametrize("spec", [BreakpointSpec(function="helper"), _line("helper")])
@_native_specs
async def test_a_breakpoint_and_its_condition_have_the_arguments(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], spec: BreakpointSpec
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(_PROGRAM(Path()), spec)
        assert await one.value(stop, "k") == "1"
        stop = await _next(one, stop)
        assert stop.reason in {StopReason.BREAKPOINT, StopReason.FUNCTION_BREAKPOINT}
        assert await one.value(stop, "k") == "2"
        await one.add(replace(spec, condition="k == 4"))
        stop = await _next(one, stop)
        assert await one.value(stop, "k") == "4"
        assert len(stop.hits) == 1


@pytest.mark.parametrize("spec", [BreakpointSpec(function="twice"), _line("twice")])
@_native_specs
async def test_a_log_writes_the_arguments(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], spec: BreakpointSpec
):
    other = BreakpointSpec(function="main") if spec.function is None else _line("calls")
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(_PROGRAM(Path()), replace(spec, log="v={v}"), other)
        while isinstance(stop, Stopped):
            await one.go_on(stop)
            stop = await one.seen.next((Stopped, ExitedProgram))
        logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
        assert logged[:2] == ["v=1", "v=10"]
        assert len(logged) == 4


@_native_specs
async def test_a_step_into_a_function_ends_with_its_arguments(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(_PROGRAM(Path()), _line("calls"))
        (bound,) = await one.add(BreakpointSpec(function="helper", condition="k == 9"))
        assert bound.verified
        stop = await _next(one, stop, ResumeKind.STEP)
        assert (await one.frame(stop)).function == "helper"
        assert stop.reason is StopReason.STEP
        assert await one.value(stop, "k") == "1"
        stop = await _next(one, stop, ResumeKind.FINISH)
        assert (await one.frame(stop)).function == "main"
