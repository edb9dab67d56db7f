"""Listens at a local port for the servers that talk HTTP: MCP, and the page for people."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from debugger.errors import DebuggerError, ErrorCode

_BACKLOG = 128  # connections that wait to be accepted
_END_S = 1.0  # for open connections at the end; streams that clients hold open are cut


class HttpListener(uvicorn.Server):
    """A uvicorn server that leaves signals to us: uvicorn would raise each again at its end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to us."""
        yield


def build_listener(app: Any, **options: Any) -> HttpListener:
    """Return a server that writes no log of its own, and closes within a second.

    `options` are further ones of uvicorn's configuration.
    """
    return HttpListener(
        uvicorn.Config(
            app,
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=_END_S,  # type: ignore[arg-type]  # waits so long
            ws="none",
            **options,
        )
    )


def open_port(host: str, port: int, *, hint: str) -> socket.socket:
    """Return a socket that listens at an address; port 0 is a free one.

    Raises:
        DebuggerError: USAGE with `hint` if it cannot be listened on.
    """
    is_six = ":" in host
    listener = socket.socket(socket.AF_INET6 if is_six else socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port with connections in TIME_WAIT can be used again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        name = f"[{host}]" if is_six else host
        raise DebuggerError(
            ErrorCode.USAGE,
            f"cannot listen at {name}:{port}: {os.strerror(error.errno or 0)}",
            hint=hint,
        ) from error
    return listener
