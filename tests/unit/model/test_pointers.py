"""What the bits of a pointer, the memory map and glibc's heap say of it."""

from __future__ import annotations

import random
import struct

import pytest

from debugger.model.pointers.asan_shadow import explain_shadow, has_shadow, shadow_address
from debugger.model.pointers.glibc_heap import (
    HeapContent,
    find_first_chunk,
    find_first_thread_chunk,
    parse_heap,
    parse_mapped_size,
)
from debugger.model.pointers.pointer_explanation import (
    MemoryKnowledge,
    MemorySymbol,
    explain_heap,
    explain_link,
    explain_symbol,
    explain_value,
    find_cut_address,
    find_tagged_address,
)
from debugger.model.pointers.reinterpreted_values import describe_other_type
from debugger.model.pointers.value_patterns import (
    describe_number,
    describe_pattern,
    describe_text,
    is_canonical,
)
from debugger.model.signals import MemoryRegion

TEXT = int.from_bytes(b"H\x16data/0", "little")
MAP = MemoryKnowledge(
    (
        MemoryRegion(0x400000, 0x401000, "r-xp", "/bin/prog"),
        MemoryRegion(0x602000, 0x623000, "rw-p", "[heap]"),
        MemoryRegion(0x7FF000000000, 0x7FF000001000, "rw-p", ""),
    )
)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (TEXT, "text", r"bytes `H\x16data/0`: text; no address: not canonical"),
        (0x6F6C6C656820, "text", r"bytes ` hello\x00\x00`: text; not mapped"),
        (
            int.from_bytes(b" here", "little"),
            "text",
            r"bytes ` here\x00\x00\x00`: text; not mapped",
        ),
        (int.from_bytes(b"here", "little"), "unmapped", "not mapped"),
        (0xDEADBEEF, "pattern", "a common mark of memory that is freed or not set; not mapped"),
        (0xCDCDCDCDCDCDCDCD, "pattern", "how Visual C++ fills new heap memory, and gperftools'"),
        (0xABABABABABABABAB, "pattern", "how gperftools' debugging malloc fills new memory"),
        (0xBEBEBEBEBEBEBEC6, "pattern", "0x8 above 0xbebebebebebebebe, how AddressSanitizer"),
        (0x5A5A5A5A5A5A5A5A, "pattern", "how jemalloc fills freed heap memory"),
        (0xDEADDEADDEADDEAD, "pattern", "how Go's -d=clobberdead marks dead variables"),
        (0x10, "number", "the number 16, or 16 bytes from a null pointer"),
        ((1 << 64) - 12, "number", "the number -12, -ENOMEM as an error"),
        ((1 << 64) - 1, "number", "the number -1, as MAP_FAILED and other errors are"),
        ((1 << 32) - 1, "unmapped", "the number -1 of 32 bits, without its sign extended; not map"),
        (0xFFFF888000001000, "unmapped", "not mapped: in the kernel's half of the address space"),
        (0x4141414141414141, "no_address", "each of its bytes is 0x41 (`A`); no address"),
        (0x1111111111111111, "no_address", "each of its bytes is 0x11; no address"),
        (0x8000000012345678, "no_address", "no address: not canonical"),
        (0x123456789000, "unmapped", "not mapped"),
        (0x623010, "unmapped", "not mapped: 16 bytes after [heap]"),
    ],
)
def test_a_value_that_is_no_address_is_explained(value: int, kind: str, text: str) -> None:
    found = explain_value(value, MAP)
    assert found is not None
    assert found.kind == kind
    assert found.text.startswith(text)
    assert found.is_suspicious


@pytest.mark.parametrize("value", [0, 0x400010, 0x602010, 0x7FF000000FFF])
def test_null_and_an_address_that_is_mapped_are_not_explained_by_their_bits(value: int) -> None:
    assert explain_value(value, MAP) is None


@pytest.mark.parametrize("value", [0x6F6C6C656820, 0x123456789000, 0xDEADBEEF, 0x55AA00000000])
def test_without_a_memory_map_nothing_is_said_of_what_may_be_an_address(value: int) -> None:
    assert explain_value(value, MemoryKnowledge()) is None


def test_without_x86_64s_rules_no_address_is_called_not_canonical() -> None:
    assert explain_value(TEXT, MemoryKnowledge(is_x86_64=False)) is None
    assert explain_value(0xB400007FF0001234, MemoryKnowledge(is_x86_64=False)) is None


