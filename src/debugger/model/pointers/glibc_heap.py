"""Reads the blocks of glibc's heaps, and which of them are surely freed. Pure.

The layout is that of malloc/malloc.c and arena.c in glibc 2.30 to 2.41 on 64 bits. A chunk begins
16 bytes before the address that malloc returned: the size of the chunk before (only if that one is
free), and the own size, a multiple of 16, with three flags in its low bits. The heap's first chunk
holds the tcache of the first thread: 64 counts of 16 bits, then 64 heads of lists of freed blocks.
From 2.32 on each link is mangled with the address that it is stored at (PROTECT_PTR). A thread's
heap begins at a multiple of 64 MiB with the address of its arena (struct malloc_state), which lies
before the first chunk; the chunks have a flag of their own. Only an arena's first heap is read.

Nothing here is guessed: a heap that is not consistent from its first chunk on is not read at all.
"""

from __future__ import annotations

import bisect
import itertools
import struct
from collections.abc import Mapping, Sequence

from msgspec import Struct

_WORD = struct.Struct("<Q")
_HEADER = 16  # bytes from a chunk to its block
_SIZE_LEAST = 32
_FLAGS = 7
_PREVIOUS_IN_USE = 1
_OTHER_FLAGS = 6  # mmapped, or of a thread's arena: the latter in what its heap has allocated
_THREAD_ARENA = 4
THREAD_HEAP = 64 << 20  # bytes: HEAP_MAX_SIZE on 64 bits
_HEAP_INFO_MAX = 0x100  # bytes before the arena in its first heap
_TCACHE_CHUNK = 0x291  # the size of the tcache's chunk, with its flag
_BINS = 64
_COUNTS = struct.Struct(f"<{_BINS}H")
_HEADS = struct.Struct(f"<{_BINS}Q")
_LIST_MAX = 4096  # glibc.malloc.tcache_count may be set higher than 7
_PAGE_BITS = 12
_PAGE = 1 << _PAGE_BITS
_STATIC_DATA: int = 2 * _PAGE
_TCACHE_FREED = "glibc's tcache"
_BIN_FREED = "a free list of glibc's"
_FAST_FREED = "a fastbin of glibc's"
# struct malloc_state of glibc 2.26 to 2.41: three int, ten heads of lists by size, the chunk at the
# heap's end.
_FAST_HEADS = 16
_FAST_BINS = 10
_TOP = 96
CHUNKS_MAX = 1 << 18
# A large block has a mapping of its own: the chunk's size with this flag alone, at a page's start.
_MAPPED = 2
MAPPED_HEADER = 16
_MAPPED_LEAST = 128 << 10  # M_MMAP_THRESHOLD


class HeapBlock(Struct, frozen=True):
    """A block that malloc returned: `size` is what it can hold, at least what was requested."""

    start: int
    size: int
    # The list that the block is in; "" if it is in use, or if that is not known.
    freed_in: str = ""


class HeapContent(Struct, frozen=True):
    """The blocks of a heap, in order, up to the end of what was read."""

    blocks: Sequence[HeapBlock]
    # The chunk at the heap's end, of which nothing is allocated.
    unused: tuple[int, int] | None
    # The links that freed blocks hold, and the blocks that hold each.
    links: Mapping[int, tuple[int, ...]]

    def find_block(self, address: int) -> HeapBlock | None:
        """Return the block that an address is in."""
        at = bisect.bisect_right(self.blocks, address, key=lambda one: one.start) - 1
        block = self.blocks[at] if at >= 0 else None
        return block if block is not None and address < block.start + block.size else None

    def find_neighbours(self, address: int) -> tuple[HeapBlock | None, HeapBlock | None]:
        """Return the blocks that begin before an address, and behind it."""
        at = bisect.bisect_right(self.blocks, address, key=lambda one: one.start)
        before = self.blocks[at - 1] if at else None
        return before, self.blocks[at] if at < len(self.blocks) else None


def parse_heap(
    start: int, end: int, content: bytes, data: Sequence[bytes] = ()
) -> HeapContent | None:
    """Parse a heap from its first bytes; None for what is not surely glibc's main heap.

    Args:
        start: The address of the first chunk.
        end: The end of the heap's mapping.
        content: The heap's bytes, from its start on.
        data: The C library's own writable data, with the lists of small freed blocks: the chunks of
            these look as if they were in use.
    """
    first = _word(content, 8)
    if len(content) < (_TCACHE_CHUNK & ~_FLAGS) or first & ~_THREAD_ARENA != _TCACHE_CHUNK:
        return None
    chunks = _walk_chunks(content, end - start, first & _THREAD_ARENA)
    if chunks is None:
        return None
    cached, links = _read_tcache(start, content, dict(chunks))
    fast = _read_fastbins(start, content, chunks, data)
    blocks = []
    for (at, size), (following, _) in itertools.pairwise(chunks):
        user = start + at + _HEADER
        freed = ""
        if user in cached:
            freed = _TCACHE_FREED
        elif user in fast:
            freed = _FAST_FREED
        elif not _word(content, following + 8) & _PREVIOUS_IN_USE:
            freed = _BIN_FREED
        # A block in use reaches into the first word of the next chunk.
        blocks.append(HeapBlock(user, size - 8, freed))
    last, size = chunks[-1]
    is_whole = len(content) >= end - start and start + last + size == end
    return HeapContent(blocks, (start + last, end) if is_whole else None, links)


