"""Defines the commands that stop at exceptions and that describe the current exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from debugger.backends.abilities import ExceptionAbility
from debugger.cli.commands.watch_commands import of_kind, remove_of_kind
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.answers import ExceptionInfo
from debugger.model.breakpoints import BreakpointKind, BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.location import near_names
from debugger.model.program import CatchFilter
from debugger.questions.runner.command_call import CommandCall
from debugger.session import inspection, process_tree, views

GROUP = "Breakpoints"
# Of our own words the one that a user most likely means, before an adapter's filters.
_WORDS = ("throw", "raised", "panic", "uncaught")


@register_command("catch", group=GROUP)
async def catch(
    call: CommandCall,
    what: Annotated[
        str, Argument("WHAT", "throw, catch, panic, raised, uncaught, or a filter of the adapter's")
    ],
    kind: Annotated[str | None, Argument("TYPE", "only exceptions of this type")] = None,
) -> answers.Answer:
    """Stop when an exception is thrown; the stop names its type, message and causes."""
    session = call.current_session()
    session.require_live("catch exceptions")
    for text in (what, kind):
        if text is not None:
            one_line(text)
    known = session.backend.find_ability(ExceptionAbility).catch_filters
    found = known.get(what)
    if found is None:
        near = near_names(what, known)
        meant = f"did you mean {near[0]}? " if near else ""
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{session.adapter} has no {what!r} to catch; there are: {', '.join(known)}",
            hint=f"{meant}debugger catch {near[0] if near else _usual_filters(known)}",
        )
    if kind is not None and not found.takes_type:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{session.adapter} cannot catch {what} by type",
            hint=f"debugger catch {what}",
        )
    spec = BreakpointSpec(catch=what, type=kind)
    return views.breakpoint_view(await process_tree.add_breakpoint(session, spec))


def _usual_filters(known: Mapping[str, CatchFilter]) -> str:
    return next(word for word in (*_WORDS, *known) if word in known)


@register_command("catch list", group=GROUP, reads_only=True)
async def listed(call: CommandCall) -> answers.Answer:
    """List what is caught."""
    return of_kind(call.current_session(), BreakpointKind.EXCEPTION)


@register_command("catch remove", group=GROUP)
async def remove(
    call: CommandCall,
    ids: Annotated[tuple[int, ...], Argument("ID", "from catch list")] = (),
    *,
    every: Annotated[bool, Option("--all", help="all of them")] = False,
) -> answers.Answer:
    """Catch it no more."""
    return await remove_of_kind(
        call.current_session(), ids, BreakpointKind.EXCEPTION, every=every, name="catch"
    )


@register_command("exception", group="Looking", reads_only=True)
async def exception(call: CommandCall) -> ExceptionInfo:
    """Show the exception that the program stopped at: type, message, causes, trace."""
    session = call.current_session()
    return await session.run_job(lambda: inspection.describe_exception(session))
