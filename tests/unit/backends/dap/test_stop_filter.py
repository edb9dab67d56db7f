"""Breakpoints that share one of the adapter's are judged one by one."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.backends.base import ConditionError, LogpointPassed
from debugger.backends.dap.breakpoint_sites import BreakpointSites
from debugger.backends.dap.messages import AdapterCapabilities
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec, is_true_text
from debugger.model.program import Frame, Stack, Stopped, StopReason, Variable
from fakes.fake_adapter import FAKE_ADAPTER

LINE = BreakpointSpec(file="/a.c", line=3)


class Program:
    """A backend whose expressions have the values of `values`."""

    def __init__(self, **values: str) -> None:
        self.values = values

    async def read_stack(self, thread: int, *, levels: int) -> Stack:
        del thread, levels
        return Stack((Frame(index=0, function="f", handle=1),), 1)

    async def evaluate(self, expression: str, *_: object) -> Variable:
        if expression not in self.values:
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, f"no {expression}")
        return Variable(expression, self.values[expression])


async def _filled(text: str, frame: Frame) -> str:
    return f"{text} in {frame.function}"


def _members(*changes: dict[str, Any]) -> list[Breakpoint]:
    return [
        Breakpoint(number, BreakpointSpec(file="/a.c", line=3, **each), at=LINE)
        for number, each in enumerate(changes, start=1)
    ]


def _sites(program: Any, members: list[Breakpoint]) -> tuple[BreakpointSites, list[Any], list[int]]:
    events: list[Any] = []
    claiming = AdapterCapabilities(
        supports_conditional_breakpoints=True,
        supports_hit_conditional_breakpoints=True,
        supports_log_points=True,
    )
    sites = BreakpointSites(program, FAKE_ADAPTER, events.append, lambda: claiming)
    (group,) = sites.group_by_site(members)
    bounds = sites.to_member_bounds(group, BoundBreakpoint(verified=True, backend_id=7))
    return sites, events, [one.backend_id or 0 for one in bounds]


STOP = Stopped(StopReason.BREAKPOINT, "breakpoint", 1, hits=(7,))


async def test_a_stop_is_for_those_whose_condition_and_hit_count_hold():
    members = _members(
        {}, {"condition": "yes"}, {"condition": "no"}, {"hit_count": 2}, {"log": "here"}
    )
    sites, events, ids = _sites(Program(yes="true", no="0"), members)
    first = await sites.filter_stop(STOP, _filled)
    second = await sites.filter_stop(STOP, _filled)
    assert first is not None
    assert first.hits == (ids[0], ids[1])
    assert second is not None
    assert second.hits == (ids[0], ids[1], ids[3])
    assert [(one.number, one.text) for one in events if isinstance(one, LogpointPassed)] == [
        (5, "here in f")
    ] * 2


async def test_a_stop_that_is_for_none_does_not_count_and_a_failed_condition_is_reported():
    sites, events, _ = _sites(
        Program(no="false"), _members({"condition": "no"}, {"condition": "bad"})
    )
    assert await sites.filter_stop(STOP, _filled) is None
    assert events == [ConditionError(2, "bad: no bad")]


def test_one_that_is_alone_is_sent_as_it_is_and_several_always_stop():
    sites, _, _ = _sites(Program(), _members({"condition": "x"}))
    alone, several = _members({"condition": "x"}), _members({"condition": "x"}, {"log": "y"})
    assert sites.breakpoint_to_send(alone) == alone[0]
    assert sites.breakpoint_to_send(several).spec == LINE
    assert sites.breakpoint_for_steps(several).spec.condition


def test_the_news_of_a_site_are_those_of_each_member():
    sites, _, ids = _sites(Program(), _members({}, {"log": "x"}))
    news = sites.to_member_news(BoundBreakpoint(verified=True, backend_id=7, line=4))
    assert [(one.backend_id, one.line) for one in news] == [(ids[0], 4), (ids[1], 4)]
    assert sites.to_member_news(BoundBreakpoint(verified=True, backend_id=8)) == [
        BoundBreakpoint(verified=True, backend_id=8)
    ]


@pytest.mark.parametrize(
    ("value", "holds"),
    [("0", False), ("0x0", False), ("false", False), ("None", False), ("1", True), ("true", True)],
)
def test_a_value_is_true_as_its_debugger_shows_it(value: str, holds: bool):
    assert is_true_text(value) is holds
