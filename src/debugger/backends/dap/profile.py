"""What differs from one debug adapter to the next, as data and small functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from debugger.backends.base import Attach, ConditionFailed, Launch, Logged, Printed
from debugger.backends.dap import messages as dap
from debugger.core.breakpoints import Bound, Spec
from debugger.core.events import Stream
from debugger.core.model import ExceptionDetails, Exited, Frame, Purpose, Reason, Stopped, Variable


@dataclass(frozen=True)
class Search:
    """Where to look for an adapter: the caller's environment, and what the configuration says."""

    env: Mapping[str, str]
    path: str | None = None
    args: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """How to start an adapter; `version` where it is known without starting it."""

    argv: tuple[str, ...]
    version: str | None = None


@dataclass(frozen=True)
class Files:
    """The paths that the program's standard streams are to be opened at."""

    stdin: str
    stdout: str
    stderr: str


class Inside(Protocol):
    """What a profile's functions may ask of a session's adapter."""

    @property
    def launched(self) -> Launch | None:
        """What was launched."""

    @property
    def looked_at(self) -> Frame | None:
        """The frame whose variables were asked for last."""

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression."""

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of the adapter's own command line."""

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Send a `variables` request as it is."""


REASONS = {
    "breakpoint": Reason.BREAKPOINT,
    "function breakpoint": Reason.FUNCTION_BREAKPOINT,
    "instruction breakpoint": Reason.BREAKPOINT,
    "data breakpoint": Reason.WATCHPOINT,
    "step": Reason.STEP,
    "entry": Reason.ENTRY,
    "pause": Reason.PAUSE,
    "exception": Reason.EXCEPTION,
    "signal": Reason.SIGNAL,
    "goto": Reason.GOTO,
}


def stopped(body: dap.StoppedBody) -> Stopped:
    """Read a `stopped` event as the protocol means it (DAP: StoppedEvent)."""
    return Stopped(
        reason=REASONS.get(body.reason, Reason.PAUSE),
        raw_reason=body.reason,
        thread=body.thread_id,
        description=body.description or "",
        text=body.text or "",
        hits=body.hit_breakpoint_ids or (),
    )


def printed(body: dap.OutputBody) -> Printed | Logged | None:
    """Read an `output` event as the protocol means it (DAP: OutputEvent)."""
    streams = {"stdout": Stream.STDOUT, "stderr": Stream.STDERR}
    if body.category == "telemetry":
        return None
    return Printed(streams.get(body.category or "console", Stream.CONSOLE), body.output)


def exited(code: int | None, last_signal: str | None) -> Exited:
    """Take the exit code as the adapter gave it."""
    del last_signal
    return Exited(code=code)


async def no_arguments(inside: Inside, frame: Frame) -> list[str] | None:
    """Know nothing of the arguments."""
    del inside, frame
    return None


async def no_explanation(inside: Inside, spec: Spec) -> Bound:
    """Know nothing but that it did not bind."""
    del inside, spec
    return Bound(verified=False, why="the debugger did not say why")


def no_correction(inside: Inside, spec: Spec) -> Spec | Bound:
    """Send the breakpoint as the user wants it."""
    del inside
    return spec


async def as_they_are(inside: Inside, variables: Sequence[Variable]) -> list[Variable]:
    """Show the values as the adapter gave them."""
    del inside
    return list(variables)


async def no_page(inside: Inside, value: Variable, start: int, count: int) -> list[Variable] | None:
    """Leave paging to the adapter."""
    del inside, value, start, count
    return None


async def no_return(inside: Inside, stop: Stopped, frame: Frame) -> Variable | None:
    """Know nothing of what a function returned, or have it among the locals."""
    del inside, stop, frame
    return None


def no_details(details: ExceptionDetails) -> ExceptionDetails:
    """Take the exception as the adapter gave it."""
    return details


def all_frames(frames: Sequence[dap.StackFrame]) -> list[dap.StackFrame]:
    """Show every frame."""
    return list(frames)


def unknown_words(pid: int) -> tuple[str, ...]:
    """Know nothing of what a child process runs."""
    del pid
    return ()


def as_said(problem: str) -> str:
    """Take what the adapter says is wrong with an expression."""
    return problem


def same_hits(count: int) -> str:
    """Write the hit count as the number itself."""
    return str(count)


@dataclass(frozen=True)
class Profile:
    """A debug adapter.

    `detach_s` is how long it may take to let a program go. `launch` and `attach` give the
    request's arguments; `correct` may move a breakpoint to where it can bind, or refuse it, before
    it is sent; `complete` may improve values that the adapter cut;
    `page` may read a part of a large value that the adapter would cut; `words` are the program and
    the arguments of a child process; `problem` may shorten what is wrong with an expression;
    `failed_conditions_stop` says that the program stops where a condition cannot be evaluated.
    """

    name: str
    languages: tuple[str, ...]
    install: str
    find: Callable[[Search], Found | None]
    launch: Callable[[Launch, Files], dict[str, Any]]
    attach: Callable[[Attach], dict[str, Any]]
    is_terminal: bool = False
    contexts: Mapping[Purpose, tuple[str, ...]] = field(
        default_factory=lambda: {
            Purpose.PRINT: ("watch",),
            Purpose.EVALUATE: ("repl",),
            Purpose.RAW: ("repl",),
        }
    )
    raw_prefix: str | None = None
    assigns_by_expression: bool = False
    detach_s: float = 5.0
    exception_filters: tuple[str, ...] = ()
    failed_conditions_stop: bool = False
    function_answers_are_ordered: bool = True
    properties: Mapping[str, Any] = field(default_factory=dict)
    words: Callable[[int], tuple[str, ...]] = unknown_words
    hit_condition: Callable[[int], str] = same_hits
    problem: Callable[[str], str] = as_said
    stopped: Callable[[dap.StoppedBody], Stopped] = stopped
    printed: Callable[[dap.OutputBody], Printed | Logged | ConditionFailed | None] = printed
    exited: Callable[[int | None, str | None], Exited] = exited
    frames: Callable[[Sequence[dap.StackFrame]], list[dap.StackFrame]] = all_frames
    details: Callable[[ExceptionDetails], ExceptionDetails] = no_details
    correct: Callable[[Inside, Spec], Spec | Bound] = no_correction
    explain: Callable[[Inside, Spec], Awaitable[Bound]] = no_explanation
    arguments: Callable[[Inside, Frame], Awaitable[list[str] | None]] = no_arguments
    complete: Callable[[Inside, Sequence[Variable]], Awaitable[list[Variable]]] = as_they_are
    page: Callable[[Inside, Variable, int, int], Awaitable[list[Variable] | None]] = no_page
    returned: Callable[[Inside, Stopped, Frame], Awaitable[Variable | None]] = no_return
