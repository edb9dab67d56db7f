"""Reads where the Xdebug of a running PHP process connects to, and when."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from debugger.errors import DebuggerError, ErrorCode
from debugger.system import process_info as processes

_PHP_S = 10.0  # seconds for PHP to print its settings
_LINE = re.compile(r"^xdebug\.(?P<name>\w+) => (?P<value>.*?) => ", re.MULTILINE)
_HOSTS = {"", "localhost", "127.0.0.1", "::1"}
_START = "php -d xdebug.mode=debug -d xdebug.start_with_request=yes -S localhost:8000"
_VARIABLES = ("XDEBUG_MODE", "XDEBUG_CONFIG", "PHP_INI_SCAN_DIR", "PHPRC", "PATH")


@dataclass(frozen=True)
class XdebugSettings:
    """The settings of a process; `starts` is when a request connects: yes, trigger, default, no."""

    mode: str
    host: str
    port: int
    starts: str

    @property
    def debugs(self) -> bool:
        """Whether Xdebug debugs at all."""
        return "debug" in self.mode.split(",")


def find_listen_address(pid: int) -> tuple[tuple[str, int], str]:
    """Return where the requests of a process connect to, and which of them do, in words.

    Raises:
        DebuggerError: NOT_SUPPORTED, as in `read_settings`.
    """
    settings = read_settings(pid)
    which = "each request" if settings.starts == "yes" else "a request with XDEBUG_TRIGGER"
    unless = "" if settings.debugs else ", if xdebug.mode is debug there, which cannot be seen"
    return ("localhost", settings.port), f"{which} is debugged, from the next one on{unless}"


def read_settings(pid: int) -> XdebugSettings:
    """Read the settings of a process that serves requests.

    Raises:
        DebuggerError: NOT_SUPPORTED where its requests do not connect to a debugger here.
    """
    process = processes.look_at(pid)
    words = process.words if process is not None else ()
    if process is None or not _serves_requests(process):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "xdebug cannot enter a PHP script that runs: it connects where a script begins",
            hint="debugger start SCRIPT.php",
        )
    environment = processes.read_environment(pid, _VARIABLES)
    found = parse_settings(_print_settings(process.exe, words, environment))
    settings = apply_variables(found, environment)
    # FPM writes over its command line, and its pools have settings of their own.
    if not settings.debugs and not process.program_name.startswith("php-fpm"):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"process {pid} has no Xdebug that debugs: its mode is {settings.mode or 'off'}",
            hint=f"start it so: {_START}",
        )
    if settings.starts == "no" or settings.host not in _HOSTS:
        where = "nowhere" if settings.starts == "no" else f"to {settings.host}:{settings.port}"
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"the Xdebug of process {pid} connects {where}",
            hint=f"debugger attach --connect 0.0.0.0:{settings.port} --adapter xdebug; or {_START}",
        )
    return settings


def _serves_requests(process: processes.ProcessInfo) -> bool:
    return "-S" in process.words or process.program_name.startswith(("php-fpm", "php-cgi"))


def _print_settings(exe: str, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Let the same PHP, with the same options, print its settings."""
    options: list[str] = []
    for at, word in enumerate(words[:-1]):
        if word in {"-d", "-c"}:
            options += [word, words[at + 1]]
    options += [word for word in words if word == "-n" or re.match(r"-d.", word)]
    try:
        done = subprocess.run(
            [exe, *options, "-i"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PHP_S,
            check=False,
            env={"PATH": os.defpath, **environment},
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def parse_settings(printed: str) -> XdebugSettings:
    """Parse what `php -i` prints."""
    found = {match["name"]: match["value"] for match in _LINE.finditer(printed)}
    port = found.get("client_port", "")
    return XdebugSettings(
        mode=found.get("mode", "").replace("no value", ""),
        host=found.get("client_host", ""),
        port=int(port) if port.isdigit() else 9003,
        starts=found.get("start_with_request", "default"),
    )


def apply_variables(settings: XdebugSettings, environment: Mapping[str, str]) -> XdebugSettings:
    """Apply the environment, which has priority (XDEBUG_MODE, XDEBUG_CONFIG)."""
    given = dict(
        part.split("=", 1) for part in environment.get("XDEBUG_CONFIG", "").split() if "=" in part
    )
    port = given.get("client_port", "")
    return XdebugSettings(
        mode=environment.get("XDEBUG_MODE", settings.mode),
        host=given.get("client_host", settings.host),
        port=int(port) if port.isdigit() else settings.port,
        starts=given.get("start_with_request", settings.starts),
    )
