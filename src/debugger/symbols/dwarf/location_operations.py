"""Lists the operations of DWARF expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from debugger.symbols.dwarf.byte_reading import (
    read_signed,
    read_sleb128,
    read_uleb128,
    read_unsigned,
)


@dataclass(frozen=True, slots=True)
class LocationOperation:
    """One operation: its name without DW_OP_, and its numbers; jumps are indexes of operations.

    `fbreg`, `breg` (register, offset), `reg`, `addr` (link-time), `const`, `call_frame_cfa`,
    `stack_value`, `implicit_value` (`block`), `piece`, `entry_value`, and the arithmetic.
    """

    name: str
    first: int = 0
    second: int = 0
    block: bytes = b""


_FIXED: Final = {
    0x03: ("addr", 8, False),
    0x08: ("const", 1, False),
    0x09: ("const", 1, True),
    0x0A: ("const", 2, False),
    0x0B: ("const", 2, True),
    0x0C: ("const", 4, False),
    0x0D: ("const", 4, True),
    0x0E: ("const", 8, False),
    0x0F: ("const", 8, True),
    0x15: ("pick", 1, False),
    0x28: ("bra", 2, True),
    0x2F: ("skip", 2, True),
    0x94: ("deref_size", 1, False),
    0xFA: ("parameter_ref", 4, False),
    0xFD: ("parameter_ref", 4, False),  # of a variable, which has no place either
}
_ULEB: Final = {
    0x10: "const",
    0x23: "plus_uconst",
    0x90: "reg",
    0x93: "piece",
    0xA1: "addrx",
    0xA2: "constx",
    0xA8: "convert",
    0xA9: "reinterpret",
    0xF7: "convert",
    0xFB: "addrx",
    0xFC: "constx",
}
_SLEB: Final = {0x11: "const", 0x91: "fbreg"}
_PLAIN: Final = {
    0x06: "deref",
    0x12: "dup",
    0x13: "drop",
    0x14: "over",
    0x16: "swap",
    0x17: "rot",
    0x19: "abs",
    0x1A: "and",
    0x1B: "div",
    0x1C: "minus",
    0x1D: "mod",
    0x1E: "mul",
    0x1F: "neg",
    0x20: "not",
    0x21: "or",
    0x22: "plus",
    0x24: "shl",
    0x25: "shr",
    0x26: "shra",
    0x27: "xor",
    0x29: "eq",
    0x2A: "ge",
    0x2B: "gt",
    0x2C: "le",
    0x2D: "lt",
    0x2E: "ne",
    0x96: "nop",
    0x97: "push_object_address",
    0x9B: "form_tls_address",
    0x9C: "call_frame_cfa",
    0x9F: "stack_value",
    0xE0: "form_tls_address",
    0xF0: "uninit",
}
_BLOCKS: Final = {0x9E: "implicit_value", 0xA3: "entry_value", 0xF3: "entry_value"}
_LIT0, _REG0, _BREG0, _BREG_END = 0x30, 0x50, 0x70, 0x90
_BREGX, _BIT_PIECE, _CONST_TYPE, _GNU_CONST_TYPE = 0x92, 0x9D, 0xA4, 0xF4
_REGVAL, _GNU_REGVAL, _DEREF_TYPE, _GNU_DEREF_TYPE = 0xA5, 0xF5, 0xA6, 0xF6
_IMPLICIT_POINTERS: Final = (0xA0, 0xF2)


def parse_operations(expression: bytes) -> tuple[LocationOperation, ...]:
    """Read an expression's operations (DWARF 5, 2.5 and 7.7).

    One that is not known ends them, as `unknown`.
    """
    found: list[LocationOperation] = []
    starts: dict[int, int] = {}
    jumps: list[tuple[int, int]] = []
    at = 0
    while at < len(expression):
        starts[at] = len(found)
        one, at = _parse_operation(expression, at)
        if one.name in {"bra", "skip"}:
            jumps.append((len(found), at + one.first))
        found.append(one)
        if one.name == "unknown":
            break
    starts[at] = len(found)
    for number, target in jumps:
        found[number] = LocationOperation(found[number].name, starts.get(target, len(found)))
    return tuple(found)


def _parse_operation(code_of: bytes, at: int) -> tuple[LocationOperation, int]:  # noqa: PLR0911 - a table by form
    code, at = code_of[at], at + 1
    if code in _PLAIN:
        return LocationOperation(_PLAIN[code]), at
    if code in _FIXED:
        name, size, has_sign = _FIXED[code]
        read = read_signed if has_sign else read_unsigned
        return LocationOperation(name, read(code_of, at, size)), at + size
    if _LIT0 <= code < _BREG_END:
        return _parse_numbered(code_of, code, at)
    if code in _ULEB:
        value, at = read_uleb128(code_of, at)
        return LocationOperation(_ULEB[code], value), at
    if code in _SLEB:
        value, at = read_sleb128(code_of, at)
        return LocationOperation(_SLEB[code], value), at
    if code in _BLOCKS:
        size, at = read_uleb128(code_of, at)
        return LocationOperation(_BLOCKS[code], size, block=code_of[at : at + size]), at + size
    return _parse_rare(code_of, code, at)


def _parse_numbered(code_of: bytes, code: int, at: int) -> tuple[LocationOperation, int]:
    if code < _REG0:
        return LocationOperation("const", code - _LIT0), at
    if code < _BREG0:
        return LocationOperation("reg", code - _REG0), at
    offset, at = read_sleb128(code_of, at)
    return LocationOperation("breg", code - _BREG0, offset), at


def _parse_rare(  # noqa: PLR0911 - a table by form
    code_of: bytes, code: int, at: int
) -> tuple[LocationOperation, int]:
    if code == _BREGX:
        number, at = read_uleb128(code_of, at)
        offset, at = read_sleb128(code_of, at)
        return LocationOperation("breg", number, offset), at
    if code in {_REGVAL, _GNU_REGVAL}:
        number, at = read_uleb128(code_of, at)
        kind, at = read_uleb128(code_of, at)
        return LocationOperation("regval", number, kind), at
    if code in {_CONST_TYPE, _GNU_CONST_TYPE}:
        kind, at = read_uleb128(code_of, at)
        size, at = code_of[at], at + 1
        value = int.from_bytes(code_of[at : at + size], "little")
        return LocationOperation("const", value, kind), at + size
    if code in {_DEREF_TYPE, _GNU_DEREF_TYPE}:
        size, at = code_of[at], at + 1
        _, at = read_uleb128(code_of, at)
        return LocationOperation("deref_size", size), at
    if code == _BIT_PIECE:
        size, at = read_uleb128(code_of, at)
        offset, at = read_uleb128(code_of, at)
        return LocationOperation("bit_piece", size, offset), at
    if code in _IMPLICIT_POINTERS:
        return LocationOperation("implicit_pointer", read_unsigned(code_of, at, 4)), len(code_of)
    return LocationOperation("unknown", code), at
