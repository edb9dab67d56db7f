"""Defines what the checker needs of a type. Pure; lazy, since types are recursive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from debugger.symbols.dwarf.debug_types import DebugType as Declared


class ExpressionKind(Enum):
    """Lists the kinds of types; aliases and qualifiers are gone, only the name shows them."""

    INTEGER = auto()
    CHARACTER = auto()
    BOOLEAN = auto()
    REAL = auto()
    POINTER = auto()
    REFERENCE = auto()
    ARRAY = auto()
    RECORD = auto()
    ENUM = auto()
    FUNCTION = auto()
    VOID = auto()


def _empty_tuple() -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class ExpressionType:
    """Describes a type as the checker needs it."""

    name: str
    kind: ExpressionKind
    # In bytes; 0 where unknown.
    size: int
    is_signed: bool = False
    # What it points to, or the type of its elements. A function, because types are recursive.
    target: Callable[[], ExpressionType] | None = None
    # The number of an array's elements, None where unknown.
    count: int | None = None
    fields: Callable[[], Sequence[RecordField]] = _empty_tuple
    # A template's or a generic's type arguments in order.
    parameters: Callable[[], Sequence[ExpressionType]] = _empty_tuple
    enumerators: Mapping[str, int] = field(default_factory=dict)
    # The type in the debug information; None for one that an expression has made.
    declared: Declared | None = None

    def points_to(self) -> ExpressionType:
        """Return the target, which pointers, references and arrays have."""
        return self.target() if self.target is not None else VOID


@dataclass(frozen=True, slots=True)
class CaseGuard:
    """Says when a case of a Rust enum holds: the word at `offset` is one of `values`, or none."""

    offset: int
    size: int
    values: tuple[int, ...]
    # The case of all other values: `values` are then those of the other cases.
    is_other: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RecordField:
    """Describes a member of a record, a base class, or a case of a Rust enum."""

    name: str
    kind: Callable[[], ExpressionType]
    # In bytes. Of a bit field `bits` are its first bit from there, and its width.
    offset: int
    bits: tuple[int, int] | None = None
    # A base has its class's name; bases and members without a name are looked through.
    is_base: bool = False
    # Only a case of a Rust enum has one.
    guard: CaseGuard | None = None


VOID = ExpressionType("void", ExpressionKind.VOID, 0)
BOOL = ExpressionType("bool", ExpressionKind.BOOLEAN, 1)
CHAR = ExpressionType("char", ExpressionKind.CHARACTER, 1, is_signed=True)
INT = ExpressionType("int", ExpressionKind.INTEGER, 4, is_signed=True)
UNSIGNED = ExpressionType("unsigned int", ExpressionKind.INTEGER, 4)
LONG = ExpressionType("long", ExpressionKind.INTEGER, 8, is_signed=True)
UNSIGNED_LONG = ExpressionType("unsigned long", ExpressionKind.INTEGER, 8)
FLOAT = ExpressionType("float", ExpressionKind.REAL, 4)
DOUBLE = ExpressionType("double", ExpressionKind.REAL, 8)

_SIGNED = {
    1: ("i8", "int8_t"),
    2: ("short", "short int", "i16", "int16_t"),
    4: ("int", "i32", "int32_t", "signed", "signed int"),
    8: (
        "long", "long int", "long long", "long long int", "i64", "int64_t", "isize", "ssize_t",
        "ptrdiff_t", "intptr_t",
    ),
}  # fmt: skip
_UNSIGNED = {
    1: ("u8", "uint8_t"),
    2: ("unsigned short", "unsigned short int", "short unsigned int", "u16", "uint16_t"),
    4: ("unsigned int", "unsigned", "u32", "uint32_t"),
    8: (
        "unsigned long", "unsigned long int", "long unsigned int", "unsigned long long",
        "long long unsigned int", "unsigned long long int", "u64", "uint64_t", "usize", "size_t",
        "uintptr_t",
    ),
}  # fmt: skip
_SUFFIXES = {
    "u": UNSIGNED, "l": LONG, "ll": LONG, "ul": UNSIGNED_LONG, "ull": UNSIGNED_LONG,
    "lu": UNSIGNED_LONG, "llu": UNSIGNED_LONG,
}  # fmt: skip

# The basic types of C, C++ and Rust, by all the names that they have.
BASIC: Mapping[str, ExpressionType] = {
    **{
        n: ExpressionType(n, ExpressionKind.INTEGER, size, is_signed=True)
        for size in _SIGNED
        for n in _SIGNED[size]
    },
    **{
        n: ExpressionType(n, ExpressionKind.INTEGER, size)
        for size in _UNSIGNED
        for n in _UNSIGNED[size]
    },
    **{n: ExpressionType(n, ExpressionKind.REAL, 4) for n in ("float", "f32")},
    **{n: ExpressionType(n, ExpressionKind.REAL, 8) for n in ("double", "f64")},
    **{n: ExpressionType(n, ExpressionKind.BOOLEAN, 1) for n in ("bool", "_Bool")},
    **{
        n: ExpressionType(n, ExpressionKind.CHARACTER, 1, is_signed=True)
        for n in ("char", "signed char")
    },
    "unsigned char": ExpressionType("unsigned char", ExpressionKind.CHARACTER, 1),
    "wchar_t": ExpressionType("wchar_t", ExpressionKind.CHARACTER, 4, is_signed=True),
    "void": VOID,
}


def pointer_to(target: ExpressionType) -> ExpressionType:
    """Make the type of pointers to a type."""
    return ExpressionType(f"{target.name} *", ExpressionKind.POINTER, 8, target=lambda: target)


def array_of(element: ExpressionType, count: int) -> ExpressionType:
    """Make the type of arrays of a type."""
    size = element.size * count
    return ExpressionType(
        f"{element.name} [{count}]", ExpressionKind.ARRAY, size, target=lambda: element, count=count
    )


def of_literal(value: int, suffix: str, *, is_decimal: bool) -> ExpressionType:
    """Return the type of a whole number as it was written: the first in which it fits, as in C."""
    if suffix in BASIC:
        return BASIC[suffix]
    least = _SUFFIXES.get(suffix, INT)
    kinds = [INT, UNSIGNED, LONG, UNSIGNED_LONG]
    if is_decimal and "u" not in suffix:
        kinds.remove(UNSIGNED)
    if "u" in suffix:
        kinds = [UNSIGNED, UNSIGNED_LONG]
    # C11, 6.4.4.1: the first type of the list in which the number fits; unsigned int is in it
    # for hexadecimal, octal and binary numbers alone.
    fitting = [
        one
        for one in kinds
        if one.size >= least.size and value < 1 << (8 * one.size - one.is_signed)
    ]
    return fitting[0] if fitting else UNSIGNED_LONG
