"""Builds breakpoints with a filter of their hits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec, HitRule
from debugger.model.hit_filter import (
    FUTURE_UNKNOWN,
    NO_CALLERS,
    HitEvent,
    HitFilter,
    require_one_condition,
)
from debugger.questions.runner.command_call import CommandCall, spec_in_session
from debugger.session.session import Session


def filter_in_session(
    call: CommandCall, session: Session, spec: BreakpointSpec, hits: HitFilter, *, command: str
) -> BreakpointSpec:
    """Return a breakpoint of a session with the filter, whose events are located there.

    Raises:
        DebuggerError: What `filter_hits` and locating an event raise.
    """
    return filter_hits(spec, hits, partial(spec_in_session, call, session), command=command)


def filter_hits(
    spec: BreakpointSpec,
    hits: HitFilter,
    locate: Callable[[str], BreakpointSpec],
    *,
    command: str,
) -> BreakpointSpec:
    """Return a breakpoint with the filter: what debuggers can do is theirs, the rest a rule.

    Args:
        spec: The breakpoint; its own condition stays where the filter has none.
        hits: The filter.
        locate: Returns the breakpoint of a location: for the filter's events.
        command: The command, for errors.

    Raises:
        DebuggerError: USAGE for what a running program cannot be filtered by.
    """
    condition = require_one_condition(command, hits)
    if condition is not None and spec.condition is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{command}: a breakpoint has one condition, and got {spec.condition} and {condition}",
            hint=f"debugger {command} … --break LOC --when EXPR, with both conditions in EXPR",
        )
    if hits.nth is not None and hits.nth < 0:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{command} cannot count hits from the last one: the program's future is not known",
            hint=FUTURE_UNKNOWN.hint,
        )
    if spec.log is not None and hits.inside is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{command} cannot take --in: {NO_CALLERS.reason}",
            hint=NO_CALLERS.hint,
        )

    def located(event: HitEvent | None) -> BreakpointSpec | None:
        if event is None:
            return None
        found = locate(event.place)
        return msgspec.structs.replace(found, condition=event.when)

    spec = msgspec.structs.replace(spec, condition=condition or spec.condition, thread=hits.thread)
    rest = msgspec.structs.replace(hits, conditions=(), thread=None)
    if not rest:
        return spec
    text = " ".join(rest.options())
    is_counted = hits.nth is not None and rest == HitFilter(nth=hits.nth)
    if is_counted and spec.hit_count is None and spec.log is None and spec.thread is None:
        # Counted by the debugger: a loop of a million hits stops once.
        rule = HitRule(HitFilter(first=1), text)
        return msgspec.structs.replace(spec, hit_count=hits.nth, rule=rule)
    rule = HitRule(rest, text, located(hits.after), located(hits.until))
    return msgspec.structs.replace(spec, rule=rule)
