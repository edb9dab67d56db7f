"""Explains why a group does not go on: the member that is not where the others wait."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_merge import StackPlace
from debugger.model.location import is_library
from debugger.questions.group import group_run, member_meetings
from debugger.questions.group.answer import GroupHang
from debugger.questions.group.group_choice import ChosenMembers
from debugger.questions.group.laggards import (
    AGAIN_S,
    ALONE_S,
    CHILD,
    COMPUTES,
    ENDED,
    FAILED,
    SETTLE_S,
    SILENT,
    STARTING,
    STOPPED,
    WAITS,
    MemberWait,
    is_meeting_call,
    is_settled,
    judge_waits,
)
from debugger.questions.group.member_meetings import MeetingFacts
from debugger.questions.group.member_stacks import (
    PlaceOf,
    describe_state,
    read_source_line,
    read_stopped_stacks,
    snapshot_places,
)
from debugger.questions.hang import hang_question, python_waits, thread_sampling
from debugger.questions.hang.answer import Hang
from debugger.questions.hang.thread_sampling import ProcessWatch, go_on, watch_process
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session.group import Group, Member, ask_members, drop_launcher, is_started
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit

_WATCH_S = 0.3  # seconds in which the processor time of members is measured
_MEMBER_S = 6.0  # seconds until a member must have answered
_WRAPPERS = 4  # frames of a library between the program and the function that it called
_REMOVE_S = 2.0  # seconds until injected code must have been removed
_STOP_S = 2.0  # seconds until a member must have stopped
_ASK_S = 20.0  # seconds for the question, after the time that the program runs
_BEGINNINGS = ("_bootstrap", "BaseProcess._bootstrap")
_JOINS = re.compile(r"(?:BaseProcess|Popen|Process|Pool|ProcessContext)\.(?:join|wait|poll)\Z")
_MPI = re.compile(r"P?MPI_")
_NAMED_PID = re.compile(r"\S+ \(pid (\d+)\)")


async def explain_group_hang(question: QuestionRun, after_s: float) -> GroupHang | Hang:
    """Start a program, and explain after some time which of its members lags; then end it.

    Raises:
        DebuggerError: What starting the program raises.
    """
    target = question.target
    if not isinstance(target, LaunchTarget):
        raise DebuggerError(
            ErrorCode.USAGE,
            "hang --group takes a command, or the current group",
            hint="debugger attach --group --tree PID, then debugger hang --group",
        )
    patience = WaitLimit(after_s + SETTLE_S + _ASK_S, question.patience.interrupted)
    limited = replace(question, patience=patience)
    began = asyncio.get_running_loop().time()
    async with question_run.run_question(limited) as run:
        last, fault = await hang_question.run_for(run, after_s)
        if last is not None:
            return hang_question.report_ended(run, last, began, fault)
        name = Path(target.program or target.module or "group").stem
        return await _look_until_settled(run, Group(name, run.session, main=run.session))


async def _look_until_settled(run: RunningQuestion, group: Group) -> GroupHang:
    """Look at the members until they are where they hang: imports may take them long (bounded)."""
    began = asyncio.get_running_loop().time()
    before, limit = None, began + SETTLE_S
    while True:
        run.ends_at = asyncio.get_running_loop().time() + _ASK_S
        answer = await find_laggards(ChosenMembers(group, tuple(await group.members())))
        is_over = asyncio.get_running_loop().time() > limit or run.patience.interrupted.is_set()
        may_start = asyncio.get_running_loop().time() < began + ALONE_S
        if is_over or is_settled(answer.verdict, before, may_start=may_start):
            return answer
        before = answer.verdict
        if not await thread_sampling.run_briefly(run, AGAIN_S):
            return answer


async def find_laggards(chosen: ChosenMembers, *, keeps_waits: bool = False) -> GroupHang:
    """Read what each member does, side by side, and decide who is missing where.

    `keeps_waits` is for the daemon of another machine, which judges all parts of a group.
    """
    labels = {one.session.pid: one.label for one in chosen.members if one.session.pid is not None}
    members = drop_launcher(chosen.members)
    locks: dict[str, str] = {}
    found, silent = await ask_members(
        members, lambda one: _read_wait(one, chosen.group, locks), _MEMBER_S
    )
    waits = [_name_peers(found[one.label], labels) for one in members if one.label in found]
    running = [one for one in members if one.label in found and _reports_itself(one)]
    waits = await member_meetings.find_lock_owners(waits, locks, running)
    if not is_started(chosen.group):
        # Nothing of ours stays in a process that is only attached to.
        await ask_members(
            running, lambda one: python_waits.remove_snapshot_code(one.session), _REMOVE_S
        )
    waits += [MemberWait(one.label, SILENT, detail=one.reason) for one in silent]
    verdict = judge_waits(waits)
    own = tuple(waits) if keeps_waits else ()
    return GroupHang(chosen.group.name, len(chosen.members), verdict, own)


def _reports_itself(member: Member) -> bool:
    """Tell whether a member's own interpreter says what it does, while it runs."""
    session = member.session
    return session.traits.runtime is Runtime.PYTHON and session.state is State.RUNNING


