"""Reads and writes values and calls functions while the program may be running.

Each function is a job of the session and raises DebuggerError: WRONG_STATE if the program would
have to stop first, PROGRAM_EXITED, EVALUATION_FAILED, USAGE for arguments without a meaning.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from debugger.backends.abilities import CallAbility, LiveValueAbility, MemoryAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers, number_format
from debugger.model.debugger_words import check_line
from debugger.model.events import State
from debugger.model.program import EvaluationPurpose, Variable
from debugger.session import machine_inspection, value_inspection, views
from debugger.session.inspection import frame_of
from debugger.session.session import Session

READ_MAX = 50
ARGUMENTS_MAX = 32
WORDS_MAX = 4000  # characters of an expression
_SHOWN = 60
_DEFAULT = "u64"
_RUNS = "debugger pause; --backend frida reads and writes globals while the program runs"
_IN_SCOPE = "debugger break LOC stops where it is in scope, debugger pause anywhere"
_PAUSED = "Local variable writes require a paused breakpoint."
# `0x7ffc:i32`, `&pair:Pair *`; the type of a name with `::` before it is what follows the last `:`.
_AT = re.compile(
    r"(?P<address>0[xX][0-9a-fA-F]{1,16}|&[^:]+(?:::[^:]+)*)"
    r"(?::(?P<kind>[A-Za-z_][\w ]*(?:::\w+)*[\w<>, *]*))?\Z"
)
_KIND = re.compile(r"[A-Za-z_][\w:<>, *&]*\Z")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_LITERAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z")


class LiveTarget(Struct, frozen=True):
    """The value to read or write: a name (any expression), or an address with a type."""

    name: str
    address: str | None = None
    kind: str | None = None


def parse_target(words: str, kind: str | None) -> LiveTarget:
    """Parse NAME or ADDRESS:TYPE; with a separate type the text is an address.

    Raises:
        DebuggerError: USAGE.
    """
    check_line(words, WORDS_MAX)
    words = words.strip()
    found = _AT.match(words)
    own = found["kind"] if found is not None else None
    if kind is not None:
        check_line(kind, WORDS_MAX)
    if kind is not None and own is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{words} has a type of its own, and --type is {kind}",
            hint="debugger read 0xADDR:TYPE",
        )
    chosen = (own or kind or "").strip()
    if chosen and not _KIND.match(chosen):
        raise _no_type(chosen)
    if chosen:
        return LiveTarget(words, found["address"] if found is not None else words, chosen)
    if _LITERAL.match(words):
        return LiveTarget(words, words, _DEFAULT)
    return LiveTarget(words)


def _cast_expression(one: LiveTarget) -> str:
    return f"*({one.kind} *)({one.address})"


def _no_type(kind: str, error: DebuggerError | None = None) -> DebuggerError:
    names = ", ".join(number_format.VALUES)
    why = f", or not there: {error.message.splitlines()[0]}" if error is not None else ""
    return DebuggerError(
        ErrorCode.USAGE if error is None else error.code,
        f"no type {kind!r} for an address{why}",
        hint=f"debugger read 0xADDR:TYPE; one of {names}, or a type of the program's",
    )


# -- reading -------------------------------------------------------------------------------------


async def read_values(session: Session, targets: Sequence[LiveTarget]) -> answers.LiveReadings:
    """Read values: in the current frame of a stopped program, else globals and addresses.

    Raises:
        DebuggerError: The error of the first value, if none could be read.
    """
    session.require_state(State.STOPPED, State.RUNNING, to="read a value")
    if session.state is State.RUNNING:
        _live_ability(session, f"read {targets[0].name}")
    found: list[answers.LiveReading] = []
    first: DebuggerError | None = None
    for one in targets:
        try:
            found.append(await _read_target(session, one))
        except DebuggerError as error:
            if error.code not in {
                ErrorCode.EVALUATION_FAILED,
                ErrorCode.NOT_FOUND,
                ErrorCode.NOT_SUPPORTED,
            }:
                raise
            first = first or error
            found.append(answers.LiveReading(one.name, None, error=error.message))
    if first is not None and all(one.value is None for one in found):
        raise first
    return answers.LiveReadings(tuple(found))


async def _read_target(session: Session, one: LiveTarget) -> answers.LiveReading:
    if session.state is State.RUNNING:
        live = _live_ability(session, f"read {one.name}")
        value = await live.read_live_value(one.address or one.name, kind=one.kind)
        return answers.LiveReading(
            one.name, views.value_text(value.value), value.type or one.kind or ""
        )
    if one.kind in number_format.VALUES:
        return answers.LiveReading(one.name, await _at_address(session, one), one.kind)
    expression = one.name if one.address is None else _cast_expression(one)
    try:
        shown = await value_inspection.evaluate_expression(
            session, expression, purpose=EvaluationPurpose.PRINT, depth=1, show_type=False
        )
    except DebuggerError as error:
        if one.address is None or error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        raise _no_type(str(one.kind), error) from error
    return answers.LiveReading(
        one.name, shown.value, shown.type, shown.ref, shown.children, shown.children_total
    )


def _live_ability(session: Session, to: str) -> LiveValueAbility:
    """Return the ability to read and write while the program runs.

    Raises:
        DebuggerError: WRONG_STATE if the debugger has to stop it first.
    """
    try:
        return session.backend.find_ability(LiveValueAbility)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        raise DebuggerError(
            ErrorCode.WRONG_STATE, f"cannot {to}: the program is running", hint=_RUNS
        ) from error


async def _at_address(session: Session, one: LiveTarget) -> str:
    """Return the plain value at an address of a stopped program."""
    assert one.address is not None
    assert one.kind is not None
    size = number_format.size_of(one.kind)
    reader = session.backend.find_ability(MemoryAbility)
    address = await machine_inspection.address_of(session, one.address)
    data = await reader.read_memory(address, size)
    if len(data) < size:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{len(data)} of {size} bytes at {address:#x} are mapped",
            hint=f"debugger memory read {address:#x}",
        )
    return number_format.decode_value(data, one.kind)


# -- writing -------------------------------------------------------------------------------------


async def write_value(session: Session, to: LiveTarget, value: str) -> answers.Assignment:
    """Write a variable, or the value at an address; return the old and the new value."""
    check_line(value, WORDS_MAX)
    if session.state is State.RUNNING:
        return await _written_live(session, to, value)
    session.require_state(State.STOPPED, State.RUNNING, to="write a value")
    if to.address is None:
        done = await value_inspection.assign_value(session, to.name, value)
        return replace(done, address=await _address_of(session, to.name))
    if to.kind not in number_format.VALUES:
        done = await value_inspection.assign_value(session, _cast_expression(to), value)
        return answers.Assignment(to.name, done.previous, done.value, done.type)
    data = number_format.encode_value(value, to.kind)
    before = await _at_address(session, to)
    address = await machine_inspection.address_of(session, to.address)
    await session.backend.find_ability(MemoryAbility).write_memory(address, data)
    session.selection.note_changed()
    return answers.Assignment(to.name, before, await _at_address(session, to), to.kind)


async def _written_live(session: Session, to: LiveTarget, value: str) -> answers.Assignment:
    try:
        live = _live_ability(session, f"write {to.name}")
        before, now = await live.write_live_value(to.address or to.name, value, kind=to.kind)
    except DebuggerError as error:
        # What is no global may be a local; of a program that runs there is no frame to find it in.
        if to.address is not None or error.code not in {ErrorCode.WRONG_STATE, ErrorCode.NOT_FOUND}:
            raise
        why = f"{error.message}; " if error.code is ErrorCode.NOT_FOUND else ""
        hint = error.hint if error.hint == _RUNS else f"{why}{_IN_SCOPE}"
        raise DebuggerError(ErrorCode.WRONG_STATE, _PAUSED, hint=hint) from error
    address: str | UnsetType = UNSET
    if to.address is None:
        with contextlib.suppress(DebuggerError):  # a register, or the program has just ended
            address = (await live.read_live_value(f"&({to.name})")).value.partition(" ")[0]
    return answers.Assignment(
        name=to.name,
        previous=views.value_text(before.value),
        value=views.value_text(now.value),
        type=now.type or to.kind or "",
        address=address,
    )


async def _address_of(session: Session, name: str) -> str | UnsetType:
    """Return the memory address of a variable; nothing for one in a register."""
    try:
        session.backend.find_ability(MemoryAbility)
        shown = await value_inspection.evaluate_expression(
            session, f"&({name})", purpose=EvaluationPurpose.PRINT, depth=0, show_type=False
        )
    except DebuggerError as error:
        if error.code not in {ErrorCode.NOT_SUPPORTED, ErrorCode.EVALUATION_FAILED}:
            raise
        return UNSET
    found = _ADDRESS.search(shown.value)
    return found[0] if found else UNSET


# -- calling -------------------------------------------------------------------------------------


async def call_function(session: Session, function: str, arguments: Sequence[str]) -> answers.Value:
    """Call a function of the program in the current frame, and show its result."""
    session.require_state(State.STOPPED, to=f"call {function[:_SHOWN]}")
    for one in (function, *arguments):
        check_line(one, WORDS_MAX)
    written = f"{function}({', '.join(arguments)})"
    try:
        ability = session.backend.find_ability(CallAbility)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        return await value_inspection.evaluate_expression(
            session, written, purpose=EvaluationPurpose.EVALUATE, depth=1, show_type=False
        )
    returned = await ability.call_function(function, arguments, await frame_of(session))
    session.selection.note_changed()
    return await _returned_value(session, written, returned)


async def _returned_value(session: Session, written: str, value: Variable) -> answers.Value:
    children, total = await value_inspection.read_children(session, value)
    return answers.Value(
        expression=written,
        value=views.value_text(value.value),
        type=value.type,
        ref=session.refs.assign_name(value.handle) or UNSET,
        children=tuple(children) if children else UNSET,
        children_total=total if children else UNSET,
    )
