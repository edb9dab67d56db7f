"""Decides once how a function's calls and returns are written, for millions of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf.functions import Function
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.scopes import Role, Variable
from debugger.backends.frida.dwarf.types import Kind, Type
from debugger.backends.frida.engine.calls import REALS, TEXTS, WORDS
from debugger.backends.frida.traced.finding import Target
from debugger.backends.frida.traced.passing import In, Place, places

_DOUBLE: Final = struct.Struct("<d")
_SINGLE: Final = struct.Struct("<f4x")
_WORD: Final = struct.Struct("<Q")
_WIDE: Final = 8
_HALF: Final = 4
_SECOND: Final = 2  # after the first word of a return comes how long it took
_SCALARS: Final = frozenset({
    Kind.INTEGER, Kind.FLOAT, Kind.BOOL, Kind.CHARACTER, Kind.POINTER, Kind.REFERENCE, Kind.ENUM,
})  # fmt: skip
_RUST_TEXTS: Final = frozenset({"&str", "&mut str"})
_SLICES: Final = ("&[", "&mut [")
_TEXTS_MAX: Final = 2
_ROOM: Final = 40
_UNREADABLE: Final = 255
_MORE: Final = 128
_LETTERS: Final = range(0x20, 0x7F)

Convert = Callable[[int], str]
# Of a whole record: this is done for each call and each return.
Record = tuple[Any, ...]
Entered = Callable[[Record], str]
Left = Callable[[Record], str | None]


@dataclass(frozen=True, slots=True)
class Words:
    """How one function's calls and returns are written; `texts` as the engine wants to know it."""

    entered: Entered
    left: Left
    texts: int = 0


def words_of(target: Target) -> Words:
    """Decide how the calls and returns of a function are written."""
    name = target.name
    if target.function is None:
        return Words(
            lambda record: f"{name}({record[WORDS]:#x}, {record[WORDS + 1]:#x}, …)",
            lambda record: hex(record[WORDS]),
        )
    arguments, returned = declared(target.module.image, target.function)
    parts: list[str] = []
    reads: list[tuple[Place, ...]] = []
    converts: list[Convert] = []
    texts: list[int] = []
    for one in arguments:
        kind = one.type
        where = places(one.place, kind.size) if one.constant is None else []
        is_slice = _is_slice(kind) and [place for place, _ in where] == [In.WORD] * 2
        is_text = (_is_text(kind) and len(where) == 1) or (is_slice and kind.name in _RUST_TEXTS)
        is_text = is_text and len(texts) < _TEXTS_MAX
        parts.append(f"{one.name}=" if one.name else "")
        if one.constant is not None and kind.kind in _SCALARS and kind.size <= _WIDE:
            word = int.from_bytes(one.constant, "little")
            parts[-1] += converter(kind)(word).replace("%", "%%")
        elif not (kind.kind in _SCALARS or is_slice) or not where:
            parts[-1] += "{…}" if kind.kind in {Kind.STRUCT, Kind.UNION} else "?"
        else:
            parts[-1] += "%s"
            if is_text and where[0][0] is In.WORD:
                texts.append(where[0][1])
            reads.append(tuple(where))
            converts.append(_size_of_slice if is_slice else converter(kind))
    # A name may hold a per cent sign: Rust's and C++'s operators do.
    form = name.replace("%", "%%") + "(" + ", ".join(parts) + ")"
    mask = sum(1 << word for word in texts)
    return Words(_entering(form, reads, converts, sorted(texts)), _leaving(returned), mask)


def _entering(
    form: str,
    reads: Sequence[tuple[Place, ...]],
    converts: Sequence[Convert],
    texts: Sequence[int],
) -> Entered:
    if not reads:
        text = form % ()
        return lambda _record: text
    wide = [([_index(one) for one in where], it) for where, it in zip(reads, converts, strict=True)]
    if not texts:
        if any(len(where) > 1 for where in reads):
            return lambda record: (
                form % tuple([convert(_joined(record, at)) for at, convert in wide])
            )
        placed = [(indexes[0], it) for indexes, it in wide]
        return lambda record: form % tuple([convert(record[at]) for at, convert in placed])
    room = _ROOM // len(texts)
    begins = {WORDS + word: room * number for number, word in enumerate(texts)}

    def mixed(record: Record) -> str:
        told = []
        for indexes, convert in wide:
            at = indexes[0]
            is_quoted = at in begins and record[at]
            length = record[indexes[1]] if len(indexes) > 1 else None
            quoted = _quoted(record[TEXTS], begins[at], length) if is_quoted else None
            told.append(quoted or convert(_joined(record, indexes)))
        return form % tuple(told)

    return mixed


