"""Formats a value in one line and lists its children, within bounds."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from debugger.symbols.dwarf import container_shapes, less_common_shapes
from debugger.symbols.dwarf.debug_types import DebugType, EnumVariant, TypeKind
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    array_element,
    case_of,
    complete_object,
    is_text,
    member_value,
    read_floating,
    read_integer,
    read_pointee,
    read_quad,
)

_ASCII: Final = range(0x20, 0x7F)
_ESCAPES: Final = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
_CHUNK: Final = 256
_FLOAT: Final = 4
_LETTERS: Final = 0x110000
_WORD: Final = 8
_WIDE: Final = {"wchar_t": "L", "char16_t": "u", "char32_t": "U"}


@dataclass(frozen=True, slots=True)
class FormatBounds:
    """Bounds what is written of a value: levels, elements of each, bytes of a text, letters."""

    depth: int = 3
    elements: int = 10
    text: int = 1024
    letters: int = 4096


DEFAULT: Final = FormatBounds()


@dataclass(frozen=True, slots=True)
class ValueChild:
    """Describes a child of a value: a member, an element, or a pointer's target."""

    name: str
    value: TypedValue


def format_value(value: TypedValue, memory: ValueMemory, bounds: FormatBounds = DEFAULT) -> str:
    """Format a value in one line; an unreadable one is `<unreadable 0x...>`."""
    written = _format_nested(value, memory, bounds, bounds.depth)
    return written if len(written) <= bounds.letters else f"{written[: bounds.letters]}…"


def _format_nested(value: TypedValue, memory: ValueMemory, bounds: FormatBounds, depth: int) -> str:
    if value.problem:
        return value.problem
    try:
        shape = less_common_shapes.find_shape(value, memory)
        if shape is not None:
            return _format_shape(shape, memory, bounds, depth)
        return _format_plain(value, memory, bounds, depth)
    except UnreadableMemory as error:
        return str(error)


