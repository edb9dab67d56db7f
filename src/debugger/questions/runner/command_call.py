"""Defines a command's context, and begins the session that a question needs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import UNSET

from debugger.backends import select_backend
from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.backends.dap.dap_client import AdapterLimits
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.backends.mapped_backend import map_sources
from debugger.config import Config
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import Answer
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.hit_filter import parse_event
from debugger.model.location import Location, SourceMap, parse_location, source_map
from debugger.questions.runner.evidence_store import EvidenceStore
from debugger.session import source_files, views
from debugger.session.idle_watch import INPUT_LIMIT, SERVER_LIMIT
from debugger.session.session import MakeBackend, Session
from debugger.session.session_list import SessionList
from debugger.session.stepping import WaitLimit
from debugger.targets import attach_target, launch_target
from debugger.targets import command_line as commands
from debugger.targets.attach_request import AttachRequest, PreparedAttach
from debugger.targets.caller_commands import TYPED_CODE, CallerCommands, TypedCode

_TIMEOUT_MAX = 24 * 3600.0


@dataclass(frozen=True)
class CommandCall:
    """The context of one command of one client."""

    sessions: SessionList
    config: Config
    cwd: str
    env: Mapping[str, str]
    scratch_root: Path
    session_name: str | None
    interrupted: asyncio.Event
    stream: Callable[[str], Awaitable[None]]
    # For a daemon of another machine: the name of what has begun.
    report_begun: Callable[[str], Awaitable[None]]
    stop_daemon: Callable[[], None]
    # Answers of questions are kept as text, which only the daemon's edge can make.
    evidence: EvidenceStore
    as_text: Callable[[Answer, int], str]
    is_json: bool = False

    def current_session(self) -> Session:
        """Return the session of the command.

        Raises:
            DebuggerError: NO_SESSION.
        """
        session = self.sessions.get(self.current_name())
        session.notice_death()
        return session

    def current_name(self) -> str | None:
        """Return the name of the command's session; of a group it is the member that stopped last.

        A group has the name of the session that began it, which is the member `main`.
        """
        name = self.session_name or self.sessions.current
        group = self.sessions.groups.find(name) if name is not None else None
        member = group.session_named(self.sessions.current or "") if group is not None else None
        return member.name if member is not None else name

    def wait_limit(self, timeout: float | None, *, ends_idle: bool = True) -> WaitLimit:
        """Return the time limit of a wait: the requested or the configured one.

        With `ends_idle` a program that waits for input ends the wait, and, unless the user gave a
        time limit, so does a server without requests.

        Raises:
            DebuggerError: USAGE for an invalid time.
        """
        seconds = self.config.timeouts.await_default_secs if timeout is None else timeout
        if not 0 <= seconds <= _TIMEOUT_MAX:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--timeout is in seconds, from 0 to {_TIMEOUT_MAX:g}, not {seconds:g}",
                hint="--timeout 60 is a minute; without it, debugger config shows the default",
            )
        limits = INPUT_LIMIT if ends_idle else {}
        if ends_idle and timeout is None:
            limits = INPUT_LIMIT | SERVER_LIMIT
        return WaitLimit(seconds, self.interrupted, limits)

    def source_map(self) -> SourceMap:
        """Return the map of sources of programs that were built elsewhere.

        Raises:
            DebuggerError: USAGE for a folder that is not absolute.
        """
        return source_map(self.config.sources.map, self.env.get("HOME", "/"))

    def breakpoint_spec(
        self, words: str, *, near: list[str], current: str | None, program: str | None = None
    ) -> BreakpointSpec:
        """Return a breakpoint for a location, its file resolved from the caller's directory.

        `near` are further directories to search; `current` is the file of a bare line number;
        `program` may know a file that does not exist here.

        Raises:
            DebuggerError: USAGE.
        """
        place = parse_location(words)
        if place.line is not None and place.file is None:
            if current is None:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    f"line {place.line} of which file?",
                    hint=f"debugger break FILE:{place.line}",
                )
            return BreakpointSpec(file=current, line=place.line)
        return BreakpointSpec(
            file=self.resolve_file(place, near, program) if place.file is not None else None,
            line=place.line,
            function=place.function,
            address=place.address,
        )

    def conditional_spec(
        self, words: str, *, near: list[str], current: str | None, program: str | None = None
    ) -> BreakpointSpec:
        """Return a breakpoint for a location, or for `LOC if CONDITION`.

        Raises:
            DebuggerError: USAGE.
        """
        if " if " not in words:
            return self.breakpoint_spec(words, near=near, current=current, program=program)
        event = parse_event(words)
        spec = self.breakpoint_spec(event.place, near=near, current=current, program=program)
        return msgspec.structs.replace(spec, condition=event.when)

    def resolve_file(self, place: Location, near: list[str], program: str | None = None) -> str:
        """Return the file of a location; an unresolved one is left to the debugger to match.

        Raises:
            DebuggerError: USAGE if the text matches several of the program's files.
        """
        assert place.file is not None
        folders = list(dict.fromkeys([self.cwd, *filter(None, near)]))
        if (cell := source_files.find_cell(place.file, folders)) is not None:
            return cell
        return source_files.resolve_source(place.file, folders, program, self.source_map())


def target_folders(target: LaunchTarget | AttachTarget) -> list[str]:
    """Return where a target's sources are beside its own folder: a kernel's cells."""
    return [target.cells] if isinstance(target, AttachTarget) and target.cells else []


def spec_in_session(call: CommandCall, session: Session, words: str) -> BreakpointSpec:
    """Return a breakpoint for a location in this session.

    Raises:
        DebuggerError: USAGE.
    """
    near = [session.target.cwd, os.path.dirname(session.target.program or "")]
    near += target_folders(session.target)
    if session.selection.file is not None:
        near.append(os.path.dirname(session.selection.file))
    is_launch = isinstance(session.target, LaunchTarget)
    current = session.selection.file if is_launch or session.selection.file else None
    return call.breakpoint_spec(words, near=near, current=current, program=session.target.program)


_INPUT_MAX = 64 << 20


def launch_argv(launch: LaunchTarget) -> list[str]:
    """Return the command line, with the interpreter if it needs one."""
    before = [launch.python] if launch.python is not None else []
    what = ["-m", launch.module] if launch.module is not None else [str(launch.program)]
    return [*before, *what, *launch.args]


async def stdin_bytes(launch: LaunchTarget) -> bytes:
    """Return the content of standard input, of at most 64 MiB.

    Raises:
        DebuggerError: USAGE if it is longer.
    """
    if launch.stdin is None:
        return b""
    return await asyncio.to_thread(read_stdin_file, Path(launch.stdin))


def read_stdin_file(path: Path) -> bytes:
    """Read a file of standard input, of at most 64 MiB.

    Raises:
        DebuggerError: NOT_FOUND, and USAGE if it is longer.
    """
    try:
        return _read_limited(path)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot read {path}: {error.strerror}",
            hint="give it: --stdin FILE",
        ) from error


def _read_limited(path: Path) -> bytes:
    with path.open("rb") as file:
        # One byte more than allowed tells a longer file, without its size: it may be a pipe.
        read = file.read(_INPUT_MAX + 1)
    if len(read) > _INPUT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{path} is longer than 64 MiB",
            hint="give a shorter input: --stdin FILE",
        )
    return read


_REQUEST_MS = "XCODEBUILDMCP_DAP_REQUEST_TIMEOUT_MS"
_YES = frozenset({"1", "true", "TRUE", "yes"})
_LOOK_S = 10.0  # a host's name may take long to resolve


def with_default(
    call: CommandCall, request: launch_target.LaunchRequest
) -> launch_target.LaunchRequest:
    """Use the configured adapter if it fits the program."""
    name = call.config.defaults.adapter
    if request.adapter is not None or name is None or request.module is not None:
        return request
    select_backend.find_named_adapter(
        name, select_backend.list_adapters(call.config.adapters)
    )  # an unknown one is an error
    try:
        # A backend that was selected, and that fits, comes before the adapter of another.
        if select_backend.find_backend_name(launch_target.prepare_launch(request)[1]) is not None:
            return request
        configured = msgspec.structs.replace(request, adapter=name)
        launch_target.prepare_launch(configured)
    except DebuggerError:
        return request
    return configured


def caller_commands(call: CommandCall) -> CallerCommands:
    """Return the look-ups for the caller's directory and environment."""
    path = call.env.get("PATH", os.defpath).split(os.pathsep)
    folders = [os.path.join(call.cwd, folder) for folder in path]

    def find_command(name: str) -> str | None:
        found = launch_target.find_on_path(name, call.env, call.cwd)
        return found and launch_target.find_behind_shim(found, call.cwd, call.env)

    return CallerCommands(
        call.cwd,
        find_command,
        folders,
        extensions=tuple(end for one in call.config.adapters.values() for end in one.extensions),
        typed=TypedCode(call.scratch_root.parent / TYPED_CODE),
        python_path=call.env.get("PYTHONPATH", ""),
        go_flags=call.env.get("GOFLAGS", ""),
    )


