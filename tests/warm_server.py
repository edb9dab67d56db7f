"""Starts `debugger mcp`, or another command, in tests from a process that has imported it already.

Most of a server's start is the import of the SDK. A process that has done it waits here, one for
each worker, and is forked for a client. What the client starts in its place sends its standard
streams there, passes its signals on and ends as the server does. A server's own start, and what
it does with closed streams, have tests of their own, which start it as a user does.
"""

from __future__ import annotations

import array
import json
import os
import selectors
import signal
import socket
import sys

# What only the annotations name; the client's start is to be short.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAME = "DEBUGGER_RUNTIME_DIR"
# As long as a test's directory, whose name takes its place.
NOWHERE = "/tmp/dbg-........"
_STREAMS = (0, 1, 2)
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
REQUEST_MAX = 1 << 20


def become_client(path: str, words: list[str]) -> int:
    """Have a server forked that has this process's streams, and end as it does."""
    request = json.dumps({"words": words, "env": dict(os.environ), "cwd": os.getcwd()}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_MAX)
        connection.connect(path)
        fds = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", _STREAMS))
        for number in _PASSED_ON:
            signal.signal(number, lambda passed, _: connection.send(str(int(passed)).encode()))
        connection.sendmsg([request], [fds])
        for stream in _STREAMS:
            os.close(stream)
        status = int(connection.recv(100) or b"1")
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


class WarmServers:
    """The process that is forked: its clients, and the servers that they wait for."""

    def __init__(self, path: str, name_directory: Callable[[str], object]) -> None:
        self._name_directory = name_directory
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, REQUEST_MAX)
        self._listener.bind(path)
        self._listener.listen(64)
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._clients: set[socket.socket] = set()

    def serve(self) -> None:
        """Fork servers until standard input is closed."""
        self._selector.register(0, selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                key.data()

    def _accept(self) -> None:
        client = self._listener.accept()[0]
        data, fds, _, _ = socket.recv_fds(client, REQUEST_MAX, len(_STREAMS))
        pid = os.fork()
        if not pid:
            self._become_server(json.loads(data), fds)
        for fd in fds:
            os.close(fd)
        process = os.pidfd_open(pid)
        self._clients.add(client)

        def pass_on() -> None:
            number = client.recv(100)
            if not number:  # the client was killed: its server sees the end of its input
                self._selector.unregister(client)
            else:
                signal.pidfd_send_signal(process, int(number))

        def end() -> None:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            self._selector.unregister(process)
            os.close(process)
            if client.fileno() in self._selector.get_map():
                self._selector.unregister(client)
                client.send(str(status).encode())
            self._clients.remove(client)
            client.close()

        self._selector.register(client, selectors.EVENT_READ, pass_on)
        self._selector.register(process, selectors.EVENT_READ, end)

    def _become_server(self, request: dict[str, Any], fds: list[int]) -> None:
        from debugger.cli import client

        # What is open here must not stay open there: the others' ends would not be seen.
        for one in (*self._clients, self._listener):
            one.close()
        for fd, stream in zip(fds, _STREAMS, strict=True):
            os.dup2(fd, stream)
        for fd in fds:
            os.close(fd)
        os.environ.clear()
        os.environ.update(request["env"])
        self._name_directory(request["env"][NAME])
        os.chdir(request["cwd"])
        sys.argv[1:] = request["words"]
        os._exit(client.run_process())


def find_environment_name() -> Callable[[str], object]:
    """Find where /proc/PID/environ names the directory, by which a test knows what it left."""
    import ctypes

    block = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    text = f"{NAME}={NOWHERE}".encode()
    number = 0
    while ctypes.string_at(block[number]) != text:
        number += 1
    place = block[number]
    return lambda directory: ctypes.memmove(place, f"{NAME}={directory}".encode(), len(text))


def main() -> None:
    """Become a client, or what waits for clients."""
    path, *words = sys.argv[1:]
    if path == "--clients":
        serve_clients(words[0])
        return
    if words:
        os._exit(become_client(path, words))
    # Not for the client, whose start they would be.
    import gc

    gc.disable()
    from concurrent.futures import thread

    from anyio.streams import stapled, tls

    from debugger.cli import commands
    from debugger.mcp import mcp_main

    imported = (thread, stapled, tls, mcp_main)
    commands.register_all()
    gc.freeze()
    serve(path)
    del imported


def serve_clients(path: str) -> None:
    """Wait for commands of `warm_clients`, with what most of them import."""
    import gc

    from debugger import errors
    from debugger.cli import client

    imported = (errors, client)
    gc.freeze()
    serve(path)
    del imported


def serve(path: str) -> None:
    """Fork for each client, until standard input is closed."""
    servers = WarmServers(path, find_environment_name())
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    servers.serve()


if __name__ == "__main__":
    main()
