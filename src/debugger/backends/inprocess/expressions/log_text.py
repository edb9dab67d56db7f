"""Formats a logpoint's text: in Python, in JavaScript, and from what machine code records."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from debugger.backends.inprocess.expressions import c_writer, nodes
from debugger.backends.inprocess.expressions.javascript_writer import (
    JavaScriptCode,
    JavaScriptWriter,
)
from debugger.backends.inprocess.expressions.log_pieces import (
    TEXT_MAX,
    ChoicePiece,
    NumberPiece,
    NumberStyle,
    Piece,
    PieceGroup,
    PlainPiece,
    QuotedPiece,
)
from debugger.backends.inprocess.expressions.node_evaluation import (
    NodeWorld,
    evaluate_node,
    read_text,
    round_to_single,
)
from debugger.backends.inprocess.expressions.nodes import MachineType, Node, machine_of, wrap_number
from debugger.errors import DebuggerError, ErrorCode

_ASCII_END = 0x7F
_SPACE = 0x20
# From 1e21 on, and below 1e-6, JavaScript writes an exponent (ECMA-262, Number::toString).
_EXPONENT_FROM = 1e21
_EXPONENT_BELOW = 1e-6
_NO_CASE = PlainPiece("{…}")
_SINGLE_DIGITS = range(6, 10)


def format_log(pieces: tuple[Piece, ...], world: NodeWorld) -> str:
    """Format a text in Python; an unreadable value becomes `<error: ...>`."""
    return "".join(_format_safely(one, world) for one in pieces)


def _format_safely(one: Piece, world: NodeWorld) -> str:
    try:
        return _format_piece(one, world)
    except DebuggerError as error:
        return f"<error: {error.message}>"


def _format_piece(one: Piece, world: NodeWorld) -> str:
    match one:
        case PlainPiece():
            return one.text
        case PieceGroup():
            inner = one.between.join(
                name + _format_safely(part, world) for name, part in one.pieces
            )
            return f"{one.opened}{inner}{one.closed}"
        case ChoicePiece():
            found = (part for node, part in one.cases if evaluate_node(node, world))
            return _format_safely(next(found, _NO_CASE), world)
        case QuotedPiece():
            if one.pointer is not None and not evaluate_node(one.pointer, world):
                return "0x0"
            words = one.words
            if isinstance(words, nodes.BytesText):
                words = nodes.BytesText(words.address, _text_limit(words.most))
            text = read_text(words, world)
            return _quote_text(text)
        case NumberPiece():
            return format_number(one, evaluate_node(one.node, world))


def _quote_text(data: bytes) -> str:
    end = min(len(data), TEXT_MAX)
    # Not within a letter: continuation bytes of UTF-8 are 10xxxxxx.
    while end < len(data) and end and data[end] & 0xC0 == 0x80:  # noqa: PLR2004  within a letter
        end -= 1
    try:
        letters = data[:end].decode()
    except UnicodeDecodeError:
        letters = "".join(
            chr(one) if one <= _ASCII_END else "\N{REPLACEMENT CHARACTER}" for one in data[:end]
        )
    return json.dumps(letters, ensure_ascii=False) + ("…" if end < len(data) else "")


def _text_limit(most: int | None) -> int:
    return TEXT_MAX + 1 if most is None else min(most, TEXT_MAX + 1)


def format_number(one: NumberPiece, value: float) -> str:  # noqa: PLR0911  one case for each style
    """Write a number in Python."""
    # An enumerator's name goes before the number's style.
    for each, name in one.names:
        if each == value:
            return name
    match one.style:
        case NumberStyle.TRUTH:
            return "true" if value else "false"
        case NumberStyle.ADDRESS:
            return hex(int(value))
        case NumberStyle.REAL:
            return format_real(value)
        # JavaScript knows doubles alone: without this 0.1f would be 0.10000000149011612.
        case NumberStyle.SINGLE:
            return format_real(_shortest_single(value))
        case NumberStyle.CHARACTER:
            letter = chr(int(value)) if _SPACE <= value < _ASCII_END else ""
            return f"{int(value)} '{letter}'" if letter else str(int(value))
    return str(int(value))


def _shortest_single(value: float) -> float:
    """Return the number with the fewest digits that is the same in single precision."""
    if not math.isfinite(value):
        return value
    # Nine digits tell all single-precision numbers apart, six are always kept.
    for digits in _SINGLE_DIGITS:
        near = float(f"{value:.{digits}g}")
        if round_to_single(near) == value:
            return near
    return value


def format_real(value: float) -> str:  # noqa: PLR0911  one case for each form
    """Write a real number as JavaScript does (ECMA-262, Number::toString)."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= _EXPONENT_FROM or size < _EXPONENT_BELOW:
        digits, _, exponent = f"{value!r}".partition("e")
        if not exponent:
            digits, _, exponent = f"{value:.17e}".partition("e")
        return f"{digits.removesuffix('.0')}e{int(exponent):+d}"
    if value == int(value):
        return str(int(value))
    plain = repr(value)
    if "e" not in plain:
        return plain
    mantissa, _, exponent = plain.partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent)
    return f"{value:.{places}f}"