def parse_mapped_size(head: bytes) -> int:
    """Return the size of a large block's mapping, by its first bytes; 0 for another mapping."""
    before, size = _word(head, 0), _word(head, 8)
    is_block = len(head) >= MAPPED_HEADER and not before and size % _PAGE == _MAPPED
    return size - _MAPPED if is_block and size >= _MAPPED_LEAST else 0


def find_first_chunk(content: bytes) -> int | None:
    """Return the offset of the chunk with the tcache, at the beginning of a page; else None.

    Without address randomization the kernel joins the heap with the program's zeroed data below. In
    a static program the first thread's own data comes first, and ends anywhere in the first pages.
    """
    last = len(content) - _HEADER
    starts: list[int] = [*range(0, last + 1, _PAGE), *range(0, min(last + 1, _STATIC_DATA), 16)]
    for at in starts:
        if _word(content, at) == 0 and _word(content, at + 8) == _TCACHE_CHUNK:
            return at
    return None


def find_first_thread_chunk(start: int, content: bytes) -> int | None:
    """Return the offset of the chunk with the tcache in a thread's first heap; else None."""
    arena = _word(content, 0) - start
    if start % THREAD_HEAP or not 0 < arena < _HEAP_INFO_MAX or arena % 16:
        return None
    for at in range(arena + _TOP, min(arena + _PAGE, len(content) - _HEADER), 16):
        if _word(content, at + 8) == _TCACHE_CHUNK | _THREAD_ARENA:
            return at
    return None


def _walk_chunks(content: bytes, heap_size: int, arena_flag: int) -> list[tuple[int, int]] | None:
    """Return offset and size of each chunk; None if the headers do not fit together."""
    chunks: list[tuple[int, int]] = []
    at = 0
    while at + _HEADER <= len(content) and len(chunks) < CHUNKS_MAX:
        before, word = struct.unpack_from("<QQ", content, at)
        size = word & ~_FLAGS
        is_wrong = size < _SIZE_LEAST or size % 16 or at + size > heap_size
        # A chunk that is free, or at the end, has no flag of its arena.
        is_wrong = is_wrong or word & _OTHER_FLAGS not in {0, arena_flag}
        # A free chunk has its size at both ends.
        if is_wrong or (not word & _PREVIOUS_IN_USE and (not chunks or before != chunks[-1][1])):
            return None
        chunks.append((at, size))
        at += size
    # What was read in full must end with the chunk at the heap's end.
    if len(content) >= heap_size and at != heap_size:
        return None
    return chunks if len(chunks) > 1 else None


def _read_tcache(
    start: int, content: bytes, sizes: Mapping[int, int]
) -> tuple[frozenset[int], dict[int, tuple[int, ...]]]:
    """Return the blocks in the tcache, and the links that they store.

    A list is left out that is not as long as its count says: it leads to another arena, or beyond
    what was read, or the program has written to a freed block.
    """
    counts = _COUNTS.unpack_from(content, _HEADER)
    heads = _HEADS.unpack_from(content, _HEADER + _COUNTS.size)
    found: set[int] = set()
    links: dict[int, tuple[int, ...]] = {}
    for number, (count, head) in enumerate(zip(counts, heads, strict=True)):
        listed = _follow_list(start, content, sizes, (head, count, _SIZE_LEAST + 16 * number))
        found |= listed.keys()
        for block, link in listed.items():
            if link:
                links[link] = (*links.get(link, ()), block)
    return frozenset(found), links


def _follow_list(
    start: int, content: bytes, sizes: Mapping[int, int], bin_: tuple[int, int, int]
) -> dict[int, int]:
    """Return the blocks of one list with their stored links; nothing if it is not as counted."""
    head, count, chunk_size = bin_
    for is_mangled in (True, False):
        found: dict[int, int] = {}
        block = head
        while block and len(found) < min(count, _LIST_MAX):
            at = block - start
            if sizes.get(at - _HEADER) != chunk_size or block in found:
                break
            found[block] = _word(content, at)
            block = found[block] ^ (block >> _PAGE_BITS if is_mangled else 0)
        if not block and len(found) == count:
            return found
    return {}


def _read_fastbins(
    start: int, content: bytes, chunks: Sequence[tuple[int, int]], data: Sequence[bytes]
) -> frozenset[int]:
    """Return the blocks in the lists of the main arena, which names the heap's last chunk.

    A list is followed as far as its links lead to chunks of its size: the program may have written
    to a freed block.
    """
    sizes = dict(chunks)
    top = start + chunks[-1][0]
    for one in data:
        for at in range(_TOP, len(one) - 7, 8):
            if _word(one, at) != top:
                continue
            begin = at - _TOP + _FAST_HEADS
            heads = [_word(one, begin + 8 * number) for number in range(_FAST_BINS)]
            bins = [(head, _SIZE_LEAST + 16 * number) for number, head in enumerate(heads) if head]
            if all(sizes.get(head - start) == size for head, size in bins):
                return frozenset(
                    block for each in bins for block in _follow_fast(start, content, sizes, each)
                )
    return frozenset()


def _follow_fast(
    start: int, content: bytes, sizes: Mapping[int, int], bin_: tuple[int, int]
) -> set[int]:
    chunk, size = bin_
    found: set[int] = set()
    while sizes.get(chunk - start) == size and chunk + _HEADER not in found:
        block = chunk + _HEADER
        found.add(block)
        link = _word(content, block - start)
        mangled = link ^ (block >> _PAGE_BITS)
        chunk = mangled if sizes.get(mangled - start) == size else link
    return found


def _word(content: bytes, at: int) -> int:
    return int(_WORD.unpack_from(content, at)[0]) if 0 <= at <= len(content) - 8 else 0
