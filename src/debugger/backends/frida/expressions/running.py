"""Evaluates a checked node by registers and memory. Pure but for the memory reader.

This is the reference for `javascript` and `c`: the tests hold all three to the same answers.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.nodes import (
    SAYS,
    Machine,
    Node,
    Span,
    Trouble,
    Words,
    wrapped,
)
from debugger.backends.frida.expressions.tree import fault

TEXT_MAX = 1 << 20  # bytes of a text that is compared or measured
_CHUNK = 256
_PAGE = 4096
_DOUBLE_BITS = 50  # of the 53: what is left has room for the sticky bit
_REALS = {Machine.F32: "<f", Machine.F64: "<d"}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class World:
    """Where a node is run: the registers' bits, and what reads memory.

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
            raise fault(f"{SAYS[Trouble.UNREADABLE]}, at {address:#x}")
        return found


def run(node: Node, world: World) -> int | float:  # noqa: PLR0911  one case for each kind of node
    """Run a node.

    Raises:
        DebuggerError: EVALUATION_FAILED: unreadable memory, a division by zero, and so on.
    """
    match node:
        case nodes.Const():
            return node.value
        case nodes.Register():
            return _register(node, world)
        case nodes.Load():
            address = int(run(node.address, world))
            return _decoded(world.bytes_at(address, node.machine.bits // 8), node.machine)
        case nodes.Convert():
            return converted(run(node.of, world), node.machine)
        case nodes.Negate():
            of = run(node.of, world)
            return -of if node.machine.is_real else wrapped(-int(of), node.machine)
        case nodes.Invert():
            return wrapped(~int(run(node.of, world)), node.machine)
        case nodes.Binary():
            return _binary(node, run(node.left, world), run(node.right, world))
        case _:
            return _chosen(node, world)


def _chosen(node: Node, world: World) -> int | float:  # noqa: PLR0911  one case for each kind of node
    match node:
        case nodes.Compare():
            return int(_COMPARE[node.op](run(node.left, world), run(node.right, world)))
        case nodes.Logic():
            left = run(node.left, world)
            return run(node.right, world) if bool(left) == (node.op == "&&") else left
        case nodes.Not():
            return int(not run(node.of, world))
        case nodes.Choose():
            return run(node.yes if run(node.test, world) else node.no, world)
        case nodes.Count():
            return _span(node.of, world)[1]
        case nodes.Element():
            first, count = _span(node.of, world)
            index = run(node.index, world)
            if not 0 <= index < count:
                raise fault(f"{SAYS[Trouble.INDEX]}: {index} of {count}")
            return wrapped(first + int(index) * node.of.size, Machine.U64)
        case nodes.Same():
            return int(text(node.left, world) == text(node.right, world))
        case nodes.Length():
            return len(text(node.of, world))
    raise AssertionError(node)


def _register(node: nodes.Register, world: World) -> int | float:
    if node.name not in world.registers:
        raise fault(f"register {node.name} is not known in this frame", hint="debugger registers")
    held = world.registers[node.name]
    bits = held & ((1 << node.machine.bits) - 1)
    return _decoded(bits.to_bytes(node.machine.bits // 8, "little"), node.machine)


def _decoded(held: bytes, machine: Machine) -> int | float:
    if machine.is_real:
        (value,) = struct.unpack(_REALS[machine], held)
        return float(value)
    return int.from_bytes(held, "little", signed=machine.is_signed)


def encoded(value: float, machine: Machine) -> bytes:
    """Return the bytes of a number in memory."""
    if machine.is_real:
        return struct.pack(_REALS[machine], converted(value, machine))
    return wrapped(int(value), machine).to_bytes(
        machine.bits // 8, "little", signed=machine.is_signed
    )


def converted(value: float, machine: Machine) -> int | float:
    """Convert a number as C does.

    Raises:
        DebuggerError: EVALUATION_FAILED where C leaves open what happens.
    """
    if machine.is_real:
        return single(value) if machine is Machine.F32 else float(value)
    if isinstance(value, int):
        return wrapped(value, machine)
    if not math.isfinite(value) or wrapped(whole := math.trunc(value), machine) != whole:
        raise fault(SAYS[Trouble.RANGE])
    return whole


def single(value: float) -> float:
    """Round to single precision, once; what is too large becomes infinite, as in C."""
    if isinstance(value, int):
        value = _sticky(value)
    try:
        (found,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(found)


def _sticky(value: int) -> int:
    """Drop bits that a double cannot hold, so that rounding it again rounds as from all of them."""
    extra = max(abs(value).bit_length() - _DOUBLE_BITS, 0)
    kept = abs(value) >> extra << extra
    odd = 1 << extra if kept != abs(value) else 0
    return -(kept | odd) if value < 0 else kept | odd


def _binary(node: nodes.Binary, left: float, right: float) -> int | float:
    if node.machine.is_real:
        return converted(_real(node.op, left, right), node.machine)
    first, second = int(left), int(right)
    if node.op in _ARITHMETIC:
        return wrapped(_ARITHMETIC[node.op](first, second), node.machine)
    if node.op in {"<<", ">>"}:
        if not 0 <= second < node.machine.bits:
            raise fault(f"{SAYS[Trouble.SHIFT]}: {second} of {node.machine.bits}")
        return wrapped(first << second if node.op == "<<" else first >> second, node.machine)
    if not second:
        raise fault(SAYS[Trouble.DIVISION])
    quotient = abs(first) // abs(second)
    quotient = -quotient if (first < 0) != (second < 0) else quotient
    return wrapped(quotient if node.op == "/" else first - quotient * second, node.machine)


def _real(op: str, left: float, right: float) -> float:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    if right:
        return left / right
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _span(span: Span, world: World) -> tuple[int, int]:
    """Return the address of the first element, and how many there are."""
    holder = int(run(span.holder, world))

    def word(offset: int) -> int:
        address = wrapped(holder + offset, Machine.U64)
        return int.from_bytes(world.bytes_at(address, 8), "little")

    first, second = word(span.first), word(span.second)
    count = second if span.is_count else wrapped(second - first, Machine.U64) // span.size
    return first, count


def text(words: Words, world: World) -> bytes:
    """Return a text's bytes.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    match words:
        case nodes.Literal():
            return words.value.encode()
        case nodes.Bytes():
            address = int(run(words.address, world))
            return _until_zero(address, TEXT_MAX if words.most is None else words.most, world)
        case nodes.Spanned():
            first, count = _span(words.of, world)
            if count > TEXT_MAX:
                raise fault(f"a text of {count:,} bytes; at most {TEXT_MAX:,} are read")
            return world.bytes_at(first, count) if count else b""


def _until_zero(address: int, most: int, world: World) -> bytes:
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
