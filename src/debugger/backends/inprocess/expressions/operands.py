"""Types the parts of an expression, and makes the nodes that yield their numbers. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from debugger.backends.expressions.syntax_tree import expression_error
from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.location_nodes import (
    AbsentValue,
    ComputedValue,
    RegisterValue,
    StoredValue,
    Where,
)
from debugger.backends.inprocess.expressions.nodes import (
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    MachineType,
    Node,
    Words,
    add_offset,
)

ARITHMETIC = frozenset(
    {
        ExpressionKind.INTEGER,
        ExpressionKind.CHARACTER,
        ExpressionKind.BOOLEAN,
        ExpressionKind.ENUM,
        ExpressionKind.REAL,
    }
)
SCALAR = ARITHMETIC | {ExpressionKind.POINTER}
_MACHINE_TYPES = {
    (1, True): MachineType.I8, (1, False): MachineType.U8, (2, True): MachineType.I16, (2,
    False): MachineType.U16,
    (4, True): MachineType.I32, (4, False): MachineType.U32, (8, True): MachineType.I64,
    (8, False): MachineType.U64,
}  # fmt: skip
_REAL = {4: MachineType.F32, 8: MachineType.F64}
_WIDEST = 64
# References to references exist through templates and Rust's `&&`; broken debug information
# may have a ring.
_LINKS_MAX = 8
# How the names of the types begin through which Rust looks by itself.
_RUST_LINKS = ("&", "alloc::boxed::Box<")


@dataclass(frozen=True, slots=True)
class Operand:
    """Holds a checked part: exactly one of `node` (a number), `where` (storage), `words` (text)."""

    type: ExpressionType
    node: Node | None = None
    where: Where | None = None
    words: Words | None = None

    @property
    def is_text(self) -> bool:
        """Whether it is a string that the user wrote."""
        return self.words is not None


TEXT = ExpressionType("a string", ExpressionKind.RECORD, 0)


def machine_type(kind: ExpressionType) -> MachineType:
    """Return the machine's type of a scalar.

    Raises:
        DebuggerError: EVALUATION_FAILED for what is none, or too wide.
    """
    if kind.kind is ExpressionKind.POINTER:
        return MachineType.U64
    found = _REAL.get(kind.size) if kind.kind is ExpressionKind.REAL else None
    if kind.kind in ARITHMETIC and kind.kind is not ExpressionKind.REAL:
        found = _MACHINE_TYPES.get((kind.size, kind.is_signed))
    if found is None:
        wide = "too wide to be calculated with" if kind.kind in ARITHMETIC else "no number"
        raise expression_error(f"{kind.name} is {wide}")
    return found


def look_through_reference(operand: Operand) -> Operand:
    """Look through C++'s references, which are what they refer to."""
    for _ in range(_LINKS_MAX):
        if operand.type.kind is not ExpressionKind.REFERENCE:
            break
        address = pointer_node(operand)
        operand = Operand(operand.type.points_to(), where=StoredValue(address))
    return operand


def look_through_wrappers(operand: Operand) -> Operand:
    """Look through Rust's references and boxes, too, where a number or a text is needed."""
    operand = look_through_reference(operand)
    for _ in range(_LINKS_MAX):
        kind = operand.type
        if kind.kind is not ExpressionKind.POINTER or not kind.name.startswith(_RUST_LINKS):
            break
        operand = look_through_reference(
            Operand(kind.points_to(), where=StoredValue(pointer_node(operand)))
        )
    return operand


def load_node(operand: Operand) -> Node:
    """Return the node that yields an operand's number; an array's is its address.

    Raises:
        DebuggerError: EVALUATION_FAILED where it has none, or is absent.
    """
    # An array decays to its address and a function to its code's, as in C.
    if operand.node is not None:
        return operand.node
    if operand.type.kind in {ExpressionKind.ARRAY, ExpressionKind.FUNCTION}:
        return address_of(operand)
    if operand.type.kind not in SCALAR:
        raise expression_error(f"{operand.type.name} is no number: name one of its members")
    return _load_as(operand, machine_type(operand.type))


def pointer_node(operand: Operand) -> Node:
    """Return the address that a pointer or a reference holds."""
    return operand.node if operand.node is not None else _load_as(operand, MachineType.U64)


