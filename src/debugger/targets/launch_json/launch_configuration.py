"""Reads one configuration of an editor: ours, and those of the editors' usual types. Pure.

The types are debugpy's and pydevd's (`debugpy`, `python`), the C++ extensions' (`cppdbg`, `lldb`,
`lldb-dap`, `gdb`), Go's (`go`, `delve`) and js-debug's (`pwa-node`, `node`, `node-terminal`).
"""

from __future__ import annotations

import json
import os.path
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.launch_json.configuration_variables import find_variables

TYPES: Final = (
    *("debugpy", "python", "lldb-dap", "lldb", "cppdbg", "gdb", "go", "delve"),
    *("pwa-node", "node", "node-terminal", "debugger"),
)

# What only concerns the editor, or how it shows things.
_EDITORS_OWN = frozenset(
    {
        *("name", "type", "request", "presentation", "internalConsoleOptions", "postDebugTask"),
        *("preLaunchTask", "serverReadyAction", "debugServer", "order", "noDebug"),
        *("linux", "osx", "windows", "suppressMultipleSessionWarning"),
        *("justMyCode", "showReturnValue", "sourceLanguages", "miDebuggerArgs"),
        *("redirectOutput", "subProcess", "logToFile", "smartStep", "skipFiles", "outFiles"),
        *("resolveSourceMapLocations", "sourceMaps", "showGlobalVariables", "showLog", "trace"),
        *("hideSystemGoroutines", "MIMode", "miDebuggerPath", "setupCommands", "stopOnError"),
        *("outputCapture", "workspaceFolder", "clientOS", "debugOptions", "autoReload"),
        *("internalDebugOptions", "variablePresentation", "django", "jinja", "gevent", "purpose"),
        *("dlvToolPath", "__sessionId", "__configurationTarget", "__restart", "__workspaceFolder"),
    }
)
_TERMINALS = ("integratedTerminal", "externalTerminal", "integrated", "external")
_NODE = re.compile(r"(node(js)?[\d.]*|default)\Z")
_HINT = "debugger dap --print vscode shows a configuration"


class UnresolvedVariableError(DebuggerError):
    """A field holds a variable that only an editor knows."""

    def __init__(self, field: str, variable: str) -> None:
        super().__init__(
            ErrorCode.USAGE,
            f"{field} holds a variable that the editor did not replace: ${{{variable[:100]}}}",
            hint="write the value itself",
        )
        self.field = field
        self.variable = variable


class LaunchConfiguration(Struct, frozen=True):
    """A program to start, as an editor's configuration names it; `notes` say what is left out."""

    program: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: tuple[str, ...] = ()  # K=V
    env_file: str | None = None  # read before `env`
    # The command before the program, and before `args`: an interpreter with options of its own.
    interpreter: tuple[str, ...] = ()
    python: str | None = None
    adapter: str | None = None
    kind: str = ""  # the editor's type, which may be an adapter's name
    stdin: str | None = None
    session: str | None = None
    stop_on_entry: bool = False
    notes: tuple[str, ...] = ()


class AttachConfiguration(Struct, frozen=True):
    """A session to join, or a process, core file or debug server to attach to."""

    session: str | None = None  # None: the current one, where nothing else is named
    pid: str | None = None
    name: str | None = None
    program: str | None = None
    core: str | None = None
    connect: str | None = None
    adapter: str | None = None
    kind: str = ""
    # A person's page, which takes over and hands back, and names itself by this key.
    page_key: str | None = None
    # What it has received before, as TIMELINE:CURSOR; "0" for nothing.
    output_since: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def joins(self) -> bool:
        """Whether it names a session, or nothing at all: the current session is joined."""
        others = (self.pid, self.name, self.core, self.connect)
        return self.session is not None or not any(others)


