"""Are numbers of more than eight bytes encoded as the processor reads them?"""

from __future__ import annotations

from fractions import Fraction

import pytest

from debugger.backends.frida.dwarf.values import floating, quad
from debugger.backends.frida.expressions.types import Kind, Type
from debugger.backends.frida.looking.wide import encoded, written
from debugger.errors import DebuggerError

EXTENDED = Type("long double", Kind.REAL, 16)
QUAD = Type("_Float128", Kind.REAL, 16)
WIDE = Type("__int128", Kind.INTEGER, 16, is_signed=True)


@pytest.mark.parametrize("number", [0.0, 1.0, -2.25, 0.1, 1e300, 5e-324, float("inf")])
def test_a_real_number_is_read_back(number):
    assert floating(encoded(number, EXTENDED)[:10]) == number
    assert quad(encoded(number, QUAD)) == number


def test_a_fraction_has_all_bits_of_its_type():
    tenth = int.from_bytes(encoded(Fraction("0.1"), EXTENDED)[:8], "little")
    assert tenth == 0xCCCCCCCCCCCCCCCD


def test_a_whole_number_fits_or_is_refused():
    assert encoded(-9, WIDE) == (-9).to_bytes(16, "little", signed=True)
    with pytest.raises(DebuggerError, match="does not fit in __int128"):
        encoded(1 << 127, WIDE)


@pytest.mark.parametrize(
    ("text", "number"), [("0x10", 16), ("-3", -3), ("0.5", Fraction(1, 2)), ("inf", float("inf"))]
)
def test_what_is_written_out_is_a_number(text, number):
    assert written(text) == number
    assert written("other + 1") is None
