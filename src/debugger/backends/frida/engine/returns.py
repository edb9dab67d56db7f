"""Finds return addresses on a stack, and the real ones of traced calls."""

from __future__ import annotations

import struct

from debugger.backends.frida.engine.inside import Inside

_WORD = 8


class Returns:
    """The trampolines that traced calls return to; each stands for the caller's address."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._places: dict[int, int] = {}

    def place(self, first: int, size: int) -> None:
        """Say where the trampolines are; what they stand for lies `size` above."""
        self._places[first] = size

    def inherit(self, parent: Returns) -> None:
        """Know those of the process that forked this one, which may still return to them."""
        self._places |= parent._places

    def found(self, address: int, data: bytes) -> dict[int, int]:
        """Find them in memory: where each stands in it, and where the right address is."""
        if not self._places:
            return {}
        lead = -address % _WORD
        count = max(len(data) - lead, 0) // _WORD
        words = struct.unpack_from(f"<{count}Q", data, lead)
        return {
            lead + number * _WORD: word + size
            for number, word in enumerate(words)
            for first, size in self._places.items()
            if first <= word < first + size
        }

    async def replaced(self, address: int, data: bytes) -> bytes:
        """Return memory as the program wrote it, with the callers' addresses put back."""
        found = self.found(address, data)
        if not found:
            return data
        places = [hex(place) for place in found.values()]
        _, right = await self._inside.ask("peek", addresses=places, count=_WORD)
        changed = bytearray(data)
        for number, at in enumerate(found):
            changed[at : at + _WORD] = right[number * _WORD : (number + 1) * _WORD]
        return bytes(changed)
