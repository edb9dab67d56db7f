"""What the user has configured: config.toml as typed values, with the defaults."""

from __future__ import annotations

import difflib
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from debugger.errors import DebuggerError, ErrorCode

_FILE_MAX = 1 << 20


class DefaultSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is taken where a command does not say."""

    adapter: str | None = None
    backend: str | None = None


class SuiteSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What `doctor --suite` runs with an adapter of the user's own."""

    program: str = ""
    args: tuple[str, ...] = ()
    at: str = ""
    expression: str = ""
    condition: str = ""
    raises: tuple[str, ...] = ()


class AdapterSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where an adapter is, and what to start it with; one of the user's own has a `command`."""

    path: str | None = None
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    transport: Literal["stdio", "tcp"] = "stdio"
    listens: str | None = None
    connect: str | None = None
    languages: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    request: Literal["launch", "attach"] = "launch"
    launch: dict[str, Any] = {}
    attach: dict[str, Any] | None = None
    stops_first: bool = False
    assigns_by_expression: bool = False
    own_output: str | None = None
    suite: SuiteSettings | None = None


_PROGRAM = {"program": "{program}", "args": "{args}", "cwd": "{cwd}", "env": "{env}"}
# The sections of adapters that were tried whole (docs/adapters-config.md). One is part of the
# configuration if its program is on the PATH, and completes a section without a command.
KNOWN_ADAPTERS: Mapping[str, AdapterSettings] = {
    "netcoredbg": AdapterSettings(
        command=("netcoredbg", "--interpreter=vscode"),
        languages=("dotnet",),
        extensions=(".dll",),
        launch=_PROGRAM | {"stopAtEntry": "{stop_on_entry}"},
        attach={"processId": "{pid}"},
    ),
    "bash-dap": AdapterSettings(
        command=("bash-dap",),
        languages=("bash",),
        extensions=(".sh",),
        launch=_PROGRAM | {"stopOnEntry": "{stop_on_entry}"},
    ),
}


class TimeoutSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How long to wait, in seconds."""

    dap_initialize_secs: float = 10
    dap_request_secs: float = 30
    await_default_secs: float = 300


class DaemonSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How long the daemon stays without a session, and what it logs of the adapters' messages."""

    idle_timeout_minutes: float = 30
    log_dap: bool = False


class OutputSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How much is kept of what happened."""

    max_events: int = 10_000
    max_bytes_mb: float = 10
    max_traced: int = 1_000_000
    max_traced_mb: float = 100


class SecuritySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What the daemon refuses: raw debugger commands, and those that start a shell."""

    raw: Literal["allow", "deny"] = "allow"
    shell: Literal["allow", "deny"] = "deny"


class SourceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the folders are here that programs were built in, by what they were called there."""

    map: dict[str, str] = {}


class HostSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The commands that reach other machines, and how long sessions there outlive a connection."""

    ssh: str = "ssh"
    container: str | None = None  # docker, else podman
    kubectl: str = "kubectl"
    keep_secs: float = 300


class SimulatorSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Which simulator, and which app on it, is attached to where a tool's call does not say."""

    id: str | None = None
    name: str | None = None
    bundle_id: str | None = None


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole configuration."""

    defaults: DefaultSettings = DefaultSettings()
    adapters: dict[str, AdapterSettings] = {}
    timeouts: TimeoutSettings = TimeoutSettings()
    daemon: DaemonSettings = DaemonSettings()
    output: OutputSettings = OutputSettings()
    security: SecuritySettings = SecuritySettings()
    sources: SourceSettings = SourceSettings()
    simulator: SimulatorSettings = SimulatorSettings()
    hosts: HostSettings = HostSettings()


def config_path(env: Mapping[str, str]) -> Path:
    """Return the configuration's path: $DEBUGGER_CONFIG, else in $XDG_CONFIG_HOME or ~/.config."""
    own = env.get("DEBUGGER_CONFIG")
    if own:
        return _make_path(own)
    home = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME", "/"), ".config")
    return _make_path(os.path.join(home, "debugger-cli", "config.toml"))


@lru_cache(maxsize=4)  # as _parse_config
def _make_path(text: str) -> Path:
    return Path(text)


def load_config(env: Mapping[str, str], *, finds_adapters: bool = True) -> Config:
    """Read the configuration; without a file, the defaults.

    Without `finds_adapters` the known adapters are those that were last found on this PATH: a
    command on a program that has been started needs no other.

    Raises:
        DebuggerError: USAGE for a file that cannot be read, is no TOML, has an unknown key (named,
            with the nearest known one) or a bad value.
    """
    if finds_adapters:
        _list_adapters_on_path.cache_clear()
        _parse_config.cache_clear()
    file = config_path(env)
    try:
        content = _read_file(file)
    except FileNotFoundError:
        content = b""
    except (OSError, ValueError) as error:  # ValueError: a path that can be none
        raise _config_error(file, str(error)) from error
    return _parse_config(file, content, env.get("PATH", ""))


