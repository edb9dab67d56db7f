"""Builds the requests for other hosts, and reads their replies."""

from __future__ import annotations

import asyncio
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from debugger.cli.parser import Invocation
from debugger.config import Config
from debugger.daemon.command_request import CommandReply, CommandRequest
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import HostAddress, HostKind, HostTools
from debugger.hosts.host_list import Host, HostRequest
from debugger.hosts.path_mapping import map_answer, map_arguments
from debugger.model.breakpoints import Breakpoint
from debugger.model.command_registry import COMMANDS
from debugger.model.location import SourceMap, source_map

_QUESTION_S = 60.0  # seconds that the program of a question runs by default


class HostLimits(Struct, frozen=True):
    """How long a command on several hosts waits for one of them, in seconds."""

    # Until a host must have answered what changes nothing.
    read_s: float = 15.0
    # The same for what changes something, beyond the time that the command itself may wait.
    change_s: float = 60.0
    # After the first stop, in which those of other hosts are awaited.
    settle_s: float = 1.0


class HostCall(Struct, frozen=True):
    """What a command brings along: its words, and the caller's settings."""

    request: CommandRequest
    invocation: Invocation
    config: Config
    on_progress: Callable[[str], None] | None = None
    # The sessions of this machine.
    names_here: frozenset[str] = frozenset()
    # The current one of these, or the program that has started it.
    current_here: str | None = None
    # The breakpoints of a group of this machine's, by its name.
    breakpoints_here: Callable[[str], Sequence[Breakpoint]] = lambda _group: ()
    limits: HostLimits = HostLimits()
    # Receives the name of what has begun on a host, before the host's answer.
    on_begun: Callable[[Host, str], None] | None = None

    def replace_command(
        self, name: str, args: dict[str, Any], *, interrupted: asyncio.Event | None = None
    ) -> HostCall:
        """Return the call of another command by the same caller."""
        other = replace(self.invocation, command=COMMANDS.get(name), args=args)
        request = replace(self.request, interrupted=interrupted or self.request.interrupted)
        return msgspec.structs.replace(self, invocation=other, request=request)

    def replace_request(self, **changes: Any) -> HostCall:
        """Return the call with other fields of the caller's request."""
        return msgspec.structs.replace(self, request=replace(self.request, **changes))

    def folders_at(self, host: Host) -> SourceMap:
        """Return the folders of another machine, and what they are called here."""
        if host.address.kind is HostKind.OWN:
            return SourceMap()
        return source_map(self.config.sources.map, self.request.env.get("HOME", "/"))

    def map_arguments(self, args: Mapping[str, Any], host: Host) -> dict[str, Any]:
        """Return arguments with the folders of the machine that they are for."""
        folders = self.folders_at(host)
        return {name: map_arguments(one, folders) for name, one in args.items()}

    def limit_s(self) -> float:
        """Return the seconds until a host must have answered, which may be frozen."""
        command = self.invocation.command
        return self.limits.read_s if command.reads_only else self.limits.change_s + self.wait_s()

    def wait_s(self) -> float:
        """Return the seconds that the command itself may wait."""
        args = self.invocation.args
        names = {one.name for one in self.invocation.command.parameters}
        if "timeout" not in names:
            return 0.0
        own = _QUESTION_S if "words" in names else self.config.timeouts.await_default_secs
        given = args.get("timeout")
        return float(given) if isinstance(given, int | float) else own

    def build_request(
        self,
        host: Host,
        session: str | None,
        changes: Mapping[str, Any] | None = None,
        *,
        interrupted: asyncio.Event | None = None,
    ) -> HostRequest:
        """Build the request for a host; `changes` replaces fields of the message.

        Raises:
            DebuggerError: USAGE for a map of sources without absolute paths.
        """
        request, invocation = self.request, self.invocation
        folders = self.folders_at(host)
        message = {
            "command": invocation.command.wire_name,
            "args": self.map_arguments(invocation.args, host),
            "session": session,
            "known_as": host.label,
            "cwd": folders.to_built(request.cwd),
            "width": request.width,
            "tty": request.tty,
            "progress": request.wants_progress,
            "result": request.wants_result,
            "json": invocation.is_json,
            "budget": invocation.budget,
            "color": invocation.is_color and request.takes_colour,
            **(changes or {}),
        }

        async def stream(text: str) -> None:
            await request.stream(map_answer(text, folders))

        return HostRequest(
            message=message,
            env=request.env,
            tools=find_tools(self.config, request.env),
            keep_s=self.config.hosts.keep_secs,
            reads_only=invocation.command.reads_only,
            ends_daemon=invocation.command.name == "daemon stop",
            stream=stream,
            interrupted=interrupted or request.interrupted,
            on_progress=self.on_progress,
            on_begun=partial(self.on_begun, host) if self.on_begun is not None else None,
        )


def build_reply(
    answer: Mapping[str, Any], folders: SourceMap, address: HostAddress
) -> CommandReply:
    """Build the reply for a host's answer, with the folders of this machine."""
    given = answer.get("error")
    error = None
    if isinstance(given, dict):
        code = str(given.get("code"))
        error = DebuggerError(
            ErrorCode(code) if code in ErrorCode.__members__ else ErrorCode.INTERNAL,
            map_answer(str(given.get("message")), folders),
            hint=address.add_to_commands(map_answer(given.get("hint"), folders)),
        )
    exit_code = answer.get("exit")
    return CommandReply(
        success=bool(answer.get("success")),
        result=map_answer(answer.get("result"), folders),
        text=map_answer(answer.get("text"), folders),
        error=error,
        exit=exit_code if isinstance(exit_code, int) else 1,
    )


def find_tools(config: Config, env: Mapping[str, str]) -> HostTools:
    """Return the commands that reach hosts, as configured.

    Raises:
        DebuggerError: USAGE for a command that is no command line.
    """
    settings = config.hosts
    container = settings.container
    if container is None:
        path = env.get("PATH")
        container = next((one for one in ("docker", "podman") if shutil.which(one, path=path)), "")
    return HostTools(
        ssh=_split("ssh", settings.ssh),
        container=_split("container", container or "docker"),
        kubectl=_split("kubectl", settings.kubectl),
    )


def _split(name: str, command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        words = ()
    if not words:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"[hosts] {name}: not a command: {command!r}",
            hint="debugger config --path",
        )
    return words
