"""Defines the answers about sessions, output, events, the daemon and installed adapters."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.stops import CrashNote, OutputLine, Stop


class Status(Struct, frozen=True):
    """A session's current state; `paused_threads` is set if each thread stops on its own."""

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
    simulator: str | UnsetType = UNSET
    paused_threads: tuple[int, ...] | UnsetType = UNSET
    crash: CrashNote | UnsetType = UNSET


class SessionGroup(Struct, frozen=True):
    """A group, and the names of its members' sessions."""

    group: str
    sessions: tuple[str, ...]


class Sessions(Struct, frozen=True):
    """All sessions and the current one, and which of them are a group."""

    sessions: tuple[Status, ...]
    current: str | None
    groups: tuple[SessionGroup, ...] | UnsetType = UNSET


class ConfigurationView(Struct, frozen=True):
    """One configuration of launch.json: the command that it means, or why it cannot be started.

    `parts` are the configurations of a compound, which are started as one group.
    """

    name: str
    type: str
    request: str
    command: str
    problem: str | UnsetType = UNSET
    parts: tuple[str, ...] | UnsetType = UNSET


class LaunchConfigurations(Struct, frozen=True):
    """The configurations of a launch.json."""

    file: str
    configurations: tuple[ConfigurationView, ...]
    notes: tuple[str, ...] = ()


class Output(Struct, frozen=True):
    """The program's output; `dropped` lines exceeded the limits and were deleted."""

    lines: tuple[OutputLine, ...]
    dropped: int
    total: int = 0
    cleared: bool = False
    crash: CrashNote | UnsetType = UNSET
    notes: tuple[str, ...] = ()


class EventView(Struct, frozen=True):
    """One event of the timeline; `time_ns` is on the monotonic clock."""

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
    member: str | UnsetType = UNSET  # the label in its group


class Events(Struct, frozen=True):
    """A page of the timeline."""

    events: tuple[EventView, ...]
    # The cursor of the next page.
    next: int
    dropped: int
    # The events that match the request, of all pages.
    total: int
    # The matching events before this page.
    earlier: int = 0
    # More events match than were counted.
    total_is_least: bool = False
    crash: CrashNote | UnsetType = UNSET
    # By how much the times of events of two hosts may be wrong, compared with each other.
    clock_error_ns: int = 0


class Ended(Struct, frozen=True):
    """Sessions that were ended or detached; `killed` names processes that had to be killed."""

    ended: tuple[str, ...]
    detached: bool = False
    pid: int | None = None
    killed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Raw(Struct, frozen=True):
    """The debugger's own answer to one of its own commands."""

    command: str
    output: str
    # The stop that followed, if the command ran the program.
    stop: Stop | UnsetType = UNSET


class Check(Struct, frozen=True):
    """One check of the doctor: `status` is ok, warning or error."""

    name: str
    status: str
    message: str
    version: str | None = None
    path: str | None = None
    fix: str | None = None


class Doctor(Struct, frozen=True):
    """The doctor's checks of this machine."""

    checks: tuple[Check, ...]


class Setting(Struct, frozen=True):
    """One configuration value and its origin (default or file)."""

    name: str
    value: Any
    origin: str


class Settings(Struct, frozen=True):
    """The effective configuration."""

    path: str
    exists: bool
    settings: tuple[Setting, ...]


class DaemonStatus(Struct, frozen=True):
    """The daemon's state; `sessions` names the live sessions."""

    running: bool
    pid: int | None = None
    version: str | None = None
    uptime_s: float | None = None
    socket: str | None = None
    sessions: tuple[str, ...] = ()


class Text(Struct, frozen=True):
    """A plain sentence as the whole answer."""

    message: str


class AdapterView(Struct, frozen=True):
    """An adapter, whether it is installed, and its install method."""

    name: str
    # installed, missing, or broken: it is installed and does not start.
    status: str
    languages: tuple[str, ...]
    version: str | None = None
    path: str | None = None
    # The install method.
    how: str | None = None
    # The reason of a broken or blocked adapter.
    problem: str | None = None


class AdapterList(Struct, frozen=True):
    """All known adapters."""

    adapters: tuple[AdapterView, ...]


class Installation(Struct, frozen=True):
    """The result of an adapter's installation, plan or check."""

    name: str
    # installed (now, if `changed`), planned (`steps` are the plan) or checked.
    status: str
    steps: tuple[str, ...] = ()
    version: str | None = None
    path: str | None = None
    changed: bool = False
    # Of a check: whether the steps would succeed; `problem` is the reason if not.
    works: bool | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    # The configuration file, if it was, or would be, changed.
    config: str | UnsetType = UNSET


class HostFailure(Struct, frozen=True):
    """Why a host gave no answer."""

    code: str
    message: str
    hint: str | None = None


class HostReply(Struct, frozen=True):
    """What some hosts answered, in the same words."""

    hosts: tuple[str, ...]
    text: str
    data: dict[str, Any] | UnsetType = UNSET
    error: HostFailure | UnsetType = UNSET


class HostReplies(Struct, frozen=True):
    """The answers of several hosts, each in its own words."""

    replies: tuple[HostReply, ...]

    @property
    def has_failed(self) -> bool:
        """Whether a host gave no answer."""
        return any(one.error is not UNSET for one in self.replies)
