"""Integers of debuggers are parsed and formatted in every form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.number_format import (
    NumberFormat,
    find_format,
    format_number,
    integer_bits,
    parse_integer,
)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("5", 5),
        ("-5", -5),
        ("0x2a", 42),
        ("97 'a'", 97),
        ("'a'", 97),
        ("'\\n'", 10),
        ("'\\x1b'", 27),
        ("'\\033'", 27),
        ("255n", 255),
        ("1_000", 1000),
        ("true", 1),
        ("False", 0),
        ("(int) 7", 7),
        ("0x00007ffff7fca000 <main+4>", 0x7FFFF7FCA000),
        ('0x0000555555556004 "hello"', 0x555555556004),
        ("1.5", None),
        ("nan", None),
        ("'text'", None),
        ("{x:1}", None),
        ("5 apples", None),
        ("", None),
    ],
)
def test_an_integer_is_read_as_debuggers_write_it(value: str, number: int | None):
    assert parse_integer(value) == number


@pytest.mark.parametrize(
    ("value", "kind", "shape", "shown"),
    [
        ("255", "int", NumberFormat.HEX, "0xff"),
        ("-1", "int", NumberFormat.HEX, "0xffffffff"),
        ("-1", "const unsigned char", NumberFormat.BINARY, "0b11111111"),
        ("-2", "i64", NumberFormat.HEX, "0xfffffffffffffffe"),
        ("-1", "some_type", NumberFormat.HEX, "-0x1"),
        ("8", "int", NumberFormat.OCTAL, "0o10"),
        ("0x10", "int *", NumberFormat.DECIMAL, "16"),
        ("0x10", "int *", NumberFormat.ADDRESS, "0x0000000000000010"),
        ("10", "char", NumberFormat.CHAR, "10 '\\x0a'"),
        ("65", "int", NumberFormat.CHAR, "65 'A'"),
        ("-1", "char", NumberFormat.CHAR, "255 'ÿ'"),
    ],
)
def test_a_number_is_written_in_another_form(
    value: str, kind: str, shape: NumberFormat, shown: str
):
    assert format_number(value, kind, shape) == shown


def test_integers_without_a_size_keep_their_sign():
    assert format_number("-255", "int", NumberFormat.HEX, is_bounded=False) == "-0xff"


@given(st.integers(min_value=-(2**63), max_value=2**64 - 1))
def test_what_is_written_reads_back_as_the_same_bits(number: int):
    for shape in (NumberFormat.HEX, NumberFormat.BINARY, NumberFormat.OCTAL, NumberFormat.ADDRESS):
        shown = format_number(str(number), "long", shape)
        assert shown is not None
        assert int(shown, 0) == number % 2**64


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str):
    number = parse_integer(text)
    assert number is None or isinstance(number, int)
    assert integer_bits(text) in {None, 8, 16, 32, 64, 128}


def test_an_unknown_form_is_refused_with_the_known_ones():
    with pytest.raises(DebuggerError, match="hex, binary, octal, decimal") as raised:
        find_format("roman")
    assert raised.value.code is ErrorCode.USAGE
    assert find_format(None) is None
