"""Evaluates a DWARF expression with a frame's registers and memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from debugger.symbols.dwarf.dwarf_codes import (
    read_signed,
    read_sleb128,
    read_uleb128,
    read_unsigned,
)


@dataclass(frozen=True, slots=True)
class LocationOperation:
    """Describes one operation: its name without DW_OP_, and its operands.

    Jumps are indexes of operations. Names: `fbreg`, `breg` (register, offset), `reg`, `addr`
    (link-time), `const`, `call_frame_cfa`, `stack_value`, `implicit_value` (`block`), `piece`,
    `entry_value`, and the arithmetic.
    """

    name: str
    first: int = 0
    second: int = 0
    block: bytes = b""


# Operations by the form of their operands (DWARF 5, 7.7.1; 0xE0 and up are GNU's of DWARF 4).
_FIXED: Final = {
    0x03: ("addr", 8, False),
    0x08: ("const", 1, False),
    0x09: ("const", 1, True),
    0x0A: ("const", 2, False),
    0x0B: ("const", 2, True),
    0x0C: ("const", 4, False),
    0x0D: ("const", 4, True),
    0x0E: ("const", 8, False),
    0x0F: ("const", 8, True),
    0x15: ("pick", 1, False),
    0x28: ("bra", 2, True),
    0x2F: ("skip", 2, True),
    0x94: ("deref_size", 1, False),
    0xFA: ("parameter_ref", 4, False),
    0xFD: ("parameter_ref", 4, False),  # of a variable, which has no place either
}
_ULEB: Final = {
    0x10: "const",
    0x23: "plus_uconst",
    0x90: "reg",
    0x93: "piece",
    0xA1: "addrx",
    0xA2: "constx",
    0xA8: "convert",
    0xA9: "reinterpret",
    0xF7: "convert",
    0xFB: "addrx",
    0xFC: "constx",
}
_SLEB: Final = {0x11: "const", 0x91: "fbreg"}
_PLAIN: Final = {
    0x06: "deref",
    0x12: "dup",
    0x13: "drop",
    0x14: "over",
    0x16: "swap",
    0x17: "rot",
    0x19: "abs",
    0x1A: "and",
    0x1B: "div",
    0x1C: "minus",
    0x1D: "mod",
    0x1E: "mul",
    0x1F: "neg",
    0x20: "not",
    0x21: "or",
    0x22: "plus",
    0x24: "shl",
    0x25: "shr",
    0x26: "shra",
    0x27: "xor",
    0x29: "eq",
    0x2A: "ge",
    0x2B: "gt",
    0x2C: "le",
    0x2D: "lt",
    0x2E: "ne",
    0x96: "nop",
    0x97: "push_object_address",
    0x9B: "form_tls_address",
    0x9C: "call_frame_cfa",
    0x9F: "stack_value",
    0xE0: "form_tls_address",
    0xF0: "uninit",
}
_BLOCKS: Final = {0x9E: "implicit_value", 0xA3: "entry_value", 0xF3: "entry_value"}
_LIT0, _REG0, _BREG0, _BREG_END = 0x30, 0x50, 0x70, 0x90
_BREGX, _BIT_PIECE, _CONST_TYPE, _GNU_CONST_TYPE = 0x92, 0x9D, 0xA4, 0xF4
_REGVAL, _GNU_REGVAL, _DEREF_TYPE, _GNU_DEREF_TYPE = 0xA5, 0xF5, 0xA6, 0xF6
_IMPLICIT_POINTERS: Final = (0xA0, 0xF2)


def parse_operations(expression: bytes) -> tuple[LocationOperation, ...]:
    """Parse an expression's operations (DWARF 5, 2.5 and 7.7).

    An unknown one ends the list, as `unknown`.
    """
    found: list[LocationOperation] = []
    starts: dict[int, int] = {}
    jumps: list[tuple[int, int]] = []
    at = 0
    while at < len(expression):
        starts[at] = len(found)
        one, at = _parse_operation(expression, at)
        if one.name in {"bra", "skip"}:
            jumps.append((len(found), at + one.first))
        found.append(one)
        if one.name == "unknown":
            break
    starts[at] = len(found)
    # Distances in bytes become indexes, as the operations have no fixed size any more.
    for number, target in jumps:
        found[number] = LocationOperation(found[number].name, starts.get(target, len(found)))
    return tuple(found)


def _parse_operation(code_of: bytes, at: int) -> tuple[LocationOperation, int]:  # noqa: PLR0911 - a table by form
    code, at = code_of[at], at + 1
    if code in _PLAIN:
        return LocationOperation(_PLAIN[code]), at
    if code in _FIXED:
        name, size, has_sign = _FIXED[code]
        read = read_signed if has_sign else read_unsigned
        return LocationOperation(name, read(code_of, at, size)), at + size
    if _LIT0 <= code < _BREG_END:
        return _parse_numbered(code_of, code, at)
    if code in _ULEB:
        value, at = read_uleb128(code_of, at)
        return LocationOperation(_ULEB[code], value), at
    if code in _SLEB:
        value, at = read_sleb128(code_of, at)
        return LocationOperation(_SLEB[code], value), at
    if code in _BLOCKS:
        size, at = read_uleb128(code_of, at)
        return LocationOperation(_BLOCKS[code], size, block=code_of[at : at + size]), at + size
    return _parse_rare(code_of, code, at)


def _parse_numbered(code_of: bytes, code: int, at: int) -> tuple[LocationOperation, int]:
    if code < _REG0:
        return LocationOperation("const", code - _LIT0), at
    if code < _BREG0:
        return LocationOperation("reg", code - _REG0), at
    offset, at = read_sleb128(code_of, at)
    return LocationOperation("breg", code - _BREG0, offset), at


def _parse_rare(  # noqa: PLR0911 - a table by form
    code_of: bytes, code: int, at: int
) -> tuple[LocationOperation, int]:
    if code == _BREGX:
        number, at = read_uleb128(code_of, at)
        offset, at = read_sleb128(code_of, at)
        return LocationOperation("breg", number, offset), at
    if code in {_REGVAL, _GNU_REGVAL}:
        number, at = read_uleb128(code_of, at)
        kind, at = read_uleb128(code_of, at)
        return LocationOperation("regval", number, kind), at
    if code in {_CONST_TYPE, _GNU_CONST_TYPE}:
        kind, at = read_uleb128(code_of, at)
        size, at = code_of[at], at + 1
        value = int.from_bytes(code_of[at : at + size], "little")
        return LocationOperation("const", value, kind), at + size
    if code in {_DEREF_TYPE, _GNU_DEREF_TYPE}:
        size, at = code_of[at], at + 1
        _, at = read_uleb128(code_of, at)
        return LocationOperation("deref_size", size), at
    if code == _BIT_PIECE:
        size, at = read_uleb128(code_of, at)
        offset, at = read_uleb128(code_of, at)
        return LocationOperation("bit_piece", size, offset), at
    if code in _IMPLICIT_POINTERS:
        return LocationOperation("implicit_pointer", read_unsigned(code_of, at, 4)), len(code_of)
    return LocationOperation("unknown", code), at


MASK: Final = 0xFFFFFFFFFFFFFFFF
# A loop in an expression of a broken file ends here.
_STEPS_MAX: Final = 10_000

Reader: TypeAlias = Callable[[int, int], bytes]
"""Read memory at a run-time address; raises UnreadableMemory."""


class UnreadableMemory(Exception):
    """Says that memory cannot be read."""

    def __init__(self, address: int) -> None:
        super().__init__(f"<unreadable {address:#x}>")
        self.address = address


class UnavailableValue(Exception):
    """Says that a value has no location here, and why."""


@dataclass(frozen=True, slots=True)
class MemorySite:
    """Describes a value at a run-time address."""

    address: int


@dataclass(frozen=True, slots=True)
class RegisterSite:
    """Describes a value in a register, by its DWARF number (0 rax, 1 rdx ... 16 rip, 17 xmm0)."""

    number: int


@dataclass(frozen=True, slots=True)
class KnownSite:
    """Describes a value without storage that is known."""

    content: bytes


@dataclass(frozen=True, slots=True)
class OptimizedOutSite:
    """Describes a value that the compiler did not keep, and why."""

    why: str = "optimized out"


@dataclass(frozen=True, slots=True)
class PiecedSite:
    """Describes a value in parts, each with its size in bytes."""

    parts: tuple[tuple[MemorySite | RegisterSite | KnownSite | OptimizedOutSite, int], ...]


Site: TypeAlias = MemorySite | RegisterSite | KnownSite | OptimizedOutSite | PiecedSite


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """Holds what an expression may use: one frame of a stopped program.

    `registers` are by DWARF number; `bias` is added to addresses of the file.
    """

    registers: Mapping[int, int]
    read: Reader
    bias: int = 0
    cfa: int | None = None
    frame_base: Callable[[], int] | None = None
    thread_local: Callable[[int], int] | None = None
    address_at: Callable[[int], int] | None = None
    entry_value: Callable[[bytes], int] | None = None


def evaluate_location(
    operations: tuple[LocationOperation, ...], context: EvaluationContext, *start: int
) -> Site:
    """Evaluate where a value is; `start` is on the stack at the beginning.

    Raises:
        UnreadableMemory: It leads through memory that cannot be read.
    """
    # A variable without a location in this part of the code.
    if not operations:
        return OptimizedOutSite()
    machine = _StackMachine(context, list(start))
    try:
        return machine.run_operations(operations)
    except UnavailableValue as why:
        return OptimizedOutSite(str(why))
    except (IndexError, ZeroDivisionError):
        return OptimizedOutSite("a broken expression")


def evaluate_address(
    operations: tuple[LocationOperation, ...], context: EvaluationContext, *start: int
) -> int:
    """Evaluate an expression whose result is an address, such as a frame base.

    Raises:
        UnavailableValue: It has no address.
        UnreadableMemory: It leads through memory that cannot be read.
    """
    match evaluate_location(operations, context, *start):
        case MemorySite(place):
            return place
        case RegisterSite(number):
            return _read_register(context, number)
        case KnownSite(content):
            return int.from_bytes(content, "little")
        case OptimizedOutSite(why):
            raise UnavailableValue(why)
    raise UnavailableValue("in pieces")


def _read_register(context: EvaluationContext, number: int) -> int:
    value = context.registers.get(number)
    if value is None:
        raise UnavailableValue("in a register that was not saved")
    return value


def _as_signed(value: int) -> int:
    return value - (MASK + 1) if value >> 63 else value


def _divide_truncating(left: int, right: int) -> int:
    left, right = _as_signed(left), _as_signed(right)
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_TWO: Final[Mapping[str, Callable[[int, int], int]]] = {
    "and": operator.and_,
    "div": _divide_truncating,
    "minus": operator.sub,
    "mod": operator.mod,
    "mul": operator.mul,
    "or": operator.or_,
    "plus": operator.add,
    # A shift by more than 64 would make a huge Python number of a broken expression.
    "shl": lambda left, right: left << min(right, 64),
    "shr": lambda left, right: left >> min(right, 64),
    "shra": lambda left, right: _as_signed(left) >> min(right, 64),
    "xor": operator.xor,
    "eq": lambda left, right: int(left == right),
    "ne": lambda left, right: int(left != right),
    "ge": lambda left, right: int(_as_signed(left) >= _as_signed(right)),
    "gt": lambda left, right: int(_as_signed(left) > _as_signed(right)),
    "le": lambda left, right: int(_as_signed(left) <= _as_signed(right)),
    "lt": lambda left, right: int(_as_signed(left) < _as_signed(right)),
}
_ONE: Final[Mapping[str, Callable[[int], int]]] = {
    "abs": lambda value: abs(_as_signed(value)),
    "neg": operator.neg,
    "not": operator.invert,
}
# Operations that end an expression, or a piece of it, and say what the value on the stack is.
_PLACES: Final = frozenset({
    "reg", "stack_value", "implicit_value", "parameter_ref", "implicit_pointer", "unknown",
})  # fmt: skip


class _StackMachine:
    """Runs the stack machine of one evaluation (DWARF 5, 2.5)."""

    def __init__(self, context: EvaluationContext, stack: list[int]) -> None:
        self._context = context
        self._stack = stack
        self._site: MemorySite | RegisterSite | KnownSite | OptimizedOutSite | None = None
        self._parts: list[tuple[MemorySite | RegisterSite | KnownSite | OptimizedOutSite, int]] = []

    def run_operations(self, operations: tuple[LocationOperation, ...]) -> Site:
        at = 0
        for _ in range(_STEPS_MAX):
            if at >= len(operations):
                break
            one = operations[at]
            at += 1
            if one.name == "skip" or (one.name == "bra" and self._stack.pop()):
                at = one.first
            elif one.name in _PLACES or one.name.endswith("piece"):
                self._place_operation(one)
            elif one.name != "bra":
                self._stack_operation(one)
        if self._parts:
            return PiecedSite(tuple(self._parts))
        return self._take_site()

    def _take_site(self) -> MemorySite | RegisterSite | KnownSite | OptimizedOutSite:
        site, self._site = self._site, None
        if site is not None:
            return site
        return MemorySite(self._stack.pop()) if self._stack else OptimizedOutSite()

    def _place_operation(self, one: LocationOperation) -> None:
        match one.name:
            case "reg":
                self._site = RegisterSite(one.first)
            case "stack_value":
                self._site = KnownSite(self._stack.pop().to_bytes(8, "little"))
            case "implicit_value":
                self._site = KnownSite(one.block)
            case "parameter_ref" | "implicit_pointer":
                # Only the caller knew it, and it may have changed it since.
                raise UnavailableValue("optimized out")
            case "unknown":
                raise UnavailableValue("at a place that is not understood")
            case "piece":
                self._parts.append((self._take_site(), one.first))
            case _:
                raise UnavailableValue("in parts of bytes")

    def _stack_operation(self, one: LocationOperation) -> None:
        stack, name = self._stack, one.name
        if name in _TWO:
            right, left = stack.pop(), stack.pop()
            stack.append(_TWO[name](left, right) & MASK)
        elif name in _ONE:
            stack.append(_ONE[name](stack.pop()) & MASK)
        elif name in {"dup", "drop", "over", "pick", "swap", "rot"}:
            self._shuffle_stack(one)
        else:
            value = self._pushed_value(one)
            if value is not None:
                stack.append(value & MASK)

    def _shuffle_stack(self, one: LocationOperation) -> None:
        stack = self._stack
        match one.name:
            case "dup":
                stack.append(stack[-1])
            case "drop":
                stack.pop()
            case "over":
                stack.append(stack[-2])
            case "pick":
                stack.append(stack[-1 - one.first])
            case "swap":
                stack[-1], stack[-2] = stack[-2], stack[-1]
            case _:
                stack[-1], stack[-2], stack[-3] = stack[-2], stack[-3], stack[-1]

    def _pushed_value(  # noqa: C901, PLR0911, PLR0912 - one case for each operation that pushes
        self, one: LocationOperation
    ) -> int | None:
        context = self._context
        match one.name:
            case "const":
                return one.first
            case "addr":
                return one.first + context.bias
            case "breg":
                return _read_register(context, one.first) + one.second
            case "regval":
                return _read_register(context, one.first)
            case "fbreg" if context.frame_base is not None:
                return context.frame_base() + one.first
            case "call_frame_cfa" if context.cfa is not None:
                return context.cfa
            case "plus_uconst":
                return self._stack.pop() + one.first
            case "deref":
                return read_unsigned(context.read(self._stack.pop(), 8), 0, 8)
            case "deref_size":
                return read_unsigned(context.read(self._stack.pop(), one.first), 0, one.first)
            case "addrx" | "constx" if context.address_at is not None:
                bias = context.bias if one.name == "addrx" else 0
                return context.address_at(one.first) + bias
            case "form_tls_address" if context.thread_local is not None:
                return context.thread_local(self._stack.pop())
            case "entry_value":
                if context.entry_value is None:
                    raise UnavailableValue("optimized out")
                return context.entry_value(one.block)
            case "nop" | "uninit" | "convert" | "reinterpret":
                return None
        why = "thread-local" if one.name == "form_tls_address" else f"{one.name} is not supported"
        raise UnavailableValue(why)
