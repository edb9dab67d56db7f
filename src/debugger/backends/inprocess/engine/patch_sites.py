"""Decides which addresses can be patched, and keeps their original code."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends.inprocess.engine.agent_connection import AgentConnection
from debugger.backends.inprocess.engine.displaced_instruction import NotDisplaceableError
from debugger.backends.inprocess.engine.site_memory import (
    ARENA,
    WIDTH,
    PatchSite,
    StubArena,
    make_site,
)

_PEEK = 32  # as much as instructions may measure that give way to a jump together


class PatchSites:
    """The sites of one process; each is made once, and its stub stays: threads may be in it."""

    def __init__(self, inside: AgentConnection) -> None:
        self._inside = inside
        self._arenas: list[StubArena] = []
        self._made: dict[int, PatchSite] = {}

    async def make_sites(
        self, addresses: Sequence[int], *, roomy: frozenset[int] = frozenset()
    ) -> dict[int, str]:
        """Make the sites that are missing; return why some cannot be, by address.

        `roomy` are those whose first instructions may give way together (`wide.has_room`).
        """
        missing = [address for address in dict.fromkeys(addresses) if address not in self._made]
        if not missing:
            return {}
        _, peeked = await self._inside.send_order(
            "peek", addresses=[hex(one) for one in missing], count=_PEEK
        )
        refused: dict[int, str] = {}
        made: list[PatchSite] = []
        for at, address in enumerate(missing):
            code = peeked[at * _PEEK : (at + 1) * _PEEK]
            arena = await self._arena_for(address)
            try:
                made.append(
                    make_site(
                        self.remove_patches(address, code),
                        address,
                        arena,
                        may_be_wide=address in roomy,
                    )
                )
            except NotDisplaceableError as error:
                refused[address] = str(error)
        await self._inside.send_order(
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
        value, _ = await self._inside.send_order("arena", near=hex(address), size=ARENA)
        arena = StubArena(int(value, 16))
        self._arenas.append(arena)
        return arena

    def forget_range(self, low: int, high: int) -> None:
        """Forget the sites in code that was unmapped: what is there next has other code."""
        self._made = {at: site for at, site in self._made.items() if not low <= at < high}

    @property
    def original_code(self) -> list[tuple[int, bytes]]:
        """What the program itself has where we may have patched it."""
        return [(site.address, site.original) for site in self._made.values()]

    def remove_patches(self, address: int, code: bytes) -> bytes:
        """Return memory as the program wrote it, with our patches taken out."""
        clean = bytearray(code)
        for site in self._made.values():
            for at, byte in enumerate(site.original, site.address - address):
                if 0 <= at < len(clean):
                    clean[at] = byte
        return bytes(clean)
