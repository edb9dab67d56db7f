"""Defines the answers about the current position: frames, source, threads, values, memory, code."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class VariableView(Struct, frozen=True):
    """A named value; `ref` is there when there is something inside it."""

    name: str
    value: str
    type: str = ""
    ref: str | UnsetType = UNSET


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
    """A line of source; `current` marks where the program is."""

    line: int
    text: str
    current: bool = False


class VariableScope(Struct, frozen=True):
    """Another group of variables of a frame: its globals, its registers."""

    name: str
    variables: tuple[VariableView, ...]
    total: int


class Variables(Struct, frozen=True):
    """The locals or the arguments of a frame; `scopes` are the other groups, where requested.

    `note` says why there are none, where the debug information lacks them.
    """

    variables: tuple[VariableView, ...]
    total: int
    frame: FrameView | None = None
    scopes: tuple[VariableScope, ...] | UnsetType = UNSET
    note: str | UnsetType = UNSET


class Children(Struct, frozen=True):
    """A page of what is inside a value; `total` is None where the backend does not know it."""

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
    """The value of an expression, with what is inside it where it was asked for."""

    expression: str
    value: str
    type: str
    ref: str | UnsetType = UNSET
    children: tuple[VariableView, ...] | UnsetType = UNSET
    children_total: int | UnsetType = UNSET
    show_type: bool | UnsetType = UNSET


class Assignment(Struct, frozen=True):
    """A variable that was set; `note` says why the program may not see it.

    `address` is where it is in memory, where that is known.
    """

    name: str
    previous: str | None
    value: str
    type: str
    note: str | UnsetType = UNSET
    address: str | UnsetType = UNSET


class Source(Struct, frozen=True):
    """Lines of a source file; `total` counts the file's lines."""

    file: str
    lines: tuple[SourceLine, ...]
    total: int
    function: str | None = None


class Backtrace(Struct, frozen=True):
    """The stack of a thread; `total` is None where the backend does not know the depth.

    `state` is there, "running", of a thread that runs on while others have stopped: it has none.
    `note` says where it is not to be believed.
    """

    thread: int
    frames: tuple[FrameView, ...]
    total: int | None
    current: int = 0
    state: str | UnsetType = UNSET
    note: str | UnsetType = UNSET


class Backtraces(Struct, frozen=True):
    """The stacks of all threads; threads with the same stack are merged in the text."""

    threads: tuple[Backtrace, ...]
    total: int


class CurrentFrame(Struct, frozen=True):
    """The frame that was chosen, with its source and locals."""

    thread: int
    frame: FrameView
    source: tuple[SourceLine, ...]
    locals: tuple[VariableView, ...]
    locals_total: int


class ThreadView(Struct, frozen=True):
    """A thread and where it is; `frame` is None while it runs or where nothing is known.

    `breakpoints` and `stopped_s`, where each thread stops on its own: at which, for how long.
    """

    id: int
    name: str
    state: str
    frame: FrameView | None = None
    current: bool = False
    breakpoints: tuple[int, ...] | UnsetType = UNSET
    stopped_s: float | UnsetType = UNSET


class Threads(Struct, frozen=True):
    """The threads of a program."""

    threads: tuple[ThreadView, ...]
    total: int


TRACED_MAX = 2000
"""The most functions that are traced at once."""


class TracedView(Struct, frozen=True):
    """A pattern of functions that is traced.

    `functions` counts them, `names` are some of them; `left_out` counts those beyond the limit,
    `sampled` are those of which not every call is an event, `skipped` says how many calls of each
    are not. `why` says why there is none; where such a
    pattern is not kept, it has no `id`.
    """

    id: int | None
    pattern: str
    functions: int
    names: tuple[str, ...] = ()
    left_out: int = 0
    sampled: tuple[str, ...] = ()
    skipped: tuple[int, ...] = ()
    why: str | UnsetType = UNSET
    near_names: tuple[str, ...] | UnsetType = UNSET


class Traces(Struct, frozen=True):
    """The patterns that are traced; `functions` counts the functions of all of them."""

    traced: tuple[TracedView, ...]
    functions: int


class LiveReading(Struct, frozen=True):
    """A value that was read by its name, or by its address; `error` says why it could not be."""

    name: str
    value: str | None
    type: str = ""
    ref: str | UnsetType = UNSET
    children: tuple[VariableView, ...] | UnsetType = UNSET
    children_total: int | UnsetType = UNSET
    error: str | UnsetType = UNSET


class LiveReadings(Struct, frozen=True):
    """Values that were read at once."""

    values: tuple[LiveReading, ...]


class MemoryRow(Struct, frozen=True):
    """A part of memory: where it begins, and what it holds in the format that was asked for."""

    address: str
    text: str


class MemoryView(Struct, frozen=True):
    """Memory; `bytes` in hexadecimal. Less than was `asked` for is mapped where it is shorter."""

    address: str
    bytes: str
    format: str
    rows: tuple[MemoryRow, ...]
    size: int
    asked: int


class MemoryWritten(Struct, frozen=True):
    """Memory that was written, before and now, in hexadecimal."""

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
    """Registers of a frame; `others` names the groups that were not asked for."""

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
    """The program or a library of it."""

    name: str
    path: str | None = None
    address: str | None = None
    version: str | None = None
    symbols: str | None = None


class ModulesView(Struct, frozen=True):
    """What is loaded."""

    modules: tuple[ModuleView, ...]
    total: int
