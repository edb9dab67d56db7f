"""What differs from one debug adapter to the next, as data and small functions."""

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
    """Where to look for an adapter: the caller's environment, and what the configuration says."""

    env: Mapping[str, str]
    path: str | None = None
    args: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """How to start an adapter; `version` where it is known without starting it.

    One that is served over TCP says its port on a line of its standard output: `listens` is a
    pattern with a group `port`.
    """

    argv: tuple[str, ...]
    version: str | None = None
    listens: str | None = None


@dataclass(frozen=True)
class Serving:
    """How an adapter is started that gets a port, or that is the program itself (`is_program`).

    `words` make its command, of what was found, what is launched, and a free port. `connect` is
    HOST:{port} for one that does not say where it listens. `own_output` begins the lines that it
    writes among the program's errors; `suffix` ends the names of its programs.
    """

    words: Callable[[Found, Launch | None, int], list[str]]
    connect: str | None = None
    is_program: bool = False
    own_output: str | None = None
    suffix: str = ""


@dataclass(frozen=True)
class Files:
    """The paths that the program's standard streams are to be opened at."""

    stdin: str
    stdout: str
    stderr: str


class Inside(Protocol):
    """What a profile's functions may ask of a session's adapter."""

    def can(self, command: str) -> bool:
        """Tell whether the adapter takes a request."""

    @property
    def launched(self) -> Launch | None:
        """What was launched."""

    @property
    def attached(self) -> Attach | None:
        """What was attached to."""

    @property
    def looked_at(self) -> Frame | None:
        """The frame whose variables were asked for last."""

    @property
    def conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each of the adapter's breakpoints, by its number there.

        One that cannot be evaluated is told, and does not stop.
        """

    @property
    def logs(self) -> dict[int, tuple[int, str]]:
        """Our number and the text of each breakpoint that stops for us to log."""

    @property
    def checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """What an ability does at each stop before it is told."""

    @property
    def lines(self) -> Lines | None:
        """What sends the breakpoints, where the adapter needs more than the protocol for it."""

    @property
    def steps(self) -> Steps | None:
        """What sees to it that a step ends, where the adapter may lose one."""

    def tell(self, event: Event) -> None:
        """Tell the session what an ability came to know."""

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression."""

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of the adapter's own command line."""

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Send a `variables` request as it is."""

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""

    def post(self, command: str, arguments: Struct) -> asyncio.Future[dap.Message]:
        """Send a request without waiting for its response, which may be long in coming."""

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


def exited_or_killed(code: int | None, last_signal: str | None) -> Exited:
    """Take a death by signal N for what the adapter, or our part of it, tells it as: -N."""
    del last_signal
    return Exited(code=code) if code is None or code >= 0 else Exited(signal=signal_name(-code))


@dataclass(frozen=True)
class Profile:
    """A debug adapter.

    `detach_s` is how long it may take to let a program go. `launch` and `attach` give the
    request's arguments; `correct` may move a breakpoint to where it can bind, or refuse it, before
    it is sent; `forked` adds to the request for a process that waits, stopped by a signal, since it
    was forked; `complete` may improve values that the adapter cut;
    `page` may read a part of a large value that the adapter would cut; `words` are the program and
    the arguments of a child process; `problem` may shorten what is wrong with an expression,
    and `shown` the text of what it evaluates to;
    `is_outside` tells the frames that are not the program's own, where they end a stack;
    `catching` may choose what is caught in the adapter's own way, and tells whether types too;
    `type_condition` writes the condition of a filter that is to stop at some types;
    `assign` may set a variable in the adapter's own way;
    `prelude` is evaluated in a process before the first expression of the user's;
    `evaluate` may evaluate an expression in the adapter's own way;
    `raw_prefix` goes before a command of the adapter's command line, or `raw` runs it;
    `failed_conditions_stop` says that the program stops where a condition cannot be evaluated,
    `failed_condition` what is wrong with one where a stop itself tells of it.
    `step_ended` may look closer at a step's stop; it returns None in a frame that an exception only
    passes through, which the step is to leave;
    `step_done` clears, in the thread of a step, what is known of that step alone: before the next;
    `settle` may look closer at a stop of the reasons `settled`, whose event says too little; it
    returns None where the program runs on after all.
    `site` is what the adapter tells breakpoints apart by: of those for which it is the same it
    keeps one; `condition` writes the condition of one, and `truth` writes it so that its value is
    true or false.
    `refusal` may shorten why a breakpoint does not bind; None leaves it to `explain`.
    `taken` reads, in why one is refused, the location at which there is another already.
    `launch_problem` may shorten why a program does not start, which takes `launch_s` seconds at
    most if it has to be built; `entry` is the function that --stop-on-entry means, for an adapter
    whose own entry is before any code of the program's; `log` writes a logpoint's text;
    `functions_log`: function breakpoints take one, too; `keeps_steps`: a step goes on when the
    program is continued from a breakpoint inside it;
    `steps` sees to it that no step is lost at a breakpoint that does not stop;
    `thread` may name a thread; `interrupted_step` begins what is said when another thread's
    breakpoint interrupts a step, after which none can begin until the program is continued.
    `let_go` takes everything out of a program and lets it run, before a detach: of a launched one
    by the adapter's death, as it would end it; it is given a way to ask, what tells of a stop, and
    the files with breakpoints.
    `clears`: it may leave a trap in a program that runs when it detaches, so that it is stopped and
    its breakpoints are taken away first.
    `catches` are the words for exceptions and the filters that they mean, `catch_functions` those
    that mean a breakpoint on a function; `exception` tells of one where exceptionInfo does not.
    `abilities` are the adapter's own ways to do what the protocol has requests for, which it
    lacks; `has` are those that it has by the protocol's requests, `lacks` those that it advertises
    in vain; `instead` is what to use in the place of one. `is_server`: a program's own debug
    server speaks the protocol, so that `attach --connect` needs no adapter; `served_output` is
    what an adapter that listens writes to its standard output; `pauses_on_attach`: its attach
    request stops the program where that is wanted, else it is paused; `stops_first`: it always
    stops at the program's beginning. `extensions` end the names of programs for it, whatever their
    language.
    """

    name: str
    languages: tuple[str, ...]
    install: str
    find: Callable[[Search], Found | None]
    launch: Callable[[Launch, Files], dict[str, Any]]
    attach: Callable[[Attach], dict[str, Any]]
    # What to do where it is not installed; without it, the command that installs it.
    missing_hint: str = ""
    is_terminal: bool = False
    is_server: bool = False
    extensions: tuple[str, ...] = ()
    serving: Serving | None = None
    delegating: Delegating | None = None
    forked: Callable[[Launch | None], dict[str, Any]] | None = None
    stops_first: bool = False
    pauses_on_attach: bool = True
    served_output: Stream = Stream.CONSOLE
    contexts: Mapping[Purpose, tuple[str, ...]] = field(
        default_factory=lambda: {
            Purpose.PRINT: ("watch",),
            Purpose.EVALUATE: ("repl",),
            Purpose.RAW: ("repl",),
        }
    )
    raw_prefix: str | None = None
    raw: Callable[[Inside, str, Frame | None], Awaitable[str]] | None = None
    site: Callable[[Breakpoint], object] = location_of
    condition: Callable[[Breakpoint], str | None] = own_condition
    truth: Callable[[str], str] = as_said
    assigns_by_expression: bool = False
    detach_s: float = 5.0
    clears: bool = False
    exception_filters: tuple[str, ...] = ()
    catches: Mapping[str, str] = field(default_factory=dict)
    catch_functions: Mapping[str, str] = field(default_factory=dict)
    abilities: Mapping[type[Any], Callable[[Inside], Any]] = field(default_factory=dict)
    has: frozenset[type[Any]] = frozenset()
    instead: Mapping[type[Any], str] = field(default_factory=dict)
    lacks: frozenset[type[Any]] = frozenset()
    failed_conditions_stop: bool = False
    failed_condition: Callable[[Stopped], str | None] = no_failed_condition
    raw_effect: Callable[[str], RawEffect] = no_effect
    settle: Callable[[Inside, Stopped], Awaitable[Stopped | None]] | None = None
    settled: frozenset[Reason] = frozenset({Reason.BREAKPOINT, Reason.SIGNAL})
    step_ended: Callable[[Inside, Stopped], Awaitable[Stopped | None]] | None = None
    step_done: Callable[[Inside, int], Awaitable[None]] | None = None
    launch_s: float = 0.0
    entry: str | None = None
    interrupted_step: str | None = None
    let_go: LetGo | None = None
    log: Callable[[str], str] = as_said
    functions_log: bool = False
    keeps_steps: bool = False
    steps: Callable[[Inside], Steps] | None = None
    thread: Callable[[dap.Thread], dap.Thread] = same_thread
    launch_problem: Callable[[str], str] = as_said
    # What helps where a program does not start; None where the adapter itself may be at fault.
    launch_hint: Callable[[str], str | None] = no_hint
    refusal: Callable[[str], str | None] = as_said
    taken: Callable[[str], tuple[str, int] | None] = not_taken
    evaluate: Callable[[Inside, str, Frame | None, Purpose], Awaitable[Variable | None]] = (
        no_evaluation
    )
    function_answers_are_ordered: bool = True
    properties: Mapping[str, Any] = field(default_factory=dict)
    words: Callable[[int], tuple[str, ...]] = unknown_words
    hit_condition: Callable[[int], str] = same_hits
    problem: Callable[[str], str] = as_said
    shown: Callable[[Inside, Variable], Awaitable[Variable]] = as_evaluated
    stopped: Callable[[dap.StoppedBody], Stopped] = stopped
    printed: Callable[[dap.OutputBody], Printed | Logged | ConditionFailed | Started | None] = (
        printed
    )
    exited: Callable[[int | None, str | None], Exited] = exited
    is_outside: Callable[[dap.StackFrame], bool] | None = None
    handles_are_calls: bool = False  # a frame keeps its handle as long as its call lasts
    exception: Callable[[Inside, Stopped], Awaitable[ExceptionDetails | None]] = no_exception
    details: Callable[[ExceptionDetails], ExceptionDetails] = no_details
    catching: Callable[[Inside, Sequence[Breakpoint]], Awaitable[bool]] = no_catching
    type_condition: Callable[[Sequence[str]], str] | None = None
    prelude: str | None = None
    correct: Callable[[Inside, Spec], Spec | Bound] = no_correction
    # The one function that is meant by a name which the adapter refuses for several, by its words.
    choose_function: Callable[[str, str], str | None] = no_choice
    explain: Callable[[Inside, Spec], Awaitable[Bound]] = no_explanation
    scopes: Callable[[Sequence[dap.Scope]], list[Scope]] = convert.scopes
    arguments: Callable[[Inside, Frame], Awaitable[list[str] | None]] = no_arguments
    complete: Callable[[Inside, Sequence[Variable]], Awaitable[list[Variable]]] = as_they_are
    page: Callable[[Inside, Variable, int, int], Awaitable[list[Variable] | None]] = no_page
    assign: Callable[[Inside, str, str, Frame], Awaitable[bool]] = no_assignment
    returned: Callable[[Inside, Stopped, Frame], Awaitable[Variable | None]] = no_return
