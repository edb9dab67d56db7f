"""Splits a client's input into bounded lines and messages, and tracks unanswered requests."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import mcp_types as types
from mcp.shared.dispatcher import coerce_request_id
from pydantic import ValidationError

# As much as the transport over HTTP takes; the daemon's own messages may be larger than this.
MESSAGE_MAX: Final = 4 << 20
# What is kept of a longer one, in search of its id: some write it first, some last.
_ENDS_KEPT: Final = 4096

_decoder = json.JSONDecoder()
_BLANKS = frozenset(" \t\r\n")
# The outermost object ends here, so this id is the message's own.
_LAST_ID = re.compile(r'[,{]\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*\}\s*$')


@dataclass(frozen=True)
class RejectedMessage:
    """An invalid message, as the error that answers it."""

    id: types.RequestId | None
    code: int
    why: str

    def to_error(self) -> types.JSONRPCError:
        """Return the error message."""
        error = types.ErrorData(code=self.code, message=self.why)
        return types.JSONRPCError(jsonrpc="2.0", id=self.id, error=error)


@dataclass
class LineReader:
    """Splits a stream into lines; of a line beyond the limit only its ends are stored."""

    limit: int = MESSAGE_MAX
    _held: bytearray = field(default_factory=bytearray)
    _head: bytes | None = None
    _length: int = 0

    def add_bytes(self, data: bytes) -> Iterator[bytes | RejectedMessage]:
        """Add bytes, and return the completed lines without blank ones."""
        *complete, rest = data.split(b"\n")
        for part in complete:
            self._add_part(part)
            if found := self._finish_line():
                yield found
        self._add_part(rest)

    def finish(self) -> bytes | RejectedMessage | None:
        """Return the text after the last line's end, if any."""
        return self._finish_line()

    def _add_part(self, part: bytes) -> None:
        self._held += part
        self._length += len(part)
        if self._head is None and self._length > self.limit:
            self._head = bytes(self._held[:_ENDS_KEPT])
        if self._head is not None:
            # The end is kept as well, since an id may stand behind the long part.
            del self._held[:-_ENDS_KEPT]

    def _finish_line(self) -> bytes | RejectedMessage | None:
        line, head, length = bytes(self._held), self._head, self._length
        self._held, self._head, self._length = bytearray(), None, 0
        if head is None:
            return line if line.strip() else None
        why = f"the message has {length} bytes, of at most {self.limit}"
        return RejectedMessage(known_id(head, line), types.INVALID_REQUEST, why)


def parse_message(line: bytes) -> types.JSONRPCMessage | RejectedMessage:
    """Decode a line as a message, or return the reason of its rejection."""
    try:
        found = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not (isinstance(found, types.JSONRPCNotification) and _has_id(line)):
            return found
    except ValidationError as error:
        for one in error.errors(include_input=False, include_url=False):
            if one["type"] == "json_invalid":
                is_deep = "recursion" in one["msg"]
                why = "nested too deeply" if is_deep else "not JSON in UTF-8"
                return RejectedMessage(None, types.PARSE_ERROR, why)
    # Removed from the protocol with its version 2025-06-18.
    if line.lstrip()[:1] == b"[":
        return RejectedMessage(None, types.INVALID_REQUEST, "batches are not part of the protocol")
    why = "not a request, a notification or a response of JSON-RPC 2.0"
    return RejectedMessage(known_id(line, line), types.INVALID_REQUEST, why)


def known_id(head: bytes, tail: bytes) -> types.RequestId | None:
    """Find the id of a message of which only the ends are stored; None if it is unknown."""
    found = _first_id(head.decode("utf-8", "replace"))
    if found is None and (last := _LAST_ID.search(tail.decode("utf-8", "replace"))):
        found = json.loads(last[1])
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _first_id(text: str) -> Any:
    """Scan the outermost object's members, as far as they are stored."""
    at = _next_character(text, 0)
    if text[at : at + 1] != "{":
        return None
    # Cut anywhere, this ends in a value that is none, or at the end of the text.
    with contextlib.suppress(ValueError, IndexError, RecursionError):
        while text[at] in "{,":
            key, at = _decoder.raw_decode(text, _next_character(text, at + 1))
            value, at = _decoder.raw_decode(
                text, _next_character(text, _next_character(text, at) + 1)
            )
            # A number at the very end may have lost digits.
            if key == "id" and at < len(text):
                return value
            at = _next_character(text, at)
    return None


def _next_character(text: str, at: int) -> int:
    """Return the position of the next non-blank character."""
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _has_id(line: bytes) -> bool:
    # To the SDK a request with an id of a wrong type is a notification: nobody would answer it.
    return b'"id"' in line and "id" in json.loads(line)


@dataclass
class PendingRequests:
    """The unanswered requests of a client, within limits."""

    count_max: int = 256
    bytes_max: int = 8 * MESSAGE_MAX
    _sizes: dict[types.RequestId, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._sizes)

    def note_received(self, message: types.JSONRPCMessage, size: int) -> RejectedMessage | None:
        """Register a received message; a request beyond the limits is rejected."""
        if isinstance(message, types.JSONRPCNotification):
            # One that is cancelled is never answered.
            if message.method == "notifications/cancelled":
                self._forget_request((message.params or {}).get("requestId"))
            return None
        if not isinstance(message, types.JSONRPCRequest):
            return None
        # A client that sends without reading would fill the memory.
        if len(self._sizes) >= self.count_max or sum(self._sizes.values()) > self.bytes_max:
            why = f"{len(self._sizes)} requests are not answered yet: read the answers first"
            return RejectedMessage(message.id, types.INTERNAL_ERROR, why)
        self._sizes[coerce_request_id(message.id)] = size
        return None

    def note_sent(self, message: types.JSONRPCMessage) -> None:
        """Register a sent message."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._forget_request(message.id)

    def _forget_request(self, number: object) -> None:
        if isinstance(number, int | str):
            self._sizes.pop(coerce_request_id(number), None)