def _index(where: Place) -> int:
    kind, at = where
    return (REALS if kind is In.REAL else WORDS) + at


def _joined(record: Record, indexes: Sequence[int]) -> int:
    """Put the words of one value together, the lowest first."""
    return sum(int(record[at]) << 64 * number for number, at in enumerate(indexes))


def _leaving(returned: Type | None) -> Left:
    if returned is None or returned.kind is Kind.VOID:
        return lambda _record: None
    if returned.kind not in _SCALARS:
        return lambda _record: "{…}"
    convert = converter(returned)
    if returned.kind is not Kind.FLOAT and returned.size > _WIDE:
        return lambda record: convert(_joined(record, (WORDS, WORDS + _SECOND)))
    at = REALS if returned.kind is Kind.FLOAT else WORDS
    return lambda record: convert(record[at])


def declared(image: Image, function: Function) -> tuple[list[Variable], Type | None]:
    """Give a function's arguments with their locations at its entry, and what it surely returns."""
    entry = image.units.entry(function.entry)
    if entry is None:
        return [], None
    arguments = [
        one
        for one in image.scopes.locals(function.entry, function.address)
        if one.role is Role.ARGUMENT and not one.entry.has(dw.AT_DECLARATION)
    ]
    holder = entry.holder(dw.AT_TYPE)
    if holder is None or not image.results.are_kept(function):
        return arguments, None
    return arguments, image.scopes.type(holder.type)


def _is_text(kind: Type) -> bool:
    target = kind.target
    return kind.kind is Kind.POINTER and target.kind is Kind.CHARACTER and target.size == 1


def _is_slice(kind: Type) -> bool:
    """Tell a Rust reference to a text or a slice: a pointer, and a number of elements."""
    return kind.kind is Kind.STRUCT and (kind.name in _RUST_TEXTS or kind.name.startswith(_SLICES))


def _size_of_slice(word: int) -> str:
    return f"size={word >> 64}"


def converter(kind: Type) -> Convert:  # noqa: PLR0911  one case for each kind of type
    """Give how a value of a type is written, from the register that it is in."""
    size = kind.size or _WIDE
    mask = (1 << 8 * size) - 1
    match kind.kind:
        case Kind.FLOAT if size == _WIDE:
            return lambda word: repr(_DOUBLE.unpack(_WORD.pack(word))[0])
        case Kind.FLOAT if size == _HALF:
            return lambda word: f"{_SINGLE.unpack(_WORD.pack(word))[0]:.9g}"
        case Kind.FLOAT:
            return lambda _word: "?"
        case Kind.BOOL:
            return lambda word: "true" if word & 1 else "false"
        case Kind.POINTER | Kind.REFERENCE:
            return hex
        case Kind.CHARACTER if size == 1:
            return _letter(_whole(mask, is_signed=kind.is_signed))
        case Kind.ENUM:
            return _enumerated(kind, _whole(mask, is_signed=kind.is_signed))
    if not kind.is_signed:
        return lambda word: str(word & mask)
    sign = (mask >> 1) + 1
    return lambda word: str(((word & mask) ^ sign) - sign)


def _whole(mask: int, *, is_signed: bool) -> Callable[[int], int]:
    if not is_signed:
        return lambda word: word & mask
    sign = (mask >> 1) + 1
    return lambda word: ((word & mask) ^ sign) - sign


def _letter(whole: Callable[[int], int]) -> Convert:
    def told(word: int) -> str:
        code = whole(word)
        return f"{code} '{chr(code)}'" if code in _LETTERS else str(code)

    return told


def _enumerated(kind: Type, whole: Callable[[int], int]) -> Convert:
    prefix = f"{kind.plain.name}::" if kind.is_scoped else ""
    names = {value: prefix + name for value, name in kind.enumerators.items()}

    def told(word: int) -> str:
        value = whole(word)
        return names.get(value) or str(value)

    return told


def _quoted(held: bytes, at: int, length: int | None = None) -> str | None:
    """Quote a text that was copied up to a zero byte; `length` is that of one that knows it."""
    size = held[at]
    if length == 0:
        return '""'
    if size == _UNREADABLE:
        return None
    letters = held[at + 1 : at + 1 + (size & ~_MORE)]
    is_cut = len(letters) < length if length is not None else bool(size & _MORE)
    text = letters[:length].decode("utf-8", "replace")
    escaped = "".join(
        one if one.isprintable() and one not in '"\\' else _ESCAPES.get(one, f"\\x{ord(one):02x}")
        for one in text
    )
    return f'"{escaped}"' + ("…" if is_cut else "")


_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
