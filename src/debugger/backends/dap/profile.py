"""Describes one debug adapter: the profile that holds its settings and its hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from debugger.backends.base import Attach, ConditionFailed, Event, Launch, Logged, Printed, Started
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.defaults import (
    as_evaluated,
    as_said,
    as_they_are,
    location_of,
    no_arguments,
    no_assignment,
    no_catching,
    no_choice,
    no_correction,
    no_details,
    no_evaluation,
    no_exception,
    no_explanation,
    no_failed_condition,
    no_hint,
    no_page,
    no_return,
    not_taken,
    own_condition,
    same_hits,
    same_thread,
    unknown_words,
)
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.events import Stream
from debugger.core.model import (
    ExceptionDetails,
    Exited,
    Frame,
    Purpose,
    Reason,
    Scope,
    Stack,
    Stopped,
    Variable,
)
from debugger.core.raw_effects import RawEffect, no_effect
from debugger.core.signals import signal_name
from debugger.errors import Code

if TYPE_CHECKING:
    from debugger.backends.dap.delegated import Delegating, Lines
    from debugger.backends.dap.steps import Steps


@dataclass(frozen=True)
class Search:
    """Where to look for an adapter."""

    env: Mapping[str, str]  # the caller's
    path: str | None = None  # from the configuration, as are `args`
    args: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """How to start an adapter."""

    argv: tuple[str, ...]
    version: str | None = None  # where known without starting it
    # Pattern with a group `port`, for an adapter on TCP that prints the port to its standard
    # output.
    listens: str | None = None


@dataclass(frozen=True)
class Serving:
    """How to start an adapter that is given a port, or that is part of the program."""

    # Builds the command from the adapter's location, the launch request and a free port.
    words: Callable[[Found, Launch | None, int], list[str]]
    # HOST:{port}, for an adapter that does not report its port.
    connect: str | None = None
    is_program: bool = False  # the program is its own adapter
    # Begins the adapter's own lines on the program's standard error.
    own_output: str | None = None
    suffix: str = ""  # of a program's file name


@dataclass(frozen=True)
class Files:
    """The paths at which the program opens its standard streams."""

    stdin: str
    stdout: str
    stderr: str


class Inside(Protocol):
    """Gives a profile's hooks access to the session's adapter."""

    def can(self, command: str) -> bool:
        """Return whether the adapter supports a request."""

    @property
    def launched(self) -> Launch | None:
        """The launch request; None for a target that was attached to."""

    @property
    def attached(self) -> Attach | None:
        """The attach request; None for a launched program."""

    @property
    def looked_at(self) -> Frame | None:
        """The frame whose variables were requested last."""

    @property
    def conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each breakpoint, by the adapter's number.

        A breakpoint whose condition cannot be evaluated is reported, and does not stop.
        """

    @property
    def logs(self) -> dict[int, tuple[int, str]]:
        """Our number and text of each logpoint that stops for us to log, by its adapter number."""

    @property
    def checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""

    @property
    def lines(self) -> Lines | None:
        """Sends breakpoints, for an adapter that needs more than the protocol's request."""

    @property
    def steps(self) -> Steps | None:
        """Keeps steps from being lost, for an adapter that may lose them."""

    def tell(self, event: Event) -> None:
        """Report an event to the session."""

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression."""

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of the adapter's own command line and return its output."""

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Send a `variables` request and return the variables unchanged."""

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""

    def post(self, command: str, arguments: Struct) -> asyncio.Future[dap.Message]:
        """Send a request and return the future of its response."""

    async def request(
        self,
        command: str,
        arguments: Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: Code = Code.ADAPTER_FAILED,
    ) -> Any:
        """Send a request and return its response's body."""


Ask = Callable[[str, Struct, type[Any]], Awaitable[Any]]
LetGo = Callable[[Ask, asyncio.Event, Sequence[str]], Awaitable[None]]

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
    """Convert a `stopped` event (DAP: StoppedEvent)."""
    return Stopped(
        reason=REASONS.get(body.reason, Reason.PAUSE),
        raw_reason=body.reason,
        thread=body.thread_id,
        description=body.description or "",
        text=body.text or "",
        hits=body.hit_breakpoint_ids or (),
    )


