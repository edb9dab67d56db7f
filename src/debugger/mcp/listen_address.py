"""Parses the server's listen address (loopback only), and stores its access token."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from debugger import paths
from debugger.errors import DebuggerError, ErrorCode

PATH: Final = "/mcp"
HINT: Final = "debugger mcp --http 127.0.0.1:0"
_PORT_MAX = 65535


@dataclass(frozen=True)
class ListenAddress:
    """The address to listen on: a loopback host, and a port (0 means any free one)."""

    host: str
    port: int

    @property
    def name(self) -> str:
        """The host as in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def url(self) -> str:
        """The URL for a client's POST requests."""
        return f"http://{self.name}:{self.port}{PATH}"

    @property
    def names(self) -> tuple[str, ...]:
        """The accepted Host names: this address, and this machine's other loopback names."""
        hosts = {self.name, "localhost", "127.0.0.1", "[::1]"}
        return tuple(f"{host}:{self.port}" for host in sorted(hosts))


def parse_listen_address(given: str) -> ListenAddress:
    """Parse HOST:PORT.

    Raises:
        DebuggerError: USAGE for a malformed address, or one beyond this machine.
    """
    host, colon, port = given.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal() and int(port) <= _PORT_MAX):
        raise DebuggerError(ErrorCode.USAGE, f"not HOST:PORT: {given}", hint=HINT)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if host == "localhost":
        return ListenAddress("127.0.0.1", int(port))
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback or getattr(address, "scope_id", None):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{host or 'every address'} is not this machine alone; who connects can run programs",
            hint=f"{HINT}; a tunnel (ssh -L) reaches it from elsewhere",
        )
    return ListenAddress(str(address), int(port))


VARIABLE: Final = "DEBUGGER_MCP_TOKEN"
_BYTES = 32


class AccessToken:
    """The secret of the HTTP clients: the given one, or a new one in a file."""

    def __init__(self, given: str | None) -> None:
        self._is_given = bool(given)
        self._value = given or secrets.token_urlsafe(_BYTES)

    @classmethod
    def taken_from(cls, env: MutableMapping[str, str]) -> AccessToken:
        """Take the token out of the environment, so that no target inherits it.

        Raises:
            DebuggerError: USAGE if it cannot be sent in a header.
        """
        given = env.pop(VARIABLE, "")
        if not given.isascii() or any(char.isspace() or not char.isprintable() for char in given):
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{VARIABLE} has characters that a header cannot hold",
                hint=f"unset {VARIABLE}: a new token is written to a file",
            )
        return cls(given)

    def matches_header(self, header: str | None) -> bool:
        """Tell whether an `Authorization` header has the token."""
        scheme, _, found = (header or "").partition(" ")
        is_known = hmac.compare_digest(found.strip().encode(), self._value.encode())
        return is_known and scheme.lower() == "bearer"

    @contextmanager
    def write_token_file(self, directory: str, port: int) -> Iterator[str]:
        """Write a file that only its owner can read; return a description of the location."""
        if self._is_given:
            yield f"as {VARIABLE} says"
            return
        path = f"{directory}/mcp-{port}.token"
        paths.write_private(path, f"{self._value}\n".encode())
        try:
            yield path
        finally:
            paths.remove_file(path)
