"""Sessions of one program and of several: names, waits."""

from __future__ import annotations

import asyncio

import pytest

from debugger.backends.base import (
    AttachTarget,
    BackendEnded,
    ChildStarted,
    LaunchTarget,
    OutputPrinted,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream, State
from debugger.model.program import ResumeKind
from debugger.session import process_tree, stepping, stop_report
from debugger.session.session_list import LIVE_MAX
from event_loop import await_condition
from fakes.fake_backend import FILE, FakeBackend

BOUND_S = 60.0


async def child_of(house, backend, words=("worker.py", "-x")):
    """Let a program start another process, and return the child's session and backend."""
    child = FakeBackend(lambda _: None, None)
    backend.sink(ChildStarted(child, 4712, words))
    await await_condition(lambda: "run" in child.calls, what="the child's run")
    return house.sessions.all_sessions()[-1], child


async def test_a_session_is_found_by_name_or_as_the_current_one(session_factory):
    first, _ = await session_factory.started("one")
    second, _ = await session_factory.started("two")
    assert session_factory.sessions.get(None) is second
    assert session_factory.sessions.select("one") is first
    assert session_factory.sessions.get(None) is first
    with pytest.raises(DebuggerError) as unknown:
        session_factory.sessions.get("tow")
    assert unknown.value.code is ErrorCode.NO_SESSION
    assert unknown.value.hint == "debugger use two"
    assert "one, two" in unknown.value.message


async def test_without_a_session_one_is_asked_for(session_factory):
    with pytest.raises(DebuggerError) as none:
        session_factory.sessions.get(None)
    assert (none.value.code, none.value.hint) == (
        ErrorCode.NO_SESSION,
        "debugger start PROGRAM begins one",
    )


@pytest.mark.parametrize("name", ["", " ", "-x", "a\nb", "x" * 65, "a\x1b[0m"])
async def test_a_name_that_is_none_is_refused(session_factory, name):
    with pytest.raises(DebuggerError) as refused:
        await session_factory.create(name)
    assert refused.value.code is ErrorCode.USAGE
    assert session_factory.sessions.all_sessions() == []


async def test_a_name_in_use_is_refused_and_one_that_has_ended_is_taken(session_factory):
    first, backend = await session_factory.started("one")
    with pytest.raises(DebuggerError) as refused:
        await session_factory.create("one")
    assert refused.value.hint == "debugger stop --session one ends it"
    backend.end()
    second, _ = await session_factory.started("one")
    assert session_factory.sessions.all_sessions() == [second]
    assert first.is_closed


async def test_a_session_is_called_after_its_target(session_factory):
    module = LaunchTarget(program=None, module="pkg", cwd="/", env={})
    assert (await session_factory.create(target=module)).name == "pkg"
    assert (
        await session_factory.create(target=AttachTarget(pid=7, cwd="/", env={}))
    ).name == "pid-7"


async def test_there_is_a_most_of_live_sessions(session_factory):
    for _ in range(LIVE_MAX):
        await session_factory.create()
    with pytest.raises(DebuggerError) as refused:
        await session_factory.create()
    assert refused.value.code is ErrorCode.USAGE


async def test_child_processes_are_not_counted_as_live_sessions(session_factory):
    parent, backend = await session_factory.started("parent")
    for _ in range(LIVE_MAX):
        await child_of(session_factory, backend)
    assert len(process_tree.descendants(parent)) == LIVE_MAX
    another = await session_factory.create()
    assert another is not None


async def test_old_ended_sessions_are_forgotten(session_factory):
    for number in range(25):
        _, backend = await session_factory.started(f"s{number}")
        backend.end()
    names = [one.name for one in session_factory.sessions.all_sessions()]
    assert names[-1] == "s24"
    assert len(names) <= 22


async def test_when_the_current_session_ends_another_live_one_is_current(session_factory):
    first, _ = await session_factory.started("one")
    second, _ = await session_factory.started("two")
    await session_factory.sessions.close(second, kill=True)
    assert session_factory.sessions.current == "one"
    await session_factory.sessions.close(first, kill=True)
    assert session_factory.sessions.current is None


async def test_a_child_is_a_session_with_its_parents_breakpoints_and_words(session_factory):
    session, backend = await session_factory.started("app")
    wanted = await session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=5)))
    child, of_child = await child_of(session_factory, backend)
    await await_condition(lambda: child.pid is not None, what="the child's pid")
    assert (child.name, child.pid, child.parent) == ("app.1", 4712, session)
    assert child.target.args == ("-x",)
    assert of_child.sent() == [5]
    assert [one.id for one in child.breakpoints.user_breakpoints()] == [wanted.id]


