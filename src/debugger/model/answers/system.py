"""Defines the answers about sessions, output, events, the daemon and installed adapters."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.stops import CrashNote, OutputLine, Stop


class Status(Struct, frozen=True):
    """A session as it is now; `paused_threads` are there where each thread stops on its own."""

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
    crash: CrashNote | UnsetType = UNSET
    notes: tuple[str, ...] = ()


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
    """A page of the timeline; `next` is the cursor to go on from.

    `total` counts all that was asked for; of it `earlier` came before the page. With
    `total_is_least` there are more than were counted.
    """

    events: tuple[EventView, ...]
    next: int
    dropped: int
    total: int
    earlier: int = 0
    total_is_least: bool = False
    crash: CrashNote | UnsetType = UNSET


class Ended(Struct, frozen=True):
    """Sessions that were ended or let go; `killed` names processes that had to be killed."""

    ended: tuple[str, ...]
    detached: bool = False
    pid: int | None = None
    killed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Raw(Struct, frozen=True):
    """What the debugger itself answered to one of its own commands.

    `stop` is where the program stopped, of a command that lets it run.
    """

    command: str
    output: str
    stop: Stop | UnsetType = UNSET


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


class AdapterView(Struct, frozen=True):
    """An adapter: whether it is here, and how it is installed if it is not.

    `status` is installed, missing, or broken: it is there and does not start. `problem` says what
    is wrong with it, `how` is the way to install it.
    """

    name: str
    status: str
    languages: tuple[str, ...]
    version: str | None = None
    path: str | None = None
    how: str | None = None
    problem: str | None = None


class AdapterList(Struct, frozen=True):
    """Every adapter that is known."""

    adapters: tuple[AdapterView, ...]


class Installation(Struct, frozen=True):
    """An adapter's installation.

    `status` is installed (now, if `changed`), planned (the `steps` are what would be done) or
    checked: `works` says whether they would, `problem` why not. `config` is the configuration's
    file where it was, or would be, written to.
    """

    name: str
    status: str
    steps: tuple[str, ...] = ()
    version: str | None = None
    path: str | None = None
    changed: bool = False
    works: bool | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    config: str | UnsetType = UNSET
