"""Serves the debugger of another machine: carries the daemon's protocol over standard streams."""

from __future__ import annotations

import os
import platform
import re
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from debugger import __version__, paths
from debugger.cli.editor_pipe import copy_both_ways, read_options
from debugger.daemon import daemon_process, protocol, transport
from debugger.errors import DebuggerError, ErrorCode

_OPTIONS = ("--client", "--keep")
_KEEP_MAX_S = 24 * 3600.0
# A client's name becomes a folder's.
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}", re.ASCII)


def run_pipe(argv: Sequence[str], daemon: Sequence[str] | None) -> int:
    """Greet on standard output, then copy between the standard streams and a daemon's socket.

    The daemon is the client's own: its folder lies below the runtime directory, it has no session
    of anybody else, and it ends with its sessions when the client has gone for `--keep` seconds.
    """
    try:
        options = _read_options(argv)
        keep_s = _read_keep(options.get("--keep", "300"))
        connection = _connect(options.get("--client", "client"), keep_s, daemon)
    except DebuggerError as error:
        _greet({"error": {"code": error.code.value, "message": error.message, "hint": error.hint}})
        return int(error.exit_code)
    except (OSError, TimeoutError) as error:
        reason = error.strerror or str(error) or type(error).__name__
        message = f"the daemon cannot start: {reason}"
        hint = "make room in the runtime directory there, or set DEBUGGER_RUNTIME_DIR"
        _greet({"error": {"code": "DENIED", "message": message, "hint": hint}})
        return 1
    state = transport.read_state(paths.runtime_dir()) or {}
    _greet(
        {
            "version": __version__,
            "daemon": str(state.get("version", __version__)),
            "pid": state.get("pid"),
            "host": socket.gethostname(),
            "user": _user_name(),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "time": time.time(),
            "ticks": time.monotonic(),
        }
    )
    # sshd ends the session of a connection that broke; there is nothing to be said of it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with socket.socket(fileno=connection.detach_socket()) as own:
        own.settimeout(None)
        copy_both_ways(0, 1, own)
    return 0


def _connect(
    client: str, keep_s: float, daemon: Sequence[str] | None
) -> transport.DaemonConnection:
    if _CLIENT.fullmatch(client) is None:
        raise DebuggerError(
            ErrorCode.USAGE, f"not a client's name: {client!r}", hint="--client NAME"
        )
    os.environ["DEBUGGER_RUNTIME_DIR"] = _own_folder(client)
    directory = paths.runtime_dir()
    command = (*(daemon_process.DAEMON if daemon is None else daemon), "--keep", f"{keep_s:g}")
    return transport.connect_daemon(directory) or daemon_process.connect_or_start(
        directory, command, say=_write_note
    )


def _write_note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")


def _own_folder(client: str) -> str:
    above = f"{paths.runtime_dir()}/clients"
    os.makedirs(above, mode=0o700, exist_ok=True)
    return f"{above}/{client}"


def _read_options(argv: Sequence[str]) -> dict[str, str]:
    found = read_options(
        argv, "daemon connect", taken=_OPTIONS, ignored={"daemon", "connect", "--stdio"}
    )
    if "--stdio" not in argv:
        raise DebuggerError(
            ErrorCode.USAGE,
            "daemon connect is for another debugger, which calls it with --stdio",
            hint="debugger start --host user@server ./app",
        )
    return found


def _read_keep(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _KEEP_MAX_S:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--keep is 0 to {_KEEP_MAX_S:g} seconds, not {text}",
            hint="--keep 300",
        )
    return seconds


def _user_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return str(os.getuid())


def _greet(facts: Mapping[str, Any]) -> None:
    line = protocol.encode_message({"greeting": "debugger", "v": protocol.VERSION, **facts})
    sys.stdout.flush()
    os.write(1, line)
