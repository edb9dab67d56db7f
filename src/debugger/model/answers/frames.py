"""Defines the answers about the current position: frames, source, threads, values, memory, code."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class VariableView(Struct, frozen=True):
    """A named value; `ref` is set if the value has children."""

    name: str
    value: str
    type: str = ""
    ref: str | UnsetType = UNSET
    # What the debugger shows, if `value` is a remark instead: "(not assigned yet)".
    raw: str | UnsetType = UNSET


class PointerView(Struct, frozen=True):
    """A pointer, and what its value is or points to, in one word and in one line."""

    name: str
    value: str
    kind: str
    text: str


class ChangedValue(Struct, frozen=True):
    """A local that changed since the frame's last stop; `previous` is None for a new one."""

    name: str
    previous: str | None
    value: str
    type: str = ""
    ref: str | UnsetType = UNSET


class FrameView(Struct, frozen=True):
    """A frame of a stack."""

    index: int
    function: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    address: str | None = None
    module: str | None = None
    locals: tuple[VariableView, ...] | UnsetType = UNSET


class SourceLine(Struct, frozen=True):
    """A line of source; `current` marks the line of the program counter."""

    line: int
    text: str
    current: bool = False


class VariableScope(Struct, frozen=True):
    """Another group of variables of a frame, such as its globals or its registers."""

    name: str
    variables: tuple[VariableView, ...]
    total: int


class Variables(Struct, frozen=True):
    """The locals or the arguments of a frame."""

    variables: tuple[VariableView, ...]
    total: int
    frame: FrameView | None = None
    # The other groups of variables, if requested.
    scopes: tuple[VariableScope, ...] | UnsetType = UNSET
    # The reason for missing variables, for example absent debug information.
    note: str | UnsetType = UNSET
    # The suspicious ones, at most 3.
    pointers: tuple[PointerView, ...] | UnsetType = UNSET
    # The names of further ones.
    pointers_omitted: tuple[str, ...] | UnsetType = UNSET
    # How to see a value that says little.
    hint: str | UnsetType = UNSET


class Children(Struct, frozen=True):
    """A page of a value's children; `total` is None if the backend does not know it."""

    ref: str
    total: int | None
    from_: int
    variables: tuple[VariableView, ...]

    def to_keys(self) -> dict[str, Any]:
        """Return the contract's keys (`from` is a Python keyword)."""
        return {
            "ref": self.ref,
            "total": self.total,
            "from": self.from_,
            "variables": self.variables,
        }


class Value(Struct, frozen=True):
    """The value of an expression, with its children if requested."""

    expression: str
    value: str
    type: str
    ref: str | UnsetType = UNSET
    children: tuple[VariableView, ...] | UnsetType = UNSET
    children_total: int | UnsetType = UNSET
    show_type: bool | UnsetType = UNSET
    # Its own, and the suspicious ones in it, at most 3.
    pointers: tuple[PointerView, ...] | UnsetType = UNSET
    # The names of further ones.
    pointers_omitted: tuple[str, ...] | UnsetType = UNSET
    # How to read a value that says little, or that is not assigned yet.
    hint: str | UnsetType = UNSET


class Assignment(Struct, frozen=True):
    """A variable that was set."""

    name: str
    previous: str | None
    value: str
    type: str
    # A reason why the program may not see the new value.
    note: str | UnsetType = UNSET
    # Its memory address, if known.
    address: str | UnsetType = UNSET


class Source(Struct, frozen=True):
    """Lines of a source file; `total` counts the file's lines."""

    file: str
    lines: tuple[SourceLine, ...]
    total: int
    function: str | None = None


class Backtrace(Struct, frozen=True):
    """The stack of a thread; `total` is None if the backend does not know the depth."""

    thread: int
    frames: tuple[FrameView, ...]
    total: int | None
    current: int = 0
    # "running" for a thread that runs while others are stopped: it has no stack.
    state: str | UnsetType = UNSET
    # A doubt about the stack.
    note: str | UnsetType = UNSET
    # The frames up to the outermost with source; the text counts the runtime's behind them.
    own: int | UnsetType = UNSET


