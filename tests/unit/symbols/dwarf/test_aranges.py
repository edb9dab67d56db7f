"""The table of addresses agrees with the units, and a broken one does no harm."""

from __future__ import annotations

import struct

import pytest

from debuggees import build_debuggee
from debugger.symbols.dwarf.address_ranges import AddressRanges, read_columns, read_spans
from debugger.symbols.dwarf.binary_image import BinaryImage


@pytest.mark.parametrize("name", ["memory.c", "expressions.cpp"])
def test_the_table_lists_what_the_units_have(name: str) -> None:
    image = BinaryImage(build_debuggee(name))
    listed = sorted(read_spans(image.debug.read_section(".debug_aranges")))
    of_units = sorted(
        (low, high, unit.offset) for unit in image.units for low, high in unit.code_ranges if low
    )
    assert listed
    assert listed == of_units


def test_a_unit_is_found_by_the_table_alone() -> None:
    image, whole = (
        BinaryImage(build_debuggee("expressions.cpp")),
        BinaryImage(build_debuggee("expressions.cpp")),
    )
    assert len(whole.units._unit_spans)  # reads all units, which the other must not
    for name in ("main", "level"):
        address = whole.functions.find_by_name(name)[0].address
        found, wanted = image.units.unit_at_address(address), whole.units.unit_at_address(address)
        assert found is not None
        assert wanted is not None
        assert found.offset == wanted.offset
    assert "_spans" not in vars(image.units)


def test_a_line_is_found_without_all_line_programs() -> None:
    image, whole = (
        BinaryImage(build_debuggee("expressions.cpp")),
        BinaryImage(build_debuggee("expressions.cpp")),
    )
    assert whole.lines.files
    address = whole.functions.find_by_name("main")[0].body
    assert image.lines.line_at(address) == whole.lines.line_at(address)
    assert "_index" not in vars(image.lines)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 11,
        struct.pack("<IHIBB", 1 << 20, 2, 0, 8, 0),
        struct.pack("<IHIBB", 0xFFFFFFFF, 2, 0, 8, 0),
        struct.pack("<IHIBB4xQQ", 28, 2, 0, 8, 0, 16, 1 << 60),
        struct.pack("<IHIBB4xQQ", 28, 9, 0, 8, 0, 16, 1),
    ],
)
def test_a_broken_table_lists_nothing(content: bytes) -> None:
    assert list(read_spans(content)) == []


def test_of_spans_that_overlap_the_inner_one_is_found() -> None:
    table = b"".join(
        struct.pack("<IHIBB4xQQQQ", 44, 2, unit, 8, 0, low, size, 0, 0)
        for unit, low, size in [(1, 0x1000, 0x100), (2, 0x1040, 0x10), (3, 0x2000, 0x10)]
    )
    found = AddressRanges(read_columns(table))
    asked = [0xFFF, 0x1000, 0x1048, 0x1050, 0x10FF, 0x1100, 0x200F, 0x2010]
    assert [found.unit_at(one) for one in asked] == [None, 1, 2, 1, 1, None, 3, None]
