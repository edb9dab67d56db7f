"""Explains why a job hangs that is begun for the question, and whose members are on several hosts.

Each host begins its part; then all members are looked at together, since one host alone does not
know where the others wait. The job is ended with the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from debugger.hosts.host_call import HostCall
from debugger.model.answers import Answer
from debugger.model.events import State
from debugger.model.group_labels import format_members
from debugger.questions.group.answer import GroupHang, GroupStop
from debugger.questions.group.laggards import AGAIN_S, GroupVerdict, is_looked_at_again
from debugger.questions.hang.answer import LAST_LINES, Hang, describe_run_end
from debugger.session.group import SilentMember

AFTER_S = 3.0  # seconds that a started job runs by default
# Runs a command on all parts of the job.
AskJob = Callable[[HostCall], Awaitable[Answer]]


def begin_call(call: HostCall) -> HostCall:
    """Return the call that begins the job of a question, and leaves it running."""
    args = {**call.invocation.args, "only_begins": True}
    return call.replace_command("hang", args)


async def find_laggards_of_job(
    call: HostCall, ask: AskJob, unreached: Sequence[SilentMember] = ()
) -> Answer:
    """Look at a job that has begun until its members are where they hang; then end it (bounded).

    Args:
        call: The question's call.
        ask: Runs a command on all parts of the job.
        unreached: The hosts on which it could not begin.

    Returns:
        The laggards, or how the job has ended before it hung.
    """
    states: list[Answer] = []
    loop = asyncio.get_running_loop()
    after = call.invocation.args.get("after")
    look = call.replace_command("hang", {"is_group": True})

    async def run_for(seconds: float, command: str = "await") -> None:
        states.append(await ask(call.replace_command(command, {"timeout": seconds})))

    try:
        limit = loop.time() + (AFTER_S if after is None else after)
        await run_for(limit - loop.time())
        # What stops at an exception goes on to its end.
        while _is_stopped(states[-1]) and loop.time() < limit:
            await run_for(limit - loop.time(), "continue")
        began, before = loop.time(), None
        while not _has_ended(states[-1]):
            answer = await ask(look)
            if not isinstance(answer, GroupHang):
                return answer
            elapsed_s = loop.time() - began
            verdict = _drop_members(answer.verdict, frozenset(one.label for one in unreached))
            is_on = is_looked_at_again(verdict, before, elapsed_s=elapsed_s)
            if not is_on or _is_stopped(states[-1]) or call.request.interrupted.is_set():
                return answer
            before = verdict
            await run_for(AGAIN_S)
        return report_job_end([one for one in states if isinstance(one, GroupStop)], unreached)
    finally:
        # A client that has gone must not leave the job behind.
        await asyncio.shield(ask(call.replace_command("stop", {})))


def _drop_members(verdict: GroupVerdict, labels: frozenset[str]) -> GroupVerdict:
    """Return a verdict without the rows of these alone: what could not begin comes no later."""
    rows = tuple(one for one in verdict.rows if not labels.issuperset(one.members))
    return msgspec.structs.replace(verdict, rows=rows)


def _is_stopped(answer: Answer) -> bool:
    return isinstance(answer, GroupStop) and answer.stop.state == State.STOPPED.value


def _has_ended(answer: Answer) -> bool:
    live = {State.RUNNING.value, State.STOPPED.value}
    return isinstance(answer, GroupStop) and answer.stop.state not in live


def report_job_end(states: Sequence[GroupStop], unreached: Sequence[SilentMember] = ()) -> Hang:
    """Report that a job ended by itself; `states` are what was reported of it until then."""
    last = states[-1]
    lines = [line for one in states for line in one.stop.output]
    return Hang(
        kind="ended",
        cause=describe_run_end(last.stop),
        exit_code=last.stop.exit_code,
        exit_signal=last.stop.signal,
        output=tuple(lines[-LAST_LINES:]),
        output_total=sum(one.stop.output_total for one in states),
        notes=(
            *last.stop.notes,
            *(f"{format_members(one.members)}: {one.state}" for one in last.others),
            *(f"{one.label}: {one.reason}" for one in unreached),
        ),
    )