def printed(body: dap.OutputBody) -> Printed | Logged | None:
    """Convert an `output` event (DAP: OutputEvent)."""
    streams = {"stdout": Stream.STDOUT, "stderr": Stream.STDERR}
    if body.category == "telemetry":
        return None
    return Printed(streams.get(body.category or "console", Stream.CONSOLE), body.output)


def exited(code: int | None, last_signal: str | None) -> Exited:
    """Take the exit code as the adapter reported it."""
    del last_signal
    return Exited(code=code)


def exited_or_killed(code: int | None, last_signal: str | None) -> Exited:
    """Convert an exit code; -N is a death by signal N."""
    del last_signal
    return Exited(code=code) if code is None or code >= 0 else Exited(signal=signal_name(-code))


@dataclass(frozen=True)
class Profile:
    """A debug adapter: the facts about it, and the hooks where it differs from the protocol.

    The hooks' defaults do nothing (`defaults`).
    """

    name: str
    languages: tuple[str, ...]  # that it debugs
    install: str  # the command, for the user
    find: Callable[[Search], Found | None]
    # These two build the arguments of the request of their name.
    launch: Callable[[Launch, Files], dict[str, Any]]
    attach: Callable[[Attach], dict[str, Any]]
    # Hint where it is not installed; empty: the command that installs it.
    missing_hint: str = ""
    is_terminal: bool = False  # the program's output goes to pseudo-terminals
    # A program's own debug server speaks the protocol: `attach --connect` needs no adapter.
    is_server: bool = False
    # Ends of file names of programs for this adapter, whatever their language.
    extensions: tuple[str, ...] = ()
    serving: Serving | None = None
    delegating: Delegating | None = None
    # Extra arguments for attaching to a forked process, which a SIGSTOP holds.
    forked: Callable[[Launch | None], dict[str, Any]] | None = None
    # The adapter always stops at the program's beginning.
    stops_first: bool = False
    # The attach request stops the program if that is requested; else it is paused afterwards.
    pauses_on_attach: bool = True
    # The stream of what an adapter on TCP writes to its standard output.
    served_output: Stream = Stream.CONSOLE
    contexts: Mapping[Purpose, tuple[str, ...]] = field(
        default_factory=lambda: {
            Purpose.PRINT: ("watch",),
            Purpose.EVALUATE: ("repl",),
            Purpose.RAW: ("repl",),
        }
    )
    # Goes before a command of the adapter's command line; `raw` runs one instead.
    raw_prefix: str | None = None
    raw: Callable[[Inside, str, Frame | None], Awaitable[str]] | None = None
    # The adapter keeps one breakpoint of those for which this key is equal.
    site: Callable[[Breakpoint], object] = location_of
    # Writes a breakpoint's condition; `truth` writes one whose value is true or false.
    condition: Callable[[Breakpoint], str | None] = own_condition
    truth: Callable[[str], str] = as_said
    assigns_by_expression: bool = False
    # The most seconds that a detach may take.
    detach_s: float = 5.0
    # A detach from a running program may leave a trap in it: it is paused, and its breakpoints are
    # removed, before.
    clears: bool = False
    # Filters that are always set.
    exception_filters: tuple[str, ...] = ()
    # Words of `catch`, by filter of the adapter or by function that a breakpoint is set on.
    catches: Mapping[str, str] = field(default_factory=dict)
    catch_functions: Mapping[str, str] = field(default_factory=dict)
    # The adapter's own ways to do what the protocol's requests cannot do with it.
    abilities: Mapping[type[Any], Callable[[Inside], Any]] = field(default_factory=dict)
    # Abilities by the protocol's requests.
    has: frozenset[type[Any]] = frozenset()
    # Hints: what to use in place of a missing ability.
    instead: Mapping[type[Any], str] = field(default_factory=dict)
    # Abilities that the adapter advertises although they do not work.
    lacks: frozenset[type[Any]] = frozenset()
    # The program stops where a condition cannot be evaluated.
    failed_conditions_stop: bool = False
    # Returns the problem of a condition that a stop itself reports.
    failed_condition: Callable[[Stopped], str | None] = no_failed_condition
    raw_effect: Callable[[str], RawEffect] = no_effect
    # Inspects a stop whose event says too little; None where the program runs on.
    settle: Callable[[Inside, Stopped], Awaitable[Stopped | None]] | None = None
    settled: frozenset[Reason] = frozenset({Reason.BREAKPOINT, Reason.SIGNAL})  # for `settle`
    # Inspects the stop of a step; None in a frame that an exception only passes through, and that
    # the step has to leave.
    step_ended: Callable[[Inside, Stopped], Awaitable[Stopped | None]] | None = None
    # Clears what the adapter keeps for one step, in the step's thread, before the next step.
    step_done: Callable[[Inside, int], Awaitable[None]] | None = None
    # The most seconds of a launch that has to build the program first.
    launch_s: float = 0.0
    # The function for --stop-on-entry, where the adapter's own entry is before the program's code.
    entry: str | None = None
    # Begins the output that reports a step interrupted by another thread's breakpoint. No step can
    # begin then until the program is continued.
    interrupted_step: str | None = None
    # Removes all breakpoints and lets the program run, before a detach; a launched program is then
    # released by the adapter's death, since a disconnect would end it.
    let_go: LetGo | None = None
    log: Callable[[str], str] = as_said
    # Function breakpoints take a log message, too.
    functions_log: bool = False
    # A step goes on when the program is continued from a breakpoint within it.
    keeps_steps: bool = False
    # Makes the object that keeps steps from being lost at breakpoints that do not stop.
    steps: Callable[[Inside], Steps] | None = None
    thread: Callable[[dap.Thread], dap.Thread] = same_thread
    launch_problem: Callable[[str], str] = as_said
    # Hint where a program does not start; None where the adapter itself may be at fault.
    launch_hint: Callable[[str], str | None] = no_hint
    # Shortens the reason why a breakpoint does not bind; None leaves the reason to `explain`.
    refusal: Callable[[str], str | None] = as_said
    # Parses, in a refusal, the location that another breakpoint occupies already.
    taken: Callable[[str], tuple[str, int] | None] = not_taken
    evaluate: Callable[[Inside, str, Frame | None, Purpose], Awaitable[Variable | None]] = (
        no_evaluation
    )
    # False: the answers to setFunctionBreakpoints come in any order (lldb-dap 19).
    function_answers_are_ordered: bool = True
    properties: Mapping[str, Any] = field(default_factory=dict)
    # The command line of a child process.
    words: Callable[[int], tuple[str, ...]] = unknown_words
    hit_condition: Callable[[int], str] = same_hits
    problem: Callable[[str], str] = as_said
    shown: Callable[[Inside, Variable], Awaitable[Variable]] = as_evaluated
    stopped: Callable[[dap.StoppedBody], Stopped] = stopped
    printed: Callable[[dap.OutputBody], Printed | Logged | ConditionFailed | Started | None] = (
        printed
    )
    exited: Callable[[int | None, str | None], Exited] = exited
    # Recognises the frames at a stack's end that are not the program's own.
    is_outside: Callable[[dap.StackFrame], bool] | None = None
    handles_are_calls: bool = False  # a frame keeps its handle as long as its call lasts
    exception: Callable[[Inside, Stopped], Awaitable[ExceptionDetails | None]] = no_exception
    details: Callable[[ExceptionDetails], ExceptionDetails] = no_details
    # Sets what is caught in the adapter's own way; returns whether it filters types, too.
    catching: Callable[[Inside, Sequence[Breakpoint]], Awaitable[bool]] = no_catching
    # Writes the condition of an exception filter that is to stop at some types.
    type_condition: Callable[[Sequence[str]], str] | None = None
    # Evaluated once in a process, before the first expression of the user's.
    prelude: str | None = None
    # Moves a breakpoint to where it can bind, or refuses it, before it is sent.
    correct: Callable[[Inside, Spec], Spec | Bound] = no_correction
    # Chooses one function for an ambiguous name, by the name and the adapter's refusal.
    choose_function: Callable[[str, str], str | None] = no_choice
    explain: Callable[[Inside, Spec], Awaitable[Bound]] = no_explanation
    scopes: Callable[[Sequence[dap.Scope]], list[Scope]] = convert.scopes
    arguments: Callable[[Inside, Frame], Awaitable[list[str] | None]] = no_arguments
    complete: Callable[[Inside, Sequence[Variable]], Awaitable[list[Variable]]] = as_they_are
    # Reads a part of a large value that the adapter would cut.
    page: Callable[[Inside, Variable, int, int], Awaitable[list[Variable] | None]] = no_page
    assign: Callable[[Inside, str, str, Frame], Awaitable[bool]] = no_assignment
    returned: Callable[[Inside, Stopped, Frame], Awaitable[Variable | None]] = no_return