def resolve_managed(
    call: CommandCall, request: launch_target.LaunchRequest
) -> launch_target.LaunchRequest:
    """Replace `uv run CMD` and similar by CMD in the project's environment.

    Raises:
        DebuggerError: USAGE if that environment is unknown; LAUNCH_FAILED for a missing CMD.
    """
    if request.program is None or not commands.is_managed(request.program, request.args):
        return request
    read = commands.parse_command(
        [request.program, *request.args], caller_commands(call), verb="start"
    )
    return msgspec.structs.replace(
        request,
        program=read.program if read.module is None else None,
        module=read.module,
        args=read.args,
        python=request.python or read.python,
        changed_env=(*(f"{name}={value}" for name, value in read.env), *request.changed_env),
    )


def pids_with_session(call: CommandCall) -> dict[int, str]:
    """Return the sessions by pid: a process can have only one debugger."""
    live = (one for one in call.sessions.all_sessions() if one.is_live)
    return {one.pid: one.name for one in live if one.pid is not None}


async def locate_target(request: AttachRequest, *, hint: str) -> PreparedAttach:
    """Resolve an attach target within 10 s; `hint` is for the time-out.

    Raises:
        DebuggerError: TIMEOUT; what preparing to attach raises.
    """
    try:
        async with asyncio.timeout(_LOOK_S):
            # Name resolution and /proc block.
            return await asyncio.to_thread(attach_target.prepare_attach, request)
    except TimeoutError:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.connect or 'the process'} was not found within {_LOOK_S:g} s",
            hint=hint,
        ) from None


