"""Where may the server listen: this machine's own addresses, and no other."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final

from debugger.errors import DebuggerError, ErrorCode

PATH: Final = "/mcp"
HINT: Final = "debugger mcp --http 127.0.0.1:0"
_PORT_MAX = 65535


@dataclass(frozen=True)
class ListenAddress:
    """Where to listen: a loopback address, and a port of which 0 means any."""

    host: str
    port: int

    @property
    def name(self) -> str:
        """The host as a URL has it."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def url(self) -> str:
        """Where a client posts."""
        return f"http://{self.name}:{self.port}{PATH}"

    @property
    def names(self) -> tuple[str, ...]:
        """What a client may call it: this, and what else means this machine."""
        hosts = {self.name, "localhost", "127.0.0.1", "[::1]"}
        return tuple(f"{host}:{self.port}" for host in sorted(hosts))


def parse_listen_address(given: str) -> ListenAddress:
    """Read HOST:PORT.

    Raises:
        DebuggerError: USAGE for what is none, or is not this machine alone.
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
