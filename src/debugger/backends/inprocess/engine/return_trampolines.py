"""Finds return addresses on a stack, and the real ones of traced calls."""

from __future__ import annotations

import struct

from debugger.backends.inprocess.engine.agent_connection import AgentConnection

_WORD = 8


class ReturnTrampolines:
    """The trampolines that traced calls return to; each stands for the caller's address."""

    def __init__(self, inside: AgentConnection) -> None:
        self._inside = inside
        self._places: dict[int, int] = {}

    def set_trampolines(self, first: int, size: int) -> None:
        """Say where the trampolines are; what they stand for lies `size` above."""
        self._places[first] = size

    def inherit_from(self, parent: ReturnTrampolines) -> None:
        """Know those of the process that forked this one, which may still return to them."""
        self._places |= parent._places

    def find_trampolines(self, address: int, data: bytes) -> dict[int, int]:
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

    async def restore_addresses(self, address: int, data: bytes) -> bytes:
        """Return memory as the program wrote it, with the callers' addresses put back."""
        found = self.find_trampolines(address, data)
        if not found:
            return data
        places = [hex(place) for place in found.values()]
        _, right = await self._inside.send_order("peek", addresses=places, count=_WORD)
        changed = bytearray(data)
        for number, at in enumerate(found):
            changed[at : at + _WORD] = right[number * _WORD : (number + 1) * _WORD]
        return bytes(changed)
