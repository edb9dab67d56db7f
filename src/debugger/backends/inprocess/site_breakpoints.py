"""Maps breakpoints to their sites in the program, and hits to breakpoints; filters watchpoints."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from debugger.backends.base import BackendEvent, BreakpointChanged, ConditionError, LogpointPassed
from debugger.backends.inprocess import thrown_exceptions
from debugger.backends.inprocess.engine.agent_messages import LOG_WORDS as WORDS
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint as Point
from debugger.backends.inprocess.engine.engine_events import EngineConditionFailed as Failed
from debugger.backends.inprocess.engine.engine_events import RecordLogged as Recorded
from debugger.backends.inprocess.expressions import (
    c_writer,
    javascript_writer,
    log_pieces,
    log_text,
    resolution,
)
from debugger.backends.inprocess.expressions.declared_names import DeclaredNames
from debugger.backends.inprocess.expressions.location_nodes import NameScope
from debugger.backends.inprocess.expressions.log_text import compile_record
from debugger.backends.inprocess.expressions.nodes import Node
from debugger.backends.inprocess.inspection import inspection_abilities
from debugger.backends.inprocess.inspection.inspector import InspectionAccess
from debugger.backends.inprocess.loaded_program import (
    BreakpointAddress,
    LoadedProgram,
    instruction_start,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import breakpoints as texts
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.location import is_pattern
from debugger.model.program import EvaluationPurpose, Frame, Stopped
from debugger.symbols.dwarf.call_frames import RBP, RSP
from debugger.symbols.dwarf.unwinding import LoadedBinary


class WatchConditionAccess(InspectionAccess, Protocol):
    """Gives access to the conditions of watchpoints."""

    @property
    def watched(self) -> WatchFilter:
        """The filter with the watchpoints' conditions."""


class WatchFilter:
    """Evaluates the conditions of watchpoints, which the processor cannot do."""

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection
        self._conditions: dict[int, tuple[int, str]] = {}

    def note_watchpoint(self, breakpoint_: Breakpoint, bound: BoundBreakpoint) -> None:
        """Note a watchpoint's condition."""
        if bound.backend_id is not None and breakpoint_.spec.condition is not None:
            self._conditions[bound.backend_id] = (breakpoint_.id, breakpoint_.spec.condition)

    def forget_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Forget a watchpoint that was removed."""
        if bound.backend_id is not None:
            self._conditions.pop(bound.backend_id, None)

    async def filter_stop(self, stop: Stopped) -> Stopped | None:
        """Remove the watchpoints whose condition is false from a stop; None if none is left."""
        matching = [one for one in stop.hits if await self._condition_holds(one, stop.thread or 0)]
        if not matching and stop.hits:
            return None
        return msgspec.structs.replace(stop, hits=tuple(matching))

    async def _condition_holds(self, number: int, thread: int) -> bool:
        if number not in self._conditions:
            return True
        ours, text = self._conditions[number]
        inspector = self._access.inspector
        try:
            (frame,) = (await inspector.read_stack(thread, levels=1)).frames[:1]
            # A value and no truth: the result's text is 1 or 0, whatever the type of the
            # condition.
            value = await inspector.evaluate(f"({text}) ? 1 : 0", frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            self._access.report_event(ConditionError(ours, error.message))
            return False
        return value.value == "1"


class FilteredWatchpoints:
    """Sets watchpoints by the debug registers, with conditions."""

    def __init__(self, access: WatchConditionAccess) -> None:
        self._access = access
        self._own = inspection_abilities.InProcessWatchpoints(access)

    @property
    def slot_count(self) -> int | None:
        """The number of watchpoints that there can be at once."""
        return self._own.slot_count

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint (see abilities.Watchpoints)."""
        bound = await self._own.set_watchpoint(breakpoint_, frame)
        self._access.watched.note_watchpoint(breakpoint_, bound)
        return bound

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""
        self._access.watched.forget_watchpoint(bound)
        await self._own.remove_watchpoint(bound)


_BASES = {RSP: "rsp", RBP: "rbp"}
Text = Callable[[Sequence[int]], str]
# A line that runs more often is logged in part; the hits without a record are counted. Python
# reads about 19,000 messages a second from Frida, batches many more records (frida 17.25).
RECORDS_PER_SECOND = 10_000
_FAILED = "<error: "


@dataclass(frozen=True, slots=True)
class CompiledBreakpoint:
    """Holds a breakpoint for the engine, and what is wrong with its condition, if anything is.

    `text` builds a logpoint's text from the words that machine code has recorded.
    """

    point: Point
    problem: str | None = None
    text: Text | None = None


