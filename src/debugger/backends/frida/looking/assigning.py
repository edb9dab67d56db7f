"""Sets a variable, a member, an element or a register."""

from __future__ import annotations

import re

from debugger.backends.frida.dwarf import types as dwarf
from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.dwarf.callframes import KEPT
from debugger.backends.frida.dwarf.values import Memory, Value
from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.declared import type_of
from debugger.backends.frida.expressions.evaluate import Evaluated, InMemory, InRegister, assigned
from debugger.backends.frida.expressions.running import World
from debugger.backends.frida.expressions.tree import fault
from debugger.backends.frida.expressions.types import Kind, Type
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking import wide
from debugger.backends.frida.looking.evaluating import Evaluating, Result, is_wide, world_of
from debugger.backends.frida.looking.memory import reading
from debugger.backends.frida.looking.names import Names
from debugger.backends.frida.looking.registers import NUMBERS, Machine
from debugger.backends.frida.looking.stacks import Level, Stacks
from debugger.errors import Code, DebuggerError

_NAME = re.compile(r"\$?[A-Za-z_]\w*\Z")
_HINT = "debugger print shows what it is; debugger set NAME VALUE"


class Assigning:
    """Sets what expressions name."""

    def __init__(
        self, inside: Inside, machine: Machine, stacks: Stacks, evaluating: Evaluating
    ) -> None:
        self._inside = inside
        self._machine = machine
        self._stacks = stacks
        self._evaluating = evaluating

    async def assign(self, target: str, value: str, level: Level | None) -> None:
        """Set a target to the value of an expression; without a frame both are global.

        Raises:
            DebuggerError: EVALUATION_FAILED, saying why it cannot be set; WRONG_STATE.
        """
        register = target.strip().removeprefix("$")
        if target.strip().startswith("$") and level is not None:
            await self._set_register(register, value, level)
            return
        place = await self._evaluating.result(target, level)
        if place.value.type.kind is dwarf.Kind.FUNCTION:
            raise fault(f"{target.strip()} is a function, which cannot be set", hint=_HINT)
        if place.value.problem or place.evaluated is None:
            raise _unset(target, place.value)
        if place.evaluated.place is None and _NAME.match(target.strip()):
            raise _gone(target)
        kind = place.evaluated.type
        if is_wide(kind) and isinstance(place.evaluated.place, InMemory):
            content = await self._wide(kind, value, level)
            await self._inside.engine.write(place.evaluated.place.address, content)
            return
        names = Names(self._inside.modules, level, constants=_constants(kind))
        given = await self._evaluating.result(value, level, names=names)
        await self._store(place.evaluated, given, level)

    async def _wide(self, kind: Type, value: str, level: Level | None) -> bytes:
        """Encode a number of more than eight bytes: one that is written, or that another holds."""
        number = wide.written(value)
        if number is None:
            given = await self._evaluating.result(value, level)
            if given.value.type.size == kind.size and is_wide(type_of(given.value.type)):
                return await reading(self._inside, lambda memory: memory.bytes_of(given.value))
            found = given.evaluated.value if given.evaluated is not None else None
            if not isinstance(found, int | float):
                raise fault(f"{kind.name} is set to a number", hint=_HINT)
            number = found
        return wide.encoded(number, kind)

    async def _set_register(self, name: str, value: str, level: Level) -> None:
        given = await self._evaluating.result(value, level)
        known = level.registers
        if name not in known or level.frame.index:
            why = "of a frame that has called another" if name in known else "there is none"
            raise DebuggerError(
                Code.EVALUATION_FAILED, f"${name} cannot be set: {why}", hint="debugger registers"
            )
        number = given.evaluated.value if given.evaluated is not None else None
        if not isinstance(number, int | float):
            raise fault(f"${name} is set to a number", hint=_HINT)
        held = nodes.wrapped(int(number), nodes.Machine.U64)
        await self._machine.set(level.thread, name, held.to_bytes(8, "little"))

    async def _store(self, target: Evaluated, given: Result, level: Level | None) -> None:
        def work(memory: Memory) -> tuple[InMemory | InRegister, bytes]:
            return _bytes(target, given, memory, world_of(memory, level))

        place, content = await reading(self._inside, work)
        if isinstance(place, InMemory):
            await self._inside.engine.write(place.address, content)
        elif level is not None:
            await self._set_held(level, place.name, content)

    async def _set_held(self, level: Level, name: str, content: bytes) -> None:
        """Set what a frame has in a register, or where a frame that it called has saved it."""
        frames, _ = await self._stacks.of(level.thread, level.frame.index)
        inner = [one for one in frames[: level.frame.index] if one.cfa != level.frame.cfa]
        for one in reversed(inner):
            place = _saved(one, NUMBERS[name])
            if place is not None:
                await self._inside.engine.write(place, content)
                return
        if inner and NUMBERS[name] not in KEPT:
            raise DebuggerError(
                Code.EVALUATION_FAILED,
                f"it was in register {name}, which frame {inner[-1].index} may have changed",
                hint="debugger frame 0; debugger locals",
            )
        await self._machine.set(level.thread, name, content)


