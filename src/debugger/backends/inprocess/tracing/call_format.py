"""Decides once for each function how its calls and returns are formatted, for millions of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from debugger.backends.inprocess.engine.agent_messages import REALS_AT as REALS
from debugger.backends.inprocess.engine.agent_messages import TEXTS_AT as TEXTS
from debugger.backends.inprocess.engine.agent_messages import WORDS_AT as WORDS
from debugger.backends.inprocess.tracing.trace_targets import TraceTarget
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_types import DebugType, TypeKind
from debugger.symbols.dwarf.entry_locations import NUMBERS
from debugger.symbols.dwarf.function_index import DebugFunction
from debugger.symbols.dwarf.location_evaluation import LocationOperation
from debugger.symbols.dwarf.scope_variables import DebugVariable, VariableRole

_WORD_BYTES: Final = 8
# System V ABI, 3.2.3: the first six integer arguments, in this order; a record of trace.c has
# them.
_WORDS: Final = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
_REALS: Final = 2


class RegisterSet(Enum):
    """Names the kinds of registers."""

    WORD = "word"
    REAL = "real"


# The kind of a register, and its number in the record.
Place = tuple[RegisterSet, int]

_RECORDED: Final[dict[int, Place]] = {
    **{NUMBERS[name]: (RegisterSet.WORD, at) for at, name in enumerate(_WORDS)},
    **{NUMBERS[f"xmm{at}"]: (RegisterSet.REAL, at) for at in range(_REALS)},
}


def argument_places(location: Sequence[LocationOperation], size: int) -> list[Place]:
    """Return the registers with a value of so many bytes, of those that a trace records.

    Returns:
        The registers of its eight bytes each; none where it is elsewhere, or unknown.
    """
    names = [one.name for one in location]
    if names == ["reg"]:
        pieces = [(location[0].first, size)]
    elif len(names) % 2 == 0 and names == ["reg", "piece"] * (len(names) // 2):
        pieces = [
            (one.first, part.first) for one, part in zip(location[::2], location[1::2], strict=True)
        ]
    else:
        return []
    returned = all(count == _WORD_BYTES for _, count in pieces[:-1])
    found = [_RECORDED.get(number) for number, _ in pieces]
    known = [one for one in found if one is not None]
    is_fitting = returned and all(count <= _WORD_BYTES for _, count in pieces)
    return known if is_fitting and len(known) == len(found) else []


_DOUBLE: Final = struct.Struct("<d")
_SINGLE: Final = struct.Struct("<f4x")
_WORD: Final = struct.Struct("<Q")
_WIDE: Final = 8
_HALF: Final = 4
_SECOND: Final = 2  # after the first word of a return comes how long it took
_SCALARS: Final = frozenset({
    TypeKind.INTEGER, TypeKind.FLOAT, TypeKind.BOOL, TypeKind.CHARACTER, TypeKind.POINTER,
    TypeKind.REFERENCE, TypeKind.ENUM,
})  # fmt: skip
_RUST_TEXTS: Final = frozenset({"&str", "&mut str"})
_SLICES: Final = ("&[", "&mut [")
_TEXTS_MAX: Final = 2
_ROOM: Final = 40
_UNREADABLE: Final = 255
_MORE: Final = 128
_LETTERS: Final = range(0x20, 0x7F)

Convert = Callable[[int], str]
# Functions of a whole record, called for each call and each return: they are closures over
# what was decided once.
Record = tuple[Any, ...]
Entered = Callable[[Record], str]
ReturnFormat = Callable[[Record], str | None]


@dataclass(frozen=True, slots=True)
class CallFormat:
    """Formats one function's calls and returns; `texts` is the engine's mask of text arguments."""

    entered: Entered
    left: ReturnFormat
    texts: int = 0


def words_of(target: TraceTarget) -> CallFormat:
    """Decide how the calls and returns of a function are formatted."""
    name = target.name
    if target.function is None:
        return CallFormat(
            lambda record: f"{name}({record[WORDS]:#x}, {record[WORDS + 1]:#x}, …)",
            lambda record: hex(record[WORDS]),
        )
    arguments, returned = declared_types(target.module.image, target.function)
    parts: list[str] = []
    reads: list[tuple[Place, ...]] = []
    converts: list[Convert] = []
    texts: list[int] = []
    for one in arguments:
        kind = one.type
        where = argument_places(one.place, kind.size) if one.constant is None else []
        # Rust passes a slice as a pointer and a length in two registers.
        is_slice = _is_slice(kind) and [place for place, _ in where] == [RegisterSet.WORD] * 2
        is_text = (_is_text(kind) and len(where) == 1) or (is_slice and kind.name in _RUST_TEXTS)
        is_text = is_text and len(texts) < _TEXTS_MAX
        parts.append(f"{one.name}=" if one.name else "")
        if one.constant is not None and kind.kind in _SCALARS and kind.size <= _WIDE:
            word = int.from_bytes(one.constant, "little")
            parts[-1] += value_converter(kind)(word).replace("%", "%%")
        elif not (kind.kind in _SCALARS or is_slice) or not where:
            parts[-1] += "{…}" if kind.kind in {TypeKind.STRUCT, TypeKind.UNION} else "?"
        else:
            parts[-1] += "%s"
            if is_text and where[0][0] is RegisterSet.WORD:
                texts.append(where[0][1])
            reads.append(tuple(where))
            converts.append(_size_of_slice if is_slice else value_converter(kind))
    # A name may hold a per cent sign: Rust's and C++'s operators do.
    form = name.replace("%", "%%") + "(" + ", ".join(parts) + ")"
    mask = sum(1 << word for word in texts)
    return CallFormat(
        _format_entry(form, reads, converts, sorted(texts)), _format_return(returned), mask
    )


def _format_entry(
    form: str,
    reads: Sequence[tuple[Place, ...]],
    converts: Sequence[Convert],
    texts: Sequence[int],
) -> Entered:
    if not reads:
        text = form % ()
        return lambda _record: text
    wide = [
        ([_register_index(one) for one in where], it)
        for where, it in zip(reads, converts, strict=True)
    ]
    if not texts:
        if any(len(where) > 1 for where in reads):
            return lambda record: (
                form % tuple([convert(_join_words(record, at)) for at, convert in wide])
            )
        placed = [(indexes[0], it) for indexes, it in wide]
        return lambda record: form % tuple([convert(record[at]) for at, convert in placed])
    # trace.c copies at most 40 bytes of one text, or 20 of each of two.
    room = _ROOM // len(texts)
    begins = {WORDS + word: room * number for number, word in enumerate(texts)}

    def mixed(record: Record) -> str:
        parts = []
        for indexes, convert in wide:
            at = indexes[0]
            is_quoted = at in begins and record[at]
            length = record[indexes[1]] if len(indexes) > 1 else None
            quoted = _quote_copied(record[TEXTS], begins[at], length) if is_quoted else None
            parts.append(quoted or convert(_join_words(record, indexes)))
        return form % tuple(parts)

    return mixed


def _register_index(where: Place) -> int:
    kind, at = where
    return (REALS if kind is RegisterSet.REAL else WORDS) + at


def _join_words(record: Record, indexes: Sequence[int]) -> int:
    """Join the words of one value, the lowest first."""
    return sum(int(record[at]) << 64 * number for number, at in enumerate(indexes))


def _format_return(returned: DebugType | None) -> ReturnFormat:
    if returned is None or returned.kind is TypeKind.VOID:
        return lambda _record: None
    if returned.kind not in _SCALARS:
        return lambda _record: "{…}"
    convert = value_converter(returned)
    # __int128: rax and rdx.
    if returned.kind is not TypeKind.FLOAT and returned.size > _WIDE:
        return lambda record: convert(_join_words(record, (WORDS, WORDS + _SECOND)))
    at = REALS if returned.kind is TypeKind.FLOAT else WORDS
    return lambda record: convert(record[at])


def declared_types(
    image: BinaryImage, function: DebugFunction
) -> tuple[list[DebugVariable], DebugType | None]:
    """Return a function's arguments with their locations at its entry, and its sure result."""
    entry = image.units.find_entry(function.entry)
    if entry is None:
        return [], None
    arguments = [
        one
        for one in image.scopes.local_variables(function.entry, function.address)
        if one.role is VariableRole.ARGUMENT and not one.entry.has_attribute(dw.AT_DECLARATION)
    ]
    # A result that the optimiser dropped leaves any value in its register.
    holder = entry.find_with_attribute(dw.AT_TYPE)
    if holder is None or not image.results.are_kept(function):
        return arguments, None
    return arguments, image.scopes.type_of(holder.type)


