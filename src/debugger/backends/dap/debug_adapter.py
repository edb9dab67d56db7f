"""Holds the base class of debug adapters, and the connection that an adapter's methods get."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from debugger.backends.base import (
    AttachTarget,
    BackendEvent,
    BreakpointChanged,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
    ProgramAwaited,
)
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_transport import ProgramLink
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
    program: str | None = None  # what it runs in, where a launcher of ours starts it


@dataclass(frozen=True)
class AdapterServer:
    """Describes an adapter that is given a port, or that is part of the program."""

    # Builds the command from the adapter's location, the launch request and a free port.
    words: Callable[[AdapterLocation, LaunchTarget | None, int], list[str]]
    # HOST:{port}, for an adapter that does not report its port.
    connect: str | None = None
    is_program: bool = False  # the program is its own adapter
    own_output: str | None = None  # begins the adapter's own lines on standard error
    suffix: str = ""  # of a program's file name
    socket_variable: str | None = None  # of the environment, with the path of our Unix socket
    # Makes the link to a program that connects with a protocol of its own.
    open_link: Callable[[asyncio.TaskGroup], ProgramLink] | None = None
    # Return the interpreter's options, and the environment of its children, to connect there.
    link_options: Callable[[str], list[str]] = lambda _: []
    link_environment: Callable[[Mapping[str, str], str], Mapping[str, str]] = lambda env, _: env


@dataclass(frozen=True)
class StreamFiles:
    """The paths at which the program opens its standard streams."""

    stdin: str
    stdout: str
    stderr: str


class AdapterConnection(Protocol):
    """The connection of one session to its adapter, for the methods of `DebugAdapter`."""

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


# Sends a request of the protocol and returns the body of its answer.
Ask = Callable[[str, Struct, type[Any]], Awaitable[Any]]

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
    # An adapter's own `parse_stopped` begins with this, and corrects what is reported otherwise.
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


def convert_exit_or_signal(code: int | None, last_signal: str | None) -> ExitedProgram:
    """Convert an exit code; -N is a death by signal N."""
    del last_signal
    return (
        ExitedProgram(code=code)
        if code is None or code >= 0
        else ExitedProgram(signal=signal_name(-code))
    )


class DebugAdapter:
    """A debug adapter: the facts about it, and the methods where it differs from the protocol.

    One subclass for each adapter. A method gets the connection of the session that it is called
    for; without an override it follows the protocol. Larger overrides are functions of the modules
    beside the subclass, which it takes over with `staticmethod`.
    """

    name: str
    languages: tuple[str, ...]  # that it debugs
    type_languages: tuple[str, ...] = ()  # whose types it knows, as few debuggers do
    install_command: str  # the command, for the user
    # Facts that sessions and questions depend on.
    traits: DebuggerTraits = DebuggerTraits()
    # Hint where it is not installed; empty: the command that installs it.
    missing_hint: str = ""
    # It is started with SIGPIPE ignored, because it may write to a connection that has ended.
    ignores_sigpipe: bool = False
    is_terminal: bool = False  # the program's output goes to pseudo-terminals
    # A program's own debug server speaks the protocol: `attach --connect` needs no adapter.
    is_server: bool = False
    # Ends of file names of programs for this adapter, whatever their language.
    extensions: tuple[str, ...] = ()
    server: AdapterServer | None = None
    delegated_launch: DelegatedLaunch | None = None
    # A program can connect to it by itself (`AttachTarget.connects_itself`).
    connects_programs: bool = False
    connecting_environment: ClassVar[Mapping[str, str]] = {}  # that such a program gets
    # It can attach to a forked process, which a SIGSTOP holds.
    attaches_forks: bool = False
    stops_first: bool = False  # the adapter always stops at the program's beginning
    # The attach request stops the program if that is requested; else it is paused afterwards.
    pauses_on_attach: bool = True
    # A pause stops all threads, whichever the request names: none has to be found for it.
    pauses_all_threads: bool = False
    # The stream of what an adapter on TCP writes to its standard output.
    served_output: OutputStream = OutputStream.CONSOLE
    evaluation_contexts: ClassVar[Mapping[EvaluationPurpose, tuple[str, ...]]] = {
        EvaluationPurpose.PRINT: ("watch",),
        EvaluationPurpose.EVALUATE: ("repl",),
        EvaluationPurpose.RAW: ("repl",),
    }
    # Raw commands are a debugger's own, not expressions of the language.
    has_command_line: bool = False
    raw_prefix: str = ""  # goes before a command of the adapter's command line
    assigns_by_expression: bool = False
    detach_limit_s: float = 5.0  # the most seconds that a detach may take
    # A detach from a running program may leave a trap in it: it is paused, and its breakpoints are
    # removed, before.
    clears_before_detach: bool = False
    # `release_target` is called before a detach; a launched program is then released by the
    # adapter's death, since a disconnect would end it.
    releases_target: bool = False
    exception_filters: tuple[str, ...] = ()  # filters that are always set
    # Words of `catch`, by filter of the adapter or by function that a breakpoint is set on.
    catch_filters: ClassVar[Mapping[str, str]] = {}
    catch_functions: ClassVar[Mapping[str, str]] = {}
    # The adapter's own ways to do what the protocol's requests cannot do with it.
    own_abilities: ClassVar[Mapping[type[Any], Callable[[AdapterConnection], Any]]] = {}
    request_abilities: frozenset[type[Any]] = frozenset()  # abilities by the protocol's requests
    # Hints: what to use in place of a missing ability.
    ability_alternatives: ClassVar[Mapping[type[Any], str]] = {}
    # Abilities that the adapter advertises although they do not work.
    broken_abilities: frozenset[type[Any]] = frozenset()
    failed_conditions_stop: bool = False  # the program stops where a condition cannot be evaluated
    # The reasons of the stops that `inspect_stop` is called for.
    inspected_reasons: frozenset[StopReason] = frozenset()
    inspects_step_ends: bool = False  # `inspect_step_end` is called for the stop of each step
    # The most seconds of its first start, where it has to build itself.
    start_limit_s: float = 0.0
    # runInTerminal runs the program itself: its pid and its end are known without the adapter.
    runs_in_terminal: bool = False
    # The most seconds of a launch that has to build the program first.
    build_limit_s: float = 0.0
    # The function for --stop-on-entry, where the adapter's own entry is before the program's code.
    entry_function: str | None = None
    # Begins the output that reports a step interrupted by another thread's breakpoint. No step can
    # begin then until the program is continued.
    interrupted_step_text: str | None = None
    # Its capabilities say which options of breakpoints it knows: of those that we have not tried.
    claims_breakpoint_options: bool = False
    logs_at_functions: bool = False  # function breakpoints take a log message, too
    # A step goes on when the program is continued from a breakpoint within it.
    keeps_steps: bool = False
    answers_ahead: bool = False  # our own, which sends what a report reads with a step's end
    has_step_keeper: bool = False  # `make_step_keeper` makes one
    # False: the answers to setFunctionBreakpoints come in any order (lldb-dap 19).
    function_answers_are_ordered: bool = True
    # More members for the requests that set breakpoints.
    breakpoint_options: ClassVar[Mapping[str, Any]] = {}
    handles_are_calls: bool = False  # a frame keeps its handle as long as its call lasts
    # The innermost frames of a stack may not be the program's own: `is_outside` recognises them.
    has_outside_frames: bool = False
    # `read_exception` returns the type of a raised exception: the stop filter compares it.
    reads_exception_types: bool = False
    # An exception filter takes a condition: `format_type_condition` writes one.
    filters_by_condition: bool = False
    # Evaluated once in a process, before the first expression of the user's.
    prelude_code: str | None = None

    # -- how it is found and started ---------------------------------------------------------------

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts the adapter; None if it is not installed."""
        raise NotImplementedError

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        raise NotImplementedError

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        raise NotImplementedError

    async def enter_process(self, target: AttachTarget, socket: str) -> Callable[[], None] | None:
        """Make a process connect to a `socket_variable`'s socket; return what to call then."""
        raise NotImplementedError

    def find_listen_address(self, pid: int) -> tuple[tuple[str, int], str]:
        """Return where a program connects to its debugger, and when: where there is `open_link`."""
        raise NotImplementedError

    def connecting_command(self, launch: LaunchTarget, words: Sequence[str]) -> tuple[str, ...]:
        """Return the command line of a program that connects to the debugger by itself.

        `words` are those of `ProgramAwaited`. Only an adapter that `connects_programs` has it.
        """
        raise NotImplementedError

    def fork_arguments(self, launched: LaunchTarget | None) -> dict[str, Any]:
        """Build extra arguments for attaching to a forked process, which a SIGSTOP holds."""
        del launched
        return {}

    def shorten_launch_problem(self, problem: str) -> str:
        """Shorten the adapter's message about a failed launch."""
        return problem

    def find_launch_hint(self, problem: str) -> str | None:
        """Return a hint for a program that does not start; None if the adapter may be at fault."""
        del problem
        return None

    def read_child_command(self, pid: int) -> tuple[str, ...]:
        """Return the command line of a child process; nothing if it is unknown."""
        del pid
        return ()

    async def release_target(
        self, ask: Ask, stopped: asyncio.Event, breakpoint_files: Sequence[str]
    ) -> None:
        """Remove all breakpoints and let the program run, before a detach.

        `ask` sends a request and returns its answer's body; `stopped` is set at the next stop.
        """
        del ask, stopped, breakpoint_files

    # -- events ------------------------------------------------------------------------------------

    def parse_stopped(self, body: dap.StoppedBody) -> Stopped:
        """Convert a `stopped` event (DAP: StoppedEvent)."""
        return parse_stopped(body)

    def parse_output(
        self, body: dap.OutputBody
    ) -> (
        OutputPrinted
        | LogpointPassed
        | ConditionError
        | BreakpointChanged
        | ProcessStarted
        | ProgramAwaited
        | None
    ):
        """Convert an `output` event (DAP: OutputEvent); None for one that is not for the user."""
        return parse_output(body)

    def parse_exit(self, code: int | None, last_signal: str | None) -> ExitedProgram:
        """Convert an exit code; `last_signal` is the signal of the last stop."""
        # Only LLDB's exit codes need the signal.
        del last_signal
        return ExitedProgram(code=code)

    async def inspect_stop(self, connection: AdapterConnection, /, stop: Stopped) -> Stopped | None:
        """Complete a stop whose event says too little; return None if the program runs on."""
        del connection
        return stop

    async def inspect_step_end(
        self, connection: AdapterConnection, /, stop: Stopped
    ) -> Stopped | None:
        """Complete the stop of a step; return None in a frame that the step has to leave.

        Such a frame is one that an exception only passes through.
        """
        del connection
        return stop

    async def forget_step(self, connection: AdapterConnection, /, thread: int) -> None:
        """Clear what the adapter keeps for one step, in the step's thread, before the next step."""
        del connection, thread

    def make_step_keeper(self, connection: AdapterConnection) -> StepKeeper | None:
        """Make the object that keeps steps from being lost at breakpoints that do not stop."""
        del connection
        return None

    def read_failed_condition(self, stop: Stopped) -> str | None:
        """Return the problem of a condition that a stop itself reports."""
        del stop
        return None

    # -- breakpoints -------------------------------------------------------------------------------

    def site_key(self, one: Breakpoint) -> object:
        """Return the key of a breakpoint: the adapter keeps one of those with equal keys."""
        location = one.at or one.spec
        return (location.line, location.function, location.catch, location.type)

    def format_condition(self, one: Breakpoint) -> str | None:
        """Format a breakpoint's condition for the adapter."""
        return one.spec.condition

    def format_truth(self, condition: str) -> str:
        """Format a condition as an expression whose value is true or false."""
        return condition

    def format_hit_count(self, count: int) -> str:
        """Format the hit from which on a breakpoint stops."""
        return str(count)

    def format_log(self, text: str) -> str:
        """Format the text of a logpoint for the adapter."""
        return text

    def format_type_condition(self, types: Sequence[str]) -> str:
        """Format the condition of an exception filter that stops at some types."""
        raise NotImplementedError

    def correct_breakpoint(
        self, connection: AdapterConnection, /, spec: BreakpointSpec
    ) -> BreakpointSpec | BoundBreakpoint:
        """Move a breakpoint to where it can bind, or refuse it, before it is sent."""
        del connection
        return spec

    def shorten_refusal(self, why: str, /) -> str | None:
        """Shorten the reason why a breakpoint does not bind; None leaves it to explain_unbound."""
        return why

    def parse_taken_location(self, why: str, /) -> tuple[str, int] | None:
        """Parse, in a refusal, the file and line that another breakpoint occupies already."""
        del why
        return None

    def choose_function(self, name: str, refusal: str) -> str | None:
        """Choose one function for an ambiguous name, by the adapter's refusal."""
        del name, refusal
        return None

    async def explain_unbound(
        self, connection: AdapterConnection, /, spec: BreakpointSpec
    ) -> BoundBreakpoint:
        """Return why a breakpoint did not bind."""
        del connection, spec
        return BoundBreakpoint(verified=False, why="the debugger did not say why")

    async def set_exception_types(
        self, connection: AdapterConnection, /, breakpoints: Sequence[Breakpoint]
    ) -> bool:
        """Set what is caught in the adapter's own way; return whether it filters types, too."""
        del connection, breakpoints
        return False

    # -- threads, frames and values ----------------------------------------------------------------

    def convert_thread(self, body: dap.DapThread) -> dap.DapThread:
        """Convert a thread's name to what the user shall see."""
        return body

    def is_outside(self, frame: dap.DapStackFrame) -> bool:
        """Return whether a frame at a stack's end is not the program's own."""
        del frame
        return False

    async def name_functions(
        self, connection: AdapterConnection, /, frames: tuple[Frame, ...]
    ) -> tuple[Frame, ...]:
        """Return frames with the names that their functions have in the source."""
        del connection
        return frames

    def convert_scopes(self, scopes: Sequence[dap.DapScope], /) -> list[Scope]:
        """Convert the answer to a `scopes` request."""
        return dap_convert.to_scopes(scopes)

    async def read_argument_names(
        self, connection: AdapterConnection, /, frame: Frame
    ) -> list[str] | None:
        """Return the names of a frame's arguments; None if they are unknown."""
        del connection, frame
        return None

    async def complete_variables(
        self, connection: AdapterConnection, /, variables: Sequence[Variable]
    ) -> list[Variable]:
        """Return variables with the parts that the adapter cut off."""
        del connection
        return list(variables)

    async def read_page(
        self, connection: AdapterConnection, /, value: Variable, start: int, count: int
    ) -> list[Variable] | None:
        """Read a part of a large value; None leaves it to the adapter."""
        del connection, value, start, count
        return None

    async def evaluate_expression(
        self,
        connection: AdapterConnection,
        /,
        expression: str,
        frame: Frame | None,
        purpose: EvaluationPurpose,
    ) -> Variable | None:
        """Evaluate an expression; None leaves it to the protocol's request."""
        del connection, expression, frame, purpose
        return None

    async def adjust_value(self, connection: AdapterConnection, value: Variable, /) -> Variable:
        """Return an expression's value as the user shall see it."""
        del connection
        return value

    async def assign_value(
        self, connection: AdapterConnection, /, target: str, value: str, frame: Frame
    ) -> bool:
        """Assign a value; return False to leave the assignment to the protocol's requests."""
        del connection, target, value, frame
        return False

    async def read_returned_value(
        self, connection: AdapterConnection, /, stop: Stopped, frame: Frame
    ) -> Variable | None:
        """Return what a function returned; None if it is unknown, or among the locals."""
        del connection, stop, frame
        return None

    async def read_exception(
        self, connection: AdapterConnection, /, stop: Stopped
    ) -> ExceptionDetails | None:
        """Return what was raised at a stop; None if `exceptionInfo` has all that is known."""
        del connection, stop
        return None

    def adjust_exception(self, details: ExceptionDetails) -> ExceptionDetails:
        """Return an exception's details as the user shall see them."""
        return details

    def shorten_error(self, text: str) -> str:
        """Shorten the adapter's message about an expression that cannot be evaluated."""
        return text

    # -- the adapter's command line ----------------------------------------------------------------

    async def run_raw_command(
        self, connection: AdapterConnection, /, command: str, frame: Frame | None
    ) -> str:
        """Run a command of the adapter's own command line and return its output."""
        text = self.raw_prefix + command
        return (await connection.evaluate(text, frame, EvaluationPurpose.RAW)).value

    def classify_raw_command(self, command: str) -> RawEffect:
        """Return the effect of a raw command on the program."""
        return no_effect(command)
