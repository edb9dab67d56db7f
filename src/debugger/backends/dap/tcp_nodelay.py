"""Sets TCP_NODELAY on a debuggee's connection to its adapter.

Node's inspector writes an answer and its events apart, so that Nagle's algorithm and the other
side's delayed ACK cost 44 ms a request (Node 20.20). The other side is a program of the adapter's;
but the option belongs to the socket, not to the process, and we may borrow a socket (pidfd_getfd)
from a process that we may trace: one below the guard, or one of our own user.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

_PIDFD_GETFD = 438  # the same number on every architecture; since Linux 5.6


def disable_nagle(pid: int) -> int:
    """Set TCP_NODELAY on a process's local TCP connections; return their number.

    Where the system does not permit that, the connections only stay slower.
    """
    if not sys.platform.startswith("linux"):
        return 0
    changed = 0
    with suppress(OSError, ValueError):
        process = os.pidfd_open(pid)
        try:
            for link in Path(f"/proc/{pid}/fd").iterdir():
                changed += _set_nodelay(process, link)
        finally:
            os.close(process)
    return changed


def _set_nodelay(process: int, link: Path) -> bool:
    with suppress(OSError):
        if not str(link.readlink()).startswith("socket:"):
            return False
        descriptor = ctypes.CDLL(None).syscall(_PIDFD_GETFD, process, int(link.name), 0)
        if descriptor < 0:
            return False
        with socket.socket(fileno=descriptor) as target_socket:
            is_tcp = (
                target_socket.family == socket.AF_INET and target_socket.type == socket.SOCK_STREAM
            )
            if is_tcp and target_socket.getpeername()[0].startswith("127."):
                target_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return True
    return False