def test_an_address_that_only_five_levels_of_page_tables_have_is_not_judged() -> None:
    assert [is_canonical(one) for one in (0x00FF000000000000, 0xFF00000000000000)] == [None, None]
    assert [is_canonical(one) for one in (0x7FFFFFFFFFFF, 0xFFFF800000000000)] == [True, True]
    assert [is_canonical(one) for one in (TEXT, 0xDEADBEEFDEADBEEF)] == [False, False]


def test_rusts_dangling_pointers_are_not_suspicious() -> None:
    rust = MemoryKnowledge(MAP.regions, is_rust=True)
    found = [explain_value(one, rust) for one in (1, 8, 24)]
    assert [one.is_suspicious for one in found if one] == [False, False, True]


def test_the_fill_byte_of_this_run_is_named_before_other_patterns() -> None:
    assert describe_pattern(0xA5A5A5A5A5A5A5A5) == "how jemalloc fills new heap memory"
    freed = "how glibc fills freed memory, by MALLOC_PERTURB_"
    assert describe_pattern(0xA5A5A5A5A5A5A5A5, 0xA5) == freed
    new = "how glibc fills new memory, by MALLOC_PERTURB_"
    assert describe_pattern(0x5A5A5A5A5A5A5A5A, 0xA5) == new
    assert describe_pattern(0xA5A5A5A5A5A5A5A5 - 1) is None


@pytest.mark.parametrize("value", [0x5555555592A0, 0x0061626364650000, 0x4141414141414141, 5])
def test_few_printable_bytes_and_one_repeated_byte_are_no_text(value: int) -> None:
    assert describe_text(value) is None


@pytest.mark.parametrize("value", [0, 0x10000, (1 << 64) - 4096, 0x7FFFFFFFFFFF])
def test_a_value_far_from_zero_is_no_small_number(value: int) -> None:
    assert describe_number(value) is None


START, END = 0x602000, 0x623000
SIZES = (0x30, 0x30, 0x20, 0x90, 0x20)  # of chunks; the two first are in the tcache


def make_heap(*, mangled: bool = True, broken: bool = False) -> bytes:
    """Build a heap: a tcache with two freed blocks, one block in a free list, two in use."""
    content = bytearray(END - START)
    struct.pack_into("<QQ", content, 0, 0, 0x291)
    at, users = 0x290, []
    for size in SIZES:
        struct.pack_into("<Q", content, at + 8, size | 1)
        users.append(START + at + 16)
        at += size
    struct.pack_into("<Q", content, at + 8, (END - START - at) | 1)
    # The fourth block is free: the chunk behind it says so, and how long it is.
    struct.pack_into("<QQ", content, users[4] - 16 - START, 0x90, SIZES[4])
    struct.pack_into("<H", content, 16 + 2 * 1, 3 if broken else 2)
    struct.pack_into("<Q", content, 16 + 128 + 8 * 1, users[1])
    for block, following in ((users[1], users[0]), (users[0], 0)):
        link = following ^ (block >> 12 if mangled else 0)
        struct.pack_into("<Q", content, block - START, link)
    return bytes(content)


def parsed(content: bytes) -> HeapContent:
    found = parse_heap(START, END, content)
    assert found is not None
    return found


@pytest.mark.parametrize("mangled", [True, False])
def test_blocks_in_the_tcache_and_in_free_lists_are_freed_and_others_are_not(mangled: bool) -> None:
    heap = parsed(make_heap(mangled=mangled))
    assert [one.freed_in for one in heap.blocks] == [
        "",
        "glibc's tcache",
        "glibc's tcache",
        "",
        "a free list of glibc's",
        "",
    ]
    said = explain_heap(heap.blocks[1].start + 24, heap)
    assert said is not None
    assert said.text == "24 bytes into a freed heap block of 40 bytes (glibc's tcache)"
    in_use = explain_heap(heap.blocks[3].start, heap)
    assert in_use is not None
    assert (in_use.text, in_use.is_suspicious) == ("start of a heap block of 24 bytes", False)
    end = explain_heap(END - 8, heap)
    assert end is not None
    assert end.text == "in the heap behind its last block: not allocated"