@dataclass(frozen=True, slots=True)
class _CompiledCondition:
    """Holds a condition in JavaScript, in C where that is possible, and what is wrong with it."""

    script: str
    native: str | None = None
    node: Node | None = None
    problem: str | None = None


def compile_breakpoint(
    name: str, spec: BreakpointSpec, place: BreakpointAddress, *, group: str
) -> CompiledBreakpoint:
    """Compile a breakpoint for one address; its hits count with those of its group's addresses."""
    # Three forms of each condition and logpoint, by the cost of a hit: C (98 ns) where the
    # expression reads memory and registers alone, JavaScript (2 to 5 µs) for the rest, and a
    # pause with an evaluation here for none of them. JavaScript is always written: it
    # explains a value that C could not read.
    scope = DeclaredNames(place.module.image, place.link_address, bias=place.module.load_bias)
    condition: _CompiledCondition | None = None
    if spec.catch is not None:
        script = thrown_exceptions.type_condition(spec)
        condition = _CompiledCondition(script) if script is not None else None
    elif spec.condition is not None:
        condition = _compile_condition(spec.condition, scope)
    pieces = _parse_pieces(spec.log, scope) if spec.log is not None else None
    written = None
    # Records by machine code only where the condition is machine code, too: JavaScript would
    # run for each hit anyway.
    if pieces is not None and (condition is None or condition.native is not None):
        written = compile_record(pieces, condition.node if condition is not None else None, WORDS)
    ignore = max((spec.hit_count or 1) - 1, 0)
    point = Point(
        id=name,
        address=place.address,
        condition=condition.script if condition is not None else None,
        native=condition.native if condition is not None else None,
        record=written.source if written is not None else None,
        width=written.width if written is not None else 0,
        log=log_text.log_script(pieces).function_text if pieces is not None else None,
        pauses=pieces is None,
        ignore=ignore,
        # A hit count is over all addresses of the breakpoint (a template's instances, an
        # inlined function), so these must be counted in one word.
        group=group if ignore else None,
        rate=RECORDS_PER_SECOND if pieces is not None else 0,
        burst=spec.burst,
        temporary=spec.temporary,
        thread=spec.thread,
        caller=_return_address_place(place),
    )
    return CompiledBreakpoint(
        point,
        _permanent_problem(condition, pieces),
        written.text if written is not None else None,
    )


def _permanent_problem(
    condition: _CompiledCondition | None, pieces: Sequence[log_pieces.Piece] | None
) -> str | None:
    """Return what can never be evaluated at an address, of a condition or a logpoint's text."""
    if condition is not None and condition.problem is not None:
        return f"its condition cannot be evaluated here: {condition.problem}"
    failed = [
        one.text
        for one in pieces or ()
        if isinstance(one, log_pieces.PlainPiece) and one.text.startswith(_FAILED)
    ]
    if not failed:
        return None
    return f"it can never be evaluated here: {failed[0].removeprefix(_FAILED).removesuffix('>')}"


def _return_address_place(place: BreakpointAddress) -> tuple[str, int] | None:
    """Return where the return address is, as a register and an offset; None where unknown."""
    # The agent tells its own calls of a shared function from the program's by the return
    # address, in assembler (`whose` in enter.S), which can add an offset to rsp or rbp and no
    # more.
    row = place.module.image.frames.rules_at(place.link_address)
    if row is None or row.is_signal or isinstance(row.cfa, bytes):
        return None
    (number, offset), rule = row.cfa, row.rules.get(row.returned)
    if number not in _BASES or rule is None or rule.kind != "offset":
        return None
    above = offset + rule.number
    return (_BASES[number], above) if above >= 0 else None


def without_native(point: Point) -> Point:
    """Return a breakpoint with JavaScript alone, where machine code could not be compiled."""
    return msgspec.structs.replace(point, native=None, record=None)


def _compile_condition(text: str, scope: NameScope) -> _CompiledCondition:
    try:
        node = resolution.resolve_condition(text, scope)
        script = javascript_writer.condition_script(node).function_text
    except DebuggerError as error:
        # A condition that cannot be compiled fails at each hit, as one that fails at run time
        # does.
        script = f"(c) => {{ throw {json.dumps(error.message)}; }}"
        return _CompiledCondition(script, problem=error.message)
    # Not every expression has a form in C (`c_writer`), and that is no error.
    try:
        return _CompiledCondition(script, c_writer.write_condition(node), node)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        return _CompiledCondition(script)


def _parse_pieces(text: str, scope: NameScope) -> tuple[log_pieces.Piece, ...]:
    pieces: list[log_pieces.Piece] = []
    for part, is_expression in texts.split_template(text):
        if not is_expression:
            pieces.append(log_pieces.PlainPiece(part))
            continue
        try:
            piece = log_pieces.operand_piece(resolution.resolve_expression(part, scope))
            log_text.log_script((piece,))  # what JavaScript cannot read is found here
        except DebuggerError as error:
            piece = log_pieces.PlainPiece(f"{_FAILED}{error.message}>")
        pieces.append(piece)
    return tuple(pieces)


