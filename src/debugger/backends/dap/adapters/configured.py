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

from debugger.backends.base import Attach, Launch
from debugger.backends.dap.profile import Files, Found, Profile, Search, Serving
from debugger.core.locate import near_names
from debugger.errors import Code, DebuggerError

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


class Section(Protocol):
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


def profile(name: str, section: Section) -> Profile:
    """Build the profile of a configured adapter.

    Raises:
        DebuggerError: USAGE for an invalid section.
    """
    _check(name, section)
    is_program = _uses(section.command, {"program"})
    is_tcp = section.transport == "tcp"
    serving = None
    if is_program or section.connect is not None:
        serving = Serving(
            words=functools.partial(words, section.command),
            connect=section.connect,
            is_program=is_program,
            own_output=section.own_output,
            suffix=section.extensions[0] if section.extensions else "",
        )
    return Profile(
        name=name,
        languages=section.languages,
        extensions=section.extensions,
        install=f"put {section.command[0]} on the PATH, or its path into [adapters.{name}]",
        find=functools.partial(_find, section),
        launch=functools.partial(_launch, section),
        attach=functools.partial(_attach, name, section),
        serving=serving,
        stops_first=section.stops_first,
        assigns_by_expression=section.assigns_by_expression,
        is_server=is_tcp and is_program,
    )


def _find(section: Section, search: Search) -> Found | None:
    first, *rest = section.command
    path = search.path or shutil.which(first, path=search.env.get("PATH"))
    if path is None:
        return None
    words = (str(Path(path).absolute()), *rest, *search.args)
    return Found(words, listens=section.listens)


def words(command: Sequence[str], found: Found, launch: Launch | None, port: int) -> list[str]:
    """Return the command for a program; its first word is the adapter's path."""
    values: dict[str, Any] = {"port": port, "host": "127.0.0.1"}
    if launch is not None:
        values |= _of_launch(launch)
    more = found.argv[len(command) :]
    filled = [str(part) for word in command[1:] for part in _spliced(word, values)]
    return [found.argv[0], *more, *filled]


def _launch(section: Section, launch: Launch, files: Files) -> dict[str, Any]:
    values = _of_launch(launch) | {
        "stdin": files.stdin,
        "stdout": files.stdout,
        "stderr": files.stderr,
    }
    return {**_filled(dict(section.launch), values), "request": section.request}


def _of_launch(launch: Launch) -> dict[str, Any]:
    return {
        "program": launch.program or "",
        "args": list(launch.args),
        "cwd": launch.cwd,
        "env": dict(launch.env),
        "stop_on_entry": launch.stop_on_entry,
    }


def _attach(name: str, section: Section, target: Attach) -> dict[str, Any]:
    given = section.attach
    host, port = target.connect or (None, None)
    values = {"pid": target.pid, "host": host, "port": port, "program": target.program or ""}
    known = {key: value for key, value in values.items() if value is not None}
    needed = {word for word in _placeholders(given or {}) if word not in known}
    if given is None or target.core is not None or needed:
        what = "a core file" if target.core else "a process" if target.pid else "a debug server"
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            f"{name} is not configured to attach to {what}",
            hint=f"the configuration's [adapters.{name}] attach says what is sent for it",
        )
    return {**_filled(dict(given), known), "request": "attach"}


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """Fill in placeholders: a text that is one placeholder becomes the value as it is."""
    if isinstance(value, Mapping):
        return {key: _filled(inner, values) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [part for inner in value for part in _spliced(inner, values)]
    return _text(value, values) if isinstance(value, str) else value


def _spliced(value: Any, values: Mapping[str, Any]) -> list[Any]:
    filled = _filled(value, values)
    return list(filled) if value == "{args}" else [filled]


def _text(text: str, values: Mapping[str, Any]) -> Any:
    whole = _PLACEHOLDER.fullmatch(text)
    if whole and whole[1] in values:
        return values[whole[1]]
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), text)


def _placeholders(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return {word for inner in value.values() for word in _placeholders(inner)}
    if isinstance(value, list | tuple):
        return {word for inner in value for word in _placeholders(inner)}
    return set(_PLACEHOLDER.findall(value)) if isinstance(value, str) else set()


def _uses(value: Any, names: Iterable[str]) -> bool:
    return not _placeholders(value).isdisjoint(names)


def _check(name: str, section: Section) -> None:
    problem = next(_problems(section), None)
    if problem is not None:
        raise DebuggerError(
            Code.USAGE, f"[adapters.{name}]: {problem}", hint="debugger config --path"
        )


def _problems(section: Section) -> Iterator[str]:
    every = [section.command, section.launch, section.attach or {}, section.connect or ""]
    for word in sorted(_placeholders(every) - set(PLACEHOLDERS)):
        near = near_names(word, PLACEHOLDERS)
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        meant = f"did you mean {{{near[0]}}}?" if near else f"there are: {known}"
        yield f"no placeholder {{{word}}}; {meant}"
    for word in sorted(_placeholders(section.command) - _IN_COMMANDS):
        yield f"{{{word}}} is not known when the command is run; it is for launch and attach"
    if "{" in section.command[0]:
        yield "the command's first word is what is run, and no placeholder"
    if not section.languages and not section.extensions:
        yield "it needs languages or extensions, to know which programs are for it"
    yield from _transport_problems(section)


def _transport_problems(section: Section) -> Iterator[str]:
    is_told = section.listens is not None or section.connect is not None
    if section.transport == "tcp" and not is_told:
        yield "transport tcp needs listens (it tells its port) or connect (HOST:{port})"
    if section.transport == "stdio" and is_told:
        yield 'listens and connect are for transport = "tcp"'
    if section.transport == "stdio" and _uses(section.command, {"program"}):
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
