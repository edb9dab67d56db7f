"""Defines what the checker needs of a type. Pure; lazy, since types are recursive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from debugger.backends.frida.dwarf.types import Type as Declared


class Kind(Enum):
    """The kinds of types; aliases and qualifiers are gone, only the name tells of them."""

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


def _nothing() -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type: `size` in bytes, `target` what it points to or its elements' type.

    `count` is the number of an array's elements, None where that is not known.
    `parameters` are a template's or a generic's type arguments in order. `declared` is the type in
    the debug information, None for one that was made by an expression.
    """

    name: str
    kind: Kind
    size: int
    is_signed: bool = False
    target: Callable[[], Type] | None = None
    count: int | None = None
    fields: Callable[[], Sequence[Field]] = _nothing
    parameters: Callable[[], Sequence[Type]] = _nothing
    enumerators: Mapping[str, int] = field(default_factory=dict)
    declared: Declared | None = None

    def points_to(self) -> Type:
        """Return the target, which pointers, references and arrays have."""
        return self.target() if self.target is not None else VOID


@dataclass(frozen=True, slots=True)
class Guard:
    """When a case of a Rust enum holds: the word of `size` at `offset` is one of `values`, or none.

    The last is of the case that all other values mean: `is_other`.
    """

    offset: int
    size: int
    values: tuple[int, ...]
    is_other: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A member of a record: `offset` in bytes, `bits` of a bit field its first bit there and count.

    A base class has its own name and `is_base`; a member without a name is looked through. A case
    of a Rust enum has a `guard`.
    """

    name: str
    kind: Callable[[], Type]
    offset: int
    bits: tuple[int, int] | None = None
    is_base: bool = False
    guard: Guard | None = None


VOID = Type("void", Kind.VOID, 0)
BOOL = Type("bool", Kind.BOOLEAN, 1)
CHAR = Type("char", Kind.CHARACTER, 1, is_signed=True)
INT = Type("int", Kind.INTEGER, 4, is_signed=True)
UNSIGNED = Type("unsigned int", Kind.INTEGER, 4)
LONG = Type("long", Kind.INTEGER, 8, is_signed=True)
UNSIGNED_LONG = Type("unsigned long", Kind.INTEGER, 8)
FLOAT = Type("float", Kind.REAL, 4)
DOUBLE = Type("double", Kind.REAL, 8)

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
BASIC: Mapping[str, Type] = {
    **{n: Type(n, Kind.INTEGER, size, is_signed=True) for size in _SIGNED for n in _SIGNED[size]},
    **{n: Type(n, Kind.INTEGER, size) for size in _UNSIGNED for n in _UNSIGNED[size]},
    **{n: Type(n, Kind.REAL, 4) for n in ("float", "f32")},
    **{n: Type(n, Kind.REAL, 8) for n in ("double", "f64")},
    **{n: Type(n, Kind.BOOLEAN, 1) for n in ("bool", "_Bool")},
    **{n: Type(n, Kind.CHARACTER, 1, is_signed=True) for n in ("char", "signed char")},
    "unsigned char": Type("unsigned char", Kind.CHARACTER, 1),
    "wchar_t": Type("wchar_t", Kind.CHARACTER, 4, is_signed=True),
    "void": VOID,
}


def pointer(target: Type) -> Type:
    """Make the type of pointers to a type."""
    return Type(f"{target.name} *", Kind.POINTER, 8, target=lambda: target)


def array(element: Type, count: int) -> Type:
    """Make the type of arrays of a type."""
    size = element.size * count
    return Type(f"{element.name} [{count}]", Kind.ARRAY, size, target=lambda: element, count=count)


def of_literal(value: int, suffix: str, *, is_decimal: bool) -> Type:
    """Return the type of a whole number as it was written: the first in which it fits, as in C."""
    if suffix in BASIC:
        return BASIC[suffix]
    least = _SUFFIXES.get(suffix, INT)
    kinds = [INT, UNSIGNED, LONG, UNSIGNED_LONG]
    if is_decimal and "u" not in suffix:
        kinds.remove(UNSIGNED)
    if "u" in suffix:
        kinds = [UNSIGNED, UNSIGNED_LONG]
    fitting = [
        one
        for one in kinds
        if one.size >= least.size and value < 1 << (8 * one.size - one.is_signed)
    ]
    return fitting[0] if fitting else UNSIGNED_LONG
