"""Defines the checked form of an expression: nodes that executors run, and their types. Pure.

Types of the language are gone: a node yields a number of a `MachineType`, wrapped to it, or a text.
`node_evaluation`, `javascript_writer` and `c_writer` each give the same answer for the same node.
"""

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


class MachineType(Enum):
    """Lists the numbers that a machine knows: bits, signed or not, whole or real."""

    I8 = (8, True, False)
    U8 = (8, False, False)
    I16 = (16, True, False)
    U16 = (16, False, False)
    I32 = (32, True, False)
    U32 = (32, False, False)
    I64 = (64, True, False)
    U64 = (64, False, False)
    F32 = (32, True, True)
    F64 = (64, True, True)

    @property
    def bit_width(self) -> int:
        """The number of bits."""
        return self.value[0]

    @property
    def is_signed(self) -> bool:
        """Whether the number can be negative."""
        return self.value[1]

    @property
    def is_real(self) -> bool:
        """Whether the number has fractions."""
        return self.value[2]


class RuntimeTrouble(Enum):
    """Lists what can fail at run time; the compiled C function returns the number, negative."""

    UNREADABLE = -1
    DIVISION = -2
    SHIFT = -3
    RANGE = -4
    INDEX = -5


SAYS = {
    RuntimeTrouble.UNREADABLE: "memory that cannot be read",
    RuntimeTrouble.DIVISION: "division by zero",
    RuntimeTrouble.SHIFT: "a shift by less than 0 or by more bits than there are",
    RuntimeTrouble.RANGE: "a number that does not fit the type that it is converted to",
    RuntimeTrouble.INDEX: "an index outside of the elements",
}


@dataclass(frozen=True, slots=True)
class ConstantNode:
    """Yields a number, already wrapped to its type."""

    value: int | float
    machine: MachineType


@dataclass(frozen=True, slots=True)
class RegisterNode:
    """Yields a register's bits: `rax` whole (U64), or the lowest of `xmm0` (F32, F64)."""

    name: str
    machine: MachineType


@dataclass(frozen=True, slots=True)
class LoadNode:
    """Yields a number in memory; `is_sure` where the address is mapped: a frame's, a module's."""

    address: Node
    machine: MachineType
    # Spares the C code a system call for each load; in JavaScript a bad address raises by
    # itself.
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class ConvertNode:
    """Yields a number in another type, as C converts it; RANGE where a real one does not fit."""

    of: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class NegateNode:
    """Yields `-of`, wrapped."""

    of: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class InvertNode:
    """Yields `~of`."""

    of: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class BinaryNode:
    """Yields `+ - * / % & | ^ << >>` of two of `machine`, wrapped to it; `/` and `%` truncate."""

    op: str
    left: Node
    right: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class CompareNode:
    """Yields `== != < <= > >=` of two of the same type: an I32, 0 or 1."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class LogicNode:
    """Yields `&&` or `||` of two that are 0 or 1; the right one is evaluated only if it counts."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class NotNode:
    """Yields 0 for 1, and 1 for 0."""

    of: Node


@dataclass(frozen=True, slots=True)
class ChooseNode:
    """Yields one of two of `machine`; only that one is evaluated."""

    test: Node
    yes: Node
    no: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class ElementSpan:
    """Locates a container's elements: offsets of two words in the record at `holder`.

    The second word is the end's address, or the count where `is_count`; elements have `size` bytes.
    """

    holder: Node
    first: int
    second: int
    is_count: bool
    size: int


@dataclass(frozen=True, slots=True)
class CountNode:
    """Yields the number of a span's elements: U64."""

    of: ElementSpan


@dataclass(frozen=True, slots=True)
class ElementNode:
    """Yields the address of a span's element: U64; INDEX where there is none."""

    of: ElementSpan
    index: Node


@dataclass(frozen=True, slots=True)
class LiteralText:
    """Holds a text that the user wrote."""

    value: str


@dataclass(frozen=True, slots=True)
class BytesText:
    """Locates a text in memory up to a zero byte, or to `most` bytes."""

    address: Node
    most: int | None = None


@dataclass(frozen=True, slots=True)
class SpannedText:
    """Locates a text whose length is stored, and which may hold zero bytes."""

    of: ElementSpan


@dataclass(frozen=True, slots=True)
class SameTextNode:
    """Yields whether two texts have the same bytes: an I32, 0 or 1."""

    left: Words
    right: Words


@dataclass(frozen=True, slots=True)
class LengthNode:
    """Yields the number of a text's bytes: U64."""

    of: Words


# Texts are not nodes: they have no number, and are only compared and measured.
Words = LiteralText | BytesText | SpannedText
Node = (
    ConstantNode | RegisterNode | LoadNode | ConvertNode | NegateNode | InvertNode
    | BinaryNode | CompareNode | LogicNode | NotNode | ChooseNode
    | CountNode | ElementNode | SameTextNode | LengthNode
)  # fmt: skip


def machine_of(node: Node) -> MachineType:
    """Return the type of a node's number."""
    if isinstance(
        node,
        ConstantNode
        | RegisterNode
        | LoadNode
        | ConvertNode
        | NegateNode
        | InvertNode
        | BinaryNode
        | ChooseNode,
    ):
        return node.machine
    return (
        MachineType.U64
        if isinstance(node, CountNode | ElementNode | LengthNode)
        else MachineType.I32
    )


def wrap_number(value: int, machine: MachineType) -> int:
    """Wrap a whole number to a type."""
    value &= (1 << machine.bit_width) - 1
    return (
        value - (1 << machine.bit_width)
        if machine.is_signed and value >> (machine.bit_width - 1)
        else value
    )


def add_offset(address: Node, offset: int) -> Node:
    """Add a number of bytes to an address, in one step where there was an offset before."""
    # Constants are folded, so that a member of a member is one addition in the program.
    if isinstance(address, ConstantNode):
        return ConstantNode(
            wrap_number(int(address.value) + offset, MachineType.U64), MachineType.U64
        )
    if (
        isinstance(address, BinaryNode)
        and address.op == "+"
        and isinstance(address.right, ConstantNode)
    ):
        offset += wrap_number(int(address.right.value), MachineType.I64)
        address = address.left
    if not offset:
        return address
    return BinaryNode(
        "+",
        address,
        ConstantNode(wrap_number(offset, MachineType.U64), MachineType.U64),
        MachineType.U64,
    )
