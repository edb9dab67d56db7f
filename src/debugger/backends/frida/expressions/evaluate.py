"""Evaluates an expression in a frame of a paused program, and finds its value's address."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.backends.frida.expressions import nodes, resolve
from debugger.backends.frida.expressions.operands import SCALAR, Operand, load, machine
from debugger.backends.frida.expressions.running import World, encoded, run, text
from debugger.backends.frida.expressions.scope import Absent, Held, Scope, Stored
from debugger.backends.frida.expressions.tree import fault
from debugger.backends.frida.expressions.types import Kind, Type


@dataclass(frozen=True, slots=True)
class InMemory:
    """A place in memory; `bits` are a bit field's: its first bit from there on, and how many."""

    address: int
    bits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class InRegister:
    """A place in a register, such as `rax` or `xmm0`."""

    name: str


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A value with its type.

    `value` is a number, of pointers the address, or the text of a string that was written; None for
    records and arrays, of which `place` tells where their bytes are.
    """

    type: Type
    value: int | float | str | None
    place: InMemory | InRegister | None = None


def evaluate(written: str, scope: Scope, world: World) -> Evaluated:
    """Evaluate an expression.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying what is wrong: where it is written, or in the run.
    """
    return evaluated(resolve.expression(written, scope), world)


def evaluated(operand: Operand, world: World) -> Evaluated:
    """Evaluate what was checked before."""
    if operand.words is not None:
        return Evaluated(operand.type, text(operand.words, world).decode(errors="replace"))
    place = _place(operand, world)
    value: int | float | None = None
    if operand.type.kind in SCALAR:
        value = run(load(operand), world)
    elif isinstance(operand.where, Absent):
        raise fault(operand.where.why)
    elif place is None:
        raise fault(f"{operand.type.name} is in no memory: name one of its members")
    return Evaluated(operand.type, value, place)


def _place(operand: Operand, world: World) -> InMemory | InRegister | None:
    match operand.where:
        case Stored(address=address, bits=bits):
            return InMemory(int(run(address, world)), bits)
        case Held(register=register):
            return InRegister(register)
    return None


def assigned(
    target: Evaluated, value: Evaluated, world: World
) -> tuple[InMemory | InRegister, bytes]:
    """Return where a new value goes, and as which bytes: a bit field's with its neighbours'.

    Raises:
        DebuggerError: EVALUATION_FAILED for what has no place, or a value of another kind.
    """
    if target.place is None:
        raise fault("only a variable can be set", hint="debugger set NAME VALUE")
    new = value.value
    numbers = target.type.kind in SCALAR and value.type.kind in SCALAR
    is_mixed = Kind.REAL in {target.type.kind, value.type.kind} and Kind.POINTER in {
        target.type.kind,
        value.type.kind,
    }
    if not numbers or is_mixed or new is None or isinstance(new, str):
        raise fault(f"{target.type.name} cannot be set to {value.type.name}")
    kind = machine(target.type)
    if target.type.kind is Kind.BOOLEAN:
        new = int(bool(new))
    if isinstance(new, float) and not kind.is_real:
        new = int(run(nodes.Convert(nodes.Const(new, nodes.Machine.F64), kind), world))
    held = encoded(new, kind)
    if isinstance(target.place, InMemory) and target.place.bits is not None:
        return _among_bits(target.place, target.place.bits, int(new), world)
    return target.place, held


def _among_bits(
    place: InMemory, bits: tuple[int, int], new: int, world: World
) -> tuple[InMemory, bytes]:
    first, count = bits
    at, first = place.address + first // 8, first % 8
    size = (first + count + 7) // 8
    mask = (1 << count) - 1
    old = int.from_bytes(world.bytes_at(at, size), "little")
    held = old & ~(mask << first) | (new & mask) << first
    return InMemory(at), held.to_bytes(size, "little")
