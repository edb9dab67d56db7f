"""Decides how an address can be patched, and tracks the breakpoint sites of one process."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import capstone
import msgspec
from capstone import x86_const

from debugger.backends.inprocess.engine.agent_connection import AgentConnection
from debugger.backends.inprocess.engine.displaced_instruction import (
    SLOT_MAX,
    DisplacedInstruction,
    NotDisplaceableError,
    decode_instruction,
    displace_instruction,
    relocate_bytes,
)
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint

# E9 and a 32-bit displacement: the only jump of x86-64 that reaches an arena within 2 GiB and
# needs no register. Shorter instructions get an int3, which is one byte.
JUMP_SIZE = 5
# A function is decoded whole, so one of more than 64 KiB keeps its int3.
_CODE_MAX = 1 << 16
# Instructions after which the next one in memory need not run. One of these may only be the
# last that gives way to a wide jump: the copy behind it would never be reached from its slot.
_LEAVES = {
    capstone.CS_GRP_JUMP,
    capstone.CS_GRP_CALL,
    capstone.CS_GRP_RET,
    capstone.CS_GRP_IRET,
    capstone.CS_GRP_INT,
    capstone.CS_GRP_BRANCH_RELATIVE,
}
_TURN = 32  # sites that are made in one turn of the event loop
# Without details, for `disasm_lite`: whole functions are decoded with it.
_PLAIN = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)


def has_room(address: int, pieces: Sequence[tuple[int, bytes]]) -> bool:
    """Check whether no branch of a function leads into its first five bytes, behind the very first.

    `pieces` are all of the function's code with their addresses. The answer is False for code that
    cannot be decoded to its end.
    """
    if sum(len(code) for _, code in pieces) > _CODE_MAX:
        return False
    # A direct branch that lands behind the first byte would run the displacement of our jump
    # as instructions. Indirect branches are not seen here: compilers make them for switches
    # and returns, neither of which leads into a function's first five bytes.
    covered = range(address + 1, address + JUMP_SIZE)
    for at, code in pieces:
        end = at
        for begin, size, mnemonic, operands in _PLAIN.disasm_lite(code, at):
            end = begin + size
            # Every instruction with a code address as its operand begins with one of these:
            # jmp and jcc, loop, call, xbegin. Others whose first operand is a number are only
            # compared for nothing.
            if mnemonic[0] in "jlcx" and operands[:2] == "0x" and int(operands, 16) in covered:
                return False
        if end != at + len(code):
            return False
    return True


def displace_some(code: bytes, address: int, slot: int, room: int) -> DisplacedInstruction | None:
    """Copy as many instructions as a jump covers; None where they cannot be moved together."""
    copy = b""
    size = 0
    while True:
        try:
            one = decode_instruction(code[size:], address + size)
            is_last = size + one.size >= JUMP_SIZE
            # Only the last instruction ends with a jump back into the program. Those before
            # it fall through into the next copy, so they are relocated and nothing more.
            if is_last:
                last = displace_instruction(code[size:], address + size, slot + len(copy))
                full = copy + last.code
                return DisplacedInstruction(full, size + one.size) if len(full) <= room else None
            if _leaves_function(one):
                return None
            copy += relocate_bytes(one, slot + len(copy))
            size += one.size
        except NotDisplaceableError:
            return None


def _leaves_function(one: Any) -> bool:
    return bool(_LEAVES & set(one.groups)) or any(
        it.type == x86_const.X86_OP_REG and it.reg == x86_const.X86_REG_RIP for it in one.operands
    )


# The arena of one module, as enter.S and agent/40_points.js expect it:
# - [0, 0x400): the common code of all stubs, enter.S, with this process's addresses in it;
# - then CAPACITY units of WIDTH bytes: the stub (64), the slot (64), the wide slot (64);
# - 0x20000 above each stub: the data record that enter.S counts in.
WIDTH = 192  # bytes for one stub and its two slots
RECORDS = 0x20000  # from a stub to its record: never in the same page, for code is not written to
ARENA = 2 * RECORDS
_SLOT = WIDTH - 2 * SLOT_MAX
_WIDE_SLOT = WIDTH - SLOT_MAX
_SLOT_IN_RECORD = 64  # where the record says which slot the stub goes on in
_ENTER_MAX = 0x400  # the common code begins the arena
CAPACITY = (RECORDS - _ENTER_MAX) // WIDTH
# 2 GiB is the reach of a jump. Code of one module must reach the arena from both of its ends,
# hence the 256 MiB that are taken off.
_REACH = 0x7000_0000  # of a jump, less what a module may measure


@dataclass(frozen=True, slots=True)
class PatchSite:
    """Describes one address, and all that is needed to patch it."""

    address: int
    # The stub, and the bytes of it and of its two slots.
    stub: int
    code: bytes
    # The program's bytes that a patch replaces: one for an int3, five for a jump.
    original: bytes
    # Whether the instruction has room for a jump.
    jump: bool
    # How many bytes of instructions give way to a jump together, 0 where they may not. Such a
    # jump is written only when no thread is within them.
    wide: int = 0

    @property
    def slot_address(self) -> int:
        """The address of the copy of the one displaced instruction."""
        return self.stub + _SLOT

    @property
    def wide_slot(self) -> int:
        """The address of the copy of several displaced instructions."""
        return self.stub + _WIDE_SLOT


@dataclass
class StubArena:
    """Allocates stubs from a stretch of memory near a module; nothing is ever given back."""

    base: int
    used: int = 0

    def is_for(self, address: int) -> bool:
        """Return whether code at an address can reach this arena, and a stub is free in it."""
        return self.used < CAPACITY and abs(self.base - address) < _REACH

    def take_stub(self) -> int:
        """Return the address of a new stub."""
        stub = self.base + _ENTER_MAX + self.used * WIDTH
        self.used += 1
        return stub


def make_site(
    code: bytes, address: int, arena: StubArena, *, may_be_wide: bool = False
) -> PatchSite:
    """Build the stub and the slots for the instructions at the beginning of `code`.

    Raises:
        NotDisplaceableError: the first instruction cannot be copied.
    """
    # How an address is patched, by what stands there:
    #
    # 1. The displaced instruction is copied into the stub's slot, rewritten to mean the same
    #    there (displaced_instruction.py). A thread that leaves the stub runs the copy, and
    #    from it goes on behind the original.
    # 2. Five bytes or more: a jump to the stub takes the instruction's place (98 ns a hit,
    #    with a condition in machine code; the agent writes 0xCC first, then the displacement,
    #    then E9).
    # 3. Fewer bytes: an int3, and the SIGTRAP handler trap.c sends the thread to the stub (2
    #    to 3 µs more with JavaScript, the price of a signal).
    # 4. Fewer bytes at a function's entry that nobody branches into (`has_room`): an int3
    #    now, and a jump over several instructions as soon as no thread is within them
    #    (agent/45_wide.js).
    #
    # The first byte alone decides what a thread does, and x86 writes one byte atomically. So
    # a removal restores bytes and nothing else: the stub stays for ever, as a thread may be
    # in it.
    # Tried where the next stub would stand, so that a refusal takes no room.
    stub = arena.base + _ENTER_MAX + arena.used * WIDTH
    # The distance from the slot matters: rip-relative operands must reach from there.
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
    """Step over the red zone, call the common code, go on in a slot; no register changes."""
    # lea rsp, [rsp-0x80]   the 128 bytes below rsp are a leaf function's own (System V ABI, 3.2.2);
    #                       lea, for sub would change the flags
    # call enter
    # lea rsp, [rsp+0x80]   0x80 does not fit a signed byte, so this one is longer
    # jmp [rip+...]         to the slot that the record names; the agent changes it for a wide jump
    code = b"\x48\x8d\x64\x24\x80"
    code += b"\xe8" + struct.pack("<i", enter - (stub + 10))
    code += b"\x48\x8d\xa4\x24\x80\0\0\0"
    # 24 bytes from the stub's beginning to the end of this jump: 5 + 5 + 8 + 6.
    code += b"\xff\x25" + struct.pack("<i", RECORDS + _SLOT_IN_RECORD - 24)
    return code.ljust(_SLOT, b"\xcc")


# Up to four short bytes, then an instruction of at most 15: 19 would do.
_PEEK = 32  # as much as instructions may measure that give way to a jump together


class PatchSites:
    """Makes the sites of one process, each once.

    A stub is never removed, as threads may be in it.
    """

    def __init__(self, agent: AgentConnection) -> None:
        self._agent = agent
        self._arenas: list[StubArena] = []
        self._made: dict[int, PatchSite] = {}

    async def make_sites(
        self, addresses: Sequence[int], *, roomy: frozenset[int] = frozenset()
    ) -> dict[int, str]:
        """Make the sites that are missing; return why some cannot be made, by address.

        `roomy` are the addresses whose first instructions may give way to one jump (`has_room`).
        """
        missing = [address for address in dict.fromkeys(addresses) if address not in self._made]
        if not missing:
            return {}
        # From the process's memory and not from the file: a loader may have relocated the
        # code, and another tool may have hooked it.
        _, peeked = await self._agent.send_order(
            "peek", addresses=[hex(one) for one in missing], count=_PEEK
        )
        refused: dict[int, str] = {}
        made: list[PatchSite] = []
        for at, address in enumerate(missing):
            if at % _TURN == _TURN - 1:
                await asyncio.sleep(0)  # other sessions get their turn
            code = peeked[at * _PEEK : (at + 1) * _PEEK]
            arena = await self._arena_for(address)
            try:
                made.append(
                    make_site(
                        # A neighbour's patch may reach into these bytes.
                        self.remove_patches(address, code),
                        address,
                        arena,
                        may_be_wide=address in roomy,
                    )
                )
            except NotDisplaceableError as error:
                refused[address] = str(error)
        await self._agent.send_order(
            "sites",
            width=WIDTH,
            sites=[
                {
                    "address": hex(site.address),
                    "stub": hex(site.stub),
                    "original": site.original.hex(),
                    "jump": site.jump,
                    "wide": site.wide,
                    "slot": hex(site.slot_address),
                    "wideSlot": hex(site.wide_slot),
                }
                for site in made
            ],
            data=b"".join(site.code for site in made),
        )
        self._made |= {site.address: site for site in made}
        return refused

    async def _arena_for(self, address: int) -> StubArena:
        for arena in self._arenas:
            if arena.is_for(address):
                return arena
        value, _ = await self._agent.send_order("arena", near=hex(address), size=ARENA)
        arena = StubArena(int(value, 16))
        self._arenas.append(arena)
        return arena

    def forget_range(self, low: int, high: int) -> None:
        """Forget the sites in code that was unmapped: the next mapping there has other code."""
        self._made = {at: site for at, site in self._made.items() if not low <= at < high}

    @property
    def original_code(self) -> list[tuple[int, bytes]]:
        """The program's own bytes at every address that may be patched."""
        return [(site.address, site.original) for site in self._made.values()]

    def remove_patches(self, address: int, code: bytes) -> bytes:
        """Return memory as the program wrote it, with our patches taken out."""
        clean = bytearray(code)
        # Of every site, armed or not: which of them are armed right now is known to the agent
        # alone, and an unarmed site has its original bytes anyway.
        for site in self._made.values():
            for at, byte in enumerate(site.original, site.address - address):
                if 0 <= at < len(clean):
                    clean[at] = byte
        return bytes(clean)