class _Reader:
    """Reads the fields of a configuration, and remembers which it has read."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._read: set[str] = set()
        self.notes: list[str] = []

    def text(self, *names: str) -> str | None:
        """Return the first field that is there, as text; a number is text, too."""
        for name in names:
            self._read.add(name)
            value = self._given.get(name)
            if value is None or value == "":
                continue
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                raise _bad_field(name, "a text", value)
            return str(value)
        return None

    def section(self, name: str) -> Mapping[str, Any] | None:
        """Return a field that is an object; None without one."""
        self._read.add(name)
        value = self._given.get(name)
        return value if isinstance(value, dict) else None

    def is_true(self, *names: str) -> bool:
        """Return whether one of the fields is true; js-debug's `stopOnEntry` may be a text."""
        self._read |= set(names)
        return any(self._given.get(name) not in (None, False, "", "false") for name in names)

    def words(self, *names: str, is_line: bool = True) -> tuple[str, ...]:
        """Return the first field that is there, a list of words, or a text: a line, or a word."""
        for name in names:
            self._read.add(name)
            value = self._given.get(name)
            if value is None:
                continue
            if isinstance(value, str):
                try:
                    return tuple(shlex.split(value)) if is_line else (value,)
                except ValueError:
                    raise _bad_field(name, "a list of words", value) from None
            if not isinstance(value, list) or any(isinstance(one, (dict, list)) for one in value):
                raise _bad_field(name, "a list of words", value)
            return tuple(map(_plain_text, value))
        return ()

    def environment(self) -> tuple[str, ...]:
        """Return `env` or `environment`: an object, `K=V` texts, or objects of name and value."""
        found: list[str] = []
        for name in ("env", "environment"):
            self._read.add(name)
            value = self._given.get(name)
            if isinstance(value, dict):
                found += [
                    f"{key}={_plain_text(one)}" for key, one in value.items() if one is not None
                ]
            elif isinstance(value, list):
                found += [_environment_entry(name, one) for one in value]
            elif value is not None:
                raise _bad_field(name, "an object of texts", value)
        return tuple(found)

    def address(self) -> str | None:
        """Return `connect` (an object or a text), or `host` and `port`, as HOST:PORT."""
        self._read |= {"connect", "host", "port", "address", "listen"}
        self._read |= {"miDebuggerServerAddress", "gdb-remote-port", "gdb-remote-hostname"}
        if self._given.get("listen") is not None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "attach cannot listen for a program that connects",
                hint='start the program\'s debug server, and give {"connect": {"port": PORT}}',
            )
        where = self._given.get("connect") or self._given.get("miDebuggerServerAddress")
        if isinstance(where, str):
            return where
        fields = where if isinstance(where, dict) else self._given
        port = fields.get("port") or fields.get("gdb-remote-port")
        given = fields.get("host") or fields.get("address") or fields.get("gdb-remote-hostname")
        host = str(given or "127.0.0.1")
        shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"{shown}:{port}" if port is not None else None

    def note_terminal(self) -> None:
        """Note that a terminal is left out: the program has none."""
        fields = ("console", "integratedTerminal", "externalConsole", "terminal")
        self._read |= set(fields)
        values = [self._given.get(name) for name in fields]
        if any(one is True or one in _TERMINALS for one in values):
            self.notes.append("no terminal is opened; debugger input writes to the program")

    def finish(self) -> tuple[str, ...]:
        """Return the notes, with one on the fields that nobody has read.

        Raises:
            UnresolvedVariableError: A field that was read holds a variable.
        """
        for name in self._given:
            for variable in find_variables(self._given[name]) if name in self._read else ():
                raise UnresolvedVariableError(name, variable)
        unread = sorted(set(self._given) - self._read - _EDITORS_OWN)
        if unread:
            self.notes.append(f"not understood, and left out: {', '.join(unread)}")
        return tuple(self.notes)


def names_server_or_core(given: Mapping[str, Any]) -> bool:
    """Return whether a `launch` configuration of C++ means a debug server or a core file."""
    return bool(given.get("miDebuggerServerAddress") or given.get("coreDumpPath"))


