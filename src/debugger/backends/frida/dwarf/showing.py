"""Formats a value in one line and lists its children, within bounds."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from debugger.backends.frida.dwarf import containers, holders
from debugger.backends.frida.dwarf.dynamic import whole
from debugger.backends.frida.dwarf.expressions import Unreadable
from debugger.backends.frida.dwarf.types import Kind, Type, Variant
from debugger.backends.frida.dwarf.values import (
    Memory,
    Value,
    case_of,
    element,
    floating,
    inside,
    integer,
    is_text,
    pointee,
    quad,
)

_ASCII: Final = range(0x20, 0x7F)
_ESCAPES: Final = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
_CHUNK: Final = 256
_FLOAT: Final = 4
_LETTERS: Final = 0x110000
_WORD: Final = 8
_WIDE: Final = {"wchar_t": "L", "char16_t": "u", "char32_t": "U"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a value is written: levels, elements of each, bytes of a text, letters in all."""

    depth: int = 3
    elements: int = 10
    text: int = 1024
    letters: int = 4096


DEFAULT: Final = Bounds()


@dataclass(frozen=True, slots=True)
class Child:
    """Something inside a value: a member, an element, or what a pointer names."""

    name: str
    value: Value


def text(value: Value, memory: Memory, bounds: Bounds = DEFAULT) -> str:
    """Write a value in one line; what cannot be read is `<unreadable 0x…>`."""
    written = _text(value, memory, bounds, bounds.depth)
    return written if len(written) <= bounds.letters else f"{written[: bounds.letters]}…"


def _text(value: Value, memory: Memory, bounds: Bounds, depth: int) -> str:
    if value.problem:
        return value.problem
    try:
        shape = holders.shape(value, memory)
        if shape is not None:
            return _shaped(shape, memory, bounds, depth)
        return _plain(value, memory, bounds, depth)
    except Unreadable as error:
        return str(error)


