"""Defines the breakpoint commands."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET

from debugger.cli.commands.watch_commands import NOUNS
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.state import State
from debugger.questions.runner.command_call import CommandCall, spec_in_session
from debugger.session import inspection, process_tree, views

GROUP = "Breakpoints"


@register_command("breakpoint add", aliases=("break", "b"), group=GROUP)
async def add(
    call: CommandCall,
    place: Annotated[
        str | None, Argument("LOC", "FILE:LINE, LINE of the current file, FUNCTION, or *0xADDR")
    ] = None,
    *,
    function: Annotated[
        str | None, Option("--function", "-f", help="stop in a function", metavar="NAME")
    ] = None,
    condition: Annotated[
        str | None, Option("--condition", "-c", help="stop only if this is true", metavar="EXPR")
    ] = None,
    hit_count: Annotated[
        int | None, Option("--hit-count", help="stop from the Nth hit on", metavar="N")
    ] = None,
    log: Annotated[
        str | None,
        Option("--log", help="print this and go on; {expr} is evaluated", metavar="TEXT"),
    ] = None,
    temporary: Annotated[bool, Option("--temporary", help="remove it at its first stop")] = False,
    thread: Annotated[
        int | None, Option("--thread", help="stop only this thread", metavar="N")
    ] = None,
) -> answers.Answer:
    """Set a breakpoint; one that does not bind is kept, and says why."""
    session = call.current_session()
    if (place is None) == (function is None):
        raise DebuggerError(
            ErrorCode.USAGE, "where? Give a LOC or --function", hint="debugger break FILE:LINE"
        )
    if hit_count is not None and hit_count < 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--hit-count counts from 1, not {hit_count}",
            hint="debugger break --help",
        )
    for text in (condition, log, function):
        if text is not None:
            one_line(text)
    spec = (
        spec_in_session(call, session, place)
        if place is not None
        else BreakpointSpec(function=function)
    )
    if thread is not None and session.state is State.STOPPED:
        await session.run_job(lambda: inspection.known_thread(session, thread))
    spec = msgspec.structs.replace(
        spec,
        condition=condition,
        hit_count=hit_count,
        log=log,
        temporary=temporary,
        thread=thread,
    )
    is_known = session.breakpoints.find_same(spec) is not None
    added = views.breakpoint_view(await process_tree.add_breakpoint(session, spec))
    if is_known:
        notes = ("it was set already", *(added.notes or ()))
        added = msgspec.structs.replace(added, notes=notes)
    return added


@register_command("breakpoint list", group=GROUP, reads_only=True)
async def listed(call: CommandCall) -> answers.Answer:
    """List the breakpoints: place, state, hits."""
    session = call.current_session()
    seen = session.binding.watching
    shown: list[answers.BreakpointView] = []
    for one in session.breakpoints.user_breakpoints():
        view, hits = (
            views.breakpoint_view(one, seen.last_value(one.id)),
            process_tree.count_hits(session, one.id),
        )
        below = view.hits_below if hits == one.hits else UNSET
        shown.append(msgspec.structs.replace(view, hits=hits, hits_below=below))
    return answers.BreakpointList(breakpoints=tuple(shown))


@register_command("breakpoint remove", group=GROUP)
async def remove(
    call: CommandCall,
    ids: Annotated[tuple[int, ...], Argument("ID", "from breakpoint list")] = (),
    *,
    every: Annotated[bool, Option("--all", help="all, but no watchpoints and catchpoints")] = False,
) -> answers.Answer:
    """Remove breakpoints."""
    session = call.current_session()
    if every == bool(ids):
        raise DebuggerError(
            ErrorCode.USAGE, "which? Give IDs or --all", hint="debugger breakpoint list"
        )
    if not every:
        wanted = [session.breakpoints.get(number) for number in dict.fromkeys(ids)]
        kept = []
    else:
        listed = session.breakpoints.user_breakpoints()
        wanted = [one for one in listed if one.spec.kind not in NOUNS]
        kept = [one for one in listed if one.spec.kind in NOUNS]
    for one in wanted:
        await process_tree.drop_breakpoint(session, one)
    nouns = {NOUNS.get(one.spec.kind, "breakpoint") for one in wanted}
    return answers.Removed(
        removed=tuple(one.id for one in wanted),
        noun=nouns.pop() if len(nouns) == 1 else "breakpoint",
        kept=tuple(f"{NOUNS[one.spec.kind]} {one.id}" for one in kept) or UNSET,
    )


@register_command("breakpoint enable", group=GROUP)
async def enable(
    call: CommandCall, number: Annotated[int, Argument("ID", "from breakpoint list")]
) -> answers.Answer:
    """Switch a breakpoint on."""
    session = call.current_session()

    async def job() -> answers.Answer:
        frame = await inspection.frame_of(session) if session.state is State.STOPPED else None
        changed = await session.binding.enable(number, on=True, frame=frame)
        return views.breakpoint_view(changed)

    answer = await session.run_job(job)
    await process_tree.switch_elsewhere(session, number, on=True)
    return answer


@register_command("breakpoint disable", group=GROUP)
async def disable(
    call: CommandCall, number: Annotated[int, Argument("ID", "from breakpoint list")]
) -> answers.Answer:
    """Switch a breakpoint off, keeping it."""
    session = call.current_session()
    changed = await session.run_job(lambda: session.binding.enable(number, on=False))
    await process_tree.switch_elsewhere(session, number, on=False)
    return views.breakpoint_view(changed)
