"""Does a stop at a breakpoint whose condition came too late count?"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import ConditionFailed
from debugger.backends.lldb_cli.judging import Judge
from debugger.core.model import Frame, Reason, Stack, Stopped, Variable
from debugger.errors import Code, DebuggerError

STOP = Stopped(Reason.BREAKPOINT, "breakpoint", thread=1, hits=(7,))


class Inside:
    """A program that has stopped, where the condition of breakpoint 7 is worth `value`."""

    def __init__(self, value: str | DebuggerError) -> None:
        self.changing = asyncio.Lock()
        self.thrown: dict[int, set[str | None]] = {}
        self.conditions: dict[int, tuple[int, str]] = {}
        self.attached = None
        self.told: list[Any] = []
        self.resumed = 0
        self._value = value
        self.steps = SimpleNamespace(judged=self._judged, ended=self._ended, enter=self._judged)

    async def _judged(self, stop: Stopped) -> Stopped:
        return stop

    async def _ended(self) -> None:
        return None

    async def stack(self, thread: int, *, levels: int) -> Stack:
        return Stack((Frame(0, "main", thread + levels),))

    async def evaluate(self, *_: object) -> Variable:
        if isinstance(self._value, DebuggerError):
            raise self._value
        return Variable("", self._value)

    async def ask(self, do: str, **_: object) -> None:
        assert do == "resume"
        self.resumed += 1

    def tell(self, event: Any) -> None:
        self.told.append(event)


@pytest.mark.parametrize("value", ["true", "1", "-2"])
async def test_a_true_condition_stops(value):
    inside = Inside(value)
    inside.conditions[7] = (1, "x > 0")
    assert await Judge(inside).judge(STOP) == STOP
    assert inside.resumed == 0


@pytest.mark.parametrize("value", ["false", "0"])
async def test_a_false_condition_lets_the_program_go_on_and_says_nothing(value):
    inside = Inside(value)
    inside.conditions[7] = (1, "x > 0")
    assert await Judge(inside).judge(STOP) is None
    assert (inside.resumed, inside.told) == (1, [])


async def test_a_condition_that_fails_is_told_and_the_program_goes_on():
    inside = Inside(DebuggerError(Code.EVALUATION_FAILED, "no x here"))
    inside.conditions[7] = (1, "x > 0")
    assert await Judge(inside).judge(STOP) is None
    assert inside.told == [ConditionFailed(1, "x > 0: no x here")]


async def test_a_stop_waits_until_what_was_set_is_noted():
    inside = Inside("false")
    async with inside.changing:
        judging = asyncio.ensure_future(Judge(inside).judge(STOP))
        await asyncio.sleep(0)
        inside.conditions[7] = (1, "x > 0")
    assert await judging is None


async def test_a_breakpoint_without_a_condition_stops():
    assert await Judge(Inside("false")).judge(STOP) == STOP
