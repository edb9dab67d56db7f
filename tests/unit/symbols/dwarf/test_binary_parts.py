"""A part of a binary gives the same as the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import build_debuggee
from debugger.symbols.dwarf import attribute_forms, code_spans
from debugger.symbols.dwarf.binary_image import BinaryImage


@pytest.mark.parametrize("name", ["memory.c", "expressions.cpp"])
def test_the_spans_at_an_address_are_those_of_its_unit(name: str) -> None:
    part, whole = BinaryImage(build_debuggee(name)), BinaryImage(build_debuggee(name))
    looked = 0
    for unit in whole.units:
        of_unit = whole.lines.unit_spans(unit.offset)
        for span in of_unit:
            for address in {span.low, (span.low + span.high) // 2, span.high - 1}:
                here = part.lines.spans_at(unit.offset, address)
                assert code_spans.enclosing_spans(here, address) == code_spans.enclosing_spans(
                    of_unit, address
                )
                assert code_spans.block_entry(here, address) == code_spans.block_entry(
                    of_unit, address
                )
                looked += 1
    assert looked > 10


def test_the_spans_at_an_address_come_from_the_cache(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = build_debuggee("expressions.cpp")
    first = BinaryImage(path, cache=tmp_path)
    address = first.functions.find_by_name("main")[0].address
    unit = first.units.unit_at_address(address)
    assert unit is not None
    wanted = first.lines.spans_at(unit.offset, address)
    first.close()
    again = BinaryImage(path, cache=tmp_path)
    assert again.lines.spans_at(unit.offset, address) == wanted
    assert again.units.last_read is None
    again.close()


def test_a_unit_that_was_read_for_a_moment_is_not_read_again() -> None:
    image = BinaryImage(build_debuggee("expressions.cpp"))
    main = image.functions.find_by_name("main")[0]
    unit = image.units.unit_containing(main.entry)
    assert unit is not None
    assert image.lines.spans_at(unit.offset, main.address)
    read = image.units.last_read
    assert read is not None
    assert read.offset == unit.offset
    assert unit.find_entry(main.entry) is read.find_entry(main.entry)


@pytest.mark.parametrize("name", ["memory.c", "expressions.cpp"])
def test_an_abbreviation_is_the_same_whether_others_were_read_or_not(name: str) -> None:
    image = BinaryImage(build_debuggee(name))
    section = image.debug.read_section(".debug_abbrev")
    for unit in image.units:
        where = (section, unit.abbrev_offset, unit.word, unit.version)
        whole = attribute_forms.AbbreviationTable(*where).all_by_code()
        assert len(whole) > 5
        for code, wanted in whole.items():
            assert attribute_forms.AbbreviationTable(*where)[code] == wanted


def test_an_abbreviation_with_large_numbers_and_constants_ends_where_it_does() -> None:
    section = (
        b"\x01\x34\x00\x80\x01\x21\x00\x03\x21\x80\x80\x00\x00\x00"  # 0, and 3 bytes
        b"\x80\x01\xb4\x42\x01\x80\x08\x0b\x00\x00"  # code 128, a long tag
        b"\x02\x24\x00\x00\x00\x00"
    )
    whole = attribute_forms.AbbreviationTable(section, 0, 4, 5).all_by_code()
    assert {code: list(one.attributes) for code, one in whole.items()} == {
        1: [128, 3],
        128: [0x400],
        2: [],
    }
    assert whole[128].tag == 0x2134
    assert whole[128].has_children
    with pytest.raises(KeyError):
        attribute_forms.AbbreviationTable(section, 0, 4, 5)[3]


@pytest.mark.parametrize("name", ["memory.c", "expressions.cpp"])
def test_a_symbol_alone_is_the_one_of_all(name: str) -> None:
    whole = BinaryImage(build_debuggee(name))
    addresses = {
        one.address + offset
        for one in whole.binary.read_symbols()
        for offset in (-1, 0, 1, one.size)
    }
    assert len(addresses) > 20
    alone = BinaryImage(build_debuggee(name))
    for address in sorted(addresses):
        assert alone.binary.symbol_at(address) == whole.symbols.symbol_at(address), hex(address)
    for address in sorted(addresses):
        assert alone.symbol_at(address) == whole.symbols.symbol_at(address), hex(address)
    assert "symbols" in vars(alone)  # more than a few were asked for


def test_what_was_read_for_a_moment_is_not_taken_apart_while_another_holds_it() -> None:
    image = BinaryImage(build_debuggee("memory.c"))
    (main,) = image.functions.find_by_name("main")
    lines = BinaryImage(build_debuggee("memory.c")).lines
    unit = lines._units.unit_at_address(main.address)
    assert unit is not None
    assert lines._units.read_briefly(unit.offset).find_entry(main.entry) is not None
    held = unit.find_entry(main.entry)
    assert held is not None
    before = len(held.children)
    assert before > 0
    lines.unit_spans(unit.offset)
    assert len(held.children) == before
