"""Reads and writes the bytecode of CPython 3.11: instructions, positions, exception handlers.

Instructions refer to each other by object, so that others can be inserted between them. The formats
are those of CPython's `Objects/locations.md` and `Objects/exception_handling_notes.txt`.
"""

from __future__ import annotations

import itertools
import opcode
from opcode import HAVE_ARGUMENT, hasjrel, opmap, opname, stack_effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_JUMPS = frozenset(hasjrel)
_BACKWARD = frozenset(op for op in hasjrel if "BACKWARD" in opname[op])
_CACHES: Any = vars(opcode)["_inline_cache_entries"]
# What the next instruction does not follow.
_LEAVES = frozenset(
    opmap[name]
    for name in (
        "RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    )
    if name in opmap
)  # fmt: skip
_NO_COLUMNS, _LONG, _NO_LOCATION = 13, 14, 15  # codes of location entries
_ENTRY_UNITS = 8  # of a location entry
_ENTRY = 128  # of the first byte of an exception table's entry
_VARINTS_MAX = 4096
_varints: dict[int, bytes] = {}  # small numbers, as an exception table has them
NOWHERE = (None, None, None, None)


class BytecodeError(Exception):
    """Bytecode that this module does not understand."""


class BytecodeInstruction:
    """An instruction; `handler` is where its exceptions go, with a depth and a flag."""

    __slots__ = ("arg", "end", "extended", "handler", "op", "position", "start", "target")

    def __init__(self, op: int, arg: int = 0, position: Any = NOWHERE) -> None:
        self.op = op
        self.arg = arg
        self.position = position  # line, last line, column, last column
        self.target: BytecodeInstruction | None = None
        # The first instruction of the handler, the values that stay on the stack, and whether the
        # number of the instruction is pushed below the exception.
        self.handler: tuple[BytecodeInstruction, int, bool] | None = None
        self.start = self.end = 0  # in units of two bytes
        self.extended = 0  # EXTENDED_ARG instructions before it

    @property
    def line(self) -> int | None:
        """The line of the source."""
        line: int | None = self.position[0]
        return line

    @property
    def goes_on(self) -> bool:
        """Whether the next instruction may follow."""
        return self.op not in _LEAVES


def read_instructions(code: CodeType) -> list[BytecodeInstruction]:
    """Return the instructions of a code object."""
    text = code.co_code
    positions = list(code.co_positions())
    found: list[BytecodeInstruction] = []
    by_start: dict[int, BytecodeInstruction] = {}
    unit = start = extended = 0
    while unit < len(positions):
        op, arg = text[2 * unit], extended | text[2 * unit + 1]
        if op == _EXTENDED_ARG:
            extended = arg << 8
            unit += 1
            continue
        one = BytecodeInstruction(op, arg, positions[unit])
        found.append(one)
        by_start[start] = one
        one.start, one.end = start, unit + 1 + _CACHES[op]
        unit = start = one.end
        extended = 0
    for one in found:
        if one.op in _JUMPS:
            way = -one.arg if one.op in _BACKWARD else one.arg
            one.target = by_start[one.end + way]
    for first, last, target, depth, is_numbered in read_handlers(code.co_exceptiontable):
        handler = (by_start[target], depth, is_numbered)
        for unit in range(first, last):
            if unit in by_start:
                by_start[unit].handler = handler
    return found


def read_handlers(table: bytes) -> list[tuple[int, int, int, int, bool]]:
    """Return the regions of an exception table: first, last, target, depth, and a flag."""
    numbers: list[int] = []
    number = 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            numbers.append(number)
            number = 0
    quads = zip(*[iter(numbers)] * 4, strict=True)
    return [(at, at + size, to, flags >> 1, bool(flags & 1)) for at, size, to, flags in quads]


def find_depths(
    instructions: list[BytecodeInstruction], first: int
) -> dict[BytecodeInstruction, int]:
    """Return the number of values on the stack before each instruction that can be reached.

    Args:
        instructions: The instructions of a code object.
        first: The index of the one that begins with an empty stack.

    Raises:
        BytecodeError: The depths contradict each other.
    """
    after = dict(itertools.pairwise(instructions))
    depths = {instructions[first]: 0}
    pending = [instructions[first]]
    while pending:
        one = pending.pop()
        depth = depths[one]
        argument = one.arg if one.op >= HAVE_ARGUMENT else None
        ways: list[tuple[BytecodeInstruction, int]] = []
        if one.goes_on:
            if one not in after:
                raise BytecodeError("the code has no end")
            ways.append((after[one], depth + stack_effect(one.op, argument, jump=False)))
        if one.target is not None:
            ways.append((one.target, depth + stack_effect(one.op, argument, jump=True)))
        if one.handler is not None:
            target, remaining, is_numbered = one.handler
            ways.append((target, remaining + is_numbered + 1))
        for way, there in ways:
            if way not in depths:
                depths[way] = there
                pending.append(way)
            if depths[way] != there or there < 0:
                raise BytecodeError("the depth of the stack is unknown")
    return depths


def write_instructions(
    code: CodeType, instructions: list[BytecodeInstruction], **changed: Any
) -> CodeType:
    """Return a code object with other instructions."""
    _place_instructions(instructions)
    text = bytearray()
    for one in instructions:
        for number in range(one.extended, 0, -1):
            text += bytes((_EXTENDED_ARG, one.arg >> 8 * number & 255))
        text += bytes((one.op, one.arg & 255))
        text += bytes(2 * _CACHES[one.op])
    return code.replace(
        co_code=bytes(text),
        co_linetable=_write_positions(instructions, code.co_firstlineno),
        co_exceptiontable=_write_handlers(instructions),
        **changed,
    )


def _place_instructions(instructions: list[BytecodeInstruction]) -> None:
    """Find each instruction's place, and the distances of jumps, until none needs more room."""
    for one in instructions:
        one.extended = _extensions(one.arg) if one.target is None else 0
    is_placed = False
    while not is_placed:
        unit = 0
        for one in instructions:
            one.start = unit
            unit = one.end = unit + one.extended + 1 + _CACHES[one.op]
        is_placed = True
        for one in instructions:
            if one.target is None:
                continue
            way = one.target.start - one.end
            one.arg = -way if one.op in _BACKWARD else way
            if one.arg < 0:
                raise BytecodeError("a jump goes the other way")
            if _extensions(one.arg) > one.extended:
                one.extended, is_placed = _extensions(one.arg), False


def _extensions(arg: int) -> int:
    return (arg.bit_length() - 1) // 8 if arg > 255 else 0  # noqa: PLR2004 - a byte


def _write_positions(instructions: list[BytecodeInstruction], line: int) -> bytes:
    found = bytearray()
    at = 0
    while at < len(instructions):
        position, units = instructions[at].position, 0
        while at < len(instructions) and instructions[at].position == position:
            units += instructions[at].end - instructions[at].start
            at += 1
        while units > 0:
            size = min(units, _ENTRY_UNITS)
            units -= size
            first, last, column, end = position
            if first is None:
                found.append(128 | _NO_LOCATION << 3 | size - 1)
                continue
            has_columns = None not in position
            found.append(128 | (_LONG if has_columns else _NO_COLUMNS) << 3 | size - 1)
            step, line = first - line, first
            _write_number(found, -step << 1 | 1 if step < 0 else step << 1)
            if has_columns:
                for number in (last - first, column + 1, end + 1):
                    _write_number(found, number)
    return bytes(found)


def _write_number(found: bytearray, number: int) -> None:
    while number > 63:  # noqa: PLR2004 - six bits
        found.append(64 | number & 63)
        number >>= 6
    found.append(number)


def _write_handlers(instructions: list[BytecodeInstruction]) -> bytes:
    regions = []
    at = 0
    while at < len(instructions):
        handler, start = instructions[at].handler, instructions[at].start
        while at < len(instructions) and instructions[at].handler == handler:
            end = instructions[at].end
            at += 1
        if handler is not None:
            target, depth, is_numbered = handler
            regions.append((start, end, (target.start, depth, is_numbered)))
    return write_regions(regions)


def write_regions(regions: list[tuple[int, int, tuple[int, int, bool]]]) -> bytes:
    """Return an exception table: by first and last unit, the target, the depth, and a flag."""
    numbers: list[int] = []
    for start, end, (target, depth, is_numbered) in regions:
        numbers += (start, end - start, target, depth << 1 | is_numbered)
    pieces = [_varints.get(number) or _encode_varint(number) for number in numbers]
    # An entry's first byte is marked.
    pieces[::4] = [bytes((one[0] | _ENTRY,)) + one[1:] for one in pieces[::4]]
    return b"".join(pieces)


def _encode_varint(number: int) -> bytes:
    """Return a number of an exception table: six bits in each byte, the highest first."""
    shifts = range((max(number.bit_length(), 1) - 1) // 6 * 6, 0, -6)
    found = bytes((*(64 | number >> shift & 63 for shift in shifts), number & 63))
    if number < _VARINTS_MAX:
        _varints[number] = found
    return found
