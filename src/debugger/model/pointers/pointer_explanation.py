"""Explains one pointer in a line, from its bits and from what is known of the memory. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from debugger.model.pointers.glibc_heap import HeapBlock, HeapContent
from debugger.model.pointers.reinterpreted_values import describe_other_type
from debugger.model.pointers.value_patterns import (
    describe_number,
    describe_pattern,
    describe_repeated_byte,
    describe_text,
    is_canonical,
    is_kernel_half,
)
from debugger.model.signals import MemoryRegion
from debugger.model.text_filters import clip_text

TEXT_MAX = 160  # characters of an explanation
_NEAR = 64 << 10  # bytes to the mapping before
_NAME_MAX = 60
_DANGLING_MAX = 4096  # the largest alignment that Rust's NonNull::dangling() commonly shows
_DANGLING = "as Rust's empty collections and values without a size have"
_LOW_48 = (1 << 48) - 1
_HALF = 32  # bits
_HALF_MASK = (1 << _HALF) - 1
_HEADER = 8  # bytes between a block and the next: the size of the next chunk
_SHARED = "/dev/zero (deleted)"  # how Linux names memory that is shared without a file
_ODD_MAX = 8  # bytes: the alignment whose low bits may hold a tag


class PointerExplanation(Struct, frozen=True):
    """What a pointer is, in one word and in one line."""

    kind: str
    text: str
    # An ordinary pointer is explained only on request.
    is_suspicious: bool = False


class MemoryKnowledge(Struct, frozen=True):
    """What is known of a program's memory; an empty map: nothing."""

    regions: Sequence[MemoryRegion] = ()
    # The value of MALLOC_PERTURB_ in the program's environment.
    fill: int | None = None
    # The rules for canonical addresses are x86-64's.
    is_x86_64: bool = True
    # Rust's empty collections point to a small number.
    is_rust: bool = False
    # The map is that of a core file, which may omit some memory.
    is_core: bool = False

    def find_region(self, address: int) -> MemoryRegion | None:
        """Return the mapping that an address is in."""
        return next((one for one in self.regions if one.start <= address < one.end), None)


class MemorySymbol(Struct, frozen=True):
    """A function or an object of a loaded file: its name, its address and its size."""

    name: str
    start: int
    size: int
    file: str


def explain_value(value: int, known: MemoryKnowledge) -> PointerExplanation | None:
    """Explain a value that is no address of mapped memory; None for an address, and for null."""
    if not value or known.find_region(value) is not None:
        return None
    number = describe_number(value)
    if number is not None:
        if known.is_rust and value <= _DANGLING_MAX and value & (value - 1) == 0:
            return PointerExplanation("number", f"the number {value}, {_DANGLING}")
        return PointerExplanation("number", number, is_suspicious=True)
    canonical = is_canonical(value) if known.is_x86_64 else None
    if canonical is not False and not known.regions:
        # It may be mapped: only a pattern of all 64 bits is no coincidence.
        pattern = describe_pattern(value, known.fill) if value >> 32 else None
        return PointerExplanation("pattern", pattern, is_suspicious=True) if pattern else None
    return _explain_missing(value, known, is_address=canonical is not False)


def _explain_missing(value: int, known: MemoryKnowledge, *, is_address: bool) -> PointerExplanation:
    """Explain a value that is surely not mapped."""
    where = _missing_words(value, known, is_address=is_address)
    pattern = describe_pattern(value, known.fill)
    if pattern is not None:
        return PointerExplanation("pattern", f"{pattern}; {where}", is_suspicious=True)
    text = describe_text(value)
    if text is not None:
        return PointerExplanation("text", f"bytes `{text}`: text; {where}", is_suspicious=True)
    other = describe_other_type(value) or describe_repeated_byte(value)
    kind = "unmapped" if is_address else "no_address"
    return PointerExplanation(kind, f"{other}; {where}" if other else where, is_suspicious=True)


def _missing_words(value: int, known: MemoryKnowledge, *, is_address: bool) -> str:
    if not is_address:
        return "no address: not canonical"
    if known.is_x86_64 and is_kernel_half(value):
        return "not mapped: in the kernel's half of the address space"
    before = max(
        (one for one in known.regions if one.end <= value), key=lambda one: one.end, default=None
    )
    missing = "not in the core file's memory map" if known.is_core else "not mapped"
    if before is None or value - before.end >= _NEAR:
        return missing
    return f"{missing}: {value - before.end:,} bytes after {short_name(before.name)}"


