"""Defines the answers about stops, program ends and breakpoints."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import ChangedValue, FrameView, SourceLine, VariableView


class OutputLine(Struct, frozen=True):
    """A line that the program wrote; `stream` is stdout, stderr or console."""

    stream: str
    text: str
    seq: int
    member: str | UnsetType = UNSET  # of a group, who wrote it


class ExceptionView(Struct, frozen=True):
    """The exception that stopped the program; `causes` outermost first.

    `part` is the source of what failed within its statement, where known (CPython 3.11);
    of Ruby the operand that the exception is about.
    """

    type: str
    message: str
    causes: tuple[str, ...] = ()
    part: str | UnsetType = UNSET


class BreakpointView(Struct, frozen=True):
    """A breakpoint, watchpoint or catchpoint."""

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
    filter: str | UnsetType = UNSET  # the options of its filter of hits
    hits_below: int | UnsetType = UNSET  # with a hit count: it was hit fewer times than this
    # Only of a watchpoint, as are `access` and `value`, the last known value.
    expression: str | UnsetType = UNSET
    access: str | UnsetType = UNSET
    value: str | UnsetType = UNSET
    # Only of a catchpoint; `type` is set if it catches one exception type only.
    catch: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    # Only while unbound, as are `nearest_lines` and `near_names`.
    why_unbound: str | UnsetType = UNSET
    nearest_lines: tuple[int, ...] | UnsetType = UNSET
    near_names: tuple[str, ...] | UnsetType = UNSET
    # Further remarks for the user.
    notes: tuple[str, ...] | UnsetType = UNSET


class WatchedView(Struct, frozen=True):
    """A watched expression with its values at the previous stop and at this one."""

    id: int
    expression: str
    previous: str | None
    value: str


class AccessView(Struct, frozen=True):
    """The line that wrote, or read, the watched memory; the program stops after that line."""

    function: str | None
    file: str
    line: int


class CrashNote(Struct, frozen=True):
    """The crash of this run; event number `seq` holds all details."""

    signal: str | None
    description: str
    thread: int | None
    seq: int
    address: str | UnsetType = UNSET
    function: str | UnsetType = UNSET
    file: str | UnsetType = UNSET
    line: int | UnsetType = UNSET


class IdleReason(Struct, frozen=True):
    """The wait of an idle program."""

    # input (on stdin) or connections (on `ports`).
    kind: str
    pid: int
    program: str
    # The system call that the process `pid` is in.
    call: str
    ports: tuple[int, ...] = ()
    # The origin of stdin, for a program that was attached to.
    source: str | UnsetType = UNSET

    @property
    def describe(self) -> str:
        """The wait in words."""
        who = f"{self.program}, pid {self.pid}"
        if self.kind == "input":
            return f"it waits for input ({self.call} of stdin by {who})"
        ports = f"port{'s' * (len(self.ports) > 1)} {', '.join(map(str, self.ports))}"
        return f"it serves on {ports}, and is idle ({self.call} by {who})"


class Stop(Struct, frozen=True):
    """The location and reason of a stop: the answer of every command that runs the program."""

    session: str
    # stopped, running (the wait ended first: `timed_out`, or `--no-wait`) or terminated.
    state: str
    reason: str | None = None
    raw_reason: str | None = None
    description: str | None = None
    thread: int | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    locals: tuple[VariableView, ...] = ()
    locals_total: int = 0
    # The stop is in the same frame as the one before: the text shows `changed`, not `locals`.
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
    # Why it ended so, where the launcher of a job has written it.
    exit_reason: str | UnsetType = UNSET
    signal: str | None = None
    returned: VariableView | None = None
    # The exception by which a step came to a handler.
    handled: str | UnsetType = UNSET
    # Reported only with the end of the program, as is `never_hit`.
    unbound: tuple[BreakpointView, ...] = ()
    never_hit: tuple[BreakpointView, ...] = ()
    timed_out: bool = False
    waited_s: float | None = None
    # The wait of an idle program that still runs.
    waiting: IdleReason | UnsetType = UNSET
    # A crash earlier in this run, reported with the program's end.
    crash: CrashNote | UnsetType = UNSET
    # Sessions of the program's other processes that run on after its end.
    left_running: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class BreakpointList(Struct, frozen=True):
    """All breakpoints."""

    breakpoints: tuple[BreakpointView, ...]


class Removed(Struct, frozen=True):
    """Removed breakpoints, or other items named by `noun`; `kept` are items of other kinds."""

    removed: tuple[int, ...]
    noun: str = "breakpoint"
    kept: tuple[str, ...] | UnsetType = UNSET


class ExceptionInfo(Struct, frozen=True):
    """The exception, or the signal, of the current stop."""

    type: str
    message: str
    causes: tuple[str, ...]
    # The traceback as the runtime formats it.
    trace: str
    thread: int | None
    frame: FrameView | None = None
    # The lines of the traceback, with Python's library frames replaced by a count.
    summary: tuple[str, ...] = ()