async def test_nothing_of_a_child_that_has_ended_outlives_its_family(session_factory):
    session, backend = await session_factory.started("app")
    child, of_child = await child_of(session_factory, backend)
    of_child.end()
    assert child.state is State.TERMINATED
    await session_factory.sessions.close(session, kill=True)
    assert child.is_closed
    assert "app.1" not in [one.get_name() for one in asyncio.all_tasks()]


async def test_a_childs_stop_answers_the_parents_wait_and_makes_it_current(
    session_factory, patience
):
    session, backend = await session_factory.stopped()
    waiting = asyncio.create_task(
        stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience())
    )
    await await_condition(lambda: session.state is State.RUNNING, what="the resume")
    child, of_child = await child_of(session_factory, backend)
    of_child.stop(7)
    answer = await asyncio.wait_for(waiting, BOUND_S)
    assert answer.session == child.name == session_factory.sessions.current
    assert answer.frame.line == 7


async def test_a_childs_end_is_no_answer_though_its_parent_ends_right_after_it(
    session_factory, patience
):
    session, backend = await session_factory.stopped()
    waiting = asyncio.create_task(
        stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience())
    )
    await await_condition(lambda: session.state is State.RUNNING, what="the resume")
    child, of_child = await child_of(session_factory, backend)
    of_child.end(4)
    # The child's end is told a moment after it, and so may be overtaken by the parent's.
    backend.end(0)
    assert child.state is State.TERMINATED
    answer = await asyncio.wait_for(waiting, BOUND_S)
    assert (answer.session, answer.exit_code) == (session.name, 0)


async def test_the_hits_of_a_child_count_for_the_parents_breakpoint(session_factory):
    session, backend = await session_factory.started()
    wanted = await session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=5)))
    child, of_child = await child_of(session_factory, backend)
    of_child.hit(child.breakpoints.get(wanted.id), 5)
    of_child.end()
    backend.end()
    assert stop_report.report_end(session).never_hit == ()


async def test_the_end_tells_what_was_not_bound_and_what_was_not_hit(session_factory):
    session, backend = await session_factory.started()
    met = await session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=5)))
    missed = await session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=6)))
    unbound = await session.run_job(
        lambda: session.binding.add(BreakpointSpec(file=FILE, line=999))
    )
    off = await session.run_job(lambda: session.binding.add(BreakpointSpec(file=FILE, line=7)))
    await session.run_job(lambda: session.binding.enable(off.id, on=False))
    backend.hit(met, 5)
    backend.sink(OutputPrinted(OutputStream.STDOUT, "bye\n"))
    backend.end(3)
    answer = stop_report.report_end(session)
    assert (answer.exit_code, answer.reason) == (3, "exit")
    assert [one.id for one in answer.never_hit] == [missed.id]
    assert [one.id for one in answer.unbound] == [unbound.id]
    assert [one.text for one in answer.output] == ["bye"]


async def test_much_output_is_told_by_its_first_and_last_lines(session_factory):
    session, backend = await session_factory.stopped()
    backend.sink(OutputPrinted(OutputStream.STDOUT, "".join(f"{n}\n" for n in range(100))))
    found = stop_report.new_output(session)
    assert found.total == 100
    assert [one.text for one in found.lines] == ["0", "1", "2", *map(str, range(83, 100))]
    assert stop_report.new_output(session).lines == ()


async def test_the_second_stop_in_a_frame_tells_what_changed(session_factory):
    session, backend = await session_factory.stopped()
    first = await session.run_job(lambda: stop_report.report_stop(session))
    assert not first.changed
    backend.values["i"] = "1"
    backend.stop(11)
    second = await session.run_job(lambda: stop_report.report_stop(session))
    assert [(one.name, one.previous, one.value) for one in second.changed] == [("i", "0", "1")]
    again = await session.run_job(lambda: stop_report.report_stop(session, is_full=True))
    assert not again.changed