def test_a_block_in_a_fastbin_is_freed_though_its_chunk_looks_used() -> None:
    content = bytearray(make_heap())
    third, last = START + 0x290 + 0x60, START + 0x290 + 0x60 + 0x20 + 0x90
    top = last + 0x20
    # The list's first chunk is the last block of 0x20 bytes, whose link leads to the other one.
    struct.pack_into("<Q", content, last + 16 - START, third ^ ((last + 16) >> 12))
    arena = struct.pack("<4I10QQ", 0, 0, 1, 0, last, *(0,) * 9, top)
    heap = parse_heap(START, END, bytes(content), [b"\0" * 40, b"\0" * 8 + arena])
    assert heap is not None
    assert [one.freed_in for one in heap.blocks][3::2] == ["a fastbin of glibc's"] * 2
    wrong = struct.pack("<4I10QQ", 0, 0, 1, 0, last + 8, *(0,) * 9, top)
    unread = parse_heap(START, END, bytes(content), [wrong])
    assert unread is not None
    assert [one.freed_in for one in unread.blocks][3::2] == ["", ""]


def test_the_end_of_a_full_block_is_in_no_block() -> None:
    heap = parsed(make_heap())
    said = explain_heap(heap.blocks[3].start + 24, heap)
    assert said is not None
    assert (said.kind, said.is_suspicious) == ("heap_edge", False)
    assert said.text.startswith("the end of a heap block of 24 bytes, before a freed heap block")
    said = explain_heap(heap.blocks[3].start + 25, heap)
    assert said is not None
    assert said.text.startswith("1 byte behind a heap block of 24 bytes, before a freed")


def test_the_same_link_in_several_freed_blocks_names_none_of_them() -> None:
    heap = parsed(make_heap())
    (last,) = [one for one in heap.links if one == heap.blocks[1].start >> 12]
    twice = HeapContent(heap.blocks, None, {last: (heap.blocks[1].start, heap.blocks[2].start)})
    said = explain_link(last, twice)
    assert said is not None
    assert said.text == "what glibc's free wrote into freed heap blocks (a mangled link)"


def test_an_odd_address_of_an_aligned_type_may_have_a_tag() -> None:
    heap = parsed(make_heap())
    start = heap.blocks[3].start
    said = [explain_heap(start + at, heap, is_aligned=True) for at in (1, 2, 9)]
    assert [one.text for one in said if one] == [
        "1 byte into a heap block of 24 bytes, or its start with the tag 1",
        "2 bytes into a heap block of 24 bytes",
        "9 bytes into a heap block of 24 bytes",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0x400A000000000000, "the bits of the double 3.25"),
        (0xBFF0000000000000, "the bits of the double -1.0"),
        (0x64006300620061, "bytes `abcd`: text in UTF-16"),
        (0xDEADBEEF00000000, "its high half is 0xdeadbeef, a common mark of memory"),
        (0x5555DEADBEEF, "its low half is 0xdeadbeef, a common mark of memory"),
        (0xC00000007, "as two numbers of 32 bits: 7, 12"),
        (0x7FFF00000010, None),
        (0xFFFFFFFF80000000, "the number -2,147,483,648 of 32 bits, with its sign extended"),
        (0x400921F9F01B866F, None),
    ],
)
def test_a_value_of_another_type_is_recognized(value: int, text: str | None) -> None:
    said = describe_other_type(value)
    assert (said is None) == (text is None)
    assert (said or "").startswith(text or "")


def test_random_bits_are_seldom_taken_for_text_or_another_type() -> None:
    bits = random.Random(5)
    values = [bits.getrandbits(64) for _ in range(20_000)]
    assert sum(describe_text(one) is not None for one in values) < 100
    assert sum(describe_other_type(one) is not None for one in values) == 0


def test_an_address_below_a_tag_or_cut_to_its_low_half_is_found() -> None:
    assert find_tagged_address(0x5A00000000602010, MAP) == 0x602010
    assert find_tagged_address(0x5A00000000702010, MAP) is None
    assert find_tagged_address(0x602010, MAP) is None
    assert find_tagged_address(0xFFFF000000602010, MAP) == 0x602010
    high = MemoryRegion(0x555555561000, 0x555555582000, "rw-p", "[heap]")
    assert find_cut_address(0x555613D0, high) == 0x5555555613D0
    assert find_cut_address(0xFFFFFFFF_555613D0, high) == 0x5555555613D0
    assert find_cut_address(0x5555555613D0, high) is None
    assert find_cut_address(0x455613D0, high) is None


def test_the_first_chunk_of_a_threads_heap_follows_its_arena() -> None:
    start = 0x7FFFF0000000
    content = bytearray(0x2000)
    struct.pack_into("<Q", content, 0, start + 0x30)
    struct.pack_into("<Q", content, 0x8D8, 0x295)
    assert find_first_thread_chunk(start, bytes(content)) == 0x8D0
    assert find_first_thread_chunk(start + 0x1000, bytes(content)) is None
    struct.pack_into("<Q", content, 0, start + 0x38)
    assert find_first_thread_chunk(start, bytes(content)) is None


