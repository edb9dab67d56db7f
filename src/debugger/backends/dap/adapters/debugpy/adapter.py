"""What of debugpy's adapter is done differently here: its sockets, its launcher, its end.

Facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import os
import runpy
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_FOLDER = "debugpyFolder"
_receive = socket.socket.recv_into


def _recv_into(self: socket.socket, *args: Any, **kwargs: Any) -> int:
    """Acknowledge at once.

    pydevd writes a message's header and body apart, so that Nagle's algorithm and the delayed ACK
    cost 44 ms a request; without them it takes below 1 ms.
    """
    with suppress(OSError):
        # The flag does not last: the kernel resets it as it sees fit, tcp(7).
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    return _receive(self, *args, **kwargs)


def _use_our_launcher() -> None:
    """Run the program by our launcher: it starts faster, and tells signals from exit statuses."""
    launchers: Any = import_module("debugpy.adapter.launchers")
    folder = str(Path(str(import_module("debugpy").__file__)).parent)
    spawn: Any = launchers.spawn_debuggee

    def spawn_by_ours(
        session: Any, request: Any, _python: list[str], _launcher: str, *rest: Any
    ) -> Any:
        request.arguments[_FOLDER] = folder
        return spawn(session, request, [sys.executable, "-I", "-S"], _LAUNCHER, *rest)

    launchers.spawn_debuggee = spawn_by_ours


class _Without:
    """A module in which some functions do nothing."""

    def __init__(self, module: Any, *names: str) -> None:
        self._module = module
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return _nothing if name in self._names else getattr(self._module, name)


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _let_the_children_go_on() -> None:
    """Leave the child processes of a program alive at its end, and let new ones come.

    debugpy kills them. What is left when the session ends, the guard kills.
    """
    sessions: Any = import_module("debugpy.adapter.sessions")
    sessions.os = _Without(os, "kill")
    sessions.servers = _Without(sessions.servers, "stop_serving")


if __name__ == "__main__":
    if hasattr(socket, "TCP_QUICKACK"):
        socket.socket.recv_into = _recv_into  # type: ignore[assignment,method-assign]
    _use_our_launcher()
    _let_the_children_go_on()
    sys.argv = ["debugpy.adapter", *sys.argv[1:]]
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)
