"""What stands in the memory beside a module: for each address a stub, its slot, its record."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from debugger.backends.frida.engine.displaced import SLOT_MAX, displace

WIDTH = 128  # bytes for one stub and its slot
RECORDS = 0x20000  # from a stub to its record: never in the same page, for code is not written to
ARENA = 2 * RECORDS
_SLOT = WIDTH - SLOT_MAX
_ENTER_MAX = 0x400  # the common code begins the arena
CAPACITY = (RECORDS - _ENTER_MAX) // WIDTH
JUMP_SIZE = 5
_REACH = 0x7000_0000  # of a jump, less what a module may measure


@dataclass(frozen=True, slots=True)
class Site:
    """One address and all that is needed to arm it."""

    address: int
    stub: int
    code: bytes
    original: bytes
    jump: bool


@dataclass
class Arena:
    """A stretch of memory near a module, filled from its beginning; nothing is ever given back."""

    base: int
    used: int = 0

    def is_for(self, address: int) -> bool:
        """Say whether code at an address can reach it, and there is room."""
        return self.used < CAPACITY and abs(self.base - address) < _REACH

    def take(self) -> int:
        """Return the address of a new stub."""
        stub = self.base + _ENTER_MAX + self.used * WIDTH
        self.used += 1
        return stub


def make_site(code: bytes, address: int, arena: Arena) -> Site:
    """Build the stub and the slot of the instruction that begins `code`.

    Raises:
        NotDisplaceableError: it cannot be copied.
    """
    # Tried where the next stub would stand, so that a refusal takes no room.
    stub = arena.base + _ENTER_MAX + arena.used * WIDTH
    copy = displace(code, address, stub + _SLOT)
    arena.take()
    jump = copy.size >= JUMP_SIZE
    return Site(
        address=address,
        stub=stub,
        code=_stub(stub, arena.base) + copy.code.ljust(SLOT_MAX, b"\xcc"),
        original=code[: JUMP_SIZE if jump else 1],
        jump=jump,
    )


def _stub(stub: int, enter: int) -> bytes:
    """Step over the red zone, call the common code, go on in the slot; flags and all unchanged."""
    code = b"\x48\x8d\x64\x24\x80"
    code += b"\xe8" + struct.pack("<i", enter - (stub + 10))
    code += b"\x48\x8d\xa4\x24\x80\0\0\0"
    code += b"\xe9" + struct.pack("<i", _SLOT - 23)
    return code.ljust(_SLOT, b"\xcc")
