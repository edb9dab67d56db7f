"""Formats a number in another form: hexadecimal, binary, a character. Pure."""

from __future__ import annotations

import re
from enum import Enum

from debugger.errors import DebuggerError, ErrorCode


class NumberFormat(Enum):
    """The forms that `print --format` takes."""

    HEX = "hex"
    BINARY = "binary"
    OCTAL = "octal"
    DECIMAL = "decimal"
    ADDRESS = "address"
    CHAR = "char"


# A debugger's way to say an integer: `-5`, `0x2a`, `'a'`, `97 'a'`, `(int) 5`, `255n`, `0x7f… <x>`.
_INTEGER = re.compile(
    r"(?:\([^()]*\)\s*)?(?P<sign>-?)(?:0x(?P<hex>[0-9a-fA-F]+)|(?P<decimal>\d[\d_]*))n?(?![\w.])"
)
_CHARACTER = re.compile(r"[LuU]?'(?P<one>\\.[^']*|[^\\])'\Z", re.DOTALL)
_ESCAPES = {"\\0": 0, "\\n": 10, "\\t": 9, "\\r": 13, "\\a": 7, "\\b": 8, "\\f": 12, "\\v": 11}
_ESCAPES |= {"\\\\": 92, "\\'": 39, "\\e": 27}
_BOOLEANS = {"true": 1, "false": 0, "True": 1, "False": 0}
_BITS_OF = {
    "bool": 8, "_Bool": 8, "char": 8, "signed char": 8, "unsigned char": 8, "byte": 8, "i8": 8,
    "u8": 8, "int8": 8, "uint8": 8, "int8_t": 8, "uint8_t": 8, "std::byte": 8,
    "short": 16, "unsigned short": 16, "short int": 16, "short unsigned int": 16, "i16": 16,
    "u16": 16, "int16": 16, "uint16": 16, "int16_t": 16, "uint16_t": 16, "char16_t": 16,
    "int": 32, "unsigned int": 32, "unsigned": 32, "i32": 32, "u32": 32, "int32": 32,
    "uint32": 32, "int32_t": 32, "uint32_t": 32, "char32_t": 32, "wchar_t": 32, "rune": 32,
    "long": 64, "unsigned long": 64, "long int": 64, "long unsigned int": 64, "long long": 64,
    "unsigned long long": 64, "long long int": 64, "long long unsigned int": 64, "i64": 64,
    "u64": 64, "int64": 64, "uint64": 64, "int64_t": 64, "uint64_t": 64, "isize": 64,
    "usize": 64, "size_t": 64, "ssize_t": 64, "ptrdiff_t": 64, "uintptr_t": 64, "intptr_t": 64,
    "uintptr": 64, "uint": 64, "i128": 128, "u128": 128, "__int128": 128,
}  # fmt: skip
_SPELLINGS = {
    NumberFormat.HEX: "0x{:x}",
    NumberFormat.BINARY: "0b{:b}",
    NumberFormat.OCTAL: "0o{:o}",
    NumberFormat.ADDRESS: "0x{:016x}",
}
_DELETE = 0x7F
_UNICODE_END = 0x110000


def parse_integer(value: str) -> int | None:
    """Read the integer that a debugger wrote; None if it is none."""
    text = value.strip()
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    character = _CHARACTER.match(text)
    if character:
        return _character_code(character["one"])
    match = _INTEGER.match(text)
    if match is None:
        return None
    rest = text[match.end() :].strip()
    if rest and rest[0] not in "'\"<(@{":  # a character, a symbol, a string, what it points to
        return None
    digits = match["hex"]
    number = int(digits, 16) if digits else int(match["decimal"].replace("_", ""))
    return -number if match["sign"] else number


def _character_code(letters: str) -> int | None:
    if len(letters) == 1:
        return ord(letters)
    if letters in _ESCAPES:
        return _ESCAPES[letters]
    try:
        return int("0" + letters[1:] if letters[1] == "x" else "0o" + letters[1:], 0)
    except ValueError:
        return None


def integer_bits(kind: str) -> int | None:
    """Return how many bits an integer type has (LP64); None where that is not known.

    Python's, and JavaScript's, integers have no such number.
    """
    plain = re.sub(r"\b(const|volatile)\b\s*", "", kind).strip()
    if plain.endswith(("*", "&")):
        return 64
    return _BITS_OF.get(plain)


def format_number(
    value: str, kind: str, form: NumberFormat, *, is_bounded: bool = True
) -> str | None:
    """Write a debugger's value in another form; None if it is no integer.

    A negative number is written as the bits that it has in memory where its type's size is known
    and the language bounds its integers, else with its sign.
    """
    number = parse_integer(value)
    if number is None:
        return None
    if form is NumberFormat.DECIMAL:
        return str(number)
    if form is NumberFormat.CHAR:
        return _format_character(number)
    size = integer_bits(kind) if is_bounded else None
    if number < 0 and size is not None:
        number += 1 << size
    sign = "-" if number < 0 else ""
    return sign + _SPELLINGS[form].format(abs(number))


def _format_character(number: int) -> str:
    number &= 0xFF if number < 0 else (1 << 32) - 1
    if number >= _UNICODE_END:
        return f"{number} (no character)"
    letter = chr(number)
    shown = letter if letter.isprintable() and number != _DELETE else f"\\x{number:02x}"
    return f"{number} '{shown}'"


def find_format(name: str | None) -> NumberFormat | None:
    """Return the form that a name stands for.

    Raises:
        DebuggerError: USAGE, naming them all.
    """
    if name is None:
        return None
    try:
        return NumberFormat(name)
    except ValueError:
        known = ", ".join(one.value for one in NumberFormat)
        raise DebuggerError(
            ErrorCode.USAGE, f"no format {name!r}; there are: {known}", hint="debugger print --help"
        ) from None
