"""What of a program's memory is read to explain a pointer."""

from __future__ import annotations

import pytest

from debugger.model.signals import MemoryRegion
from debugger.session.pointers.memory_layout import (
    HEAP_HERE_MAX,
    HEAP_MAX,
    heap_size_for,
    parse_fill,
)

HEAP = MemoryRegion(0x600000, 0x600000 + (8 << 20), "rw-p", "[heap]")


def test_a_heap_is_read_up_to_behind_the_address_and_not_at_all_for_one_far_in() -> None:
    near = heap_size_for(HEAP, HEAP.start + 32)
    assert 0 < near <= HEAP_MAX
    far = heap_size_for(HEAP, HEAP.start + HEAP_MAX)
    assert far > HEAP_MAX
    assert heap_size_for(HEAP, HEAP.start + HEAP_MAX + 1) == 0
    assert heap_size_for(HEAP, HEAP.start + HEAP_MAX + 1, HEAP_HERE_MAX) > HEAP_MAX
    small = MemoryRegion(HEAP.start, HEAP.start + 0x21000, "rw-p", "[heap]")
    assert heap_size_for(small, small.end - 8) == 0x21000


@pytest.mark.parametrize(
    ("environment", "fill"),
    [
        (b"A=1\0MALLOC_PERTURB_=165\0B=2", 165),
        (b"MALLOC_PERTURB_=0x5a", 0x5A),
        (b"GLIBC_TUNABLES=glibc.malloc.check=1:glibc.malloc.perturb=90\0", 90),
        (b"MALLOC_PERTURB_=0\0", None),
        (b"MALLOC_PERTURB_=x\0", None),
        (b"NO_MALLOC_PERTURB_=7\0", None),
        (b"", None),
    ],
)
def test_the_fill_byte_is_read_from_the_environment(environment: bytes, fill: int | None) -> None:
    assert parse_fill(environment) == fill
