"""Reads numbers and texts from the bytes of a DWARF section."""

from __future__ import annotations

from typing import Final

_MORE: Final = 0x80
_BITS: Final = 0x7F
_SIGN: Final = 0x40


def read_uleb128(content: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned LEB128 number, and where it ends (DWARF 5, 7.6)."""
    byte = content[at]
    if byte < _MORE:
        return byte, at + 1
    value, shift = byte & _BITS, 7
    while byte & _MORE:
        at += 1
        byte = content[at]
        value |= (byte & _BITS) << shift
        shift += 7
    return value, at + 1


def read_sleb128(content: bytes, at: int) -> tuple[int, int]:
    """Read a signed LEB128 number, and where it ends."""
    value = shift = 0
    byte = _MORE
    while byte & _MORE:
        byte = content[at]
        at += 1
        value |= (byte & _BITS) << shift
        shift += 7
    return (value - (1 << shift) if byte & _SIGN else value), at


def read_unsigned(content: bytes, at: int, size: int) -> int:
    """Read a little-endian number without a sign.

    Raises:
        IndexError: The content ends before it.
    """
    raw = content[at : at + size]
    if len(raw) != size:
        raise IndexError(f"{size} bytes at {at:#x} lie beyond the end")
    return int.from_bytes(raw, "little")


def read_signed(content: bytes, at: int, size: int) -> int:
    """Read a little-endian number with a sign."""
    return int.from_bytes(content[at : at + size], "little", signed=True)


def read_text(content: bytes, at: int) -> str:
    """Read a text that ends with a zero byte."""
    end = content.find(b"\0", at)
    return content[at : end if end >= 0 else None].decode("utf-8", "replace")