def _format_plain(  # noqa: PLR0911 - one case for each kind of type
    value: TypedValue, memory: ValueMemory, bounds: FormatBounds, depth: int
) -> str:
    match value.type.kind:
        case TypeKind.STRUCT | TypeKind.UNION:
            return _format_structure(value, memory, bounds, depth)
        case TypeKind.ARRAY:
            return _format_array(value, memory, bounds, depth)
        case TypeKind.POINTER:
            return _format_pointer(value, memory, bounds)
        case TypeKind.REFERENCE:
            return _format_nested(
                complete_object(read_pointee(value, memory), memory), memory, bounds, depth
            )
        case TypeKind.VOID:
            return "void"
        case TypeKind.FUNCTION:
            return f"{{{value.type.name}}} {value.address or 0:#x}"
        case TypeKind.MEMBER_POINTER:
            return _member_pointer(value, memory)
        case TypeKind.COMPLEX:
            content = memory.bytes_of(value)
            parts = content[: len(content) // 2], content[len(content) // 2 :]
            real, imaginary = (_format_real(one, value.type.without_names.name) for one in parts)
            return f"{real} + {imaginary}i"
    return _format_scalar(value, memory)


def _format_scalar(value: TypedValue, memory: ValueMemory) -> str:
    kind = value.type.kind
    if kind is TypeKind.FLOAT:
        return _format_real(memory.bytes_of(value), value.type.without_names.name)
    if not value.type.size:
        return "()"
    if kind is TypeKind.OTHER:
        return f"0x{memory.bytes_of(value)[::-1].hex()}"
    number = read_integer(value, memory)
    if kind is TypeKind.BOOL:
        return {0: "false", 1: "true"}.get(number, str(number))
    if kind is TypeKind.CHARACTER:
        return f"{number} {_format_character(number, value.type.size)}"
    return _format_enumerator(value, number) if kind is TypeKind.ENUM else str(number)


def _format_real(content: bytes, name: str) -> str:
    number = read_quad(content) if "128" in name else read_floating(content)
    return _format_float(number, len(content)) if number is not None else f"0x{content[::-1].hex()}"


def _member_pointer(value: TypedValue, memory: ValueMemory) -> str:
    """Write a pointer to a member as it is made, by the Itanium C++ ABI (2.3)."""
    content = memory.bytes_of(value)
    number = int.from_bytes(content[:_WORD], "little", signed=True)
    container = value.type.containing_class
    if value.type.target_type.kind is TypeKind.FUNCTION:
        # Bit 0 says that the rest is an offset in the virtual table, and not an address.
        if number & 1:
            return f"virtual method {number // _WORD} of {container.name}"
        name = memory.symbol(number) if number else None
        return f"{number:#x} <{name}>" if name else f"{number:#x}"
    # 0 is the offset of the first member, so null is -1.
    if number == -1:
        return "null"
    names = (one.name for one in container.members if one.offset == number and not one.is_base)
    return f"&{container.name}::{next(names, f'(offset {number})')}"


def _format_float(number: float, size: int) -> str:
    if size != _FLOAT:
        return repr(number)
    # The shortest that means the same single-precision number.
    return next(
        found
        for digits in range(6, 10)
        if (found := f"{number:.{digits}g}") and (digits == 9 or _shortest_single(found) == number)  # noqa: PLR2004
    )


def _shortest_single(written: str) -> float:
    found: float = struct.unpack("<f", struct.pack("<f", float(written)))[0]
    return found


def _format_character(code: int, size: int) -> str:
    if code == ord("'"):
        return "'\\''"
    if code in _ESCAPES and code != ord('"'):
        return f"'{_ESCAPES[code]}'"
    is_letter = code in _ASCII if size == 1 else 0 < code < _LETTERS and chr(code).isprintable()
    return f"'{chr(code)}'" if is_letter else f"'\\x{code & ((1 << 8 * size) - 1):02x}'"


def _format_enumerator(value: TypedValue, number: int) -> str:
    names = value.type.enumerators
    prefix = f"{value.type.without_names.name}::" if value.type.is_scoped else ""
    if number in names:
        return prefix + names[number]
    # Enumerators with one bit are flags: a sum of them is written as gdb does, A | B.
    flags = [(bit, name) for bit, name in names.items() if bit > 0 and not bit & (bit - 1)]
    covered = sum(bit for bit, _ in flags if bit & number == bit)
    if number > 0 and covered == number:
        return " | ".join(prefix + name for bit, name in flags if bit & number)
    return str(number)


def _format_pointer(value: TypedValue, memory: ValueMemory, bounds: FormatBounds) -> str:
    address = read_integer(value, memory, is_signed=False)
    target = value.type.target_type
    if not address:
        return "0x0"
    if is_text(target) and _is_char(target.without_names.name):
        return _c_text(address, memory, bounds)
    prefix = _wide_prefix(target)
    if prefix is not None:
        return f"{address:#x} {_wide_text(address, target.size, prefix, memory, bounds)}"
    if target.kind is TypeKind.FUNCTION:
        name = memory.symbol(address)
        return f"{address:#x} <{name}>" if name else f"{address:#x}"
    return f"{address:#x}"


def _is_char(name: str) -> bool:
    return "char" in name or name == "u8"


def _wide_prefix(kind: DebugType) -> str | None:
    """Return what a literal of these wide letters begins with; None for what is none."""
    names = {kind.name.rpartition(" ")[2], kind.without_names.name}
    return next((sign for name, sign in _WIDE.items() if name in names), None)


def _wide_text(
    address: int, width: int, prefix: str, memory: ValueMemory, bounds: FormatBounds
) -> str:
    content = b""
    while len(content) < bounds.text:
        letter = memory.read_at(address + len(content), width)
        if not any(letter):
            return prefix + _wide_quoted(content, width)
        content += letter
    return f"{prefix}{_wide_quoted(content, width)}…"


def _wide_quoted(content: bytes, width: int) -> str:
    form = {2: "utf-16-le", 4: "utf-32-le"}[width]
    return quote_bytes(content.decode(form, "backslashreplace").encode("utf-8", "surrogatepass"))


def _c_text(address: int, memory: ValueMemory, bounds: FormatBounds) -> str:
    found, at = b"", address
    while len(found) <= bounds.text:
        # Never over the end of a page, behind which nothing may be mapped.
        size = min(_CHUNK, 0x1000 - (at & 0xFFF))
        try:
            piece = memory.read_at(at, size)
        except UnreadableMemory:
            if not found:
                raise
            return quote_bytes(found) + "…"
        end = piece.find(b"\0")
        if end >= 0:
            found += piece[:end]
            break
        found += piece
        at += size
    return quote_bytes(found[: bounds.text]) + ("…" if len(found) > bounds.text else "")


def quote_bytes(content: bytes) -> str:
    """Write bytes as a text: what is not UTF-8 as its number."""
    letters = []
    # Bytes that are no UTF-8 become lone surrogates, which no text has, and are written as
    # numbers.
    for letter in content.decode("utf-8", "surrogateescape"):
        code = ord(letter)
        if code in _ESCAPES:
            letters.append(_ESCAPES[code])
        elif 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte that is no UTF-8
            letters.append(f"\\x{code - 0xDC00:02x}")
        elif letter.isprintable():
            letters.append(letter)
        else:
            letters.append(f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")  # noqa: PLR2004
    return f'"{"".join(letters)}"'


def _format_shape(
    shape: container_shapes.Shape, memory: ValueMemory, bounds: FormatBounds, depth: int
) -> str:
    match shape:
        case container_shapes.TextShape(address, size):
            shown = memory.read_at(address, min(size, bounds.text)) if size else b""
            if shape.width > 1:
                cut = shown[: len(shown) // shape.width * shape.width]
                return _wide_quoted(cut, shape.width) + ("…" if size > len(cut) else "")
            return quote_bytes(shown) + ("…" if size > bounds.text else "")
        case container_shapes.WrapperShape(name, held):
            inner = _format_nested(held, memory, bounds, depth - 1) if held is not None else "empty"
            return f"{name}({inner})"
        case container_shapes.SequenceShape(count, items):
            inner = _format_list(
                (_format_nested(one, memory, bounds, depth - 1) for one in items(0)),
                count,
                bounds,
                depth,
            )
            return f"size={count} {inner}"
        case container_shapes.MappingShape(count, items):
            pairs = (
                f"[{format_value(key, memory, bounds)}]:"
                f"{_format_nested(item, memory, bounds, depth - 1)}"
                for key, item in items(0)
            )
            return f"size={count} {_format_list(pairs, count, bounds, depth)}"


def _format_list(texts: Iterator[str], count: int, bounds: FormatBounds, depth: int) -> str:
    if not count:
        return "{}"
    if depth <= 0:
        return "{…}"
    shown: list[str] = []
    try:
        shown.extend(itertools.islice(texts, bounds.elements))
    except UnreadableMemory as error:
        shown.append(str(error))
    if count > bounds.elements:
        shown.append("…")
    return "{" + ", ".join(shown) + "}"


def _format_array(value: TypedValue, memory: ValueMemory, bounds: FormatBounds, depth: int) -> str:
    counts = value.type.dimension_counts
    if (
        len(counts) == 1
        and _is_char(value.type.target_type.without_names.name)
        and is_text(value.type.target_type)
    ):
        return _format_letters(
            memory.bytes_of(value), value.type.target_type.without_names.name, bounds
        )
    prefix = _wide_prefix(value.type.target_type) if len(counts) == 1 else None
    if prefix is not None:
        width = value.type.target_type.size
        content = memory.bytes_of(value)
        end = len(content) // width * width
        while end and not any(content[end - width : end]):
            end -= width
        cut = content[: min(end, bounds.text)]
        return prefix + _wide_quoted(cut, width) + ("…" if end > len(cut) else "")
    count = (counts[0] if counts else None) or 0
    texts = (
        _format_nested(array_element(value, one), memory, bounds, depth - 1) for one in range(count)
    )
    return _format_list(texts, count, bounds, depth)


def _format_letters(content: bytes, name: str, bounds: FormatBounds) -> str:
    """Write an array of letters without the zeros at its end.

    What lies behind the end of a text is hardly ever meant, and only counted; bytes are all meant.
    """
    content = content.rstrip(b"\0")
    cut, _, rest = content.partition(b"\0")
    is_text = rest and name == "char"
    shown = cut if is_text else content
    after = f", then {len(rest) + 1} more bytes" if is_text else ""
    return quote_bytes(shown[: bounds.text]) + ("…" if len(shown) > bounds.text else "") + after


def _format_structure(
    value: TypedValue, memory: ValueMemory, bounds: FormatBounds, depth: int
) -> str:
    case = case_of(value, memory)
    if case is not None:
        return _format_variant(value, case, memory, bounds, depth)
    if value.type.is_declared:
        return "<incomplete type>"
    shown = [one for one in value.type.members if not one.is_base or one.type.members]
    if not shown:
        return "{}"
    if depth <= 0:
        return "{…}"
    parts = []
    for one in shown[: bounds.elements * 4]:
        inner = _format_nested(member_value(value, one, memory), memory, bounds, depth - 1)
        parts.append(f"{one.name}:{inner}" if one.name else inner)
    if len(shown) > bounds.elements * 4:
        parts.append("…")
    return _format_tuple(parts) or "{" + ", ".join(parts) + "}"


def _format_tuple(parts: list[str]) -> str:
    """Write a Rust tuple's members, `__0` and on, without their names."""
    if all(one.startswith(f"__{number}:") for number, one in enumerate(parts)):
        return f"({', '.join(one.partition(':')[2] for one in parts)})"
    return ""


def _format_variant(
    value: TypedValue, case: EnumVariant, memory: ValueMemory, bounds: FormatBounds, depth: int
) -> str:
    found = case.members[0]
    current = member_value(value, found)
    if not current.type.members:
        return found.name
    inner = _format_nested(current, memory, bounds, depth)
    return f"{found.name}{inner}"


def list_children(
    value: TypedValue, memory: ValueMemory, start: int = 0, count: int = 100
) -> list[ValueChild]:
    """List the children of a value, from `start` on, as far as they are readable."""
    if value.problem:
        return []
    found: list[ValueChild] = []
    try:
        # What was listed before a fault is still true.
        found.extend(itertools.islice(_walk_children(value, memory, start), count))
    except UnreadableMemory:
        return found
    return found


def _walk_children(value: TypedValue, memory: ValueMemory, start: int) -> Iterator[ValueChild]:
    shape = less_common_shapes.find_shape(value, memory)
    match shape:
        case container_shapes.SequenceShape(_, items):
            for number, one in enumerate(items(start), start):
                yield ValueChild(f"[{number}]", one)
            return
        case container_shapes.MappingShape(_, items):
            for key, item in items(start):
                yield ValueChild(f"[{format_value(key, memory)}]", item)
            return
        case container_shapes.WrapperShape(_, item):
            if item is not None and not start:
                yield ValueChild("*", item)
            return
        case container_shapes.TextShape():
            return
    yield from itertools.islice(_own_children(value, memory), start, None)


def _own_children(value: TypedValue, memory: ValueMemory) -> Iterator[ValueChild]:
    match value.type.kind:
        case TypeKind.STRUCT | TypeKind.UNION:
            case = case_of(value, memory)
            members = case.members if case is not None else value.type.members
            for one in members:
                yield ValueChild(one.name or "(anonymous)", member_value(value, one, memory))
        case TypeKind.ARRAY:
            counts = value.type.dimension_counts
            for number in range((counts[0] if counts else None) or 0):
                yield ValueChild(f"[{number}]", array_element(value, number))
        case TypeKind.REFERENCE:
            yield from _walk_children(
                complete_object(read_pointee(value, memory), memory), memory, 0
            )
        case TypeKind.POINTER if value.type.target_type.size:
            named = complete_object(read_pointee(value, memory), memory)
            if not named.address:
                return
            if named.type.kind in {TypeKind.STRUCT, TypeKind.UNION}:
                yield from _walk_children(named, memory, 0)
            else:
                yield ValueChild("*", named)


def has_children(value: TypedValue, memory: ValueMemory) -> bool:
    """Return whether anything is listed inside a value."""
    return bool(list_children(value, memory, 0, 1))
