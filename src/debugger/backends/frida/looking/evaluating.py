"""Evaluates an expression in a frame, and the calls in it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from debugger.backends.frida.dwarf import types as dwarf
from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.dwarf.dynamic import whole
from debugger.backends.frida.dwarf.expressions import Unreadable
from debugger.backends.frida.dwarf.values import Memory, Value
from debugger.backends.frida.engine.events import Watch
from debugger.backends.frida.expressions import resolve, tree
from debugger.backends.frida.expressions.containers import pointed
from debugger.backends.frida.expressions.declared import type_of
from debugger.backends.frida.expressions.evaluate import (
    Evaluated,
    InMemory,
    InRegister,
    evaluated,
)
from debugger.backends.frida.expressions.nodes import Const, Machine
from debugger.backends.frida.expressions.operands import (
    ARITHMETIC,
    Operand,
    address_of,
    dereferenced,
    load,
    machine,
    truth,
)
from debugger.backends.frida.expressions.running import World, encoded, run
from debugger.backends.frida.expressions.scope import Computed, Held, Stored, Variable
from debugger.backends.frida.expressions.tree import Tree, fault
from debugger.backends.frida.expressions.types import Kind, Type, pointer
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking import calls, made, subscripts
from debugger.backends.frida.looking.memory import reading
from debugger.backends.frida.looking.names import Names
from debugger.backends.frida.looking.stacks import Level
from debugger.errors import Code, DebuggerError

_NAME = re.compile(r"\$?[A-Za-z_]\w*\Z")
_VECTOR = 16
_WORD = 8
_CALLS_MAX = 32


@dataclass(frozen=True, slots=True)
class Result:
    """A value to be shown; `evaluated` is what it is as an expression, with the place to set."""

    value: Value
    evaluated: Evaluated | None = None


def _vector(name: str, level: Level) -> Result | None:
    """Give a register that is no number of an expression: it is only shown."""
    held = level.registers.get(name)
    if held is None or not name.startswith("xmm"):
        return None
    kind = made.Made("uint128_t", dwarf.Kind.OTHER, _VECTOR)
    return Result(Value(kind, content=held.to_bytes(_VECTOR, "little")))


def world_of(memory: Memory, level: Level | None) -> World:
    """Return the registers of a frame, and memory, as expressions want them."""

    def read(address: int, size: int) -> bytes:
        try:
            return memory.read(address, size)
        except Unreadable as error:
            raise OSError(address) from error

    return World(level.registers if level is not None else {}, read)


class Evaluating:
    """Expressions of one program."""

    def __init__(self, inside: Inside, *, watched: Callable[[], Sequence[Watch]]) -> None:
        self._inside = inside
        self.watched = watched

    async def result(self, text: str, level: Level | None, *, names: Names | None = None) -> Result:
        """Evaluate an expression in a frame, or without one over what is global.

        Raises:
            DebuggerError: EVALUATION_FAILED, WRONG_STATE for a call on a thread that runs.
        """
        names = names if names is not None else Names(self._inside.modules, level)
        plain = await self._plain(text.strip(), level)
        if plain is not None:
            return plain
        settled = await self._settled(resolve.read(text, names), text, names, level)
        if isinstance(settled, tree.Name) and settled.text in names.results:
            kind = names.results[settled.text].type
            if kind.kind is Kind.VOID:
                return Result(Value(dwarf.Type(None)))

        def work(memory: Memory) -> Result:
            operand = resolve.checked(settled, text, names)
            return shown(operand, world_of(memory, level))

        return await reading(self._inside, work)

    async def holds(self, text: str, level: Level | None) -> bool:
        """Evaluate a condition in a frame.

        Raises:
            DebuggerError: EVALUATION_FAILED.
        """
        names = Names(self._inside.modules, level)
        settled = await self._settled(resolve.read(text, names), text, names, level)
        return await self._is_true(settled, text, names, level)

    async def _plain(self, text: str, level: Level | None) -> Result | None:
        """Look for what an expression has no place for: a local in parts, or gone."""
        if level is None or not _NAME.match(text):
            return None
        if text.startswith("$"):
            return _vector(text[1:], level)
        frame = level.frame
        known = [one for one in unwind.variables(frame) if one.name == text and not one.is_shadowed]
        if not known:
            return None

        def work(memory: Memory) -> Value:
            return unwind.value(known[-1], frame, memory)

        found = await reading(self._inside, work)
        is_in_parts = found.address is None and len(known[-1].place) > 1
        return Result(found) if found.problem or is_in_parts else None

    # --- calls ---

    async def _settled(  # noqa: PLR0911 - one case for each kind of tree
        self, one: Tree, text: str, names: Names, level: Level | None, returns: Type | None = None
    ) -> Tree:
        """Do the calls in an expression, in its order, and put their results in their places."""
        if not _is_settled_here(one):
            return one
        match one:
            case tree.Call():
                return await self._called(one, text, names, level, returns)
            case tree.Index():
                return await self._indexed(one, text, names, level)
            case tree.Cast():
                kind = names.type(one.kind.name)
                for _ in range(one.kind.pointers if kind is not None else 0):
                    kind = pointer(kind) if kind is not None else None
                inner = await self._settled(one.of, text, names, level, kind)
                return dataclasses.replace(one, of=inner)
            case tree.Binary(op="&&" | "||"):
                left = await self._settled(one.left, text, names, level)
                if await self._is_true(left, text, names, level) is (one.op == "||"):
                    return tree.Truth(one.op == "||", one.at)
                right = await self._settled(one.right, text, names, level)
                return dataclasses.replace(one, left=left, right=right)
            case tree.Conditional():
                test = await self._settled(one.test, text, names, level)
                is_true = await self._is_true(test, text, names, level)
                return await self._settled(one.yes if is_true else one.no, text, names, level)
        parts: dict[str, Any] = {
            name: await self._settled(part, text, names, level)
            for name, part in _parts(one).items()
        }
        return dataclasses.replace(one, **parts)

    async def _is_true(self, one: Tree, text: str, names: Names, level: Level | None) -> bool:
        def work(memory: Memory) -> bool:
            node = truth(resolve.checked(one, text, names))
            return bool(run(node, world_of(memory, level)))

        return await reading(self._inside, work)

    async def _called(
        self, one: tree.Call, text: str, names: Names, level: Level | None, returns: Type | None
    ) -> Tree:
        if level is None:
            raise DebuggerError(
                Code.WRONG_STATE,
                "a function is called on a paused thread alone",
                hint="debugger pause",
            )
        if len(names.results) == _CALLS_MAX:
            raise fault(f"more than {_CALLS_MAX} calls in one expression")
        arguments = [await self._settled(it, text, names, level) for it in one.arguments]
        of = one.of
        if isinstance(of, tree.Member):
            of = dataclasses.replace(of, of=await self._settled(of.of, text, names, level))

        def work(memory: Memory) -> calls.Call:
            passed = [resolve.checked(it, text, names) for it in arguments]
            return _prepared(of, text, passed, names, memory, level=level, returns=returns)

        call = await reading(self._inside, work)
        result = await self._done(level.thread, call, names)
        name = f"${len(names.results) + 1}"
        names.results[name] = result
        return tree.Name(name, one.at)

    async def _indexed(self, one: tree.Index, text: str, names: Names, level: Level | None) -> Tree:
        """Find an element of a container that is walked to, such as a map or a list."""
        of = await self._settled(one.of, text, names, level)
        index = await self._settled(one.index, text, names, level)
        settled = dataclasses.replace(one, of=of, index=index)

        def work(memory: Memory) -> Variable | None:
            world = world_of(memory, level)
            holder = dereferenced(resolve.checked(of, text, names))
            if holder.type.kind is not Kind.RECORD or not isinstance(holder.where, Stored):
                return None
            value = Value(made.declared(holder.type), address=int(run(holder.where.address, world)))
            shape = subscripts.walked(value, memory)
            if shape is None:
                return None
            key = evaluated(resolve.checked(index, text, names), world)
            return subscripts.element(shape, key.value, value.type.name, memory)

        found = await reading(self._inside, work)
        if found is None:
            return settled
        name = f"${len(names.results) + 1}"
        names.results[name] = found
        return tree.Name(name, one.at)

    async def _done(self, thread: int, call: calls.Call, names: Names) -> Variable:
        """Do a call while nothing is watched: a trap inside it would end it."""
        engine, orders = self._inside.engine, self.watched()
        for one in orders:
            await engine.unwatch(one.id)
        try:
            return await calls.done(self._inside, thread, call, names)
        finally:
            for one in orders:
                await engine.watch(one)


def _prepared(
    of: Tree,
    text: str,
    passed: Sequence[Operand],
    names: Names,
    memory: Memory,
    *,
    level: Level,
    returns: Type | None,
) -> calls.Call:
    world = world_of(memory, level)
    if isinstance(of, tree.Member):
        holder = resolve.checked(of.of, text, names)
        kind = holder.type
        if kind.kind is Kind.POINTER:
            holder = Operand(kind.points_to(), where=Stored(load(holder)))
        holder = _whole(pointed(holder) or holder, memory, world)
        found = _method(holder.type, of.name, names)
        if found:
            this = Operand(pointer(holder.type), node=address_of(holder))
            every = [this, *passed]
            chosen = calls.chosen(found, every)
            function = Operand(chosen.type, where=chosen.where)
            return calls.prepared(function, of.name, every, world, returns=returns)
    if isinstance(of, tree.Name) and names.value_named(of.text) is None:
        candidates = list(names.functions(of.text))
        if candidates:
            one = calls.chosen(candidates, passed)
            function = Operand(one.type, where=one.where)
            return calls.prepared(function, of.text, passed, world, returns=returns)
    function = resolve.checked(of, text, names)
    said = of.text if isinstance(of, tree.Name) else "the expression"
    return calls.prepared(function, said, passed, world, returns=returns)


def _whole(holder: Operand, memory: Memory, world: World) -> Operand:
    """Return the object that a method is called on: of a class that has inherited it, perhaps."""
    if holder.type.kind is not Kind.RECORD or not isinstance(holder.where, Stored):
        return holder
    address = int(run(holder.where.address, world))
    own = Value(made.declared(holder.type), address=address)
    found = whole(own, memory)
    if found is own or found.address is None:
        return holder
    return Operand(type_of(found.type), where=Stored(Const(found.address, Machine.U64)))


def _method(kind: Type, name: str, names: Names) -> list[Variable]:
    """Find a method of a type, or of what it inherits from."""
    if kind.kind is not Kind.RECORD:
        return []
    found = list(names.functions(f"{kind.name}::{name}"))
    for one in kind.fields() if not found else ():
        if one.is_base and one.offset == 0:
            found = _method(one.kind(), name, names)
            if found:
                break
    return found


def _parts(one: Tree) -> dict[str, Tree]:
    held = {it.name: getattr(one, it.name) for it in dataclasses.fields(one)}
    return {name: part for name, part in held.items() if isinstance(part, Tree)}


def _is_settled_here(one: Tree) -> bool:
    """Tell whether an expression has a call or a subscript, which may need more than an address."""
    is_one = isinstance(one, tree.Call | tree.Index)
    return is_one or any(_is_settled_here(part) for part in _parts(one).values())


def shown(operand: Operand, world: World) -> Result:  # noqa: PLR0911 - one case for each place
    """Evaluate what was checked, to be shown.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    kind = made.declared(operand.type)
    if operand.type.kind is Kind.FUNCTION:
        return Result(Value(kind, address=int(run(load(operand), world))))
    if operand.type.kind is Kind.RECORD and operand.words is None:
        held = _held(operand, world, kind)
        if held is not None:
            return Result(held)
    if is_wide(operand.type) and isinstance(operand.where, Stored):
        address = int(run(operand.where.address, world))
        return Result(
            Value(kind, address=address), Evaluated(operand.type, None, InMemory(address))
        )
    found = evaluated(operand, world)
    match found.place:
        case InMemory(address, bits):
            return Result(Value(kind, address=address, bits=bits), found)
        case InRegister(name):
            content = world.registers.get(name, 0).to_bytes(16, "little")[: kind.size]
            return Result(Value(kind, content=content), found)
    if isinstance(found.value, str):
        content = found.value.encode() + b"\0"
        return Result(Value(made.text(len(content)), content=content), found)
    content = encoded(found.value or 0, machine(operand.type))
    return Result(Value(kind, content=content), found)


def is_wide(kind: Type) -> bool:
    """Tell whether a number is only shown, and set, since nothing is calculated with it."""
    return kind.kind in ARITHMETIC and kind.size > _WORD


def _held(operand: Operand, world: World, kind: dwarf.Type) -> Value | None:
    """Give a record that is in a register."""
    match operand.where:
        case Held(register):
            bits = world.registers.get(register, 0)
        case Computed(node):
            bits = int(run(node, world))
        case _:
            return None
    return Value(kind, content=bits.to_bytes(16, "little")[: kind.size])
