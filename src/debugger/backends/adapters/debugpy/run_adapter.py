"""Runs debugpy's adapter with its sockets, its launcher and its end changed.

Facts are of debugpy 1.8.22.
"""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_INJECTOR = str(Path(__file__).with_name("injector.py"))
_SERVER = "debugpyServer"
AWAITED = "debugger-awaits"  # among debugpy's arguments, and the category of our answer
_COMES_S = 2.0  # the injected server has come 0.1 s after the injection
_INJECTED_S = 4.0  # until gdb has left after that, on a machine with much else to do
# Seconds after which a thread that waits for the interpreter's lock asks for it. The adapter of a
# program with 128 processes has 520 threads: asking each 5 ms, they wake mostly to wait again.
# With 0.1 s the pause of all takes 14 % less of its processor time.
_SWITCH_S = 0.1
# The original, bound before it is replaced.
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


def _connecting() -> str:
    """Return the options by which a program connects to this adapter."""
    servers: Any = import_module("debugpy.adapter.servers")
    host, port = import_module("debugpy.common.sockets").get_address(servers.listener)
    token = import_module("debugpy.adapter").access_token
    return f"--connect {host}:{port} --adapter-access-token {token}"


def _use_our_launcher() -> None:
    """Run the program by our launcher and server: they are faster, and report signals."""
    launchers: Any = import_module("debugpy.adapter.launchers")
    folder = Path(str(import_module("debugpy").__file__)).parent
    server = [str(Path(__file__).with_name("server.py")), str(folder)]
    spawn: Any = launchers.spawn_debuggee

    def spawn_by_ours(
        session: Any, request: Any, _python: list[str], _launcher: str, *rest: Any
    ) -> Any:
        # The launcher gets debugpy's own arguments: the path of our server goes along in them.
        request.arguments[_SERVER] = server
        # What the program starts by way of other programs can connect here, too.
        session.client.channel.send_event("output", {"category": AWAITED, "output": _connecting()})
        # Isolated and without `site`: 8 ms for the start of Python, and nothing of the user's is
        # imported.
        return spawn(session, request, [sys.executable, "-I", "-S"], _LAUNCHER, *rest)

    launchers.spawn_debuggee = spawn_by_ours


class _ModuleWithout:
    """A module in which some functions do nothing."""

    def __init__(self, module: Any, *names: str) -> None:
        self._module = module
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return _do_nothing if name in self._names else getattr(self._module, name)


def _do_nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _describe_nothing() -> None:
    """Log no environment: debugpy would read all installed packages for it, in 0.1 s."""
    log: Any = import_module("debugpy.common.log")
    log.describe_environment = _do_nothing


def _let_the_children_go_on() -> None:
    """Leave the child processes of a program alive at its end, and accept new ones.

    debugpy kills them. The guard kills what is left when the session ends.
    """
    sessions: Any = import_module("debugpy.adapter.sessions")
    # Only the name `os` in that one module is replaced: debugpy uses it there to kill what is left.
    sessions.os = _ModuleWithout(os, "kill")
    sessions.servers = _ModuleWithout(sessions.servers, "stop_serving")


def _take_in_the_orphans() -> None:
    """Treat a process whose parent has ended as a child of the program: a daemon's has.

    debugpy knows a child by its parent's pid, and lets one that it does not know go on alone.
    """
    sessions: Any = import_module("debugpy.adapter.sessions")
    get = sessions.get

    def get_or_launched(pid: int) -> Any:
        # A copy: sessions come and go in other threads.
        return get(pid) or next(filter(_has_launched, tuple(sessions._sessions)), None)  # noqa: SLF001 - it is all there is

    sessions.get = get_or_launched


def _report_children_of_attached() -> None:
    """Report the child processes of a process that was attached to by its pid, too.

    debugpy has them connect, and then keeps silent about them.
    """
    clients: Any = import_module("debugpy.adapter.clients")
    notify = clients.Client.notify_of_subprocess

    def notify_of_any(client: Any, connection: Any) -> None:
        request = client.start_request
        if request is not None:
            # They are the child's configuration from here on.
            for name in ("processId", "debugpyArgs"):
                request.arguments.pop(name, None)
        notify(client, connection)

    clients.Client.notify_of_subprocess = notify_of_any


