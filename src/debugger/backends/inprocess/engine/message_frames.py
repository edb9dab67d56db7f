"""Encodes the messages between engine and host: a length and a MessagePack value."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import msgspec

_LENGTH = struct.Struct("<I")


def pack_message(value: dict[str, Any]) -> bytes:
    """Encode one message with its length."""
    body = msgspec.msgpack.encode(value)
    return _LENGTH.pack(len(body)) + body


class MessageUnpacker:
    """Collects bytes as they come in, and yields whole messages."""

    def __init__(self) -> None:
        self._received = bytearray()

    def add_bytes(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Add bytes; yield the messages that are complete."""
        self._received += chunk
        while len(self._received) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received)
            if len(self._received) < _LENGTH.size + length:
                return
            body = bytes(self._received[_LENGTH.size : _LENGTH.size + length])
            del self._received[: _LENGTH.size + length]
            yield msgspec.msgpack.decode(body)