class EngineBreakpoints:
    """Keeps the breakpoints of one process, by their names."""

    def __init__(self, agent: AgentConnection, sites: PatchSites) -> None:
        self._agent = agent
        self._sites = sites
        self._known: dict[str, EngineBreakpoint] = {}
        self._disabled: set[str] = set()

    async def add_breakpoints(self, points: Iterable[EngineBreakpoint]) -> dict[str, str]:
        """Add breakpoints in one order; return why some could not be added, by name."""
        wished = list(points)
        refused = await self._sites.make_sites([point.address for point in wished])
        failed = {one.id: refused[one.address] for one in wished if one.address in refused}
        good = [one for one in wished if one.id not in failed]
        value, _ = await self._agent.send_order("add", points=[_as_order(point) for point in good])
        failed |= value
        self._known |= {one.id: one for one in good if one.id not in failed}
        return failed

    async def remove_breakpoints(self, ids: Iterable[str], *, is_awaited: bool = True) -> None:
        """Remove breakpoints; without `is_awaited` a thread may still pause at one afterwards."""
        gone = list(ids)
        if is_awaited:
            await self._agent.send_order("remove", ids=gone)
        else:
            # Orders are carried out in the order in which they are sent, so a step that goes
            # on with other marks need not spend a round trip on the removal of the old ones.
            self._agent.post_order("remove", ids=gone)
        for point in gone:
            self._known.pop(point, None)
            self._disabled.discard(point)

    def forget_range(self, low: int, high: int) -> None:
        """Forget the breakpoints in code that was unmapped."""
        gone = [name for name, one in self._known.items() if low <= one.address < high]
        for name in gone:
            del self._known[name]
            self._disabled.discard(name)

    async def enable_breakpoints(self, ids: Iterable[str], *, on: bool) -> None:
        """Put breakpoints back, or take them out of the code and remember them."""
        known = [point for point in ids if point in self._known]
        if on:
            again = [self._known[point] for point in known if point in self._disabled]
            self._disabled -= set(known)
            await self.add_breakpoints(again)
        else:
            self._disabled |= set(known)
            await self._agent.send_order("remove", ids=known)


def _as_order(point: EngineBreakpoint) -> dict[str, Any]:
    order: dict[str, Any] = msgspec.to_builtins(point)
    return order | {"address": hex(point.address)}
