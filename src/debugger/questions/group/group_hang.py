"""Explains why a group does not go on: the member that is not where the others wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import exception_cause
from debugger.model.events import State
from debugger.model.location import is_library
from debugger.questions.group import member_meetings
from debugger.questions.group.answer import GroupHang
from debugger.questions.group.group_choice import ChosenMembers
from debugger.questions.group.group_question import build_group_question, name_members
from debugger.questions.group.laggards import (
    AGAIN_S,
    SETTLE_MAX_S,
    GroupVerdict,
    is_looked_at_again,
    judge_waits,
)
from debugger.questions.group.member_threads import find_locked, read_member_waits, reports_itself
from debugger.questions.group.member_wait import SILENT, MemberWait
from debugger.questions.hang import hang_question, python_waits, thread_sampling
from debugger.questions.hang.answer import Hang
from debugger.questions.runner import question_run
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session.group import Group, Member, ask_members, drop_launcher, is_started
from debugger.session.stepping import WaitLimit
from debugger.system import process_info
from debugger.system.wait_holders import HolderTable

_MEMBER_S = 6.0  # seconds until a member must have answered
_REMOVE_S = 2.0  # seconds until injected code must have been removed
# Seconds of a processor that a program uses between two looks if it works: a look itself costs
# each member some.
_WORKS_S, _LOOK_S = 0.1, 0.02
_ASK_S = 20.0  # seconds for the question, after the time that the program runs


async def explain_group_hang(
    call: CommandCall, requested: QuestionOptions, after_s: float
) -> GroupHang | Hang:
    """Start a program, and explain after some time which of its members lags; then end it.

    Raises:
        DebuggerError: What starting the program raises.
    """
    if not requested.words or requested.pid is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "hang --group takes a command, or the current group",
            hint="debugger attach --group --tree PID, then debugger hang --group",
        )
    question, name = await build_group_question(call, requested)
    groups = call.sessions.groups
    limited = replace(
        question,
        patience=WaitLimit(after_s + SETTLE_MAX_S + _ASK_S, question.patience.interrupted),
        # Members may come as soon as the program runs.
        on_created=lambda one: groups.add(name, one, is_main=True),
    )
    began = asyncio.get_running_loop().time()
    async with question_run.run_question(limited) as run:
        group = groups.get(name)
        naming = asyncio.create_task(name_members(run.session.timeline, group))
        try:
            last, fault = await hang_question.run_for(run, after_s)
        finally:
            naming.cancel()
        if last is not None:
            return hang_question.report_ended(run, last, began, fault)
        answer = await _look_until_settled(run, group)
        return msgspec.structs.replace(answer, notes=(*answer.notes, *_describe_traceback(run)))


def _describe_traceback(run: RunningQuestion) -> tuple[str, ...]:
    """Name an exception that the output tells of: others may wait for who has raised it."""
    found, cwd = exception_cause.parse_traceback(run.all_output_lines()), run.session.target.cwd
    if found is None:
        return ()
    own = next((one for one in found.frames if not is_library(one.file, cwd)), None)
    where = f", in {own.function} {Path(own.file).name}:{own.line}" if own is not None else ""
    message = f": {found.message}" if found.message else ""
    return (f"its output has a traceback: {found.type}{message}{where}",)


async def _look_until_settled(run: RunningQuestion, group: Group) -> GroupHang:
    """Look at the members until they are where they hang: imports may take them long (bounded)."""
    began = asyncio.get_running_loop().time()
    before, used_s, silent_s = None, 0.0, 0.0
    while True:
        is_running = run.session.state is State.RUNNING
        run.ends_at = asyncio.get_running_loop().time() + _ASK_S
        members = await group.members()
        answer = await find_laggards(ChosenMembers(group, tuple(members)))
        elapsed_s = asyncio.get_running_loop().time() - began
        used_before_s, silent_before_s = used_s, silent_s
        used_s = await asyncio.to_thread(process_info.processor_seconds, run.session.pid or 0)
        silent_s = await asyncio.to_thread(_silent_seconds, members, answer.verdict)
        is_on = is_looked_at_again(
            answer.verdict,
            before,
            elapsed_s=elapsed_s,
            works=used_s > used_before_s + _WORKS_S + _LOOK_S * answer.total,
            silent_works=silent_s > silent_before_s + _WORKS_S,
        )
        if not is_on or not is_running or run.patience.interrupted.is_set():
            return answer
        before = answer.verdict
        # A member that stops or ends meanwhile is looked at at once.
        if run.session.state is State.RUNNING:
            await thread_sampling.run_briefly(run, AGAIN_S)


def _silent_seconds(members: Sequence[Member], verdict: GroupVerdict) -> float:
    """Return the processor time that members which did not answer have used themselves."""
    silent = {label for one in verdict.rows if one.kind == SILENT for label in one.members}
    pids = [one.session.pid or 0 for one in members if one.label in silent]
    threads = [one for pid in pids for one in process_info.read_threads(pid).values()]
    return sum(one.cpu_s for one in threads)


def require_live(chosen: ChosenMembers) -> None:
    """Check that there is a member left to ask.

    Raises:
        DebuggerError: PROGRAM_EXITED.
    """
    if not any(one.session.is_live for one in chosen.members):
        raise DebuggerError(
            ErrorCode.PROGRAM_EXITED,
            f"nothing waits: all members of {chosen.group.name} have ended",
            hint="debugger status shows how they ended; debugger output what they printed",
        )


async def find_laggards(chosen: ChosenMembers, *, keeps_waits: bool = False) -> GroupHang:
    """Read what each thread of each member does, side by side, and decide who is missing where.

    `keeps_waits` is for the daemon of another machine, which judges all parts of a group.
    """
    labels = {one.session.pid: one.label for one in chosen.members if one.session.pid is not None}
    members = drop_launcher(chosen.members)
    table = await asyncio.to_thread(HolderTable.read)
    found, silent = await ask_members(
        members, lambda one: read_member_waits(one, chosen.group, table, labels), _MEMBER_S
    )
    waits = [wait for one in members for wait in found.get(one.label, ())]
    running = [one for one in members if one.label in found and reports_itself(one)]
    waits = await member_meetings.find_lock_owners(waits, running)
    if not is_started(chosen.group):
        # Nothing of ours stays in a process that is only attached to.
        await ask_members(
            running, lambda one: python_waits.remove_snapshot_code(one.session), _REMOVE_S
        )
    by_label = {one.label: one for one in members}
    for one in silent:
        locked = await asyncio.to_thread(find_locked, by_label[one.label])
        waits.append(locked or MemberWait(one.label, SILENT, detail=one.reason))
    verdict = judge_waits(waits)
    own = tuple(waits) if keeps_waits else ()
    notes = tuple(chosen.group.describe_omitted())
    return GroupHang(chosen.group.name, len(chosen.members), verdict, own, notes)
