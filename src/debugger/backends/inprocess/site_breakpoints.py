"""Maps each breakpoint to its sites in the program, and each hit to its breakpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from debugger.backends.base import BackendEvent, BreakpointChanged, ConditionError, LogpointPassed
from debugger.backends.inprocess import compiled_breakpoint
from debugger.backends.inprocess.compiled_breakpoint import CompiledBreakpoint, Text
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import EngineConditionFailed as Failed
from debugger.backends.inprocess.engine.engine_events import RecordLogged as Recorded
from debugger.backends.inprocess.instruction_starts import instruction_start
from debugger.backends.inprocess.loaded_program import BreakpointAddress, LoadedProgram
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.location import is_pattern
from debugger.symbols.dwarf.unwinding import LoadedBinary

_MARK = "breakpoint "


class ProgramAccess(Protocol):
    """What may be asked of the session's program."""

    @property
    def engine(self) -> Engine:
        """The engine inside it."""

    @property
    def program(self) -> LoadedProgram:
        """Its binaries."""

    def report_event(self, event: BackendEvent) -> None:
        """Tell the session."""


@dataclass
class _SitedBreakpoint:
    """One breakpoint as it is in the program; `points` are the engine's, by name."""

    wanted: Breakpoint
    bound: BoundBreakpoint
    points: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    hits: dict[str, int] = field(default_factory=dict)

    @property
    def at(self) -> BreakpointSpec:
        return self.wanted.at or self.wanted.spec


