"""Groups of simulated members: many, slow ones, and ones that come and go."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

import pytest

from debugger.backends.base import BackendEnded, OutputPrinted, ProcessStarted
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram
from debugger.output.structured import OutputStyle, RenderPage, fit_sections
from debugger.questions.group.group_choice import ChosenMembers
from debugger.questions.group.group_run import continue_members
from debugger.questions.group.member_stacks import STACKS_S, read_group_stacks
from debugger.questions.group.render import format_stacks
from debugger.session.group import Group, MemberFacts, ask_members
from debugger.session.inspection import frame_of
from debugger.session.stepping import WaitLimit
from debugger.system import process_info
from event_loop import await_condition
from simulated_groups import start_group, start_joined, start_member, start_program

MANY = 1000
ODD = 617
CHURN = 450  # processes that start and end, more than are kept


async def test_a_thousand_members_answer_in_one_page_and_the_odd_one_is_first(session_factory):
    group, backends = await start_group(session_factory.sessions, MANY)
    backends[ODD].line = 7
    chosen = await group.select(f"0-{MANY - 2}")  # with main there are more than a group takes
    answer = await read_group_stacks(group, chosen, by="line", every=False)
    page = RenderPage(OutputStyle.PLAIN, 100, 4000)
    text = fit_sections(format_stacks(answer, page), page.limit)
    assert len(text) <= page.limit
    assert text.splitlines() == [
        "job: 999 members: 999 stopped (0-998)",
        "0-998: main loop.c:90",
        f"  {ODD}: work loop.c:7",
        f"  0-{ODD - 1},{ODD + 1}-998: work loop.c:10",
        f"note: commands act on {MANY:,} of the {MANY + 1:,} members",
    ]


async def test_members_that_a_groups_answer_has_shown_are_not_reported_again_for_a_value(
    session_factory,
):
    _, backends = await start_group(session_factory.sessions, 1)
    session = session_factory.sessions.get("job.1")
    session.mark_reported()  # as the answer of `pause` does
    before = len(backends[0].calls)
    frame = await session.run_job(lambda: frame_of(session))
    assert (frame.function, session.selection.frame) == ("work", frame)
    assert "scopes" not in " ".join(backends[0].calls[before:])


async def test_what_members_print_as_they_go_on_is_in_the_answer(session_factory):
    group, backends = await start_group(session_factory.sessions, 2)
    limit = WaitLimit(0.0, asyncio.Event())
    members = await group.select("0-1")
    backends[0].sink(OutputPrinted(OutputStream.STDOUT, "rank 0\n"))
    answer = await continue_members(ChosenMembers(group, tuple(members)), limit)
    assert [one.text for one in answer.stop.output] == ["rank 0"]


async def test_a_slow_member_is_named_and_delays_no_other(session_factory):
    group, backends = await start_group(session_factory.sessions, 3)
    backends[1].hold = "stack"
    answer = await read_group_stacks(group, await group.select("0-2"), by="line", every=False)
    assert [(one.label, one.reason) for one in answer.silent] == [
        ("1", f"no answer within {STACKS_S:g} s")
    ]
    assert [one.members for one in answer.branches] == [("0", "2")]


async def test_the_others_answer_before_a_slow_member_is_late(session_factory):
    group, backends = await start_group(session_factory.sessions, 3)
    backends[1].hold = "evaluate"
    for one in backends:
        one.values["x"] = "1"
    order: list[str] = []

    async def ask(member):
        found = await member.session.run_job(
            lambda: member.session.backend.evaluate("x", None, None)
        )
        order.append(member.label)
        if set(order) == {"0", "2"}:
            backends[1].let_go.set()
        return found.value

    found, silent = await ask_members(await group.select("0-2"), ask, 20.0)
    assert (order[-1], found, silent) == ("1", {"0": "1", "1": "1", "2": "1"}, [])


async def test_members_that_a_busy_machine_lets_answer_one_after_another_are_not_late(
    session_factory,
):
    group, _ = await start_group(session_factory.sessions, 3)
    limit_s = 0.2

    first, has_blocked, hop, back = (asyncio.Event() for _ in range(4))

    async def ask(member):
        if member.label == "0":
            await first.wait()
            time.sleep(2 * limit_s)  # noqa: ASYNC251 - the daemon itself gets no processor
            has_blocked.set()
        elif member.label == "1":
            first.set()
            await has_blocked.wait()
            hop.set()
            await back.wait()
        else:
            await hop.wait()
            back.set()
        return member.label

    found, silent = await ask_members(await group.select("0-2"), ask, limit_s)
    assert (list(found), silent) == (["0", "1", "2"], [])


async def test_a_member_that_a_signal_has_stopped_is_named_with_that(session_factory, monkeypatch):
    group, _ = await start_group(session_factory.sessions, 2)
    monkeypatch.setattr(process_info, "is_suspended", lambda _: True)

    async def ask(member):
        if member.label == "0":
            raise DebuggerError(ErrorCode.TIMEOUT, "it answered nothing")
        return member.label

    found, (silent,) = await ask_members(await group.select("0-1"), ask, 20.0)
    assert (list(found), silent.label) == (["1"], "0")
    assert silent.reason.startswith("a signal has stopped it: kill -CONT ")


async def test_a_member_whose_process_is_gone_is_named_at_once(session_factory):
    group, backends = await start_group(session_factory.sessions, 2)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:  # noqa: ASYNC220 - it is only there
        backends[0].sink(ProcessStarted(process.pid))
        process.kill()
    never = asyncio.Event()

    async def ask(member):
        if member.label == "0":
            await never.wait()
        return member.label

    found, (silent,) = await ask_members(await group.select("0-1"), ask, 60.0)
    assert (found, silent.label, silent.reason) == ({"1": "1"}, "0", "its process has ended")


async def test_processes_that_start_and_end_without_end_are_forgotten(session_factory):
    group, above = await start_program(session_factory.sessions)
    main, last = group.first, None
    for pid in range(CHURN):
        last = await start_member(above)
        last.sink(ProcessStarted(10_000 + pid))
        last.end()
        if pid % 50 == 0:
            assert "main" in [one.label for one in await group.members()]
    await await_condition(
        lambda: all(not one.is_live for one in group.sessions() if one is not main),
        what="all ends",
    )
    kept = len(await group.members())
    assert kept < CHURN // 2
    assert group.describe_omitted() == [
        f"{CHURN + 1 - kept} more members ended earlier, and are no longer kept"
    ]
    assert next(one.label for one in await group.members()) == "main"


async def test_members_that_join_one_by_one_are_forgotten_as_those_that_a_program_starts(
    session_factory,
):
    sessions = session_factory.sessions
    earlier, _ = await session_factory.started("earlier")
    session_factory.backends[-1].end()
    first, backend = await start_joined(sessions, None, "job")
    group = sessions.groups.add("job", first, is_main=False)
    for _ in range(CHURN):
        backend.end()
        _, backend = await start_joined(sessions, first)
    kept = len(await group.members())
    assert CHURN // 3 < kept < CHURN // 2
    assert group.describe_omitted() == [
        f"{CHURN + 1 - kept} more members ended earlier, and are no longer kept"
    ]
    assert earlier in sessions.all_sessions()


async def test_a_group_that_has_ended_gives_its_name_to_another_as_a_whole(session_factory):
    sessions = session_factory.sessions
    first, backend = await start_joined(sessions, None, "job")
    _, other = await start_joined(sessions, first)
    backend.end()
    other.end()
    await await_condition(
        lambda: not any(one.is_live for one in sessions.all_sessions()), what="all ends"
    )
    again, _ = await start_joined(sessions, None, "job")
    assert sessions.all_sessions() == [again]


async def test_a_label_that_two_members_have_is_made_unique(session_factory):
    group, _ = await start_group(session_factory.sessions, 2)
    main, *members = group.sessions()
    other = Group("twice", main, main=main)
    for one in members:
        other.note_facts(one, MemberFacts({"RANK": "5"}))
    assert [one.label for one in await other.members()] == ["main", "5", "5#2"]


async def test_what_the_whole_program_inherited_names_no_member(session_factory):
    group, _ = await start_group(session_factory.sessions, 2)
    main, *members = group.sessions()
    other = Group("tested", main, main=main)
    inherited = {"PYTEST_XDIST_WORKER": "gw0"}
    other.note_facts(main, MemberFacts(inherited, "MainProcess"))
    for at, one in enumerate(members):
        other.note_facts(one, MemberFacts(inherited, f"Process-{at + 1}"))
    assert [one.label for one in await other.members()] == ["main", "1", "2"]


async def test_a_group_whose_sessions_are_gone_is_forgotten(session_factory):
    group, backends = await start_group(session_factory.sessions, 1)
    backends[0].sink(ExitedProgram(0))
    await session_factory.sessions.close(group.first, kill=True)
    with pytest.raises(DebuggerError) as refused:
        session_factory.sessions.groups.get("job")
    assert refused.value.code is ErrorCode.NO_SESSION


async def test_a_group_whose_stopped_members_are_a_persons_says_whose(session_factory):
    group, backends = await start_group(session_factory.sessions, 2)
    members = await group.select("0-1")
    for one in members:
        one.session.control.take_over("page", is_alone=True)
    limit = WaitLimit(0.0, asyncio.Event())
    with pytest.raises(DebuggerError, match=r"cannot continue: a person took over job\.1") as held:
        await continue_members(ChosenMembers(group, tuple(members)), limit)
    assert held.value.code is ErrorCode.DENIED
    # The others go on, and the answer names the one that does not.
    members[1].session.control.hand_back("page")
    answer = await continue_members(ChosenMembers(group, tuple(members)), limit)
    (note,) = [one for one in answer.stop.notes if "did not go on" in one]
    assert note.startswith("0 did not go on: cannot continue: a person took over job.1 at ")
    assert backends[1].calls[-1] == "continue"


def run_to_end() -> int:
    """Return the pid of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


