"""Follows a launcher of this machine, such as mpirun, to the hosts on which it starts ranks.

Where the launcher would run ssh it runs `debugger member --shell` (`targets.launchers`). That comes
here: the launcher's process on the other host is started by the daemon there, and its ranks become
a part of the group that the launcher has begun on this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from debugger.daemon.command_request import CommandReply
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.first_failure import FirstFailure
from debugger.hosts.host_call import HostCall, build_reply
from debugger.hosts.host_groups import (
    BUDGET,
    HostGroup,
    PartReply,
    measure_clocks,
    merge_replies,
    run_in_group,
)
from debugger.hosts.host_list import Host, HostList
from debugger.hosts.job_hang import begin_call, find_laggards_of_job
from debugger.model.answers import Answer
from debugger.model.breakpoints import Breakpoint
from debugger.model.events import State
from debugger.model.location import SourceMap
from debugger.output import to_data
from debugger.questions.group.answer import (
    PART_BEGUN,
    GroupCrash,
    GroupStop,
    MemberBranches,
)
from debugger.questions.group.branch_answer import add_source_texts
from debugger.session.group import SilentMember

JobPartTask = tuple[Host, asyncio.Task[dict[str, Any]]]
_PART_S = 15.0  # seconds until a host must have answered after the launcher has ended
_LAST_S = 5.0  # the same after it was told to end
_END_FIELDS = ("exit_code", "exit_signal")  # of a crash
# Runs a command on this machine.
RunHere = Callable[[HostCall], Awaitable[Answer]]


async def run_remote_shell(
    hosts: HostList, call: HostCall, host: Host, command: str, on_begun: Callable[[str], None]
) -> CommandReply:
    """Start a launcher's process on a host, and wait until it has ended.

    Args:
        hosts: How the host is reached.
        call: The launcher's call of `member --shell`.
        host: Where the process is to run.
        command: Its command, for the host's shell.
        on_begun: Makes it a part of the launcher's group; it gets the name of the part.

    Raises:
        DebuggerError: The host cannot be reached, or the connection broke.
    """
    args = call.invocation.args
    part = f"{args['group']}@{host.label}"
    folders = call.folders_at(host)
    own = {"is_shell": True, "group": part}
    known = encode_breakpoints(call.breakpoints_here(str(args["group"])), folders)
    begin = {"args": {**own, "words": (command,), "breakpoints": known}, "result": True}
    reply = build_reply(
        await hosts.send_request(host, call.build_request(host, None, begin)),
        folders,
        host.address,
    )
    if not reply.success:
        return reply
    on_begun(part)
    ended = {"args": {**own, "is_begun": True}, "result": True}
    request = replace(call.build_request(host, part, ended), reads_only=True)
    return build_reply(await hosts.send_request(host, request), folders, host.address)


def encode_breakpoints(breakpoints: Sequence[Breakpoint], folders: SourceMap) -> str:
    """Encode a group's breakpoints for a part of it, with the folders of that machine."""
    found = [
        Breakpoint(
            one.id,
            msgspec.structs.replace(
                one.spec, file=one.spec.file and folders.to_built(one.spec.file)
            ),
        )
        for one in breakpoints
    ]
    return msgspec.json.encode(found).decode()


