"""What is an engine told of one breakpoint: its condition and its text, compiled for a place?"""

from __future__ import annotations

import json
from dataclasses import dataclass

import msgspec

from debugger.backends.frida import thrown
from debugger.backends.frida.engine.events import Breakpoint as Point
from debugger.backends.frida.expressions import c, javascript, resolve, saying, template
from debugger.backends.frida.expressions.declared import Declared
from debugger.backends.frida.expressions.scope import Scope
from debugger.backends.frida.program import Place
from debugger.core import template as texts
from debugger.core.breakpoints import Spec
from debugger.errors import Code, DebuggerError

# A line that runs more often than this is logged in part; what is left out is counted.
RECORDS_PER_SECOND = 10_000


@dataclass(frozen=True, slots=True)
class Made:
    """A point, and what is wrong with the condition that it has, where something is."""

    point: Point
    problem: str | None = None


def make(name: str, spec: Spec, place: Place) -> Made:
    """Compile a breakpoint for one place."""
    scope = Declared(place.module.image, place.link, bias=place.module.bias)
    condition = native = problem = None
    if spec.catch is not None:
        condition = thrown.condition(spec)
    elif spec.condition is not None:
        condition, native, problem = _condition(spec.condition, scope)
    log = _log(spec.log, scope) if spec.log is not None else None
    point = Point(
        id=name,
        address=place.address,
        condition=condition,
        native=native,
        log=log,
        pauses=log is None,
        ignore=max((spec.hit_count or 1) - 1, 0),
        rate=RECORDS_PER_SECOND if log is not None else 0,
        burst=spec.burst,
        temporary=spec.temporary,
        thread=spec.thread,
    )
    return Made(point, problem)


def without_native(point: Point) -> Point:
    """Leave the condition to JavaScript alone: machine code could not be made of it."""
    return msgspec.structs.replace(point, native=None)


def _condition(text: str, scope: Scope) -> tuple[str, str | None, str | None]:
    try:
        node = resolve.condition(text, scope)
        script = javascript.condition(node).function
    except DebuggerError as error:
        # It is told where it fails, at each hit, as one that fails later is.
        return f"(c) => {{ throw {json.dumps(error.message)}; }}", None, error.message
    try:
        return script, c.condition(node), None
    except DebuggerError as error:
        if error.code is not Code.NOT_SUPPORTED:
            raise
        return script, None, None


def _log(text: str, scope: Scope) -> str:
    pieces: list[template.Piece] = []
    for part, is_expression in texts.parts(text):
        if not is_expression:
            pieces.append(template.Plain(part))
            continue
        try:
            piece = template.piece(resolve.expression(part, scope))
            saying.script((piece,))  # what JavaScript cannot read is found here
        except DebuggerError as error:
            piece = template.Plain(f"<error: {error.message}>")
        pieces.append(piece)
    return saying.script(tuple(pieces)).function
