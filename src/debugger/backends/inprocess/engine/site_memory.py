"""What stands in the memory beside a module: for each address a stub, its slots, its record."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from debugger.backends.inprocess.engine.displaced_instruction import (
    SLOT_MAX,
    DisplacedInstruction,
    displace_instruction,
)
from debugger.backends.inprocess.engine.wide_patch import JUMP_SIZE, displace_some

WIDTH = 192  # bytes for one stub and its two slots
RECORDS = 0x20000  # from a stub to its record: never in the same page, for code is not written to
ARENA = 2 * RECORDS
_SLOT = WIDTH - 2 * SLOT_MAX
_WIDE_SLOT = WIDTH - SLOT_MAX
_SLOT_IN_RECORD = 64  # where the record says which slot the stub goes on in
_ENTER_MAX = 0x400  # the common code begins the arena
CAPACITY = (RECORDS - _ENTER_MAX) // WIDTH
_REACH = 0x7000_0000  # of a jump, less what a module may measure


@dataclass(frozen=True, slots=True)
class PatchSite:
    """One address and all that is needed to arm it.

    `jump`: the instruction has room for a jump. `wide` is how many bytes of instructions give way
    to a jump together, 0 where they may not: then the jump is laid when no thread is in them.
    """

    address: int
    stub: int
    code: bytes
    original: bytes
    jump: bool
    wide: int = 0

    @property
    def slot_address(self) -> int:
        """Where the copy of the one instruction is."""
        return self.stub + _SLOT

    @property
    def wide_slot(self) -> int:
        """Where the copy of several is."""
        return self.stub + _WIDE_SLOT


@dataclass
class StubArena:
    """A stretch of memory near a module, filled from its beginning; nothing is ever given back."""

    base: int
    used: int = 0

    def is_for(self, address: int) -> bool:
        """Say whether code at an address can reach it, and there is room."""
        return self.used < CAPACITY and abs(self.base - address) < _REACH

    def take_stub(self) -> int:
        """Return the address of a new stub."""
        stub = self.base + _ENTER_MAX + self.used * WIDTH
        self.used += 1
        return stub


def make_site(
    code: bytes, address: int, arena: StubArena, *, may_be_wide: bool = False
) -> PatchSite:
    """Build the stub and the slots of the instructions that begin `code`.

    Raises:
        NotDisplaceableError: the first cannot be copied.
    """
    # Tried where the next stub would stand, so that a refusal takes no room.
    stub = arena.base + _ENTER_MAX + arena.used * WIDTH
    copy = displace_instruction(code, address, stub + _SLOT)
    jump = copy.size >= JUMP_SIZE
    wide: DisplacedInstruction | None = None
    if may_be_wide and not jump:
        wide = displace_some(code, address, stub + _WIDE_SLOT, SLOT_MAX)
    arena.take_stub()
    return PatchSite(
        address=address,
        stub=stub,
        code=_stub_code(stub, arena.base)
        + copy.code.ljust(SLOT_MAX, b"\xcc")
        + (wide.code if wide is not None else b"").ljust(SLOT_MAX, b"\xcc"),
        original=code[: JUMP_SIZE if jump or wide is not None else 1],
        jump=jump,
        wide=wide.size if wide is not None else 0,
    )


def _stub_code(stub: int, enter: int) -> bytes:
    """Step over the red zone, call the common code, go on in a slot; flags and all unchanged."""
    code = b"\x48\x8d\x64\x24\x80"
    code += b"\xe8" + struct.pack("<i", enter - (stub + 10))
    code += b"\x48\x8d\xa4\x24\x80\0\0\0"
    code += b"\xff\x25" + struct.pack("<i", RECORDS + _SLOT_IN_RECORD - 24)
    return code.ljust(_SLOT, b"\xcc")
