"""Values are read and written, functions called and traced, as the state allows."""

from __future__ import annotations

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import LiveReading
from debugger.model.events import State
from debugger.model.program import Thread
from debugger.session import function_tracing, inspection, live_values, stepping
from fakes.fake_abilities import FakeFunctionCalls, FakeLiveValues, FakePauseAll, FakeTracing

_LOCAL = "Local variable writes require a paused breakpoint."


async def read(session, *names, kind=None):
    wanted = [live_values.parse_target(name, kind) for name in names]
    return await session.run_job(lambda: live_values.read_values(session, wanted))


async def write(session, name, value, kind=None):
    to = live_values.parse_target(name, kind)
    return await session.run_job(lambda: live_values.write_value(session, to, value))


async def failure(doing):
    with pytest.raises(DebuggerError) as failed:
        await doing
    return failed.value


# -- reading and writing -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "address", "kind"),
    [
        ("total", None, None),
        ("a::total", None, None),
        ("list[0]", None, None),
        ("0x10", "0x10", "u64"),
        ("0x10:i32", "0x10", "i32"),
        ("0x10:Pair *", "0x10", "Pair *"),
        ("&ns::pair:i32", "&ns::pair", "i32"),
        ("&pair:ns::Pair", "&pair", "ns::Pair"),
        ("&ns::pair", None, None),
    ],
)
def test_an_address_is_told_from_a_name_by_its_type(words, address, kind):
    found = live_values.parse_target(words, None)
    assert (found.address, found.kind) == (address, kind)


def test_with_a_type_every_name_is_an_address():
    assert live_values.parse_target("pointer", "f64").address == "pointer"
    for words, kind in (("0x10:i32", "i64"), ("0x10", "i32; x"), ("x", "")):
        with pytest.raises(DebuggerError) as refused:
            live_values.parse_target(words, kind)
        assert refused.value.code is ErrorCode.USAGE


async def test_a_stopped_program_is_read_in_its_frame_and_what_fails_is_told_beside_the_rest(
    session_factory,
):
    session, backend = await session_factory.stopped()
    backend.values |= {"i": "4", "n": "9"}
    told = await read(session, "i", "nosuch", "n")
    assert [(one.name, one.value) for one in told.values] == [
        ("i", "4"),
        ("nosuch", None),
        ("n", "9"),
    ]
    assert told.values[1] == LiveReading("nosuch", None, error="no nosuch")


async def test_where_nothing_can_be_read_it_is_a_failure(session_factory):
    session, _ = await session_factory.stopped()
    assert (await failure(read(session, "nosuch", "none"))).message == "no nosuch"


async def test_a_running_program_is_read_and_written_where_the_debugger_can(session_factory):
    session, backend = await session_factory.started()
    values = FakeLiveValues(backend)
    told = await read(session, "total", "0x10:i32")
    assert [one.value for one in told.values] == ["3", "42"]
    assert values.kinds == [None, "i32"]
    done = await write(session, "total", "5")
    assert (done.previous, done.value) == ("3", "5")
    assert session.state is State.RUNNING


async def test_a_running_program_has_to_stop_where_the_debugger_cannot(session_factory):
    session, _ = await session_factory.started()
    failed = await failure(read(session, "total"))
    assert (failed.code, failed.message) == (
        ErrorCode.WRONG_STATE,
        "cannot read total: the program is running",
    )
    assert failed.hint.startswith("debugger pause")
    failed = await failure(write(session, "total", "5"))
    assert (failed.code, failed.message) == (ErrorCode.WRONG_STATE, _LOCAL)
    failed = await failure(write(session, "0x10:i32", "5"))
    assert failed.message == "cannot write 0x10:i32: the program is running"


async def test_what_is_no_global_is_not_written_while_the_program_runs(session_factory):
    session, backend = await session_factory.started()
    FakeLiveValues(backend)
    failed = await failure(write(session, "i", "5"))
    assert (failed.code, failed.message) == (ErrorCode.WRONG_STATE, _LOCAL)
    assert failed.hint.startswith("there is no global i; debugger break LOC")
    assert (await failure(write(session, "0x99:i32", "5"))).code is ErrorCode.NOT_FOUND


async def test_an_ended_program_is_neither_read_nor_written(session_factory):
    session, backend = await session_factory.started()
    backend.end()
    for doing in (read(session, "total"), write(session, "total", "5")):
        assert (await failure(doing)).code is ErrorCode.PROGRAM_EXITED


# -- calling -------------------------------------------------------------------------------------


async def test_a_function_is_called_by_the_debugger_or_as_an_expression(session_factory):
    session, backend = await session_factory.stopped()
    backend.values["add(1, 2)"] = "three"
    assert (
        await session.run_job(lambda: live_values.call_function(session, "add", ("1", "2")))
    ).value == "three"
    FakeFunctionCalls(backend)
    told = await session.run_job(lambda: live_values.call_function(session, "add", ("1", "2")))
    assert (told.expression, told.value, told.type) == ("add(1, 2)", "3", "int")


async def test_no_function_is_called_while_the_program_runs(session_factory):
    session, backend = await session_factory.started()
    FakeFunctionCalls(backend)
    failed = await failure(session.run_job(lambda: live_values.call_function(session, "add", ())))
    assert (failed.code, failed.message) == (
        ErrorCode.WRONG_STATE,
        "cannot call add: the program is running",
    )


# -- tracing -------------------------------------------------------------------------------------