def read_launch(given: Mapping[str, Any]) -> LaunchConfiguration:
    """Read the arguments of `launch`.

    Raises:
        DebuggerError: USAGE for a field of the wrong type, or a mode that is none of ours.
    """
    reader = _Reader(given)
    kind = str(given.get("type") or "")
    python = reader.words("python", "pythonPath", is_line=False)
    program = reader.text("program", "target")
    args = reader.words("args", "arguments")
    _refuse_build(reader)
    if kind == "go":
        program = _go_program(reader.text("mode"), program)
    reader.note_terminal()
    interpreter = _interpreter_words(reader, python)
    if kind == "node-terminal":
        interpreter = reader.words("command")
    return LaunchConfiguration(
        program=program,
        module=reader.text("module"),
        args=args,
        cwd=reader.text("cwd"),
        env=reader.environment(),
        env_file=reader.text("envFile"),
        interpreter=interpreter,
        python=python[0] if python else None,
        adapter=reader.text("adapter"),
        kind=kind,
        stdin=reader.text("stdin"),
        session=reader.text("session"),
        stop_on_entry=reader.is_true(
            "stopOnEntry", "stopAtEntry", "stopAtBeginningOfMainSubprogram"
        ),
        notes=reader.finish(),
    )


def read_attach(given: Mapping[str, Any]) -> AttachConfiguration:
    """Read the arguments of `attach`.

    Raises:
        DebuggerError: USAGE for a field of the wrong type; NOT_SUPPORTED for `listen`.
    """
    reader = _Reader(given)
    pid = reader.text("processId", "pid")
    reader.text("mode")  # Go's local or remote: which, the other fields say
    reader.note_terminal()
    return AttachConfiguration(
        session=reader.text("session"),
        pid=pid if pid != "0" else None,
        name=reader.text("processName", "waitForProcess"),
        program=reader.text("program"),
        core=reader.text("coreFile", "coreDumpPath", "core"),
        connect=reader.address(),
        adapter=reader.text("adapter"),
        kind=str(given.get("type") or ""),
        page_key=reader.text("pageKey"),
        output_since=reader.text("outputSince"),
        notes=reader.finish(),
    )


def _go_program(mode: str | None, program: str | None) -> str:
    # A folder with tests and no program is run as tests: `mode` says nothing that it does not.
    if mode in {None, "", "auto", "debug", "exec", "test"}:
        return program or "."
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED, f"the mode {mode!r} of Go's configuration", hint=_HINT
    )


def _plain_text(value: Any) -> str:
    """Return a value as a text; what is no text as JSON writes it: true, not True."""
    return value if isinstance(value, str) else json.dumps(value)


def _environment_entry(name: str, one: Any) -> str:
    if isinstance(one, dict) and "name" in one:
        return f"{one['name']}={_plain_text(one.get('value', ''))}"
    if isinstance(one, str) and "=" in one:
        return one
    raise _bad_field(name, "K=V texts", one)


def _interpreter_words(reader: _Reader, python: tuple[str, ...]) -> tuple[str, ...]:
    """Return the interpreter, where it has options of its own, or is none that we choose."""
    python_options = (*python[1:], *reader.words("pythonArgs"))
    if python_options:
        return (python[0] if python else "python3", *python_options)
    runtime, options = reader.text("runtimeExecutable"), reader.words("runtimeArgs")
    is_node = runtime is None or _NODE.match(os.path.basename(runtime)) is not None
    if runtime is not None and is_node and "/" in runtime:
        reader.notes.append(f"the Node of your PATH is taken, not {runtime}")
    if is_node:
        runtime = None
    return () if is_node and not options else (runtime or "node", *options)


def _refuse_build(reader: _Reader) -> None:
    """Refuse what builds a program, or has no file."""
    if reader.text("code") is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, "code without a file cannot be debugged", hint=_HINT
        )
    if (cargo := reader.section("cargo")) is not None:
        args = cargo.get("args")
        words = map(_plain_text, args) if isinstance(args, list) else ["build"]
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "cargo: nothing is built here",
            hint=f"{shlex.join(['cargo', *words])}; then debugger start target/debug/NAME",
        )


def _bad_field(name: str, kind: str, value: Any) -> DebuggerError:
    shown = repr(value)[:60]
    return DebuggerError(ErrorCode.USAGE, f"{name} is {kind}, not {shown}", hint=_HINT)
