"""Defines the nodes of a checked expression: few kinds, executed by three modules. Pure.

Types of the language are gone: a node yields a number of a `MachineType`, wrapped to it, or a text.
`node_evaluation`, `javascript_writer` and `c_writer` each give the same answer for the same node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
