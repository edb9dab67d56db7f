"""A group's members are stopped together: a crowd is suspended first, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

import pytest

from debugger.backends.base import ProcessStarted
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import DebuggerTraits, Runtime
from debugger.model.events import State
from debugger.model.program import ResumeKind, Stopped, StopReason
from debugger.model.thread_waits import SystemCall
from debugger.questions.group import group_pause
from debugger.questions.group.group_choice import ChosenMembers
from debugger.questions.group.group_pause import GroupPause, find_crowd, find_endless_waits
from debugger.questions.hang.thread_sampling import go_on
from debugger.session.group import Group, Member, MemberFacts
from debugger.session.stepping import WaitLimit
from debugger.system.process_info import ThreadState, is_suspended
from debugger.system.suspended_processes import (
    SuspendedProcesses,
    find_suspendable,
    read_status,
)
from event_loop import await_condition
from fakes.fake_backend import FakeBackend
from simulated_groups import start_group, start_member

PYTHON = DebuggerTraits(runtime=Runtime.PYTHON)
DEBUGGER_THREAD = 2
ENDLESS = ThreadState(1, "python", "S", 0.5, SystemCall("read", (3, 0, 1)))
TIMED = ThreadState(1, "python", "S", 0.5, SystemCall("poll", (0, 1, 500)))
COMPUTING = ThreadState(1, "python", "R", 0.5)
OF_DEBUGGER = ThreadState(DEBUGGER_THREAD, "python", "S", 0.1, SystemCall("futex", (0, 0, 0, 1)))
LONG = WaitLimit(1000.0, asyncio.Event())


class RecordedSuspension(SuspendedProcesses):
    """Suspends nobody, and records whose turn comes."""

    def __init__(self, pids: list[int], on_resume: Callable[[int], None]) -> None:
        super().__init__(())
        self._suspended = list(pids)
        self._on_resume = on_resume

    def resume(self, pid: int) -> None:
        self._suspended.remove(pid)
        self._on_resume(pid)


@pytest.fixture(autouse=True)
def python_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeBackend, "traits", PYTHON)


async def start_running(sessions, count: int) -> tuple[Group, list[Member], list[FakeBackend]]:
    """Start Python members that run; their pids are 100 and up."""
    group, backends = await start_group(sessions, count)
    members = [one for one in await group.members() if one.label != "main"]
    for at, (member, backend) in enumerate(zip(members, backends, strict=True)):
        backend.sink(ProcessStarted(100 + at))
        await member.session.run_job(
            lambda session=member.session: session.resume(ResumeKind.CONTINUE)
        )
        group.note_facts(
            member.session,
            MemberFacts({"RANK": str(at)}, debugger_threads=frozenset({DEBUGGER_THREAD})),
        )
    return group, members, backends


def threads_of(*states: ThreadState) -> Callable[[int], Mapping[int, ThreadState]]:
    return lambda _pid: {one.number: one for one in states}


async def test_all_members_are_asked_before_any_stop_is_awaited(session_factory):
    group, members, backends = await start_running(session_factory.sessions, 3)
    backends[0].hold = "pause"
    pause = GroupPause(group, members, SuspendedProcesses(()), waits_for_all=True)
    stopping = asyncio.create_task(pause.stop_all(LONG))
    await backends[0].held.wait()
    await await_condition(
        lambda: all(one.session.state is State.STOPPED for one in members[1:]), what="the others"
    )
    backends[0].let_go.set()
    assert await stopping == []


async def test_suspended_members_go_on_a_few_at_a_time_until_all_have_stopped(
    session_factory, monkeypatch
):
    monkeypatch.setattr(group_pause, "count_processors", lambda: 2)
    group, members, backends = await start_running(session_factory.sessions, 9)
    by_pid = {one.session.pid: backend for one, backend in zip(members, backends, strict=True)}
    going: set[int] = set()
    most = 0

    def resume(pid: int) -> None:
        nonlocal most
        going.add(pid)
        most = max(most, len(going))
        asyncio.get_running_loop().call_soon(stop, pid)

    def stop(pid: int) -> None:
        going.discard(pid)
        by_pid[pid].let_go.set()

    for one in backends:  # a suspended process does not answer
        one.hold = "pause"
    suspended = RecordedSuspension(list(by_pid), resume)
    pause = GroupPause(group, members, suspended, waits_for_all=True)
    assert await pause.stop_all(LONG) == []
    assert all(one.session.state is State.STOPPED for one in members)
    assert 1 < most <= 4


async def test_members_that_wait_without_an_end_are_named_and_not_awaited(session_factory):
    group, members, backends = await start_running(session_factory.sessions, 2)
    backends[1].hold = "pause"
    reading = threads_of(ENDLESS, OF_DEBUGGER)
    pause = GroupPause(
        group, members, SuspendedProcesses(()), waits_for_all=False, read_threads=reading
    )
    (late,) = await pause.stop_all(LONG)
    assert late.label == "1"
    assert "it waits in compiled code" in late.reason


@pytest.mark.parametrize("state", [TIMED, COMPUTING])
async def test_a_member_that_may_still_stop_is_awaited(session_factory, state):
    group, members, backends = await start_running(session_factory.sessions, 2)
    backends[1].hold = "pause"
    loop, looks = asyncio.get_running_loop(), 0

    def look(_pid: int) -> Mapping[int, ThreadState]:
        nonlocal looks
        looks += 1
        if looks == 3:
            loop.call_soon_threadsafe(backends[1].let_go.set)
        return {state.number: state, DEBUGGER_THREAD: OF_DEBUGGER}

    pause = GroupPause(
        group, members, SuspendedProcesses(()), waits_for_all=False, read_threads=look
    )
    assert await pause.stop_all(LONG) == []


async def test_with_a_time_limit_of_the_users_all_members_are_awaited(session_factory):
    group, members, backends = await start_running(session_factory.sessions, 2)
    backends[1].hold = "pause"
    pause = GroupPause(
        group, members, SuspendedProcesses(()), waits_for_all=True, read_threads=lambda _: {}[0]
    )
    asyncio.get_running_loop().call_later(3 * group_pause.LOOK_S, backends[1].let_go.set)
    assert await pause.stop_all(LONG) == []


async def test_a_member_that_refuses_is_named_with_its_reason(session_factory):
    group, members, backends = await start_running(session_factory.sessions, 2)
    backends[0].fails["pause"] = DebuggerError(ErrorCode.ADAPTER_FAILED, "it is busy")
    pause = GroupPause(group, members, SuspendedProcesses(()), waits_for_all=True)
    assert [(one.label, one.reason) for one in await pause.stop_all(LONG)] == [("0", "it is busy")]


async def test_members_are_a_crowd_where_more_compute_than_there_are_processors(
    session_factory, monkeypatch
):
    monkeypatch.setattr(group_pause, "count_processors", lambda: 2)
    _, members, _ = await start_running(session_factory.sessions, 4)
    assert find_crowd(members, threads_of(COMPUTING), list) == [100, 101, 102, 103]
    assert find_crowd(members, threads_of(COMPUTING), lambda busy: [*busy][1:]) == [101, 102, 103]
    assert find_crowd(members[:2], threads_of(COMPUTING), list) == []
    assert find_crowd(members, threads_of(ENDLESS), list) == []
    for one in members[:2]:  # their debuggers stop them by a signal of their own
        one.session.traits = DebuggerTraits(runtime=Runtime.NATIVE)
    assert find_crowd(members, threads_of(COMPUTING), list) == []


async def test_all_are_stopped_before_a_new_one_is_asked_for_its_name(session_factory):
    group, *_ = await start_running(session_factory.sessions, 2)
    await start_member(group.first.backend)
    new = group.sessions()[-1]
    await await_condition(lambda: new.state is State.RUNNING, what="the new member's start")
    chosen = ChosenMembers(group, tuple(group.known_members()))
    answer = await group_pause.pause_members(chosen, LONG, waits_for_all=True)
    assert [(one.state, len(one.members)) for one in answer.states] == [("stopped", 4)]
    calls = new.backend.calls
    assert calls.index("pause") < calls.index("evaluate")


def status_with(*, caught: int = 0, blocked: int = 0, parent: int = 50, tracer: int = 0):
    return {
        "SigCgt": f"{caught:016x}",
        "SigBlk": f"{blocked:016x}",
        "PPid": str(parent),
        "TracerPid": str(tracer),
    }


SIGCHLD, SIGCONT = 1 << 16, 1 << 17
POLLING = ThreadState(3, "python", "S", 0.1, SystemCall("epoll_wait", (4, 0, 0, 100)))
UNKNOWN = ThreadState(3, "python", "S", 0.1, SystemCall("system call 65"))
WAITS_FOR_STOPS = ThreadState(9, "sh", "S", 0.1, SystemCall("wait4", (2**64 - 1, 0, 2, 0)))
WAITS_FOR_ENDS = ThreadState(9, "sh", "S", 0.1, SystemCall("wait4", (2**64 - 1, 0, 0, 0)))


@pytest.mark.parametrize(
    ("own", "parent", "threads", "above", "is_suspendable"),
    [
        ({}, {}, [COMPUTING, ENDLESS, TIMED], [WAITS_FOR_ENDS], True),
        ({"caught": SIGCHLD}, {"caught": SIGCONT}, [COMPUTING], [], True),
        ({"caught": SIGCONT}, {}, [COMPUTING], [], False),
        ({"blocked": SIGCONT}, {}, [COMPUTING], [], False),
        ({"tracer": 7}, {}, [COMPUTING], [], False),
        ({}, {"caught": SIGCHLD}, [COMPUTING], [], False),
        ({}, {"blocked": SIGCHLD}, [COMPUTING], [], False),
        ({}, {}, [COMPUTING], [WAITS_FOR_STOPS], False),
        ({}, {}, [COMPUTING, POLLING], [], False),
        ({}, {}, [COMPUTING, UNKNOWN], [], False),
        ({}, None, [COMPUTING], [], False),
        (None, {}, [COMPUTING], [], False),
    ],
)
def test_only_a_process_whose_program_cannot_notice_it_is_suspended(
    own, parent, threads, above, is_suspendable
):
    facts = {100: own, 50: parent}
    found = find_suspendable(
        {100: dict(enumerate(threads))},
        lambda pid: {} if facts[pid] is None else status_with(**facts[pid]),
        lambda pid: {one.number: one for one in above} if pid == 50 else {},
    )
    assert found == ([100] if is_suspendable else [])


NOTICES = """
import signal, sys, time
signal.signal(getattr(signal, sys.argv[1]), lambda *_: None)
print("ready", flush=True)
input()
"""


@pytest.mark.parametrize(("number", "is_suspendable"), [("SIGCONT", False), ("SIGUSR1", True)])
def test_the_handlers_of_a_real_process_are_read(number, is_suspendable):
    words = [sys.executable, "-c", NOTICES, number]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()

        def read_state(pid: int) -> Mapping[str, str]:
            # This test's own process may have a handler of SIGCHLD.
            return read_status(pid) if pid == process.pid else status_with()

        found = find_suspendable({process.pid: {}}, read_state, lambda _: {})
        assert found == ([process.pid] if is_suspendable else [])
        process.kill()


@pytest.mark.parametrize(
    ("states", "debugger", "count"),
    [
        ((ENDLESS, OF_DEBUGGER), {DEBUGGER_THREAD}, 1),
        ((ENDLESS, OF_DEBUGGER), set(), 0),
        ((TIMED, OF_DEBUGGER), {DEBUGGER_THREAD}, 0),
        ((COMPUTING, OF_DEBUGGER), {DEBUGGER_THREAD}, 0),
        ((OF_DEBUGGER,), {DEBUGGER_THREAD}, 0),
        ((), {DEBUGGER_THREAD}, 0),
        (
            (ThreadState(1, "python", "S", 0.1, SystemCall("clock_nanosleep")), OF_DEBUGGER),
            {DEBUGGER_THREAD},
            0,
        ),
    ],
)
def test_a_process_is_stuck_only_where_each_thread_waits_without_an_end(states, debugger, count):
    threads = {one.number: one for one in states}
    assert len(find_endless_waits(threads, debugger)) == count


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def test_processes_are_suspended_until_their_turn_or_the_end(sleeper, wait_until):
    with SuspendedProcesses([sleeper]) as suspended:
        wait_until(lambda: is_suspended(sleeper), what="the suspension")
        assert sleeper in suspended
        suspended.resume(sleeper)
        wait_until(lambda: not is_suspended(sleeper), what="its turn")
        assert sleeper not in suspended
    with SuspendedProcesses([sleeper]):
        wait_until(lambda: is_suspended(sleeper), what="the suspension")
    wait_until(lambda: not is_suspended(sleeper), what="the end of the suspension")


def test_a_process_that_has_ended_is_not_suspended():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    with SuspendedProcesses([process.pid]) as suspended:
        assert process.pid not in suspended


async def test_a_member_that_stops_too_late_to_be_read_runs_on(session_factory):
    _, members, backends = await start_running(session_factory.sessions, 1)
    session, backend = members[0].session, backends[0]
    backend.stops_at_pause = False
    await group_pause.pause_session(session, 0.0)
    before = backend.calls.count("continue")
    backend.stop(10, StopReason.PAUSE)
    await await_condition(lambda: backend.calls.count("continue") > before, what="it to go on")
    assert session.state is State.RUNNING
    # A pause that somebody awaits stops it, and so does a breakpoint.
    await group_pause.pause_session(session, 0.0)
    await session.pause()
    backend.stop(10, StopReason.PAUSE)
    assert session.state is State.STOPPED


async def test_a_member_whose_reader_is_cancelled_runs_on(session_factory):
    _, members, backends = await start_running(session_factory.sessions, 1)
    session, backend = members[0].session, backends[0]
    backend.stops_at_pause = False
    reading = asyncio.create_task(group_pause.pause_session(session, LONG.seconds))
    await await_condition(lambda: "pause" in backend.calls, what="the pause")
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    before = backend.calls.count("continue")
    backend.stop(10, StopReason.PAUSE)
    await await_condition(lambda: backend.calls.count("continue") > before, what="it to go on")
    assert session.state is State.RUNNING


async def test_a_member_that_is_paused_twice_and_stops_late_runs_on_from_the_second_stop(
    session_factory,
):
    _, members, backends = await start_running(session_factory.sessions, 1)
    session, backend = members[0].session, backends[0]
    backend.stops_at_pause = False
    await group_pause.pause_session(session, 0.0)
    async with group_pause.stop_briefly(session, 0.0) as is_stopped:
        assert not is_stopped
    await session.pause()
    backend.stop(10, StopReason.PAUSE)
    assert session.state is State.STOPPED
    await go_on(session)
    # gdb does not expect the second signal.
    before = backend.calls.count("continue")
    for _ in range(2):
        backend.sink(Stopped(StopReason.SIGNAL, "signal", 1, signal="SIGSTOP"))
    await await_condition(lambda: backend.calls.count("continue") == before + 2, what="both")
    # The next one is the program's own.
    backend.sink(Stopped(StopReason.SIGNAL, "signal", 1, signal="SIGSTOP"))
    assert session.state is State.STOPPED


async def test_a_member_that_meets_a_breakpoint_while_it_is_read_stays_there(session_factory):
    _, members, backends = await start_running(session_factory.sessions, 1)
    session, backend = members[0].session, backends[0]
    backend.stops_at_pause = False
    reading = asyncio.create_task(_read_briefly(session))
    await await_condition(lambda: "pause" in backend.calls, what="the pause")
    backend.sink(Stopped(StopReason.EXCEPTION, "exception", 1))
    assert await reading is False
    assert session.state is State.STOPPED


async def _read_briefly(session) -> bool:
    async with group_pause.stop_briefly(session, LONG.seconds) as is_stopped:
        return is_stopped
