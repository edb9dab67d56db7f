"""Compiles a breakpoint's condition and text for one location, as the engine takes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from debugger.backends.frida import thrown
from debugger.backends.frida.dwarf.callframes import RBP, RSP
from debugger.backends.frida.engine.events import Breakpoint as Point
from debugger.backends.frida.engine.logs import WORDS
from debugger.backends.frida.expressions import c, javascript, resolve, saying, template
from debugger.backends.frida.expressions.declared import Declared
from debugger.backends.frida.expressions.nodes import Node
from debugger.backends.frida.expressions.recorded import recorded
from debugger.backends.frida.expressions.scope import Scope
from debugger.backends.frida.program import Place
from debugger.core import template as texts
from debugger.core.breakpoints import Spec
from debugger.errors import Code, DebuggerError

_BASES = {RSP: "rsp", RBP: "rbp"}
Text = Callable[[Sequence[int]], str]
# A line that runs more often than this is logged in part; what is left out is counted.
RECORDS_PER_SECOND = 10_000
_FAILED = "<error: "


@dataclass(frozen=True, slots=True)
class Made:
    """A point, and what is wrong with the condition that it has, where something is.

    `text` makes a logpoint's text of the words that machine code has written down.
    """

    point: Point
    problem: str | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition in JavaScript, in C where that can be, and what is wrong with it."""

    script: str
    native: str | None = None
    node: Node | None = None
    problem: str | None = None


def make(name: str, spec: Spec, place: Place, *, group: str) -> Made:
    """Compile a breakpoint for one place; its hits count with those of all places of its group."""
    scope = Declared(place.module.image, place.link, bias=place.module.bias)
    condition: _Condition | None = None
    if spec.catch is not None:
        script = thrown.condition(spec)
        condition = _Condition(script) if script is not None else None
    elif spec.condition is not None:
        condition = _condition(spec.condition, scope)
    pieces = _pieces(spec.log, scope) if spec.log is not None else None
    written = None
    if pieces is not None and (condition is None or condition.native is not None):
        written = recorded(pieces, condition.node if condition is not None else None, WORDS)
    ignore = max((spec.hit_count or 1) - 1, 0)
    point = Point(
        id=name,
        address=place.address,
        condition=condition.script if condition is not None else None,
        native=condition.native if condition is not None else None,
        record=written.source if written is not None else None,
        width=written.width if written is not None else 0,
        log=saying.script(pieces).function if pieces is not None else None,
        pauses=pieces is None,
        ignore=ignore,
        group=group if ignore else None,
        rate=RECORDS_PER_SECOND if pieces is not None else 0,
        burst=spec.burst,
        temporary=spec.temporary,
        thread=spec.thread,
        caller=_caller(place),
    )
    return Made(
        point,
        _problem(condition, pieces),
        written.text if written is not None else None,
    )


def _problem(condition: _Condition | None, pieces: Sequence[template.Piece] | None) -> str | None:
    """Say what can never be evaluated at a place, of a condition or a logpoint's text."""
    if condition is not None and condition.problem is not None:
        return f"its condition cannot be evaluated here: {condition.problem}"
    failed = [
        one.text
        for one in pieces or ()
        if isinstance(one, template.Plain) and one.text.startswith(_FAILED)
    ]
    if not failed:
        return None
    return f"it can never be evaluated here: {failed[0].removeprefix(_FAILED).removesuffix('>')}"


def _caller(place: Place) -> tuple[str, int] | None:
    """Say where the return address is: how far above which register; None where nothing does."""
    row = place.module.image.frames.row(place.link)
    if row is None or row.is_signal or isinstance(row.cfa, bytes):
        return None
    (number, offset), rule = row.cfa, row.rules.get(row.returned)
    if number not in _BASES or rule is None or rule.kind != "offset":
        return None
    above = offset + rule.number
    return (_BASES[number], above) if above >= 0 else None


def without_native(point: Point) -> Point:
    """Leave a point to JavaScript alone: machine code could not be made of it."""
    return msgspec.structs.replace(point, native=None, record=None)


def _condition(text: str, scope: Scope) -> _Condition:
    try:
        node = resolve.condition(text, scope)
        script = javascript.condition(node).function
    except DebuggerError as error:
        # It is told where it fails, at each hit, as one that fails later is.
        script = f"(c) => {{ throw {json.dumps(error.message)}; }}"
        return _Condition(script, problem=error.message)
    try:
        return _Condition(script, c.condition(node), node)
    except DebuggerError as error:
        if error.code is not Code.NOT_SUPPORTED:
            raise
        return _Condition(script)


def _pieces(text: str, scope: Scope) -> tuple[template.Piece, ...]:
    pieces: list[template.Piece] = []
    for part, is_expression in texts.parts(text):
        if not is_expression:
            pieces.append(template.Plain(part))
            continue
        try:
            piece = template.piece(resolve.expression(part, scope))
            saying.script((piece,))  # what JavaScript cannot read is found here
        except DebuggerError as error:
            piece = template.Plain(f"{_FAILED}{error.message}>")
        pieces.append(piece)
    return tuple(pieces)
