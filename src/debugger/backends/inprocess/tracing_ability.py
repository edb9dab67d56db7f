"""Traces functions, and reports their calls and returns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec

from debugger.backends.base import CallsTraced
from debugger.backends.inprocess.engine.agent_messages import (
    CALL_RECORD,
    CALLER_AT,
    ENTERED,
    JUMPED,
    SKIPPED,
    WORDS_AT,
)
from debugger.backends.inprocess.engine.engine_events import (
    CallsRecorded,
    FunctionCalled,
    FunctionReturned,
    RecordsDropped,
    TracedFunction,
)
from debugger.backends.inprocess.engine.patch_sites import has_room
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.backends.inprocess.tracing.call_format import CallFormat, Record, words_of
from debugger.backends.inprocess.tracing.trace_targets import (
    MatchedFunctions,
    TraceTarget,
    match_functions,
    own_code,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import CallEvent, TracedPattern
from debugger.symbols.dwarf.unwinding import LoadedBinary

# The most functions of one pattern, and of all patterns together. Attaching 2,000 takes 0.23
# s (frida 17.25).
FUNCTIONS_MAX: Final = 100
HOOKS_MAX: Final = 2000
_NAMES_MAX: Final = 20
# The calls of each function that are recorded in one second; those beyond are counted alone.
RATE: Final = 10_000
# Return addresses whose function is known: programs have fewer.
_CALLERS_MAX: Final = 100_000


@dataclass(slots=True)
class _KnownFunction:
    """Describes one traced function, for all patterns that match it."""

    number: int
    target: TraceTarget
    words: CallFormat
    file: str | None
    line: int | None
    traces: list[int] = field(default_factory=list)


class InProcessTracing:
    """Traces functions of one program."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target
        self._next = 1
        self._traces: dict[int, TracedPattern] = {}
        # All patterns, also those without a match: a library may be loaded that they match.
        self._patterns: dict[int, tuple[str, int]] = {}
        self._by_address: dict[int, _KnownFunction] = {}
        # Never shortened: a call that is under way may return after its function was
        # untraced.
        self._by_number: dict[int, _KnownFunction] = {}
        # By the address behind a call: the traced function that made it.
        self._callers: dict[int, str | None] = {}
        # By function number, as last reported by the program.
        self._skipped: dict[int, int] = {}

    def report_calls(
        self, event: CallsRecorded | FunctionCalled | FunctionReturned | RecordsDropped
    ) -> None:
        """Report calls and returns to the session."""
        if isinstance(event, CallsRecorded) and (event.data or event.lost):
            # SKIPPED records carry totals, not differences: a lost batch does not falsify
            # them.
            before = sum(self._skipped.values())
            passages = self._to_call_events(event.data)
            lost = event.lost + sum(self._skipped.values()) - before
            if passages or lost:
                self._access.report_event(CallsTraced(passages=passages, lost=lost))
        elif isinstance(event, RecordsDropped) and event.calls:
            self._access.report_event(CallsTraced(passages=(), lost=event.calls))

    def _to_call_events(self, data: bytes) -> tuple[CallEvent, ...]:
        found: list[CallEvent] = []
        known = self._by_number
        for record in CALL_RECORD.iter_unpack(data):
            one = known.get(record[1])
            if one is None:
                continue
            if record[3] == SKIPPED:
                self._skipped[one.number] = record[WORDS_AT]
                continue
            if record[3] != ENTERED:
                found.append(_return_event(one, record))
                continue
            at = record[CALLER_AT]
            caller = self._callers[at] if at in self._callers else self._find_caller(at)
            found.append(_entry_event(one, record, caller))
        return tuple(found)

    def _find_caller(self, address: int) -> str | None:
        """Return the name of the traced function that has an address within its code."""
        if len(self._callers) >= _CALLERS_MAX:
            self._callers.clear()
        name = next(
            (
                one.target.name
                for one in self._by_address.values()
                if _contains(one.target, address - 1)
            ),
            None,
        )
        self._callers[address] = name
        return name

    async def trace_functions(
        self, patterns: Sequence[str], *, limit: int | None = None
    ) -> list[TracedPattern]:
        """Trace the functions that patterns match (`audio::process*`, `@file:parser.c`)."""
        return [await self._trace_pattern(pattern, limit or FUNCTIONS_MAX) for pattern in patterns]

    async def _trace_pattern(self, pattern: str, limit: int) -> TracedPattern:
        number, self._next = self._next, self._next + 1
        self._patterns[number] = (pattern, limit)
        # In a thread, as a large program takes seconds to read: other sessions go on
        # meanwhile.
        matched = await asyncio.to_thread(
            match_functions, pattern, list(self._access.modules), limit
        )
        return await self._arm_matched(number, matched)

    async def on_loaded(self, modules: Sequence[LoadedBinary]) -> None:
        """Trace the functions of libraries that were loaded just now and match a pattern."""
        own = own_code(modules)
        if not own:
            return
        for number, (pattern, limit) in list(self._patterns.items()):
            # The limit is for the pattern, over all libraries.
            known = self._traces[number].functions if number in self._traces else 0
            matched = await asyncio.to_thread(match_functions, pattern, own, max(limit - known, 0))
            if matched.targets or matched.left_out:
                await self._arm_matched(number, matched)

    def on_unloaded(self, low: int, high: int) -> None:
        """Note that code was unmapped, with the functions in it; it may be loaded again."""
        gone = [one for at, one in self._by_address.items() if low <= at < high]
        for one in gone:
            del self._by_address[one.target.address]
        self._callers.clear()
        for number, traced in self._traces.items():
            names = [one.target.name for one in gone if number in one.traces]
            if names:
                self._traces[number] = msgspec.structs.replace(
                    traced,
                    functions=traced.functions - len(names),
                    names=tuple(name for name in traced.names if name not in names),
                )

    async def _arm_matched(self, number: int, matched: MatchedFunctions) -> TracedPattern:
        pattern, _ = self._patterns[number]
        unknown = [one for one in matched.targets if one.address not in self._by_address]
        # In a thread too: the prologues of 4,000 functions take 4 s.
        formats = await asyncio.to_thread(lambda: {one.address: words_of(one) for one in unknown})
        before = self._traces.get(number)
        # Each function costs a site, and an address in the handler's table of 32,768.
        room = HOOKS_MAX - len(self._by_address)
        # A function that two patterns match is traced once, and reported for the first of
        # them.
        known = [one for one in matched.targets if one.address in self._by_address]
        new = [one for one in matched.targets if one.address not in self._by_address]
        left_out = matched.left_out + len(new[room:])
        made = [self._known_function(one, formats.get(one.address)) for one in new[:room]]
        refused = await self._arm_function(made)
        armed = [one for one in made if one.number not in refused]
        for one in armed:
            self._by_address[one.target.address] = one
        self._callers.clear()
        mine = [self._by_address[one.address] for one in known] + armed
        for one in mine:
            if number not in one.traces:
                one.traces.append(number)
        why = matched.why
        if not mine and refused:
            why = next(iter(refused.values()))
        elif not mine and new:
            why = f"{HOOKS_MAX} functions are traced already, and more would be too many"
        traced = TracedPattern(
            id=number,
            pattern=pattern,
            functions=len(mine) + (before.functions if before else 0),
            names=(
                *(before.names if before else ()),
                *(one.target.name for one in mine),
            )[:_NAMES_MAX],
            left_out=left_out + (len(refused) if mine else 0) + (before.left_out if before else 0),
            why=why,
            near_names=matched.near_names,
        )
        if mine or before is not None:
            self._traces[number] = traced
        return traced

    def _known_function(self, target: TraceTarget, words: CallFormat | None) -> _KnownFunction:
        file, line = (None, None)
        if (function := target.function) is not None:
            file, line = function.file, function.line
        words = words or words_of(target)
        one = _KnownFunction(len(self._by_number) + 1, target, words, file, line)
        self._by_number[one.number] = one
        return one

    async def _arm_function(self, made: Sequence[_KnownFunction]) -> dict[int, str]:
        if not made:
            return {}
        functions = [
            TracedFunction(
                id=one.number,
                address=one.target.address,
                texts=one.words.texts,
                has_room=_has_room(one.target),
            )
            for one in made
        ]
        return await self._access.engine.trace_functions(functions, rate=RATE)

    async def untrace_functions(self, numbers: Sequence[int]) -> None:
        """Stop tracing the functions of these patterns.

        Raises:
            DebuggerError: NOT_FOUND, naming the existing ones.
        """
        missing = [str(one) for one in numbers if one not in self._patterns]
        if missing:
            there = ", ".join(map(str, self._traces)) or "none"
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"no trace {', '.join(missing)}; there are: {there}",
                hint="debugger trace list",
            )
        gone: list[_KnownFunction] = []
        for one in list(self._by_address.values()):
            # It stays traced as long as another pattern matches it.
            one.traces = [number for number in one.traces if number not in numbers]
            if not one.traces:
                gone.append(one)
                del self._by_address[one.target.address]
        for number in numbers:
            self._traces.pop(number, None)
            self._patterns.pop(number, None)
        await self._access.engine.untrace_functions([one.number for one in gone])

    async def traced_patterns(self) -> list[TracedPattern]:
        """Return the traced patterns as they are now, or were when the program ended."""
        if not self._traces:
            return []
        # The program may have ended: the counts of its last report are there.
        with suppress(DebuggerError):
            self._skipped |= await self._access.engine.skipped_calls()
        skipped = self._skipped.items()
        hot = [(self._by_number[at], count) for at, count in skipped if at in self._by_number]
        found = []
        for number, one in sorted(self._traces.items()):
            mine = [(each.target.name, count) for each, count in hot if number in each.traces]
            sampled, counts = zip(*mine, strict=True) if mine else ((), ())
            found.append(msgspec.structs.replace(one, sampled=sampled, skipped=counts))
        return found