def _load_as(operand: Operand, kind: MachineType) -> Node:
    match operand.where:
        case StoredValue(address=address, is_sure=is_sure, bits=None):
            return nodes.LoadNode(address, kind, is_sure)
        case StoredValue(bits=(first, count)) as stored:
            return _bit_field(stored, first, count, kind)
        case RegisterValue(register=register):
            return _register_as(register, kind)
        # DW_AT_const_value of a real variable: its bits, which must not be converted as a
        # number.
        case ComputedValue(bits=ConstantNode(value=value)) if kind.is_real:
            content = (int(value) & ((1 << kind.bit_width) - 1)).to_bytes(
                kind.bit_width // 8, "little"
            )
            return ConstantNode(
                struct.unpack({32: "<f", 64: "<d"}[kind.bit_width], content)[0], kind
            )
        case ComputedValue(bits=node) if not kind.is_real:
            return nodes.ConvertNode(node, kind)
        case AbsentValue(why=why):
            raise expression_error(why if ": " in why else f"{why} here", hint="debugger locals")
    raise expression_error(f"{operand.type.name} is not there to be read", hint="debugger locals")


def _register_as(register: str, kind: MachineType) -> Node:
    if register.startswith("xmm") == kind.is_real:
        full = nodes.RegisterNode(register, kind if kind.is_real else MachineType.U64)
        return full if kind is full.machine else nodes.ConvertNode(full, kind)
    raise expression_error(f"it is in register {register}, which is not read as such a number")


def _bit_field(stored: StoredValue, first: int, count: int, kind: MachineType) -> Node:
    """Read the bytes that hold the bits; shift them up, then down with their sign."""
    # The debug information counts bits from the record's beginning, and they may cross bytes:
    # the smallest word that holds all of them is read.
    address = add_offset(stored.address, first // 8)
    first %= 8
    size = next((one for one in (1, 2, 4, 8) if one * 8 >= first + count), 0)
    if not size:
        raise expression_error("a bit field over more than 8 bytes is not read")
    loaded = nodes.ConvertNode(
        nodes.LoadNode(address, _MACHINE_TYPES[size, False], stored.is_sure), MachineType.U64
    )
    wide = MachineType.I64 if kind.is_signed else MachineType.U64
    up = ConstantNode(_WIDEST - first - count, MachineType.I32)
    down = ConstantNode(_WIDEST - count, MachineType.I32)
    raised = nodes.ConvertNode(nodes.BinaryNode("<<", loaded, up, MachineType.U64), wide)
    return nodes.ConvertNode(nodes.BinaryNode(">>", raised, down, wide), kind)


def address_of(operand: Operand) -> Node:
    """Return the address of what lies in memory.

    Raises:
        DebuggerError: EVALUATION_FAILED for what does not.
    """
    match operand.where:
        case StoredValue(address=address, bits=None):
            return address
        case StoredValue():
            raise expression_error("a bit field has no address")
        case RegisterValue(register=register):
            raise expression_error(f"it is in register {register}, and has no address here")
        case AbsentValue(why=why):
            raise expression_error(why if ": " in why else f"{why} here", hint="debugger locals")
    raise expression_error("only what lies in memory has an address")


def number_operand(value: int, kind: ExpressionType = nodes.INT) -> Operand:
    """Make an operand of a number that is known."""
    return Operand(kind, node=ConstantNode(value, machine_type(kind)))


def truth_node(operand: Operand) -> Node:
    """Return a node that gives 1 where an operand is not zero, else 0."""
    operand = look_through_wrappers(operand)
    if operand.is_text or operand.type.kind not in SCALAR:
        raise expression_error(f"a condition is a number or a pointer, not {operand.type.name}")
    node = load_node(operand)
    # These give 0 or 1 already: comparing them with 0 again would cost each hit.
    if isinstance(node, nodes.CompareNode | nodes.LogicNode | nodes.NotNode | nodes.SameTextNode):
        return node
    zero = nodes.machine_of(node)
    return nodes.CompareNode("!=", node, ConstantNode(0.0 if zero.is_real else 0, zero))


def yes_or_no(node: Node) -> Operand:
    """Make an operand of a node that gives 0 or 1."""
    return Operand(nodes.BOOL, node=node)
