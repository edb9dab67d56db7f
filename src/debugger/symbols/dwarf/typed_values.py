"""Decodes a value from bytes and a type into its parts, and finds an object's dynamic class."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from debugger.symbols.dwarf.debug_types import DebugMember, DebugType, EnumVariant, TypeKind
from debugger.symbols.dwarf.location_evaluation import (
    MASK,
    EvaluationContext,
    KnownSite,
    MemorySite,
    OptimizedOutSite,
    PiecedSite,
    Reader,
    RegisterSite,
    Site,
    UnreadableMemory,
    evaluate_location,
    parse_operations,
)

_XMM: Final = range(17, 33)
_FLOATS: Final = {2: "<e", 4: "<f", 8: "<d"}
_EXTENDED: Final = (10, 12, 16)
_EXPONENT_BIAS: Final = 16383


@dataclass(frozen=True, slots=True)
class TypedValue:
    """Holds a value of the program: at a run-time `address`, or as `content` without an address.

    `problem` says, as `<...>`, why there is none; `bits` are (first bit, count) of a bit field.
    """

    type: DebugType
    address: int | None = None
    content: bytes | None = None
    problem: str = ""
    bits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ValueMemory:
    """Reads memory for values, and names functions for pointers to them.

    `most` bounds the bytes of one value; `type_named` finds a class of the module at an address.
    """

    read: Reader
    symbol: Callable[[int], str | None] = lambda _: None
    most: int = 1 << 20
    type_named: Callable[[str, int], DebugType | None] = lambda _, __: None

    def bytes_of(self, value: TypedValue) -> bytes:
        """Read a value's bytes.

        Raises:
            UnreadableMemory: They cannot be read.
        """
        if value.content is not None:
            return value.content
        if value.address is None:
            return b""
        return self.read_at(value.address, min(value.type.size, self.most))

    def read_at(self, address: int, size: int) -> bytes:
        """Read memory.

        Raises:
            UnreadableMemory: It cannot be read, or not all of it.
        """
        if size <= 0:
            return b""
        found = self.read(address & MASK, size)
        if len(found) != size:
            raise UnreadableMemory(address)
        return found


def value_at_site(
    kind: DebugType, site: Site, registers: Mapping[int, int], memory: ValueMemory
) -> TypedValue:
    """Make the value of a type that an expression led to."""
    match site:
        case MemorySite(address):
            return TypedValue(kind, address=address)
        case OptimizedOutSite(why):
            return TypedValue(kind, problem=f"<{why}>")
        case PiecedSite(parts):
            return _join_pieces(kind, parts, registers, memory)
    found = _site_content(site, kind.size, registers, memory)
    if isinstance(found, str):
        return TypedValue(kind, problem=found)
    return TypedValue(kind, content=found)


def _join_pieces(
    kind: DebugType,
    parts: Iterable[tuple[MemorySite | RegisterSite | KnownSite | OptimizedOutSite, int]],
    registers: Mapping[int, int],
    memory: ValueMemory,
) -> TypedValue:
    contents = []
    for part, size in parts:
        found = _site_content(part, size, registers, memory)
        if isinstance(found, str):
            return TypedValue(kind, problem=found)
        contents.append(found)
    if sum(map(len, contents)) < kind.size:
        return TypedValue(kind, problem="<partly optimized out>")
    return TypedValue(kind, content=b"".join(contents))


def _site_content(
    site: MemorySite | RegisterSite | KnownSite | OptimizedOutSite,
    size: int,
    registers: Mapping[int, int],
    memory: ValueMemory,
) -> bytes | str:
    match site:
        case MemorySite(address):
            try:
                return memory.read_at(address, size)
            except UnreadableMemory as error:
                return str(error)
        case RegisterSite(number):
            if number not in registers:
                return "<not saved>"
            width = 16 if number in _XMM else 8
            current = registers[number] & ((1 << 8 * width) - 1)
            return current.to_bytes(width, "little")[:size]
        case KnownSite(content):
            return content[:size].ljust(size, b"\0") if size else content
        case OptimizedOutSite(why):
            return f"<{why}>"


def value_part(
    value: TypedValue, offset: int, kind: DebugType, bits: tuple[int, int] | None = None
) -> TypedValue:
    """Return what lies inside a value at an offset."""
    if value.problem:
        return TypedValue(kind, problem=value.problem)
    if value.address is not None:
        return TypedValue(kind, address=(value.address + offset) & MASK, bits=bits)
    content = value.content or b""
    size = (bits[0] + bits[1] + 7) // 8 if bits is not None else kind.size
    return TypedValue(kind, content=content[offset : offset + size], bits=bits)


def find_member(value: TypedValue, name: str) -> TypedValue | None:
    """Return a member by its name, through bases and unnamed unions."""
    found = value.type.find_member(name)
    return member_value(value, found) if found is not None else None


def member_value(
    value: TypedValue, found: DebugMember, memory: ValueMemory | None = None
) -> TypedValue:
    """Return a member, or a base; the offset of a virtual base is read from memory."""
    if found.offset is None:
        if memory is not None and found.place and value.address is not None:
            # The expression finds the base's offset in the object's virtual table.
            context = EvaluationContext({}, memory.read)
            site = evaluate_location(parse_operations(found.place), context, value.address)
            if isinstance(site, MemorySite):
                return TypedValue(found.type, address=site.address)
        return TypedValue(found.type, problem="<virtual base>")
    return value_part(value, found.offset, found.type, found.bits)


def array_element(value: TypedValue, number: int) -> TypedValue:
    """Return an element of an array; of one of several dimensions, it is an array."""
    counts = value.type.dimension_counts[1:]
    target = value.type.target_type
    stride = target.size
    for count in counts:
        stride *= count or 0
    if not counts:
        return value_part(value, number * stride, target)
    row = ArrayRow(value.type, counts)
    return value_part(value, number * stride, row)


class ArrayRow(DebugType):
    """Describes one row of an array of several dimensions."""

    def __init__(self, array: DebugType, counts: tuple[int | None, ...]) -> None:
        super().__init__(array.without_names.entry)
        self.target_type = array.target_type
        self.dimension_counts = counts
        self.name = f"{array.target_type.name} {''.join(f'[{one}]' for one in counts)}"
        size = array.target_type.size
        for count in counts:
            size *= count or 0
        self.size = size
        self.without_names = self


def read_integer(value: TypedValue, memory: ValueMemory, *, is_signed: bool | None = None) -> int:
    """Read an integer, a pointer, an enumeration or a bit field.

    Raises:
        UnreadableMemory: It cannot be read.
    """
    has_sign = value.type.is_signed if is_signed is None else is_signed
    if value.bits is None:
        return int.from_bytes(memory.bytes_of(value), "little", signed=has_sign)
    first, count = value.bits
    size = (first + count + 7) // 8
    raw = value.content if value.content is not None else memory.read_at(value.address or 0, size)
    number = int.from_bytes(raw[:size], "little") >> first & ((1 << count) - 1)
    return number - (1 << count) if has_sign and number >> (count - 1) else number


def read_floating(content: bytes) -> float | None:
    """Return a floating-point number, of x87's ten bytes too; None for an unknown size."""
    form = _FLOATS.get(len(content))
    if form is not None:
        found: float = struct.unpack(form, content)[0]
        return found
    # A long double has ten bytes, and is stored in 12 or 16.
    if len(content) not in _EXTENDED:
        return None
    # The x87's form: 64 bits of mantissa with its first bit written, 15 of exponent, a sign.
    mantissa = int.from_bytes(content[:8], "little")
    top = int.from_bytes(content[8:10], "little")
    exponent, sign = top & 0x7FFF, -1.0 if top >> 15 else 1.0
    if exponent == 0x7FFF:  # noqa: PLR2004 - all bits set: infinity, or no number
        return float("nan") if mantissa << 1 & MASK else sign * float("inf")
    # Itanium C++ ABI, 2.5.2: the virtual table's symbol names the real class, and two words
    # before its functions is the distance from this part to the whole object.
    try:
        return sign * math.ldexp(mantissa, exponent - _EXPONENT_BIAS - 63)
    except OverflowError:
        return sign * float("inf")


