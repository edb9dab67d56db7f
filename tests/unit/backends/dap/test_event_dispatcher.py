"""Adapter events are passed on once and in order, and the end however it comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from debugger.backends.adapters.lldb import lldb_dap_adapter
from debugger.backends.base import (
    BackendEnded,
    BreakpointChanged,
    ConditionError,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
)
from debugger.backends.dap.debug_adapter import parse_output
from debugger.backends.dap.event_dispatcher import (
    BreakpointOptions,
    EventDispatcher,
    mark_log_message,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, ResumeKind, Stopped, StopReason
from fakes.fake_adapter import change_adapter

BOUND_S = 60.0
# What the protocol says, without lldb-dap's own ways but for its exit codes.
ADAPTER = change_adapter(
    lldb_dap_adapter.LldbDapAdapter(), parse_output=parse_output, inspected_reasons=frozenset()
)


class Ear:
    """Events, and what they told."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self.told: list[Any] = []
        self.judged: list[Stopped] = []
        self.stands = True
        self.drained = 0
        self.loss: str | None = None
        self.ended = asyncio.Event()
        self.events = EventDispatcher(
            ADAPTER,
            sink=self._take,
            judge=self._judge,
            drain=self._drain,
            tasks=tasks,
            second_end_s=0.05,
        )
        self.say("initialized")

    def _take(self, event: Any) -> None:
        self.told.append(event)
        if isinstance(event, BackendEnded):
            self.ended.set()

    async def _judge(self, stop: Stopped) -> Stopped | None:
        self.judged.append(stop)
        return stop if self.stands else None

    async def _drain(self) -> str | None:
        self.drained += 1
        return self.loss

    def say(self, name: str, **body: Any) -> None:
        self.events.handle_event(name, msgspec.Raw(json.dumps(body).encode()))

    async def end(self) -> list[Any]:
        await asyncio.wait_for(self.ended.wait(), BOUND_S)
        return self.told


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    async with asyncio.TaskGroup() as tasks:
        yield Ear(tasks)


@pytest.mark.parametrize(
    "order", [["exited", "terminated"], ["terminated", "exited"], ["exited"], ["terminated"]]
)
async def test_the_end_is_told_once_in_any_order_of_events(ear, order):
    for name in [*order, *order]:
        ear.say(name, **({"exitCode": 3} if name == "exited" else {}))
    code = 3 if "exited" in order else None
    assert await ear.end() == [ExitedProgram(code=code), BackendEnded()]
    assert ear.drained == 1
    assert ear.events.is_over


async def test_an_end_that_came_with_the_loss_of_the_guard_is_told_as_the_loss(ear):
    ear.loss = "lldb-dap was ended, because its guard was killed by signal 9, unexpectedly"
    ear.say("exited", exitCode=9)
    ear.events.note_adapter_lost("later")
    assert await ear.end() == [BackendEnded(error=ear.loss)]
    assert ear.events.is_over


async def test_a_death_by_the_signal_that_stopped_it_last_is_told_so(ear):
    ear.say("stopped", reason="exception", description="signal SIGSEGV: address", threadId=1)
    ear.say("exited", exitCode=11)
    ear.say("terminated")
    told = await ear.end()
    assert told[0].signal == "SIGSEGV"
    assert told[1:] == [ExitedProgram(signal="SIGSEGV"), BackendEnded()]


async def test_a_stop_that_only_repeats_another_is_not_told(ear):
    ear.say("stopped", reason="goto", threadId=1)
    ear.say("stopped", reason="goto", threadId=2, preserveFocusHint=True)
    (stop,) = ear.told
    assert (stop.reason, stop.thread) == (StopReason.GOTO, 1)
    assert ear.events.happened.done()


@pytest.mark.parametrize(
    ("how", "is_paused", "reason"),
    [
        (ResumeKind.CONTINUE, True, StopReason.PAUSE),
        (ResumeKind.CONTINUE, False, StopReason.STEP),
        (ResumeKind.NEXT, True, StopReason.STEP),
    ],
)
async def test_a_step_of_the_adapters_own_after_a_pause_is_the_pause(how, is_paused, reason):
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as tasks:
        ear = Ear(tasks)
        ear.events.note_resume(how)
        if is_paused:
            ear.events.note_pause()
        ear.say("stopped", reason="step", threadId=1)
    assert [stop.reason for stop in ear.told] == [reason]


