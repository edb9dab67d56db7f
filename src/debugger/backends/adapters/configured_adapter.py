"""Builds a debug adapter from a section of the configuration.

The words of a command and the values of a request may have placeholders: see `PLACEHOLDERS`.
"""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import (
    REASONS,
    AdapterConnection,
    AdapterLocation,
    AdapterSearch,
    AdapterServer,
    DebugAdapter,
    StreamFiles,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.location import near_names
from debugger.model.program import EvaluationPurpose, Frame, Stopped, StopReason, Variable

PLACEHOLDERS: Mapping[str, str] = {
    "program": "the program's absolute path",
    "args": "its arguments: several words, or a list",
    "cwd": "the directory that it runs in",
    "env": "its environment: a table, for a request only",
    "stop_on_entry": "whether it is to stop at its beginning",
    "stdin": "the file that it is to read from",
    "stdout": "the file that it is to write to",
    "stderr": "the file for its errors",
    "pid": "the process to attach to",
    "host": "where attach --connect leads",
    "port": "the port there, or, in a command, one that is free",
}
_IN_COMMANDS = {"program", "args", "cwd", "host", "port"}
_ADDRESS = re.compile(r"[^:\s]+:(\{port\}|[0-9]{1,5})")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class AdapterSection(Protocol):
    """The configuration section of an adapter."""

    @property
    def path(self) -> str | None:
        """The adapter's path, if it is not the command's first word."""

    @property
    def command(self) -> tuple[str, ...]:
        """The command that starts it; empty for a built-in adapter."""

    @property
    def transport(self) -> str:
        """The way to talk to it: stdio or tcp."""

    @property
    def listens(self) -> str | None:
        """A pattern of the line that reports its port, with a group `port`."""

    @property
    def connect(self) -> str | None:
        """The address, if it does not report its port: HOST:{port}."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it debugs."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """The ends of the file names of its programs."""

    @property
    def request(self) -> str:
        """The request that begins a launch: launch or attach."""

    @property
    def launch(self) -> Mapping[str, Any]:
        """The arguments of the launch request."""

    @property
    def attach(self) -> Mapping[str, Any] | None:
        """The arguments of the attach request; None where it cannot attach."""

    @property
    def stops_first(self) -> bool:
        """Whether it always stops at the program's beginning."""

    @property
    def assigns_by_expression(self) -> bool:
        """Whether `name = value` is an expression that sets a variable."""

    @property
    def own_output(self) -> str | None:
        """The prefix of the lines that it writes among the program's errors."""


class SectionAdapter(DebugAdapter):
    """A debug adapter that a section of the configuration describes.

    Raises:
        DebuggerError: USAGE for an invalid section.
    """

    claims_breakpoint_options = True

    def __init__(self, name: str, section: AdapterSection) -> None:
        _check_section(name, section)
        self._section = section
        # A command with the program in it runs the program itself: an adapter of its own is not
        # started (Ruby's rdbg).
        is_program = _uses_placeholders(section.command, {"program"})
        self.name = name
        self.languages = section.languages
        self.traits = DebuggerTraits(own_programs=(Path(section.command[0]).name,))
        self.extensions = section.extensions
        # There is no `debugger setup` for it.
        self.install_command = (
            f"put {section.command[0]} on the PATH, or its path into [adapters.{name}]"
        )
        self.stops_first = section.stops_first
        self.assigns_by_expression = section.assigns_by_expression
        self.is_server = section.transport == "tcp" and is_program
        if is_program or section.connect is not None:
            self.server = AdapterServer(
                words=functools.partial(command_words, section.command),
                connect=section.connect,
                is_program=is_program,
                own_output=section.own_output,
                suffix=section.extensions[0] if section.extensions else "",
            )

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the section's command with the path of its program."""
        first, *rest = self._section.command
        path = search.path or shutil.which(first, path=search.env.get("PATH"))
        if path is None:
            return None
        words = (str(Path(path).absolute()), *rest, *search.args)
        return AdapterLocation(words, listens=self._section.listens)

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Fill in the section's arguments of the `launch` request."""
        values = _list_launch_values(launch) | {
            "stdin": files.stdin,
            "stdout": files.stdout,
            "stderr": files.stderr,
        }
        arguments = _fill_placeholders(dict(self._section.launch), values)
        # Some adapters are launched by an attach: the command has started the program already.
        return {**arguments, "request": self._section.request}

    def parse_stopped(self, body: dap.StoppedBody) -> Stopped:
        """Convert a `stopped` event; its reason may be any text (DAP: StoppedEvent)."""
        stop = super().parse_stopped(body)
        is_unknown = body.reason not in REASONS
        # vscode-bash-debug 0.3.9 calls each stop a `break`.
        if is_unknown and "break" in body.reason:
            return msgspec.structs.replace(stop, reason=StopReason.BREAKPOINT)
        return stop

    async def evaluate_expression(
        self,
        connection: AdapterConnection,
        /,
        expression: str,
        frame: Frame | None,
        purpose: EvaluationPurpose,
    ) -> Variable | None:
        """Evaluate a name; of an adapter that evaluates nothing it is read among the variables."""
        if frame is None or purpose is EvaluationPurpose.RAW or not expression.isidentifier():
            return None
        arguments = ask.EvaluateArguments(expression, "watch", frame.handle)
        try:
            body = await connection.send_request(
                "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
            )
            return dap_convert.to_evaluated(expression, body)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
        for scope in await connection.read_scopes(frame):
            found = await connection.fetch_variables(scope.handle, start=None, count=None)
            for one in found:
                if one.name == expression:
                    return one
        return None

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Fill in the section's arguments of the `attach` request."""
        attach_arguments = self._section.attach
        host, port = target.connect or (None, None)
        values = {"pid": target.pid, "host": host, "port": port, "program": target.program or ""}
        known = {key: value for key, value in values.items() if value is not None}
        # A placeholder without a value means that the section is for another kind of target.
        needed = {word for word in _find_placeholders(attach_arguments or {}) if word not in known}
        if attach_arguments is None or target.core is not None or needed:
            target_kind = (
                "a core file" if target.core else "a process" if target.pid else "a debug server"
            )
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"{self.name} is not configured to attach to {target_kind}",
                hint=f"[adapters.{self.name}] attach in the configuration has the arguments",
            )
        return {**_fill_placeholders(dict(attach_arguments), known), "request": "attach"}