def _end_one_session_alone() -> None:
    """Close the channel on which a message could not be handled, and go on with the others.

    debugpy ends its process then. It does so where a child has ended, and its client has gone
    before the refusal of a request could be sent; all other processes lose their debugger by it.
    """
    messaging: Any = import_module("debugpy.common.messaging")
    # Only in that module, which closes the channel before.
    messaging.os = _ModuleWithout(os, "_exit")


def _has_launched(session: Any) -> bool:
    return bool(session.launcher and session.server and session.client)


class _NotingSubprocess:
    """Stands in for the module `subprocess`, and runs our injector in the place of debugpy.

    The process that was started last is stored in `last`.
    """

    def __init__(self) -> None:
        self.last: subprocess.Popen[bytes] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, words: list[str], **options: Any) -> subprocess.Popen[bytes]:  # noqa: N802 - its name
        self.last = subprocess.Popen([words[0], _INJECTOR, *words[1:]], **options)
        return self.last


def _leave_after_injection(noting: _NotingSubprocess) -> None:
    """Make a session wait until gdb, which injects the debug server, has left the process.

    The server comes while gdb still holds the process. When gdb is ended there, with the session,
    the process comes to the breakpoint that gdb leaves behind, and dies of it.
    """
    sessions: Any = import_module("debugpy.adapter.sessions")
    finalize = sessions.Session.finalize

    def finalize_and_wait(session: Any, *words: Any, **options: Any) -> None:
        finalize(session, *words, **options)
        if noting.last is not None:
            # Bounded: gdb may hang in a process that is held by another debugger.
            with suppress(subprocess.TimeoutExpired):
                noting.last.wait(_INJECTED_S)

    sessions.Session.finalize = finalize_and_wait


def _inject_again() -> _NotingSubprocess:
    """Inject the debug server once more where it was injected and does not come.

    While the server of an attach before is still going away, pydevd takes itself for connected.

    Returns: the stand-in for `subprocess`, which knows the injector's process.
    """
    servers: Any = import_module("debugpy.adapter.servers")
    noting = servers.subprocess = _NotingSubprocess()
    inject, wait = servers.inject, servers.wait_for_connection
    injected: list[tuple[Any, ...]] = []

    def inject_noting(*words: Any) -> None:
        _, options, on_output = words
        if AWAITED in options:
            # The process connects by itself: it is told where, and by which token.
            on_output(AWAITED, _connecting())
            return
        injected[:] = [words]
        inject(*words)

    def wait_again(session: Any, predicate: Any, timeout: float | None = None) -> Any:
        if not injected or not timeout:
            return wait(session, predicate, timeout)
        deadline = time.monotonic() + timeout
        while (remaining := deadline - time.monotonic()) > 0:
            # Cut into pieces, with an injection between them, within debugpy's own time limit.
            connection = wait(session, predicate, min(remaining, _COMES_S))
            if connection is not None:
                return connection
            # Only after the last injection has succeeded: two at once would need the process twice.
            if noting.last is not None and noting.last.poll() == 0:
                inject(*injected[0])
        return None

    servers.inject, servers.wait_for_connection = inject_noting, wait_again
    return noting


if __name__ == "__main__":
    # debugpy's adapter is changed in memory, and then run as it is. Each part stands in for one
    # function of debugpy 1.8.22, by the name that its callers look up:
    #
    # 1. Sockets acknowledge at once (Linux only): a request takes 0.9 ms instead of 44.
    # 2. The log of the environment is empty: 0.1 s less at the start.
    # 3. The launcher is ours: it starts faster, and tells a death by a signal from an exit status.
    # 4. At a session's end children stay alive, and the port for new ones stays open.
    # 5. A child whose parent has ended is adopted by the launched program's session.
    # 6. The children of a process that was attached to are reported, as those of a launched one.
    # 7. A message that cannot be handled ends the session of one process, and not that of all.
    # 8. An injection (attach to a pid) that brings no server is repeated, and a session ends only
    #    after gdb has left the process.
    # 9. Threads ask for the interpreter's lock later.
    #
    # All of it is done before `debugpy.adapter` runs, which imports these modules itself.
    if hasattr(socket, "TCP_QUICKACK"):
        socket.socket.recv_into = _recv_into  # type: ignore[assignment,method-assign]
    sys.setswitchinterval(_SWITCH_S)
    _describe_nothing()
    _use_our_launcher()
    _let_the_children_go_on()
    _take_in_the_orphans()
    _report_children_of_attached()
    _end_one_session_alone()
    _leave_after_injection(_inject_again())
    sys.argv = ["debugpy.adapter", *sys.argv[1:]]
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)
