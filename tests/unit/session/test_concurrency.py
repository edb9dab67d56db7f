"""Several clients of one session, and clients that leave."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from debugger.backends.base import Backend, OutputPrinted
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import Stop
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream, State
from debugger.model.program import ResumeKind, StopReason
from debugger.session import raw_commands, stepping, stop_report
from debugger.session.process_tree import add_breakpoint
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from event_loop import await_condition, begin_task
from fakes.fake_backend import FILE, FakeBackend

BOUND_S = 60.0


async def within(waiting: Any) -> Any:
    return await asyncio.wait_for(waiting, BOUND_S)


async def running(session: Session, how: ResumeKind, wait: WaitLimit) -> asyncio.Task[Stop]:
    """Begin a wait, and return once the program runs."""
    task = asyncio.create_task(stepping.resume_and_wait(session, how, wait))
    await within(session.run_job(nothing))
    assert session.state is State.RUNNING
    return task


async def nothing() -> None:
    """Do a job that only takes its turn."""


async def test_others_look_and_set_breakpoints_while_one_waits(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    added = await within(
        session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=7)))
    )
    assert added.bound is not None
    assert added.bound.verified
    assert backend.sent() == [7]
    backend.sink(OutputPrinted(OutputStream.STDOUT, "hello\n"))
    assert [line.text for line in session.timeline.lines().lines] == ["hello"]
    assert not waiting.done()
    backend.hit(added, 7)
    answer = await within(waiting)
    assert (answer.reason, answer.hit_breakpoints) == ("breakpoint", (added.id,))
    assert answer.frame.line == 7


async def test_a_pause_of_another_client_answers_both(session_factory, patience):
    session, _ = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    paused = await within(stepping.pause_program(session, patience()))
    answer = await within(waiting)
    assert (paused.reason, answer.reason) == ("pause", "pause")
    assert answer.state == "stopped"


async def test_who_looks_at_a_running_program_is_refused_and_nobody_else_disturbed(
    session_factory, patience
):
    session, backend = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    with pytest.raises(DebuggerError) as refused:
        await within(session.run_job(lambda: stop_report.report_stop(session)))
    assert refused.value.code is ErrorCode.WRONG_STATE
    backend.stop(11)
    assert (await within(waiting)).frame.line == 11


async def test_a_second_continue_while_it_runs_is_refused(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    with pytest.raises(DebuggerError) as refused:
        await within(stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience()))
    assert refused.value.code is ErrorCode.WRONG_STATE
    assert backend.calls.count("continue") == 1
    backend.stop(12)
    await within(waiting)


async def test_a_client_that_leaves_its_wait_does_not_touch_the_program(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    before = list(backend.calls)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await within(session.run_job(nothing))
    assert backend.calls == before
    assert session.state is State.RUNNING
    backend.stop(13)
    assert (await within(stepping.wait_for_stop(session, patience()))).frame.line == 13


async def test_a_stopped_program_that_was_killed_is_waited_for(session_factory, patience):
    session, backend = await session_factory.stopped()
    session.mark_reported()
    session.note_pid(os.getpid())
    with pytest.raises(DebuggerError) as refused:
        await within(stepping.wait_for_stop(session, patience()))
    assert refused.value.code is ErrorCode.WRONG_STATE
    ended = await asyncio.create_subprocess_exec("true")
    await within(ended.wait())
    session.note_pid(ended.pid)
    waiting = await begin_task(stepping.wait_for_stop(session, patience()))
    backend.end(0)
    assert (await within(waiting)).exit_code == 0


async def test_ctrl_c_ends_the_wait_and_says_that_the_program_runs(session_factory):
    session, backend = await session_factory.stopped()
    wait = WaitLimit(BOUND_S, asyncio.Event())
    waiting = await running(session, ResumeKind.CONTINUE, wait)
    wait.interrupted.set()
    answer = await within(waiting)
    assert answer.timed_out
    assert answer.state == "running"
    assert "pause" not in backend.calls
    assert session.state is State.RUNNING


async def test_a_job_whose_asker_left_before_its_turn_is_skipped(session_factory):
    session, backend = await session_factory.stopped()
    backend.hold = "evaluate"
    first = asyncio.create_task(session.run_job(lambda: backend.evaluate("i", None, None)))
    await within(backend.held.wait())
    done: list[str] = []

    async def mark() -> None:
        done.append("done")

    second = await begin_task(session.run_job(mark))
    second.cancel()
    backend.let_go.set()
    assert (await within(first)).value == "0"
    await within(session.run_job(nothing))
    assert done == []


async def test_a_job_that_has_begun_is_finished_though_its_asker_left(session_factory):
    session, backend = await session_factory.stopped()
    backend.hold = "set_breakpoints"
    spec = BreakpointSpec(file=FILE, line=9)
    adding = asyncio.create_task(session.run_job(lambda: session.binding.add(spec)))
    await within(backend.held.wait())
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    backend.let_go.set()
    await within(session.run_job(nothing))
    assert backend.sent() == [9]
    (known,) = session.breakpoints.user_breakpoints()
    assert known.bound is not None
    assert known.bound.verified


async def test_stop_all_names_sessions_that_had_ended_too(session_factory):
    session, backend = await session_factory.stopped()
    backend.end()
    await within(session.run_job(nothing))
    assert not session.is_live
    assert await within(session_factory.sessions.close_all()) == ["loop"]


async def test_a_command_that_takes_too_long_is_no_fault_of_the_debuggers(session_factory, caplog):
    session, _ = await session_factory.stopped()
    with pytest.raises(DebuggerError) as overdue:
        await within(
            raw_commands.run_bounded(session, asyncio.Event().wait, 0.01, interrupt_s=0.03)
        )
    assert overdue.value.code is ErrorCode.TIMEOUT
    await within(session.run_job(nothing))
    assert caplog.records == []


async def test_stop_all_ends_a_wait_with_a_clear_error(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    assert await within(session_factory.sessions.close_all()) == ["loop"]
    with pytest.raises(DebuggerError) as ended:
        await within(waiting)
    assert ended.value.code is ErrorCode.NO_SESSION
    assert "ended by another command" in ended.value.message
    assert backend.is_closed
    assert session_factory.sessions.all_sessions() == []


async def test_stop_while_the_program_is_being_started_leaves_nothing(session_factory):
    session_factory.held_at_first = "start"
    session = await session_factory.create()
    beginning = asyncio.create_task(session.run_job(session.start_program))
    await await_condition(lambda: session_factory.backends, what="the program's backend")
    backend = session_factory.backends[0]
    await within(backend.held.wait())
    await within(session_factory.sessions.close(session, kill=True))
    with pytest.raises(DebuggerError) as ended:
        await within(beginning)
    assert ended.value.code is ErrorCode.NO_SESSION
    assert "run" not in backend.calls
    assert backend.calls[-1] == "kill"
    assert session.state is State.TERMINATED


async def test_a_restart_that_waits_its_turn_starts_nothing_once_the_session_is_closed(
    session_factory,
):
    session, backend = await session_factory.stopped()
    backend.hold = "evaluate"
    first = asyncio.create_task(session.run_job(lambda: backend.evaluate("i", None, None)))
    await within(backend.held.wait())
    restarting = await begin_task(session.run_job(session.restart))
    await within(session.close(kill=True))
    await within(first)
    with pytest.raises(DebuggerError) as ended:
        await within(restarting)
    assert ended.value.code is ErrorCode.NO_SESSION
    assert len(session_factory.backends) == 1


async def test_a_stop_that_somebody_else_left_is_not_told_as_an_error(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = await running(session, ResumeKind.CONTINUE, patience())
    # The program stops and another client's `continue` gets its turn before the report of the stop.
    other = asyncio.create_task(session.run_job(lambda: session.resume(ResumeKind.CONTINUE)))
    backend.stop(14)
    await within(other)
    assert session.state is State.RUNNING
    await within(session.run_job(nothing))
    assert not waiting.done()
    backend.stop(15)
    assert (await within(waiting)).frame.line == 15


async def test_two_clients_that_step_many_times_never_take_each_others_stop(
    session_factory, patience
):
    session, backend = await session_factory.stopped()
    backend.is_stepping_at_once = True
    answers = await within(
        asyncio.gather(
            stepping.step_times(session, ResumeKind.NEXT, 5, patience()),
            stepping.step_times(session, ResumeKind.NEXT, 5, patience()),
        )
    )
    assert backend.calls.count("next") == 10
    assert backend.line == 20
    assert {answer.reason for answer in answers} == {"step"}


async def test_the_timeout_of_many_steps_bounds_them_all_together(session_factory, monkeypatch):
    session, _ = await session_factory.stopped()
    asked: list[float] = []
    wait = session.timeline.wait

    async def counted(after: int, kinds: Any, seconds: float, **others: Any) -> Any:
        asked.append(seconds)
        return await wait(after, kinds, seconds, **others)

    monkeypatch.setattr(session.timeline, "wait", counted)
    answer = await within(
        stepping.step_times(session, ResumeKind.NEXT, 50, WaitLimit(0.2, asyncio.Event()))
    )
    assert answer.timed_out
    assert len(asked) > 1
    assert sum(asked) < 0.3


async def test_a_place_to_run_to_is_forgotten_at_any_stop(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = asyncio.create_task(
        stepping.run_until(session, BreakpointSpec(file=FILE, line=30), patience())
    )
    await await_condition(lambda: session.state is State.RUNNING, what="the resume")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert backend.sent() == [30]
    backend.stop(20, StopReason.PAUSE)
    await within(session.run_job(nothing))
    await within(session.run_job(nothing))
    assert backend.sent() == []


async def test_a_place_to_run_to_is_not_set_again_by_a_restart(session_factory, patience):
    session, backend = await session_factory.stopped()
    waiting = asyncio.create_task(
        stepping.run_until(session, BreakpointSpec(file=FILE, line=30), patience())
    )
    await await_condition(lambda: session.state is State.RUNNING, what="the resume")
    backend.end()
    assert (await within(waiting)).reason == "exit"
    await within(session.run_job(session.restart))
    assert session_factory.backends[-1] is not backend
    assert session_factory.backends[-1].sent() == []


async def test_parallel_starts_of_one_program_get_names_of_their_own(session_factory):
    first, second = await within(asyncio.gather(session_factory.create(), session_factory.create()))
    assert {first.name, second.name} == {"loop", "loop-2"}
    for session in (first, second):
        await within(session.run_job(session.start_program))
        assert session.state is State.RUNNING


async def test_a_start_under_a_name_that_is_being_started_is_refused(session_factory):
    results = await within(
        asyncio.gather(
            session_factory.create("one"), session_factory.create("one"), return_exceptions=True
        )
    )
    (refused,) = [one for one in results if isinstance(one, Exception)]
    assert isinstance(refused, DebuggerError)
    assert refused.code is ErrorCode.USAGE


async def test_a_failed_breakpoint_leaves_the_one_that_it_was_to_replace(session_factory):
    session, backend = await session_factory.stopped()
    old = await within(
        session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=5)))
    )
    backend.fails["set_breakpoints"] = DebuggerError(ErrorCode.TIMEOUT, "no answer")
    changed = BreakpointSpec(file=FILE, line=5, condition="i == 3")
    with pytest.raises(DebuggerError):
        await within(session.run_job(lambda: session.binding.add(changed)))
    assert session.breakpoints.user_breakpoints() == [old]


async def test_a_fault_of_ours_costs_one_command_and_the_session_goes_on(session_factory):
    session, backend = await session_factory.stopped()
    backend.hold = "evaluate"

    async def broken() -> None:
        await backend.evaluate("i", None, None)
        raise ZeroDivisionError

    first = asyncio.create_task(session.run_job(broken))
    await within(backend.held.wait())
    others = [await begin_task(session.run_job(nothing)) for _ in range(3)]
    backend.let_go.set()
    results = await within(asyncio.gather(first, *others, return_exceptions=True))
    assert isinstance(results[0], DebuggerError)
    assert results[0].code is ErrorCode.INTERNAL
    assert "ZeroDivisionError" in results[0].message
    assert results[1:] == [None] * 3
    assert session.state is State.STOPPED


def test_the_fake_is_a_backend():
    methods = {name for name in vars(Backend) if not name.startswith("_")}
    assert methods <= set(dir(FakeBackend))


async def test_a_wait_that_comes_while_the_end_is_cleaned_up_tells_of_it(session_factory, patience):
    session, backend = await session_factory.started()
    close, may_close = backend.close, asyncio.Event()

    async def close_when_told(*, kill):
        await may_close.wait()
        return await close(kill=kill)

    backend.close = close_when_told
    backend.end(3)
    waiting = await begin_task(stepping.wait_for_stop(session, patience()))
    may_close.set()
    answer = await within(waiting)
    assert (answer.reason, answer.exit_code) == ("exit", 3)


async def test_a_stop_that_comes_before_its_breakpoints_answer_is_for_that_breakpoint(
    session_factory,
):
    session, backend = await session_factory.started()
    backend.hold = "set_breakpoints"
    setting = asyncio.create_task(add_breakpoint(session, BreakpointSpec(file=FILE, line=11)))
    await backend.held.wait()
    backend.stop(11, hits=[1001])  # the number that the answer will tell
    backend.let_go.set()
    made = await setting
    assert session.hits == (made.id,)
    assert session.breakpoints.get(made.id).hits == 1
