"""Formats and parses numbers and bytes of memory. Pure."""

from __future__ import annotations

import re
import struct
from enum import Enum

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import MemoryRow


class NumberFormat(Enum):
    """The number formats of `print --format`."""

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
    """Parse an integer as a debugger formats it; None for other text."""
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
    """Return the size of an integer type in bits (LP64); None if unknown.

    Python's, and JavaScript's, integers have no such size.
    """
    plain = re.sub(r"\b(const|volatile)\b\s*", "", kind).strip()
    if plain.endswith(("*", "&")):
        return 64
    return _BITS_OF.get(plain)


def format_number(
    value: str, kind: str, form: NumberFormat, *, is_bounded: bool = True
) -> str | None:
    """Format a debugger's value in another base; None if it is no integer.

    A negative number is formatted as its bits in memory if its type's size is known and the
    language bounds its integers, else with its sign.
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
    """Return a number format by name.

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


COUNT_MAX = 1 << 16  # bytes in one answer
WRITE_MAX = 1 << 16  # bytes of one write
_ROW = 16  # bytes in a row
_STRING_ROW = 64  # characters in a row
_SHOWN = 60  # characters of a wrong value
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]+)\Z")

# The types that a value at an address may have, as `struct` names them.
VALUES = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
    "i64": "q", "u64": "Q", "f32": "f", "f64": "d", "pointer": "Q",
}  # fmt: skip


class MemoryLayout(Struct, frozen=True):
    """A memory format: bytes of one item, its `struct` letter, and the default count.

    Items are little-endian, as on every processor that the adapters run on here (x86-64, arm64).
    """

    size: int
    letter: str
    count: int


_LAYOUTS = {
    "hex": MemoryLayout(1, "", 64),
    "bytes": MemoryLayout(1, "", 64),
    "string": MemoryLayout(1, "", 256),
    "char": MemoryLayout(1, "", 64),
    "u8": MemoryLayout(1, "B", 16),
    "u16": MemoryLayout(2, "H", 16),
    "u32": MemoryLayout(4, "I", 16),
    "u64": MemoryLayout(8, "Q", 8),
    "i8": MemoryLayout(1, "b", 16),
    "i16": MemoryLayout(2, "h", 16),
    "i32": MemoryLayout(4, "i", 16),
    "i64": MemoryLayout(8, "q", 8),
    "f32": MemoryLayout(4, "f", 16),
    "f64": MemoryLayout(8, "d", 8),
    "pointer": MemoryLayout(8, "Q", 8),
}


def find_layout(name: str) -> MemoryLayout:
    """Return a format by name.

    Raises:
        DebuggerError: USAGE, naming them all.
    """
    found = _LAYOUTS.get(name)
    if found is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no format {name!r}; there are: {', '.join(_LAYOUTS)}",
            hint="debugger memory read --help",
        )
    return found


def memory_rows(address: int, data: bytes, name: str) -> tuple[MemoryRow, ...]:
    """Split bytes into rows of 16; a string ends at its NUL."""
    shape = find_layout(name)
    if name == "string":
        return _string_rows(address, data)
    found = []
    for at in range(0, len(data), _ROW):
        part = data[at : at + _ROW]
        found.append(MemoryRow(hex(address + at), _memory_row(part, name, shape)))
    return tuple(found)


def _memory_row(part: bytes, name: str, shape: MemoryLayout) -> str:
    if name == "hex":
        return f"{part.hex(' '):<{_ROW * 3 - 1}}  {_printable_text(part)}"
    if name == "bytes":
        return part.hex(" ")
    if name == "char":
        return _printable_text(part)
    size = len(part) // shape.size * shape.size
    items = [one for (one,) in struct.iter_unpack("<" + shape.letter, part[:size])]
    texts = [f"0x{one:016x}" if name == "pointer" else f"{one:.9g}" for one in items]
    if shape.letter not in "fd" and name != "pointer":
        texts = [str(one) for one in items]
    if part[size:]:
        texts.append(f"({part[size:].hex(' ')})")
    return " ".join(texts)


def _printable_text(part: bytes) -> str:
    return "".join(chr(one) if 0x20 <= one < 0x7F else "." for one in part)  # noqa: PLR2004 - ASCII's printable range


def _string_rows(address: int, data: bytes) -> tuple[MemoryRow, ...]:
    text, nul, _ = data.partition(b"\0")
    shown = text.decode(errors="backslashreplace")
    found = [
        MemoryRow(hex(address + len(shown[:at].encode())), f'"{shown[at : at + _STRING_ROW]}"')
        for at in range(0, max(len(shown), 1), _STRING_ROW)
    ]
    if not nul:
        found.append(MemoryRow(hex(address + len(data)), "… (no NUL so far)"))
    return tuple(found)


def parse_bytes(text: str) -> bytes:
    """Parse bytes in memory order: `de ad be ef`, `0xdeadbeef` or `deadbeef`.

    Raises:
        DebuggerError: USAGE.
    """
    data = b""
    for word in text.replace(",", " ").split():
        match = _HEX.match(word)
        if match is None or (len(match[1]) % 2 and len(match[1]) > 1):
            raise DebuggerError(
                ErrorCode.USAGE,
                f"not bytes: {word!r}; two hexadecimal digits are a byte",
                hint="debugger memory write 0xADDR de ad be ef",
            )
        data += bytes.fromhex(match[1].zfill(2))
    if not 0 < len(data) <= WRITE_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"1 to {WRITE_MAX} bytes can be written at once, not {len(data)}",
            hint="debugger memory write 0xADDR de ad be ef",
        )
    return data


def size_of(kind: str) -> int:
    """Return the size in bytes of one of the VALUES types."""
    return struct.calcsize("<" + VALUES[kind])


def decode_value(data: bytes, kind: str) -> str:
    """Format bytes as a value of one of the VALUES types."""
    (value,) = struct.unpack("<" + VALUES[kind], data)
    if kind == "pointer":
        return f"0x{value:x}"
    return _shortest_single(value) if kind == "f32" else str(value)


def _shortest_single(value: float) -> str:
    """Format a single-precision number with the fewest digits that restore it."""
    written = (f"{value:.{digits}g}" for digits in range(6, 9))
    again = (text for text in written if struct.pack("<f", float(text)) == struct.pack("<f", value))
    return next(again, f"{value:.9g}")


def encode_value(text: str, kind: str) -> bytes:
    """Encode a text as a value of one of the VALUES types: `-7`, `0x2a`, `1.5`.

    Raises:
        DebuggerError: USAGE for text that is no such value.
    """
    code = VALUES[kind]
    try:
        number: float = float(text) if code in "fd" else _parse_integer(text)
        return struct.pack("<" + code, number)
    except (struct.error, ValueError, OverflowError) as error:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{text[:_SHOWN]!r} is no {kind}",
            hint=f"debugger write 0xADDR:{kind} 0",
        ) from error


def _parse_integer(text: str) -> int:
    digits = text.strip()
    return int(digits, 0) if digits.lower().lstrip("+-").startswith("0x") else int(digits)
