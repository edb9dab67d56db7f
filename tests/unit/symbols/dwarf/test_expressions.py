from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.symbols.dwarf.location_evaluation import (
    EvaluationContext,
    KnownSite,
    LocationOperation,
    MemorySite,
    OptimizedOutSite,
    PiecedSite,
    RegisterSite,
    UnreadableMemory,
    evaluate_location,
    parse_operations,
)


def read(address, size):
    if address < 0x1000:
        raise UnreadableMemory(address)
    return address.to_bytes(8, "little")[:size]


def where(code, **known):
    given_ = {"cfa": 0x7000, "frame_base": lambda: 0x6000, "bias": 0x100}
    return evaluate_location(
        parse_operations(bytes(code)),
        EvaluationContext({6: 0x5000, 7: 0x4000}, read, **(given_ | known)),
    )


@pytest.mark.parametrize(
    ("code", "site"),
    [
        ([0x91, 0x6C], MemorySite(0x6000 - 20)),
        ([0x76, 0x10], MemorySite(0x5010)),
        ([0x56], RegisterSite(6)),
        ([0x90, 0x11], RegisterSite(17)),
        ([0x03, 0, 0x20, 0, 0, 0, 0, 0, 0], MemorySite(0x2100)),
        ([0x9C, 0x08, 8, 0x1C], MemorySite(0x7000 - 8)),
        ([0x35, 0x9F], KnownSite((5).to_bytes(8, "little"))),
        ([0x9E, 2, 1, 2], KnownSite(b"\1\2")),
        ([0x32, 0x33, 0x1C, 0x9F], KnownSite(b"\xff" * 8)),
        ([0x33, 0x32, 0x16, 0x1C, 0x9F], KnownSite(b"\xff" * 8)),
        ([0x37, 0x33, 0x1B, 0x9F], KnownSite((2).to_bytes(8, "little"))),
        ([0x77, 0, 0x06], MemorySite(0x4000)),
        ([0x77, 0, 0x94, 1, 0x9F], KnownSite(bytes(8))),
        # 1 is true: over the next constant, to the last.
        ([0x39, 0x31, 0x28, 1, 0, 0x3A, 0x9F], KnownSite((9).to_bytes(8, "little"))),
        ([0x50, 0x93, 4, 0x93, 4], PiecedSite(((RegisterSite(0), 4), (OptimizedOutSite(), 4)))),
        ([], OptimizedOutSite()),
        ([0xA3, 1, 0x55, 0x9F], OptimizedOutSite()),
    ],
)
def test_an_expression_leads_where_it_says(code, site):
    assert where(code) == site


@pytest.mark.parametrize("code", [[0x06], [0x30, 0x30, 0x1B], [0x22], [0x16]])
def test_a_broken_expression_leads_nowhere(code):
    assert where(code) == OptimizedOutSite("a broken expression")


def test_a_register_that_was_not_saved_is_said():
    assert where([0x70, 0]) == OptimizedOutSite("in a register that was not saved")


def test_a_value_at_the_entry_is_asked_of_the_caller():
    code = [0xA3, 1, 0x55, 0x23, 1, 0x9F]  # entry_value(reg5) plus_uconst 1 stack_value
    known = {bytes([0x55]): 41}
    assert where(code, entry_value=known.__getitem__) == KnownSite((42).to_bytes(8, "little"))
    assert where(code) == OptimizedOutSite("optimized out")


def test_a_loop_ends():
    assert isinstance(where([0x31, 0x2F, 0xFC, 0xFF]), MemorySite)


def test_memory_that_cannot_be_read_is_raised():
    with pytest.raises(UnreadableMemory, match="<unreadable 0x5>"):
        where([0x35, 0x06])


def test_the_operations_can_be_translated_elsewhere():
    assert parse_operations(bytes([0x91, 0x6C])) == (LocationOperation("fbreg", -20),)
    jump = parse_operations(bytes([0x31, 0x28, 1, 0, 0x30, 0x96]))
    assert [one.name for one in jump] == ["const", "bra", "const", "nop"]
    assert jump[1].first == 3


@given(st.binary(max_size=40))
def test_no_bytes_make_an_evaluation_fail_otherwise(code):
    try:
        operations = parse_operations(code)
    except IndexError:
        return
    with contextlib.suppress(UnreadableMemory):
        evaluate_location(operations, EvaluationContext({}, read, frame_base=lambda: 0x6000))
