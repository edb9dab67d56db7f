"""Does the table of addresses say the same as the units themselves, and is a broken one no harm?"""

from __future__ import annotations

import struct

import pytest

from debuggees import build
from debugger.backends.frida.dwarf.aranges import Arranged, columns, spans
from debugger.backends.frida.dwarf.image import Image


@pytest.mark.parametrize("name", ["memory.c", "expressions.cpp"])
def test_the_table_lists_what_the_units_have(name: str) -> None:
    image = Image(build(name))
    listed = sorted(spans(image.debug.section(".debug_aranges")))
    of_units = sorted(
        (low, high, unit.offset) for unit in image.units for low, high in unit.ranges if low
    )
    assert listed
    assert listed == of_units


def test_a_unit_is_found_by_the_table_alone() -> None:
    image, whole = Image(build("expressions.cpp")), Image(build("expressions.cpp"))
    assert len(whole.units._spans)  # reads all units, which the other must not
    for name in ("main", "level"):
        address = whole.functions.named(name)[0].address
        found, wanted = image.units.at(address), whole.units.at(address)
        assert found is not None
        assert wanted is not None
        assert found.offset == wanted.offset
    assert "_spans" not in vars(image.units)


def test_a_line_is_found_without_all_line_programs() -> None:
    image, whole = Image(build("expressions.cpp")), Image(build("expressions.cpp"))
    assert whole.lines.files
    address = whole.functions.named("main")[0].body
    assert image.lines.at(address) == whole.lines.at(address)
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
    assert list(spans(content)) == []


def test_of_spans_that_overlap_the_inner_one_is_found() -> None:
    table = b"".join(
        struct.pack("<IHIBB4xQQQQ", 44, 2, unit, 8, 0, low, size, 0, 0)
        for unit, low, size in [(1, 0x1000, 0x100), (2, 0x1040, 0x10), (3, 0x2000, 0x10)]
    )
    found = Arranged(columns(table))
    asked = [0xFFF, 0x1000, 0x1048, 0x1050, 0x10FF, 0x1100, 0x200F, 0x2010]
    assert [found.unit_at(one) for one in asked] == [None, 1, 2, 1, 1, None, 3, None]
