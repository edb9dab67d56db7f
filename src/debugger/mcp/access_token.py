"""Who may connect: who knows the token, from the environment or a private file."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Final

from debugger import paths
from debugger.errors import DebuggerError, ErrorCode

VARIABLE: Final = "DEBUGGER_MCP_TOKEN"
_BYTES = 32


class AccessToken:
    """The secret of who may connect: the one that was given, or a new one in a file."""

    def __init__(self, given: str | None) -> None:
        self._is_given = bool(given)
        self._value = given or secrets.token_urlsafe(_BYTES)

    @classmethod
    def taken_from(cls, env: MutableMapping[str, str]) -> AccessToken:
        """Take it out of the environment, so that no program that is debugged finds it.

        Raises:
            DebuggerError: USAGE if no client could send it.
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
        """Whether this is the `Authorization` of somebody who knows it."""
        scheme, _, found = (header or "").partition(" ")
        is_known = hmac.compare_digest(found.strip().encode(), self._value.encode())
        return is_known and scheme.lower() == "bearer"

    @contextmanager
    def write_token_file(self, directory: str, port: int) -> Iterator[str]:
        """Keep it where only its owner can read it; give the place, in words."""
        if self._is_given:
            yield f"as {VARIABLE} says"
            return
        path = f"{directory}/mcp-{port}.token"
        paths.write_private(path, f"{self._value}\n".encode())
        try:
            yield path
        finally:
            paths.remove_file(path)
