"""Commands about breakpoints."""

from __future__ import annotations

import os.path
from typing import Annotated

import msgspec
from msgspec import UNSET

from debugger.backends.base import Launch
from debugger.commands.call import Call
from debugger.commands.watching import NOUNS
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt, command
from debugger.core.state import State
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.session import family, looking, views
from debugger.session.session import Session

GROUP = "Breakpoints"


@command("breakpoint add", aliases=("break", "b"), group=GROUP)
async def add(
    call: Call,
    place: Annotated[
        str | None, Arg("LOC", "FILE:LINE, LINE of the current file, FUNCTION, or *0xADDR")
    ] = None,
    *,
    function: Annotated[
        str | None, Opt("--function", "-f", help="stop in a function", metavar="NAME")
    ] = None,
    condition: Annotated[
        str | None, Opt("--condition", "-c", help="stop only if this is true", metavar="EXPR")
    ] = None,
    hit_count: Annotated[
        int | None, Opt("--hit-count", help="stop from the Nth hit on", metavar="N")
    ] = None,
    log: Annotated[
        str | None, Opt("--log", help="print this and go on; {expr} is evaluated", metavar="TEXT")
    ] = None,
    temporary: Annotated[bool, Opt("--temporary", help="remove it at its first stop")] = False,
    thread: Annotated[
        int | None, Opt("--thread", help="stop only this thread", metavar="N")
    ] = None,
) -> answers.Answer:
    """Set a breakpoint; one that does not bind is kept, and says why."""
    session = call.session()
    if (place is None) == (function is None):
        raise DebuggerError(
            Code.USAGE, "where? Give a LOC or --function", hint="debugger break FILE:LINE"
        )
    if hit_count is not None and hit_count < 1:
        raise DebuggerError(
            Code.USAGE, f"--hit-count counts from 1, not {hit_count}", hint="debugger break --help"
        )
    for text in (condition, log, function):
        if text is not None:
            one_line(text)
    spec = spec_of(call, session, place) if place is not None else Spec(function=function)
    if thread is not None and session.state is State.STOPPED:
        await session.do(lambda: looking.known_thread(session, thread))
    spec = msgspec.structs.replace(
        spec,
        condition=condition,
        hit_count=hit_count,
        log=log,
        temporary=temporary,
        thread=thread,
    )
    is_known = session.breakpoints.at(spec) is not None
    added = views.breakpoint_view(await family.add_breakpoint(session, spec))
    if is_known:
        notes = ("it was set already", *(added.notes or ()))
        added = msgspec.structs.replace(added, notes=notes)
    return added


def spec_of(call: Call, session: Session, words: str) -> Spec:
    """Return what a breakpoint at a place of this session is.

    Raises:
        DebuggerError: USAGE.
    """
    near = [session.target.cwd, os.path.dirname(session.target.program or "")]
    if session.look.file is not None:
        near.append(os.path.dirname(session.look.file))
    is_launch = isinstance(session.target, Launch)
    current = session.look.file if is_launch or session.look.file else None
    return call.spec(words, near=near, current=current, program=session.target.program)


@command("breakpoint list", group=GROUP, reads_only=True)
async def listed(call: Call) -> answers.Answer:
    """List the breakpoints: place, state, hits."""
    session = call.session()
    seen = session.binding.watching
    shown: list[answers.BreakpointView] = []
    for one in session.breakpoints.listed():
        view, hits = views.breakpoint_view(one, seen.value(one.id)), family.hits(session, one.id)
        below = view.hits_below if hits == one.hits else UNSET
        shown.append(msgspec.structs.replace(view, hits=hits, hits_below=below))
    return answers.BreakpointList(breakpoints=tuple(shown))


@command("breakpoint remove", group=GROUP)
async def remove(
    call: Call,
    ids: Annotated[tuple[int, ...], Arg("ID", "from breakpoint list")] = (),
    *,
    every: Annotated[bool, Opt("--all", help="all, but no watchpoints and catchpoints")] = False,
) -> answers.Answer:
    """Remove breakpoints."""
    session = call.session()
    if every == bool(ids):
        raise DebuggerError(Code.USAGE, "which? Give IDs or --all", hint="debugger breakpoint list")
    if not every:
        wanted = [session.breakpoints.get(number) for number in dict.fromkeys(ids)]
        kept = []
    else:
        listed = session.breakpoints.listed()
        wanted = [one for one in listed if one.spec.kind not in NOUNS]
        kept = [one for one in listed if one.spec.kind in NOUNS]
    for one in wanted:
        await family.drop_breakpoint(session, one)
    nouns = {NOUNS.get(one.spec.kind, "breakpoint") for one in wanted}
    return answers.Removed(
        removed=tuple(one.id for one in wanted),
        noun=nouns.pop() if len(nouns) == 1 else "breakpoint",
        kept=tuple(f"{NOUNS[one.spec.kind]} {one.id}" for one in kept) or UNSET,
    )


@command("breakpoint enable", group=GROUP)
async def enable(
    call: Call, number: Annotated[int, Arg("ID", "from breakpoint list")]
) -> answers.Answer:
    """Switch a breakpoint on."""
    session = call.session()

    async def job() -> answers.Answer:
        frame = await looking.frame_of(session) if session.state is State.STOPPED else None
        changed = await session.binding.enable(number, on=True, frame=frame)
        return views.breakpoint_view(changed)

    answer = await session.do(job)
    await family.switch_elsewhere(session, number, on=True)
    return answer


@command("breakpoint disable", group=GROUP)
async def disable(
    call: Call, number: Annotated[int, Arg("ID", "from breakpoint list")]
) -> answers.Answer:
    """Switch a breakpoint off, keeping it."""
    session = call.session()
    changed = await session.do(lambda: session.binding.enable(number, on=False))
    await family.switch_elsewhere(session, number, on=False)
    return views.breakpoint_view(changed)
