"""Runs debugpy's adapter with quick acknowledgements on its sockets.

pydevd writes a message's header and body apart, so that Nagle's algorithm and the delayed ACK cost
44 ms a request (debugpy 1.8.22); acknowledging at once brings it below 1 ms.
"""

from __future__ import annotations

import runpy
import socket
import sys
from contextlib import suppress
from typing import Any

_receive = socket.socket.recv_into


def _recv_into(self: socket.socket, *args: Any, **kwargs: Any) -> int:
    with suppress(OSError):
        # The flag does not last: the kernel resets it as it sees fit, tcp(7).
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    return _receive(self, *args, **kwargs)


if __name__ == "__main__":
    if hasattr(socket, "TCP_QUICKACK"):
        socket.socket.recv_into = _recv_into  # type: ignore[assignment,method-assign]
    sys.argv = ["debugpy.adapter", *sys.argv[1:]]
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)