def find_tagged_address(value: int, known: MemoryKnowledge) -> int | None:
    """Return the mapped address below a tag in the 16 highest bits; None if there is none."""
    address = value & _LOW_48
    # In the kernel's half an address may be none of a program's, but this one is not mapped.
    is_tagged = known.is_x86_64 and value != address and known.find_region(value) is None
    return address if is_tagged and known.find_region(address) is not None else None


def find_cut_address(value: int, region: MemoryRegion) -> int | None:
    """Return the address in a mapping whose low 32 bits a value is, perhaps with its sign."""
    if value >> _HALF not in {0, _HALF_MASK}:
        return None
    address = region.start & ~_HALF_MASK | value & _HALF_MASK
    return address if region.start <= address < region.end and address != value else None


def short_name(path: str) -> str:
    """Return a mapping's name without its folder."""
    return clip_text(path.rpartition("/")[2], _NAME_MAX) or "a mapped block"


def explain_heap(
    address: int, heap: HeapContent, *, is_aligned: bool = False
) -> PointerExplanation | None:
    """Explain an address in glibc's heap by its block, or by the blocks beside it; else None.

    With `is_aligned` the pointer's type has an alignment, so an odd address may have a tag.
    """
    block = heap.find_block(address)
    if block is not None:
        distance = address - block.start
        start = f"{distance:,} {_bytes(distance)} into a" if distance else "start of a"
        tag = ""
        if is_aligned and distance % 2 and distance < _ODD_MAX:
            tag = f", or its start with the tag {distance}"
        return PointerExplanation(
            "freed" if block.freed_in else "heap",
            f"{start} {_block_words(block)}{tag}",
            is_suspicious=bool(block.freed_in),
        )
    if heap.unused is not None and heap.unused[0] <= address < heap.unused[1]:
        return PointerExplanation("heap_end", "in the heap behind its last block: not allocated")
    before, after = heap.find_neighbours(address)
    if before is None or address - before.start - before.size >= _HEADER:
        return None
    distance = address - before.start - before.size
    place = f"{distance:,} {_bytes(distance)} behind" if distance else "the end of"
    following = f", before a {_block_words(after)}" if after is not None else ""
    return PointerExplanation("heap_edge", f"{place} a {_block_words(before)}{following}")


def _block_words(block: HeapBlock) -> str:
    listed = f" ({block.freed_in})" if block.freed_in else ""
    return f"{'freed ' if block.freed_in else ''}heap block of {block.size:,} bytes{listed}"


def _bytes(count: int) -> str:
    return "byte" if count == 1 else "bytes"


def explain_link(value: int, heap: HeapContent) -> PointerExplanation | None:
    """Explain a value that glibc has stored into a freed block as its mangled link."""
    blocks = heap.links.get(value)
    if not blocks:
        return None
    # The last blocks of all lists hold the same, if they lie in one page.
    where = f"the freed heap block at {blocks[0]:#x}" if len(blocks) == 1 else "freed heap blocks"
    text = f"what glibc's free wrote into {where} (a mangled link)"
    return PointerExplanation("freed_link", text, is_suspicious=True)


def explain_symbol(
    address: int, region: MemoryRegion, symbol: MemorySymbol | None
) -> PointerExplanation:
    """Explain an address in a mapping by its symbol, or by the mapping alone."""
    mode = region.mode[:3]
    if symbol is not None:
        distance = address - symbol.start
        name = clip_text(symbol.name, _NAME_MAX)
        file = short_name(symbol.file)
        if "x" in mode:
            place = f"{name}+{distance}" if distance else f"start of {name}"
            return PointerExplanation("code", f"code: {place}, in {file}")
        place = f"{distance:,} {_bytes(distance)} into" if distance else "start of"
        if distance >= symbol.size:
            beyond = distance - symbol.size
            place = f"{beyond:,} {_bytes(beyond)} behind" if beyond else "the end of"
        text = f"{place} {name} ({symbol.size:,} bytes), in {file}, {mode}"
        return PointerExplanation("object", text)
    return PointerExplanation("mapped", f"in {_region_words(address, region)}")


def _region_words(address: int, region: MemoryRegion) -> str:
    mode = region.mode[:3]
    if not region.name:
        return f"anonymous memory, {mode}, {_size_of(region)}"
    if region.name == _SHARED:
        return f"shared anonymous memory, {mode}, {_size_of(region)}"
    if region.name.startswith("/") and region.offset is not None:
        offset = region.offset + address - region.start
        return f"{short_name(region.name)}, {mode}, at its byte {offset:#x}"
    return f"{short_name(region.name)}, {mode}"


def _size_of(region: MemoryRegion) -> str:
    return f"{(region.end - region.start) >> 10:,} KiB"
