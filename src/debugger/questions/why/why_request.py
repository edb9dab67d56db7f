"""Parses the request for the origin of a value: the expression, the location and its hit."""

from __future__ import annotations

import re
import shlex

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import one_line
from debugger.questions.why.traced_run import TraceResult

_CALL = re.compile(r"[A-Za-z_][\w:.]*\(.*\)\Z", re.DOTALL)

LAST = -1
LINKS_MAX = 12
# Each run of a native program is a link or several: those that a run can watch at once.
RUNS_USUAL = 4
RUNS_PATIENT = 14  # where the user has given a time limit
# Seconds in all, without a time limit of the user's; of a slow program as many of its runs.
USUAL_S = 20.0
SLOW_RUNS = 4
GO_FAIL = "testing.(*common).Fail"  # what each failed check of Go's tests calls


class WhyRequest(Struct, frozen=True):
    """The request: the value, the location, its hit, and the bounds of the answer."""

    expression: str
    # The location as given: `f.c:12`, `crash`.
    place: str
    # The breakpoint of the location, with its condition; None for an event.
    at: BreakpointSpec | None = None
    # From 1, of the hits at which the condition is true; -1 is the last one, -2 the one before.
    nth: int = 1
    when: str = ""
    # Of the hits, the last one whose call an exception left, where it is known: an event's.
    is_thrown: bool = False
    # The type of what a test throws at the location, if that is known before the run to it.
    thrown_type: str | None = None
    # The frame of the expression, 0 is the innermost.
    frame: int = 0
    # The runs that found the location.
    runs: int = 0
    # The most runs, of those that follow a native program's value.
    runs_most: int = RUNS_USUAL
    # The seconds for all runs of a compiled program; 0 is as long as the question may take.
    usual_s: float = 0.0
    # The seconds that finding the location took.
    spent_s: float = 0.0
    # The most links.
    links: int = LINKS_MAX
    # The forks of a native program that lead to the process, each by its number.
    forks: tuple[int, ...] = ()
    # Where a check failed, if that is known before the run to it: its file and line.
    failed_at: tuple[str, int] | None = None
    # A run of a compiled program to the event, if there was one for another purpose.
    survey: TraceResult | None = None
    # Whether each operand is shown with its own origin, and not only the one that is followed.
    shows_all: bool = False

    @property
    def event(self) -> str | None:
        """The event that the location is; None for a line or a function."""
        return self.place if self.at is None else None

    def check_place(self) -> tuple[str, int] | None:
        """Return the line of the check that failed; None where only a run to it shows that."""
        if self.at is not None and self.at.file and self.at.line:
            return self.at.file, self.at.line
        return self.failed_at

    def seconds_for(self, patience_s: float, run_s: float) -> float:
        """Return the seconds for all runs, by the first one's."""
        if not self.usual_s:
            return patience_s
        return min(patience_s, max(self.usual_s, SLOW_RUNS * run_s))

    @property
    def is_last(self) -> bool:
        """Whether all hits must be passed before the requested one is known."""
        return self.nth < 0

    def location_text(self) -> str:
        """Return the location, its condition and its hit in words."""
        when = f" with {self.when}" if self.when else ""
        hit = {1: "", LAST: ", its last hit"}.get(self.nth, f", hit {self.nth:,}")
        return f"{self.place}{when}{hit}"


def at_go_failure(request: WhyRequest, frame: int, failed_at: tuple[str, int]) -> WhyRequest:
    """Return a request for the first failed check of a test of Go: its line may pass before.

    Args:
        request: The request.
        frame: The number of the check's frame on the stack.
        failed_at: The check's file and line.
    """
    at = BreakpointSpec(function=GO_FAIL)
    return msgspec.structs.replace(request, at=at, nth=1, frame=frame, failed_at=failed_at)


def program_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that run the tests of a command as one program: `node --test`."""
    return ("node", *words[2:]) if words[:2] == ("node", "--test") else words


def is_call(expression: str) -> bool:
    """Return whether an expression is one call, whose result nothing keeps."""
    return _CALL.match(expression.strip()) is not None


def check_expression(expression: str) -> str:
    """Return an expression of one line.

    Raises:
        DebuggerError: USAGE for several lines, or none.
    """
    one_line(expression)
    if not expression.strip():
        raise DebuggerError(
            ErrorCode.USAGE, "the expression is empty", hint="debugger why EXPR --at LOC -- CMD"
        )
    return expression.strip()


def require_innermost(request: WhyRequest) -> None:
    """Reject another frame than the innermost, for recorders that read the location's own.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    if request.frame:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"frame {request.frame} is selected, and a value is followed from the innermost frame",
            hint=f"debugger frame 0; debugger why {shlex.quote(request.expression)}",
        )


def repeat_with(expression: str, place: str, option: str = "") -> str:
    """Return the command that asks about another value, at another location or with an option."""
    more = f" {option}" if option else ""
    return f"debugger why {shlex.quote(expression)} --at {shlex.quote(place)}{more} -- CMD"