def log_script(pieces: tuple[Piece, ...]) -> JavaScriptCode:
    """Write a function that returns the text.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    writer = JavaScriptWriter()
    parts = [_write_piece(one, writer) for one in pieces] or ['""']
    return JavaScriptCode(" + ".join(parts), tuple(writer.constants))


def _write_piece(one: Piece, writer: JavaScriptWriter) -> str:
    # Each piece fails by itself: an unreadable one does not lose the others.
    if isinstance(one, PlainPiece):
        return json.dumps(one.text)
    return f"q_tried(() => {_write_value(one, writer)})"


def _write_value(one: Piece, writer: JavaScriptWriter) -> str:
    match one:
        case PlainPiece():
            return json.dumps(one.text)
        case PieceGroup():
            inner = [
                json.dumps(name) + " + " + _write_piece(part, writer) for name, part in one.pieces
            ]
            joined = f"[{', '.join(inner)}].join({json.dumps(one.between)})"
            return f"{json.dumps(one.opened)} + {joined} + {json.dumps(one.closed)}"
        case ChoicePiece():
            cases = [
                f"{writer.write_value(node)} ? {_write_piece(part, writer)} : "
                for node, part in one.cases
            ]
            return f"({''.join(cases)}{_write_piece(_NO_CASE, writer)})"
        case QuotedPiece():
            words = one.words
            if isinstance(words, nodes.BytesText):
                words = nodes.BytesText(words.address, _text_limit(words.most))
            quoted = f"q_quote({writer.write_words(words)}, {TEXT_MAX})"
            if one.pointer is None:
                return quoted
            return f'({writer.write_value(one.pointer)} ? {quoted} : "0x0")'
        case NumberPiece():
            return _written_number(one, writer)


def _written_number(one: NumberPiece, writer: JavaScriptWriter) -> str:
    value = writer.write_value(one.node)
    match one.style:
        case NumberStyle.TRUTH:
            written = f'({value} ? "true" : "false")'
        case NumberStyle.ADDRESS:
            written = f'("0x" + {value}.toString(16))'
        case NumberStyle.CHARACTER:
            written = f"q_letter({value})"
        case NumberStyle.SINGLE:
            written = f"q_short({value})"
        case _:
            written = f"String({value})"
    if not one.names:
        return written
    names = writer.name_constant(
        f"new Map({json.dumps([[str(n), name] for n, name in one.names])})"
    )
    return f"(({names}).get(String({value})) ?? {written})"


Words = Sequence[int]
_Convert = Callable[[int], str]
_REALS: Final = {MachineType.F32: struct.Struct("<f4x"), MachineType.F64: struct.Struct("<d")}
_WORD: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """Holds C code that records `width` words, and the function that makes a text of them."""

    source: str
    width: int
    text: Callable[[Words], str]


def compile_record(
    pieces: Sequence[Piece], condition: Node | None, most: int
) -> MachineRecord | None:
    """Compile a logpoint's values to machine code; None where JavaScript is needed.

    `most` is how many words a record holds.
    """
    # Only numbers fit in the words of a record: texts, choices and containers need
    # JavaScript.
    parts = [part for one in pieces for part in _flatten_piece(one)]
    numbers = [part for part in parts if isinstance(part, NumberPiece)]
    if None in parts or len(numbers) > most:
        return None
    try:
        source = c_writer.write_record(condition, [one.node for one in numbers])
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        return None
    # The text is a % template, filled in by Python when the record arrives: the program
    # writes words alone.
    plain = "".join(
        "%s" if isinstance(part, NumberPiece) else str(part).replace("%", "%%") for part in parts
    )
    converts = [_value_conversion(one) for one in numbers]
    return MachineRecord(
        source,
        len(numbers),
        lambda words: plain % tuple(map(_apply_conversion, converts, words)),
    )


def _apply_conversion(convert: _Convert, word: int) -> str:
    return convert(word)


def _flatten_piece(piece: Piece) -> Iterator[str | NumberPiece | None]:
    """Yield the parts of a piece, one after the other; None for what is no number."""
    match piece:
        case PlainPiece():
            yield piece.text
        case NumberPiece():
            yield piece
        case PieceGroup():
            yield piece.opened
            for at, (name, one) in enumerate(piece.pieces):
                yield f"{piece.between if at else ''}{name}"
                yield from _flatten_piece(one)
            yield piece.closed
        case _:
            yield None


def _value_conversion(one: NumberPiece) -> _Convert:
    machine = machine_of(one.node)
    if machine.is_real:
        real = _REALS[machine]
        return lambda word: format_number(one, real.unpack(_WORD.pack(word))[0])
    if one.names or one.style is not NumberStyle.WHOLE:
        return lambda word: format_number(one, wrap_number(word, machine))
    return (lambda word: str(wrap_number(word, machine))) if machine.is_signed else str
