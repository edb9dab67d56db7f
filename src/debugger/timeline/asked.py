"""Which events are asked for, as conditions that an index answers?"""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from debugger.core.events import Kind
from debugger.timeline.rows import CODES, INT64, Place, storable

_OPERATORS = frozenset({"<", "<=", "=", ">=", ">", "!="})
_INDEXED_PLACES = 200


class Returned(msgspec.Struct, frozen=True):
    """What a function returned: compared with a number, or with text, or like a pattern.

    `operator` is one of < <= = >= > != for a number, = or != for text, and `like` for a pattern.
    """

    operator: str
    value: int | float | str

    @property
    def is_number(self) -> bool:
        """Tell whether it is compared as a number."""
        return not isinstance(self.value, str)


class Filters(msgspec.Struct, frozen=True):
    """Which events are asked for: those that pass every filter that is not None.

    `function` is a pattern (`*`, `?`, `[…]`) on the whole name; `file` a whole path or the end of
    one from a `/` on; `text` a part of the text; all mind the case. Times are of the clock, and
    included, as durations are.
    """

    kinds: Collection[Kind] | None = None
    function: str | None = None
    file: str | None = None
    thread: int | None = None
    text: str | None = None
    returned: Returned | None = None
    min_duration_ns: int | None = None
    max_duration_ns: int | None = None
    since_ns: int | None = None
    until_ns: int | None = None


class Condition(NamedTuple):
    """A part of a WHERE, constant text with placeholders only, and the values for those."""

    sql: str
    values: tuple[object, ...]


class Driver(NamedTuple):
    """An index that finds the events of a condition.

    `by_block`: it is sorted within blocks of events; else by the events' numbers.
    """

    name: str
    condition: Condition
    by_block: bool
    column: str = ""


class Query(NamedTuple):
    """What is looked for among the events with since < seq < before.

    Each list of `drivers` finds all events that may fit, one driver after the other or, where it
    is of several kinds, all together; `rest` is what no index is for.
    """

    since: int
    before: int
    drivers: tuple[tuple[Driver, ...], ...]
    rest: tuple[Condition, ...]
    is_empty: bool = False


def query(filters: Filters, *, since: int, before: int, places: list[Place]) -> Query:
    """Return how to look for events; `places` are those that events can be at, by number."""
    drivers: list[tuple[Driver, ...]] = []
    rest: list[Condition] = []
    is_empty = since + 1 >= before
    if filters.function is not None or filters.file is not None:
        found = _places(filters, places)
        is_empty = is_empty or not found
        # Numbers of our own: no text of a user's comes into the statement.
        known = Condition(f"place IN ({','.join(map(str, found))})", ())
        if len(found) <= _INDEXED_PLACES:
            drivers.append((Driver("event_place", known, by_block=True, column="place"),))
        else:
            rest.append(known)
    if filters.returned is not None:
        _add_returned(filters.returned, drivers, rest)
    if (lasted := _duration(filters)) is not None:
        drivers.append((Driver("event_duration", lasted, by_block=True, column="duration_ns"),))
    if filters.thread is not None:
        own = Condition("thread = ?", (filters.thread,))
        drivers.append((Driver("event_thread", own, by_block=False),))
    if filters.kinds is not None and len(filters.kinds) < len(CODES):
        codes = sorted({CODES[kind] for kind in filters.kinds})
        is_empty = is_empty or not codes
        drivers.append(
            tuple(
                Driver("event_kind", Condition("kind = ?", (code,)), by_block=False)
                for code in codes
            )
        )
    for sql, value in (
        ("time_ns >= ?", filters.since_ns),
        ("time_ns <= ?", filters.until_ns),
        ("instr(text, ?) > 0", filters.text),
    ):
        if value is not None:
            rest.append(Condition(sql, (value,)))
    return Query(since, before, tuple(drivers), tuple(rest), is_empty)


def together(drivers: tuple[Driver, ...]) -> Condition:
    """Return the condition of drivers of which one must hold."""
    values = tuple(value for one in drivers for value in one.condition.values)
    return Condition(f"({' OR '.join(one.condition.sql for one in drivers)})", values)


def _places(filters: Filters, places: list[Place]) -> list[int]:
    end = None if filters.file is None else "/" + filters.file.lstrip("/")
    pattern = filters.function
    return [
        number
        for number, (function, file, _) in enumerate(places)
        if pattern is None or (function is not None and fnmatchcase(function, pattern))
        if end is None or (file is not None and f"/{file}".endswith(end))
    ]


def _add_returned(
    returned: Returned, drivers: list[tuple[Driver, ...]], rest: list[Condition]
) -> None:
    operator = returned.operator if returned.operator in _OPERATORS else "GLOB"
    if returned.is_number:
        known = Condition(f"number {operator} ?", (returned.value,))
        drivers.append((Driver("event_number", known, by_block=True, column="number"),))
    else:
        rest.append(Condition(f"returned {operator} ?", (returned.value,)))


def _duration(filters: Filters) -> Condition | None:
    least, most = filters.min_duration_ns, filters.max_duration_ns
    if least is None and most is None:
        return None
    if most is None:
        return Condition("duration_ns >= ?", (least,))
    return Condition("duration_ns >= ? AND duration_ns <= ?", (least or 0, most))


def stored(filters: Filters) -> Filters:
    """Return filters that mean the same, with numbers and texts such as can be stored."""

    def within(number: int | None) -> int | None:
        return None if number is None else min(max(number, 0), INT64[-1])

    return msgspec.structs.replace(
        filters,
        # A thread beyond 64 bits has no events, nor has this one.
        thread=filters.thread if filters.thread is None or filters.thread in INT64 else INT64[0],
        text=None if filters.text is None else storable(filters.text),
        since_ns=within(filters.since_ns),
        until_ns=within(filters.until_ns),
        min_duration_ns=within(filters.min_duration_ns),
        max_duration_ns=within(filters.max_duration_ns),
    )