def read_quad(content: bytes) -> float:
    """Return a floating-point number of IEEE's form of 128 bits, as near as 64 bits are."""
    bits = int.from_bytes(content, "little")
    mantissa, top = bits & ((1 << 112) - 1), bits >> 112
    exponent, sign = top & 0x7FFF, -1.0 if top >> 15 else 1.0
    if exponent == 0x7FFF:  # noqa: PLR2004 - all bits set: infinity, or no number
        return float("nan") if mantissa else sign * float("inf")
    try:
        return sign * math.ldexp(mantissa | bool(exponent) << 112, exponent - _EXPONENT_BIAS - 112)
    except OverflowError:
        return sign * float("inf")


def read_pointee(value: TypedValue, memory: ValueMemory) -> TypedValue:
    """Return what a pointer or a reference names.

    Raises:
        UnreadableMemory: The pointer itself cannot be read.
    """
    return TypedValue(value.type.target_type, address=read_integer(value, memory, is_signed=False))


def is_text(kind: DebugType) -> bool:
    """Return whether a type is of one-byte characters."""
    return kind.kind is TypeKind.CHARACTER and kind.size == 1


def case_of(value: TypedValue, memory: ValueMemory) -> EnumVariant | None:
    """Find which case of a Rust enum a value is; None for other types.

    Raises:
        UnreadableMemory: What says so cannot be read.
    """
    variants = value.type.variants
    if not variants:
        return None
    discriminant = value.type.discriminant
    number = None
    if discriminant is not None and discriminant.offset is not None:
        tag = value_part(value, discriminant.offset, discriminant.type)
        number = read_integer(tag, memory, is_signed=False)
    size = discriminant.type.size if discriminant is not None else 8
    mask = (1 << 8 * size) - 1
    for one in variants:
        if one.value is not None and number is not None and one.value & mask == number:
            return one
    # The case without a value of its own: a niche, such as the non-null pointer of Some.
    return next((one for one in variants if one.value is None), None)


