"""Lists the words that machine code records for a logpoint's text, and formats them. Pure.

Only numbers are: what else a text holds, JavaScript writes, and so it does where one of the
numbers cannot be read. The text is the same in both cases, letter by letter.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from debugger.backends.inprocess.expressions import c_writer, log_text
from debugger.backends.inprocess.expressions.log_pieces import (
    NumberPiece,
    NumberStyle,
    Piece,
    PieceGroup,
    PlainPiece,
)
from debugger.backends.inprocess.expressions.nodes import (
    MachineType,
    Node,
    machine_of,
    wrap_number,
)
from debugger.errors import DebuggerError, ErrorCode

Words = Sequence[int]
_Convert = Callable[[int], str]
_REALS: Final = {MachineType.F32: struct.Struct("<f4x"), MachineType.F64: struct.Struct("<d")}
_WORD: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """C that writes down `width` words, and what makes the text of them."""

    source: str
    width: int
    text: Callable[[Words], str]


def compile_record(
    pieces: Sequence[Piece], condition: Node | None, most: int
) -> MachineRecord | None:
    """Have a logpoint's values written down by machine code; None where JavaScript is needed.

    `most` is how many words there is room for.
    """
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
    """Give what a piece is made of, one after the other; None for what is no number."""
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
        return lambda word: log_text.format_number(one, real.unpack(_WORD.pack(word))[0])
    if one.names or one.style is not NumberStyle.WHOLE:
        return lambda word: log_text.format_number(one, wrap_number(word, machine))
    return (lambda word: str(wrap_number(word, machine))) if machine.is_signed else str