async def test_processes_that_have_come_to_no_debugger_are_named(session_factory):
    group, _ = await start_program(session_factory.sessions)
    ended = run_to_end()
    group.expected |= {ended, os.getpid()}  # of which one is on its way
    group.alone[4711] = "ptrace: Operation not permitted."
    assert group.describe_omitted() == [
        "without a debugger, and no members: 4711: ptrace: Operation not permitted.",
        f"ended before a debugger had attached, and no members: {ended}",
    ]


async def test_a_member_that_has_ended_is_named_by_what_it_was_started_with(session_factory):
    group, above = await start_program(session_factory.sessions)
    backend = await start_member(above)
    await group.members()
    (session,) = [one for one in group.sessions() if one is not group.first]
    session.process.variables = {"NODE_UNIQUE_ID": "7"}
    backend.sink(ExitedProgram(0))
    backend.sink(BackendEnded())
    await await_condition(lambda: not session.is_live, what="the end of the member")
    assert [one.label for one in await group.members()] == ["main", "7"]


async def test_a_member_that_answers_late_is_named_by_what_it_was_started_with(session_factory):
    group, above = await start_program(session_factory.sessions)
    await start_member(above)
    (session,) = [one for one in group.sessions() if one is not group.first]
    started_with = {"PYTEST_XDIST_WORKER": "gw0"}
    group.first.process.variables = started_with
    session.process.variables = started_with | {"RANK": "2"}
    group._late |= {group.first, session}
    assert [one.label for one in group.known_members()] == ["main", "2"]
    # What it says itself goes before that.
    group.note_facts(session, MemberFacts({}, "Process-7"))
    assert [one.label for one in group.known_members()] == ["main", "7"]


async def test_a_filter_that_matches_no_process_is_said_in_every_answer(session_factory):
    group, _ = await start_group(session_factory.sessions, 2)
    group.pattern = "*nosuch*"
    answer = await read_group_stacks(group, await group.members(), by="line", every=False)
    assert answer.notes == ("no process matches *nosuch*; there are: worker.py",)
    group.pattern = "*worker*"
    assert group.describe_omitted() == []
