"""Formats a logpoint's text in Python and in JavaScript, letter by letter the same.

Numbers as JavaScript writes them (`1`, `0.5`, `1e+21`), texts as JSON strings.
"""

from __future__ import annotations

import json
import math

from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.javascript import Script, Writer
from debugger.backends.frida.expressions.running import World, run, single, text
from debugger.backends.frida.expressions.template import (
    TEXT_MAX,
    Choice,
    Group,
    Number,
    Piece,
    Plain,
    Quoted,
    Style,
)
from debugger.errors import DebuggerError

_ASCII_END = 0x7F
_SPACE = 0x20
_EXPONENT_FROM = 1e21
_EXPONENT_BELOW = 1e-6
_NO_CASE = Plain("{…}")
_SINGLE_DIGITS = range(6, 10)


def said(pieces: tuple[Piece, ...], world: World) -> str:
    """Write a text in Python; a value that cannot be read says `<error: …>` in its place."""
    return "".join(_tried(one, world) for one in pieces)


def _tried(one: Piece, world: World) -> str:
    try:
        return _said(one, world)
    except DebuggerError as error:
        return f"<error: {error.message}>"


def _said(one: Piece, world: World) -> str:
    match one:
        case Plain():
            return one.text
        case Group():
            inner = one.between.join(name + _tried(part, world) for name, part in one.pieces)
            return f"{one.opened}{inner}{one.closed}"
        case Choice():
            found = (part for node, part in one.cases if run(node, world))
            return _tried(next(found, _NO_CASE), world)
        case Quoted():
            if one.pointer is not None and not run(one.pointer, world):
                return "0x0"
            words = one.words
            if isinstance(words, nodes.Bytes):
                words = nodes.Bytes(words.address, _most(words.most))
            held = text(words, world)
            return _quoted(held)
        case Number():
            return number(one, run(one.node, world))


def _quoted(held: bytes) -> str:
    end = min(len(held), TEXT_MAX)
    while end < len(held) and end and held[end] & 0xC0 == 0x80:  # noqa: PLR2004  within a letter
        end -= 1
    try:
        letters = held[:end].decode()
    except UnicodeDecodeError:
        letters = "".join(
            chr(one) if one <= _ASCII_END else "\N{REPLACEMENT CHARACTER}" for one in held[:end]
        )
    return json.dumps(letters, ensure_ascii=False) + ("…" if end < len(held) else "")


def _most(most: int | None) -> int:
    return TEXT_MAX + 1 if most is None else min(most, TEXT_MAX + 1)


def number(one: Number, value: float) -> str:  # noqa: PLR0911  one case for each style
    """Write a number in Python."""
    for each, name in one.names:
        if each == value:
            return name
    match one.style:
        case Style.TRUTH:
            return "true" if value else "false"
        case Style.ADDRESS:
            return hex(int(value))
        case Style.REAL:
            return real(value)
        case Style.SINGLE:
            return real(_shortest(value))
        case Style.CHARACTER:
            letter = chr(int(value)) if _SPACE <= value < _ASCII_END else ""
            return f"{int(value)} '{letter}'" if letter else str(int(value))
    return str(int(value))


def _shortest(value: float) -> float:
    """Find the number with the fewest digits that is the same in single precision."""
    if not math.isfinite(value):
        return value
    for digits in _SINGLE_DIGITS:
        near = float(f"{value:.{digits}g}")
        if single(near) == value:
            return near
    return value


def real(value: float) -> str:  # noqa: PLR0911  one case for each form
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


def script(pieces: tuple[Piece, ...]) -> Script:
    """Write a function that returns the text.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    writer = Writer()
    parts = [_written(one, writer) for one in pieces] or ['""']
    return Script(" + ".join(parts), tuple(writer.constants))


def _written(one: Piece, writer: Writer) -> str:
    if isinstance(one, Plain):
        return json.dumps(one.text)
    return f"q_tried(() => {_value(one, writer)})"


def _value(one: Piece, writer: Writer) -> str:
    match one:
        case Plain():
            return json.dumps(one.text)
        case Group():
            inner = [json.dumps(name) + " + " + _written(part, writer) for name, part in one.pieces]
            joined = f"[{', '.join(inner)}].join({json.dumps(one.between)})"
            return f"{json.dumps(one.opened)} + {joined} + {json.dumps(one.closed)}"
        case Choice():
            cases = [
                f"{writer.value(node)} ? {_written(part, writer)} : " for node, part in one.cases
            ]
            return f"({''.join(cases)}{_written(_NO_CASE, writer)})"
        case Quoted():
            words = one.words
            if isinstance(words, nodes.Bytes):
                words = nodes.Bytes(words.address, _most(words.most))
            quoted = f"q_quote({writer.words(words)}, {TEXT_MAX})"
            if one.pointer is None:
                return quoted
            return f'({writer.value(one.pointer)} ? {quoted} : "0x0")'
        case Number():
            return _written_number(one, writer)


def _written_number(one: Number, writer: Writer) -> str:
    value = writer.value(one.node)
    match one.style:
        case Style.TRUTH:
            written = f'({value} ? "true" : "false")'
        case Style.ADDRESS:
            written = f'("0x" + {value}.toString(16))'
        case Style.CHARACTER:
            written = f"q_letter({value})"
        case Style.SINGLE:
            written = f"q_short({value})"
        case _:
            written = f"String({value})"
    if not one.names:
        return written
    names = writer.constant(f"new Map({json.dumps([[str(n), name] for n, name in one.names])})")
    return f"(({names}).get(String({value})) ?? {written})"
