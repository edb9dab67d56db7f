"""Defines the values that backends report: threads, frames, scopes, variables, stops."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class StopReason(Enum):
    """Why a program stopped, the same word on every backend."""

    BREAKPOINT = "breakpoint"
    STEP = "step"
    ENTRY = "entry"
    PAUSE = "pause"
    EXCEPTION = "exception"
    SIGNAL = "signal"
    WATCHPOINT = "watchpoint"
    FUNCTION_BREAKPOINT = "function_breakpoint"
    GOTO = "goto"
    EXIT = "exit"


class ResumeKind(Enum):
    """How to let a stopped program run."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"


class EvaluationPurpose(Enum):
    """What an evaluation is for; a backend may evaluate differently for each."""

    PRINT = "print"
    EVALUATE = "evaluate"
    RAW = "raw"


class Thread(Struct, frozen=True):
    """A thread of the program, by the number the debugger gives it.

    `is_running`: it goes on while others have stopped, where a debugger stops each on its own.
    Then `hits` are the backend's ids of the breakpoints that it stopped at, and `stopped_s` says
    for how long it has stood there.
    """

    id: int
    name: str
    is_running: bool = False
    hits: tuple[int, ...] = ()
    stopped_s: float | None = None


class Frame(Struct, frozen=True):
    """One frame of a stack; `handle` is the backend's and valid for one stop.

    `index` counts from 0 at the innermost; lines and columns count from 1; `function` is the plain
    name without an arguments' list; `file` is absolute; `address` is a `0x…` string; `is_subtle`
    says that the debugger takes it for a part of the language's runtime. `call` is the same while
    one call lasts, where the debugger tells calls of a function from one another; else None.
    """

    index: int
    function: str
    handle: int
    file: str | None = None
    line: int | None = None
    column: int | None = None
    address: str | None = None
    module: str | None = None
    source_reference: int = 0
    is_subtle: bool = False
    call: int | None = None


class Stack(Struct, frozen=True):
    """Some frames of a thread; `total` is None where the backend does not know it."""

    frames: tuple[Frame, ...]
    total: int | None = None


class ScopeKind(Enum):
    """What a scope holds."""

    LOCALS = "locals"
    ARGUMENTS = "arguments"
    GLOBALS = "globals"
    REGISTERS = "registers"
    OTHER = "other"


class Scope(Struct, frozen=True):
    """A named group of variables of a frame; `note` says why it may lack some that exist."""

    name: str
    kind: ScopeKind
    handle: int
    note: str = ""


class Variable(Struct, frozen=True):
    """A value with a name; `handle` is 0 where there is nothing inside it.

    `indexed` and `named` count the children where the backend tells, else they are None.
    `expression` evaluates to the value again, where the backend tells it.
    """

    name: str
    value: str
    type: str = ""
    handle: int = 0
    indexed: int | None = None
    named: int | None = None
    expression: str | None = None


class ExceptionDetails(Struct, frozen=True):
    """An exception that stopped the program: its type, message, and causes, outermost first."""

    type: str
    message: str
    causes: tuple[str, ...] = ()
    trace: str = ""


class CatchFilter(Struct, frozen=True):
    """Something that can be caught: its name at the debugger, and what it means.

    `takes_type`: only exceptions of one type can be asked for.
    """

    name: str
    label: str
    takes_type: bool = False


class Register(Struct, frozen=True):
    """A register; `value` is `0x…` where it is a plain number, else as the debugger writes it."""

    name: str
    value: str


class RegisterGroup(Struct, frozen=True):
    """Registers of one kind: General Purpose, Floating Point."""

    name: str
    registers: tuple[Register, ...]


class Instruction(Struct, frozen=True):
    """A machine instruction; `bytes` are hexadecimal, "" where unknown; lines count from 1."""

    address: int
    text: str
    bytes: str = ""
    function: str | None = None
    file: str | None = None
    line: int | None = None


class LoadedModule(Struct, frozen=True):
    """The program or a library of it; `symbols` says what is known of its symbols."""

    name: str
    path: str | None = None
    address: str | None = None
    version: str | None = None
    symbols: str | None = None


class StepTarget(Struct, frozen=True):
    """A call that can be stepped into; `id` is the backend's and valid for one stop."""

    id: int
    label: str


class Stopped(Struct, frozen=True):
    """The program stopped.

    `hits` are the backend's own ids of the breakpoints that were hit.
    `signal` is the name of the signal that stopped it (SIGSEGV), where there is one.
    `handled` describes the exception by which a step came to a handler.
    """

    reason: StopReason
    raw_reason: str
    thread: int | None = None
    description: str = ""
    text: str = ""
    hits: tuple[int, ...] = ()
    signal: str | None = None
    handled: str = ""


class CallEvent(Struct, frozen=True):
    """A traced function was entered, or left (`is_return`).

    `text` is what is shown (`add(a=1, b=2)`, `add → 3`), `returned` the value alone; `time_ns` is
    of the monotonic clock, `duration_ns` what a return's call took. `trace` is the number that the
    function's trace was given.
    """

    function: str
    thread: int
    time_ns: int
    text: str
    is_return: bool = False
    file: str | None = None
    line: int | None = None
    returned: str | None = None
    duration_ns: int | None = None
    trace: int | None = None


class TracedPattern(Struct, frozen=True):
    """One pattern of functions that is traced; `why` says why it matches none, with near names.

    `functions` counts those that are traced, `left_out` those that matched beyond the limit;
    `sampled` those that were too hot to tell of every call, of each of which `skipped` says how
    many were not told.
    """

    id: int
    pattern: str
    functions: int
    names: tuple[str, ...] = ()
    left_out: int = 0
    sampled: tuple[str, ...] = ()
    skipped: tuple[int, ...] = ()
    why: str | None = None
    near_names: tuple[str, ...] = ()


class ExitedProgram(Struct, frozen=True):
    """The program ended: with an exit status, or by a signal's name, or unknown (both None).

    `doubt` says what the debugger cannot tell apart.
    """

    code: int | None = None
    signal: str | None = None
    doubt: str | None = None