def _plain(  # noqa: PLR0911 - one case for each kind of type
    value: Value, memory: Memory, bounds: Bounds, depth: int
) -> str:
    match value.type.kind:
        case Kind.STRUCT | Kind.UNION:
            return _structure(value, memory, bounds, depth)
        case Kind.ARRAY:
            return _array(value, memory, bounds, depth)
        case Kind.POINTER:
            return _pointer(value, memory, bounds)
        case Kind.REFERENCE:
            return _text(whole(pointee(value, memory), memory), memory, bounds, depth)
        case Kind.VOID:
            return "void"
        case Kind.FUNCTION:
            return f"{{{value.type.name}}} {value.address or 0:#x}"
        case Kind.MEMBER_POINTER:
            return _member_pointer(value, memory)
        case Kind.COMPLEX:
            content = memory.bytes_of(value)
            parts = content[: len(content) // 2], content[len(content) // 2 :]
            real, imaginary = (_real(one, value.type.plain.name) for one in parts)
            return f"{real} + {imaginary}i"
    return _scalar(value, memory)


def _scalar(value: Value, memory: Memory) -> str:
    kind = value.type.kind
    if kind is Kind.FLOAT:
        return _real(memory.bytes_of(value), value.type.plain.name)
    if not value.type.size:
        return "()"
    if kind is Kind.OTHER:
        return f"0x{memory.bytes_of(value)[::-1].hex()}"
    whole = integer(value, memory)
    if kind is Kind.BOOL:
        return {0: "false", 1: "true"}.get(whole, str(whole))
    if kind is Kind.CHARACTER:
        return f"{whole} {_character(whole, value.type.size)}"
    return _enumerator(value, whole) if kind is Kind.ENUM else str(whole)


def _real(content: bytes, name: str) -> str:
    number = quad(content) if "128" in name else floating(content)
    return _float(number, len(content)) if number is not None else f"0x{content[::-1].hex()}"


def _member_pointer(value: Value, memory: Memory) -> str:
    """Write a pointer to a member as it is made, by the Itanium C++ ABI (2.3)."""
    content = memory.bytes_of(value)
    number = int.from_bytes(content[:_WORD], "little", signed=True)
    container = value.type.container
    if value.type.target.kind is Kind.FUNCTION:
        if number & 1:
            return f"virtual method {number // _WORD} of {container.name}"
        name = memory.symbol(number) if number else None
        return f"{number:#x} <{name}>" if name else f"{number:#x}"
    if number == -1:
        return "null"
    names = (one.name for one in container.members if one.offset == number and not one.is_base)
    return f"&{container.name}::{next(names, f'(offset {number})')}"


def _float(number: float, size: int) -> str:
    if size != _FLOAT:
        return repr(number)
    # The shortest that means the same single-precision number.
    return next(
        found
        for digits in range(6, 10)
        if (found := f"{number:.{digits}g}") and (digits == 9 or _single(found) == number)  # noqa: PLR2004
    )


def _single(written: str) -> float:
    found: float = struct.unpack("<f", struct.pack("<f", float(written)))[0]
    return found


def _character(code: int, size: int) -> str:
    if code == ord("'"):
        return "'\\''"
    if code in _ESCAPES and code != ord('"'):
        return f"'{_ESCAPES[code]}'"
    is_letter = code in _ASCII if size == 1 else 0 < code < _LETTERS and chr(code).isprintable()
    return f"'{chr(code)}'" if is_letter else f"'\\x{code & ((1 << 8 * size) - 1):02x}'"


def _enumerator(value: Value, number: int) -> str:
    names = value.type.enumerators
    prefix = f"{value.type.plain.name}::" if value.type.is_scoped else ""
    if number in names:
        return prefix + names[number]
    flags = [(bit, name) for bit, name in names.items() if bit > 0 and not bit & (bit - 1)]
    covered = sum(bit for bit, _ in flags if bit & number == bit)
    if number > 0 and covered == number:
        return " | ".join(prefix + name for bit, name in flags if bit & number)
    return str(number)


def _pointer(value: Value, memory: Memory, bounds: Bounds) -> str:
    address = integer(value, memory, is_signed=False)
    target = value.type.target
    if not address:
        return "0x0"
    if is_text(target) and _is_char(target.plain.name):
        return _c_text(address, memory, bounds)
    prefix = _wide_prefix(target)
    if prefix is not None:
        return f"{address:#x} {_wide_text(address, target.size, prefix, memory, bounds)}"
    if target.kind is Kind.FUNCTION:
        name = memory.symbol(address)
        return f"{address:#x} <{name}>" if name else f"{address:#x}"
    return f"{address:#x}"


def _is_char(name: str) -> bool:
    return "char" in name or name == "u8"


def _wide_prefix(kind: Type) -> str | None:
    """Give what a literal of these wide letters begins with; None for what is none."""
    names = {kind.name.rpartition(" ")[2], kind.plain.name}
    return next((sign for name, sign in _WIDE.items() if name in names), None)


def _wide_text(address: int, width: int, prefix: str, memory: Memory, bounds: Bounds) -> str:
    content = b""
    while len(content) < bounds.text:
        letter = memory.at(address + len(content), width)
        if not any(letter):
            return prefix + _wide_quoted(content, width)
        content += letter
    return f"{prefix}{_wide_quoted(content, width)}…"


def _wide_quoted(content: bytes, width: int) -> str:
    form = {2: "utf-16-le", 4: "utf-32-le"}[width]
    return quoted(content.decode(form, "backslashreplace").encode("utf-8", "surrogatepass"))


def _c_text(address: int, memory: Memory, bounds: Bounds) -> str:
    found, at = b"", address
    while len(found) <= bounds.text:
        # Never over the end of a page, behind which nothing may be mapped.
        size = min(_CHUNK, 0x1000 - (at & 0xFFF))
        try:
            piece = memory.at(at, size)
        except Unreadable:
            if not found:
                raise
            return quoted(found) + "…"
        end = piece.find(b"\0")
        if end >= 0:
            found += piece[:end]
            break
        found += piece
        at += size
    return quoted(found[: bounds.text]) + ("…" if len(found) > bounds.text else "")


def quoted(content: bytes) -> str:
    """Write bytes as a text: what is not UTF-8 as its number."""
    letters = []
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


def _shaped(shape: containers.Shape, memory: Memory, bounds: Bounds, depth: int) -> str:
    match shape:
        case containers.Text(address, size):
            shown = memory.at(address, min(size, bounds.text)) if size else b""
            if shape.width > 1:
                cut = shown[: len(shown) // shape.width * shape.width]
                return _wide_quoted(cut, shape.width) + ("…" if size > len(cut) else "")
            return quoted(shown) + ("…" if size > bounds.text else "")
        case containers.Wrapped(name, held):
            inner = _text(held, memory, bounds, depth - 1) if held is not None else "empty"
            return f"{name}({inner})"
        case containers.Sequence(count, items):
            inner = _listed(
                (_text(one, memory, bounds, depth - 1) for one in items(0)), count, bounds, depth
            )
            return f"size={count} {inner}"
        case containers.Mapping(count, items):
            pairs = (
                f"[{text(key, memory, bounds)}]:{_text(held, memory, bounds, depth - 1)}"
                for key, held in items(0)
            )
            return f"size={count} {_listed(pairs, count, bounds, depth)}"


def _listed(texts: Iterator[str], count: int, bounds: Bounds, depth: int) -> str:
    if not count:
        return "{}"
    if depth <= 0:
        return "{…}"
    shown: list[str] = []
    try:
        shown.extend(itertools.islice(texts, bounds.elements))
    except Unreadable as error:
        shown.append(str(error))
    if count > bounds.elements:
        shown.append("…")
    return "{" + ", ".join(shown) + "}"


def _array(value: Value, memory: Memory, bounds: Bounds, depth: int) -> str:
    counts = value.type.counts
    if len(counts) == 1 and _is_char(value.type.target.plain.name) and is_text(value.type.target):
        return _letters(memory.bytes_of(value), value.type.target.plain.name, bounds)
    prefix = _wide_prefix(value.type.target) if len(counts) == 1 else None
    if prefix is not None:
        width = value.type.target.size
        content = memory.bytes_of(value)
        end = len(content) // width * width
        while end and not any(content[end - width : end]):
            end -= width
        cut = content[: min(end, bounds.text)]
        return prefix + _wide_quoted(cut, width) + ("…" if end > len(cut) else "")
    count = (counts[0] if counts else None) or 0
    texts = (_text(element(value, one), memory, bounds, depth - 1) for one in range(count))
    return _listed(texts, count, bounds, depth)


def _letters(content: bytes, name: str, bounds: Bounds) -> str:
    """Write an array of letters without the zeros at its end.

    What lies behind the end of a text is hardly ever meant, and only counted; bytes are all meant.
    """
    content = content.rstrip(b"\0")
    cut, _, rest = content.partition(b"\0")
    is_text = rest and name == "char"
    shown = cut if is_text else content
    after = f", then {len(rest) + 1} more bytes" if is_text else ""
    return quoted(shown[: bounds.text]) + ("…" if len(shown) > bounds.text else "") + after


def _structure(value: Value, memory: Memory, bounds: Bounds, depth: int) -> str:
    case = case_of(value, memory)
    if case is not None:
        return _variant(value, case, memory, bounds, depth)
    if value.type.is_declared:
        return "<incomplete type>"
    shown = [one for one in value.type.members if not one.is_base or one.type.members]
    if not shown:
        return "{}"
    if depth <= 0:
        return "{…}"
    parts = []
    for one in shown[: bounds.elements * 4]:
        inner = _text(inside(value, one, memory), memory, bounds, depth - 1)
        parts.append(f"{one.name}:{inner}" if one.name else inner)
    if len(shown) > bounds.elements * 4:
        parts.append("…")
    return _tuple(parts) or "{" + ", ".join(parts) + "}"


def _tuple(parts: list[str]) -> str:
    """Write a Rust tuple's members, `__0` and on, without their names."""
    if all(one.startswith(f"__{number}:") for number, one in enumerate(parts)):
        return f"({', '.join(one.partition(':')[2] for one in parts)})"
    return ""


def _variant(value: Value, case: Variant, memory: Memory, bounds: Bounds, depth: int) -> str:
    found = case.members[0]
    held = inside(value, found)
    if not held.type.members:
        return found.name
    inner = _text(held, memory, bounds, depth)
    return f"{found.name}{inner}"


def children(value: Value, memory: Memory, start: int = 0, count: int = 100) -> list[Child]:
    """List what is inside a value, from `start` on; nothing where nothing is, or can be read."""
    if value.problem:
        return []
    found: list[Child] = []
    try:
        # What was listed before a fault is still true.
        found.extend(itertools.islice(_children(value, memory, start), count))
    except Unreadable:
        return found
    return found


def _children(value: Value, memory: Memory, start: int) -> Iterator[Child]:
    shape = holders.shape(value, memory)
    match shape:
        case containers.Sequence(_, items):
            for number, one in enumerate(items(start), start):
                yield Child(f"[{number}]", one)
            return
        case containers.Mapping(_, items):
            for key, held in items(start):
                yield Child(f"[{text(key, memory)}]", held)
            return
        case containers.Wrapped(_, held):
            if held is not None and not start:
                yield Child("*", held)
            return
        case containers.Text():
            return
    yield from itertools.islice(_own_children(value, memory), start, None)


def _own_children(value: Value, memory: Memory) -> Iterator[Child]:
    match value.type.kind:
        case Kind.STRUCT | Kind.UNION:
            case = case_of(value, memory)
            members = case.members if case is not None else value.type.members
            for one in members:
                yield Child(one.name or "(anonymous)", inside(value, one, memory))
        case Kind.ARRAY:
            counts = value.type.counts
            for number in range((counts[0] if counts else None) or 0):
                yield Child(f"[{number}]", element(value, number))
        case Kind.REFERENCE:
            yield from _children(whole(pointee(value, memory), memory), memory, 0)
        case Kind.POINTER if value.type.target.size:
            named = whole(pointee(value, memory), memory)
            if not named.address:
                return
            if named.type.kind in {Kind.STRUCT, Kind.UNION}:
                yield from _children(named, memory, 0)
            else:
                yield Child("*", named)


def has_children(value: Value, memory: Memory) -> bool:
    """Say whether anything is listed inside a value."""
    return bool(children(value, memory, 0, 1))
