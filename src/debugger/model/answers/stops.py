"""Defines the answers about stops, program ends and breakpoints."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import ChangedValue, FrameView, SourceLine, VariableView


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
    """A breakpoint; `why_unbound`, `nearest_lines`, `near_names` are there while it is unbound.

    A watchpoint has `expression`, `access` and the `value` seen last; a catchpoint has `catch`, and
    `type` where only one is caught. `notes` say what else is to be known of it.
    """

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
    hits_below: int | UnsetType = UNSET  # with a hit count: it was hit fewer times than this
    expression: str | UnsetType = UNSET
    access: str | UnsetType = UNSET
    value: str | UnsetType = UNSET
    catch: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    why_unbound: str | UnsetType = UNSET
    nearest_lines: tuple[int, ...] | UnsetType = UNSET
    near_names: tuple[str, ...] | UnsetType = UNSET
    notes: tuple[str, ...] | UnsetType = UNSET


class WatchedView(Struct, frozen=True):
    """A watched expression: what it was at the stop before, and is now."""

    id: int
    expression: str
    previous: str | None
    value: str


class AccessView(Struct, frozen=True):
    """The line whose code wrote, or read, what is watched: the stop is behind it."""

    function: str | None
    file: str
    line: int


class CrashNote(Struct, frozen=True):
    """What the program crashed of in this run; event number `seq` holds all that was seen."""

    signal: str | None
    description: str
    thread: int | None
    seq: int
    address: str | UnsetType = UNSET
    function: str | UnsetType = UNSET
    file: str | UnsetType = UNSET
    line: int | UnsetType = UNSET


class IdleReason(Struct, frozen=True):
    """What an idle program waits for: `kind` is input (on stdin) or connections (on `ports`).

    `call` is the system call that the process `pid` is in. `source` is where the stdin of a program
    that was attached to comes from.
    """

    kind: str
    pid: int
    program: str
    call: str
    ports: tuple[int, ...] = ()
    source: str | UnsetType = UNSET

    @property
    def describe(self) -> str:
        """What it waits for, in words."""
        who = f"{self.program}, pid {self.pid}"
        if self.kind == "input":
            return f"it waits for input ({self.call} of stdin by {who})"
        ports = f"port{'s' * (len(self.ports) > 1)} {', '.join(map(str, self.ports))}"
        return f"it serves on {ports}, and is idle ({self.call} by {who})"


class Stop(Struct, frozen=True):
    """Where the program stopped, and why: the answer of every command that runs it.

    `state` is stopped, running (the wait ended first: `timed_out`, or `--no-wait`) or terminated.
    `is_repeat`: in the frame of the stop before; the text then shows `changed`, not `locals`.
    `unbound` and `never_hit` come with the end of the program; `crash` is one that came before.
    `waiting` is what an idle program waits for itself.
    `left_running` are the sessions of its other processes that run on after its end.
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
    changed: tuple[ChangedValue, ...] = ()
    stack: tuple[FrameView, ...] = ()
    stack_total: int | None = None
    stack_own: int | None = None
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    output_dropped: int = 0
    hit_breakpoints: tuple[int, ...] = ()
    watched: tuple[WatchedView, ...] = ()
    accessed_by: AccessView | UnsetType = UNSET
    exception: ExceptionView | None = None
    exit_code: int | None = None
    signal: str | None = None
    returned: VariableView | None = None
    unbound: tuple[BreakpointView, ...] = ()
    never_hit: tuple[BreakpointView, ...] = ()
    timed_out: bool = False
    waited_s: float | None = None
    waiting: IdleReason | UnsetType = UNSET
    crash: CrashNote | UnsetType = UNSET
    left_running: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class BreakpointList(Struct, frozen=True):
    """All breakpoints."""

    breakpoints: tuple[BreakpointView, ...]


class Removed(Struct, frozen=True):
    """Breakpoints that were removed, or what else `noun` names; `kept` are those of other kinds."""

    removed: tuple[int, ...]
    noun: str = "breakpoint"
    kept: tuple[str, ...] | UnsetType = UNSET


class ExceptionInfo(Struct, frozen=True):
    """The exception, or the signal, that was stopped at.

    `trace` is as the runtime writes it; `summary` its lines, with Python's library frames counted.
    """

    type: str
    message: str
    causes: tuple[str, ...]
    trace: str
    thread: int | None
    frame: FrameView | None = None
    summary: tuple[str, ...] = ()
