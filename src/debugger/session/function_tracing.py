"""Traces functions with the debugger's own tracing, or else with logpoints at their entries.

Each function here is a job of the session, except those that set logpoints, which run jobs in every
process of the process tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import UNSET

from debugger.backends.abilities import TracingAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import check_line
from debugger.model.events import State
from debugger.model.program import TracedPattern
from debugger.session import process_tree, views
from debugger.session.session import Session
from debugger.session.session_state import check_runs

PATTERNS_MAX = 50
PATTERN_MAX = 500  # characters
FUNCTIONS_MAX = answers.TRACED_MAX
_NAMES_MAX = 100  # traced functions that are named
_ENTERED = "enter "
_WILD = frozenset("*?[")


def tracing_ability(session: Session) -> TracingAbility | None:
    """Return the tracing ability; None if logpoints must be used instead."""
    try:
        return session.backend.find_ability(TracingAbility)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        return None


async def add_traces(
    session: Session, patterns: Sequence[str], limit: int | None
) -> answers.Traces:
    """Trace the functions that patterns match, from now on.

    Raises:
        DebuggerError: NOT_SUPPORTED for a pattern where functions are traced by name.
    """
    for one in patterns:
        check_line(one, PATTERN_MAX)
    check_runs(session.target, to="trace functions")
    session.require_state(State.STOPPED, State.RUNNING, to="trace functions")
    ability = tracing_ability(session)
    if ability is None:
        return await log_entries(session, patterns, lambda spec: spec)

    async def job() -> list[TracedPattern]:
        made = await ability.trace_functions(patterns, limit=limit)
        session.binding.note_traced([one.pattern for one in made if one.functions], limit)
        return made

    return _traces_answer([_traced_view(one) for one in await session.run_job(job)])


async def log_entries(
    session: Session,
    names: Sequence[str],
    filtered: Callable[[BreakpointSpec], BreakpointSpec],
) -> answers.Traces:
    """Log the entries of functions; `filtered` adds the filter of hits to a logpoint.

    Raises:
        DebuggerError: NOT_SUPPORTED for a pattern.
    """
    check_runs(session.target, to="trace functions")
    session.require_state(State.STOPPED, State.RUNNING, to="trace functions")
    for name in names:
        check_line(name, PATTERN_MAX)
        if name.startswith("@") or not _WILD.isdisjoint(name):
            raise _no_pattern(name, has_patterns=tracing_ability(session) is not None)
    specs = [filtered(BreakpointSpec(function=name, log=_ENTERED + name)) for name in names]
    made = [await process_tree.add_breakpoint(session, one) for one in specs]
    is_beside = tracing_ability(session) is not None
    return _traces_answer([_of_logpoint(one, is_beside=is_beside) for one in made])


def _no_pattern(name: str, *, has_patterns: bool) -> DebuggerError:
    if has_patterns:
        return DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"calls that are filtered are traced by a function's name, not by a pattern: {name}",
            hint=f"debugger trace add {name!r} traces all calls; trace list names its functions",
        )
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"this debugger traces functions by name, not by a pattern: {name}",
        hint="debugger start PROGRAM --backend frida traces patterns "
        "(C, C++, Rust on Linux x86-64)",
    )


async def remove_traces(
    session: Session, numbers: Sequence[int], *, every: bool
) -> answers.Removed:
    """Stop tracing the functions of these patterns.

    Raises:
        DebuggerError: NOT_FOUND, naming those that there are.
    """
    session.require_live("change what is traced")
    ability = tracing_ability(session)
    if ability is None:
        known = {one.id: one for one in _trace_logpoints(session)}
        chosen = list(known) if every else list(numbers)
        _check_numbers(chosen, list(known))
        for number in chosen:
            await process_tree.drop_breakpoint(session, known[number])
        return answers.Removed(tuple(chosen), noun="trace")

    async def job() -> tuple[int, ...]:
        known = {one.id: one.pattern for one in await ability.traced_patterns()}
        chosen = list(known) if every else list(numbers)
        _check_numbers(chosen, list(known))
        await ability.untrace_functions(chosen)
        session.binding.note_untraced([known[number] for number in chosen])
        return tuple(chosen)

    removed = await session.run_job(job)
    # Filtered traces are logpoints, which have the numbers of breakpoints.
    logged = _trace_logpoints(session) if every else []
    for one in logged:
        await process_tree.drop_breakpoint(session, one)
    return answers.Removed((*removed, *(one.id for one in logged)), noun="trace")


def _check_numbers(chosen: Sequence[int], known: Sequence[int]) -> None:
    missing = [number for number in chosen if number not in known]
    if missing:
        there = ", ".join(map(str, known[:PATTERNS_MAX])) or "none"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no trace {missing[0]}; there are: {there}",
            hint="debugger trace list",
        )


async def list_traces(session: Session) -> answers.Traces:
    """List the traced patterns in their current state."""
    if session.state is State.TERMINATED:
        return _traces_answer([_traced_view(one) for one in session.last_traces])
    session.require_live("list the traces")
    ability = tracing_ability(session)
    if ability is None:
        return _traces_answer([_of_logpoint(one) for one in _trace_logpoints(session)])
    traced = [_traced_view(one) for one in await session.run_job(ability.traced_patterns)]
    logged = [_of_logpoint(one, is_beside=True) for one in _trace_logpoints(session)]
    return _traces_answer([*traced, *logged])


async def skipped_calls(tracer: TracingAbility) -> dict[str, int]:
    """Return by name how many calls of too frequent functions were not reported.

    The counts are kept after the program's end.
    """
    found: dict[str, int] = {}
    for one in await tracer.traced_patterns():
        found |= zip(one.sampled, one.skipped, strict=True)
    return found


def _trace_logpoints(session: Session) -> list[Breakpoint]:
    return [
        one
        for one in session.breakpoints.user_breakpoints()
        if one.spec.function is not None and one.spec.log == _ENTERED + one.spec.function
    ]


def _traces_answer(found: list[answers.TracedView]) -> answers.Traces:
    return answers.Traces(tuple(found), functions=sum(one.functions for one in found))


def _traced_view(one: TracedPattern) -> answers.TracedView:
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


def _of_logpoint(one: Breakpoint, *, is_beside: bool = False) -> answers.TracedView:
    """Show a logpoint as a trace; `is_beside` those of the debugger, with their own numbers."""
    bound = one.bound or BoundBreakpoint(verified=False, why="the program does not run yet")
    name = one.spec.function or ""
    return answers.TracedView(
        id=one.id,
        pattern=f"{name} (a logpoint: breakpoint remove {one.id})" if is_beside else name,
        functions=int(bound.verified),
        names=(name,) if bound.verified else (),
        why=UNSET if bound.verified else bound.why or "not bound yet",
        near_names=bound.near_names if bound.near_names and not bound.verified else UNSET,
    )
