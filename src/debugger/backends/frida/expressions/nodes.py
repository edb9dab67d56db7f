"""Defines the nodes of a checked expression: few kinds, executed by three modules. Pure.

Types of the language are gone: a node gives a number of a `Machine` type, wrapped to it, or a
text. `evaluate`, `javascript` and `c` each give the same answer for the same node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Machine(Enum):
    """The numbers that a machine knows: bits, signed or not, whole or real."""

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
    def bits(self) -> int:
        """How many bits it has."""
        return self.value[0]

    @property
    def is_signed(self) -> bool:
        """Whether it can be negative."""
        return self.value[1]

    @property
    def is_real(self) -> bool:
        """Whether it has fractions."""
        return self.value[2]


class Trouble(Enum):
    """What can go wrong in a run; the compiled C function returns the number, negative."""

    UNREADABLE = -1
    DIVISION = -2
    SHIFT = -3
    RANGE = -4
    INDEX = -5


SAYS = {
    Trouble.UNREADABLE: "memory that cannot be read",
    Trouble.DIVISION: "division by zero",
    Trouble.SHIFT: "a shift by less than 0 or by more bits than there are",
    Trouble.RANGE: "a number that does not fit the type that it is converted to",
    Trouble.INDEX: "an index outside of the elements",
}


@dataclass(frozen=True, slots=True)
class Const:
    """A number, already wrapped to its type."""

    value: int | float
    machine: Machine


@dataclass(frozen=True, slots=True)
class Register:
    """A register's bits: `rax` whole (U64), or the lowest of `xmm0` (F32, F64)."""

    name: str
    machine: Machine


@dataclass(frozen=True, slots=True)
class Load:
    """What lies in memory; `is_sure` where the address cannot be wrong: a frame's, a module's."""

    address: Node
    machine: Machine
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class Convert:
    """A number in another type, as C converts it; RANGE where a real one does not fit."""

    of: Node
    machine: Machine


@dataclass(frozen=True, slots=True)
class Negate:
    """`-of`, wrapped."""

    of: Node
    machine: Machine


@dataclass(frozen=True, slots=True)
class Invert:
    """`~of`."""

    of: Node
    machine: Machine


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * / % & | ^ << >>` of two of `machine`, wrapped to it; `/` and `%` truncate."""

    op: str
    left: Node
    right: Node
    machine: Machine


@dataclass(frozen=True, slots=True)
class Compare:
    """`== != < <= > >=` of two of the same type: an I32, 0 or 1."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Logic:
    """`&&` or `||` of two that are 0 or 1; the right one is run only where it counts."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not:
    """0 for 1, 1 for 0."""

    of: Node


@dataclass(frozen=True, slots=True)
class Choose:
    """One of two of `machine`; only that one is run."""

    test: Node
    yes: Node
    no: Node
    machine: Machine


@dataclass(frozen=True, slots=True)
class Span:
    """Where a container keeps its elements: offsets of two words in the record at `holder`.

    The second word is the end's address, or the count where `is_count`; elements have `size` bytes.
    """

    holder: Node
    first: int
    second: int
    is_count: bool
    size: int


@dataclass(frozen=True, slots=True)
class Count:
    """How many elements a span has: U64."""

    of: Span


@dataclass(frozen=True, slots=True)
class Element:
    """The address of a span's element: U64; INDEX where there is none."""

    of: Span
    index: Node


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that the user wrote."""

    value: str


@dataclass(frozen=True, slots=True)
class Bytes:
    """A text in memory up to a zero byte, or to `most` bytes."""

    address: Node
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Spanned:
    """A text of which the length is kept, which may hold zero bytes."""

    of: Span


@dataclass(frozen=True, slots=True)
class Same:
    """Whether two texts have the same bytes: an I32, 0 or 1."""

    left: Words
    right: Words


@dataclass(frozen=True, slots=True)
class Length:
    """How many bytes a text has: U64."""

    of: Words


Words = Literal | Bytes | Spanned
Node = (
    Const | Register | Load | Convert | Negate | Invert | Binary | Compare | Logic | Not | Choose
    | Count | Element | Same | Length
)  # fmt: skip


def machine_of(node: Node) -> Machine:
    """Return the type of a node's number."""
    if isinstance(node, Const | Register | Load | Convert | Negate | Invert | Binary | Choose):
        return node.machine
    return Machine.U64 if isinstance(node, Count | Element | Length) else Machine.I32


def wrapped(value: int, machine: Machine) -> int:
    """Wrap a whole number to a type."""
    value &= (1 << machine.bits) - 1
    return (
        value - (1 << machine.bits) if machine.is_signed and value >> (machine.bits - 1) else value
    )


def plus(address: Node, offset: int) -> Node:
    """Add a number of bytes to an address, in one step where there was an offset before."""
    if isinstance(address, Const):
        return Const(wrapped(int(address.value) + offset, Machine.U64), Machine.U64)
    if isinstance(address, Binary) and address.op == "+" and isinstance(address.right, Const):
        offset += wrapped(int(address.right.value), Machine.I64)
        address = address.left
    if not offset:
        return address
    return Binary("+", address, Const(wrapped(offset, Machine.U64), Machine.U64), Machine.U64)
