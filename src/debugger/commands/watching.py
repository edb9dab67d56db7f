"""Commands about watchpoints: stops when memory changes or is read."""

from __future__ import annotations

from typing import Annotated

import msgspec

from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Access, Breakpoint, Kind, Spec
from debugger.core.command import Arg, Opt, command
from debugger.core.state import State
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.session import family, looking, views
from debugger.session.session import Session

GROUP = "Breakpoints"
_REFERENCE = "stops when it is set to another one: what is put into this one is not watched"
NOUNS = {Kind.WATCHPOINT: "watchpoint", Kind.EXCEPTION: "catchpoint"}


@command("watch", group=GROUP, dashes_are_words=True)
async def watch(
    call: Call,
    expression: Annotated[
        str, Arg("EXPR", "a variable, a field, an element, in the current frame", words=True)
    ],
    *,
    read: Annotated[
        bool, Opt("--read", help="stop when it is read; on x86 some writes stop too")
    ] = False,
    access: Annotated[bool, Opt("--access", help="stop when it is read or written")] = False,
    condition: Annotated[
        str | None, Opt("--condition", "-c", help="stop only if this is true", metavar="EXPR")
    ] = None,
) -> answers.Answer:
    """Stop when a value changes; the stop shows it before and after, and the line that wrote it."""
    session = call.session()
    if read and access:
        raise DebuggerError(
            Code.USAGE, "--access is --read and writes: give one", hint="debugger watch --help"
        )
    session.require(State.STOPPED, to="watch")
    for text in (expression, condition):
        if text is not None:
            one_line(text)
    how = Access.READ if read else Access.ANY if access else Access.WRITE
    spec = Spec(watch=expression, access=how, condition=condition)

    async def job() -> answers.Answer:
        frame = await looking.frame_of(session)
        watching = session.binding.watching
        before = [one.id for one in watching.all()]
        added = await watching.add(spec, session.backend, frame)
        shown = view(session, added)
        kept = {one.id for one in watching.all()}
        replaced = [str(number) for number in before if number not in kept]
        notes = list(shown.notes or ())
        if replaced:
            those = ", ".join(replaced)
            notes.append(f"it takes the place of watchpoint {those}, of the same expression")
        if isinstance(shown.value, str) and shown.value.startswith(("map[", "chan ")):
            notes.append(_REFERENCE)
        return msgspec.structs.replace(shown, notes=tuple(notes)) if notes else shown

    return await session.do(job)


def view(session: Session, one: Breakpoint) -> answers.BreakpointView:
    """Show a breakpoint of any kind, a watchpoint with the value seen last."""
    return views.breakpoint_view(one, session.binding.watching.value(one.id))


def of_kind(session: Session, kind: Kind) -> answers.BreakpointList:
    """Show the breakpoints of one kind."""
    listed = [one for one in session.breakpoints.listed() if one.spec.kind is kind]
    return answers.BreakpointList(breakpoints=tuple(view(session, one) for one in listed))


async def remove_of_kind(
    session: Session, numbers: tuple[int, ...], kind: Kind, *, every: bool, name: str
) -> answers.Removed:
    """Remove breakpoints of one kind.

    Raises:
        DebuggerError: USAGE without numbers, NOT_FOUND for one of another kind.
    """
    if every == bool(numbers):
        raise DebuggerError(Code.USAGE, "which? Give IDs or --all", hint=f"debugger {name} list")
    known = [one for one in session.breakpoints.listed() if one.spec.kind is kind]
    chosen = known if every else [_one_of(session, number, kind, name) for number in numbers]
    for one in chosen:
        await family.drop_breakpoint(session, one)
    return answers.Removed(removed=tuple(one.id for one in chosen), noun=NOUNS[kind])


def _one_of(session: Session, number: int, kind: Kind, name: str) -> Breakpoint:
    every = {one.id: one for one in session.breakpoints.listed()}
    found = every.get(number)
    if found is None:
        ids = ", ".join(str(one.id) for one in every.values() if one.spec.kind is kind)
        raise DebuggerError(
            Code.NOT_FOUND,
            f"no {NOUNS[kind]} {number}; there are: {ids or 'none'}",
            hint=f"debugger {name} list",
        )
    if found.spec.kind is not kind:
        raise DebuggerError(
            Code.NOT_FOUND,
            f"{number} is a breakpoint of another kind",
            hint=f"debugger breakpoint remove {number}",
        )
    return found


@command("watch list", group=GROUP, reads_only=True)
async def listed(call: Call) -> answers.Answer:
    """List the watchpoints and the values seen last."""
    return of_kind(call.session(), Kind.WATCHPOINT)


@command("watch remove", group=GROUP)
async def remove(
    call: Call,
    ids: Annotated[tuple[int, ...], Arg("ID", "from watch list")] = (),
    *,
    every: Annotated[bool, Opt("--all", help="all of them")] = False,
) -> answers.Answer:
    """Remove watchpoints."""
    return await remove_of_kind(call.session(), ids, Kind.WATCHPOINT, every=every, name="watch")
