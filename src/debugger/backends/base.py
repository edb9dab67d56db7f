"""What every debugger behind us can do: the Backend protocol (see `abilities` for the rest).

A backend takes one call at a time, except `pause`, `write_input` and `close`, which may come at any
moment. It reports what happens by calling the sink that it was made with, in the order in which it
happened, from the event loop's thread; the sink never blocks and never calls back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.events import Stream
from debugger.core.model import (
    ExceptionDetails,
    Exited,
    Frame,
    Passage,
    Purpose,
    Resume,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)

T = TypeVar("T")


class Launch(Struct, frozen=True):
    """What to run, in the caller's directory and environment.

    `program` is an absolute path, or None for the Python module named `module`. `python` is the
    interpreter for a Python program; `stdin` an absolute path, or None for a stream that
    `write_input` feeds.
    """

    program: str | None
    cwd: str
    env: Mapping[str, str]
    args: tuple[str, ...] = ()
    module: str | None = None
    stop_on_entry: bool = False
    stdin: str | None = None
    python: str | None = None


class Attach(Struct, frozen=True):
    """What to attach to: a process by its pid, a core file of a program, or a debug server.

    One of `pid`, `core` (an absolute path) and `connect` (host and port) is given. What runs goes
    on unless `pause`. `simulator` is the identifier of the one that the process runs on.
    """

    pid: int | None
    cwd: str
    env: Mapping[str, str]
    program: str | None = None
    pause: bool = False
    core: str | None = None
    connect: tuple[str, int] | None = None
    simulator: str | None = None


class Started(Struct, frozen=True):
    """The program runs as this process."""

    pid: int | None


class Resumed(Struct, frozen=True):
    """The program runs again though nobody asked: a debugger command of the user's did it."""


class Printed(Struct, frozen=True):
    """The program wrote something, or the debugger did (`Stream.CONSOLE`)."""

    stream: Stream
    text: str


class Noted(Struct, frozen=True):
    """The user has to know this of the run: the next answer says it, once."""

    text: str


class Logged(Struct, frozen=True):
    """A logpoint was passed; `number` is our breakpoint's id where the backend can tell.

    `thread`, `hit`, which counts from 1 all hits of the breakpoint, and the monotonic clock's
    `time_ns` of the hit are there where it tells them.
    """

    number: int | None
    text: str
    thread: int | None = None
    hit: int | None = None
    time_ns: int | None = None


class ConditionFailed(Struct, frozen=True):
    """A breakpoint's condition could not be evaluated; the program went on."""

    number: int | None
    message: str


class Passed(Struct, frozen=True):
    """Traced functions were entered and left, in order of time; `lost` calls had no room."""

    passages: tuple[Passage, ...]
    lost: int = 0


class Rebound(Struct, frozen=True):
    """The debugger changed what it knows of one breakpoint."""

    bound: Bound


class ChildAppeared(Struct, frozen=True):
    """The program started another process, which can be debugged through `backend`.

    `words` are its program and arguments, where they are known. The child waits until the
    backend's `connect` and `run` have been called.
    """

    backend: Backend
    pid: int | None
    words: tuple[str, ...] = ()


class Ended(Struct, frozen=True):
    """The debugger is done with the program; `error` says what went wrong where something did."""

    error: str | None = None


Event = (
    Stopped
    | Exited
    | Started
    | Resumed
    | Printed
    | Noted
    | Logged
    | ConditionFailed
    | Passed
    | Rebound
    | ChildAppeared
    | Ended
)
Sink = Callable[[Event], None]


class Closed(Struct, frozen=True):
    """What closing a backend did; `killed` names what had to be killed, as `PID (name)`.

    `notes` say what is left of the debugger in a program that goes on.
    """

    killed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Backend(Protocol):
    """One debugged program behind one debugger.

    Life: `start` or `attach` (or `connect` for a child), then breakpoints, then `run`, then any
    call, then `close`. Calls raise DebuggerError: LAUNCH_FAILED, ADAPTER_FAILED, ADAPTER_DIED,
    TIMEOUT, NOT_SUPPORTED, EVALUATION_FAILED.
    """

    @property
    def adapter(self) -> str:
        """The adapter's name, as `--adapter` takes it."""

    @property
    def kind(self) -> str:
        """The backend's name, as `--backend` takes it."""

    async def start(self, launch: Launch) -> None:
        """Start debugger and program, up to where breakpoints can be set."""

    async def attach(self, target: Attach) -> None:
        """Start the debugger and take hold of a live process, up to where breakpoints are set."""

    async def connect(self) -> None:
        """Take hold of the child process that this backend was made for."""

    def ability(self, kind: type[T]) -> T:
        """Return what does something that not every debugger can: a protocol of `abilities`.

        Raises:
            DebuggerError: NOT_SUPPORTED, naming the adapters that can.
        """

    def report_to(self, sink: Sink) -> None:
        """Report to another sink from now on: a child gets a session of its own."""

    def place(self, spec: Spec) -> Spec | Bound:
        """Return where a breakpoint is to be set, or why it cannot be."""

    async def set_breakpoints(self, file: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints of a source file (their `at`); answers in the same order."""

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the function breakpoints; the answers come in the same order."""

    async def run(self) -> None:
        """End the configuration: the program runs from here on."""

    async def resume(self, how: Resume, thread: int) -> None:
        """Let the program run; the next stop or end is reported to the sink."""

    async def pause(self) -> None:
        """Ask a running program to stop; the stop is reported to the sink.

        A debugger may lose it while the program begins or goes on: who waits asks again.
        """

    async def threads(self) -> list[Thread]:
        """Return the threads."""

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return what a scope or a value holds, or a part of it."""

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has; None where unknown."""

    async def completed(self, values: Sequence[Variable]) -> list[Variable]:
        """Add to values what the adapter cut off them, where it can be known."""

    async def arguments(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals; None where unknown."""

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression in a frame."""

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element to an expression's value; return it as it is."""

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception, or the signal, that a thread stopped at."""

    async def explain(self, spec: Spec) -> Bound:
        """Say why a breakpoint does not bind, with the lines or names that would."""

    async def source(self, frame: Frame) -> str | None:
        """Return source that only the debugger has; None where it has none."""

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""

    async def close_input(self) -> None:
        """End the program's standard input."""

    async def close(self, *, kill: bool) -> Closed:
        """End the debugger, and the program with it if `kill`; never raises, bounded in time."""
