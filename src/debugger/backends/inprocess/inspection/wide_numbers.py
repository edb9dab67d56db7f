"""Encodes numbers of more than eight bytes: __int128, long double, __float128."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Final, TypeAlias

from debugger.backends.inprocess.expressions.expression_types import (
    ExpressionKind,
    ExpressionType,
)
from debugger.backends.inprocess.expressions.syntax_tree import expression_error

Number: TypeAlias = int | Fraction | float

_BITS: Final = 128
_BIAS: Final = 16383
_EXPONENT_MAX: Final = 0x7FFF
_X87_MANTISSA: Final = 64
_QUAD_MANTISSA: Final = 112


def parse_number(text: str) -> Number | None:
    """Read a number that is written out; None for another expression."""
    reads: tuple[Callable[[str], Number], ...] = (lambda one: int(one, 0), Fraction, float)
    for read in reads:
        with suppress(ValueError, ZeroDivisionError):
            return read(text.strip())
    return None


def encode_number(number: Number, kind: ExpressionType) -> bytes:
    """Encode a number as a value of a type.

    Raises:
        DebuggerError: EVALUATION_FAILED where it does not fit.
    """
    if kind.kind is ExpressionKind.REAL:
        return _encode_real(number, is_quad="128" in kind.name).ljust(kind.size, b"\0")
    whole = int(number) if math.isfinite(number) else 1 << _BITS
    low = -(1 << (_BITS - 1)) if kind.is_signed else 0
    if not low <= whole < (1 << (_BITS - kind.is_signed)):
        raise expression_error(
            f"{number} does not fit in {kind.name}", hint="debugger set NAME VALUE"
        )
    return whole.to_bytes(kind.size, "little", signed=kind.is_signed)


def _encode_real(number: Number, *, is_quad: bool) -> bytes:
    """Encode in IEEE's form of 128 bits, or in the x87's, which writes the first bit too."""
    width = _QUAD_MANTISSA if is_quad else _X87_MANTISSA
    sign = int(math.copysign(1.0, number) < 0) if isinstance(number, float) else int(number < 0)
    exponent, mantissa = 0, 0
    if not math.isfinite(number):
        exponent = _EXPONENT_MAX
        mantissa = (0 if is_quad else 1 << 63) | (math.isnan(number) << (width - 2 + is_quad))
    elif number:
        exact = abs(Fraction(number))
        power = exact.numerator.bit_length() - exact.denominator.bit_length()
        power -= exact < Fraction(2) ** power
        last = width - 1 + is_quad  # the first bit's place
        mantissa = round(exact * Fraction(2) ** (last - power))
        if mantissa >> (last + 1):
            mantissa, power = mantissa >> 1, power + 1
        exponent = power + _BIAS
        if not 0 < exponent < _EXPONENT_MAX:
            raise expression_error(
                f"{number} is too large, or too small", hint="debugger set NAME VALUE"
            )
    whole = mantissa & ((1 << width) - 1) | (exponent | sign << 15) << width
    return whole.to_bytes(16 if is_quad else 10, "little")