def _is_text(kind: DebugType) -> bool:
    target = kind.target_type
    return kind.kind is TypeKind.POINTER and target.kind is TypeKind.CHARACTER and target.size == 1


def _is_slice(kind: DebugType) -> bool:
    """Tell a Rust reference to a text or a slice: a pointer, and a number of elements."""
    return kind.kind is TypeKind.STRUCT and (
        kind.name in _RUST_TEXTS or kind.name.startswith(_SLICES)
    )


def _size_of_slice(word: int) -> str:
    return f"size={word >> 64}"


def value_converter(kind: DebugType) -> Convert:  # noqa: PLR0911  one case for each kind of type
    """Return how a value of a type is written, from the register that it is in."""
    size = kind.size or _WIDE
    mask = (1 << 8 * size) - 1
    match kind.kind:
        case TypeKind.FLOAT if size == _WIDE:
            return lambda word: repr(_DOUBLE.unpack(_WORD.pack(word))[0])
        case TypeKind.FLOAT if size == _HALF:
            return lambda word: f"{_SINGLE.unpack(_WORD.pack(word))[0]:.9g}"
        case TypeKind.FLOAT:
            return lambda _word: "?"
        case TypeKind.BOOL:
            return lambda word: "true" if word & 1 else "false"
        case TypeKind.POINTER | TypeKind.REFERENCE:
            return hex
        case TypeKind.CHARACTER if size == 1:
            return _letter_converter(_whole_converter(mask, is_signed=kind.is_signed))
        case TypeKind.ENUM:
            return _enumerator_converter(kind, _whole_converter(mask, is_signed=kind.is_signed))
    if not kind.is_signed:
        return lambda word: str(word & mask)
    sign = (mask >> 1) + 1
    return lambda word: str(((word & mask) ^ sign) - sign)


