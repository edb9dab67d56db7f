"""Reads the arguments of `launch` and `attach`: our own, and those of the editors' usual types.

The types are debugpy's and pydevd's (`debugpy`, `python`), the C++ extensions' (`cppdbg`, `lldb`,
`lldb-dap`, `gdb`), Go's (`go`, `delve`) and js-debug's (`pwa-node`, `node`). Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode

# What only concerns the editor, or how it shows things.
_EDITORS_OWN = frozenset(
    {
        *("name", "type", "request", "presentation", "internalConsoleOptions", "postDebugTask"),
        *("preLaunchTask", "serverReadyAction", "debugServer", "order", "console", "noDebug"),
        *("integratedTerminal", "externalConsole", "justMyCode", "showReturnValue"),
        *("redirectOutput", "subProcess", "logToFile", "smartStep", "skipFiles", "outFiles"),
        *("resolveSourceMapLocations", "sourceMaps", "showGlobalVariables", "showLog", "trace"),
        *("hideSystemGoroutines", "MIMode", "miDebuggerPath", "setupCommands", "stopOnError"),
        *("outputCapture", "workspaceFolder", "clientOS", "debugOptions", "autoReload"),
        *("internalDebugOptions", "variablePresentation", "django", "jinja", "gevent", "purpose"),
        *("dlvToolPath", "__sessionId", "__configurationTarget", "__restart", "__workspaceFolder"),
    }
)
_HINT = "debugger dap --print vscode shows a configuration"


class LaunchConfiguration(Struct, frozen=True):
    """A program to start, as an editor's configuration names it; `notes` say what is left out."""

    program: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: tuple[str, ...] = ()  # K=V
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
        self._read = set(_EDITORS_OWN)
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

    def is_true(self, *names: str) -> bool:
        """Return whether one of the fields is true; js-debug's `stopOnEntry` may be a text."""
        self._read |= set(names)
        return any(self._given.get(name) not in {None, False, "", "false"} for name in names)

    def words(self, *names: str) -> tuple[str, ...]:
        """Return the first field that is there, a list of words or a command line."""
        for name in names:
            self._read.add(name)
            value = self._given.get(name)
            if value is None:
                continue
            if isinstance(value, str):
                try:
                    return tuple(shlex.split(value))
                except ValueError:
                    raise _bad_field(name, "a list of words", value) from None
            if not isinstance(value, list) or any(isinstance(one, (dict, list)) for one in value):
                raise _bad_field(name, "a list of words", value)
            return tuple(str(one) for one in value)
        return ()

    def environment(self) -> tuple[str, ...]:
        """Return `env` or `environment`: an object, `K=V` texts, or objects of name and value."""
        found: list[str] = []
        for name in ("env", "environment"):
            self._read.add(name)
            value = self._given.get(name)
            if isinstance(value, dict):
                found += [f"{key}={one}" for key, one in value.items() if one is not None]
            elif isinstance(value, list):
                found += [_environment_entry(name, one) for one in value]
            elif value is not None:
                raise _bad_field(name, "an object of texts", value)
        return tuple(found)

    def address(self) -> str | None:
        """Return `connect` (an object or a text), or `host` and `port`, as HOST:PORT."""
        self._read |= {"connect", "host", "port", "address", "listen"}
        if self._given.get("listen") is not None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "attach cannot listen for a program that connects",
                hint='start the program\'s debug server, and give {"connect": {"port": PORT}}',
            )
        where = self._given.get("connect")
        if isinstance(where, str):
            return where
        fields = where if isinstance(where, dict) else self._given
        port = fields.get("port")
        host = fields.get("host") or fields.get("address") or "127.0.0.1"
        return f"{host}:{port}" if port is not None else None

    def finish(self) -> tuple[str, ...]:
        """Return the notes, with one on the fields that nobody has read."""
        unread = sorted(set(self._given) - self._read)
        if unread:
            self.notes.append(f"not understood, and left out: {', '.join(unread)}")
        return tuple(self.notes)


def read_launch(given: Mapping[str, Any]) -> LaunchConfiguration:
    """Read the arguments of `launch`.

    Raises:
        DebuggerError: USAGE for a field of the wrong type, or a mode that is none of ours.
    """
    reader = _Reader(given)
    kind = str(given.get("type") or "")
    _refuse_unresolved(given)
    python = reader.words("python", "pythonPath")
    runtime = reader.text("runtimeExecutable")
    program = reader.text("program")
    args = reader.words("args")
    if reader.words("runtimeArgs", "pythonArgs"):
        reader.notes.append("arguments of the interpreter are left out")
    if kind == "go":
        program = _go_program(reader.text("mode"), program)
    if runtime is not None and program is None:
        program = runtime
    if reader.text("code") is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, "code without a file cannot be debugged", hint=_HINT
        )
    return LaunchConfiguration(
        program=program,
        module=reader.text("module"),
        args=args,
        cwd=reader.text("cwd"),
        env=reader.environment(),
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
    _refuse_unresolved(given)
    pid = reader.text("processId", "pid")
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


def _go_program(mode: str | None, program: str | None) -> str | None:
    # A folder with tests and no program is run as tests: `mode` says nothing that it does not.
    if mode in {None, "", "auto", "debug", "exec", "test"}:
        return program
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED, f"the mode {mode!r} of Go's configuration", hint=_HINT
    )


def _environment_entry(name: str, one: Any) -> str:
    if isinstance(one, dict) and "name" in one:
        return f"{one['name']}={one.get('value', '')}"
    if isinstance(one, str) and "=" in one:
        return one
    raise _bad_field(name, "K=V texts", one)


def _refuse_unresolved(given: Mapping[str, Any]) -> None:
    """Refuse a variable that the editor should have replaced."""
    for name, value in given.items():
        values: Sequence[Any] = value if isinstance(value, list) else [value]
        for one in values:
            if isinstance(one, str) and "${" in one and name not in _EDITORS_OWN:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    f"{name} holds a variable that the editor did not replace: {one[:100]}",
                    hint="write the path itself",
                )


def _bad_field(name: str, kind: str, value: Any) -> DebuggerError:
    shown = repr(value)[:60]
    return DebuggerError(ErrorCode.USAGE, f"{name} is {kind}, not {shown}", hint=_HINT)
