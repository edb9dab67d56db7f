"""Compiles a breakpoint's condition and text for one location, as the engine takes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from debugger.backends.inprocess import thrown_exceptions
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint as Point
from debugger.backends.inprocess.engine.log_records import WORDS
from debugger.backends.inprocess.expressions import (
    c_writer,
    javascript_writer,
    log_pieces,
    log_text,
    resolution,
)
from debugger.backends.inprocess.expressions.declared_names import DeclaredNames
from debugger.backends.inprocess.expressions.machine_records import compile_record
from debugger.backends.inprocess.expressions.name_scope import NameScope
from debugger.backends.inprocess.expressions.nodes import Node
from debugger.backends.inprocess.loaded_program import BreakpointAddress
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import log_template as texts
from debugger.model.breakpoints import BreakpointSpec
from debugger.symbols.dwarf.call_frames import RBP, RSP

_BASES = {RSP: "rsp", RBP: "rbp"}
Text = Callable[[Sequence[int]], str]
# A line that runs more often than this is logged in part; what is left out is counted.
RECORDS_PER_SECOND = 10_000
_FAILED = "<error: "


@dataclass(frozen=True, slots=True)
class CompiledBreakpoint:
    """A point, and what is wrong with the condition that it has, where something is.

    `text` makes a logpoint's text of the words that machine code has written down.
    """

    point: Point
    problem: str | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class _CompiledCondition:
    """A condition in JavaScript, in C where that can be, and what is wrong with it."""

    script: str
    native: str | None = None
    node: Node | None = None
    problem: str | None = None


def compile_breakpoint(
    name: str, spec: BreakpointSpec, place: BreakpointAddress, *, group: str
) -> CompiledBreakpoint:
    """Compile a breakpoint for one place; its hits count with those of all places of its group."""
    scope = DeclaredNames(place.module.image, place.link_address, bias=place.module.load_bias)
    condition: _CompiledCondition | None = None
    if spec.catch is not None:
        script = thrown_exceptions.type_condition(spec)
        condition = _CompiledCondition(script) if script is not None else None
    elif spec.condition is not None:
        condition = _compile_condition(spec.condition, scope)
    pieces = _parse_pieces(spec.log, scope) if spec.log is not None else None
    written = None
    if pieces is not None and (condition is None or condition.native is not None):
        written = compile_record(pieces, condition.node if condition is not None else None, WORDS)
    ignore = max((spec.hit_count or 1) - 1, 0)
    point = Point(
        id=name,
        address=place.address,
        condition=condition.script if condition is not None else None,
        native=condition.native if condition is not None else None,
        record=written.source if written is not None else None,
        width=written.width if written is not None else 0,
        log=log_text.log_script(pieces).function_text if pieces is not None else None,
        pauses=pieces is None,
        ignore=ignore,
        group=group if ignore else None,
        rate=RECORDS_PER_SECOND if pieces is not None else 0,
        burst=spec.burst,
        temporary=spec.temporary,
        thread=spec.thread,
        caller=_return_address_place(place),
    )
    return CompiledBreakpoint(
        point,
        _permanent_problem(condition, pieces),
        written.text if written is not None else None,
    )


def _permanent_problem(
    condition: _CompiledCondition | None, pieces: Sequence[log_pieces.Piece] | None
) -> str | None:
    """Say what can never be evaluated at a place, of a condition or a logpoint's text."""
    if condition is not None and condition.problem is not None:
        return f"its condition cannot be evaluated here: {condition.problem}"
    failed = [
        one.text
        for one in pieces or ()
        if isinstance(one, log_pieces.PlainPiece) and one.text.startswith(_FAILED)
    ]
    if not failed:
        return None
    return f"it can never be evaluated here: {failed[0].removeprefix(_FAILED).removesuffix('>')}"


def _return_address_place(place: BreakpointAddress) -> tuple[str, int] | None:
    """Say where the return address is: how far above which register; None where nothing does."""
    row = place.module.image.frames.rules_at(place.link_address)
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


def _compile_condition(text: str, scope: NameScope) -> _CompiledCondition:
    try:
        node = resolution.resolve_condition(text, scope)
        script = javascript_writer.condition_script(node).function_text
    except DebuggerError as error:
        # It is told where it fails, at each hit, as one that fails later is.
        script = f"(c) => {{ throw {json.dumps(error.message)}; }}"
        return _CompiledCondition(script, problem=error.message)
    try:
        return _CompiledCondition(script, c_writer.write_condition(node), node)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        return _CompiledCondition(script)


def _parse_pieces(text: str, scope: NameScope) -> tuple[log_pieces.Piece, ...]:
    pieces: list[log_pieces.Piece] = []
    for part, is_expression in texts.split_template(text):
        if not is_expression:
            pieces.append(log_pieces.PlainPiece(part))
            continue
        try:
            piece = log_pieces.operand_piece(resolution.resolve_expression(part, scope))
            log_text.log_script((piece,))  # what JavaScript cannot read is found here
        except DebuggerError as error:
            piece = log_pieces.PlainPiece(f"{_FAILED}{error.message}>")
        pieces.append(piece)
    return tuple(pieces)
