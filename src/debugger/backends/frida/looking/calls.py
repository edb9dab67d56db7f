"""Calls a function of the program on a paused thread, by Frida's types."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from debugger.backends.frida.expressions import nodes, types
from debugger.backends.frida.expressions.arithmetic import cast
from debugger.backends.frida.expressions.declared import type_of
from debugger.backends.frida.expressions.nodes import Const, Machine
from debugger.backends.frida.expressions.operands import (
    Operand,
    address_of,
    dereferenced,
    load,
    machine,
)
from debugger.backends.frida.expressions.running import World, encoded, run
from debugger.backends.frida.expressions.scope import Absent, Computed, Stored, Variable
from debugger.backends.frida.expressions.tree import fault
from debugger.backends.frida.expressions.types import Kind, Type
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking import made
from debugger.backends.frida.looking.names import Names
from debugger.errors import Code, DebuggerError

_WORDS = frozenset({Kind.INTEGER, Kind.CHARACTER, Kind.BOOLEAN, Kind.ENUM})
_ADDRESSES = frozenset({Kind.POINTER, Kind.REFERENCE})
_REALS = {4: "float", 8: "double"}
_WIDEST = 8
_HINT = "debugger call --help"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as it is passed: Frida's type and value, or a text that has to be in memory."""

    kind: str
    value: str = ""
    text: bytes | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was checked, and may be done."""

    name: str
    address: int
    arguments: tuple[Argument, ...]
    returns: Type
    is_indirect: bool = False


def chosen(candidates: Sequence[Variable], arguments: Sequence[Operand]) -> Variable:
    """Choose among functions of one name by their parameters; the first of several that fit."""

    def score(one: Variable) -> int:
        takes = _takes(one.type)
        if takes is None or len(takes) != len(arguments):
            return -1
        pairs = zip(takes, arguments, strict=True)
        return sum(_fit(kind, dereferenced(given).type) for kind, given in pairs)

    return max(candidates, key=score)


def _fit(wanted: Type, given: Type) -> int:
    wanted = wanted.points_to() if wanted.kind is Kind.REFERENCE else wanted
    return 1 + (wanted.kind is given.kind) + (wanted.name == given.name)


def _takes(function: Type) -> tuple[Type, ...] | None:
    known = function.declared
    found = made.parameters(known) if known is not None else None
    return tuple(map(type_of, found)) if found is not None else None


def prepared(
    function: Operand,
    name: str,
    arguments: Sequence[Operand],
    world: World,
    *,
    returns: Type | None = None,
) -> Call:
    """Check a call, and work out what is passed; `returns` is what it is cast to.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying what does not fit.
    """
    address, kind = _target(dereferenced(function), name, world)
    takes, known = _takes(kind), kind.declared
    if takes is None:
        if returns is None:
            said = f"what {name} returns is not known: cast the call, as in (int){name}(…)"
            raise fault(said, hint=_HINT)
        passed = tuple(_as_it_is(one, world) for one in arguments)
        is_indirect = known is not None and known.name == made.INDIRECT
        return Call(name, address, passed, returns, is_indirect)
    if known is not None and made.is_variadic(known) and len(arguments) > len(takes):
        said = f"{name} is called with its {len(takes)} named arguments alone"
        raise fault(said, hint=_HINT)
    if len(arguments) != len(takes):
        raise fault(f"{name} takes {len(takes)} arguments, not {len(arguments)}", hint=_HINT)
    pairs = zip(takes, arguments, strict=True)
    return Call(name, address, tuple(_passed(to, one, world) for to, one in pairs), _result(kind))


def _target(function: Operand, name: str, world: World) -> tuple[int, Type]:
    kind = function.type
    if kind.kind is Kind.FUNCTION:
        return int(run(load(function), world)), kind
    if kind.kind is Kind.POINTER and kind.points_to().kind is Kind.FUNCTION:
        return int(run(load(function), world)), kind.points_to()
    raise fault(f"{name} is no function: it is {kind.name}", hint=_HINT)


def _result(function: Type) -> Type:
    found = function.points_to()
    is_word = found.kind in _WORDS | _ADDRESSES and found.size <= _WIDEST
    if found.kind is Kind.VOID or is_word or (found.kind is Kind.REAL and found.size in _REALS):
        return found
    raise fault(f"it returns {found.name}, which is not read from a call", hint=_HINT)


def _as_it_is(one: Operand, world: World) -> Argument:
    one = dereferenced(one)
    if one.type.kind is Kind.ARRAY:
        return Argument("pointer", hex(int(run(load(one), world))))
    return _passed(types.DOUBLE if one.type.kind is Kind.REAL else one.type, one, world)


def _passed(wanted: Type, given: Operand, world: World) -> Argument:
    if isinstance(given.words, nodes.Literal):
        if wanted.kind is Kind.POINTER or wanted.size == 0:
            return Argument("pointer", text=given.words.value.encode() + b"\0")
        raise fault(f"a string cannot be passed as {wanted.name}", hint=_HINT)
    if wanted.kind is Kind.REFERENCE:
        given = dereferenced(given)
        return Argument("pointer", hex(int(run(address_of(given), world))))
    if wanted.kind not in _WORDS | {Kind.POINTER, Kind.REAL} or wanted.size > _WIDEST:
        raise fault(f"{wanted.name} is passed by value, which is not done here", hint=_HINT)
    value = run(load(cast(given, wanted)), world)
    if wanted.kind is Kind.REAL:
        return Argument(_REALS[wanted.size], repr(float(value)))
    return Argument(_frida(wanted), hex(int(value)) if wanted.kind is Kind.POINTER else str(value))


def _frida(kind: Type) -> str:
    if kind.kind is Kind.VOID:
        return "void"
    if kind.kind in _ADDRESSES:
        return "pointer"
    if kind.kind is Kind.REAL:
        return _REALS[kind.size]
    return f"{'' if kind.is_signed else 'u'}int{8 * kind.size}"


async def done(inside: Inside, thread: int, call: Call, names: Names) -> Variable:
    """Do a call; return its result, of type void where there is none.

    Raises:
        DebuggerError: EVALUATION_FAILED when it faults, TIMEOUT; the thread is where it was.
    """
    engine = inside.engine
    passed = [await _placed(inside, thread, one, names) for one in call.arguments]
    address = call.address
    if call.is_indirect:
        found = await engine.call(thread, address, takes=[], returns="pointer", values=[])
        address = int(found, 16)
    try:
        told = await engine.call(
            thread,
            address,
            takes=[one.kind for one in passed],
            returns=_frida(call.returns),
            values=[one.value for one in passed],
        )
    except DebuggerError as error:
        if error.code is not Code.EVALUATION_FAILED:
            raise
        raise DebuggerError(
            error.code,
            f"the call of {call.name} failed: {error.message}; the thread is where it was",
            hint="debugger backtrace",
        ) from error
    return _returned(call, told)


async def _placed(inside: Inside, thread: int, one: Argument, names: Names) -> Argument:
    """Put a text into memory of the program's own, where it stays: who is called may keep it."""
    if one.text is None:
        return one
    allocate = next(names.functions("malloc"), None)
    if allocate is None or not isinstance(allocate.where, Stored):
        raise fault("the program has no malloc, so that no string can be passed", hint=_HINT)
    address = int(run(allocate.where.address, World({}, lambda _, __: b"")))
    size = str(len(one.text))
    told = await inside.engine.call(
        thread, address, takes=["uint64"], returns="pointer", values=[size]
    )
    await inside.engine.write(int(told, 16), one.text)
    return Argument("pointer", told)


def _returned(call: Call, told: str) -> Variable:
    kind = call.returns
    if kind.kind is Kind.VOID:
        return Variable(call.name, kind, Absent("not there: the function returns nothing"))
    if kind.kind is Kind.REFERENCE:
        place = Const(int(told, 16), Machine.U64)
        return Variable(call.name, kind.points_to(), Stored(place))
    wanted = machine(kind)
    if wanted.is_real:
        number: float = float(told.replace("Infinity", "inf").replace("NaN", "nan"))
        (held,) = struct.unpack("<Q", encoded(number, wanted).ljust(8, b"\0"))
    else:
        held = int(told, 0) & ((1 << wanted.bits) - 1)
    return Variable(call.name, kind, Computed(Const(held, Machine.U64)))
