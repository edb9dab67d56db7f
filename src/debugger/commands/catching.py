"""Commands about exceptions: stops when one is thrown, and what it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from debugger.backends.abilities import Exceptions
from debugger.commands.call import Call
from debugger.commands.watching import of_kind, remove_of_kind
from debugger.core import answers
from debugger.core.answers import ExceptionInfo
from debugger.core.breakpoints import Kind, Spec
from debugger.core.command import Arg, Opt, command
from debugger.core.locate import near_names
from debugger.core.model import Catch
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.session import family, looking, views

GROUP = "Breakpoints"
# Of our own words the one that a user most likely means, before an adapter's filters.
_WORDS = ("throw", "raised", "panic", "uncaught")


@command("catch", group=GROUP)
async def catch(
    call: Call,
    what: Annotated[
        str, Arg("WHAT", "throw, catch, panic, raised, uncaught, or a filter of the adapter's")
    ],
    kind: Annotated[str | None, Arg("TYPE", "only exceptions of this type")] = None,
) -> answers.Answer:
    """Stop when an exception is thrown; the stop names its type, message and causes."""
    session = call.session()
    session.require_live("catch exceptions")
    for text in (what, kind):
        if text is not None:
            one_line(text)
    known = session.backend.ability(Exceptions).catches
    found = known.get(what)
    if found is None:
        near = near_names(what, known)
        meant = f"did you mean {near[0]}? " if near else ""
        raise DebuggerError(
            Code.NOT_FOUND,
            f"{session.adapter} has no {what!r} to catch; there are: {', '.join(known)}",
            hint=f"{meant}debugger catch {near[0] if near else _usual(known)}",
        )
    if kind is not None and not found.takes_type:
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            f"{session.adapter} cannot catch {what} by type",
            hint=f"debugger catch {what}",
        )
    spec = Spec(catch=what, type=kind)
    return views.breakpoint_view(await family.add_breakpoint(session, spec))


def _usual(known: Mapping[str, Catch]) -> str:
    return next(word for word in (*_WORDS, *known) if word in known)


@command("catch list", group=GROUP, reads_only=True)
async def listed(call: Call) -> answers.Answer:
    """List what is caught."""
    return of_kind(call.session(), Kind.EXCEPTION)


@command("catch remove", group=GROUP)
async def remove(
    call: Call,
    ids: Annotated[tuple[int, ...], Arg("ID", "from catch list")] = (),
    *,
    every: Annotated[bool, Opt("--all", help="all of them")] = False,
) -> answers.Answer:
    """Catch it no more."""
    return await remove_of_kind(call.session(), ids, Kind.EXCEPTION, every=every, name="catch")


@command("exception", group="Looking", reads_only=True)
async def exception(call: Call) -> ExceptionInfo:
    """Show the exception that the program stopped at: type, message, causes, trace."""
    session = call.session()
    return await session.do(lambda: looking.exception(session))
