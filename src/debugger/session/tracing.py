"""Traces functions by the debugger itself, else by logpoints at their entries.

Each function is a job of the session, but for those that set logpoints, which are jobs of every
process of the family.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from debugger.backends.abilities import Tracing
from debugger.core import answers
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.model import Traced
from debugger.core.state import State
from debugger.core.words import bounded
from debugger.errors import Code, DebuggerError
from debugger.session import family, views
from debugger.session.session import Session
from debugger.session.standing import check_runs

PATTERNS_MAX = 50
PATTERN_MAX = 500
FUNCTIONS_MAX = answers.TRACED_MAX
_NAMES_MAX = 100
_ENTERED = "enter "
_WILD = frozenset("*?[")


def able(session: Session) -> Tracing | None:
    """Return what traces; None where the debugger does not, and logpoints have to."""
    try:
        return session.backend.ability(Tracing)
    except DebuggerError as error:
        if error.code is not Code.NOT_SUPPORTED:
            raise
        return None


async def add(session: Session, patterns: Sequence[str], limit: int | None) -> answers.Traces:
    """Trace the functions that patterns match, from now on.

    Raises:
        DebuggerError: NOT_SUPPORTED for a pattern where functions are traced by name.
    """
    for one in patterns:
        bounded(one, PATTERN_MAX)
    check_runs(session.target, to="trace functions")
    session.require(State.STOPPED, State.RUNNING, to="trace functions")
    ability = able(session)
    if ability is None:
        return await _log_entries(session, patterns)

    async def job() -> list[Traced]:
        made = await ability.trace(patterns, limit=limit)
        session.binding.traced([one.pattern for one in made if one.functions], limit)
        return made

    return _shown([_view(one) for one in await session.do(job)])


async def _log_entries(session: Session, names: Sequence[str]) -> answers.Traces:
    for name in names:
        if name.startswith("@") or not _WILD.isdisjoint(name):
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                f"this debugger traces functions by name, not by a pattern: {name}",
                hint="debugger start PROGRAM --backend frida traces patterns "
                "(C, C++, Rust on Linux x86-64)",
            )
    made = [
        await family.add_breakpoint(session, Spec(function=name, log=_ENTERED + name))
        for name in names
    ]
    return _shown([_of_logpoint(one) for one in made])


async def remove(session: Session, numbers: Sequence[int], *, every: bool) -> answers.Removed:
    """Trace the functions of these patterns no longer.

    Raises:
        DebuggerError: NOT_FOUND, naming those that there are.
    """
    session.require_live("change what is traced")
    ability = able(session)
    if ability is None:
        known = {one.id: one for one in _logpoints(session)}
        chosen = list(known) if every else list(numbers)
        _check(chosen, list(known))
        for number in chosen:
            await family.drop_breakpoint(session, known[number])
        return answers.Removed(tuple(chosen), noun="trace")

    async def job() -> tuple[int, ...]:
        known = {one.id: one.pattern for one in await ability.traces()}
        chosen = list(known) if every else list(numbers)
        _check(chosen, list(known))
        await ability.untrace(chosen)
        session.binding.untraced([known[number] for number in chosen])
        return tuple(chosen)

    return answers.Removed(await session.do(job), noun="trace")


def _check(chosen: Sequence[int], known: Sequence[int]) -> None:
    missing = [number for number in chosen if number not in known]
    if missing:
        there = ", ".join(map(str, known[:PATTERNS_MAX])) or "none"
        raise DebuggerError(
            Code.NOT_FOUND, f"no trace {missing[0]}; there are: {there}", hint="debugger trace list"
        )


async def listed(session: Session) -> answers.Traces:
    """List what is traced, each pattern as it is now."""
    if session.state is State.TERMINATED:
        return _shown([_view(one) for one in session.last_traces])
    session.require_live("list the traces")
    ability = able(session)
    if ability is None:
        return _shown([_of_logpoint(one) for one in _logpoints(session)])
    return _shown([_view(one) for one in await session.do(ability.traces)])


async def skipped(tracer: Tracing) -> dict[str, int]:
    """Return how many calls of the functions that were called too often were not told, by name.

    Also of a program that has ended since.
    """
    found: dict[str, int] = {}
    for one in await tracer.traces():
        found |= zip(one.sampled, one.skipped, strict=True)
    return found


def _logpoints(session: Session) -> list[Breakpoint]:
    return [
        one
        for one in session.breakpoints.listed()
        if one.spec.function is not None and one.spec.log == _ENTERED + one.spec.function
    ]


def _shown(found: list[answers.TracedView]) -> answers.Traces:
    return answers.Traces(tuple(found), functions=sum(one.functions for one in found))


def _view(one: Traced) -> answers.TracedView:
    return answers.TracedView(
        id=one.id if one.functions else None,
        pattern=one.pattern,
        functions=one.functions,
        names=tuple(name[: views.NAME_MAX] for name in one.names[:_NAMES_MAX]),
        left_out=one.left_out,
        sampled=tuple(name[: views.NAME_MAX] for name in one.sampled[:_NAMES_MAX]),
        skipped=one.skipped[:_NAMES_MAX],
        why=one.why or UNSET,
        near_names=one.near_names or UNSET,
    )


def _of_logpoint(one: Breakpoint) -> answers.TracedView:
    bound = one.bound or Bound(verified=False, why="the program does not run yet")
    name = one.spec.function or ""
    return answers.TracedView(
        id=one.id,
        pattern=name,
        functions=int(bound.verified),
        names=(name,) if bound.verified else (),
        why=UNSET if bound.verified else bound.why or "not bound yet",
        near_names=bound.near_names if bound.near_names and not bound.verified else UNSET,
    )