def command_words(
    command: Sequence[str], found: AdapterLocation, launch: LaunchTarget | None, port: int
) -> list[str]:
    """Return the command for a program; its first word is the adapter's path."""
    values: dict[str, Any] = {"port": port, "host": "127.0.0.1"}
    if launch is not None:
        values |= _list_launch_values(launch)
    # `find_installation` put the user's `args` behind the command's words.
    extra_arguments = found.argv[len(command) :]
    filled = [str(part) for word in command[1:] for part in _fill_list(word, values)]
    return [found.argv[0], *extra_arguments, *filled]


def _list_launch_values(launch: LaunchTarget) -> dict[str, Any]:
    return {
        "program": launch.program or "",
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": dict(launch.env),
        "stop_on_entry": launch.stop_on_entry,
    }


def _fill_placeholders(value: Any, values: Mapping[str, Any]) -> Any:
    """Fill in placeholders: a text that is one placeholder becomes the value as it is."""
    if isinstance(value, Mapping):
        return {key: _fill_placeholders(inner, values) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [part for inner in value for part in _fill_list(inner, values)]
    return _fill_text(value, values) if isinstance(value, str) else value


def _fill_list(value: Any, values: Mapping[str, Any]) -> list[Any]:
    filled = _fill_placeholders(value, values)
    # Arguments stay separate words; within a longer text they would have to be quoted.
    return list(filled) if value == "{args}" else [filled]


def _fill_text(text: str, values: Mapping[str, Any]) -> Any:
    # As it is: a number, a list or a table, not its text.
    full_match = _PLACEHOLDER.fullmatch(text)
    if full_match and full_match[1] in values:
        return values[full_match[1]]
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), text)


def _find_placeholders(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return {word for inner in value.values() for word in _find_placeholders(inner)}
    if isinstance(value, list | tuple):
        return {word for inner in value for word in _find_placeholders(inner)}
    return set(_PLACEHOLDER.findall(value)) if isinstance(value, str) else set()


def _uses_placeholders(value: Any, names: Iterable[str]) -> bool:
    return not _find_placeholders(value).isdisjoint(names)


def _check_section(name: str, section: AdapterSection) -> None:
    problem = next(_section_problems(section), None)
    if problem is not None:
        raise DebuggerError(
            ErrorCode.USAGE, f"[adapters.{name}]: {problem}", hint="debugger config --path"
        )


def _section_problems(section: AdapterSection) -> Iterator[str]:
    every = [section.command, section.launch, section.attach or {}, section.connect or ""]
    # The first problem is reported; each names what would be right.
    for word in sorted(_find_placeholders(every) - set(PLACEHOLDERS)):
        near = near_names(word, PLACEHOLDERS)
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        suggestion = f"did you mean {{{near[0]}}}?" if near else f"there are: {known}"
        yield f"no placeholder {{{word}}}; {suggestion}"
    for word in sorted(_find_placeholders(section.command) - _IN_COMMANDS):
        yield f"{{{word}}} is not known when the command is run; it is for launch and attach"
    # It is looked up on the PATH before any value is known.
    if "{" in section.command[0]:
        yield "the command's first word is what is run, and no placeholder"
    if not section.languages and not section.extensions:
        yield "it needs languages or extensions, to know which programs are for it"
    yield from _find_transport_problems(section)


def _find_transport_problems(section: AdapterSection) -> Iterator[str]:
    has_port = section.listens is not None or section.connect is not None
    if section.transport == "tcp" and not has_port:
        yield "transport tcp needs listens (it tells its port) or connect (HOST:{port})"
    if section.transport == "stdio" and has_port:
        yield 'listens and connect are for transport = "tcp"'
    if section.transport == "stdio" and _uses_placeholders(section.command, {"program"}):
        yield "a command with {program} is the program itself: that needs transport tcp"
    if section.connect is not None and not _ADDRESS.fullmatch(section.connect):
        yield f"connect is HOST:{{port}}, not {section.connect!r}"
    if section.listens is not None:
        try:
            groups = re.compile(section.listens).groupindex
        except re.error as error:
            yield f"listens is no regular expression: {error}"
        else:
            if "port" not in groups:
                yield "listens needs a group named port: (?P<port>[0-9]+)"
