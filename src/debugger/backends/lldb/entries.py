"""Moves breakpoints behind a function's prologue, where LLDB sets them too early.

Without a prologue mark in the line table (gcc writes none), LLDB 19 and 20 look for the next line
among the next six entries. In a function of one line they find that of the next function, and the
breakpoint stays at the first instruction, before the arguments are stored. The right address is
where the second entry of the line table begins, as in gdb.

LLDB 20 skips the prologue of a function in two parts (gcc's `.cold`) from the wrong part: the
breakpoint is anywhere in the program, and never hit. Such a function is stopped at its entry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from debugger.backends import lldb_text
from debugger.backends.lldb.inside import Inside
from debugger.backends.lldb_text import BreakpointLocation, quoted
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.core.model import Frame, Stopped
from debugger.errors import DebuggerError

_LOCATIONS_MAX = 32
# Called with the new number, the user's breakpoint, and the number of the original.
OnMoved = Callable[[int, Breakpoint, int], Awaitable[None]]


class Moved(Struct, frozen=True):
    """A breakpoint of ours in place of a location of LLDB's."""

    words: str  # location, as options of `breakpoint set`
    condition: str | None
    hit_count: int | None


class Entries:
    """The moved breakpoints of one program.

    A breakpoint without a condition or a log text stays where LLDB has it: its stop is reported
    once the prologue has run. `on_moved` is called with each new number, the user's breakpoint, and
    the number of its owner. `misplaces` is true of an LLDB that misplaces breakpoints in functions
    of two parts.
    """

    def __init__(
        self, inside: Inside, on_moved: OnMoved | None, *, misplaces: bool = False
    ) -> None:
        self._inside = inside
        self._on_moved = on_moved
        self._misplaces = misplaces
        self._made: dict[str, dict[tuple[int, Moved], int]] = {}
        # The function and body range of the last stop: a step within it needs no lookup.
        self._past: tuple[str, range] | None = None

    @property
    def owners(self) -> dict[int, int]:
        """The number of the breakpoint that each moved one stands for."""
        return {
            number: owner for made in self._made.values() for (owner, _), number in made.items()
        }

    def places(self, owner: int) -> list[str]:
        """Return the locations of the moved breakpoints that stand for one."""
        return [
            key.words for made in self._made.values() for number, key in made if number == owner
        ]

    def attribute(self, stop: Stopped) -> Stopped:
        """Return a stop with the user's breakpoints in place of the moved ones."""
        owners = self.owners
        if not any(hit in owners for hit in stop.hits):
            return stop
        return replace(stop, hits=tuple(dict.fromkeys(owners.get(hit, hit) for hit in stop.hits)))

    async def move(
        self, name: str, wanted: Sequence[Breakpoint], bounds: Sequence[Bound]
    ) -> list[Bound]:
        """Move the breakpoints of a list that LLDB would evaluate too early, or misplaces.

        Returns: the location of each one.
        """
        old, new = self._made.get(name, {}), dict[tuple[int, Moved], int]()
        self._made[name] = new
        found = [
            await self._move_one(one, bound, old, new)
            for one, bound in zip(wanted, bounds, strict=False)
        ]
        for number in old.values():
            await self._inside.raw(f"breakpoint delete {number}", None)
        return found

    async def _move_one(
        self,
        wanted: Breakpoint,
        bound: Bound,
        old: dict[tuple[int, Moved], int],
        new: dict[tuple[int, Moved], int],
    ) -> Bound:
        spec, at, number = wanted.spec, wanted.at or wanted.spec, bound.backend_id
        is_evaluated = spec.condition is not None or spec.log is not None
        is_doubtful = self._misplaces and at.kind in {Kind.FUNCTION, Kind.LINE}
        if number is None or at.kind is Kind.ADDRESS or not (is_evaluated or is_doubtful):
            return bound
        locations = await self._locations(number)
        for location in locations:
            place = await self._look_up(location)
            words = _body(location, place) if is_evaluated else None
            if is_doubtful and lldb_text.is_misplaced(place):
                words = _entry(at)
            if words is not None:
                moved = Moved(words, spec.condition, spec.hit_count)
                made = old.pop((number, moved), None) or new.get((number, moved))
                made = made or await self._make(moved)
                if made is None:
                    continue
                new[number, moved] = made
                if self._on_moved is not None:
                    await self._on_moved(made, wanted, number)
                await self._inside.raw(f"breakpoint disable {location.id}", None)
                its = await self._locations(made) if is_doubtful else ()
                place = await self._look_up(its[0]) if len(its) == 1 else ""
            if is_doubtful and len(locations) == 1:
                bound = _placed(bound, place)
        return bound

    async def _locations(self, number: int) -> Sequence[BreakpointLocation]:
        text = await self._inside.raw(f"breakpoint list {number}", None)
        return lldb_text.breakpoint_locations(text)[:_LOCATIONS_MAX]

    async def _look_up(self, location: BreakpointLocation) -> str:
        module = quoted(location.module) if location.module is not None else ""
        words = f"image lookup --verbose --address {location.address:#x} {module}"
        return await self._inside.raw(words, None)

    async def _make(self, moved: Moved) -> int | None:
        words = f"breakpoint set {moved.words}"
        if moved.condition:
            words += f" --condition {quoted(moved.condition)}"
        if moved.hit_count:
            words += f" --ignore-count {moved.hit_count - 1}"
        return lldb_text.breakpoint_id(await self._inside.raw(words, None))

    async def left(self, frame: Frame) -> int:
        """Return the number of instructions from a frame to its function's body."""
        if frame.address is None or frame.line is None:
            return 0
        here = int(frame.address, 16)
        past, self._past = self._past, None
        if past is not None and past[0] == frame.function and here in past[1]:
            self._past = past  # a step within the function of the stop before
            return 0
        try:
            text = await self._inside.raw(f"image lookup --verbose --address {here:#x}", None)
            body = lldb_text.body(text)
            if body is None:
                addresses = lldb_text.past_entry(text)
                self._past = None if addresses is None else (frame.function, addresses)
                return 0
            code = f"disassemble --start-address {here:#x} --end-address {body:#x}"
            return len(lldb_text.functions(await self._inside.raw(code, None)))
        except DebuggerError:
            return 0


def _body(location: BreakpointLocation, place: str) -> str | None:
    """Write the location of the function's body; None if LLDB's location is right."""
    body = lldb_text.body(place) if not location.is_in_function else None
    if body is None:
        return None
    module = quoted(location.module) if location.module is not None else ""
    return f"--address {body:#x}" + (f" --shlib {module}" if module else "")


def _entry(spec: Spec) -> str:
    """Write a breakpoint's location without skipping the prologue."""
    if spec.kind is Kind.FUNCTION:
        return f"--name {quoted(spec.function or '')} --skip-prologue false"
    return f"--file {quoted(spec.file or '')} --line {spec.line} --skip-prologue false"


def _placed(bound: Bound, place: str) -> Bound:
    """Add the line to a breakpoint's answer: CodeLLDB omits it for a function's name."""
    file, line = lldb_text.line_file(place), lldb_text.line_number(place)
    if file is None or not line:
        return bound
    is_known = bound.verified and bound.line is not None
    return bound if is_known else replace(bound, verified=True, file=file, line=line, why=None)
