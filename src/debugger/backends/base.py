"""Defines the Backend protocol, which every debugger behind the daemon implements.

Abilities that only some debuggers have are protocols of their own, in `abilities`.

A backend takes one call at a time, except `pause`, `write_input` and `close`, which may come at any
moment. A backend reports events to its sink in the order in which they happen, from the event
loop's thread; the sink never blocks and never calls back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.events import OutputStream
from debugger.model.program import (
    CallEvent,
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Frame,
    ResumeKind,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)

T = TypeVar("T")


class LaunchTarget(Struct, frozen=True):
    """A program to start, in the caller's directory and environment."""

    # Paths are the caller's: the daemon has another working directory.
    program: str | None  # an absolute path; None where `module` is run
    cwd: str
    env: Mapping[str, str]
    args: tuple[str, ...] = ()
    module: str | None = None
    stop_on_entry: bool = False
    stdin: str | None = None
    python: str | None = None


class AttachTarget(Struct, frozen=True):
    """A target to attach to: a process, a core file or a debug server.

    Exactly one of `pid`, `core` and `connect` is given.
    """

    pid: int | None
    cwd: str
    env: Mapping[str, str]
    program: str | None = None
    pause: bool = False
    core: str | None = None
    connect: tuple[str, int] | None = None  # host and port
    # The identifier of the simulator that the process runs on.
    simulator: str | None = None
    # The folder in which the cells of a Jupyter kernel are files.
    cells: str | None = None
    # The address and the bytes of the first instruction of a program that is held there: they are
    # put back at its first stop, which is not reported.
    held_entry: tuple[int, bytes] | None = None
    # The process becomes the program by itself, which then connects to the debugger.
    connects_itself: bool = False
    # The host and port where the requests of a running server connect to the debugger.
    listens_at: tuple[str, int] | None = None


class ProcessStarted(Struct, frozen=True):
    """Reports the process that the program runs as."""

    pid: int | None


class ProgramAwaited(Struct, frozen=True):
    """Reports that the debugger waits for the program to connect, and by which words it does."""

    words: tuple[str, ...]


class ProgramResumed(Struct, frozen=True):
    """Reports that a raw debugger command of the user's let the program run."""


class OutputPrinted(Struct, frozen=True):
    """Reports output of the program, or of the debugger (`OutputStream.CONSOLE`)."""

    stream: OutputStream
    text: str
    # The member of a job that wrote it, where its launcher tells.
    rank: str = ""


class NoteReported(Struct, frozen=True):
    """Reports a fact about the run that the next answer repeats, once."""

    text: str


class LogpointPassed(Struct, frozen=True):
    """Reports that a logpoint was passed."""

    number: int | None
    text: str
    thread: int | None = None  # None where the backend does not know it
    # Counts all hits of the breakpoint, from 1.
    hit: int | None = None
    time_ns: int | None = None  # of the hit, by the monotonic clock


class ConditionError(Struct, frozen=True):
    """Reports that a breakpoint's condition could not be evaluated; the program went on."""

    number: int | None
    message: str


class CallsTraced(Struct, frozen=True):
    """Reports calls and returns of traced functions, in order of time."""

    passages: tuple[CallEvent, ...]
    lost: int = 0  # calls that had no room in the buffer


class BreakpointChanged(Struct, frozen=True):
    """Reports a change in the debugger's knowledge of one breakpoint."""

    bound: BoundBreakpoint


class ChildStarted(Struct, frozen=True):
    """Reports that the program started another process, which can be debugged through `backend`.

    The child waits until the backend's `connect_child` and `run_program` have been called.
    """

    backend: Backend
    pid: int | None
    words: tuple[str, ...] = ()  # program and arguments, where known


class BackendEnded(Struct, frozen=True):
    """Reports that the debugger is done with the program."""

    error: str | None = None  # what went wrong, if anything did


# A closed union: a match over it is complete, and a new event has to be handled everywhere.
BackendEvent = (
    Stopped
    | ExitedProgram
    | ProcessStarted
    | ProgramAwaited
    | ProgramResumed
    | OutputPrinted
    | NoteReported
    | LogpointPassed
    | ConditionError
    | CallsTraced
    | BreakpointChanged
    | ChildStarted
    | BackendEnded
)
# Called from the event loop's thread, in the order of the events; it must not block.
Sink = Callable[[BackendEvent], None]


class ClosedBackend(Struct, frozen=True):
    """The result of closing a backend."""

    killed: tuple[str, ...] = ()  # processes that had to be killed, as `PID (name)`
    notes: tuple[str, ...] = ()  # what is left of the debugger in a program that goes on


class Backend(Protocol):
    """One debugged program behind one debugger.

    Life: `start` or `attach` (or `connect_child` for a child), then breakpoints, then
    `run_program`, then any call, then `close`. Calls raise DebuggerError: LAUNCH_FAILED,
    ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT, NOT_SUPPORTED, EVALUATION_FAILED.
    """

    @property
    def adapter_name(self) -> str:
        """The adapter's name, as `--adapter` takes it."""

    @property
    def backend_name(self) -> str:
        """The backend's name, as `--backend` takes it."""

    @property
    def traits(self) -> DebuggerTraits:
        """Facts about the debugger that its abilities do not express."""

    async def start(self, launch: LaunchTarget) -> None:
        """Start debugger and program, up to where breakpoints can be set."""

    async def attach(self, target: AttachTarget) -> None:
        """Start the debugger and attach to a live target, up to where breakpoints can be set."""

    async def connect_child(self) -> None:
        """Attach to the child process that this backend was made for."""

    def find_ability(self, kind: type[T]) -> T:
        """Return the implementation of an ability, which is a protocol of `abilities`.

        Raises:
            DebuggerError: NOT_SUPPORTED, naming the adapters that have the ability.
        """

    def set_sink(self, sink: Sink) -> None:
        """Report to another sink from now on: a child process gets a session of its own."""

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Return the location at which a breakpoint is to be set, or why it cannot be set."""

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints of a source file (their `at`); answers in the same order."""

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the function breakpoints; the answers come in the same order."""

    async def run_program(self) -> None:
        """End the configuration: the program runs from here on."""

    async def resume(self, how: ResumeKind, thread: int) -> None:
        """Let the program run; the next stop or end is reported to the sink."""

    async def pause(self) -> None:
        """Request that a running program stops; the stop is reported to the sink.

        A debugger may lose the request while the program starts or resumes: the caller repeats it.
        """

    async def list_threads(self) -> list[Thread]:
        """Return the threads."""

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the variables of a scope, the children of a value, or a part of either."""

    async def count_elements(self, handle: int) -> int | None:
        """Return the number of elements of a value; None where unknown."""

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with the parts that the adapter cut off, as far as they can be read."""

    async def argument_names(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals; None where unknown."""

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression in a frame."""

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element to an expression's value; return it as it is."""

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception, or the signal, that a thread stopped at."""

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Explain why a breakpoint does not bind, with the lines or names that would."""

    async def read_source(self, frame: Frame) -> str | None:
        """Return source text that only the debugger has; None where there is none."""

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""

    async def close_input(self) -> None:
        """End the program's standard input."""

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End the debugger, and the program with it if `kill`; never raises, bounded in time."""
