"""Defines the breakpoints that a program begins with, with a filter of their hits."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option, OptionGroup, Parameter
from debugger.model.hit_filter import (
    EVERY_HIT,
    STOP_REFUSALS,
    HitFilter,
    Refusal,
    refuse_options,
)

if TYPE_CHECKING:
    from debugger.model.breakpoints import BreakpointSpec
    from debugger.questions.runner.command_call import CommandCall

_HITS = refuse_options(
    {
        **STOP_REFUSALS,
        "thread": Refusal(
            "the threads of a program are not known before it runs",
            "debugger break LOC --thread N once it is stopped",
        ),
    },
    help={"when": "stop there only if it is true", "nth": "stop at the Kth hit only"},
    also={"when": ("--if", "--condition", "--cond")},
    unlisted=frozenset({"first", "inside", "after", "until"}),
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
            DebuggerError: USAGE, also for a filter without a breakpoint.
        """
        from debugger.questions.runner.filtered_breakpoint import filter_hits

        locate = partial(call.conditional_spec, near=near, current=current, program=program)
        if self.hits and not self.places:
            flag, *value = self.hits.options()
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{self.command}: {flag} chooses a hit of --break LOC, which is missing",
                hint=f"debugger {self.command} … --break LOC {shlex.join([flag, *value])}",
            )
        return [
            filter_hits(locate(words), self.hits, locate, command=self.command)
            for words in self.places
        ]


def _build_first(command: str, breaks: tuple[str, ...] = (), **given: Any) -> FirstBreakpoints:
    hits: HitFilter = _HITS.build(command, **given)
    if hits.until is not None and not breaks and hits == HitFilter(until=hits.until):
        return FirstBreakpoints((hits.until.text,), command=command)  # it runs until there
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
        *_HITS.parameters,
    ),
    _build_first,
)
NO_BREAKPOINTS = FirstBreakpoints()
