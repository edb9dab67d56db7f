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
    """A number, already wrapped to its type."""

    value: int | float
    machine: MachineType


@dataclass(frozen=True, slots=True)
class RegisterNode:
    """A register's bits: `rax` whole (U64), or the lowest of `xmm0` (F32, F64)."""

    name: str
    machine: MachineType


@dataclass(frozen=True, slots=True)
class LoadNode:
    """What lies in memory; `is_sure` where the address cannot be wrong: a frame's, a module's."""

    address: Node
    machine: MachineType
    # Spares the C code a system call for each load; in JavaScript a bad address raises by
    # itself.
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class ConvertNode:
    """A number in another type, as C converts it; RANGE where a real one does not fit."""

    of: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class NegateNode:
    """`-of`, wrapped."""

    of: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class InvertNode:
    """`~of`."""

    of: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class BinaryNode:
    """`+ - * / % & | ^ << >>` of two of `machine`, wrapped to it; `/` and `%` truncate."""

    op: str
    left: Node
    right: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class CompareNode:
    """`== != < <= > >=` of two of the same type: an I32, 0 or 1."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class LogicNode:
    """`&&` or `||` of two that are 0 or 1; the right one is run only where it counts."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class NotNode:
    """0 for 1, 1 for 0."""

    of: Node


@dataclass(frozen=True, slots=True)
class ChooseNode:
    """One of two of `machine`; only that one is run."""

    test: Node
    yes: Node
    no: Node
    machine: MachineType


@dataclass(frozen=True, slots=True)
class ElementSpan:
    """Where a container keeps its elements: offsets of two words in the record at `holder`.

    The second word is the end's address, or the count where `is_count`; elements have `size` bytes.
    """

    holder: Node
    first: int
    second: int
    is_count: bool
    size: int


@dataclass(frozen=True, slots=True)
class CountNode:
    """How many elements a span has: U64."""

    of: ElementSpan


@dataclass(frozen=True, slots=True)
class ElementNode:
    """The address of a span's element: U64; INDEX where there is none."""

    of: ElementSpan
    index: Node


@dataclass(frozen=True, slots=True)
class LiteralText:
    """A text that the user wrote."""

    value: str


@dataclass(frozen=True, slots=True)
class BytesText:
    """A text in memory up to a zero byte, or to `most` bytes."""

    address: Node
    most: int | None = None


@dataclass(frozen=True, slots=True)
class SpannedText:
    """A text of which the length is kept, which may hold zero bytes."""

    of: ElementSpan


@dataclass(frozen=True, slots=True)
class SameTextNode:
    """Whether two texts have the same bytes: an I32, 0 or 1."""

    left: Words
    right: Words


@dataclass(frozen=True, slots=True)
class LengthNode:
    """How many bytes a text has: U64."""

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