def _whole_converter(mask: int, *, is_signed: bool) -> Callable[[int], int]:
    if not is_signed:
        return lambda word: word & mask
    sign = (mask >> 1) + 1
    return lambda word: ((word & mask) ^ sign) - sign


def _letter_converter(to_number: Callable[[int], int]) -> Convert:
    def format_word(word: int) -> str:
        code = to_number(word)
        return f"{code} '{chr(code)}'" if code in _LETTERS else str(code)

    return format_word


def _enumerator_converter(kind: DebugType, to_number: Callable[[int], int]) -> Convert:
    prefix = f"{kind.without_names.name}::" if kind.is_scoped else ""
    names = {value: prefix + name for value, name in kind.enumerators.items()}

    def format_word(word: int) -> str:
        value = to_number(word)
        return names.get(value) or str(value)

    return format_word


def _quote_copied(data: bytes, at: int, length: int | None = None) -> str | None:
    """Quote a text that was copied up to a zero byte; `length` is that of one that knows it."""
    size = data[at]
    if length == 0:
        return '""'
    if size == _UNREADABLE:
        return None
    letters = data[at + 1 : at + 1 + (size & ~_MORE)]
    # A text that knows its length may hold zero bytes, or end without one.
    is_cut = len(letters) < length if length is not None else bool(size & _MORE)
    text = letters[:length].decode("utf-8", "replace")
    escaped = "".join(
        one if one.isprintable() and one not in '"\\' else _ESCAPES.get(one, f"\\x{ord(one):02x}")
        for one in text
    )
    return f'"{escaped}"' + ("…" if is_cut else "")


_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
