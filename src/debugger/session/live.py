"""Reads and writes values and calls functions while the program may be running.

Each function is a job of the session and raises DebuggerError: WRONG_STATE where the program would
have to stop for it, PROGRAM_EXITED, EVALUATION_FAILED, USAGE for words that mean nothing.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from debugger.backends.abilities import Calls, LiveValues, Memory
from debugger.core import answers, memory
from debugger.core.model import Purpose, Variable
from debugger.core.state import State
from debugger.core.words import bounded
from debugger.errors import Code, DebuggerError
from debugger.session import machine, values, views
from debugger.session.looking import frame_of
from debugger.session.session import Session

READ_MAX = 50
ARGUMENTS_MAX = 32
WORDS_MAX = 4000
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


class Target(Struct, frozen=True):
    """What is read or written: a name (any expression), or an address with a type."""

    name: str
    address: str | None = None
    kind: str | None = None


def target(words: str, kind: str | None) -> Target:
    """Read what a user means by NAME or ADDRESS:TYPE; with a type of its own it is an address.

    Raises:
        DebuggerError: USAGE.
    """
    bounded(words, WORDS_MAX)
    words = words.strip()
    found = _AT.match(words)
    own = found["kind"] if found is not None else None
    if kind is not None:
        bounded(kind, WORDS_MAX)
    if kind is not None and own is not None:
        raise DebuggerError(
            Code.USAGE,
            f"{words} has a type of its own, and --type is {kind}",
            hint="debugger read 0xADDR:TYPE",
        )
    chosen = (own or kind or "").strip()
    if chosen and not _KIND.match(chosen):
        raise _no_type(chosen)
    if chosen:
        return Target(words, found["address"] if found is not None else words, chosen)
    if _LITERAL.match(words):
        return Target(words, words, _DEFAULT)
    return Target(words)


def _cast(one: Target) -> str:
    return f"*({one.kind} *)({one.address})"


def _no_type(kind: str, error: DebuggerError | None = None) -> DebuggerError:
    names = ", ".join(memory.VALUES)
    why = f", or not there: {error.message.splitlines()[0]}" if error is not None else ""
    return DebuggerError(
        Code.USAGE if error is None else error.code,
        f"no type {kind!r} for an address{why}",
        hint=f"debugger read 0xADDR:TYPE; one of {names}, or a type of the program's",
    )


# -- reading -------------------------------------------------------------------------------------


async def read(session: Session, wanted: Sequence[Target]) -> answers.Readings:
    """Read values: in the current frame of a stopped program, else globals and addresses.

    Raises:
        DebuggerError: What reading the first raised, where none could be read.
    """
    session.require(State.STOPPED, State.RUNNING, to="read a value")
    if session.state is State.RUNNING:
        _live(session, f"read {wanted[0].name}")
    found: list[answers.Reading] = []
    first: DebuggerError | None = None
    for one in wanted:
        try:
            found.append(await _reading(session, one))
        except DebuggerError as error:
            if error.code not in {Code.EVALUATION_FAILED, Code.NOT_FOUND, Code.NOT_SUPPORTED}:
                raise
            first = first or error
            found.append(answers.Reading(one.name, None, error=error.message))
    if first is not None and all(one.value is None for one in found):
        raise first
    return answers.Readings(tuple(found))


async def _reading(session: Session, one: Target) -> answers.Reading:
    if session.state is State.RUNNING:
        live = _live(session, f"read {one.name}")
        value = await live.read_live(one.address or one.name, kind=one.kind)
        return answers.Reading(
            one.name, views.value_text(value.value), value.type or one.kind or ""
        )
    if one.kind in memory.VALUES:
        return answers.Reading(one.name, await _at_address(session, one), one.kind)
    asked = one.name if one.address is None else _cast(one)
    try:
        shown = await values.evaluate(
            session, asked, purpose=Purpose.PRINT, depth=1, show_type=False
        )
    except DebuggerError as error:
        if one.address is None or error.code is not Code.EVALUATION_FAILED:
            raise
        raise _no_type(str(one.kind), error) from error
    return answers.Reading(
        one.name, shown.value, shown.type, shown.ref, shown.children, shown.children_total
    )


def _live(session: Session, to: str) -> LiveValues:
    """Return what reads and writes while the program runs.

    Raises:
        DebuggerError: WRONG_STATE where the debugger has to stop it for that.
    """
    try:
        return session.backend.ability(LiveValues)
    except DebuggerError as error:
        if error.code is not Code.NOT_SUPPORTED:
            raise
        raise DebuggerError(
            Code.WRONG_STATE, f"cannot {to}: the program is running", hint=_RUNS
        ) from error


async def _at_address(session: Session, one: Target) -> str:
    """Return the plain value that lies at an address of a stopped program."""
    assert one.address is not None
    assert one.kind is not None
    size = memory.size_of(one.kind)
    reader = session.backend.ability(Memory)
    address = await machine.address_of(session, one.address)
    data = await reader.read(address, size)
    if len(data) < size:
        raise DebuggerError(
            Code.EVALUATION_FAILED,
            f"{len(data)} of {size} bytes at {address:#x} are mapped",
            hint=f"debugger memory read {address:#x}",
        )
    return memory.unpacked(data, one.kind)


# -- writing -------------------------------------------------------------------------------------


async def write(session: Session, to: Target, value: str) -> answers.Assignment:
    """Write a variable, or what is at an address; return what was there and what is now."""
    bounded(value, WORDS_MAX)
    if session.state is State.RUNNING:
        return await _written_live(session, to, value)
    session.require(State.STOPPED, State.RUNNING, to="write a value")
    if to.address is None:
        done = await values.assign(session, to.name, value)
        return replace(done, address=await _address_of(session, to.name))
    if to.kind not in memory.VALUES:
        done = await values.assign(session, _cast(to), value)
        return answers.Assignment(to.name, done.previous, done.value, done.type)
    data = memory.packed(value, to.kind)
    before = await _at_address(session, to)
    address = await machine.address_of(session, to.address)
    await session.backend.ability(Memory).write(address, data)
    session.look.changed_anything()
    return answers.Assignment(to.name, before, await _at_address(session, to), to.kind)


async def _written_live(session: Session, to: Target, value: str) -> answers.Assignment:
    try:
        live = _live(session, f"write {to.name}")
        before, now = await live.write_live(to.address or to.name, value, kind=to.kind)
    except DebuggerError as error:
        # What is no global may be a local; of a program that runs there is no frame to find it in.
        if to.address is not None or error.code not in {Code.WRONG_STATE, Code.NOT_FOUND}:
            raise
        why = f"{error.message}; " if error.code is Code.NOT_FOUND else ""
        hint = error.hint if error.hint == _RUNS else f"{why}{_IN_SCOPE}"
        raise DebuggerError(Code.WRONG_STATE, _PAUSED, hint=hint) from error
    address: str | UnsetType = UNSET
    if to.address is None:
        with contextlib.suppress(DebuggerError):  # a register, or the program has just ended
            address = (await live.read_live(f"&({to.name})")).value.partition(" ")[0]
    return answers.Assignment(
        name=to.name,
        previous=views.value_text(before.value),
        value=views.value_text(now.value),
        type=now.type or to.kind or "",
        address=address,
    )


async def _address_of(session: Session, name: str) -> str | UnsetType:
    """Return where a variable is in memory; nothing for one that is in none, such as a register."""
    try:
        session.backend.ability(Memory)
        shown = await values.evaluate(
            session, f"&({name})", purpose=Purpose.PRINT, depth=0, show_type=False
        )
    except DebuggerError as error:
        if error.code not in {Code.NOT_SUPPORTED, Code.EVALUATION_FAILED}:
            raise
        return UNSET
    found = _ADDRESS.search(shown.value)
    return found[0] if found else UNSET


# -- calling -------------------------------------------------------------------------------------


async def call(session: Session, function: str, arguments: Sequence[str]) -> answers.Value:
    """Call a function of the program in the current frame, and show what it returned."""
    session.require(State.STOPPED, to=f"call {function[:_SHOWN]}")
    for one in (function, *arguments):
        bounded(one, WORDS_MAX)
    written = f"{function}({', '.join(arguments)})"
    try:
        ability = session.backend.ability(Calls)
    except DebuggerError as error:
        if error.code is not Code.NOT_SUPPORTED:
            raise
        return await values.evaluate(
            session, written, purpose=Purpose.EVALUATE, depth=1, show_type=False
        )
    returned = await ability.call(function, arguments, await frame_of(session))
    session.look.changed_anything()
    return await _returned(session, written, returned)


async def _returned(session: Session, written: str, value: Variable) -> answers.Value:
    children, total = await values.inside(session, value)
    return answers.Value(
        expression=written,
        value=views.value_text(value.value),
        type=value.type,
        ref=session.refs.name(value.handle) or UNSET,
        children=tuple(children) if children else UNSET,
        children_total=total if children else UNSET,
    )
