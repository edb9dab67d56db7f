"""Traces functions, and reports their calls and returns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec

from debugger.backends.base import Passed
from debugger.backends.frida.dwarf.unwind import Module
from debugger.backends.frida.engine.calls import ENTERED, JUMPED, RECORD, SKIPPED, WORDS
from debugger.backends.frida.engine.events import Called, Calls, Dropped, Function, Returned
from debugger.backends.frida.engine.wide import has_room
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.traced.finding import Matched, Target, match, own_code
from debugger.backends.frida.traced.wording import Record, Words, words_of
from debugger.core.model import Passage, Traced
from debugger.errors import Code, DebuggerError

# Of one pattern, and of all together.
FUNCTIONS_MAX: Final = 100
HOOKS_MAX: Final = 2000
_NAMES_MAX: Final = 20
# Of each function's calls of a second, as many are told; of the others it is said that they were.
RATE: Final = 10_000


@dataclass(slots=True)
class _Known:
    """One function that is traced, for as many patterns as mean it."""

    number: int
    target: Target
    words: Words
    file: str | None
    line: int | None
    traces: list[int] = field(default_factory=list)


class Tracing:
    """The functions of one program that are traced."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._next = 1
        self._traces: dict[int, Traced] = {}
        # Those that have matched nothing yet too: a library may be loaded that they match.
        self._patterns: dict[int, tuple[str, int]] = {}
        self._by_address: dict[int, _Known] = {}
        # For ever: a call that is under way is told of after it was let go.
        self._by_number: dict[int, _Known] = {}
        # By number, as the program told it last.
        self._skipped: dict[int, int] = {}

    def take(self, event: Calls | Called | Returned | Dropped) -> None:
        """Tell the session of calls and returns."""
        if isinstance(event, Calls) and (event.data or event.lost):
            before = sum(self._skipped.values())
            passages = self._passages(event.data)
            lost = event.lost + sum(self._skipped.values()) - before
            if passages or lost:
                self._inside.tell(Passed(passages=passages, lost=lost))
        elif isinstance(event, Dropped) and event.calls:
            self._inside.tell(Passed(passages=(), lost=event.calls))

    def _passages(self, data: bytes) -> tuple[Passage, ...]:
        found: list[Passage] = []
        known = self._by_number
        for record in RECORD.iter_unpack(data):
            one = known.get(record[1])
            if one is None:
                continue
            if record[3] == SKIPPED:
                self._skipped[one.number] = record[WORDS]
                continue
            found.append(_entered(one, record) if record[3] == ENTERED else _left(one, record))
        return tuple(found)

    async def trace(self, patterns: Sequence[str], *, limit: int | None = None) -> list[Traced]:
        """Trace the functions that patterns match (`audio::process*`, `@file:parser.c`)."""
        return [await self._trace(pattern, limit or FUNCTIONS_MAX) for pattern in patterns]

    async def _trace(self, pattern: str, limit: int) -> Traced:
        number, self._next = self._next, self._next + 1
        self._patterns[number] = (pattern, limit)
        # A large program takes long to read; the other sessions go on meanwhile.
        matched = await asyncio.to_thread(match, pattern, list(self._inside.modules), limit)
        return await self._arm_matched(number, matched)

    async def loaded(self, modules: Sequence[Module]) -> None:
        """Trace what standing patterns match in libraries that were loaded just now."""
        own = own_code(modules)
        if not own:
            return
        for number, (pattern, limit) in list(self._patterns.items()):
            known = self._traces[number].functions if number in self._traces else 0
            matched = await asyncio.to_thread(match, pattern, own, max(limit - known, 0))
            if matched.targets or matched.left_out:
                await self._arm_matched(number, matched)

    def unloaded(self, low: int, high: int) -> None:
        """Note that code was unmapped, with the functions in it; it may be loaded again."""
        gone = [one for at, one in self._by_address.items() if low <= at < high]
        for one in gone:
            del self._by_address[one.target.address]
        for number, traced in self._traces.items():
            names = [one.target.name for one in gone if number in one.traces]
            if names:
                self._traces[number] = msgspec.structs.replace(
                    traced,
                    functions=traced.functions - len(names),
                    names=tuple(name for name in traced.names if name not in names),
                )

    async def _arm_matched(self, number: int, matched: Matched) -> Traced:
        pattern, _ = self._patterns[number]
        before = self._traces.get(number)
        room = HOOKS_MAX - len(self._by_address)
        known = [one for one in matched.targets if one.address in self._by_address]
        new = [one for one in matched.targets if one.address not in self._by_address]
        left_out = matched.left_out + len(new[room:])
        made = [self._known(target) for target in new[:room]]
        refused = await self._arm(made)
        armed = [one for one in made if one.number not in refused]
        for one in armed:
            self._by_address[one.target.address] = one
        mine = [self._by_address[one.address] for one in known] + armed
        for one in mine:
            if number not in one.traces:
                one.traces.append(number)
        why = matched.why
        if not mine and refused:
            why = next(iter(refused.values()))
        elif not mine and new:
            why = f"{HOOKS_MAX} functions are traced already, and more would be too many"
        traced = Traced(
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

    def _known(self, target: Target) -> _Known:
        file, line = (None, None)
        if (function := target.function) is not None:
            file, line = function.file, function.line
        one = _Known(len(self._by_number) + 1, target, words_of(target), file, line)
        self._by_number[one.number] = one
        return one

    async def _arm(self, made: Sequence[_Known]) -> dict[int, str]:
        if not made:
            return {}
        functions = [
            Function(
                id=one.number,
                address=one.target.address,
                texts=one.words.texts,
                has_room=_has_room(one.target),
            )
            for one in made
        ]
        return await self._inside.engine.trace(functions, rate=RATE)

    async def untrace(self, numbers: Sequence[int]) -> None:
        """Trace the functions of these patterns no longer.

        Raises:
            DebuggerError: NOT_FOUND, naming those that there are.
        """
        missing = [str(one) for one in numbers if one not in self._patterns]
        if missing:
            there = ", ".join(map(str, self._traces)) or "none"
            raise DebuggerError(
                Code.NOT_FOUND,
                f"there is no trace {', '.join(missing)}; there are: {there}",
                hint="debugger trace list",
            )
        gone: list[_Known] = []
        for one in list(self._by_address.values()):
            one.traces = [number for number in one.traces if number not in numbers]
            if not one.traces:
                gone.append(one)
                del self._by_address[one.target.address]
        for number in numbers:
            self._traces.pop(number, None)
            self._patterns.pop(number, None)
        await self._inside.engine.untrace([one.number for one in gone])

    async def traces(self) -> list[Traced]:
        """Return the patterns that are traced, each as it is now, or was when the program ended."""
        if not self._traces:
            return []
        with suppress(DebuggerError):
            self._skipped |= await self._inside.engine.skipped()
        skipped = self._skipped.items()
        hot = [(self._by_number[at], count) for at, count in skipped if at in self._by_number]
        found = []
        for number, one in sorted(self._traces.items()):
            mine = [(each.target.name, count) for each, count in hot if number in each.traces]
            sampled, counts = zip(*mine, strict=True) if mine else ((), ())
            found.append(msgspec.structs.replace(one, sampled=sampled, skipped=counts))
        return found


def _has_room(target: Target) -> bool:
    if target.function is None:
        return False
    binary = target.module.image.binary
    pieces = [(low, binary.read(low, high - low) or b"") for low, high in target.function.ranges]
    return has_room(target.function.address, pieces)


def _entered(one: _Known, record: Record) -> Passage:
    return Passage(
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
    )


def _left(one: _Known, record: Record) -> Passage:
    name, returned = one.target.name, None
    if record[3] == JUMPED:
        text = f"{name} ended in a call, whose return is its own"
    else:
        returned = one.words.left(record)
        text = f"{name} → {returned}" if returned is not None else f"{name} returned"
    return Passage(
        name,
        record[2],
        record[4],
        text,
        True,  # noqa: FBT003 - positional for speed
        one.file,
        one.line,
        returned,
        record[WORDS + 1],
        one.traces[0] if one.traces else None,
    )