def backend_maker(call: CommandCall, adapter: DebugAdapter) -> MakeBackend:
    """Return the factory of a session's backend.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND, USAGE for an invalid source map.
    """
    found = select_backend.find_adapter(adapter, call.env, call.config.adapters)
    limits = AdapterLimits(
        initialize_s=call.config.timeouts.dap_initialize_secs,
        request_s=_request_s(call),
        logs_messages=call.config.daemon.log_dap
        or call.env.get("XCODEBUILDMCP_DAP_LOG_EVENTS", "") in _YES,
    )
    make = select_backend.backend_maker(
        adapter, found, limits=limits, scratch_root=call.scratch_root
    )
    return map_sources(make, call.source_map())


def _request_s(call: CommandCall) -> float:
    """Return the time limit of a request: of XcodeBuildMCP's variable, or of the configuration.

    Raises:
        DebuggerError: USAGE for a variable that is no number of milliseconds.
    """
    given = call.env.get(_REQUEST_MS)
    if not given:
        return call.config.timeouts.dap_request_secs
    if not given.isdecimal() or not int(given):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{_REQUEST_MS} is a number of milliseconds above 0, not {given!r}",
            hint=f"unset {_REQUEST_MS}",
        )
    return int(given) / 1000


async def begin_session(call: CommandCall, session: Session) -> None:
    """Start a session; one that fails to start is removed.

    Raises:
        DebuggerError: What starting, or attaching to, the program raises.
    """
    group = call.sessions.groups.group_of(session)
    try:
        await call.report_begun(session.name if group is None else group.name)
        await session.run_job(session.start_program)
    except DebuggerError:
        await call.sessions.close(session, kill=True)
        raise
    except asyncio.CancelledError:
        if session.state is State.IDLE:  # it has not begun, and now never will
            await call.sessions.close(session, kill=True)
        raise


def breakpoint_notes(session: Session) -> list[str]:
    """Return notes on unbound breakpoints, with reasons, and on moved ones."""
    notes = []
    for one in session.breakpoints.user_breakpoints():
        view = views.breakpoint_view(one)
        if one.at is not None and one.at.note is not None and view.why_unbound is UNSET:
            notes.append(f"breakpoint {one.id}: {one.at.note}")
        relatives = session.family.tree_sessions(session)
        if view.why_unbound is UNSET or any(
            each.breakpoints.count_hits(one.id) for each in relatives
        ):
            continue
        choices = [*map(str, view.nearest_lines or ()), *(view.near_names or ())]
        near = f"; nearest: {', '.join(choices)}" if choices else ""
        notes.append(f"breakpoint {one.id} is pending: {view.why_unbound}{near}")
    return notes