async def test_nothing_is_told_after_the_end_or_a_disconnect():
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as tasks:
        ear = Ear(tasks)
        ear.events.stop_reporting()
        ear.say("stopped", reason="step", threadId=1)
        ear.say("exited", exitCode=0)
        ear.events.note_adapter_lost("gone")
    assert ear.told == []


@pytest.mark.parametrize("stands", [True, False])
async def test_a_stop_with_a_condition_is_judged_first(stands):
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as tasks:
        ear = Ear(tasks)
        ear.stands = stands
        ear.events.replace_options({7: BreakpointOptions(condition=(1, "x > 1"))})
        ear.say("stopped", reason="breakpoint", threadId=1, hitBreakpointIds=[7])
        assert ear.told == []
    assert len(ear.judged) == 1
    assert len(ear.told) == stands


async def test_output_is_told_by_its_stream_and_logpoints_by_their_breakpoint(ear):
    ear.say("output", category="stdout", output="a\n")
    ear.say("output", category="stderr", output="b")
    ear.say("output", output="c\n")
    ear.say("output", category="telemetry", output="{}")
    ear.say("output", output="")
    ear.say("output", category="console", output=mark_log_message(12, "i=3\n"))
    assert ear.told == [
        OutputPrinted(OutputStream.STDOUT, "a\n"),
        OutputPrinted(OutputStream.STDERR, "b"),
        OutputPrinted(OutputStream.CONSOLE, "c\n"),
        LogpointPassed(12, "i=3"),
    ]
    assert "c\n" in ear.events.console_tail()


@pytest.mark.parametrize(
    "text", ["[[log ]] x", "[[log ²]] x", "[[log -1]] x", "[[log 1]]x", "[[log " + "9" * 5000]
)
async def test_what_only_looks_like_a_logpoint_is_output(ear, text):
    ear.say("output", category="console", output=text)
    assert ear.told == [OutputPrinted(OutputStream.CONSOLE, text)]


async def test_a_failed_condition_is_told_with_its_breakpoint(monkeypatch, ear):
    failed = ConditionError(None, "x > 1: NameError")
    monkeypatch.setattr(
        ear.events, "_adapter", change_adapter(ADAPTER, parse_output=lambda _: failed)
    )
    ear.events.replace_options({7: BreakpointOptions(condition=(3, "x > 1"))})
    ear.say("output", output="x")
    assert ear.told == [ConditionError(3, "x > 1: NameError")]


async def test_the_process_and_late_breakpoints_are_told(ear):
    ear.say("process", systemProcessId=99)
    ear.say("breakpoint", reason="changed", breakpoint={"id": 7, "verified": True, "line": 4})
    ear.say("breakpoint", reason="removed", breakpoint={"id": 7})
    ear.say("breakpoint", reason="changed", breakpoint={"verified": True})
    started, rebound = ear.told
    assert started == ProcessStarted(99)
    assert isinstance(rebound, BreakpointChanged)
    assert (rebound.bound.backend_id, rebound.bound.line) == (7, 4)


async def test_losing_the_adapter_ends_the_session_with_why_and_wakes_who_waits(ear):
    ear.events.note_adapter_lost("toy was killed by signal 9")
    ear.events.note_adapter_lost("again")
    assert ear.told == [BackendEnded(error="toy was killed by signal 9")]
    assert ear.events.initialized.done()
    assert ear.events.happened.done()


async def test_an_unknown_event_is_let_pass_and_a_malformed_one_is_a_protocol_error(ear):
    ear.say("nosuch", x=1)
    assert ear.told == []
    for name, body in {
        "stopped": {"threadId": "one"},
        "exited": {"exitCode": []},
        "output": {"output": 3},
        "breakpoint": {},
    }.items():
        with pytest.raises(DebuggerError) as broken:
            ear.say(name, **body)
        assert broken.value.code is ErrorCode.PROTOCOL


async def test_a_stop_from_before_the_configuration_is_reported_with_its_end(ear):
    ear.events.initialized = asyncio.get_running_loop().create_future()
    ear.say("stopped", reason="entry", threadId=1)
    ear.say("initialized")
    assert ear.told == []
    ear.events.report_early_stop()
    assert [one.reason for one in ear.told] == [StopReason.ENTRY]
    ear.events.report_early_stop()  # once
    assert len(ear.told) == 1
