"""Refuses requests that do not come from the page itself, and sets the headers of each answer."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from debugger.cli.editor_pipe import is_own_connection
from debugger.output.picture_style import PICTURE_CSS

_BYTES: Final = 32
_OWN_SITE: Final = frozenset({"same-origin", "none"})
# No inline script or style, no other origin, no HTML made from text.
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *("script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"),
        *("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"),
        *("require-trusted-types-for 'script'", "trusted-types 'none'"),
    )
)
# Of a picture: its own style, known by its hash, and nothing else; not even as a page of its own.
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(PICTURE_CSS.encode()).digest()).decode()
_PICTURE_POLICY: Final = "; ".join(
    ("default-src 'none'", f"style-src 'sha256-{_STYLE_HASH}'", "frame-ancestors 'none'", "sandbox")
)
_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LOCKED: Final = (
    "This address has been used already, or is another page's.\ndebugger ui opens the page again.\n"
)


class PageKeys:
    """The one-time token of the page's address, and the cookie that a browser gets for it."""

    def __init__(self, port: int) -> None:
        self._token: str | None = secrets.token_urlsafe(_BYTES)
        self._cookie = secrets.token_urlsafe(_BYTES)
        # Cookies do not distinguish ports: each page has a name of its own.
        self._name = f"debugger_ui_{port}"

    @property
    def token(self) -> str | None:
        """The token; None once it has been used."""
        return self._token

    def redeem_token(self, given: str) -> bool:
        """Take the token; it is valid once."""
        if self._token is None or not _is_equal(given, self._token):
            return False
        self._token = None
        return True

    def set_cookie(self, response: Response) -> None:
        """Give the browser the cookie."""
        response.set_cookie(self._name, self._cookie, httponly=True, samesite="strict", path="/")

    def matches_cookie(self, header: str) -> bool:
        """Return whether a `Cookie` header has the cookie."""
        try:
            found = SimpleCookie(header).get(self._name)
        except CookieError:
            return False
        return found is not None and _is_equal(found.value, self._cookie)


def _is_equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


class PageGuard:
    """Accepts requests to this machine's own names, from the page itself, with the cookie."""

    def __init__(self, app: ASGIApp, *, keys: PageKeys, port: int) -> None:
        self._app = app
        self._keys = keys
        self._port = port
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._origins = frozenset(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket: there are none
            await send({"type": "websocket.close", "code": 1008})
            return

        policy = _PICTURE_POLICY if scope["path"].startswith("/picture/") else _POLICY

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _set_headers(message, policy)
            await send(message)

        refused = self._refuse_request(scope)
        served = self._app if refused is None else refused
        await served(scope, receive, send_with_headers)

    def _refuse_request(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        # Against pages of a browser whose name resolves to this machine.
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("not the name of this page\n", 421)
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return PlainTextResponse("another origin\n", 403)
        request = Request(scope)
        token = request.query_params.get("token")
        if scope["method"] == "GET" and scope["path"] == "/" and token is not None:
            return self._redeem(scope, token, headers.get("cookie", ""))
        return self._refuse_stranger(scope, headers)

    def _refuse_stranger(self, scope: Scope, headers: Headers) -> Response | None:
        if headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            return PlainTextResponse("another site\n", 403)
        if not self._keys.matches_cookie(headers.get("cookie", "")):
            return PlainTextResponse(_LOCKED, 403)
        if scope["method"] == "POST":
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            # What a form of another site cannot send without being asked for by its browser.
            if kind != "application/json":
                return PlainTextResponse("not JSON\n", 415)
        return None

    def _redeem(self, scope: Scope, token: str, cookie: str) -> Response | None:
        client: Any = scope.get("client")
        # The address may be seen by other users of the machine, who could be faster.
        is_own = client is None or is_own_connection(client[1], self._port)
        if is_own and self._keys.redeem_token(token):
            state: MutableMapping[str, Any] = scope.setdefault("state", {})
            state["sets_cookie"] = True
            return None
        # The browser went back to the address that it came by.
        if self._keys.matches_cookie(cookie):
            return None
        return PlainTextResponse(_LOCKED, 403)


def _set_headers(message: Message, policy: str) -> None:
    headers = MutableHeaders(scope=message)
    headers["content-security-policy"] = policy
    for name, value in _HEADERS.items():
        headers[name] = value
