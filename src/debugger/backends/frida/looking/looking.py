"""Inspects and changes the frames of paused threads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.dwarf.scopes import Role
from debugger.backends.frida.dwarf.scopes import Variable as Declaration
from debugger.backends.frida.dwarf.values import Memory
from debugger.backends.frida.engine.events import Paused
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking import crashes
from debugger.backends.frida.looking.assigning import Assigning
from debugger.backends.frida.looking.evaluating import Evaluating, Result
from debugger.backends.frida.looking.memory import reading
from debugger.backends.frida.looking.registers import Machine, general
from debugger.backends.frida.looking.stacks import Level, Stacks
from debugger.backends.frida.looking.variables import Group, Known, Variables
from debugger.backends.frida.looking.watched import Watches
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Scope,
    ScopeKind,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.errors import DebuggerError

_GLOBALS_MAX = 1000
_SCOPES = (
    ("Arguments", ScopeKind.ARGUMENTS),
    ("Locals", ScopeKind.LOCALS),
    ("Globals", ScopeKind.GLOBALS),
    ("Registers", ScopeKind.REGISTERS),
)
# `x = 5`, and none of `==`, `<=`, `!=`.
_ASSIGNMENT = re.compile(r"(?P<target>[^=!<>\"']*[^=!<>\"'+\-*/%&|^])=(?P<value>[^=].*)\Z")


class Looking:
    """Stacks, scopes and values; frames and values keep their handles for one stop."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self.machine = Machine(inside)
        self.stacks = Stacks(inside, self.machine)
        self._variables = Variables()
        self.evaluating = Evaluating(inside, watched=lambda: self.watches.orders)
        self._assigning = Assigning(inside, self.machine, self.stacks, self.evaluating)
        self.watches = Watches(inside, self.stacks, self.evaluating)

    def new_stop(self) -> None:
        """Forget frames and values: handles of the stop before are stale."""
        self.stacks.forget()
        self._variables.forget()

    async def counts(self, paused: Paused) -> bool:
        """Tell whether a pause is to be told of, or only of a watchpoint that does not count.

        It has to be asked of every pause, before anything else is done with it.
        """
        return await self.watches.count(paused)

    async def threads(self) -> list[Thread]:
        """Return the threads, the first one first."""
        engine = self._inside.engine
        # One that was just told to go on may not have done it yet.
        return [
            Thread(one.id, one.name, is_running=one.id not in engine.paused)
            for one in await engine.threads()
        ]

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        return await self.stacks.stack(thread, start=start, levels=levels)

    async def level(self, frame: Frame) -> Level:
        """Return what is known of a frame that was told.

        Raises:
            DebuggerError: STALE_REF, WRONG_STATE for a thread that runs.
        """
        return await self.stacks.level(frame.handle)

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame: without debug information the registers."""
        level = await self.level(frame)
        is_known = level.frame.entry is not None
        module = level.frame.module
        note = module.image.incomplete(level.frame.lookup - module.bias) if module else ""
        return [
            Scope(name, kind, self._variables.keep(Group(level, kind)), note)
            for name, kind in _SCOPES
            if is_known or kind is ScopeKind.REGISTERS
        ]

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return what a scope or a value holds, or a part of it.

        Raises:
            DebuggerError: STALE_REF.
        """
        known = self._variables.get(handle)
        if isinstance(known, Known):
            return await reading(
                self._inside,
                lambda memory: self._variables.inside(known, memory, start, count),
            )
        end = None if count is None else start + count
        if known.kind is ScopeKind.REGISTERS:
            shown = general(known.level.registers).registers
            return [Variable(one.name, one.value) for one in shown[start:end]]
        declared = _declared(known)[start:end]
        frame = known.level.frame

        def work(memory: Memory) -> list[Variable]:
            return [
                self._variables.told(
                    one.name,
                    unwind.value(one, frame, memory),
                    memory,
                    None if one.is_shadowed else one.name,
                )
                for one in declared
            ]

        return await reading(self._inside, work)

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has; None where unknown.

        Raises:
            DebuggerError: STALE_REF.
        """
        known = self._variables.get(handle)
        if isinstance(known, Group):
            return len(_declared(known)) or None

        def work(memory: Memory) -> int:
            return self._variables.size(known, memory)

        return await reading(self._inside, work)

    async def completed(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values as they are: nothing was cut off them that could be known."""
        return list(values)

    async def arguments(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals."""
        level = await self.level(frame)
        return [one.name for one in _declared(Group(level, ScopeKind.ARGUMENTS))]

    # --- expressions ---

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression in a frame; `x = 5` sets, where it is to be evaluated.

        Raises:
            DebuggerError: EVALUATION_FAILED, STALE_REF, WRONG_STATE.
        """
        level = await self.level(frame) if frame is not None else None
        assignment = _ASSIGNMENT.match(expression) if purpose is Purpose.EVALUATE else None
        if assignment is not None and frame is not None:
            value = await self.assign(assignment["target"].strip(), assignment["value"], frame)
            return Variable(expression, value.value, value.type, value.handle)
        result = self.watches.again(expression)
        if result is None:
            result = await self.evaluating.result(expression, level)
        if "(" in expression:
            self.stacks.forget_frames()  # a function may have changed what they hold
        return await self.told(expression, result)

    async def told(self, name: str, result: Result) -> Variable:
        """Tell an expression's value."""
        return await reading(
            self._inside,
            lambda memory: self._variables.told(name, result.value, memory, name),
        )

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field, an element or a register; return it as it is now.

        Raises:
            DebuggerError: EVALUATION_FAILED, STALE_REF, WRONG_STATE.
        """
        level = await self.level(frame)
        await self._assigning.assign(target, value, level)
        self.stacks.forget_frames()
        return await self.evaluate(target, frame, Purpose.PRINT)

    async def assign_global(self, target: str, value: str) -> tuple[Variable, Variable]:
        """Set what is global while the program runs; return what it was, and what it is."""
        before = await self.told(target, await self.evaluating.result(target, None))
        await self._assigning.assign(target, value, None)
        written = replace(before, value=value.strip())
        try:
            after = await self.told(target, await self.evaluating.result(target, None))
        except DebuggerError:
            return before, written  # to end the program, it may be
        return before, written if after.value.startswith("<unreadable") else after

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the signal, or the exception, that a thread stopped at."""
        if stop.thread is None:
            return None
        return crashes.details(self._inside.paused(stop.thread), self._inside.modules)


def _declared(group: Group) -> list[Declaration]:
    """List the variables of a scope: shadowed ones come before what shadows them."""
    frame = group.level.frame
    if group.kind is ScopeKind.GLOBALS:
        module = frame.module
        if module is None:
            return []
        found = module.image.scopes.globals_of(frame.lookup - module.bias)
        return list(found[:_GLOBALS_MAX])
    is_argument = group.kind is ScopeKind.ARGUMENTS
    return [one for one in unwind.variables(frame) if (one.role is Role.ARGUMENT) is is_argument]
