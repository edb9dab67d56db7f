"""Defines the command that a launcher runs in front of the program of each rank."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall

GROUP = "Sessions"
_ENTRY = re.compile(r"(0x[0-9a-f]{1,16}):((?:[0-9a-f]{2}){1,8})", re.ASCII)


@register_command("member", group=GROUP)
async def member(
    call: CommandCall,
    words: Annotated[tuple[str, ...], Argument("CMD", "the rank's program, after --")] = (),
    *,
    group: Annotated[
        str | None, Option("--group", help="the group to join", metavar="NAME")
    ] = None,
    adapter: Annotated[str | None, Option("--adapter", help="debug adapter to use")] = None,
    breaks: Annotated[
        tuple[str, ...],
        Option("--break", "-b", help="set a breakpoint first; also 'LOC if COND'", metavar="LOC"),
    ] = (),
    process: Annotated[
        str | None, Option("--process", help="given by the client", is_hidden=True)
    ] = None,
    or_alone: Annotated[
        bool, Option("--or-alone", help="run CMD without a debugger if need be", is_hidden=True)
    ] = False,
    entry: Annotated[
        str | None, Option("--entry", help="given by the client", is_hidden=True)
    ] = None,
    is_shell: Annotated[
        bool, Option("--shell", help="of a launcher: CMD is a host and its command", is_hidden=True)
    ] = False,
    is_crash: Annotated[
        bool, Option("--crash", help="given by a launcher of ours", is_hidden=True)
    ] = False,
    breakpoints: Annotated[
        str, Option("--breakpoints", help="given by the daemon: as JSON", is_hidden=True)
    ] = "[]",
    is_begun: Annotated[
        bool, Option("--begun", help="given by the daemon: wait for its end", is_hidden=True)
    ] = False,
) -> answers.Answer:
    """Run CMD as a member of a group: mpirun -n 4 debugger member -- ./app.

    For launchers that start other programs. The process becomes the program, with its own
    environment, streams, signals and exit status, and its debugger attaches before its first
    instruction. Members that one launcher starts are one group; the first one begins it.
    """
    from debugger.questions.group import group_join, remote_shell

    if is_shell and group is not None:
        if is_crash:
            return await remote_shell.explain_remote_crash(call, words, group)
        if is_begun:
            return await remote_shell.await_remote_shell(call, group)
        return await remote_shell.begin_remote_shell(call, words, group, breakpoints)
    del or_alone  # the client's own
    pids = re.fullmatch(r"(\d{1,9}):(\d{1,9})", process or "", re.ASCII)
    if pids is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "a launcher runs member, on the command line",
            hint="debugger start --group -- mpirun -n 4 ./app (puts it there)",
        )
    request = group_join.JoinRequest(
        words=words,
        pid=int(pids[1]),
        launcher_pid=int(pids[2]),
        group=group,
        adapter=adapter,
        breaks=breaks,
    )
    if entry is None:
        return await group_join.plan_member(call, request)
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise DebuggerError(
            ErrorCode.USAGE, f"not ADDRESS:BYTES: {entry!r}", hint="debugger status"
        )
    return await group_join.attach_held(call, request, (int(found[1], 16), bytes.fromhex(found[2])))