async def test_patterns_are_traced_listed_and_let_go(session_factory):
    session, backend = await session_factory.started()
    ability = FakeTracing(backend)
    told = await function_tracing.add_traces(session, ["audio::*", "nosuch*"], 1)
    assert told.functions == 1
    assert [(one.id, one.names, one.left_out) for one in told.traced] == [
        (1, ("one",), 1),
        (None, (), 0),
    ]
    assert told.traced[1].why == "no function is called so"
    assert ability.limits == [1]
    failed = await failure(function_tracing.remove_traces(session, [1, 9], every=False))
    assert (failed.code, failed.message) == (ErrorCode.NOT_FOUND, "no trace 9; there are: 1")
    assert [one.pattern for one in (await function_tracing.list_traces(session)).traced] == [
        "audio::*"
    ]
    assert (await function_tracing.remove_traces(session, [], every=True)).removed == (1,)
    assert (await function_tracing.list_traces(session)).traced == ()


async def test_a_program_that_is_started_again_is_traced_again(session_factory):
    session, backend = await session_factory.started()
    FakeTracing(backend)
    await function_tracing.add_traces(session, ["audio::*"], 7)
    await function_tracing.add_traces(session, ["other"], None)
    await function_tracing.remove_traces(session, [2], every=False)
    again: list[FakeTracing] = []
    make = session.make_backend

    def made(sink, tasks):
        found = make(sink, tasks)
        again.append(FakeTracing(found))
        return found

    session.make_backend = made
    await session.run_job(session.restart)
    assert [one.pattern for one in again[0].known.values()] == ["audio::*"]
    assert again[0].limits == [7]


async def test_without_the_ability_functions_are_logged_where_they_are_entered(session_factory):
    session, backend = await session_factory.stopped()
    told = await function_tracing.add_traces(session, ["work"], None)
    assert (told.functions, told.traced[0].id) == (1, 1)
    assert [(one.spec.function, one.spec.log) for one in backend.lists[None]] == [
        ("work", "enter work")
    ]
    for pattern in ("audio::*", "@file:a.c", "w?rk"):
        failed = await failure(function_tracing.add_traces(session, [pattern], None))
        assert failed.code is ErrorCode.NOT_SUPPORTED
        assert "--backend frida" in failed.hint
    assert [one.pattern for one in (await function_tracing.list_traces(session)).traced] == ["work"]
    assert (
        await failure(function_tracing.remove_traces(session, [7], every=False))
    ).code is ErrorCode.NOT_FOUND
    assert (await function_tracing.remove_traces(session, [1], every=False)).removed == (1,)
    assert backend.lists[None] == ()


# -- threads that stop each on its own -------------------------------------------------------------


async def test_threads_that_run_are_told_from_those_that_wait(session_factory):
    session, backend = await session_factory.started()
    alone = FakePauseAll(backend, "main", "worker")
    assert inspection.paused_alone(session) == ()
    alone.wait(2)
    backend.stop(10, thread=2)
    told = await session.run_job(lambda: inspection.list_threads(session))
    assert [(one.id, one.state, one.frame is None) for one in told.threads] == [
        (1, "running", True),
        (2, "stopped", False),
    ]
    stacks = await session.run_job(lambda: inspection.all_backtraces(session, limit=5))
    assert [(one.thread, one.state == "running", len(one.frames)) for one in stacks.threads] == [
        (1, True, 0),
        (2, False, 2),
    ]
    assert inspection.paused_alone(session) == (2,)


async def test_a_thread_whose_stack_is_refused_runs(session_factory, monkeypatch):
    session, backend = await session_factory.started()

    async def list_both():
        return [Thread(1, "main"), Thread(2, "worker")]

    monkeypatch.setattr(backend, "list_threads", list_both)
    backend.stop(10, thread=2)
    await session.run_job(lambda: inspection.list_threads(session))
    read_stack = backend.read_stack

    async def read_some(thread, *, levels=20, start=0):
        if thread == 1:
            raise DebuggerError(ErrorCode.ADAPTER_FAILED, "process not paused: 1", hint="wait")
        return await read_stack(thread, levels=levels, start=start)

    monkeypatch.setattr(backend, "read_stack", read_some)
    listed = await session.run_job(lambda: inspection.list_threads(session))
    assert [(one.id, one.state) for one in listed.threads] == [(1, "running"), (2, "stopped")]
    stacks = await session.run_job(lambda: inspection.all_backtraces(session, limit=5))
    assert [(one.thread, one.state == "running") for one in stacks.threads] == [
        (1, True),
        (2, False),
    ]


async def test_all_threads_are_paused_also_where_one_has_stopped(session_factory, patience):
    session, backend = await session_factory.started()
    alone = FakePauseAll(backend, "main", "worker")
    alone.wait(2)
    backend.stop(10, thread=2)
    told = await stepping.pause_all(session, patience())
    assert (told.reason, told.frame.line) == ("pause", 7)
    assert alone.waiting_threads == (1, 2)
    assert backend.calls.count("pause all") == 1
    again = await stepping.pause_all(session, patience())
    assert again.frame.line == 7
    assert backend.calls.count("pause all") == 1


async def test_a_debugger_that_stops_all_at_once_pauses_all_by_a_pause(session_factory, patience):
    session, backend = await session_factory.started()
    told = await stepping.pause_all(session, patience())
    assert told.reason == "pause"
    assert "pause" in backend.calls
