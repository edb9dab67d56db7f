"""Where a program is: frames, source, stacks, threads, and the values in them."""

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
