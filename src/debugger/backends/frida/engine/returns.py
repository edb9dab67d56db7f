"""Where does a stack say that a traced call returns to, and where does it return to?"""

from __future__ import annotations

import struct

from debugger.backends.frida.engine.inside import Inside

_WORD = 8


class Returns:
    """The trampolines that traced calls return to; each stands for the caller's address."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._first = 0
        self._size = 0

    def place(self, first: int, size: int) -> None:
        """Say where the trampolines are; what they stand for lies `size` above."""
        self._first, self._size = first, size

    async def replaced(self, address: int, data: bytes) -> bytes:
        """Return memory as the program wrote it, with the callers' addresses put back."""
        if not self._size:
            return data
        lead = -address % _WORD
        count = max(len(data) - lead, 0) // _WORD
        words = struct.unpack_from(f"<{count}Q", data, lead)
        last = self._first + self._size
        found = [at for at, word in enumerate(words) if self._first <= word < last]
        if not found:
            return data
        places = [hex(words[at] + self._size) for at in found]
        _, right = await self._inside.ask("peek", addresses=places, count=_WORD)
        changed = bytearray(data)
        for number, at in enumerate(found):
            begin = lead + at * _WORD
            changed[begin : begin + _WORD] = right[number * _WORD : (number + 1) * _WORD]
        return bytes(changed)