async def test_a_lost_debugger_is_an_error_for_every_command_that_follows(
    session_factory, patience
):
    session, backend = await session_factory.stopped()
    backend.sink(BackendEnded(error="toy was killed by signal 9"))
    with pytest.raises(DebuggerError) as died:
        await stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience())
    assert died.value.code is ErrorCode.ADAPTER_DIED
    assert "signal 9" in died.value.message
    await session.run_job(session.restart)
    assert session.state is State.RUNNING


async def test_children_that_appear_at_once_have_a_session_each(session_factory):
    session, backend = await session_factory.started("one")
    children = [FakeBackend(lambda _: None, None) for _ in range(5)]
    for pid, child in enumerate(children, start=100):
        backend.sink(ChildStarted(child, pid, ("worker", str(pid))))
    await await_condition(
        lambda: all("run" in child.calls for child in children), what="the run of each child"
    )
    made = [one for one in session_factory.sessions.all_sessions() if one is not session]
    assert [one.name for one in made] == [f"one.{number}" for number in range(1, 6)]
    assert [one.pid for one in made] == [100, 101, 102, 103, 104]


async def test_a_childs_end_that_came_before_the_programs_is_not_told_in_its_place(
    session_factory, patience
):
    session, backend = await session_factory.started("one")
    child, of_child = await child_of(session_factory, backend)
    cursor = session.timeline.cursor()
    of_child.end(4)
    backend.end(0)
    await await_condition(lambda: session.is_noted and child.is_noted, what="both ends")
    told = await stepping.wait_for_stop(child, patience(), after=cursor)
    assert (told.session, told.exit_code) == ("one", 0)


async def test_a_wait_for_a_childs_end_that_is_still_to_be_told_is_not_refused(
    session_factory, patience
):
    session, backend = await session_factory.started("one")
    child, of_child = await child_of(session_factory, backend)
    backend.end(0)
    first = await stepping.wait_for_stop(session, patience())
    assert first.session == "one"
    of_child.end(4)
    assert (child.state, child.is_noted) == (State.TERMINATED, False)
    told = await stepping.wait_for_stop(session, patience())
    assert (told.session, told.exit_code) == (child.name, 4)


async def test_of_many_that_are_stopped_too_some_are_named(session_factory):
    session, backend = await session_factory.started("one")
    for _ in range(7):
        _, of_child = await child_of(session_factory, backend)
        of_child.stop()
    notes = process_tree.other_process_notes(session)
    assert notes == [
        "stopped too: one.1, one.2, one.3, one.4, one.5 and 2 more: debugger use one.1"
    ]


async def test_a_private_session_becomes_the_current_one_only_when_it_is_chosen(session_factory):
    first, _ = await session_factory.started("one")
    private, backend = await session_factory.started(private="ask")
    again, _ = await session_factory.started(private="ask")
    assert (private.name, again.name) == ("ask", "ask-2")
    assert session_factory.sessions.current == "one"
    session_factory.sessions.make_current(private)
    child, _ = await child_of(session_factory, backend)
    session_factory.sessions.make_current(child)
    assert session_factory.sessions.current == "one"
    await session_factory.sessions.close(first, kill=True)
    assert session_factory.sessions.current is None
    await session_factory.sessions.close(child, kill=True)
    assert session_factory.sessions.current is None
    session_factory.sessions.select("ask-2")
    assert session_factory.sessions.get(None) is again


async def test_a_questions_session_that_ended_is_its_own_until_the_question_closes_it(
    session_factory,
):
    private, backend = await session_factory.started(private="ask")
    backend.end()
    await await_condition(lambda: private.state is State.TERMINATED, what="its end")
    again, _ = await session_factory.started(private="ask")
    assert again.name == "ask-2"
    for _ in range(22):  # more than the ended ones that are remembered
        other, backend = await session_factory.started("other")
        backend.end()
        await await_condition(lambda one=other: one.state is State.TERMINATED, what="the end")
    assert session_factory.sessions.get("ask") is private
    assert not private.timeline.lines(since=0).lines
    with pytest.raises(DebuggerError, match="'ask' is in use"):
        await session_factory.create("ask")
