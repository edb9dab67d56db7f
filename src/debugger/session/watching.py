"""How watchpoints are set, one at a time, and what the memory that they watch held and holds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugger.backends.abilities import Watchpoints
from debugger.backends.base import Backend
from debugger.core.breakpoints import Access, Bound, Breakpoint, Breakpoints, Kind, Spec
from debugger.core.model import Frame, Purpose, Reason, Stopped
from debugger.errors import Code, DebuggerError


class Change(msgspec.Struct, frozen=True):
    """What a watched expression was at the stop before, and is now."""

    id: int
    expression: str
    previous: str | None
    value: str


class Watching:
    """The watchpoints of a session; its methods are jobs of the session."""

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self._values: dict[int, str] = {}
        self._told: tuple[Stopped | None, tuple[Change, ...]] = (None, ())

    def forget(self) -> None:
        """Forget what was seen: the program is started anew."""
        self._values.clear()
        self._told = (None, ())

    def all(self) -> list[Breakpoint]:
        """Return all watchpoints."""
        return [one for one in self._breakpoints.listed() if one.spec.kind is Kind.WATCHPOINT]

    def value(self, number: int) -> str | None:
        """Return what was seen last of a watchpoint."""
        return self._values.get(number)

    async def add(self, spec: Spec, backend: Backend, frame: Frame) -> Breakpoint:
        """Watch an expression in a frame; one that is watched already is watched anew.

        Raises:
            DebuggerError: NOT_SUPPORTED, WRONG_STATE if all of the processor's debug registers are
                taken, EVALUATION_FAILED; then all is watched that was before.
        """
        ability = backend.ability(Watchpoints)
        meant = msgspec.structs.replace(spec, function=frame.function)
        same = self._breakpoints.watched(meant)
        if same is not None:
            await self.drop(same, backend)
        self._check_room(ability)
        wanted = self._breakpoints.add(meant)
        try:
            return await self._set(wanted, ability, backend, frame)
        except DebuggerError:
            self._breakpoints.remove(wanted.id)
            raise

    def _check_room(self, ability: Watchpoints) -> None:
        taken = [one.id for one in self.all() if one.bound is not None and one.bound.verified]
        if ability.slots is not None and len(taken) >= ability.slots:
            those = ", ".join(map(str, taken))
            raise DebuggerError(
                Code.WRONG_STATE,
                f"all {ability.slots} hardware watchpoints are in use: {those}",
                hint="debugger watch list; debugger watch remove ID frees one",
            )

    async def _set(
        self, wanted: Breakpoint, ability: Watchpoints, backend: Backend, frame: Frame
    ) -> Breakpoint:
        bound = await ability.watch(wanted, frame)
        self._breakpoints.place(wanted.id, wanted.spec)
        known = self._breakpoints.get(wanted.id)
        self._breakpoints.bind([known], [bound])
        value = await _value(backend, bound, frame)
        if value is not None:
            self._values[wanted.id] = value
        return self._breakpoints.get(wanted.id)

    async def drop(self, known: Breakpoint, backend: Backend | None) -> None:
        """Watch it no more."""
        self._breakpoints.remove(known.id)
        self._values.pop(known.id, None)
        await self._unset(known, backend)

    async def _unset(self, known: Breakpoint, backend: Backend | None) -> None:
        if backend is not None and known.bound is not None and known.bound.verified:
            await backend.ability(Watchpoints).unwatch(known.bound)

    async def enable(
        self, known: Breakpoint, backend: Backend | None, frame: Frame | None, *, on: bool
    ) -> Breakpoint:
        """Switch one on or off; off, it takes no debug register."""
        if not on:
            await self._unset(known, backend)
            return self._breakpoints.enable(known.id, on=False)
        if known.spec.enabled and known.bound is not None and known.bound.verified:
            return known
        if backend is not None and frame is not None:
            ability = backend.ability(Watchpoints)
            self._check_room(ability)
            changed = self._breakpoints.enable(known.id, on=True)
            try:
                return await self._set(changed, ability, backend, frame)
            except DebuggerError:
                self._breakpoints.enable(known.id, on=False)
                raise
        return self._breakpoints.enable(known.id, on=True)

    async def look(
        self, stop: Stopped, hits: Sequence[int], backend: Backend, frame: Frame
    ) -> tuple[Change, ...]:
        """Return what changed of what is watched, or was hit, at a stop.

        What a restart has undone is set again, where the program is in the function that the
        expression was meant in.
        """
        if self._told[0] is stop:
            return self._told[1]
        changes: list[Change] = []
        for one in self.all():
            if not one.spec.enabled:
                continue
            if one.bound is None:
                await self._again(one, backend, frame)
                continue
            before, now = self._values.get(one.id), await _value(backend, one.bound, frame)
            if now is None:
                continue
            self._values[one.id] = now
            if before != now or one.id in hits:
                expression = one.spec.watch or ""
                changes.append(Change(one.id, expression, before, now))
        if not changes and not hits and stop.reason is Reason.WATCHPOINT:
            changes += self._read()
        self._told = (stop, tuple(changes))
        return self._told[1]

    def _read(self) -> list[Change]:
        """Return what was read, for a debugger that does not say what was: it is the only one."""
        able = [
            one
            for one in self.all()
            if one.spec.enabled and one.bound is not None and one.spec.access is not Access.WRITE
        ]
        if len(able) != 1:
            return []
        now = self._values.get(able[0].id)
        return [Change(able[0].id, able[0].spec.watch or "", now, now)] if now is not None else []

    async def _again(self, one: Breakpoint, backend: Backend, frame: Frame) -> None:
        if frame.function != one.spec.function:
            return
        try:
            await self._set(one, backend.ability(Watchpoints), backend, frame)
        except DebuggerError as error:
            self._breakpoints.place(one.id, Bound(verified=False, why=error.message))


async def _value(backend: Backend, bound: Bound, frame: Frame) -> str | None:
    if bound.again is None:
        return None
    try:
        value = await backend.evaluate(bound.again, frame, Purpose.PRINT)
        return (await backend.completed([value]))[0].value
    except DebuggerError:
        return None