class LauncherJobs:
    """The launchers of this machine whose ranks may come to be on other hosts."""

    def __init__(self, hosts: HostList, find_group: Callable[[str], HostGroup | None]) -> None:
        self._hosts = hosts
        self._find_group = find_group
        # Of each start that waits for a stop: whether a group has a part on another host since.
        self._grown: set[asyncio.Event] = set()
        # Of each group of a question: what its launcher runs on other hosts.
        self._crash_parts: dict[str, list[JobPartTask]] = {}
        self._failures: dict[str, FirstFailure] = {}
        # The questions that compare ranks, by the name of their job.
        self._questions: dict[str, JobQuestion] = {}
        self._questions_begun = 0

    def note_part(self) -> None:
        """Record that a group has a new part on another host."""
        for one in self._grown:
            one.set()

    async def follow_start(self, call: HostCall, timeout_s: float, run_here: RunHere) -> Answer:
        """Start a launcher, and wait for the first stop of any of its ranks, wherever they are.

        Raises:
            DebuggerError: What starting the launcher raises.
        """
        loop = asyncio.get_running_loop()
        limit = loop.time() + timeout_s
        grown = asyncio.Event()
        self._grown.add(grown)
        try:
            async with _set_by_any(call.request.interrupted, grown) as ends:
                answer = await run_here(call.replace_request(interrupted=ends))
            # A wait that began without the ranks of a host begins again with them.
            while grown.is_set() and _is_running(answer):
                grown.clear()
                name = str(getattr(answer, "group", ""))
                args = {"group": name, "timeout": max(0.0, limit - loop.time())}
                async with _set_by_any(call.request.interrupted, grown) as ends:
                    own = call.replace_command("await", args, interrupted=ends)
                    found = self._find_group(name)
                    answer = await (
                        run_here(own) if found is None else run_in_group(self._hosts, own, found)
                    )
            return answer
        finally:
            self._grown.discard(grown)

    async def run_crash_part(self, call: HostCall, host: Host, command: str) -> CommandReply:
        """Run what a launcher starts on a host as a question of its own, and keep the answer.

        Raises:
            DebuggerError: The host cannot be reached, or the connection broke.
        """
        name = str(call.invocation.args["group"])
        args = {"is_shell": True, "is_crash": True, "group": f"{name}@{host.label}"}
        changes = {"args": {**args, "words": (command,)}, "json": False, "result": True}
        request = call.build_request(host, None, {**changes, "budget": BUDGET})
        failure = self._failures.setdefault(name, FirstFailure())
        request = replace(
            request,
            stream=partial(failure.take_reports, host.label),
            interrupted=failure.add_part(host.label),
        )
        # Its answer counts also if the launcher ends its shell before.
        part = asyncio.create_task(self._hosts.send_request(host, request))
        part.add_done_callback(lambda _: failure.end_part(host.label))
        self._crash_parts.setdefault(name, []).append((host, part))
        reply = build_reply(await asyncio.shield(part), call.folders_at(host), host.address)
        # It is the launcher's own machine that reports a failure of the part.
        return replace(reply, result=None, text=None)

    async def explain_crash(self, call: HostCall, run_here: RunHere) -> Answer:
        """Start a launcher, and report the first failure of its ranks, wherever they are.

        Raises:
            DebuggerError: What starting the launcher raises.
        """
        failure, names = FirstFailure(), []
        own = self._hosts.own.label

        async def take_reports(text: str) -> None:
            name = _read_group(text)
            if name is not None:
                names.append(name)
                self._failures[name] = failure
            await failure.take_reports(own, text)

        part = call.replace_command("crash", {**call.invocation.args, "is_part": True})
        try:
            async with _set_by_any(call.request.interrupted, failure.add_part(own)) as ends:
                answer = await run_here(part.replace_request(interrupted=ends, stream=take_reports))
        finally:
            failure.end_part(own)
            for name in names:
                self._failures.pop(name, None)
        if not isinstance(answer, GroupCrash):
            return answer
        parts = self._crash_parts.pop(answer.group, [])
        if parts:
            await asyncio.wait([task for _, task in parts], timeout=_PART_S)
            await measure_clocks(self._hosts, call, [host for host, _ in parts])
        return merge_job_parts(self._hosts.own, answer, parts, call)

    def has_question(self, name: str) -> bool:
        """Return whether a launcher's shell is of a question that compares ranks."""
        return name in self._questions

    async def compare_ranks(self, call: HostCall, run_here: RunHere) -> Answer:
        """Start a launcher, and compare what its ranks do, wherever they are.

        Raises:
            DebuggerError: What starting the launcher raises; NOT_FOUND where no rank ran.
        """
        self._questions_begun += 1
        verb = call.invocation.command.name
        name = f"{verb}-ranks-{self._questions_begun}"
        question = self._questions[name] = JobQuestion(call)
        try:
            own = call.replace_command(verb, {**call.invocation.args, "part": name})
            answer = await run_here(own)
            tasks = [task for _, task in question.parts]
            if tasks:
                await asyncio.wait(tasks, timeout=_PART_S)
            question.is_over.set()
            if late := [one for one in tasks if not one.done()]:
                await asyncio.wait(late, timeout=_LAST_S)
        finally:
            question.is_over.set()
            self._questions.pop(name, None)
            for _, task in question.parts:
                task.cancel()
        merged = merge_job_parts(self._hosts.own, answer, question.parts, call)
        return add_source_texts(merged) if isinstance(merged, MemberBranches) else merged

    async def run_question_part(self, name: str, host: Host, command: str) -> CommandReply:
        """Run what a launcher starts on a host as a part of a question, and keep the answer.

        Raises:
            DebuggerError: The host cannot be reached, or the connection broke.
        """
        question = self._questions[name]
        call = question.call
        own = {**call.invocation.args, "part": f"{name}@{host.label}", "shell": command}
        changes = {"args": call.map_arguments(own, host), "json": False, "result": True}
        changes |= {"budget": BUDGET, "progress": False}
        request = call.build_request(host, None, changes, interrupted=question.is_over)
        part = asyncio.create_task(self._hosts.send_request(host, request))
        question.parts.append((host, part))
        # Its answer counts also if the launcher ends its shell before.
        reply = build_reply(await asyncio.shield(part), call.folders_at(host), host.address)
        # It is the launcher's own machine that reports a failure of the part.
        return replace(reply, result=None, text=None)

    async def explain_hang(self, call: HostCall, run_here: RunHere) -> Answer:
        """Start a launcher, and explain after some time which of its ranks lags; then end it.

        Raises:
            DebuggerError: What starting the launcher raises.
        """
        answer = await run_here(begin_call(call))
        name = str(getattr(answer, "group", ""))

        async def ask(own: HostCall) -> Answer:
            found = self._find_group(name)
            if found is not None:
                return await run_in_group(self._hosts, own, found)
            named = replace(own.invocation, session=name)
            return await run_here(msgspec.structs.replace(own, invocation=named))

        return await find_laggards_of_job(call, ask)


