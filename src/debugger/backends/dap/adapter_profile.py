"""Describes one debug adapter: the profile that holds its settings and its hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from debugger.backends.base import (
    AttachTarget,
    BackendEvent,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
)
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.errors import ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits, RawEffect, no_effect
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Frame,
    Scope,
    Stack,
    Stopped,
    StopReason,
    Variable,
)
from debugger.model.signals import signal_name

if TYPE_CHECKING:
    from debugger.backends.dap.stop_filter import StepKeeper
    from debugger.backends.dap.two_connection_launch import BreakpointSender, DelegatedLaunch


async def no_arguments(adapter: AdapterAccess, frame: Frame) -> list[str] | None:
    """Return None: a frame's arguments are unknown."""
    del adapter, frame
    return None


async def no_explanation(adapter: AdapterAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    """Return that the breakpoint did not bind, without a reason."""
    del adapter, spec
    return BoundBreakpoint(verified=False, why="the debugger did not say why")


def no_correction(adapter: AdapterAccess, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    """Return the breakpoint's location as the user gave it."""
    del adapter
    return spec


def no_chosen_function(name: str, refusal: str) -> None:
    """Choose none of the functions that a name stands for."""
    del name, refusal


def breakpoint_location_key(one: Breakpoint) -> object:
    """Return the key of a breakpoint for an adapter that keeps one at each line or name."""
    location = one.at or one.spec
    return (location.line, location.function, location.catch, location.type)


def no_taken_location(why: str) -> None:
    """Find no location in a refusal."""
    del why


def user_condition(one: Breakpoint) -> str | None:
    """Return a breakpoint's condition as the user wrote it."""
    return one.spec.condition


async def unchanged_values(adapter: AdapterAccess, variables: Sequence[Variable]) -> list[Variable]:
    """Return the values unchanged."""
    del adapter
    return list(variables)


async def no_own_page(
    adapter: AdapterAccess, value: Variable, start: int, count: int
) -> list[Variable] | None:
    """Leave paging to the adapter."""
    del adapter, value, start, count
    return None


async def no_return_value(adapter: AdapterAccess, stop: Stopped, frame: Frame) -> Variable | None:
    """Return no value: the function's value is unknown, or among the locals."""
    del adapter, stop, frame
    return None


async def no_assignment(adapter: AdapterAccess, target: str, value: str, frame: Frame) -> bool:
    """Leave the assignment to the protocol's requests."""
    del adapter, target, value, frame
    return False


async def no_exception(adapter: AdapterAccess, stop: Stopped) -> ExceptionDetails | None:
    """Return None: exceptionInfo has all that is known."""
    del adapter, stop
    return None


async def no_catching(adapter: AdapterAccess, breakpoints: Sequence[Breakpoint]) -> bool:
    """Leave exceptions to the protocol's request, and their types to the stop filter."""
    del adapter, breakpoints
    return False


async def no_evaluation(
    adapter: AdapterAccess, expression: str, frame: Frame | None, purpose: EvaluationPurpose
) -> Variable | None:
    """Leave an expression to the protocol's request."""
    del adapter, expression, frame, purpose
    return None


def no_failed_condition(stop: Stopped) -> str | None:
    """Return None: no stop of this adapter reports a failed condition."""
    del stop
    return None


def unchanged_exception(details: ExceptionDetails) -> ExceptionDetails:
    """Return the exception's details unchanged."""
    return details


def unknown_command_line(pid: int) -> tuple[str, ...]:
    """Return nothing: a child's command line is unknown."""
    del pid
    return ()


async def unchanged_value(adapter: AdapterAccess, value: Variable) -> Variable:
    """Return an expression's value unchanged."""
    del adapter
    return value


def unchanged_text(problem: str) -> str:
    """Return a text unchanged."""
    return problem


def no_launch_hint(problem: str) -> str | None:
    """Return None: nothing is known to help."""
    del problem
    return None


def unchanged_thread(body: dap.DapThread) -> dap.DapThread:
    """Return a thread unchanged."""
    return body


def plain_hit_count(count: int) -> str:
    """Return the hit count as a plain number."""
    return str(count)


@dataclass(frozen=True)
class AdapterSearch:
    """Describes where to search for an adapter."""

    env: Mapping[str, str]  # the caller's
    path: str | None = None  # from the configuration, as are `args`
    args: tuple[str, ...] = ()


@dataclass(frozen=True)
class AdapterLocation:
    """Holds the command that starts an adapter."""

    argv: tuple[str, ...]
    version: str | None = None  # where known without starting it
    # Pattern with a group `port`, for an adapter on TCP that prints the port to its standard
    # output.
    listens: str | None = None


@dataclass(frozen=True)
class AdapterServer:
    """Describes an adapter that is given a port, or that is part of the program."""

    # Builds the command from the adapter's location, the launch request and a free port.
    words: Callable[[AdapterLocation, LaunchTarget | None, int], list[str]]
    # HOST:{port}, for an adapter that does not report its port.
    connect: str | None = None
    is_program: bool = False  # the program is its own adapter
    # Begins the adapter's own lines on the program's standard error.
    own_output: str | None = None
    suffix: str = ""  # of a program's file name


@dataclass(frozen=True)
class StreamFiles:
    """The paths at which the program opens its standard streams."""

    stdin: str
    stdout: str
    stderr: str


class AdapterAccess(Protocol):
    """Gives a profile's hooks access to the session's adapter."""

    def supports_request(self, command: str) -> bool:
        """Return whether the adapter supports a request."""

    @property
    def launch_target(self) -> LaunchTarget | None:
        """The launch request; None for a target that was attached to."""

    @property
    def attach_target(self) -> AttachTarget | None:
        """The attach request; None for a launched program."""

    @property
    def inspected_frame(self) -> Frame | None:
        """The frame whose variables were requested last."""

    @property
    def breakpoint_conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each breakpoint, by the adapter's number.

        A breakpoint whose condition cannot be evaluated is reported, and does not stop.
        """

    @property
    def breakpoint_logs(self) -> dict[int, tuple[int, str]]:
        """Our number and text of each logpoint that stops for us to log, by its adapter number."""

    @property
    def stop_checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""

    @property
    def breakpoint_sender(self) -> BreakpointSender | None:
        """Sends breakpoints, for an adapter that needs more than the protocol's request."""

    @property
    def step_keeper(self) -> StepKeeper | None:
        """Keeps steps from being lost, for an adapter that may lose them."""

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression."""

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of the adapter's own command line and return its output."""

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Send a `variables` request and return the variables unchanged."""

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""

    def post_request(self, command: str, arguments: Struct) -> asyncio.Future[dap.DapMessage]:
        """Send a request and return the future of its response."""

    async def send_request(
        self,
        command: str,
        arguments: Struct | dict[str, Any],
        body: type[Any],
        *,
        failure: ErrorCode = ErrorCode.ADAPTER_FAILED,
    ) -> Any:
        """Send a request and return its response's body."""


# `LetGo` gets a function that sends a request, the event of the next stop, and the files that have
# breakpoints.
Ask = Callable[[str, Struct, type[Any]], Awaitable[Any]]
LetGo = Callable[[Ask, asyncio.Event, Sequence[str]], Awaitable[None]]

# The protocol's reasons (DAP: StoppedEvent). An unknown one, as a newer adapter may send, is a
# pause.
REASONS = {
    "breakpoint": StopReason.BREAKPOINT,
    "function breakpoint": StopReason.FUNCTION_BREAKPOINT,
    "instruction breakpoint": StopReason.BREAKPOINT,
    "data breakpoint": StopReason.WATCHPOINT,
    "step": StopReason.STEP,
    "entry": StopReason.ENTRY,
    "pause": StopReason.PAUSE,
    "exception": StopReason.EXCEPTION,
    "signal": StopReason.SIGNAL,
    "goto": StopReason.GOTO,
}


def parse_stopped(body: dap.StoppedBody) -> Stopped:
    """Convert a `stopped` event (DAP: StoppedEvent)."""
    # The hooks' `stopped` begin with this, and correct what their adapter reports otherwise.
    return Stopped(
        reason=REASONS.get(body.reason, StopReason.PAUSE),
        raw_reason=body.reason,
        thread=body.thread_id,
        description=body.description or "",
        text=body.text or "",
        hits=body.hit_breakpoint_ids or (),
    )


def parse_output(body: dap.OutputBody) -> OutputPrinted | LogpointPassed | None:
    """Convert an `output` event (DAP: OutputEvent)."""
    # `console` is the default category (DAP: OutputEvent); `important` is shown like it.
    streams = {"stdout": OutputStream.STDOUT, "stderr": OutputStream.STDERR}
    # Not for the user: debugpy sends two such events at its start.
    if body.category == "telemetry":
        return None
    return OutputPrinted(streams.get(body.category or "console", OutputStream.CONSOLE), body.output)


def parse_exit(code: int | None, last_signal: str | None) -> ExitedProgram:
    """Take the exit code as the adapter reported it."""
    # Only LLDB's exit codes need the signal of the last stop.
    del last_signal
    return ExitedProgram(code=code)


def convert_exit_or_signal(code: int | None, last_signal: str | None) -> ExitedProgram:
    """Convert an exit code; -N is a death by signal N."""
    del last_signal
    return (
        ExitedProgram(code=code)
        if code is None or code >= 0
        else ExitedProgram(signal=signal_name(-code))
    )


@dataclass(frozen=True)
class AdapterProfile:
    """A debug adapter: the facts about it, and the hooks where it differs from the protocol.

    The hooks' defaults do nothing (`defaults`).
    """

    name: str
    languages: tuple[str, ...]  # that it debugs
    install: str  # the command, for the user
    find: Callable[[AdapterSearch], AdapterLocation | None]
    # These two build the arguments of the request of their name.
    launch: Callable[[LaunchTarget, StreamFiles], dict[str, Any]]
    attach: Callable[[AttachTarget], dict[str, Any]]
    # Facts that sessions and questions depend on.
    traits: DebuggerTraits = field(default_factory=DebuggerTraits)
    # Hint where it is not installed; empty: the command that installs it.
    missing_hint: str = ""
    is_terminal: bool = False  # the program's output goes to pseudo-terminals
    # A program's own debug server speaks the protocol: `attach --connect` needs no adapter.
    is_server: bool = False
    # Ends of file names of programs for this adapter, whatever their language.
    extensions: tuple[str, ...] = ()
    serving: AdapterServer | None = None
    delegating: DelegatedLaunch | None = None
    # Extra arguments for attaching to a forked process, which a SIGSTOP holds.
    forked: Callable[[LaunchTarget | None], dict[str, Any]] | None = None
    # The adapter always stops at the program's beginning.
    stops_first: bool = False
    # The attach request stops the program if that is requested; else it is paused afterwards.
    pauses_on_attach: bool = True
    # The stream of what an adapter on TCP writes to its standard output.
    served_output: OutputStream = OutputStream.CONSOLE
    contexts: Mapping[EvaluationPurpose, tuple[str, ...]] = field(
        default_factory=lambda: {
            EvaluationPurpose.PRINT: ("watch",),
            EvaluationPurpose.EVALUATE: ("repl",),
            EvaluationPurpose.RAW: ("repl",),
        }
    )
    # Goes before a command of the adapter's command line; `raw` runs one instead.
    raw_prefix: str | None = None
    raw: Callable[[AdapterAccess, str, Frame | None], Awaitable[str]] | None = None
    # The adapter keeps one breakpoint of those for which this key is equal.
    site: Callable[[Breakpoint], object] = breakpoint_location_key
    # Writes a breakpoint's condition; `truth` writes one whose value is true or false.
    condition: Callable[[Breakpoint], str | None] = user_condition
    truth: Callable[[str], str] = unchanged_text
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
    abilities: Mapping[type[Any], Callable[[AdapterAccess], Any]] = field(default_factory=dict)
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
    settle: Callable[[AdapterAccess, Stopped], Awaitable[Stopped | None]] | None = None
    settled: frozenset[StopReason] = frozenset(
        {StopReason.BREAKPOINT, StopReason.SIGNAL}
    )  # for `settle`
    # Inspects the stop of a step; None in a frame that an exception only passes through, and that
    # the step has to leave.
    step_ended: Callable[[AdapterAccess, Stopped], Awaitable[Stopped | None]] | None = None
    # Clears what the adapter keeps for one step, in the step's thread, before the next step.
    step_done: Callable[[AdapterAccess, int], Awaitable[None]] | None = None
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
    log: Callable[[str], str] = unchanged_text
    # Function breakpoints take a log message, too.
    functions_log: bool = False
    # A step goes on when the program is continued from a breakpoint within it.
    keeps_steps: bool = False
    # Makes the object that keeps steps from being lost at breakpoints that do not stop.
    steps: Callable[[AdapterAccess], StepKeeper] | None = None
    thread: Callable[[dap.DapThread], dap.DapThread] = unchanged_thread
    launch_problem: Callable[[str], str] = unchanged_text
    # Hint where a program does not start; None where the adapter itself may be at fault.
    launch_hint: Callable[[str], str | None] = no_launch_hint
    # Shortens the reason why a breakpoint does not bind; None leaves the reason to `explain`.
    refusal: Callable[[str], str | None] = unchanged_text
    # Parses, in a refusal, the location that another breakpoint occupies already.
    taken: Callable[[str], tuple[str, int] | None] = no_taken_location
    evaluate: Callable[
        [AdapterAccess, str, Frame | None, EvaluationPurpose], Awaitable[Variable | None]
    ] = no_evaluation
    # False: the answers to setFunctionBreakpoints come in any order (lldb-dap 19).
    function_answers_are_ordered: bool = True
    properties: Mapping[str, Any] = field(default_factory=dict)
    # The command line of a child process.
    words: Callable[[int], tuple[str, ...]] = unknown_command_line
    hit_condition: Callable[[int], str] = plain_hit_count
    problem: Callable[[str], str] = unchanged_text
    shown: Callable[[AdapterAccess, Variable], Awaitable[Variable]] = unchanged_value
    stopped: Callable[[dap.StoppedBody], Stopped] = parse_stopped
    printed: Callable[
        [dap.OutputBody], OutputPrinted | LogpointPassed | ConditionError | ProcessStarted | None
    ] = parse_output
    exited: Callable[[int | None, str | None], ExitedProgram] = parse_exit
    # Recognises the frames at a stack's end that are not the program's own.
    is_outside: Callable[[dap.DapStackFrame], bool] | None = None
    handles_are_calls: bool = False  # a frame keeps its handle as long as its call lasts
    exception: Callable[[AdapterAccess, Stopped], Awaitable[ExceptionDetails | None]] = no_exception
    details: Callable[[ExceptionDetails], ExceptionDetails] = unchanged_exception
    # Sets what is caught in the adapter's own way; returns whether it filters types, too.
    catching: Callable[[AdapterAccess, Sequence[Breakpoint]], Awaitable[bool]] = no_catching
    # Writes the condition of an exception filter that is to stop at some types.
    type_condition: Callable[[Sequence[str]], str] | None = None
    # Evaluated once in a process, before the first expression of the user's.
    prelude: str | None = None
    # Moves a breakpoint to where it can bind, or refuses it, before it is sent.
    correct: Callable[[AdapterAccess, BreakpointSpec], BreakpointSpec | BoundBreakpoint] = (
        no_correction
    )
    # Chooses one function for an ambiguous name, by the name and the adapter's refusal.
    choose_function: Callable[[str, str], str | None] = no_chosen_function
    explain: Callable[[AdapterAccess, BreakpointSpec], Awaitable[BoundBreakpoint]] = no_explanation
    scopes: Callable[[Sequence[dap.DapScope]], list[Scope]] = dap_convert.to_scopes
    arguments: Callable[[AdapterAccess, Frame], Awaitable[list[str] | None]] = no_arguments
    complete: Callable[[AdapterAccess, Sequence[Variable]], Awaitable[list[Variable]]] = (
        unchanged_values
    )
    # Reads a part of a large value that the adapter would cut.
    page: Callable[[AdapterAccess, Variable, int, int], Awaitable[list[Variable] | None]] = (
        no_own_page
    )
    assign: Callable[[AdapterAccess, str, str, Frame], Awaitable[bool]] = no_assignment
    returned: Callable[[AdapterAccess, Stopped, Frame], Awaitable[Variable | None]] = (
        no_return_value
    )
