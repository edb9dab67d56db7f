"""Types a part of an expression, and makes the node that gives its number. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from debugger.backends.frida.expressions import nodes, types
from debugger.backends.frida.expressions.nodes import Const, Machine, Node, Words, plus
from debugger.backends.frida.expressions.scope import Absent, Computed, Held, Stored, Where
from debugger.backends.frida.expressions.tree import fault
from debugger.backends.frida.expressions.types import Kind, Type

ARITHMETIC = frozenset({Kind.INTEGER, Kind.CHARACTER, Kind.BOOLEAN, Kind.ENUM, Kind.REAL})
SCALAR = ARITHMETIC | {Kind.POINTER}
_WHOLE = {
    (1, True): Machine.I8, (1, False): Machine.U8, (2, True): Machine.I16, (2, False): Machine.U16,
    (4, True): Machine.I32, (4, False): Machine.U32, (8, True): Machine.I64,
    (8, False): Machine.U64,
}  # fmt: skip
_REAL = {4: Machine.F32, 8: Machine.F64}
_WIDEST = 64
_LINKS_MAX = 8
# How the names of the types begin through which Rust looks by itself.
_RUST_LINKS = ("&", "alloc::boxed::Box<")


@dataclass(frozen=True, slots=True)
class Operand:
    """A checked part: exactly one of `node` (a number), `where` (a place), `words` (a literal)."""

    type: Type
    node: Node | None = None
    where: Where | None = None
    words: Words | None = None

    @property
    def is_text(self) -> bool:
        """Whether it is a string that the user wrote."""
        return self.words is not None


TEXT = Type("a string", Kind.RECORD, 0)


def machine(kind: Type) -> Machine:
    """Return the machine's type of a scalar.

    Raises:
        DebuggerError: EVALUATION_FAILED for what is none, or too wide.
    """
    if kind.kind is Kind.POINTER:
        return Machine.U64
    found = _REAL.get(kind.size) if kind.kind is Kind.REAL else None
    if kind.kind in ARITHMETIC and kind.kind is not Kind.REAL:
        found = _WHOLE.get((kind.size, kind.is_signed))
    if found is None:
        wide = "too wide to be calculated with" if kind.kind in ARITHMETIC else "no number"
        raise fault(f"{kind.name} is {wide}")
    return found


def dereferenced(operand: Operand) -> Operand:
    """Look through C++'s references, which are what they refer to."""
    for _ in range(_LINKS_MAX):
        if operand.type.kind is not Kind.REFERENCE:
            break
        address = bits(operand)
        operand = Operand(operand.type.points_to(), where=Stored(address))
    return operand


def peeled(operand: Operand) -> Operand:
    """Look through Rust's references and boxes too, where a number or a text is wanted."""
    operand = dereferenced(operand)
    for _ in range(_LINKS_MAX):
        kind = operand.type
        if kind.kind is not Kind.POINTER or not kind.name.startswith(_RUST_LINKS):
            break
        operand = dereferenced(Operand(kind.points_to(), where=Stored(bits(operand))))
    return operand


def load(operand: Operand) -> Node:
    """Return the node that gives an operand's number; an array's is its address.

    Raises:
        DebuggerError: EVALUATION_FAILED where it has none, or is not there.
    """
    if operand.node is not None:
        return operand.node
    if operand.type.kind in {Kind.ARRAY, Kind.FUNCTION}:
        return address_of(operand)
    if operand.type.kind not in SCALAR:
        raise fault(f"{operand.type.name} is no number: name one of its members")
    return _loaded(operand, machine(operand.type))


def bits(operand: Operand) -> Node:
    """Return the address that a pointer or a reference holds."""
    return operand.node if operand.node is not None else _loaded(operand, Machine.U64)


def _loaded(operand: Operand, wanted: Machine) -> Node:
    match operand.where:
        case Stored(address=address, is_sure=is_sure, bits=None):
            return nodes.Load(address, wanted, is_sure)
        case Stored(bits=(first, count)) as stored:
            return _bit_field(stored, first, count, wanted)
        case Held(register=register):
            return _held(register, wanted)
        case Computed(bits=Const(value=value)) if wanted.is_real:
            held = (int(value) & ((1 << wanted.bits) - 1)).to_bytes(wanted.bits // 8, "little")
            return Const(struct.unpack({32: "<f", 64: "<d"}[wanted.bits], held)[0], wanted)
        case Computed(bits=node) if not wanted.is_real:
            return nodes.Convert(node, wanted)
        case Absent(why=why):
            raise fault(why if ": " in why else f"{why} here", hint="debugger locals")
    raise fault(f"{operand.type.name} is not there to be read", hint="debugger locals")


def _held(register: str, wanted: Machine) -> Node:
    if register.startswith("xmm") == wanted.is_real:
        whole = nodes.Register(register, wanted if wanted.is_real else Machine.U64)
        return whole if wanted is whole.machine else nodes.Convert(whole, wanted)
    raise fault(f"it is in register {register}, which is not read as such a number")


def _bit_field(stored: Stored, first: int, count: int, wanted: Machine) -> Node:
    """Read the bytes that hold the bits; shift them up, then down with their sign."""
    address = plus(stored.address, first // 8)
    first %= 8
    size = next((one for one in (1, 2, 4, 8) if one * 8 >= first + count), 0)
    if not size:
        raise fault("a bit field over more than 8 bytes is not read")
    held = nodes.Convert(nodes.Load(address, _WHOLE[size, False], stored.is_sure), Machine.U64)
    wide = Machine.I64 if wanted.is_signed else Machine.U64
    up = Const(_WIDEST - first - count, Machine.I32)
    down = Const(_WIDEST - count, Machine.I32)
    raised = nodes.Convert(nodes.Binary("<<", held, up, Machine.U64), wide)
    return nodes.Convert(nodes.Binary(">>", raised, down, wide), wanted)


def address_of(operand: Operand) -> Node:
    """Return the address of what lies in memory.

    Raises:
        DebuggerError: EVALUATION_FAILED for what does not.
    """
    match operand.where:
        case Stored(address=address, bits=None):
            return address
        case Stored():
            raise fault("a bit field has no address")
        case Held(register=register):
            raise fault(f"it is in register {register}, and has no address here")
        case Absent(why=why):
            raise fault(why if ": " in why else f"{why} here", hint="debugger locals")
    raise fault("only what lies in memory has an address")


def number(value: int, kind: Type = types.INT) -> Operand:
    """Make an operand of a number that is known."""
    return Operand(kind, node=Const(value, machine(kind)))


def truth(operand: Operand) -> Node:
    """Return a node that gives 1 where an operand is not zero, else 0."""
    operand = peeled(operand)
    if operand.is_text or operand.type.kind not in SCALAR:
        raise fault(f"a condition is a number or a pointer, not {operand.type.name}")
    node = load(operand)
    if isinstance(node, nodes.Compare | nodes.Logic | nodes.Not | nodes.Same):
        return node
    zero = nodes.machine_of(node)
    return nodes.Compare("!=", node, Const(0.0 if zero.is_real else 0, zero))


def yes_or_no(node: Node) -> Operand:
    """Make an operand of a node that gives 0 or 1."""
    return Operand(types.BOOL, node=node)
