"""Steps end in the right place, whatever breakpoint is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapter_specs import with_every_spec, with_specs_where
from adapter_specs.adapter_spec import AdapterSpec, native_program
from debuggees import find_marker, find_source
from debugger.backends.base import LogpointPassed
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ExitedProgram, Frame, ResumeKind, Stopped, StopReason
from driven_backend import DrivenBackend

_ROUND = 6  # steps; a turn of the loop has fewer
_IN_C = with_specs_where(lambda adapter_spec: Path(adapter_spec.file).name == "loop.c")


async def _step(one: DrivenBackend, stop: Stopped, how: ResumeKind) -> tuple[Stopped, Frame]:
    await one.go_on(stop, how)
    stop = await one.seen.next((Stopped, ExitedProgram))
    assert isinstance(stop, Stopped), "the step was lost"
    return stop, await one.frame(stop)


async def _round(one: DrivenBackend, adapter_spec: AdapterSpec, stop: Stopped) -> Stopped:
    """Step until the loop comes to its call again."""
    for _ in range(_ROUND):
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.function) == (StopReason.STEP, adapter_spec.outer)
        if frame.line == adapter_spec.call_line:
            return stop
    raise AssertionError("the loop did not come back to its call")


async def _in_the_loop(one: DrivenBackend, adapter_spec: AdapterSpec, **changes: Any) -> Stopped:
    """Stop at the call in the first turn; the breakpoint there is another from then on."""
    stop = await one.to_stop(
        adapter_spec.loop(), BreakpointSpec(file=adapter_spec.file, line=adapter_spec.call_line)
    )
    (bound,) = await one.add(
        BreakpointSpec(file=adapter_spec.file, line=adapter_spec.call_line, **changes)
    )
    assert bound.verified, bound
    return stop


@pytest.mark.parametrize("way", ["condition", "hit_count"])
@with_every_spec
async def test_a_step_ends_at_a_breakpoint_that_need_not_stop_and_leaves_it_as_it_was(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any], way: str
):
    wanted: Any = {
        "condition": f"{adapter_spec.counter} == {adapter_spec.first + 3}",
        "hit_count": 3,
    }[way]
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec, **{way: wanted})
        for turn in (1, 2):
            stop = await _round(one, adapter_spec, stop)
            assert await one.value(stop, adapter_spec.counter) == str(adapter_spec.first + turn)
        await one.go_on(stop)
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.BREAKPOINT
        assert await one.value(stop, adapter_spec.counter) == str(adapter_spec.first + 3)


@with_every_spec
async def test_a_step_ends_at_a_logpoint_which_logs_once(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await _in_the_loop(one, adapter_spec, log=f"at {{{adapter_spec.counter}}}")
        for _ in range(2):
            stop = await _round(one, adapter_spec, stop)
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == adapter_spec.ends
        logged = [event.text for event in one.seen if isinstance(event, LogpointPassed)]
        assert logged == [f"at {adapter_spec.first + turn}" for turn in range(1, 5)]


@with_every_spec
async def test_a_step_over_a_call_stops_at_the_condition_that_holds_in_it(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(
            adapter_spec.loop(), BreakpointSpec(file=adapter_spec.file, line=adapter_spec.call_line)
        )
        await one.add(
            BreakpointSpec(
                file=adapter_spec.file,
                line=adapter_spec.stop_line,
                condition=adapter_spec.condition(1),
            )
        )
        stop = await _round(one, adapter_spec, stop)
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.function) == (StopReason.BREAKPOINT, adapter_spec.inner)
        assert await one.value(stop, adapter_spec.variable) == str(adapter_spec.first + 1)


@_IN_C
async def test_a_step_over_a_recursion_stops_at_the_condition_that_holds_in_it(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    file, deeper = str(find_source("recursion.c")), find_marker("recursion.c", "deeper")
    program = native_program("recursion.c", "9")(Path())
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(program, BreakpointSpec(file=file, line=deeper))
        await one.add(BreakpointSpec(file=file, line=deeper, condition="depth == 6"))
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.line) == (StopReason.BREAKPOINT, deeper)
        assert await one.value(stop, "depth") == "6"
        # The step in here ends where the one over all, which was interrupted, has yet to come.
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert stop.reason is StopReason.STEP
        assert await one.value(stop, "depth") == "6"


# The engine inside the program ends such a step at any code of a frame that the exception passes.
@with_specs_where(lambda one: Path(one.file).name == "loop.c" and one.name != "frida")
async def test_a_step_ends_where_an_exception_is_caught_that_left_its_function(
    adapter_spec: AdapterSpec, drive_backend: Callable[[AdapterSpec], Any]
):
    file = str(find_source("unwound.cpp"))
    line = {name: find_marker("unwound.cpp", name) for name in ("swallow", "throw", "caught")}
    program = native_program("unwound.cpp")(Path())
    async with drive_backend(adapter_spec) as one:
        stop = await one.to_stop(program, BreakpointSpec(file=file, line=line["swallow"]))
        stop, frame = await _step(
            one, stop, ResumeKind.NEXT
        )  # what is caught further in counts not
        assert (stop.reason, frame.line, stop.handled) == (StopReason.STEP, line["throw"], "")
        # The frame is left that had called the function again, and its destructors catch, too.
        stop, frame = await _step(one, stop, ResumeKind.FINISH)
        assert (stop.reason, stop.hits, frame.line) == (StopReason.STEP, (), line["caught"])
        assert stop.handled == "std::runtime_error: left"
        stop, frame = await _step(one, stop, ResumeKind.NEXT)
        assert (stop.reason, frame.line) == (StopReason.STEP, line["caught"] + 1)
        await one.go_on(stop)  # nothing is left at which a `continue` would stop but the breakpoint
        stop = await one.seen.next(Stopped)
        assert stop.reason is StopReason.BREAKPOINT
        stop, frame = await _step(one, stop, ResumeKind.FINISH)
        assert (stop.reason, frame.line) == (StopReason.STEP, line["caught"])
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ExitedProgram(code=0)
