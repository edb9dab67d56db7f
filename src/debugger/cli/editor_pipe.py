"""Connects an editor with the daemon: copies bytes both ways, over stdio or a local port."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from debugger.cli.editor_configurations import EDITORS, editor_configuration
from debugger.daemon import protocol, transport
from debugger.errors import DebuggerError, ErrorCode

Connect = Callable[[], transport.DaemonConnection]

_ANSWER_S = 10.0  # seconds for the daemon to take the conversation
_LAST_S = 10.0  # seconds for the daemon's last words, after the editor has gone
_CHUNK = 1 << 16
_EDITORS_MAX = 20  # at a time, on one port
_OPTIONS: Final = ("--listen", "--print")
_ESTABLISHED = "01"  # in /proc/net/tcp (Linux, Documentation/networking/proc_net_tcp.rst)


def run_door(argv: Sequence[str], connect: Connect, request: Mapping[str, Any]) -> int:
    """Serve an editor on stdio, or editors on a port, or print a configuration.

    Raises:
        DebuggerError: USAGE, and what the daemon answers.
    """
    options = _read_options(argv)
    if (editor := options.get("--print")) is not None:
        sys.stdout.write(editor_configuration(editor))
        return 0
    if (address := options.get("--listen")) is not None:
        return _listen(address, connect, request)
    with (
        _open_conversation(connect, request) as daemon,
        # An editor that has finished may send SIGINT (nvim-dap does): that is no failure.
        suppress(KeyboardInterrupt),
        report_signals() as signals,
    ):
        copy_both_ways(0, 1, daemon, signals)
    return 0


@contextmanager
def report_signals() -> Iterator[int]:
    """Return a descriptor that can be read once a signal has come.

    Python runs a handler between two of its instructions: one whose signal came between the last
    of them and the beginning of a wait would run only after that wait.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


def read_options(
    argv: Sequence[str], command: str, *, taken: Collection[str], ignored: Collection[str]
) -> dict[str, str]:
    """Return the values of a door's options by name; `ignored` words are the command's own.

    Raises:
        DebuggerError: USAGE for any other word.
    """
    found: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        name, has_value, value = word.partition("=")
        if name in taken:
            found[name] = value if has_value else next(words, "")
        elif word not in ignored:
            raise DebuggerError(
                ErrorCode.USAGE, f"{command} takes no {word!r}", hint=f"debugger {command} --help"
            )
    return found


def _read_options(argv: Sequence[str]) -> dict[str, str]:
    found = read_options(argv, "dap", taken=(*_OPTIONS, "--session"), ignored={"dap"})
    found.pop("--session", None)  # the request names the session
    if found.get("--print", "vscode") not in EDITORS:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no configuration for {found['--print']!r}; there are {', '.join(EDITORS)}",
            hint="debugger dap --print vscode",
        )
    return found


def _open_conversation(connect: Connect, request: Mapping[str, Any]) -> socket.socket:
    """Ask the daemon for a conversation; return the socket on which it is held."""
    connection = connect()
    connection.send_line(protocol.encode_message(request))
    raw = connection.receive_line(_ANSWER_S)
    if raw is None:
        raise DebuggerError(
            ErrorCode.TIMEOUT, "the daemon hung up", hint="debugger daemon logs shows why"
        )
    answer = protocol.decode_message(raw)
    if not answer.get("success"):
        error = answer.get("error") or {}
        raise DebuggerError(ErrorCode.PROTOCOL, str(error.get("message")), hint=error.get("hint"))
    daemon = socket.socket(fileno=connection.detach_socket())
    daemon.settimeout(None)
    return daemon


def copy_both_ways(
    source: int, target: int, daemon: socket.socket, signals: int | None = None
) -> None:
    """Copy until the daemon has said its last word, nobody listens any more, or a signal came."""
    always = [daemon.fileno(), *([signals] if signals is not None else [])]
    is_open, wait_s = True, None
    while True:
        watched = [*always, *([source] if is_open else [])]
        ready, _, _ = select.select(watched, [], [], wait_s)
        if not ready or signals in ready:
            return
        if source in ready and is_open:
            chunk = os.read(source, _CHUNK)
            if chunk:
                daemon.sendall(chunk)
            else:
                is_open, wait_s = False, _LAST_S
                daemon.shutdown(socket.SHUT_WR)
        if daemon.fileno() in ready:
            chunk = daemon.recv(_CHUNK)
            if not chunk or not _write_all(target, chunk):
                return


def _write_all(target: int, data: bytes) -> bool:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(target, view) :]
    except OSError:  # the editor has gone
        return False
    return True


def _listen(address: str, connect: Connect, request: Mapping[str, Any]) -> int:
    host, _, port = address.rpartition(":")
    if host not in {"127.0.0.1", "localhost"} or not port.isdecimal():
        raise DebuggerError(
            ErrorCode.USAGE,
            f"dap listens on this machine only, not at {address!r}",
            hint="debugger dap --listen 127.0.0.1:4711",
        )
    with socket.create_server(("127.0.0.1", int(port)), backlog=_EDITORS_MAX) as server:
        sys.stderr.write(f"listening at 127.0.0.1:{server.getsockname()[1]}\n")
        sys.stderr.flush()
        places = threading.BoundedSemaphore(_EDITORS_MAX)
        while True:
            editor, peer = server.accept()
            if not is_own_connection(peer[1], server.getsockname()[1]):
                sys.stderr.write("refused a connection of another user\n")
                editor.close()
                continue
            places.acquire()
            worker = threading.Thread(
                target=_serve_connection, args=(editor, connect, request, places), daemon=True
            )
            worker.start()


def _serve_connection(
    editor: socket.socket,
    connect: Connect,
    request: Mapping[str, Any],
    places: threading.BoundedSemaphore,
) -> None:
    try:
        with editor, _open_conversation(connect, request) as daemon:
            editor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            copy_both_ways(editor.fileno(), editor.fileno(), daemon)
    except (DebuggerError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
    finally:
        places.release()


def is_own_connection(port: int, server_port: int) -> bool:
    """Return whether a connection comes from a process of our user; True where nobody can say."""
    try:
        rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    except OSError:
        return True
    for row in rows:
        fields = row.split()
        local, remote, state, user = fields[1], fields[2], fields[3], fields[7]
        ports = (int(local.rpartition(":")[2], 16), int(remote.rpartition(":")[2], 16))
        if ports == (port, server_port) and state == _ESTABLISHED:
            return int(user) == os.getuid()
    return False
