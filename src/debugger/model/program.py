"""Defines the values that backends report: threads, frames, scopes, variables, stops."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class StopReason(Enum):
    """The reason of a stop, in the same words on every backend."""

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
    """The ways to resume a stopped program."""

    CONTINUE = "continue"
    NEXT = "next"
    STEP = "step"
    FINISH = "finish"


class EvaluationPurpose(Enum):
    """The purpose of an evaluation; a backend may evaluate differently for each."""

    PRINT = "print"
    EVALUATE = "evaluate"
    RAW = "raw"


class Thread(Struct, frozen=True):
    """A thread of the program, by the debugger's number."""

    id: int
    name: str
    # It runs while others are stopped, if the debugger stops each thread on its own; the two fields
    # below are used only by such a debugger.
    is_running: bool = False
    # The backend's ids of the breakpoints that it stopped at.
    hits: tuple[int, ...] = ()
    # The time since its stop.
    stopped_s: float | None = None


class Frame(Struct, frozen=True):
    """One frame of a stack."""

    # Counts from 0 at the innermost frame.
    index: int
    # The plain name, without an argument list.
    function: str
    # The backend's handle, valid for one stop.
    handle: int
    # An absolute path.
    file: str | None = None
    # Lines and columns count from 1.
    line: int | None = None
    column: int | None = None
    # A `0x…` string.
    address: str | None = None
    module: str | None = None
    source_reference: int = 0
    # The debugger marks the frame as part of the language's runtime.
    is_subtle: bool = False
    # A number that identifies the call, if the debugger distinguishes calls of one function.
    call: int | None = None


class Stack(Struct, frozen=True):
    """Some frames of a thread; `total` is None if the backend does not know the depth."""

    frames: tuple[Frame, ...]
    total: int | None = None


class ScopeKind(Enum):
    """The content of a scope."""

    LOCALS = "locals"
    ARGUMENTS = "arguments"
    GLOBALS = "globals"
    REGISTERS = "registers"
    OTHER = "other"


class Scope(Struct, frozen=True):
    """A named group of variables of a frame; `note` is a reason for missing ones."""

    name: str
    kind: ScopeKind
    handle: int
    note: str = ""


class Variable(Struct, frozen=True):
    """A value with a name."""

    name: str
    value: str
    type: str = ""
    # 0 if the value has no children.
    handle: int = 0
    # The counts of children, `indexed` and `named`, are None if the backend does not report them.
    indexed: int | None = None
    named: int | None = None
    # Evaluates to the value again, if the backend reports one.
    expression: str | None = None
    # What the debugger shows, if `value` is our remark instead.
    raw: str | None = None


class ExceptionDetails(Struct, frozen=True):
    """An exception that stopped the program: its type, message, and causes, outermost first."""

    type: str
    message: str
    causes: tuple[str, ...] = ()
    trace: str = ""
    # The source of what failed within its statement, as a traceback of Python marks it; of Ruby the
    # receiver or argument that the exception is about.
    part: str = ""


class CatchFilter(Struct, frozen=True):
    """A kind of exception that the debugger can stop at: its name there, and a label."""

    name: str
    label: str
    # The filter accepts an exception type.
    takes_type: bool = False


class Register(Struct, frozen=True):
    """A register; `value` is `0x…` if it is a plain number, else the debugger's text."""

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
    """The main executable or a library; `symbols` describes its debug symbols."""

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
    """The program stopped."""

    reason: StopReason
    raw_reason: str
    thread: int | None = None
    description: str = ""
    text: str = ""
    # The backend's own ids of the breakpoints that were hit.
    hits: tuple[int, ...] = ()
    # The name of the signal that stopped it, such as SIGSEGV.
    signal: str | None = None
    # The exception by which a step came to a handler.
    handled: str = ""


class CallEvent(Struct, frozen=True):
    """A traced function was entered, or left (`is_return`)."""

    function: str
    thread: int
    # On the monotonic clock.
    time_ns: int
    # The displayed text: `add(a=1, b=2)`, `add → 3`.
    text: str
    is_return: bool = False
    file: str | None = None
    line: int | None = None
    # The returned value alone.
    returned: str | None = None
    # Of a return: the duration of the call.
    duration_ns: int | None = None
    # The number of the function's trace.
    trace: int | None = None
    # Of an entry: the traced function to which the call returns, if it is one.
    caller: str | None = None


class TracedPattern(Struct, frozen=True):
    """One traced pattern of functions."""

    id: int
    pattern: str
    # How many functions are traced.
    functions: int
    names: tuple[str, ...] = ()
    # How many matching functions are beyond the limit.
    left_out: int = 0
    # Functions that are called too often to report every call.
    sampled: tuple[str, ...] = ()
    # For each sampled function, how many calls were not reported.
    skipped: tuple[int, ...] = ()
    # The reason if no function matches, with `near_names`.
    why: str | None = None
    near_names: tuple[str, ...] = ()


class ExitedProgram(Struct, frozen=True):
    """The program ended: with an exit status, by a signal, or unknown (both None)."""

    code: int | None = None
    signal: str | None = None
    # A distinction that the debugger cannot make.
    doubt: str | None = None
    # What the launcher of a job wrote of its failure.
    reason: str | None = None