class SiteBreakpoints:
    """The breakpoints of one program, by the lists in which they are sent."""

    def __init__(self, inside: ProgramAccess) -> None:
        self._inside = inside
        self._lists: dict[str, dict[int, _SitedBreakpoint]] = {}
        # What makes the texts of points that machine code logs at: also of those that are there no
        # more, whose last records are on their way.
        self._texts: dict[str, Text] = {}
        self._next = 1

    def breakpoint_number(self, point: str) -> int | None:
        """Return the number of the breakpoint that a point is of; None if it is wanted no more."""
        if not point.startswith(_MARK):
            return None
        number = int(point.removeprefix(_MARK).partition(".")[0])
        return number if self._find_known(number) is not None else None

    def caught_word(self, numbers: Iterable[int]) -> str | None:
        """Return the word for what breakpoints catch; None where one is at a place."""
        found = [self._find_known(number) for number in numbers]
        words = [one.at.catch for one in found if one is not None]
        return words[0] if words and None not in words else None

    def is_wanted(self, number: int) -> bool:
        """Tell whether there is a breakpoint of this number; watchpoints are none of these."""
        return self._find_known(number) is not None

    def _find_known(self, number: int) -> _SitedBreakpoint | None:
        return next((one[number] for one in self._lists.values() if number in one), None)

    async def replace_list(self, name: str, wanted: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
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
            await self._inside.engine.remove_breakpoints(gone)
        for one in wanted:
            if one.id not in now:
                now[one.id] = await self._set_breakpoint(one)
        return [now[one.id].bound for one in wanted]

    async def _set_breakpoint(self, wanted: Breakpoint) -> _SitedBreakpoint:
        found = _SitedBreakpoint(wanted, BoundBreakpoint(verified=False, backend_id=wanted.id))
        if found.at.kind is BreakpointKind.ADDRESS:
            await self._arm_address(found)
        else:
            await self._arm_sites(found, self._inside.program.modules)
        return found

    async def _arm_address(self, one: _SitedBreakpoint) -> None:
        address = int(one.at.address or "0", 16)
        module = self._inside.program.modules.module_at(address)
        if module is None:
            why = f"no code at {address:#x}"
        elif (first := await instruction_start(address, module, self._inside.engine)) != address:
            symbol = module.image.symbol_at(first - module.load_bias)
            function = f" of {symbol.name}" if symbol is not None else ""
            why = (
                f"{address:#x} is inside an instruction{function}: a breakpoint would change it; "
                f"it begins at {first:#x}"
            )
        else:
            await self._add_site(one, [self._make_site(one, BreakpointAddress(address, module))])
            return
        one.bound = BoundBreakpoint(
            verified=False, backend_id=one.wanted.id, address=hex(address), why=why
        )

    async def _arm_sites(self, one: _SitedBreakpoint, modules: Iterable[LoadedBinary]) -> None:
        """Set a breakpoint at all its places in these binaries, and say what became of it."""
        program, at = self._inside.program, one.at
        # A large binary takes long to read; the other sessions go on meanwhile.
        made = await asyncio.to_thread(
            lambda: [
                self._make_site(one, place) for place in program.breakpoint_addresses(at, modules)
            ]
        )
        if made:
            await self._add_site(one, made)
        elif not one.points:
            why = await asyncio.to_thread(program.explain_unbound, at)
            one.bound = msgspec.structs.replace(why, backend_id=one.wanted.id)

    def _make_site(self, one: _SitedBreakpoint, place: BreakpointAddress) -> CompiledBreakpoint:
        number, self._next = self._next, self._next + 1
        name = f"{_MARK}{one.wanted.id}"
        return compiled_breakpoint.compile_breakpoint(f"{name}.{number}", one.at, place, group=name)

    async def _add_site(self, one: _SitedBreakpoint, made: Sequence[CompiledBreakpoint]) -> None:
        engine = self._inside.engine
        taken = set(one.points.values())
        wished = {each.point.address: each for each in made if each.point.address not in taken}
        refused = await engine.add_breakpoints([each.point for each in wished.values()])
        again = [
            compiled_breakpoint.without_native(each.point)
            for each in wished.values()
            if each.point.id in refused
            and (each.point.native is not None or each.point.record is not None)
        ]
        if again:
            for point in again:
                del refused[point.id]
            refused |= await engine.add_breakpoints(again)
        good = [each for each in wished.values() if each.point.id not in refused]
        one.points |= {each.point.id: each.point.address for each in good}
        self._texts |= {each.point.id: each.text for each in good if each.text is not None}
        if one.points:
            one.bound = self._to_bound(one, good) if good else one.bound
            return
        why = "; ".join(sorted(set(refused.values())))
        address = next(iter(wished), None)
        one.bound = BoundBreakpoint(
            verified=False,
            backend_id=one.wanted.id,
            file=one.at.file,
            line=one.at.line,
            address=hex(address) if address is not None else None,
            why=f"the code there cannot be moved for a breakpoint: {why}",
        )

    def _to_bound(
        self, one: _SitedBreakpoint, made: Sequence[CompiledBreakpoint]
    ) -> BoundBreakpoint:
        if one.bound.verified:
            return one.bound  # a further place of it
        address = made[0].point.address
        module = self._inside.program.modules.module_at(address)
        place = (
            self._inside.program.line_of(BreakpointAddress(address, module))
            if module is not None
            else None
        )
        file, line = place if place is not None else (None, None)
        return BoundBreakpoint(
            verified=True,
            backend_id=one.wanted.id,
            file=file,
            # From a function's first line it moves behind the prologue; else the line's own code
            # may begin in a row of another line, which has the same address.
            line=max(one.at.line or 0, line or 0) or None,
            address=hex(address),
            why=self._breakpoint_note(one, made),
            function=self._function_name(address, module),
        )

    def _function_name(self, address: int, module: LoadedBinary | None) -> str | None:
        """Return the name of the function that an address is in."""
        if module is None or not module.image.has_debug:
            return None
        found = module.image.functions.functions_at(address - module.load_bias)
        return found[0].name if found else None

    @staticmethod
    def _breakpoint_note(one: _SitedBreakpoint, made: Sequence[CompiledBreakpoint]) -> str | None:
        """Say what is to be known of a breakpoint that was set."""
        problems = [each.problem for each in made if each.problem]
        if len(problems) == len(made):
            return problems[0]
        name = one.at.function
        return f"in {len(made)} functions" if name is not None and is_pattern(name) else None

    async def on_loaded(self, modules: Sequence[LoadedBinary]) -> None:
        """Set every breakpoint in binaries that were loaded just now, before their code runs."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            if one.at.kind is BreakpointKind.ADDRESS:
                continue
            before = one.bound
            await self._arm_sites(one, modules)
            if one.bound.verified and not before.verified:
                self._inside.report_event(BreakpointChanged(one.bound))

    def on_unloaded(self, low: int, high: int) -> None:
        """Note that code was unmapped, with what stood in it; it may be loaded again."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            left = {name: at for name, at in one.points.items() if not low <= at < high}
            is_gone = one.points and not left
            one.points = left
            if is_gone:
                why = "the library that it was in is loaded no more"
                one.bound = msgspec.structs.replace(one.bound, verified=False, why=why)
                self._inside.report_event(BreakpointChanged(one.bound))

    def on_program_replaced(self, why: str) -> None:
        """Note that the program is another now, in which none of them stands."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            one.points.clear()
            one.bound = BoundBreakpoint(verified=False, backend_id=one.wanted.id, why=why)
            self._inside.report_event(BreakpointChanged(one.bound))

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Say why a breakpoint does not bind."""
        return await asyncio.to_thread(self._inside.program.explain_unbound, spec)

    # --- what the engine tells of them ---

    def report_logged(self, event: Recorded) -> None:
        """Tell what a logpoint said."""
        number = self.breakpoint_number(event.point)
        if number is not None:
            said = event.values
            text = self._texts[event.point](said) if isinstance(said, tuple) else str(said)
            hits = self._note_hits(number, event.point, event.hits)
            time_ns = int(event.time * 1000)
            self._inside.report_event(LogpointPassed(number, text, event.thread, hits, time_ns))

    def _note_hits(self, number: int, point: str, hits: int) -> int:
        """Note a point's hits; return those of its breakpoint, all places of it together."""
        one = self._find_known(number)
        assert one is not None
        one.hits[point] = hits
        # Those of a group are counted together by the program itself (points.make).
        is_group = (one.at.hit_count or 1) > 1
        return max(one.hits.values()) if is_group else sum(one.hits.values())

    def report_failed_condition(self, event: Failed) -> None:
        """Tell that a condition failed: each failure once, for a hot line has millions."""
        number = self.breakpoint_number(event.point)
        one = self._find_known(number) if number is not None else None
        if one is None or event.text in one.told:
            return
        one.told.add(event.text)
        self._inside.report_event(ConditionError(number, event.text.removeprefix("Error: ")))

    async def uncounted_records(self) -> Mapping[int, tuple[int, int]]:
        """Return how many records there was no room for, and how many hits, by breakpoint."""
        found: dict[int, tuple[int, int]] = {}
        try:
            tallies = await self._inside.engine.hit_counts()
        except DebuggerError:
            return found
        for point, tally in tallies.items():
            number = self.breakpoint_number(point)
            if number is not None:
                hits = self._note_hits(number, point, tally.hits)
                found[number] = (found.get(number, (0, 0))[0] + tally.dropped, hits)
        return found
