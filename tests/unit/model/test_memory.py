"""Bytes of memory are formatted, and parsed as users write them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.number_format import find_layout, memory_rows, parse_bytes


def shown(data: bytes, form: str) -> list[str]:
    return [row.text for row in memory_rows(0x1000, data, form)]


def test_hexadecimal_rows_have_sixteen_bytes_and_their_letters():
    found = memory_rows(0x1000, bytes(range(0x41, 0x41 + 20)), "hex")
    assert [row.address for row in found] == ["0x1000", "0x1010"]
    assert found[0].text.startswith("41 42 43")
    assert found[0].text.endswith("  ABCDEFGHIJKLMNOP")
    assert found[1].text.split() == ["51", "52", "53", "54", "QRST"]


@pytest.mark.parametrize(
    ("form", "data", "text"),
    [
        ("bytes", b"\x00\xff", "00 ff"),
        ("char", b"a\x00b", "a.b"),
        ("u8", b"\x00\xff", "0 255"),
        ("i8", b"\xff", "-1"),
        ("u16", b"\x01\x02", "513"),
        ("i32", struct.pack("<ii", -7, 8), "-7 8"),
        ("u64", struct.pack("<Q", 2**64 - 1), str(2**64 - 1)),
        ("f32", struct.pack("<f", 1.5), "1.5"),
        ("f64", struct.pack("<d", -0.25), "-0.25"),
        ("pointer", struct.pack("<Q", 0x7FFF), "0x0000000000007fff"),
        ("u32", b"\x01\x00\x00\x00\x02", "1 (02)"),
    ],
)
def test_items_are_little_endian_and_a_rest_is_shown(form: str, data: bytes, text: str):
    assert shown(data, form) == [text]


def test_a_string_ends_at_its_nul_and_says_where_there_is_none():
    assert shown(b"hello\0world", "string") == ['"hello"']
    assert shown(b"", "string") == ['""', "… (no NUL so far)"]
    assert shown(b"abc", "string") == ['"abc"', "… (no NUL so far)"]


@pytest.mark.parametrize("text", ["de ad be ef", "0xdeadbeef", "deadbeef", "de,ad,be ef"])
def test_bytes_are_read_in_the_order_of_memory(text: str):
    assert parse_bytes(text) == b"\xde\xad\xbe\xef"


@pytest.mark.parametrize("text", ["", "xyz", "abc", "0x", "1 2 3g", "-1"])
def test_what_is_no_bytes_is_refused(text: str):
    with pytest.raises(DebuggerError) as raised:
        parse_bytes(text)
    assert raised.value.code is ErrorCode.USAGE
    assert raised.value.hint


def test_one_digit_is_a_byte():
    assert parse_bytes("1 2 f") == b"\x01\x02\x0f"


@given(st.binary(max_size=200), st.sampled_from(["hex", "bytes", "string", "u32", "f64", "char"]))
def test_any_bytes_can_be_laid_out(data: bytes, form: str):
    assert all(row.address.startswith("0x") for row in memory_rows(0, data, form))


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(DebuggerError, match="u16") as raised:
        find_layout("roman")
    assert raised.value.code is ErrorCode.USAGE