_VTABLE: Final = "vtable for "
_POINTER: Final = "_vptr"
_DEEP: Final = 8
# The words before the functions of a table: the distance to the whole object, and its type.
_TO_TOP: Final = 16


def complete_object(value: TypedValue, memory: ValueMemory) -> TypedValue:
    """Return the whole object that one of a class with virtual functions is a part of."""
    if value.type.kind is not TypeKind.STRUCT or value.address is None or value.type.variants:
        return value
    try:
        table = _vtable_address(value, memory)
        name = memory.symbol(table) if table else None
        if name is None or not name.startswith(_VTABLE):
            return value
        distance = int.from_bytes(memory.read_at(table - _TO_TOP, 8), "little", signed=True)
    except UnreadableMemory:
        return value
    class_name = name.removeprefix(_VTABLE)
    if class_name == value.type.without_names.name:
        return value
    kind = memory.type_named(class_name, table)
    if kind is None:
        return value
    return TypedValue(kind, address=(value.address + distance) & MASK)


def _vtable_address(value: TypedValue, memory: ValueMemory, depth: int = 0) -> int:
    for one in value.type.members if depth < _DEEP else ():
        if one.offset is None:
            continue
        if one.name.startswith(_POINTER):
            return read_integer(member_value(value, one), memory, is_signed=False)
        if one.is_base:
            found = _vtable_address(member_value(value, one), memory, depth + 1)
            if found:
                return found
    return 0
