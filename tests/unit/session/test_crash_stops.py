"""A crash is recorded with its details, and repeated until the next run."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from debugger.backends.abilities import RegisterAbility
from debugger.backends.base import CallsTraced
from debugger.cli.answer_text import format_answer
from debugger.cli.commands.session_commands import describe_session
from debugger.model.events import EventKind
from debugger.model.program import CallEvent, Frame, Register, RegisterGroup, Stopped, StopReason
from debugger.output.structured import OutputStyle
from debugger.session import stop_report
from debugger.session.timeline import Filters
from fakes.fake_backend import FILE

WORDS = "signal SIGSEGV: invalid address (fault address: 0x10)"
SEGV = Stopped(StopReason.SIGNAL, "signal", thread=1, description=WORDS, signal="SIGSEGV")


class FakeRegisters:
    """The ability to show registers that never change."""

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        assert frame.index == 0
        general = RegisterGroup("General", (Register("rip", "0x1000"),))
        return [general, RegisterGroup("Vector", (Register("ymm0", "{0}"),))]


@pytest.fixture
async def crashed(session_factory) -> Any:
    session, backend = await session_factory.started()
    backend.abilities[RegisterAbility] = FakeRegisters()
    backend.values = {"i": "7", "long": "x" * 5000}
    backend.line = 12
    backend.sink(SEGV)
    answer = await session.run_job(lambda: stop_report.report_stop(session))
    return session, backend, answer


def shown(answer: Any) -> str:
    return format_answer(answer, budget=1000, style=OutputStyle.PLAIN, width=80)


def crashes(session: Any) -> list[Any]:
    return session.timeline.events(Filters(kinds={EventKind.CRASH})).events


async def test_a_crash_is_written_with_what_was_seen_and_in_bounds(crashed):
    session, _, _ = crashed
    (event,) = crashes(session)
    assert (event.function, event.file, event.line, event.thread) == ("work", FILE, 12, 1)
    assert (event.data["signal"], event.data["address"]) == ("SIGSEGV", "0x10")
    assert event.data["description"] == WORDS
    assert event.data["registers"] == {"rip": "0x1000"}
    assert [one["function"] for one in event.data["stack"]] == ["work", "main"]
    first, second = event.data["locals"]
    assert first == {"name": "i", "value": "7", "type": "int"}
    assert len(second["value"]) < 300


async def test_a_crash_that_nobody_looked_at_is_written_all_the_same(session_factory):
    session, backend = await session_factory.started()
    backend.sink(SEGV)
    (event,) = crashes(session)
    assert event.data["signal"] == "SIGSEGV"
    assert session.crash.signal == "SIGSEGV"


async def test_a_debugger_without_registers_leaves_them_out(session_factory):
    session, backend = await session_factory.started()
    backend.sink(SEGV)
    await session.run_job(lambda: stop_report.report_stop(session))
    (event,) = crashes(session)
    assert event.data["registers"] == {}
    assert event.function == "work"


async def test_the_stop_of_the_crash_tells_of_itself_and_later_answers_of_the_crash(crashed):
    session, backend, answer = crashed
    assert answer.crash is UNSET
    line = "crashed: SIGSEGV at 0x10 in work loop.c:12"
    assert describe_session(session).crash.seq == crashes(session)[0].seq
    assert line in shown(describe_session(session))
    session._leave_stop()
    running = stop_report.report_running(session, waited_s=1)
    assert line in shown(running)
    backend.stop(13, StopReason.STEP)
    stopped = await session.run_job(lambda: stop_report.report_stop(session))
    assert line in shown(stopped)
    backend.end(1)
    await session.timeline.wait(0, {EventKind.EXIT}, 10)
    assert stop_report.report_end(session).crash == describe_session(session).crash
    assert line in shown(stop_report.report_end(session))


async def test_looking_again_costs_nothing_and_changes_nothing(crashed):
    session, backend, _ = crashed
    (before,) = crashes(session)
    backend.values = {"i": "8"}
    await session.run_job(lambda: stop_report.report_stop(session, is_full=True))
    assert crashes(session) == [before]


async def test_the_next_run_knows_nothing_of_the_crash(crashed):
    session, _, _ = crashed
    await session.run_job(session.restart)
    assert describe_session(session).crash is UNSET
    assert len(crashes(session)) == 1


@pytest.mark.parametrize("signal", ["SIGUSR1", "SIGINT", "SIGCHLD"])
async def test_a_signal_that_a_program_may_be_sent_is_no_crash(session_factory, signal):
    session, backend = await session_factory.started()
    backend.sink(Stopped(StopReason.SIGNAL, "signal", thread=1, signal=signal))
    await session.run_job(lambda: stop_report.report_stop(session))
    assert crashes(session) == []
    assert describe_session(session).crash is UNSET


async def test_traced_calls_go_to_the_timeline_under_the_sessions_name(session_factory):
    session, backend = await session_factory.started()
    backend.sink(CallsTraced((CallEvent("f", 3, 5, "f(a=1)"), CallEvent("g", 3, 6, "g()")), lost=2))
    page = session.timeline.events(Filters(kinds={EventKind.FUNCTION_ENTER}))
    assert [(one.session, one.function) for one in page.events] == [
        (session.name, "f"),
        (session.name, "g"),
    ]
    assert page.dropped == 2
