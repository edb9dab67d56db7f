"""Builds breakpoints with a filter of their hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec, HitRule
from debugger.model.command_registry import Option, OptionGroup, Parameter
from debugger.model.hit_filter import (
    EVERY_HIT,
    HitEvent,
    HitFilter,
    Refusal,
    refuse_options,
    require_one_condition,
)
from debugger.questions.runner.command_call import CommandCall

_WHOLE_RUN = "probe --at LOC EXPR --last N -- CMD shows the last hits of a whole run"
FUTURE_UNKNOWN = Refusal("the program's future is not known", _WHOLE_RUN)
NO_CALLERS = Refusal(
    "a logpoint does not show its callers",
    "break LOC --in FUNCTION stops there; probe --in FUNCTION shows values of a run",
)
# The refusals of a command that runs to one hit.
RUN_TO_REFUSALS = {
    "last": FUTURE_UNKNOWN,
    "first": Refusal("it stops once", "--nth K runs to the Kth hit"),
    "changes": Refusal("it compares no values", "watch EXPR stops when a value changes"),
}
# The refusals of a breakpoint, which stops a running program.
STOP_REFUSALS = {
    "last": FUTURE_UNKNOWN,
    "changes": Refusal(
        "a breakpoint has no values to compare",
        "watch EXPR stops when a value changes; probe --changes shows a run's changes",
    ),
}
_BEGIN_HITS = refuse_options(
    {
        **STOP_REFUSALS,
        "thread": Refusal(
            "the threads of a program are not known before it runs",
            "debugger break LOC --thread N once it is stopped",
        ),
    },
    help={"when": "stop there only if it is true", "nth": "stop at the Kth hit only"},
    also={"when": ("--if", "--condition", "--cond")},
    without=frozenset({"until"}),
    unlisted=frozenset({"first", "inside", "after"}),
)


class FirstBreakpoints(Struct, frozen=True):
    """The breakpoints that a program begins with, and the filter of their hits."""

    places: tuple[str, ...] = ()  # LOC, or `LOC if COND`
    hits: HitFilter = EVERY_HIT
    command: str = ""

    def build_specs(
        self, call: CommandCall, *, near: list[str], current: str | None, program: str | None = None
    ) -> Sequence[BreakpointSpec]:
        """Return the breakpoints; those without a file are in the `current` one.

        Raises:
            DebuggerError: USAGE.
        """
        locate = partial(call.conditional_spec, near=near, current=current, program=program)
        return [
            filter_hits(locate(words), self.hits, locate, command=self.command)
            for words in self.places
        ]


def _build_first(command: str, breaks: tuple[str, ...] = (), **given: Any) -> FirstBreakpoints:
    hits: HitFilter = _BEGIN_HITS.build(command, **given)
    if hits and not breaks:
        flag, *value = hits.options()
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{command}: {flag} chooses a hit of --break LOC, which is missing",
            hint=f"debugger {command} … --break LOC {flag} {' '.join(value)}",
        )
    return FirstBreakpoints(breaks, hits, command)


FIRST_BREAKPOINTS = OptionGroup(
    (
        Parameter(
            "breaks",
            tuple[str, ...],
            (),
            Option(
                "--break", "-b", help="set a breakpoint first; also 'LOC if COND'", metavar="LOC"
            ),
        ),
        *_BEGIN_HITS.parameters,
    ),
    _build_first,
)
NO_BREAKPOINTS = FirstBreakpoints()


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
            hint=f"debugger {command} … --break LOC --when EXPR, of which EXPR joins them",
        )
    if hits.nth is not None and hits.nth < 0:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{command} cannot count hits from the last one: the program's future is not known",
            hint=_WHOLE_RUN,
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