def _has_room(target: TraceTarget) -> bool:
    if target.function is None:
        return False
    binary = target.module.image.binary
    # All of its code: a branch into its first bytes may come from a part that was split off.
    pieces = [(low, binary.read_at(low, high - low) or b"") for low, high in target.function.ranges]
    return has_room(target.function.address, pieces)


def _contains(target: TraceTarget, address: int) -> bool:
    """Return whether an address of the process lies in a function, also in a part split off."""
    if target.function is None:
        return False
    there = address - target.address + target.function.address
    return any(low <= there < high for low, high in target.function.ranges)


def _entry_event(one: _KnownFunction, record: Record, caller: str | None) -> CallEvent:
    return CallEvent(
        one.target.name,
        record[2],
        record[4],
        one.words.entered(record),
        False,  # noqa: FBT003 - positional for speed
        one.file,
        one.line,
        None,
        None,
        one.traces[0] if one.traces else None,
        caller,
    )


def _return_event(one: _KnownFunction, record: Record) -> CallEvent:
    name, returned = one.target.name, None
    if record[3] == JUMPED:
        text = f"{name} ended in a call, whose return is its own"
    else:
        returned = one.words.left(record)
        text = f"{name} → {returned}" if returned is not None else f"{name} returned"
    return CallEvent(
        name,
        record[2],
        record[4],
        text,
        True,  # noqa: FBT003 - positional for speed
        one.file,
        one.line,
        returned,
        record[WORDS_AT + 1],
        one.traces[0] if one.traces else None,
    )
