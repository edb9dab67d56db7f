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
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.backends.lldb_text import LldbBreakpointLocation, quote_word
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.program import Frame, Stopped

# Locations of one breakpoint that are looked up: an inlined function may have hundreds.
_LOCATIONS_MAX = 32
# Called with the new number, the user's breakpoint, and the number of the original.
OnMoved = Callable[[int, Breakpoint, int], Awaitable[None]]


class MovedBreakpoint(Struct, frozen=True):
    """A breakpoint of ours in place of a location of LLDB's."""

    words: str  # location, as options of `breakpoint set`
    condition: str | None
    hit_count: int | None


class FunctionEntries:
    """The moved breakpoints of one program.

    A breakpoint without a condition or a log text stays where LLDB has it: its stop is reported
    once the prologue has run. `on_moved` is called with each new number, the user's breakpoint, and
    the number of its owner. `misplaces` is true of an LLDB that misplaces breakpoints in functions
    of two parts.
    """

    def __init__(
        self, lldb: LldbAccess, on_moved: OnMoved | None, *, misplaces: bool = False
    ) -> None:
        self._access = lldb
        self._on_moved = on_moved
        self._misplaces = misplaces
        self._made: dict[str, dict[tuple[int, MovedBreakpoint], int]] = {}
        # The function and body range of the last stop: a step within it needs no lookup.
        self._past: tuple[str, range] | None = None

    @property
    def owner_numbers(self) -> dict[int, int]:
        """The number of the breakpoint that each moved one stands for."""
        return {
            number: owner for moved in self._made.values() for (owner, _), number in moved.items()
        }

    def moved_locations(self, owner: int) -> list[str]:
        """Return the locations of the moved breakpoints that stand for one."""
        return [
            key.words for moved in self._made.values() for number, key in moved if number == owner
        ]

    def attribute_stop(self, stop: Stopped) -> Stopped:
        """Return a stop with the user's breakpoints in place of the moved ones."""
        owners = self.owner_numbers
        if not any(hit in owners for hit in stop.hits):
            return stop
        return replace(stop, hits=tuple(dict.fromkeys(owners.get(hit, hit) for hit in stop.hits)))

    async def move_breakpoints(
        self, name: str, breakpoints: Sequence[Breakpoint], bounds: Sequence[BoundBreakpoint]
    ) -> list[BoundBreakpoint]:
        """Move the breakpoints of a list that LLDB would evaluate too early, or misplaces.

        Returns: the location of each one.
        """
        # LLDB evaluates a condition, and writes a log text, where it has put the breakpoint. One
        # that lies before the function's body would see arguments that are not stored yet. Each
        # location of such a breakpoint is checked, in this order:
        #
        # 1. `image lookup --verbose --address` of the location gives the function's range, the line
        #    entry and the variables. `parse_body_address` decides whether the location is too
        #    early, and where the body begins.
        # 2. A breakpoint of ours is set there, with the same condition and hit count. The user's
        #    location is disabled, not deleted: LLDB would set it again.
        # 3. The new number stands for the user's in stops, counts and guards (`owner_numbers`).
        #
        # Unconditional breakpoints stay: their stop is reported once the rest of the prologue has
        # run (`LldbSteps.enter_body`). Moved breakpoints that are still needed are kept, with their
        # hit counts; the others are deleted last, so that no hit is missed in between.
        old, new = self._made.get(name, {}), dict[tuple[int, MovedBreakpoint], int]()
        self._made[name] = new
        results = [
            await self._move_breakpoint(one, bound, old, new)
            for one, bound in zip(breakpoints, bounds, strict=False)
        ]
        for number in old.values():
            await self._access.run_raw(f"breakpoint delete {number}", None)
        return results

    async def _move_breakpoint(
        self,
        breakpoint_: Breakpoint,
        bound: BoundBreakpoint,
        old: dict[tuple[int, MovedBreakpoint], int],
        new: dict[tuple[int, MovedBreakpoint], int],
    ) -> BoundBreakpoint:
        spec, location_spec, number = (
            breakpoint_.spec,
            breakpoint_.at or breakpoint_.spec,
            bound.backend_id,
        )
        is_evaluated = spec.condition is not None or spec.log is not None
        # LLDB 20 (CodeLLDB) only: the whole location is wrong there, condition or not.
        is_doubtful = self._misplaces and location_spec.kind in {
            BreakpointKind.FUNCTION,
            BreakpointKind.LINE,
        }
        if (
            number is None
            or location_spec.kind is BreakpointKind.ADDRESS
            or not (is_evaluated or is_doubtful)
        ):
            return bound
        locations = await self._breakpoint_locations(number)
        for location in locations:
            lookup = await self._look_up_address(location)
            words = _body_location(location, lookup) if is_evaluated else None
            if is_doubtful and lldb_text.is_misplaced_breakpoint(lookup):
                words = _entry_words(location_spec)
            if words is not None:
                moved = MovedBreakpoint(words, spec.condition, spec.hit_count)
                # Two locations may have the same body, as of a function that is in two modules.
                moved_number = old.pop((number, moved), None) or new.get((number, moved))
                moved_number = moved_number or await self._set_moved(moved)
                # LLDB refuses the address: the location stays where it is.
                if moved_number is None:
                    continue
                new[number, moved] = moved_number
                if self._on_moved is not None:
                    await self._on_moved(moved_number, breakpoint_, number)
                # After the new one is set: otherwise a running program could pass both.
                await self._access.run_raw(f"breakpoint disable {location.id}", None)
                moved_locations = (
                    await self._breakpoint_locations(moved_number) if is_doubtful else ()
                )
                lookup = (
                    await self._look_up_address(moved_locations[0])
                    if len(moved_locations) == 1
                    else ""
                )
            if is_doubtful and len(locations) == 1:
                bound = _with_line(bound, lookup)
        return bound

    async def _breakpoint_locations(self, number: int) -> Sequence[LldbBreakpointLocation]:
        text = await self._access.run_raw(f"breakpoint list {number}", None)
        return lldb_text.parse_breakpoint_locations(text)[:_LOCATIONS_MAX]

    async def _look_up_address(self, location: LldbBreakpointLocation) -> str:
        module = quote_word(location.module) if location.module is not None else ""
        words = f"image lookup --verbose --address {location.address:#x} {module}"
        return await self._access.run_raw(words, None)

    async def _set_moved(self, moved: MovedBreakpoint) -> int | None:
        words = f"breakpoint set {moved.words}"
        if moved.condition:
            words += f" --condition {quote_word(moved.condition)}"
        if moved.hit_count:
            # LLDB ignores so many hits, and stops at the one after them.
            words += f" --ignore-count {moved.hit_count - 1}"
        return lldb_text.parse_breakpoint_id(await self._access.run_raw(words, None))

    async def instructions_before_body(self, frame: Frame) -> int:
        """Return the number of instructions from a frame to its function's body."""
        if frame.address is None or frame.line is None:
            return 0
        address = int(frame.address, 16)
        # Two commands for each stop would cost more than the step: a step within a body needs none.
        body_range, self._past = self._past, None
        if body_range is not None and body_range[0] == frame.function and address in body_range[1]:
            self._past = body_range  # a step within the function of the stop before
            return 0
        try:
            text = await self._access.run_raw(
                f"image lookup --verbose --address {address:#x}", None
            )
            body = lldb_text.parse_body_address(text)
            if body is None:
                addresses = lldb_text.parse_range_after_entry(text)
                self._past = None if addresses is None else (frame.function, addresses)
                return 0
            # `thread step-inst-over` takes a number of instructions, not an address.
            code = f"disassemble --start-address {address:#x} --end-address {body:#x}"
            return len(lldb_text.parse_functions(await self._access.run_raw(code, None)))
        except DebuggerError:
            return 0


def _body_location(location: LldbBreakpointLocation, place: str) -> str | None:
    """Write the location of the function's body; None if LLDB's location is right."""
    body = lldb_text.parse_body_address(place) if not location.is_in_function else None
    if body is None:
        return None
    module = quote_word(location.module) if location.module is not None else ""
    # With a module the address is the file's own: the module may not be loaded yet.
    return f"--address {body:#x}" + (f" --shlib {module}" if module else "")


def _entry_words(spec: BreakpointSpec) -> str:
    """Write a breakpoint's location without skipping the prologue."""
    if spec.kind is BreakpointKind.FUNCTION:
        return f"--name {quote_word(spec.function or '')} --skip-prologue false"
    return f"--file {quote_word(spec.file or '')} --line {spec.line} --skip-prologue false"


def _with_line(bound: BoundBreakpoint, place: str) -> BoundBreakpoint:
    """Add the line to a breakpoint's answer: CodeLLDB omits it for a function's name."""
    file, line = lldb_text.parse_line_file(place), lldb_text.parse_line_number(place)
    if file is None or not line:
        return bound
    is_known = bound.verified and bound.line is not None
    return bound if is_known else replace(bound, verified=True, file=file, line=line, why=None)