async def _read_wait(member: Member, group: Group, locks: dict[str, str]) -> MemberWait:
    """Read what a member does; the name of a lock that it waits for is added to `locks`."""
    session, is_main = member.session, member.session is group.main
    if not session.is_live:
        state = describe_state(session)
        if session.state is not State.TERMINATED:  # its debugger starts
            return MemberWait(member.label, COMPUTES, call=STARTING, detail=state, is_main=is_main)
        if state == "ended":
            return MemberWait(member.label, ENDED)
        return MemberWait(member.label, FAILED, detail=state)
    cwd = session.target.cwd
    if session.state is State.STOPPED:
        (stack,) = await session.run_job(lambda: read_stopped_stacks(session, every=False))
        place, call = find_own_call(stack, cwd)
        return MemberWait(member.label, STOPPED, place, call, is_main=is_main)
    watch = await watch_process(session.pid or 0, _WATCH_S, asyncio.Event())
    place, call, facts = None, "", MeetingFacts()
    if _reports_itself(member):
        snapshot = await python_waits.take_snapshot(session, member_meetings.MEETINGS)
        facts = member_meetings.parse_facts(snapshot.facts)
        if facts.lock:
            locks[member.label] = facts.lock
        for stack in snapshot_places(snapshot, cwd, every=False):
            place, call = find_own_call(stack, cwd)
    elif session.state is State.RUNNING and session.traits.runtime is not Runtime.NODE:
        place, call = await _read_by_stopping(session, cwd)
    kind, detail = _kind_of_wait(watch, call), _describe_call(watch)
    wait = MemberWait(member.label, kind, place, call, detail, is_main=is_main)
    return member_meetings.add_facts(wait, facts)


async def _read_by_stopping(session: Session, cwd: str) -> tuple[StackPlace | None, str]:
    """Stop a member for as long as its stack is read."""
    await group_run.pause_session(session, _STOP_S)
    if session.state is not State.STOPPED:
        return None, ""
    try:
        (stack,) = await session.run_job(lambda: read_stopped_stacks(session, every=False))
    finally:
        await go_on(session)
    return find_own_call(stack, cwd)


def _kind_of_wait(watch: ProcessWatch, call: str) -> str:
    # The main thread of a process has the number of the process.
    if _MPI.match(call):
        return WAITS  # it polls: it uses the processor, and gets nowhere
    if watch.is_computing(watch.pid):
        return COMPUTES
    wait = watch.waits.get(watch.pid)
    return CHILD if _JOINS.search(call) or (wait and wait.kind == "child") else WAITS


def _describe_call(watch: ProcessWatch) -> str:
    wait = watch.waits.get(watch.pid)
    return wait.text if wait is not None and wait.kind == "io" else ""


def _name_peers(wait: MemberWait, labels: Mapping[int, str]) -> MemberWait:
    """Name the members at the other end of a pipe or socket by their labels."""

    def name(found: re.Match[str]) -> str:
        label = labels.get(int(found[1]))
        return f"member {label}" if label is not None else found[0]

    detail = _NAMED_PID.sub(name, wait.detail)
    return msgspec.structs.replace(wait, detail=detail)


def find_own_call(stack: Sequence[PlaceOf], cwd: str) -> tuple[StackPlace | None, str]:
    """Return the innermost frame of the program's own code, and the library function it called.

    A library may put wrappers around its functions, as torch.distributed does to log exceptions.
    """
    end = next((at for at, one in enumerate(stack) if one[0] in _BEGINNINGS), len(stack))
    for at, (function, file, line) in enumerate(stack[:end]):
        if not is_library(file, cwd):
            text = read_source_line(file, line) if file and line else ""
            # Of a stopped process the debugger reports the name without its class.
            name = function.rpartition(".")[2]
            called = [one[0] for one in reversed(stack[max(0, at - _WRAPPERS) : at])]
            call = next(filter(is_meeting_call, called), called[0] if called else "")
            return StackPlace(name, file, line, text), call
    return None, stack[0][0] if stack else ""
