"""Where has each unit its code, by the table that some compilers write?"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

_DWARF64: Final = 0xFFFFFFFF
# A set of .debug_aranges: length, version, unit, sizes of an address and of a segment.
_ARANGES: Final = struct.Struct("<IHIBB")
_ARANGES_VERSION: Final = 2
_PAIR: Final = struct.Struct("<QQ")
_SPAN_MAX: Final = 1 << 32


def arranged(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the spans of .debug_aranges, each with its unit's offset (DWARF 5, 6.1.2)."""
    at = 0
    while at + _ARANGES.size <= len(content):
        length, version, unit, width, segment = _ARANGES.unpack_from(content, at)
        end = at + 4 + length
        if length >= _DWARF64 or end > len(content):
            return
        if version == _ARANGES_VERSION and width == _PAIR.size // 2 and not segment:
            # The pairs begin at a multiple of their size.
            first = at + -(-_ARANGES.size // _PAIR.size) * _PAIR.size
            for place in range(first, end - _PAIR.size + 1, _PAIR.size):
                low, size = _PAIR.unpack_from(content, place)
                if low and 0 < size < _SPAN_MAX:
                    yield low, low + size, unit
        at = end
