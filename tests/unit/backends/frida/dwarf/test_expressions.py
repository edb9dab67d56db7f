from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.backends.frida.dwarf.expressions import (
    Context,
    Gone,
    InMemory,
    InRegister,
    Known,
    Pieces,
    Unreadable,
    evaluate,
)
from debugger.backends.frida.dwarf.operations import Operation, parse


def read(address, size):
    if address < 0x1000:
        raise Unreadable(address)
    return address.to_bytes(8, "little")[:size]


def where(code, **known):
    given_ = {"cfa": 0x7000, "frame_base": lambda: 0x6000, "bias": 0x100}
    return evaluate(parse(bytes(code)), Context({6: 0x5000, 7: 0x4000}, read, **(given_ | known)))


@pytest.mark.parametrize(
    ("code", "site"),
    [
        ([0x91, 0x6C], InMemory(0x6000 - 20)),
        ([0x76, 0x10], InMemory(0x5010)),
        ([0x56], InRegister(6)),
        ([0x90, 0x11], InRegister(17)),
        ([0x03, 0, 0x20, 0, 0, 0, 0, 0, 0], InMemory(0x2100)),
        ([0x9C, 0x08, 8, 0x1C], InMemory(0x7000 - 8)),
        ([0x35, 0x9F], Known((5).to_bytes(8, "little"))),
        ([0x9E, 2, 1, 2], Known(b"\1\2")),
        ([0x32, 0x33, 0x1C, 0x9F], Known(b"\xff" * 8)),
        ([0x33, 0x32, 0x16, 0x1C, 0x9F], Known(b"\xff" * 8)),
        ([0x37, 0x33, 0x1B, 0x9F], Known((2).to_bytes(8, "little"))),
        ([0x77, 0, 0x06], InMemory(0x4000)),
        ([0x77, 0, 0x94, 1, 0x9F], Known(bytes(8))),
        # 1 is true: over the next constant, to the last.
        ([0x39, 0x31, 0x28, 1, 0, 0x3A, 0x9F], Known((9).to_bytes(8, "little"))),
        ([0x50, 0x93, 4, 0x93, 4], Pieces(((InRegister(0), 4), (Gone(), 4)))),
        ([], Gone()),
        ([0xA3, 1, 0x55, 0x9F], Gone()),
    ],
)
def test_an_expression_leads_where_it_says(code, site):
    assert where(code) == site


@pytest.mark.parametrize("code", [[0x06], [0x30, 0x30, 0x1B], [0x22], [0x16]])
def test_a_broken_expression_leads_nowhere(code):
    assert where(code) == Gone("a broken expression")


def test_a_register_that_was_not_saved_is_said():
    assert where([0x70, 0]) == Gone("in a register that was not saved")


def test_a_value_at_the_entry_is_asked_of_the_caller():
    code = [0xA3, 1, 0x55, 0x23, 1, 0x9F]  # entry_value(reg5) plus_uconst 1 stack_value
    known = {bytes([0x55]): 41}
    assert where(code, entry_value=known.__getitem__) == Known((42).to_bytes(8, "little"))
    assert where(code) == Gone("optimized out")


def test_a_loop_ends():
    assert isinstance(where([0x31, 0x2F, 0xFC, 0xFF]), InMemory)


def test_memory_that_cannot_be_read_is_raised():
    with pytest.raises(Unreadable, match="<unreadable 0x5>"):
        where([0x35, 0x06])


def test_the_operations_can_be_translated_elsewhere():
    assert parse(bytes([0x91, 0x6C])) == (Operation("fbreg", -20),)
    jump = parse(bytes([0x31, 0x28, 1, 0, 0x30, 0x96]))
    assert [one.name for one in jump] == ["const", "bra", "const", "nop"]
    assert jump[1].first == 3


@given(st.binary(max_size=40))
def test_no_bytes_make_an_evaluation_fail_otherwise(code):
    try:
        operations = parse(code)
    except IndexError:
        return
    with contextlib.suppress(Unreadable):
        evaluate(operations, Context({}, read, frame_base=lambda: 0x6000))
