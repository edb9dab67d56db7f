"""Lists the words that machine code records for a logpoint's text, and formats them. Pure.

Only numbers are: what else a text holds, JavaScript writes, and so it does where one of the
numbers cannot be read. The text is the same in both cases, letter by letter.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from debugger.backends.frida.expressions import c, saying
from debugger.backends.frida.expressions.nodes import Machine, Node, machine_of, wrapped
from debugger.backends.frida.expressions.template import Group, Number, Piece, Plain, Style
from debugger.errors import Code, DebuggerError

Words = Sequence[int]
_Convert = Callable[[int], str]
_REALS: Final = {Machine.F32: struct.Struct("<f4x"), Machine.F64: struct.Struct("<d")}
_WORD: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Recorded:
    """C that writes down `width` words, and what makes the text of them."""

    source: str
    width: int
    text: Callable[[Words], str]


def recorded(pieces: Sequence[Piece], condition: Node | None, most: int) -> Recorded | None:
    """Have a logpoint's values written down by machine code; None where JavaScript is needed.

    `most` is how many words there is room for.
    """
    parts = [part for one in pieces for part in _flat(one)]
    numbers = [part for part in parts if isinstance(part, Number)]
    if None in parts or len(numbers) > most:
        return None
    try:
        source = c.record(condition, [one.node for one in numbers])
    except DebuggerError as error:
        if error.code is not Code.NOT_SUPPORTED:
            raise
        return None
    plain = "".join(
        "%s" if isinstance(part, Number) else str(part).replace("%", "%%") for part in parts
    )
    converts = [_convert(one) for one in numbers]
    return Recorded(
        source,
        len(numbers),
        lambda words: plain % tuple(map(_apply, converts, words)),
    )


def _apply(convert: _Convert, word: int) -> str:
    return convert(word)


def _flat(piece: Piece) -> Iterator[str | Number | None]:
    """Give what a piece is made of, one after the other; None for what is no number."""
    match piece:
        case Plain():
            yield piece.text
        case Number():
            yield piece
        case Group():
            yield piece.opened
            for at, (name, one) in enumerate(piece.pieces):
                yield f"{piece.between if at else ''}{name}"
                yield from _flat(one)
            yield piece.closed
        case _:
            yield None


def _convert(one: Number) -> _Convert:
    machine = machine_of(one.node)
    if machine.is_real:
        real = _REALS[machine]
        return lambda word: saying.number(one, real.unpack(_WORD.pack(word))[0])
    if one.names or one.style is not Style.WHOLE:
        return lambda word: saying.number(one, wrapped(word, machine))
    return (lambda word: str(wrapped(word, machine))) if machine.is_signed else str
