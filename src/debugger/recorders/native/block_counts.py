"""Reads the counted blocks of a run, and tells how often each address and branch ran. Pure."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

# See block_counter.c.
RECORD_SIZE = 64
_RECORD = struct.Struct("<QIIQQQQiiQ")
_SMALL = 64  # results below it have a bit each


class CountedBlock(Struct, frozen=True):
    """A block of code: where it is, how often it ran, and how it ended.

    `jump` is the address of the conditional jump at its end (0: none), which was taken `taken`
    times to `target`. `least` and `greatest` are of the 32-bit results of a block that returns,
    `results` those from 0 to 63.
    """

    address: int
    size: int
    count: int
    jump: int = 0
    taken: int = 0
    target: int = 0
    is_return: bool = False
    least: int = 0
    greatest: int = 0
    results: frozenset[int] = frozenset()


class JumpCount(Struct, frozen=True):
    """A conditional jump: its address, where it goes, and how often it did and did not."""

    address: int
    target: int
    next: int
    taken: int
    passed: int


def parse_blocks(data: bytes, most: int) -> list[CountedBlock]:
    """Parse the records of a run in the order in which their blocks were first reached."""
    count = min(int.from_bytes(data[:4], "little"), most, len(data) // RECORD_SIZE - 1)
    found = []
    for number in range(count):
        record = _RECORD.unpack_from(data, RECORD_SIZE * (number + 1))
        address, size, jump, times, taken, target, is_return, least, greatest, bits = record
        if not times:
            continue
        results = (
            frozenset(one for one in range(_SMALL) if bits >> one & 1) if bits else frozenset()
        )
        found.append(
            CountedBlock(
                address,
                size,
                times,
                address + jump - 1 if jump else 0,
                taken,
                target,
                bool(is_return),
                least,
                greatest,
                results,
            )
        )
    return found


class AddressCounts:
    """Tells how often the code at an address ran, and when it was first reached."""

    def __init__(self, blocks: Iterable[CountedBlock]) -> None:
        # Blocks overlap where a jump leads into the middle of one: the counts of both hold.
        self._blocks = list(blocks)
        steps: dict[int, int] = {}
        for one in self._blocks:
            steps[one.address] = steps.get(one.address, 0) + one.count
            end = one.address + one.size
            steps[end] = steps.get(end, 0) - one.count
        self._starts = sorted(steps)
        self._counts = []
        total = 0
        for start in self._starts:
            total += steps[start]
            self._counts.append(total)

    def count_at(self, address: int) -> int:
        """Return how often the instruction at an address ran."""
        at = bisect.bisect_right(self._starts, address) - 1
        return self._counts[at] if at >= 0 else 0

    @cached_property
    def _firsts(self) -> tuple[list[int], list[int], list[int]]:
        known: dict[int, tuple[int, int]] = {}
        for number, one in enumerate(self._blocks, 1):
            known.setdefault(one.address, (one.address + one.size, number))
        starts = sorted(known)
        return starts, [known[one][0] for one in starts], [known[one][1] for one in starts]

    def first_at(self, address: int) -> int:
        """Return the number of the block by which an address was first reached; 0: by none."""
        starts, ends, numbers = self._firsts
        at = bisect.bisect_right(starts, address) - 1
        return numbers[at] if at >= 0 and address < ends[at] else 0

    @cached_property
    def jumps(self) -> Sequence[JumpCount]:
        """The conditional jumps that ran, by address."""
        found: dict[int, JumpCount] = {}
        for one in self._blocks:
            if not one.jump:
                continue
            known = found.get(one.jump)
            taken = one.taken + (known.taken if known is not None else 0)
            passed = one.count - one.taken + (known.passed if known is not None else 0)
            found[one.jump] = JumpCount(one.jump, one.target, one.address + one.size, taken, passed)
        return [found[at] for at in sorted(found)]

    @property
    def returns(self) -> Mapping[int, CountedBlock]:
        """The blocks that return, by address; of those with one address the last."""
        return {one.address: one for one in self._blocks if one.is_return}
