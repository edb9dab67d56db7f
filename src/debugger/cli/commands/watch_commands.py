"""Defines the watchpoint commands."""

from __future__ import annotations

from typing import Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import Breakpoint, BreakpointKind, BreakpointSpec, WatchAccess
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.state import State
from debugger.questions.runner.command_call import CommandCall
from debugger.session import inspection, process_tree, views
from debugger.session.session import Session

GROUP = "Breakpoints"
_REFERENCE = "stops when it is set to another one: what is put into this one is not watched"
NOUNS = {BreakpointKind.WATCHPOINT: "watchpoint", BreakpointKind.EXCEPTION: "catchpoint"}


@register_command("watch", group=GROUP, dashes_are_words=True)
async def watch(
    call: CommandCall,
    expression: Annotated[
        str, Argument("EXPR", "a variable, a field, an element, in the current frame", words=True)
    ],
    *,
    read: Annotated[
        bool, Option("--read", help="stop when it is read; on x86 some writes stop too")
    ] = False,
    access: Annotated[bool, Option("--access", help="stop when it is read or written")] = False,
    condition: Annotated[
        str | None, Option("--condition", "-c", help="stop only if this is true", metavar="EXPR")
    ] = None,
) -> answers.Answer:
    """Stop when a value changes; the stop shows it before and after, and the line that wrote it."""
    session = call.current_session()
    if read and access:
        raise DebuggerError(
            ErrorCode.USAGE, "--access is --read and writes: give one", hint="debugger watch --help"
        )
    session.require_state(State.STOPPED, to="watch")
    for text in (expression, condition):
        if text is not None:
            one_line(text)
    how = WatchAccess.READ if read else WatchAccess.ANY if access else WatchAccess.WRITE
    spec = BreakpointSpec(watch=expression, access=how, condition=condition)

    async def job() -> answers.Answer:
        frame = await inspection.frame_of(session)
        watching = session.binding.watching
        before = [one.id for one in watching.watchpoints()]
        added = await watching.add(spec, session.backend, frame)
        shown = breakpoint_view(session, added)
        kept = {one.id for one in watching.watchpoints()}
        replaced = [str(number) for number in before if number not in kept]
        notes = list(shown.notes or ())
        if replaced:
            those = ", ".join(replaced)
            notes.append(f"it takes the place of watchpoint {those}, of the same expression")
        if isinstance(shown.value, str) and shown.value.startswith(("map[", "chan ")):
            notes.append(_REFERENCE)
        return msgspec.structs.replace(shown, notes=tuple(notes)) if notes else shown

    return await session.run_job(job)


def breakpoint_view(session: Session, one: Breakpoint) -> answers.BreakpointView:
    """Show a breakpoint of any kind, a watchpoint with the value seen last."""
    return views.breakpoint_view(one, session.binding.watching.last_value(one.id))


def of_kind(session: Session, kind: BreakpointKind) -> answers.BreakpointList:
    """Show the breakpoints of one kind."""
    listed = [one for one in session.breakpoints.user_breakpoints() if one.spec.kind is kind]
    return answers.BreakpointList(
        breakpoints=tuple(breakpoint_view(session, one) for one in listed)
    )


async def remove_of_kind(
    session: Session, numbers: tuple[int, ...], kind: BreakpointKind, *, every: bool, name: str
) -> answers.Removed:
    """Remove breakpoints of one kind.

    Raises:
        DebuggerError: USAGE without numbers, NOT_FOUND for one of another kind.
    """
    if every == bool(numbers):
        raise DebuggerError(
            ErrorCode.USAGE, "which? Give IDs or --all", hint=f"debugger {name} list"
        )
    known = [one for one in session.breakpoints.user_breakpoints() if one.spec.kind is kind]
    chosen = known if every else [_one_of(session, number, kind, name) for number in numbers]
    for one in chosen:
        await process_tree.drop_breakpoint(session, one)
    return answers.Removed(removed=tuple(one.id for one in chosen), noun=NOUNS[kind])


def _one_of(session: Session, number: int, kind: BreakpointKind, name: str) -> Breakpoint:
    every = {one.id: one for one in session.breakpoints.user_breakpoints()}
    found = every.get(number)
    if found is None:
        ids = ", ".join(str(one.id) for one in every.values() if one.spec.kind is kind)
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no {NOUNS[kind]} {number}; there are: {ids or 'none'}",
            hint=f"debugger {name} list",
        )
    if found.spec.kind is not kind:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{number} is a breakpoint of another kind",
            hint=f"debugger breakpoint remove {number}",
        )
    return found


@register_command("watch list", group=GROUP, reads_only=True)
async def listed(call: CommandCall) -> answers.Answer:
    """List the watchpoints and the values seen last."""
    return of_kind(call.current_session(), BreakpointKind.WATCHPOINT)


@register_command("watch remove", group=GROUP)
async def remove(
    call: CommandCall,
    ids: Annotated[tuple[int, ...], Argument("ID", "from watch list")] = (),
    *,
    every: Annotated[bool, Option("--all", help="all of them")] = False,
) -> answers.Answer:
    """Remove watchpoints."""
    return await remove_of_kind(
        call.current_session(), ids, BreakpointKind.WATCHPOINT, every=every, name="watch"
    )
