"""Recognizes values of other types in a pointer's bits: a double, 32-bit numbers, UTF-16. Pure.

Each is claimed only where random bits look like it less than once in a thousand.
"""

from __future__ import annotations

import math
import re
import struct

from debugger.model.pointers.value_patterns import ERRNO_MAX, WORD_PATTERNS

_DOUBLE_DIGITS = 8  # characters of a number that a program has, and random bits have not
_DOUBLE_LEAST, _DOUBLE_MOST = 1e-6, 1e9
_SMALL = 0x4000  # the high half of an address in use is larger, or 0
_HALF = 32  # bits
_HALF_MASK = (1 << _HALF) - 1
_UTF16_TEXT = re.compile(rb"(?:[A-Za-z0-9 _./:,-]\0){4}")
_UTF16_END = re.compile(rb"(?:[A-Za-z0-9 _./:,-]\0){3}\0\0")


def describe_other_type(value: int) -> str | None:
    """Describe a value that is no address as a value of another type; None without a good guess."""
    return (
        _describe_double(value)
        or _describe_utf16(value)
        or _describe_half_pattern(value)
        or _describe_halves(value)
    )


def _describe_double(value: int) -> str | None:
    number = struct.unpack("<d", value.to_bytes(8, "little"))[0]
    if not math.isfinite(number) or not _DOUBLE_LEAST <= abs(number) < _DOUBLE_MOST:
        return None
    written = repr(number)
    return f"the bits of the double {written}" if len(written) <= _DOUBLE_DIGITS else None


def _describe_utf16(value: int) -> str | None:
    data = value.to_bytes(8, "little")
    if not (_UTF16_TEXT.fullmatch(data) or _UTF16_END.fullmatch(data)):
        return None
    return f"bytes `{data.decode('utf-16-le').rstrip(chr(0))}`: text in UTF-16"


def _describe_half_pattern(value: int) -> str | None:
    for half, name in ((value >> _HALF, "high"), (value & _HALF_MASK, "low")):
        if half in WORD_PATTERNS:
            return f"its {name} half is {half:#x}, {WORD_PATTERNS[half]}"
    return None


def _describe_halves(value: int) -> str | None:
    high, low = value >> _HALF, value & _HALF_MASK
    if high == _HALF_MASK and low >> (_HALF - 1):
        return f"the number {low - (1 << _HALF):,} of 32 bits, with its sign extended"
    if not high and low > _HALF_MASK - ERRNO_MAX:
        return f"the number {low - (1 << _HALF):,} of 32 bits, without its sign extended"
    if 0 < high < _SMALL and 0 < low < _SMALL:
        return f"as two numbers of 32 bits: {low}, {high}"
    return None
