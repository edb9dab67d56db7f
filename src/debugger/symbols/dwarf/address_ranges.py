"""Finds a unit's code by .debug_aranges, which only some compilers write."""

from __future__ import annotations

import bisect
import struct
from array import array
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

_DWARF64: Final = 0xFFFFFFFF
# A set of .debug_aranges: length, version, unit, sizes of an address and of a segment.
_ARANGES: Final = struct.Struct("<IHIBB")
_ARANGES_VERSION: Final = 2
_PAIR: Final = struct.Struct("<QQ")
# Larger spans come from broken tables.
_SPAN_MAX: Final = 1 << 32
# Spans should not overlap; of those that do, so many are searched one by one.
_OVERLAPPING_MAX: Final = 32


class SpanColumns(Struct, frozen=True, array_like=True):
    """Holds spans by their beginnings, as 64-bit numbers, in a form to be cached."""

    low: bytes
    high: bytes
    unit: bytes


class AddressRanges:
    """Searches the spans of .debug_aranges."""

    def __init__(self, columns: SpanColumns) -> None:
        self._low = array("Q", columns.low)
        self._high = array("Q", columns.high)
        self._unit = array("Q", columns.unit)

    def unit_at(self, address: int) -> int | None:
        """Return the offset of the unit whose code has an address."""
        number = bisect.bisect_right(self._low, address)
        for at in range(number - 1, max(number - 1 - _OVERLAPPING_MAX, -1), -1):
            if address < self._high[at]:
                return self._unit[at]
        return None


def read_columns(content: bytes) -> SpanColumns:
    """Read the table, in the order of the addresses."""
    found = sorted(read_spans(content))
    return SpanColumns(
        array("Q", [low for low, _, _ in found]).tobytes(),
        array("Q", [high for _, high, _ in found]).tobytes(),
        array("Q", [unit for _, _, unit in found]).tobytes(),
    )


def read_spans(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the spans, each with its unit's offset (DWARF 5, 6.1.2)."""
    at = 0
    while at + _ARANGES.size <= len(content):
        length, version, unit, width, segment = _ARANGES.unpack_from(content, at)
        end = at + 4 + length
        if length >= _DWARF64 or end > len(content):
            return
        if version == _ARANGES_VERSION and width == _PAIR.size // 2 and not segment:
            # The pairs begin at a multiple of their size.
            first = at + -(-_ARANGES.size // _PAIR.size) * _PAIR.size
            count = max(end - first, 0) // _PAIR.size
            for low, size in _PAIR.iter_unpack(content[first : first + count * _PAIR.size]):
                if low and 0 < size < _SPAN_MAX:
                    yield low, low + size, unit
        at = end
