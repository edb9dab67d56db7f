"""Describes Xdebug, for PHP programs. Facts are of Xdebug 3.2 with PHP 8.2."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from debugger.backends import abilities
from debugger.backends.adapters.agent_adapter import AgentAdapter
from debugger.backends.adapters.xdebug import php_settings
from debugger.backends.adapters.xdebug.dbgp_link import DbgpLink
from debugger.backends.base import (
    AttachTarget,
    LaunchTarget,
)
from debugger.backends.dap.debug_adapter import (
    AdapterLocation,
    AdapterSearch,
    AdapterServer,
    StreamFiles,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import DebuggerTraits, ForkFollowing, Runtime

# The address of the built-in server, for a program that is its router: `php -S`.
SERVER_VARIABLE = "DEBUGGER_PHP_SERVER"
_VAGUE = "PHP cannot evaluate it: a syntax error"
_PHP_S = 10.0  # seconds for PHP to say whether it has Xdebug
_KNOWN_S = 60.0  # seconds; PHP takes longer to say it than a short script to run
_INI_VARIABLES = ("PHPRC", "PHP_INI_SCAN_DIR")
_ASKS = "exit(version_compare((string) phpversion('xdebug'), '3.0', '>=') ? 0 : 1);"


def _program_words(found: AdapterLocation, launch: LaunchTarget | None, port: int) -> list[str]:
    del port
    assert launch is not None
    assert launch.program is not None
    address = launch.env.get(SERVER_VARIABLE)
    server = ["-S", address] if address else []
    return [*found.argv, *server, launch.program, *launch.args]


def _link_options(path: str) -> list[str]:
    settings = {
        "mode": "debug",
        "start_with_request": "yes",
        "client_host": f"unix://{path}",
        "connect_timeout_ms": "2000",
        "log_level": "0",
    }
    return [word for key, value in settings.items() for word in ("-d", f"xdebug.{key}={value}")]


def _link_environment(env: Mapping[str, str], path: str) -> Mapping[str, str]:
    """Return an environment by which each PHP that the program starts connects there, too.

    A built-in server's requests are debugged already, by the options of its command line.
    """
    if SERVER_VARIABLE in env:
        return env
    settings = f"client_host=unix://{path} log_level=0 {env.get('XDEBUG_CONFIG', '')}".strip()
    return {**env, "XDEBUG_MODE": "debug", "XDEBUG_CONFIG": settings, "XDEBUG_SESSION": "1"}


def _has_xdebug(php: str, env: Mapping[str, str]) -> bool:
    try:
        done = subprocess.run(
            [php, "-r", _ASKS],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PHP_S,
            env=env,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


class XdebugAdapter(AgentAdapter):
    """Xdebug, which PHP loads, by its own protocol DBGp."""

    name = "xdebug"
    languages = ("php",)
    traits = DebuggerTraits(
        own_programs=("php",),
        runtime=Runtime.PHP,
        fork_following=ForkFollowing.SOON,  # its first statements may run before Xdebug connects
        changes_breakpoints_live=True,
        return_hint="set what it returns from: debugger try '$x=3'",
    )
    install_command = "pecl install xdebug"
    missing_hint = "debugger setup xdebug --yes; for a PHP of your own: pecl install xdebug"
    server = AdapterServer(
        words=_program_words,
        is_program=True,
        open_link=DbgpLink,
        link_options=_link_options,
        link_environment=_link_environment,
        suffix=".php",
    )
    assigns_by_expression = True
    answers_ahead = True
    options_with_value = "cdzS"
    request_abilities = frozenset(
        {abilities.ExceptionAbility, abilities.RawCommandAbility, abilities.ReturnValueAbility}
    )

    def __init__(self) -> None:
        # Each PHP that has Xdebug, with the variables that choose its settings, and until when it
        # is believed.
        self._known: dict[tuple[str | None, ...], float] = {}

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the PHP that runs programs; None without PHP, or without Xdebug 3."""
        path = shutil.which(search.path or "php", path=search.env.get("PATH"))
        if path is None:
            return None
        php = str(Path(path).absolute())
        now = time.monotonic()
        one = (php, *(search.env.get(name) for name in _INI_VARIABLES))
        if now >= self._known.get(one, 0.0):
            if not _has_xdebug(php, search.env):
                return None
            self._known[one] = now + _KNOWN_S
        return AdapterLocation((php, *search.args))

    def launch_arguments(self, launch: LaunchTarget, files: StreamFiles) -> dict[str, Any]:
        """Build the arguments of the `launch` request."""
        del files  # PHP has them already
        return {
            "request": "launch",
            "program": launch.program,
            "stopOnEntry": launch.stop_on_entry,
        }

    def attach_arguments(self, target: AttachTarget) -> dict[str, Any]:
        """Build the arguments of the `attach` request."""
        if target.core is not None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "xdebug reads no core files",
                hint="debugger attach PID",
            )
        return {"request": "attach", "program": target.program, "pause": target.pause}

    def find_listen_address(self, pid: int) -> tuple[tuple[str, int], str]:
        """Return where the requests of a server connect to their debugger, and which of them."""
        return php_settings.find_listen_address(pid)

    def format_truth(self, condition: str) -> str:
        """Format a condition as an expression whose value is true or false."""
        return f"(bool)({condition})"

    def shorten_error(self, text: str) -> str:
        """Say more than Xdebug does of what cannot be evaluated."""
        return _VAGUE if text == "error evaluating code" else text
