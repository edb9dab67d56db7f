"""Defines a request for the writes of a value: whose, and seen from which location."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec

HINT_WHEN = "debugger probe --at {} '{}' -- CMD shows what it was there"


@dataclass(frozen=True)
class WriteRequest:
    """What is asked: whose writes, seen from which place, at which of its hits, until where."""

    expression: str
    at: BreakpointSpec
    place: str
    hit: int = 1
    until: BreakpointSpec | None = None
    limit: int = 1000
    when: str = ""

    @property
    def condition_text(self) -> str:
        """The place, and what is to hold there, in words."""
        return f"{self.place} with {self.when}" if self.when else self.place

    @property
    def no_value_hint(self) -> str:
        """What helps where the expression has no value: the session is over with the answer."""
        if self.expression.isidentifier():
            return f"debugger who-wrote NAME --at {self.place} -- CMD: a name that is known there"
        expression = shlex.quote(self.expression)
        return f"debugger probe --at {self.place} {expression} -- CMD evaluates it"

    def expression_error(self, error: DebuggerError) -> DebuggerError:
        """Return what a debugger says of the expression, with a hint that is for the question."""
        is_of_question = "who-wrote" in (error.hint or "")
        if error.code is not ErrorCode.EVALUATION_FAILED or is_of_question:
            return error
        return DebuggerError(error.code, error.message, hint=self.no_value_hint)
