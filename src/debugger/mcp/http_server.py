"""Serves MCP over HTTP, on loopback addresses only, to clients with the access token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import logging
import secrets
import socket
import sys
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from debugger import paths
from debugger.daemon.http_listener import build_listener, open_port
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.stdio_server import MESSAGE_MAX

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
        """Return whether an `Authorization` header has the token."""
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


SESSIONS_MAX: Final = 256  # client sessions
IDLE_S: Final = 30 * 60.0  # seconds after which an idle client session is forgotten
# Requests in service: of all clients, and of one.
TOGETHER_MAX: Final = 512
OF_ONE_MAX: Final = 128  # requests of one client in service

_SESSION = "mcp-session-id"
_ANSWERS_S = 5.0  # at the end, for answers to the requests in service


class RequestGuard:
    """Accepts only requests to this machine's own names that carry the access token."""

    def __init__(self, app: ASGIApp, *, token: AccessToken, where: ListenAddress) -> None:
        self._app = app
        self._token = token
        # Against pages of a browser whose name resolves to this machine.
        self._names = TransportSecurityMiddleware(
            TransportSecuritySettings(
                allowed_hosts=[*where.names],
                allowed_origins=[f"http://{name}" for name in where.names],
            )
        )
        self._served: Counter[str] = Counter()
        self._posts = 0
        self._answered = asyncio.Event()
        # Nothing is in service yet.
        self._answered.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = await self._names.validate_request(Request(scope)) or self._refuse_request(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return
        # The session's id, which the client sends with each request after the first.
        client = Headers(scope=scope).get(_SESSION, "")
        self._served[client] += 1
        with self._count_post() if scope["method"] == "POST" else contextlib.nullcontext():
            try:
                await self._app(scope, receive, send)
            finally:
                self._served[client] -= 1
                if not self._served[client]:
                    del self._served[client]

    async def wait_answered(self) -> None:
        """Wait until the answer to each POST is sent; a stream (GET) never ends by itself."""
        await self._answered.wait()

    @contextmanager
    def _count_post(self) -> Iterator[None]:
        self._posts += 1
        self._answered.clear()
        try:
            yield
        finally:
            self._posts -= 1
            if not self._posts:
                self._answered.set()

    def _refuse_request(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._token.matches_header(headers.get("authorization")):
            return PlainTextResponse(
                "the token is missing or wrong\n", 401, {"www-authenticate": "Bearer"}
            )
        # Clients without a session cannot be told apart: for them only the bound of all holds.
        client = headers.get(_SESSION, "")
        if client and self._served[client] >= OF_ONE_MAX:
            return PlainTextResponse("too many requests at once\n", 429, {"retry-after": "1"})
        if self._served.total() >= TOGETHER_MAX:
            return PlainTextResponse("too many requests at once\n", 503, {"retry-after": "1"})
        return None


class OpenRequests:
    """The requests in service, each of which gets an answer when the server ends."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()
        self._ended = False

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Serve a request, until it is answered or the server ends."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            if self._ended:  # read from its connection before the end, and served after it
                scope.cancel()
            try:
                return await call_next(ctx)
            finally:
                self._scopes.discard(scope)
        # Only reached when the scope was cancelled.
        raise MCPError(types.CONNECTION_CLOSED, "the server was stopped")

    def answer_all(self) -> None:
        """Answer all open requests now, and each later one."""
        self._ended = True
        for scope in self._scopes:
            scope.cancel()


async def serve_http(server: Server[Any], where: ListenAddress, token: AccessToken) -> None:
    """Serve any number of clients until cancelled.

    Raises:
        DebuggerError: USAGE if the address cannot be listened on.
    """
    hint = f"{HINT} takes a free port"
    with contextlib.closing(open_port(where.host, where.port, hint=hint)) as listener:
        found = ListenAddress(where.host, listener.getsockname()[1])
        with token.write_token_file(paths.runtime_dir(), found.port) as token_file:
            _write_stderr(f"serving at {found.url}\ntoken: {token_file}\n")
            served = OpenRequests()
            server.middleware.append(served)
            app = RequestGuard(_starlette_app(server), token=token, where=found)
            await _serve_app(app, listener, served)


def _starlette_app(server: Server[Any]) -> Starlette:
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MESSAGE_MAX,
        session_idle_timeout=IDLE_S,
        max_sessions=SESSIONS_MAX,
        # The guard does it, before anything else is looked at.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


async def _serve_app(app: RequestGuard, listener: socket.socket, served: OpenRequests) -> None:
    # Refusals are answers, and sessions come and go: neither is news for standard error.
    for name in ("mcp.server.transport_security", "mcp.server.streamable_http_manager", "uvicorn"):
        logging.getLogger(name).setLevel(logging.ERROR)
    listening = build_listener(app)
    serving = asyncio.ensure_future(listening.serve(sockets=[listener]))
    try:
        # Cancelled from outside, the requests in service still get their answers below.
        await asyncio.shield(serving)
    finally:
        # That streams were cut is not worth a line.
        for name in ("mcp", "uvicorn"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        served.answer_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWERS_S):
                await app.wait_answered()
        listening.should_exit = True
        await serving


def _write_stderr(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