_MARK = "breakpoint "


class ProgramAccess(Protocol):
    """Gives access to the session's program."""

    @property
    def engine(self) -> Engine:
        """The engine inside the program."""

    @property
    def program(self) -> LoadedProgram:
        """The program's binaries."""

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""


@dataclass
class _SitedBreakpoint:
    """Holds one breakpoint of the program; `points` are the engine's sites, by name."""

    wanted: Breakpoint
    bound: BoundBreakpoint
    points: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    hits: dict[str, int] = field(default_factory=dict)

    @property
    def at(self) -> BreakpointSpec:
        return self.wanted.at or self.wanted.spec


class SiteBreakpoints:
    """Sets the breakpoints of one program, by the lists in which they are requested."""

    def __init__(self, access: ProgramAccess) -> None:
        self._access = access
        self._lists: dict[str, dict[int, _SitedBreakpoint]] = {}
        # Builds the texts of sites that machine code logs at; removed sites stay in it, as
        # their last records may be on their way.
        self._texts: dict[str, Text] = {}
        self._next = 1

    def breakpoint_number(self, point: str) -> int | None:
        """Return the number of a site's breakpoint; None if the breakpoint was removed."""
        if not point.startswith(_MARK):
            return None
        number = int(point.removeprefix(_MARK).partition(".")[0])
        return number if self._find_known(number) is not None else None

    def caught_word(self, numbers: Iterable[int]) -> str | None:
        """Return what the breakpoints catch, as its word; None where one has a location."""
        found = [self._find_known(number) for number in numbers]
        words = [one.at.catch for one in found if one is not None]
        return words[0] if words and None not in words else None

    def is_wanted(self, number: int) -> bool:
        """Return whether there is a breakpoint of this number; watchpoints are none of these."""
        return self._find_known(number) is not None

    def _find_known(self, number: int) -> _SitedBreakpoint | None:
        return next((one[number] for one in self._lists.values() if number in one), None)

    async def replace_list(
        self, name: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace a list; an unchanged breakpoint stays as it is, with its hit count."""
        before = self._lists.get(name, {})
        # The session sends whole lists, as DAP does. Setting an unchanged breakpoint again
        # would reset its hits, and threads could pass it meanwhile.
        unchanged = {
            one.id: before[one.id]
            for one in breakpoints
            if one.id in before and before[one.id].at == (one.at or one.spec)
        }
        gone = [
            point
            for number, one in before.items()
            if number not in unchanged
            for point in one.points
        ]
        self._lists[name] = now = dict(unchanged)
        if gone:
            await self._access.engine.remove_breakpoints(gone)
        for one in breakpoints:
            if one.id not in now:
                now[one.id] = await self._set_breakpoint(one)
        return [now[one.id].bound for one in breakpoints]

    async def _set_breakpoint(self, breakpoint_: Breakpoint) -> _SitedBreakpoint:
        found = _SitedBreakpoint(
            breakpoint_, BoundBreakpoint(verified=False, backend_id=breakpoint_.id)
        )
        if found.at.kind is BreakpointKind.ADDRESS:
            await self._arm_address(found)
        else:
            await self._arm_sites(found, self._access.program.modules)
        return found

    async def _arm_address(self, one: _SitedBreakpoint) -> None:
        address = int(one.at.address or "0", 16)
        module = self._access.program.modules.module_at(address)
        if module is None:
            why = f"no code at {address:#x}"
        # An int3 in the middle of an instruction would change its operand, and be executed as
        # such.
        elif (first := await instruction_start(address, module, self._access.engine)) != address:
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
        """Set a breakpoint at all its addresses in these binaries, and note the result."""
        program, at = self._access.program, one.at
        # In a thread, as a large binary takes seconds to read: other sessions go on
        # meanwhile.
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
        return compile_breakpoint(f"{name}.{number}", one.at, place, group=name)

    async def _add_site(self, one: _SitedBreakpoint, made: Sequence[CompiledBreakpoint]) -> None:
        engine = self._access.engine
        # Several rows of a line, or two symbols, may have one address: it gets one site.
        taken = set(one.points.values())
        wished = {each.point.address: each for each in made if each.point.address not in taken}
        refused = await engine.add_breakpoints([each.point for each in wished.values()])
        # Machine code may be refused by Frida's compiler (TinyCC) for a reason that cannot be
        # foreseen: JavaScript alone is tried then. A refusal of the address itself is found
        # again.
        again = [
            without_native(each.point)
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
        module = self._access.program.modules.module_at(address)
        place = (
            self._access.program.line_of(BreakpointAddress(address, module))
            if module is not None
            else None
        )
        file, line = place if place is not None else (None, None)
        return BoundBreakpoint(
            verified=True,
            backend_id=one.wanted.id,
            file=file,
            # From a function's first line the breakpoint moves behind the prologue; otherwise
            # the line's own code may begin in a row of another line with the same address.
            line=max(one.at.line or 0, line or 0) or None,
            address=hex(address),
            why=self._breakpoint_note(one, made),
            function=self._function_name(address, module),
        )

    def _function_name(self, address: int, module: LoadedBinary | None) -> str | None:
        """Return the name of the function around an address."""
        if module is None or not module.image.has_debug:
            return None
        found = module.image.functions.functions_at(address - module.load_bias)
        return found[0].name if found else None

    @staticmethod
    def _breakpoint_note(one: _SitedBreakpoint, made: Sequence[CompiledBreakpoint]) -> str | None:
        """Return what the user must know of a breakpoint that was set."""
        problems = [each.problem for each in made if each.problem]
        if len(problems) == len(made):
            return problems[0]
        name = one.at.function
        return f"in {len(made)} functions" if name is not None and is_pattern(name) else None

    async def on_loaded(self, modules: Sequence[LoadedBinary]) -> None:
        """Set every breakpoint in binaries that were loaded just now, before their code runs."""
        # The thread that loads them waits in the agent's module observer, so nothing of them
        # has run.
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            if one.at.kind is BreakpointKind.ADDRESS:
                continue
            before = one.bound
            await self._arm_sites(one, modules)
            if one.bound.verified and not before.verified:
                self._access.report_event(BreakpointChanged(one.bound))

    def on_unloaded(self, low: int, high: int) -> None:
        """Note that code was unmapped together with its sites; it may be loaded again."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            remaining = {name: at for name, at in one.points.items() if not low <= at < high}
            is_gone = one.points and not remaining
            one.points = remaining
            if is_gone:
                why = "the library that it was in is loaded no more"
                one.bound = msgspec.structs.replace(one.bound, verified=False, why=why)
                self._access.report_event(BreakpointChanged(one.bound))

    def on_program_replaced(self, why: str) -> None:
        """Note that the program is another now, without any of the breakpoints."""
        for one in [each for listed in self._lists.values() for each in listed.values()]:
            one.points.clear()
            one.bound = BoundBreakpoint(verified=False, backend_id=one.wanted.id, why=why)
            self._access.report_event(BreakpointChanged(one.bound))

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Say why a breakpoint does not bind."""
        return await asyncio.to_thread(self._access.program.explain_unbound, spec)

    # --- events of the engine ---

    def report_logged(self, event: Recorded) -> None:
        """Report what a logpoint has recorded."""
        number = self.breakpoint_number(event.point)
        if number is not None:
            values = event.values
            # A tuple is of words that machine code has written; JavaScript has sent the
            # finished text.
            text = self._texts[event.point](values) if isinstance(values, tuple) else str(values)
            hits = self._note_hits(number, event.point, event.hits)
            time_ns = int(event.time * 1000)
            self._access.report_event(LogpointPassed(number, text, event.thread, hits, time_ns))

    def _note_hits(self, number: int, point: str, hits: int) -> int:
        """Note a site's hits; return those of its breakpoint, over all sites."""
        one = self._find_known(number)
        assert one is not None
        one.hits[point] = hits
        # Sites of a group share one count in the program (`compile_breakpoint`), so each
        # reports the total.
        is_group = (one.at.hit_count or 1) > 1
        return max(one.hits.values()) if is_group else sum(one.hits.values())

    def report_failed_condition(self, event: Failed) -> None:
        """Report that a condition failed: each failure once, as a hot line has millions."""
        number = self.breakpoint_number(event.point)
        one = self._find_known(number) if number is not None else None
        if one is None or event.text in one.told:
            return
        one.told.add(event.text)
        self._access.report_event(ConditionError(number, event.text.removeprefix("Error: ")))

    async def uncounted_records(self) -> Mapping[int, tuple[int, int]]:
        """Return how many records were dropped, and how many hits there were, by breakpoint."""
        found: dict[int, tuple[int, int]] = {}
        try:
            tallies = await self._access.engine.hit_counts()
        except DebuggerError:
            return found
        for point, tally in tallies.items():
            number = self.breakpoint_number(point)
            if number is not None:
                hits = self._note_hits(number, point, tally.hits)
                found[number] = (found.get(number, (0, 0))[0] + tally.dropped, hits)
        return found
