"""Connects client and daemon by a Unix socket, or by loopback TCP with a token."""

from __future__ import annotations

import os
import time

from debugger import paths
from debugger.daemon import protocol

try:
    # The C half of `socket`, enough for a client; the rest costs half of Python's own start.
    import _socket
except ImportError:
    import socket as _socket  # type: ignore[no-redef]

TYPE_CHECKING = False  # `typing` costs the client a fifth of Python's own start
if TYPE_CHECKING:
    import socket
    from typing import Any, TypeAlias

    State: TypeAlias = dict[str, Any]

CONNECT_S = 2.0
TOKEN_BYTES = 32
BACKLOG = 128

# Linux allows 107 bytes for a socket's path, macOS 103.
_PATH_BYTES = 100
_CHUNK = 1 << 16


class MessageTooLong(Exception):
    """A message exceeds the protocol's size limit."""


class DaemonConnection:
    """A client's connection to the daemon, line by line, for one caller at a time."""

    def __init__(self, sock: _socket.socket, *, timeout: float = CONNECT_S) -> None:
        self._sock = sock
        self._timeout = timeout
        self._received = bytearray()
        self._searched = 0

    def peer_pid(self) -> int | None:
        """Return the pid of the listening daemon; None if the system does not report it."""
        return _peer_credentials(self._sock)[0]

    def send_line(self, line: bytes) -> None:
        """Send a line.

        Raises:
            TimeoutError: The daemon does not read it.
        """
        self._sock.settimeout(self._timeout)
        try:
            self._sock.sendall(line)
        except TimeoutError:
            raise
        except OSError:
            # The daemon has hung up; what it said before that can still be received.
            return

    def receive_line(self, timeout: float | None = None) -> bytes | None:
        """Wait for a line; None after the daemon has disconnected.

        Args:
            timeout: Seconds; None leaves the limit to the daemon, which limits every command.

        Raises:
            TimeoutError: No line came in time.
            MessageTooLong: It is longer than a message may be.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while (end := self._received.find(b"\n", self._searched)) < 0:
            self._searched = len(self._received)
            if self._searched > protocol.MAX_BYTES:
                raise MessageTooLong
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                raise TimeoutError
            self._sock.settimeout(remaining)
            try:
                chunk = self._sock.recv(_CHUNK)
            except ConnectionError:
                return None
            if not chunk:
                return None
            self._received += chunk
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def detach_socket(self) -> int:
        """Hand the socket's descriptor to another user; nothing was received on it."""
        return self._sock.detach()

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()


def connect_daemon(directory: str) -> DaemonConnection | None:
    """Connect to the daemon of a runtime directory; None if none listens.

    Raises:
        TimeoutError: A daemon listens, and does not accept the connection within `CONNECT_S`.
        DebuggerError: The directory's path is too long for this system's sockets.
    """
    # Only a client that wants TCP, or that found no socket, pays for reading the state.
    if not wants_tcp() and (connection := _connect_unix(directory)):
        return connection
    state = read_state(directory)
    if state is None or state.get("closing"):
        return None
    if state.get("transport") == "tcp":
        return _connect_tcp(state)
    return _connect_unix(directory) if wants_tcp() else None


def listen_for_clients(directory: str, token: str) -> tuple[socket.socket, State]:
    """Listen for clients; return the socket and its entry for the state file.

    Raises:
        OSError: The address cannot be used.
        DebuggerError: The directory's path is too long for this system's sockets.
    """
    import socket  # the client does without it

    if wants_tcp():
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.bind(("127.0.0.1", 0))
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        port = listener.getsockname()[1]
        return listener, {"transport": "tcp", "port": port, "token": token}
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with _SocketAddress(directory) as address:
            listener.bind(address)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener, {"transport": "unix"}


def is_own_peer(sock: socket.socket) -> bool:
    """Return whether the peer process belongs to our user, as far as the system reports it."""
    return _peer_credentials(sock)[1] in {None, os.getuid()}


def _peer_credentials(sock: _socket.socket) -> tuple[int | None, int | None]:
    """Return pid and user of the peer; of a listener, of the process that called listen."""
    import socket
    import struct

    if sock.family != getattr(socket, "AF_UNIX", None) or not hasattr(socket, "SO_PEERCRED"):
        return None, None
    layout = struct.Struct("3i")
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, layout.size)
    pid, uid, _ = layout.unpack(credentials)
    return pid, uid


def read_state(directory: str) -> State | None:
    """Read the daemon's state file; None if there is none."""
    try:
        descriptor = os.open(f"{directory}/{paths.STATE}", os.O_RDONLY | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            return protocol.decode_message(file.read())
    except (OSError, protocol.MalformedMessage):
        return None


def write_state(directory: str, state: State) -> None:
    """Write the daemon's state file.

    Raises:
        OSError: It cannot be written.
    """
    paths.write_private(f"{directory}/{paths.STATE}", protocol.encode_message(state))


def wants_tcp() -> bool:
    """Whether to use the loopback transport: on request, or as the only one."""
    return os.environ.get("DEBUGGER_TRANSPORT") == "tcp" or not hasattr(_socket, "AF_UNIX")


def _connect_unix(directory: str) -> DaemonConnection | None:
    sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        sock.settimeout(CONNECT_S)
        with _SocketAddress(directory) as address:
            sock.connect(address)
    except (FileNotFoundError, ConnectionRefusedError):
        sock.close()
        return None
    except BlockingIOError:
        # What Linux says of a Unix socket whose queue is full.
        sock.close()
        raise TimeoutError from None
    except BaseException:
        sock.close()
        raise
    return DaemonConnection(sock)


def _connect_tcp(state: State) -> DaemonConnection | None:
    port, token, pid = state.get("port"), state.get("token"), state.get("pid")
    if not (isinstance(port, int) and isinstance(token, str) and isinstance(pid, int)):
        return None
    sock = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        # A dead daemon's port may be a stranger's by now.
        os.kill(pid, 0)
        sock.settimeout(CONNECT_S)
        sock.connect(("127.0.0.1", port))
        sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    except (ProcessLookupError, ConnectionRefusedError):
        sock.close()
        return None
    except BaseException:
        sock.close()
        raise
    connection = DaemonConnection(sock)
    connection.send_line(protocol.encode_message({"token": token}))
    return connection


class _SocketAddress:
    """The socket's address; a path that is too long goes through a directory descriptor."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._descriptor: int | None = None

    def __enter__(self) -> bytes:
        path = os.fsencode(f"{self._directory}/{paths.SOCKET}")
        if len(path) <= _PATH_BYTES:
            return path
        if not os.path.isdir("/proc/self/fd"):  # noqa: PTH112 - pathlib is slow to import
            from debugger.errors import DebuggerError, ErrorCode

            raise DebuggerError(
                ErrorCode.DENIED,
                f"the path of the daemon's socket is longer than {_PATH_BYTES} bytes",
                hint="set DEBUGGER_RUNTIME_DIR to a shorter path",
            )
        self._descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return b"/proc/self/fd/%d/%s" % (self._descriptor, os.fsencode(paths.SOCKET))

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