def test_a_large_block_is_known_by_the_header_of_its_own_mapping() -> None:
    assert parse_mapped_size(struct.pack("<QQ", 0, 0x101002)) == 0x101000
    wrong = [(0, 0x101000), (0, 0x101003), (8, 0x101002), (0, 0x101012), (0, 0x1F002)]
    assert [parse_mapped_size(struct.pack("<QQ", *one)) for one in wrong] == [0] * len(wrong)
    assert parse_mapped_size(b"") == 0


def test_a_link_that_free_has_written_is_recognized() -> None:
    heap = parsed(make_heap())
    first, second = heap.blocks[1].start, heap.blocks[2].start
    said = explain_link(first ^ (second >> 12), heap)
    assert said is not None
    assert said.kind == "freed_link"
    assert hex(second) in said.text
    assert explain_link(first, heap) is None


def test_a_list_that_is_not_as_long_as_counted_claims_nothing() -> None:
    heap = parsed(make_heap(broken=True))
    assert [one.freed_in for one in heap.blocks[:4]] == ["", "", "", ""]
    assert not heap.links


def test_what_is_not_consistent_is_no_heap() -> None:
    content = bytearray(make_heap())
    assert parse_heap(START, END + 16, bytes(content) + b"\0" * 16) is None
    struct.pack_into("<Q", content, 0x298, 0x38)  # no multiple of 16
    assert parse_heap(START, END, bytes(content)) is None
    assert parse_heap(START, END, b"\0" * (END - START)) is None
    assert parse_heap(START, END, b"") is None


def test_a_heap_that_is_read_in_part_is_known_as_far_as_it_was_read() -> None:
    heap = parse_heap(START, END, make_heap()[:0x2F8])
    assert heap is not None
    assert [one.size for one in heap.blocks] == [0x288, 0x28]
    assert heap.unused is None


def test_the_heap_behind_zeroed_data_is_found_at_the_beginning_of_a_page() -> None:
    assert find_first_chunk(b"\0" * 0x3000 + make_heap()) == 0x3000
    assert find_first_chunk(b"\0" * 0x3010 + make_heap()) is None


def test_the_heap_behind_a_static_programs_own_data_is_found_anywhere_in_its_first_pages() -> None:
    assert find_first_chunk(b"\0" * 0x6D0 + make_heap()) == 0x6D0


def test_asans_shadow_tells_freed_memory_from_what_may_be_used() -> None:
    shadow = (
        MemoryRegion(0x7FFF7000, 0x8FFF7000, "rw-p", ""),
        MemoryRegion(0x2008FFF7000, 0x10007FFF8000, "rw-p", ""),
    )
    assert has_shadow(shadow)
    assert not has_shadow(MAP.regions)
    assert shadow_address(0x604000000050) == (0x604000000050 >> 3) + 0x7FFF8000
    freed = explain_shadow(0x604000000050, 0xFD)
    assert freed is not None
    assert (freed.kind, freed.is_suspicious) == ("freed", True)
    edge = explain_shadow(0x604000000044, 0x04)
    assert edge is not None
    assert (edge.text, edge.is_suspicious) == (
        "just behind what may be used (by AddressSanitizer)",
        False,
    )
    assert [explain_shadow(0x604000000043, 0x04), explain_shadow(0x604000000040, 0)] == [None, None]


def test_a_symbol_says_where_in_it_an_address_is() -> None:
    code, data = MAP.regions[0], MAP.regions[2]
    function = MemorySymbol("helper", 0x400010, 32, "/bin/prog")
    assert explain_symbol(0x400014, code, function).text == "code: helper+4, in prog"
    table = MemorySymbol("table", 0x7FF000000000, 128, "/bin/prog")
    said = explain_symbol(0x7FF000000020, data, table).text
    assert said == "32 bytes into table (128 bytes), in prog, rw-"
    assert explain_symbol(0x7FF000000020, data, None).text == "in anonymous memory, rw-, 4 KiB"
    file = MemoryRegion(0x7FF000000000, 0x7FF000001000, "r--p", "/data/big.bin", 0x2000)
    said = explain_symbol(0x7FF000000020, file, None).text
    assert said == "in big.bin, r--, at its byte 0x2020"
    shared = MemoryRegion(0x7FF000000000, 0x7FF000001000, "rw-s", "/dev/zero (deleted)", 0)
    said = explain_symbol(0x7FF000000020, shared, None).text
    assert said == "in shared anonymous memory, rw-, 4 KiB"
