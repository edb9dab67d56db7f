"""Evaluates an expression in a frame of a paused program, and finds its value's address."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.backends.expressions.syntax_tree import expression_error
from debugger.backends.inprocess.expressions import nodes, resolution
from debugger.backends.inprocess.expressions.location_nodes import (
    AbsentValue,
    NameScope,
    RegisterValue,
    StoredValue,
)
from debugger.backends.inprocess.expressions.node_evaluation import (
    NodeWorld,
    encode_number,
    evaluate_node,
    read_text,
)
from debugger.backends.inprocess.expressions.nodes import ExpressionKind, ExpressionType
from debugger.backends.inprocess.expressions.operands import (
    SCALAR,
    Operand,
    load_node,
    machine_type,
)


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """Describes storage in memory; `bits` are a bit field's first bit from there, and its width."""

    address: int
    bits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RegisterPlace:
    """Describes storage in a register, such as `rax` or `xmm0`."""

    name: str


@dataclass(frozen=True, slots=True)
class EvaluatedExpression:
    """Holds a value with its type.

    `value` is a number, of pointers the address, or the text of a written string; None for records
    and arrays, whose bytes are at `place`.
    """

    type: ExpressionType
    value: int | float | str | None
    place: MemoryPlace | RegisterPlace | None = None


def evaluate_expression(written: str, scope: NameScope, world: NodeWorld) -> EvaluatedExpression:
    """Evaluate an expression.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying what is wrong: where it is written, or in the run.
    """
    return evaluate_checked(resolution.resolve_expression(written, scope), world)


def evaluate_checked(operand: Operand, world: NodeWorld) -> EvaluatedExpression:
    """Evaluate a checked operand."""
    if operand.words is not None:
        return EvaluatedExpression(
            operand.type, read_text(operand.words, world).decode(errors="replace")
        )
    place = _operand_place(operand, world)
    value: int | float | None = None
    if operand.type.kind in SCALAR:
        value = evaluate_node(load_node(operand), world)
    elif isinstance(operand.where, AbsentValue):
        raise expression_error(operand.where.why)
    elif place is None:
        raise expression_error(f"{operand.type.name} is in no memory: name one of its members")
    return EvaluatedExpression(operand.type, value, place)


def _operand_place(operand: Operand, world: NodeWorld) -> MemoryPlace | RegisterPlace | None:
    match operand.where:
        case StoredValue(address=address, bits=bits):
            return MemoryPlace(int(evaluate_node(address, world)), bits)
        case RegisterValue(register=register):
            return RegisterPlace(register)
    return None


def assignment_bytes(
    target: EvaluatedExpression, value: EvaluatedExpression, world: NodeWorld
) -> tuple[MemoryPlace | RegisterPlace, bytes]:
    """Return where a new value goes, and its bytes: a bit field's with its neighbours'.

    Raises:
        DebuggerError: EVALUATION_FAILED for a target without storage, or a value of another kind.
    """
    if target.place is None:
        raise expression_error("only a variable can be set", hint="debugger set NAME VALUE")
    new = value.value
    numbers = target.type.kind in SCALAR and value.type.kind in SCALAR
    is_mixed = ExpressionKind.REAL in {
        target.type.kind,
        value.type.kind,
    } and ExpressionKind.POINTER in {
        target.type.kind,
        value.type.kind,
    }
    if not numbers or is_mixed or new is None or isinstance(new, str):
        raise expression_error(f"{target.type.name} cannot be set to {value.type.name}")
    kind = machine_type(target.type)
    # A bool holds 0 or 1 alone: compilers rely on it.
    if target.type.kind is ExpressionKind.BOOLEAN:
        new = int(bool(new))
    if isinstance(new, float) and not kind.is_real:
        new = int(
            evaluate_node(
                nodes.ConvertNode(nodes.ConstantNode(new, nodes.MachineType.F64), kind), world
            )
        )
    content = encode_number(new, kind)
    if isinstance(target.place, MemoryPlace) and target.place.bits is not None:
        return _among_bits(target.place, target.place.bits, int(new), world)
    return target.place, content


def _among_bits(
    place: MemoryPlace, bits: tuple[int, int], new: int, world: NodeWorld
) -> tuple[MemoryPlace, bytes]:
    first, count = bits
    at, first = place.address + first // 8, first % 8
    size = (first + count + 7) // 8
    # Read, change, write: another thread's write to a neighbouring bit in between would be
    # lost, as it would be by the compiler's own code.
    mask = (1 << count) - 1
    old = int.from_bytes(world.bytes_at(at, size), "little")
    combined = old & ~(mask << first) | (new & mask) << first
    return MemoryPlace(at), combined.to_bytes(size, "little")