def _saved(frame: unwind.Frame, register: int) -> int | None:
    """Find where a frame has put its caller's register."""
    if frame.module is None or frame.cfa is None or frame.is_inlined:
        return None
    row = frame.module.image.frames.row(frame.lookup - frame.module.bias)
    rule = row.rules.get(register) if row is not None else None
    return frame.cfa + rule.number if rule is not None and rule.kind == "offset" else None


def _unset(target: str, value: Value) -> DebuggerError:
    """Say why what has no place that can be written to is not set."""
    # A number of one word without a place is computed, by the caller's registers for example.
    kind = type_of(value.type)
    is_one_word = not is_wide(kind) and kind.kind not in {Kind.RECORD, Kind.ARRAY}
    why = value.problem.strip("<>")
    if why == "optimized out" or (not why and is_one_word):
        return _gone(target)
    why = why or "it is in parts of several registers"
    return fault(f"{target.strip()} cannot be set here: {why}", hint="debugger next; debugger args")


def _gone(target: str) -> DebuggerError:
    return DebuggerError(
        Code.EVALUATION_FAILED,
        f"Variable '{target.strip()}' is optimized out at this PC. Recompile with -O0.",
        hint="debugger up: the caller may still have the value",
    )


def _constants(kind: Type) -> dict[str, tuple[int, Type]]:
    """Name the values of an enumeration, which may belong to another file than the frame."""
    if kind.kind is not Kind.ENUM:
        return {}
    own = {name: (value, kind) for name, value in kind.enumerators.items()}
    return {**{f"{kind.name}::{name}": it for name, it in own.items()}, **own}


def _bytes(
    target: Evaluated, given: Result, memory: Memory, world: World
) -> tuple[InMemory | InRegister, bytes]:
    source = given.evaluated
    whole = target.type.kind in {Kind.RECORD, Kind.ARRAY}
    if isinstance(target.place, InMemory) and whole:
        return target.place, _whole(target.type, given, memory)
    if source is None:
        raise fault(f"the value is {given.value.problem or 'not there'}", hint=_HINT)
    return assigned(target, source, world)


def _whole(kind: Type, given: Result, memory: Memory) -> bytes:
    """Copy a record, or put a text into an array of letters."""
    source = given.evaluated
    if source is not None and isinstance(source.value, str) and kind.kind is Kind.ARRAY:
        content = source.value.encode()
        letters = kind.points_to()
        if letters.kind is Kind.CHARACTER and letters.size == 1:
            if len(content) > kind.size:
                raise fault(f"{len(content)} bytes do not fit in {kind.name}", hint=_HINT)
            return content.ljust(min(kind.size, len(content) + 1), b"\0")
    if source is None or source.type.name != kind.name or source.type.size != kind.size:
        said = source.type.name if source is not None else given.value.type.name
        raise fault(f"{kind.name} cannot be set to {said}", hint=_HINT)
    return memory.bytes_of(given.value)
