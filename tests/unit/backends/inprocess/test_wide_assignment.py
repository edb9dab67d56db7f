"""Numbers of more than eight bytes are encoded as the processor reads them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from debugger.backends.inprocess.expressions.nodes import ExpressionKind, ExpressionType
from debugger.backends.inprocess.inspection.assignment import encode_number, parse_number
from debugger.errors import DebuggerError
from debugger.symbols.dwarf.typed_values import read_floating, read_quad

EXTENDED = ExpressionType("long double", ExpressionKind.REAL, 16)
QUAD = ExpressionType("_Float128", ExpressionKind.REAL, 16)
WIDE = ExpressionType("__int128", ExpressionKind.INTEGER, 16, is_signed=True)


@pytest.mark.parametrize("number", [0.0, 1.0, -2.25, 0.1, 1e300, 5e-324, float("inf")])
def test_a_real_number_is_read_back(number):
    assert read_floating(encode_number(number, EXTENDED)[:10]) == number
    assert read_quad(encode_number(number, QUAD)) == number


def test_a_fraction_has_all_bits_of_its_type():
    tenth = int.from_bytes(encode_number(Fraction("0.1"), EXTENDED)[:8], "little")
    assert tenth == 0xCCCCCCCCCCCCCCCD


def test_a_whole_number_fits_or_is_refused():
    assert encode_number(-9, WIDE) == (-9).to_bytes(16, "little", signed=True)
    with pytest.raises(DebuggerError, match="does not fit in __int128"):
        encode_number(1 << 127, WIDE)


@pytest.mark.parametrize(
    ("text", "number"), [("0x10", 16), ("-3", -3), ("0.5", Fraction(1, 2)), ("inf", float("inf"))]
)
def test_what_is_written_out_is_a_number(text, number):
    assert parse_number(text) == number
    assert parse_number("other + 1") is None
