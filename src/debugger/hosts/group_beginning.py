"""Begins groups whose parts are on several hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import split_pids
from debugger.hosts.host_call import HostCall
from debugger.hosts.host_groups import (
    HostGroup,
    PartReply,
    ask_hosts,
    describe_failure,
    join_failures,
    measure_clocks,
    merge_replies,
    run_in_group,
)
from debugger.hosts.host_list import Host, HostList
from debugger.model.answers import Answer
from debugger.questions.group.answer import MemberBranches
from debugger.questions.group.branch_answer import add_source_texts


class GroupBeginning:
    """Records what the hosts report while they begin their parts of a group.

    Until all hosts have answered, commands act on the parts that have begun.
    """

    def __init__(self, group: HostGroup, on_named: Callable[[HostGroup], None]) -> None:
        self._group = group
        self._on_named = on_named

    def note_part(self, host: Host, name: str) -> None:
        """Record the part that a host has begun; of several members each reports it."""
        if host not in self._group.starting:
            return
        is_first = not self._group.parts
        self._group.add_part(host, name)
        if is_first:
            self._group.name = name.removesuffix(f"@{host.label}")
            self._on_named(self._group)

    def note_reply(self, reply: PartReply) -> None:
        """Record what a host has answered: one that failed begins no part any more."""
        if reply.error is None:
            self.note_part(reply.host, str(reply.data.get("group") or reply.data.get("session")))
        else:
            self._group.note_failure(reply.host, describe_failure(reply.host, reply.error))


def _ignore_group(_group: HostGroup) -> None: ...


async def begin_group(
    hosts: HostList,
    call: HostCall,
    chosen: Sequence[Host],
    session: str | None,
    on_named: Callable[[HostGroup], None] = _ignore_group,
) -> tuple[HostGroup, Answer]:
    """Start or attach on each host, as one group.

    Args:
        hosts: How they are reached.
        call: The command that begins the group.
        chosen: The hosts.
        session: The name that the user has given the group.
        on_named: Receives the group before any host has begun its part, and with its final name
            when the first has.

    Raises:
        DebuggerError: What the first host says, if no host could begin.
    """
    args = {one: value for one, value in call.invocation.args.items() if one != "env"}
    if call.invocation.command.name == "crash":
        args["is_part"] = True
    pids = args.get("pids")
    if isinstance(pids, str):
        by_host = split_pids(pids, [one.address for one in chosen])
        chosen = [one for one in chosen if one.label in by_host]
    given = tuple(call.invocation.args.get("env") or ())
    changes: dict[str, dict[str, Any]] = {}
    for number, host in enumerate(chosen):
        # For the program: which of the hosts it is on.
        own = (f"DEBUGGER_HOST={host.label}", f"DEBUGGER_HOST_INDEX={number}")
        env = (*own, f"DEBUGGER_HOST_COUNT={len(chosen)}", *given)
        if isinstance(pids, str):
            args["pids"] = by_host[host.label]
        takes_env = any(one.name == "env" for one in call.invocation.command.parameters)
        changes[host.label] = {
            "args": call.map_arguments({**args, **({"env": env} if takes_env else {})}, host),
            "session": f"{session}@{host.label}" if session is not None else None,
        }
    group = HostGroup(session or _expected_name(call), {}, [], chosen, call.request.interrupted)
    on_named(group)
    beginning = GroupBeginning(group, on_named)
    asking = msgspec.structs.replace(call, on_begun=beginning.note_part)
    replies = await ask_hosts(hosts, asking, chosen, changes, beginning.note_reply)
    if all(one.error is not None for one in replies):
        raise join_failures(replies)
    if group.ending is not None:
        await _end_late_parts(hosts, group.ending, group)
    group.order_hosts(chosen)
    begun = [one for one in replies if one.error is None]
    if call.invocation.command.name == "crash":
        await measure_clocks(hosts, call, [one.host for one in begun if one.data.get("member")])
    answer = merge_replies(group, begun, group.unreached, is_all=True)
    if isinstance(answer, MemberBranches):
        answer = add_source_texts(answer)
    return group, answer


def _expected_name(call: HostCall) -> str:
    """Return the name that the hosts will probably choose for their parts."""
    args = call.invocation.args
    given = (args.get(one) for one in ("program", "module", "name"))
    return next((Path(one).stem for one in given if isinstance(one, str)), "") or "group"


async def _end_late_parts(hosts: HostList, call: HostCall, group: HostGroup) -> NoReturn:
    """End what has begun after the command that ended the group.

    Raises:
        DebuggerError: PROGRAM_EXITED.
    """
    with suppress(DebuggerError):  # of the parts that had begun before nothing is left
        await run_in_group(hosts, call, group)
    raise DebuggerError(
        ErrorCode.PROGRAM_EXITED,
        f"{group.name}: {call.invocation.command.name} ended it while it began",
        hint="debugger sessions",
    )
