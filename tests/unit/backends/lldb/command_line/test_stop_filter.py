"""Stops at breakpoints whose condition came too late."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import ConditionError
from debugger.backends.lldb.command_line.cli_breakpoints import CliStopFilter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, Stack, Stopped, StopReason, Variable
from event_loop import begin_task

STOP = Stopped(StopReason.BREAKPOINT, "breakpoint", thread=1, hits=(7,))


class StoppedTarget:
    """A program that has stopped, where the condition of breakpoint 7 is worth `value`."""

    def __init__(self, value: str | DebuggerError) -> None:
        self.breakpoint_lock = asyncio.Lock()
        self.caught_types: dict[int, set[str | None]] = {}
        self.breakpoint_conditions: dict[int, tuple[int, str]] = {}
        self.attach_target = None
        self.told: list[Any] = []
        self.resumed = 0
        self._value = value
        self.step_keeper = SimpleNamespace(
            attribute_stop=self._judged, ended_step=self._ended, enter_body=self._judged
        )

    async def _judged(self, stop: Stopped) -> Stopped:
        return stop

    async def _ended(self) -> None:
        return None

    async def read_stack(self, thread: int, *, levels: int) -> Stack:
        return Stack((Frame(0, "main", thread + levels),))

    async def evaluate(self, *_: object) -> Variable:
        if isinstance(self._value, DebuggerError):
            raise self._value
        return Variable("", self._value)

    async def ask_lldb(self, do: str, **_: object) -> None:
        assert do == "resume"
        self.resumed += 1

    def report_event(self, event: Any) -> None:
        self.told.append(event)


@pytest.mark.parametrize("value", ["true", "1", "-2"])
async def test_a_true_condition_stops(value):
    inside = StoppedTarget(value)
    inside.breakpoint_conditions[7] = (1, "x > 0")
    assert await CliStopFilter(inside).filter_stop(STOP) == STOP
    assert inside.resumed == 0


@pytest.mark.parametrize("value", ["false", "0", "0x0000000000000000", "nullptr"])
async def test_a_false_condition_lets_the_program_go_on_and_says_nothing(value):
    inside = StoppedTarget(value)
    inside.breakpoint_conditions[7] = (1, "x > 0")
    assert await CliStopFilter(inside).filter_stop(STOP) is None
    assert (inside.resumed, inside.told) == (1, [])


async def test_a_condition_that_fails_is_told_and_the_program_goes_on():
    inside = StoppedTarget(DebuggerError(ErrorCode.EVALUATION_FAILED, "no x here"))
    inside.breakpoint_conditions[7] = (1, "x > 0")
    assert await CliStopFilter(inside).filter_stop(STOP) is None
    assert inside.told == [ConditionError(1, "x > 0: no x here")]


async def test_a_stop_waits_until_what_was_set_is_noted():
    inside = StoppedTarget("false")
    async with inside.breakpoint_lock:
        judging = await begin_task(CliStopFilter(inside).filter_stop(STOP))
        inside.breakpoint_conditions[7] = (1, "x > 0")
    assert await judging is None


async def test_a_breakpoint_without_a_condition_stops():
    assert await CliStopFilter(StoppedTarget("false")).filter_stop(STOP) == STOP
