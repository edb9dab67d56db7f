"""What the contract suite must know of a debugger and of its programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debuggees import build_debuggee, find_marker, find_source
from debugger.backends.base import LaunchTarget
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ExitedProgram
from driven_backend import launch_target

_WITH_3 = ExitedProgram(code=3)
_OF_SIGSEGV = ExitedProgram(signal="SIGSEGV")
# Makes a program, in a folder of the test's own if it is written for it.
Program = Callable[[Path], LaunchTarget]


@dataclass(frozen=True)
class StoppedAt:
    """A program, and where it is to be stopped."""

    program: Program
    at: BreakpointSpec


@dataclass(frozen=True)
class LargeValue(StoppedAt):
    """A stop where the local `name` of `function` has so many elements; `shown` is the 51st.

    `elements` are the names of the 51st to the 53rd.
    """

    name: str
    function: str
    size: int
    shown: str
    elements: tuple[str, str, str] = ("[50]", "[51]", "[52]")


@dataclass(frozen=True)
class ThreadedStop(StoppedAt):
    """A stop where at least so many threads are alive."""

    least: int


@dataclass(frozen=True)
class ChildProgram:
    """A program that starts another, which stops at `at`, where an expression has a value.

    `words_end` ends the first of the child's words, `prints` is the parent's after its end.
    """

    program: Program
    words_end: str
    at: BreakpointSpec
    expression: str
    value: str
    prints: str


@dataclass(frozen=True)
class MemoryBytes(StoppedAt):
    """A stop where `address` evaluates to where `holds` is, and `first` to its first byte.

    `last` is what `first` evaluates to once that byte is 42.
    """

    address: str
    holds: bytes
    first: str
    last: str = "42"


@dataclass(frozen=True)
class WatchedVariable(StoppedAt):
    """A stop from which on a variable gets these values, one after the other, and then more.

    The program ends with status 0.
    """

    expression: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class ThrowingProgram:
    """A program that throws once, and catches it itself.

    `word` catches it, `type` and `message` are of what is thrown, `other` is a type that is not.
    """

    program: Program
    word: str
    type: str
    message: str
    other: str = "NoSuchError"


@dataclass(frozen=True)
class CallsInLine(StoppedAt):
    """A stop at a line with several calls; one whose label has `label` leads to `function`."""

    label: str
    function: str


@dataclass(frozen=True)
class SpinningThread(StoppedAt):
    """A stop before two lines that take a while; another thread counts `turns` all the time."""

    turns: str


@dataclass(frozen=True)
class RawCommand:
    """A command of the debugger's own, and what its answer has in it."""

    command: str
    says: str


@dataclass(frozen=True)
class AdapterSpec:
    """A debugger, what it can do, and the programs that show it.

    The loop calls `inner` in each of five turns, where `variable` counts them from `first`, prints
    at `stop_line` and ends as `ends` says. `lacks` are the features that it does not have, with
    what we say then to the user: function_breakpoints, input. `prints_counting` is what the
    program `forever` prints once its own code runs; a pause before may be lost. `number` is the
    type of an integer. `backend` drives it. `unadvertised` is a request of a thread's that is never
    sent to it.
    `abilities` are those that it has; each needs what is below it here. `returns` is what is told
    of the first turn of `inner`, `returned_as` the local that holds it where the debugger adds it.
    `jump_line` is in `inner`, after the line that prints.

    Of programs there are `forever`, which never ends; `both`, which writes `stdout` and `stderr`;
    `input`, which says ready, repeats each line in upper case and counts them at the end; and
    `killed`, which dies of SIGSEGV and ends as `killed_ends` says.
    """

    name: str
    debug_adapter: DebugAdapter
    loop: Callable[[], LaunchTarget]
    file: str
    inner: str
    outer: str
    variable: str
    first: int
    stop_line: int
    call_line: int
    prints: str
    programs: Mapping[str, Program]
    large: LargeValue
    threads: ThreadedStop
    is_real: bool = True
    counter: str = "i"  # counts the turns of the loop, from `first`
    backend: str = "dap"
    ends: ExitedProgram = _WITH_3
    number: str = "int"
    stdout: str = "stdout line 1\nstdout line 2\n"
    stderr: str = "stderr line 1\nstderr line 2\n"
    prints_counting: str | None = "counting\n"
    tells_failed_conditions: bool = True
    stops_at_signals: bool = False
    watches_locals: bool = True  # of those that watch at all
    killed_ends: ExitedProgram = _OF_SIGSEGV
    unadvertised: str = "stepBack"
    lacks: Mapping[str, str] = field(default_factory=dict)
    child: ChildProgram | None = None
    # The words of a program like `forever` that a debugger can attach to, where it cannot to any.
    listening: Callable[[], list[str]] | None = None
    # -- what only some can do (debugger.backends.abilities) ---------------------------------------
    abilities: frozenset[type[Any]] = frozenset()
    raw: RawCommand | None = None
    returns: str | None = None
    returned_as: str | None = None
    memory: MemoryBytes | None = None
    watched: tuple[WatchedVariable, ...] = ()
    throws: ThrowingProgram | None = None
    calls: CallsInLine | None = None
    spins: SpinningThread | None = None
    jump_line: int = 0

    @property
    def adapter(self) -> str:
        """The adapter, as a session tells it."""
        return self.debug_adapter.name

    @property
    def words(self) -> list[str]:
        """The words that choose it."""
        return ["--adapter", self.name] if self.backend == "dap" else ["--backend", self.backend]

    def program(self, what: str, folder: Path) -> LaunchTarget:
        """Make one of the programs."""
        return self.programs[what](folder)

    def condition(self, turn: int) -> str:
        """Write an expression that holds in one turn."""
        return f"{self.variable} == {self.first + turn}"


def native_program(name: str, *args: str) -> Program:
    """Build a program when it is asked for."""
    return lambda _: launch_target(build_debuggee(name), *args)


def source_program(name: str, *args: str) -> Program:
    """Run a source as it is: Python, JavaScript, Ruby."""
    return lambda _: launch_target(find_source(name), *args)


python = source_program


def written_program(text: str, name: str = "script.py") -> Program:
    """Write a program when it is asked for."""

    def write(folder: Path) -> LaunchTarget:
        path = folder / name
        path.write_text(text)
        return launch_target(path)

    return write


def marked_line(name: str, at: str, **more: Any) -> BreakpointSpec:
    """Name a line by its marker."""
    return BreakpointSpec(file=str(find_source(name)), line=find_marker(name, at), **more)
