"""What commands answer: one value for each kind of answer, as the contract names its keys.

These are what `--json` puts under `data`; `render` makes text of them. Optional keys are absent
(UNSET) rather than null where the contract marks them so. Every list and value is already bounded
when it gets here; a count beside it says how many there were.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class VariableView(Struct, frozen=True):
    """A named value; `ref` is there when there is something inside it."""

    name: str
    value: str
    type: str = ""
    ref: str | UnsetType = UNSET


class Change(Struct, frozen=True):
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


class OutputLine(Struct, frozen=True):
    """A line that the program wrote; `stream` is stdout, stderr or console."""

    stream: str
    text: str
    seq: int


class ExceptionView(Struct, frozen=True):
    """The exception that stopped the program; `causes` outermost first."""

    type: str
    message: str
    causes: tuple[str, ...] = ()


class BreakpointView(Struct, frozen=True):
    """A breakpoint; `why_unbound`, `nearest_lines`, `near_names` are there while it is unbound."""

    id: int
    kind: str
    verified: bool
    file: str | None
    line: int | None
    requested_line: int | None
    function: str | None
    address: str | None
    condition: str | None
    hit_count: int | None
    log: str | None
    enabled: bool
    temporary: bool = False
    thread: int | None = None
    hits: int = 0
    why_unbound: str | UnsetType = UNSET
    nearest_lines: tuple[int, ...] | UnsetType = UNSET
    near_names: tuple[str, ...] | UnsetType = UNSET


class Stop(Struct, frozen=True):
    """Where the program stopped, and why: the answer of every command that runs it.

    `state` is stopped, running (the wait ended first: `timed_out`, or `--no-wait`) or terminated.
    `is_repeat`: in the frame of the stop before; the text then shows `changed`, not `locals`.
    `unbound` and `never_hit` come with the end of the program.
    """

    session: str
    state: str
    reason: str | None = None
    raw_reason: str | None = None
    description: str | None = None
    thread: int | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    is_repeat: bool = False
    changed: tuple[Change, ...] = ()
    stack: tuple[FrameView, ...] = ()
    stack_total: int | None = None
    stack_own: int | None = None
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    hit_breakpoints: tuple[int, ...] = ()
    exception: ExceptionView | None = None
    exit_code: int | None = None
    signal: str | None = None
    returned: VariableView | None = None
    unbound: tuple[BreakpointView, ...] = ()
    never_hit: tuple[BreakpointView, ...] = ()
    timed_out: bool = False
    waited_s: float | None = None
    notes: tuple[str, ...] = ()


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
    """A variable that was set."""

    name: str
    previous: str | None
    value: str
    type: str


class Variables(Struct, frozen=True):
    """The locals or the arguments of a frame."""

    variables: tuple[VariableView, ...]
    total: int
    frame: FrameView | None = None


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


class Source(Struct, frozen=True):
    """Lines of a source file; `total` counts the file's lines."""

    file: str
    lines: tuple[SourceLine, ...]
    total: int
    function: str | None = None


class Backtrace(Struct, frozen=True):
    """The stack of a thread; `total` is None where the backend does not know the depth."""

    thread: int
    frames: tuple[FrameView, ...]
    total: int | None
    current: int = 0


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
    """A thread and where it is; `frame` is None while it runs or where nothing is known."""

    id: int
    name: str
    state: str
    frame: FrameView | None = None
    current: bool = False


class Threads(Struct, frozen=True):
    """The threads of a program."""

    threads: tuple[ThreadView, ...]
    total: int


class BreakpointList(Struct, frozen=True):
    """All breakpoints."""

    breakpoints: tuple[BreakpointView, ...]


class Removed(Struct, frozen=True):
    """Breakpoints that were removed."""

    removed: tuple[int, ...]


class Status(Struct, frozen=True):
    """A session as it is now."""

    session: str
    state: str
    program: str | None
    args: tuple[str, ...]
    cwd: str
    pid: int | None
    adapter: str
    backend: str
    breakpoints: int
    unread_output: int
    last_stop: str | UnsetType = UNSET
    exit_code: int | UnsetType = UNSET
    signal: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET


class Sessions(Struct, frozen=True):
    """All sessions and the current one."""

    sessions: tuple[Status, ...]
    current: str | None


class Output(Struct, frozen=True):
    """What the program wrote; `dropped` lines were over the limits and are gone."""

    lines: tuple[OutputLine, ...]
    dropped: int
    total: int = 0
    cleared: bool = False


class EventView(Struct, frozen=True):
    """One event of the timeline; `time_ns` is of the monotonic clock."""

    seq: int
    time_ns: int
    kind: str
    session: str
    thread: int | None
    text: str
    data: dict[str, Any]
    function: str | UnsetType = UNSET
    file: str | UnsetType = UNSET
    line: int | UnsetType = UNSET


class Events(Struct, frozen=True):
    """A page of the timeline; `next` is the cursor to go on from."""

    events: tuple[EventView, ...]
    next: int
    dropped: int
    total: int


class Ended(Struct, frozen=True):
    """Sessions that were ended or let go; `killed` names processes that had to be killed."""

    ended: tuple[str, ...]
    detached: bool = False
    pid: int | None = None
    killed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Raw(Struct, frozen=True):
    """What the debugger itself answered to one of its own commands."""

    command: str
    output: str


class Check(Struct, frozen=True):
    """One thing that doctor looked at: `status` is ok, warning or error."""

    name: str
    status: str
    message: str
    version: str | None = None
    path: str | None = None
    fix: str | None = None


class Doctor(Struct, frozen=True):
    """What is here to debug with."""

    checks: tuple[Check, ...]


class Setting(Struct, frozen=True):
    """One value of the configuration and where it comes from (default or file)."""

    name: str
    value: Any
    origin: str


class Settings(Struct, frozen=True):
    """The configuration as it holds."""

    path: str
    exists: bool
    settings: tuple[Setting, ...]


class DaemonStatus(Struct, frozen=True):
    """The daemon; `sessions` names those that live."""

    running: bool
    pid: int | None = None
    version: str | None = None
    uptime_s: float | None = None
    socket: str | None = None
    sessions: tuple[str, ...] = ()


class Text(Struct, frozen=True):
    """A plain sentence, where there is nothing more to say."""

    message: str


Answer = (
    Stop
    | Value
    | Assignment
    | Variables
    | Children
    | Source
    | Backtrace
    | Backtraces
    | CurrentFrame
    | Threads
    | BreakpointView
    | BreakpointList
    | Removed
    | Status
    | Sessions
    | Output
    | Events
    | Ended
    | Raw
    | Doctor
    | Settings
    | DaemonStatus
    | Text
)
