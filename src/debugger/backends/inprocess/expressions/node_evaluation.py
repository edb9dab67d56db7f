"""Evaluates a checked node by registers and memory. Pure but for the memory reader.

This is the reference for `javascript_writer` and `c_writer`: tests require the same answers of all.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from debugger.backends.expressions.syntax_tree import COMPARE, divide_whole, expression_error
from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.nodes import (
    SAYS,
    ElementSpan,
    MachineType,
    Node,
    RuntimeTrouble,
    Words,
    wrap_number,
)

TEXT_MAX = 1 << 20  # bytes of a text that is compared or measured
_CHUNK = 256
_PAGE = 4096
_DOUBLE_BITS = 50  # of the 53: what is left has room for the sticky bit
_REALS = {MachineType.F32: "<f", MachineType.F64: "<d"}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


@dataclass(frozen=True, slots=True)
class NodeWorld:
    """Provides the registers' bits and the memory for evaluating a node.

    `read(address, size)` returns at most `size` bytes, fewer or an OSError where they end.
    """

    registers: Mapping[str, int]
    read: Callable[[int, int], bytes]

    def bytes_at(self, address: int, size: int) -> bytes:
        """Read exactly `size` bytes.

        Raises:
            DebuggerError: EVALUATION_FAILED, naming the address.
        """
        try:
            found = self.read(address, size)
        except (OSError, OverflowError):
            found = b""
        if len(found) < size:
            raise expression_error(f"{SAYS[RuntimeTrouble.UNREADABLE]}, at {address:#x}")
        return found


def evaluate_node(node: Node, world: NodeWorld) -> int | float:  # noqa: PLR0911  one case for each kind of node
    """Run a node.

    Raises:
        DebuggerError: EVALUATION_FAILED: unreadable memory, a division by zero, and so on.
    """
    match node:
        case nodes.ConstantNode():
            return node.value
        case nodes.RegisterNode():
            return _read_register(node, world)
        case nodes.LoadNode():
            address = int(evaluate_node(node.address, world))
            return _decode_bits(world.bytes_at(address, node.machine.bit_width // 8), node.machine)
        case nodes.ConvertNode():
            return convert_number(evaluate_node(node.of, world), node.machine)
        case nodes.NegateNode():
            of = evaluate_node(node.of, world)
            return -of if node.machine.is_real else wrap_number(-int(of), node.machine)
        case nodes.InvertNode():
            return wrap_number(~int(evaluate_node(node.of, world)), node.machine)
        case nodes.BinaryNode():
            return _evaluate_binary(
                node, evaluate_node(node.left, world), evaluate_node(node.right, world)
            )
        case _:
            return _evaluate_choice(node, world)


def _evaluate_choice(node: Node, world: NodeWorld) -> int | float:  # noqa: PLR0911  one case for each kind of node
    match node:
        case nodes.CompareNode():
            return int(
                COMPARE[node.op](evaluate_node(node.left, world), evaluate_node(node.right, world))
            )
        case nodes.LogicNode():
            left = evaluate_node(node.left, world)
            # The right side must not be evaluated where the left one decides: it may be
            # unreadable then.
            return evaluate_node(node.right, world) if bool(left) == (node.op == "&&") else left
        case nodes.NotNode():
            return int(not evaluate_node(node.of, world))
        case nodes.ChooseNode():
            return evaluate_node(node.yes if evaluate_node(node.test, world) else node.no, world)
        case nodes.CountNode():
            return _evaluate_span(node.of, world)[1]
        case nodes.ElementNode():
            first, count = _evaluate_span(node.of, world)
            index = evaluate_node(node.index, world)
            if not 0 <= index < count:
                raise expression_error(f"{SAYS[RuntimeTrouble.INDEX]}: {index} of {count}")
            return wrap_number(first + int(index) * node.of.size, MachineType.U64)
        case nodes.SameTextNode():
            return int(read_text(node.left, world) == read_text(node.right, world))
        case nodes.LengthNode():
            return len(read_text(node.of, world))
    raise AssertionError(node)


def _read_register(node: nodes.RegisterNode, world: NodeWorld) -> int | float:
    if node.name not in world.registers:
        raise expression_error(
            f"register {node.name} is not known in this frame", hint="debugger registers"
        )
    # xmm registers have 128 bits, of which an F32 or F64 takes the lowest.
    value = world.registers[node.name]
    bits = value & ((1 << node.machine.bit_width) - 1)
    return _decode_bits(bits.to_bytes(node.machine.bit_width // 8, "little"), node.machine)


def _decode_bits(data: bytes, machine: MachineType) -> int | float:
    if machine.is_real:
        (value,) = struct.unpack(_REALS[machine], data)
        return float(value)
    return int.from_bytes(data, "little", signed=machine.is_signed)


def encode_number(value: float, machine: MachineType) -> bytes:
    """Return the bytes of a number in memory."""
    if machine.is_real:
        return struct.pack(_REALS[machine], convert_number(value, machine))
    return wrap_number(int(value), machine).to_bytes(
        machine.bit_width // 8, "little", signed=machine.is_signed
    )


def convert_number(value: float, machine: MachineType) -> int | float:
    """Convert a number as C does.

    Raises:
        DebuggerError: EVALUATION_FAILED where C leaves open what happens.
    """
    if machine.is_real:
        return round_to_single(value) if machine is MachineType.F32 else float(value)
    if isinstance(value, int):
        return wrap_number(value, machine)
    if (
        not math.isfinite(value)
        or wrap_number(truncated := math.trunc(value), machine) != truncated
    ):
        raise expression_error(SAYS[RuntimeTrouble.RANGE])
    return truncated


def round_to_single(value: float) -> float:
    """Round to single precision, once; what is too large becomes infinite, as in C."""
    if isinstance(value, int):
        value = _drop_bits(value)
    try:
        (found,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(found)


def _drop_bits(value: int) -> int:
    """Drop bits that a double cannot hold, keeping one bit that says whether any was set."""
    # Rounding twice, to a double and then to a single, may give another number than rounding
    # once. The sticky bit below the kept ones makes the second rounding right.
    extra = max(abs(value).bit_length() - _DOUBLE_BITS, 0)
    rounded = abs(value) >> extra << extra
    odd = 1 << extra if rounded != abs(value) else 0
    return -(rounded | odd) if value < 0 else rounded | odd


def _evaluate_binary(node: nodes.BinaryNode, left: float, right: float) -> int | float:
    if node.machine.is_real:
        return convert_number(_evaluate_real(node.op, left, right), node.machine)
    first, second = int(left), int(right)
    if node.op in _ARITHMETIC:
        return wrap_number(_ARITHMETIC[node.op](first, second), node.machine)
    if node.op in {"<<", ">>"}:
        if not 0 <= second < node.machine.bit_width:
            raise expression_error(
                f"{SAYS[RuntimeTrouble.SHIFT]}: {second} of {node.machine.bit_width}"
            )
        return wrap_number(first << second if node.op == "<<" else first >> second, node.machine)
    if not second:
        raise expression_error(SAYS[RuntimeTrouble.DIVISION])
    return wrap_number(divide_whole(node.op, first, second), node.machine)


def _evaluate_real(op: str, left: float, right: float) -> float:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    if right:
        return left / right
    # IEEE 754: 0/0 is no number, x/0 infinite with both signs. Python raises instead.
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _evaluate_span(span: ElementSpan, world: NodeWorld) -> tuple[int, int]:
    """Return the address of the first element, and how many there are."""
    holder = int(evaluate_node(span.holder, world))

    def word(offset: int) -> int:
        address = wrap_number(holder + offset, MachineType.U64)
        return int.from_bytes(world.bytes_at(address, 8), "little")

    first, second = word(span.first), word(span.second)
    count = second if span.is_count else wrap_number(second - first, MachineType.U64) // span.size
    return first, count


def read_text(words: Words, world: NodeWorld) -> bytes:
    """Return a text's bytes.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    match words:
        case nodes.LiteralText():
            return words.value.encode()
        case nodes.BytesText():
            address = int(evaluate_node(words.address, world))
            return _until_zero(address, TEXT_MAX if words.most is None else words.most, world)
        case nodes.SpannedText():
            first, count = _evaluate_span(words.of, world)
            if count > TEXT_MAX:
                raise expression_error(f"a text of {count:,} bytes; at most {TEXT_MAX:,} are read")
            return world.bytes_at(first, count) if count else b""


def _until_zero(address: int, most: int, world: NodeWorld) -> bytes:
    """Read up to a zero byte; never across a page, since the next may not be there."""
    found = bytearray()
    while len(found) < most:
        at = address + len(found)
        part = world.bytes_at(at, min(_CHUNK, most - len(found), _PAGE - at % _PAGE))
        end = part.find(0)
        if end >= 0:
            return bytes(found + part[:end])
        found += part
    return bytes(found)