class Backtraces(Struct, frozen=True):
    """The stacks of all threads; threads with the same stack are merged in the text."""

    threads: tuple[Backtrace, ...]
    total: int


class CurrentFrame(Struct, frozen=True):
    """The selected frame, with its source and locals."""

    thread: int
    frame: FrameView
    source: tuple[SourceLine, ...]
    locals: tuple[VariableView, ...]
    locals_total: int


class ThreadView(Struct, frozen=True):
    """A thread and its location; `frame` is None while it runs or if its location is unknown."""

    id: int
    name: str
    state: str
    frame: FrameView | None = None
    current: bool = False
    # Only if each thread stops on its own: the breakpoints that it hit.
    breakpoints: tuple[int, ...] | UnsetType = UNSET
    # Only if each thread stops on its own: the time since its stop.
    stopped_s: float | UnsetType = UNSET


class Threads(Struct, frozen=True):
    """The threads of a program."""

    threads: tuple[ThreadView, ...]
    total: int


TRACED_MAX = 2000
"""The most functions that are traced at once."""


class TracedView(Struct, frozen=True):
    """A traced pattern of functions."""

    # Absent if the pattern matches nothing and was not stored.
    id: int | None
    pattern: str
    # How many functions are traced.
    functions: int
    # Some of the traced functions.
    names: tuple[str, ...] = ()
    # How many matching functions are beyond the limit.
    left_out: int = 0
    # Functions of which not every call is an event.
    sampled: tuple[str, ...] = ()
    # For each sampled function, how many calls are no events.
    skipped: tuple[int, ...] = ()
    # The reason if no function matches.
    why: str | UnsetType = UNSET
    near_names: tuple[str, ...] | UnsetType = UNSET


class Traces(Struct, frozen=True):
    """The traced patterns; `functions` counts the functions of all of them."""

    traced: tuple[TracedView, ...]
    functions: int


class LiveReading(Struct, frozen=True):
    """A value that was read by name or by address; `error` is the reason if it could not be."""

    name: str
    value: str | None
    type: str = ""
    ref: str | UnsetType = UNSET
    children: tuple[VariableView, ...] | UnsetType = UNSET
    children_total: int | UnsetType = UNSET
    error: str | UnsetType = UNSET


class LiveReadings(Struct, frozen=True):
    """Values that were read at one moment."""

    values: tuple[LiveReading, ...]


class MemoryRow(Struct, frozen=True):
    """A row of memory: its address, and its content in the requested format."""

    address: str
    text: str


class MemoryView(Struct, frozen=True):
    """A range of memory, its bytes in hexadecimal; shorter than `asked` if less is mapped."""

    address: str
    bytes: str
    format: str
    rows: tuple[MemoryRow, ...]
    size: int
    asked: int


class MemoryWritten(Struct, frozen=True):
    """A memory write: the bytes before and after, in hexadecimal."""

    address: str
    previous: str | None
    bytes: str
    size: int


class RegisterView(Struct, frozen=True):
    """A register."""

    name: str
    value: str


class RegisterGroupView(Struct, frozen=True):
    """Registers of one kind."""

    name: str
    registers: tuple[RegisterView, ...]


class RegistersView(Struct, frozen=True):
    """Registers of a frame; `others` names the groups that were not requested."""

    groups: tuple[RegisterGroupView, ...]
    others: tuple[str, ...] = ()


class InstructionView(Struct, frozen=True):
    """A machine instruction; `current` is the next one to run."""

    address: str
    bytes: str
    text: str
    function: str | None
    file: str | UnsetType = UNSET
    line: int | UnsetType = UNSET
    source: str | UnsetType = UNSET
    current: bool = False


class Disassembled(Struct, frozen=True):
    """Machine code."""

    instructions: tuple[InstructionView, ...]


class ModuleView(Struct, frozen=True):
    """The main executable, or a library that it loaded."""

    name: str
    path: str | None = None
    address: str | None = None
    version: str | None = None
    symbols: str | None = None


class ModulesView(Struct, frozen=True):
    """The loaded modules."""

    modules: tuple[ModuleView, ...]
    total: int