class JobQuestion:
    """A question that compares a launcher's ranks, and what the launcher runs on other hosts."""

    def __init__(self, call: HostCall) -> None:
        self.call = call
        self.parts: list[JobPartTask] = []
        # The launcher has ended: its processes on other hosts are to end.
        self.is_over = asyncio.Event()


def merge_job_parts(
    own: Host, answer: Answer, parts: Sequence[JobPartTask], call: HostCall
) -> Answer:
    """Merge the answer of a launcher's machine with those of the hosts that it has reached."""
    name = str(getattr(answer, "group", ""))
    group = HostGroup(name, {own.label: name}, [own])
    replies = [PartReply(own, data=to_data(answer, budget=None))]
    silent: list[SilentMember] = []
    for host, task in parts:
        group.add_part(host, f"{name}@{host.label}")
        error = DebuggerError(ErrorCode.TIMEOUT, f"no answer within {_PART_S:g} s")
        if task.done() and not task.cancelled():
            failure = task.exception()
            reply = (
                None if failure else build_reply(task.result(), call.folders_at(host), host.address)
            )
            if reply is not None and reply.success:
                data = dict(reply.result or {})
                # How the launcher has ended says it for all, not its process there.
                if "end" in data:
                    data["end"] = getattr(answer, "end", "")
                if isinstance(answer, GroupCrash):
                    end = {name: getattr(answer.crash, name) for name in _END_FIELDS}
                    data["crash"] = {**data["crash"], **end}
                replies.append(PartReply(host, data=data))
                continue
            known = failure if failure is not None else reply and reply.error
            error = known if isinstance(known, DebuggerError) else error
        task.cancel()
        silent += group.silent_members(host, error.message)
    return merge_replies(group, replies, silent, is_all=True)


def _read_group(text: str) -> str | None:
    """Return the name of the group of a question that reports that it has begun."""
    begun = (one.partition(" ") for one in text.splitlines())
    return next((name for word, _, name in begun if word == PART_BEGUN), None)


def _is_running(answer: Answer) -> bool:
    return isinstance(answer, GroupStop) and answer.stop.state == State.RUNNING.value


@asynccontextmanager
async def _set_by_any(*events: asyncio.Event) -> AsyncIterator[asyncio.Event]:
    """Give an event that is set as soon as one of several is."""
    common = asyncio.Event()

    async def set_when(event: asyncio.Event) -> None:
        await event.wait()
        common.set()

    tasks = [asyncio.create_task(set_when(one)) for one in events]
    try:
        yield common
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
