"""Maps each breakpoint to its sites in the program, and each hit to its breakpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from debugger.backends.base import ConditionFailed, Event, Logged, Rebound
from debugger.backends.frida import points
from debugger.backends.frida.code import beginning
from debugger.backends.frida.dwarf.unwind import Module
from debugger.backends.frida.engine.engine import Engine
from debugger.backends.frida.engine.events import ConditionFailed as Failed
from debugger.backends.frida.engine.events import Logged as Recorded
from debugger.backends.frida.points import Made, Text
from debugger.backends.frida.program import Place, Program
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.core.locate import is_pattern
from debugger.errors import DebuggerError

_MARK = "breakpoint "


class Asked(Protocol):
    """What may be asked of the session's program."""

    @property
    def engine(self) -> Engine:
        """The engine inside it."""

    @property
    def program(self) -> Program:
        """Its binaries."""

    def tell(self, event: Event) -> None:
        """Tell the session."""


@dataclass
class _Set:
    """One breakpoint as it is in the program; `points` are the engine's, by name."""

    wanted: Breakpoint
    bound: Bound
    points: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    hits: dict[str, int] = field(default_factory=dict)

    @property
    def at(self) -> Spec:
        return self.wanted.at or self.wanted.spec


class Breakpoints:
    """The breakpoints of one program, by the lists in which they are sent."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside
        self._lists: dict[str, dict[int, _Set]] = {}
        # What makes the texts of points that machine code logs at: also of those that are there no
        # more, whose last records are on their way.
        self._texts: dict[str, Text] = {}
        self._next = 1

    def number(self, point: str) -> int | None:
        """Return the number of the breakpoint that a point is of; None if it is wanted no more."""
        if not point.startswith(_MARK):
            return None
        number = int(point.removeprefix(_MARK).partition(".")[0])
        return number if self._known(number) is not None else None

    def caught(self, numbers: Iterable[int]) -> str | None:
        """Return the word for what breakpoints catch; None where one is at a place."""
        found = [self._known(number) for number in numbers]
        words = [one.at.catch for one in found if one is not None]
        return words[0] if words and None not in words else None

    def is_wanted(self, number: int) -> bool:
        """Tell whether there is a breakpoint of this number; watchpoints are none of these."""
        return self._known(number) is not None

    def _known(self, number: int) -> _Set | None:
        return next((one[number] for one in self._lists.values() if number in one), None)

    async def replace(self, name: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace a list; what is in it as before stays as it is, with its count of hits."""
        before = self._lists.get(name, {})
        kept = {
            one.id: before[one.id]
            for one in wanted
            if one.id in before and before[one.id].at == (one.at or one.spec)
        }
        gone = [
            point for number, one in before.items() if number not in kept for point in one.points
        ]
        self._lists[name] = now = dict(kept)
        if gone:
            await self._inside.engine.remove(gone)
        for one in wanted:
            if one.id not in now:
                now[one.id] = await self._set(one)
        return [now[one.id].bound for one in wanted]

    async def _set(self, wanted: Breakpoint) -> _Set:
        found = _Set(wanted, Bound(verified=False, backend_id=wanted.id))
        if found.at.kind is Kind.ADDRESS:
            await self._arm_address(found)
        else:
            await self._arm(found, self._inside.program.modules)
        return found

    async def _arm_address(self, one: _Set) -> None:
        address = int(one.at.address or "0", 16)
        module = self._inside.program.modules.at(address)
        if module is None:
            why = f"no code at {address:#x}"
        elif (first := await beginning(address, module, self._inside.engine)) != address:
            symbol = module.image.symbol_at(first - module.bias)
            function = f" of {symbol.name}" if symbol is not None else ""
            why = (
                f"{address:#x} is inside an instruction{function}: a breakpoint would change it; "
                f"it begins at {first:#x}"
            )
        else:
            await self._add(one, [self._made(one, Place(address, module))])
            return
        one.bound = Bound(verified=False, backend_id=one.wanted.id, address=hex(address), why=why)

    async def _arm(self, one: _Set, modules: Iterable[Module]) -> None:
        """Set a breakpoint at all its places in these binaries, and say what became of it."""
        program, at = self._inside.program, one.at
        # A large binary takes long to read; the other sessions go on meanwhile.
        made = await asyncio.to_thread(
            lambda: [self._made(one, place) for place in program.places(at, modules)]
        )
        if made:
            await self._add(one, made)
        elif not one.points:
            why = await asyncio.to_thread(program.why, at)
            one.bound = msgspec.structs.replace(why, backend_id=one.wanted.id)

    def _made(self, one: _Set, place: Place) -> Made:
        number, self._next = self._next, self._next + 1
        name = f"{_MARK}{one.wanted.id}"
        return points.make(f"{name}.{number}", one.at, place, group=name)

    async def _add(self, one: _Set, made: Sequence[Made]) -> None:
        engine = self._inside.engine
        taken = set(one.points.values())
        wished = {each.point.address: each for each in made if each.point.address not in taken}
        refused = await engine.add([each.point for each in wished.values()])
        again = [
            points.without_native(each.point)
            for each in wished.values()
            if each.point.id in refused
            and (each.point.native is not None or each.point.record is not None)
        ]
        if again:
            for point in again:
                del refused[point.id]
            refused |= await engine.add(again)
        good = [each for each in wished.values() if each.point.id not in refused]
        one.points |= {each.point.id: each.point.address for each in good}
        self._texts |= {each.point.id: each.text for each in good if each.text is not None}
        if one.points:
            one.bound = self._bound(one, good) if good else one.bound
            return
        why = "; ".join(sorted(set(refused.values())))
        address = next(iter(wished), None)
        one.bound = Bound(
            verified=False,
            backend_id=one.wanted.id,
            file=one.at.file,
            line=one.at.line,
            address=hex(address) if address is not None else None,
            why=f"the code there cannot be moved for a breakpoint: {why}",
        )

    def _bound(self, one: _Set, made: Sequence[Made]) -> Bound:
        if one.bound.verified:
            return one.bound  # a further place of it
        address = made[0].point.address
        module = self._inside.program.modules.at(address)
        place = self._inside.program.line_of(Place(address, module)) if module is not None else None
        file, line = place if place is not None else (None, None)
        return Bound(
            verified=True,
            backend_id=one.wanted.id,
            file=file,
            # From a function's first line it moves behind the prologue; else the line's own code
            # may begin in a row of another line, which has the same address.
            line=max(one.at.line or 0, line or 0) or None,
            address=hex(address),
            why=self._said(one, made),
            function=self._function(address, module),
        )

    def _function(self, address: int, module: Module | None) -> str | None:
        """Return the name of the function that an address is in."""
        if module is None or not module.image.has_debug:
            return None
        found = module.image.functions.at(address - module.bias)
        return found[0].name if found else None

    @staticmethod
    def _said(one: _Set, made: Sequence[Made]) -> str | None:
        """Say what is to be known of a breakpoint that was set."""
        problems = [each.problem for each in made if each.problem]
        if len(problems) == len(made):
            return problems[0]
        name = one.at.function
        return f"in {len(made)} functions" if name is not None and is_pattern(name) else None

    async def loaded(self, modules: Sequence[Module]) -> None:
        """Set every breakpoint in binaries that were loaded just now, before their code runs."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            if one.at.kind is Kind.ADDRESS:
                continue
            before = one.bound
            await self._arm(one, modules)
            if one.bound.verified and not before.verified:
                self._inside.tell(Rebound(one.bound))

    def unloaded(self, low: int, high: int) -> None:
        """Note that code was unmapped, with what stood in it; it may be loaded again."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            left = {name: at for name, at in one.points.items() if not low <= at < high}
            is_gone = one.points and not left
            one.points = left
            if is_gone:
                why = "the library that it was in is loaded no more"
                one.bound = msgspec.structs.replace(one.bound, verified=False, why=why)
                self._inside.tell(Rebound(one.bound))

    def left(self, why: str) -> None:
        """Note that the program is another now, in which none of them stands."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            one.points.clear()
            one.bound = Bound(verified=False, backend_id=one.wanted.id, why=why)
            self._inside.tell(Rebound(one.bound))

    async def explain(self, spec: Spec) -> Bound:
        """Say why a breakpoint does not bind."""
        return await asyncio.to_thread(self._inside.program.why, spec)

    # --- what the engine tells of them ---

    def recorded(self, event: Recorded) -> None:
        """Tell what a logpoint said."""
        number = self.number(event.point)
        if number is not None:
            said = event.values
            text = self._texts[event.point](said) if isinstance(said, tuple) else str(said)
            hits = self._hits(number, event.point, event.hits)
            time_ns = int(event.time * 1000)
            self._inside.tell(Logged(number, text, event.thread, hits, time_ns))

    def _hits(self, number: int, point: str, hits: int) -> int:
        """Note a point's hits; return those of its breakpoint, all places of it together."""
        one = self._known(number)
        assert one is not None
        one.hits[point] = hits
        # Those of a group are counted together by the program itself (points.make).
        is_group = (one.at.hit_count or 1) > 1
        return max(one.hits.values()) if is_group else sum(one.hits.values())

    def failed(self, event: Failed) -> None:
        """Tell that a condition failed: each failure once, for a hot line has millions."""
        number = self.number(event.point)
        one = self._known(number) if number is not None else None
        if one is None or event.text in one.told:
            return
        one.told.add(event.text)
        self._inside.tell(ConditionFailed(number, event.text.removeprefix("Error: ")))

    async def counted(self) -> Mapping[int, tuple[int, int]]:
        """Return how many records there was no room for, and how many hits, by breakpoint."""
        found: dict[int, tuple[int, int]] = {}
        try:
            tallies = await self._inside.engine.tally()
        except DebuggerError:
            return found
        for point, tally in tallies.items():
            number = self.number(point)
            if number is not None:
                hits = self._hits(number, point, tally.hits)
                found[number] = (found.get(number, (0, 0))[0] + tally.dropped, hits)
        return found