@lru_cache(maxsize=4)  # each command reads the file, which is nearly always as it was
def _parse_config(file: Path, content: bytes, path: str) -> Config:
    """Parse the configuration, and complete it with the known adapters on the PATH."""
    try:
        values = tomllib.loads(content.decode())
    # ValueError: no UTF-8, no TOML, a number of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise _config_error(file, str(error)) from error
    unknown = next(_unknown_names(values, Config, ""), None)
    if unknown is not None:
        key, known = unknown
        near = difflib.get_close_matches(key.rpartition(".")[2], known, n=1, cutoff=0.5)
        suggestion = f"; did you mean {near[0]!r}?" if near else f"; known are: {', '.join(known)}"
        raise _config_error(file, f"unknown key {key!r}{suggestion}")
    try:
        config = msgspec.convert(values, Config)
    except msgspec.ValidationError as error:
        raise _config_error(file, str(error)) from error
    _check_ranges(file, config)
    return with_known_adapters(config, {"PATH": path})


def with_known_adapters(config: Config, env: Mapping[str, str]) -> Config:
    """Add the known adapters that are there, and complete the sections of known names."""
    adapters = dict(config.adapters)
    there = _list_adapters_on_path(env.get("PATH", ""))
    for name, known in KNOWN_ADAPTERS.items():
        own = adapters.get(name)
        if own is not None and not own.command:
            adapters[name] = structs.replace(known, path=own.path, args=own.args, suite=own.suite)
        elif own is None and name in there:
            adapters[name] = known
    return structs.replace(config, adapters=adapters)


@lru_cache(maxsize=4)
def _list_adapters_on_path(path: str) -> frozenset[str]:
    return frozenset(
        name
        for name, known in KNOWN_ADAPTERS.items()
        if shutil.which(known.command[0], path=path) is not None
    )


def _read_file(file: Path) -> bytes:
    # Never waiting: a FIFO without a writer is as good as empty.
    with open(file, "rb", opener=lambda name, how: os.open(name, how | os.O_NONBLOCK)) as opened:
        content = opened.read(_FILE_MAX + 1) or b""
    if len(content) > _FILE_MAX:
        raise _config_error(file, f"is over {_FILE_MAX} bytes")
    return content


def _check_ranges(file: Path, config: Config) -> None:
    numbers = {
        **{f"timeouts.{k}": v for k, v in msgspec.structs.asdict(config.timeouts).items()},
        "daemon.idle_timeout_minutes": config.daemon.idle_timeout_minutes,
        "output.max_events": config.output.max_events,
        "output.max_bytes_mb": config.output.max_bytes_mb,
        "output.max_traced": config.output.max_traced,
        "hosts.keep_secs": config.hosts.keep_secs,
        "output.max_traced_mb": config.output.max_traced_mb,
    }
    for key, value in numbers.items():
        if not 0 < value < 1e9:  # noqa: PLR2004 - far beyond any use
            raise _config_error(file, f"{key} must be above 0 and below 1,000,000,000: {value}")


def _config_error(file: Path, problem: str) -> DebuggerError:
    return DebuggerError(ErrorCode.USAGE, f"{file}: {problem}", hint="debugger config --path")


def _unknown_names(
    values: Mapping[str, Any], kind: type[Struct], prefix: str
) -> Iterator[tuple[str, list[str]]]:
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in values.items():
        if key not in fields:
            yield prefix + key, list(fields)
        elif key == "adapters" and isinstance(value, dict):
            for name, adapter in value.items():
                if isinstance(adapter, dict):
                    yield from _unknown_names(adapter, AdapterSettings, f"adapters.{name}.")
        elif isinstance(value, dict) and _is_section(fields[key]):
            yield from _unknown_names(value, fields[key], f"{key}.")


def _adapter_settings(adapter: AdapterSettings) -> Iterator[tuple[str, Any]]:
    """Yield what is said of an adapter; where it is, and its arguments, always."""
    defaults = msgspec.structs.asdict(AdapterSettings())
    for key, value in msgspec.structs.asdict(adapter).items():
        if key in {"path", "args"} or value != defaults[key]:
            yield key, list(value) if isinstance(value, tuple) else value


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def flatten_config(config: Config) -> Iterator[tuple[str, Any]]:
    """Yield every setting as (`timeouts.dap_request_secs`, value)."""
    for section in msgspec.structs.fields(Config):
        part = getattr(config, section.name)
        if isinstance(part, Struct):
            for key, value in msgspec.structs.asdict(part).items():
                yield f"{section.name}.{key}", value
        else:
            for name, adapter in part.items():
                for key, value in _adapter_settings(adapter):
                    yield f"adapters.{name}.{key}", value
