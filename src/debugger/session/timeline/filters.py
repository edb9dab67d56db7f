"""Converts event filters to conditions that an index can answer; defines result pages."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

import msgspec

from debugger.model.events import Event, EventKind, OutputData, OutputStream
from debugger.session.timeline.column_index import Comparison, Look, OneOf
from debugger.session.timeline.event_rows import CODES, INT64, Place, storable_text


class EventPage(msgspec.Struct, frozen=True):
    """Events in order."""

    events: list[Event]
    # The cursor of the next page.
    next: int
    # Events that were deleted, counted by kind only: the other filters cannot be applied to them.
    dropped: int
    # The matching events of all pages; if `is_least`, there are more than were counted.
    total: int
    is_least: bool = False


class LogLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of output, or the available part of it."""

    stream: OutputStream
    text: str
    # The number of the line's last piece.
    seq: int
    # The line's beginning was read earlier, was dropped, or is the line before, which was too long.
    continues: bool = False
    # No newline has come yet, or the line continues in the next one.
    open: bool = False


class LinePage(msgspec.Struct, frozen=True):
    """Lines in the order of their ends; `next` is the cursor of the next page."""

    lines: list[LogLine]
    next: int
    dropped: int


@cache
def _output_data(data: bytes) -> OutputData:
    return msgspec.json.decode(data, type=OutputData)


def join_line(line: LogLine | None, seq: int, text: str, data: bytes) -> LogLine:
    """Append a piece to its line."""
    shown = _output_data(data)
    if line is None:
        return LogLine(shown.stream, text, seq, shown.continues, shown.open)
    return LogLine(shown.stream, line.text + text, seq, line.continues, shown.open)


_OPERATORS = frozenset({"<", "<=", "=", ">=", ">", "!="})
_INDEXED_PLACES = 200  # locations for which an index is used


class ReturnedCondition(msgspec.Struct, frozen=True):
    """A condition on a returned value: a comparison with a number or a text, or a pattern."""

    # One of < <= = >= > != for a number, = or != for text, and `like` for a pattern.
    operator: str
    value: int | float | str

    @property
    def is_number(self) -> bool:
        """Whether the comparison is numeric."""
        return not isinstance(self.value, str)


class Filters(msgspec.Struct, frozen=True):
    """The filters of an event request; an event must pass all that are not None."""

    kinds: Collection[EventKind] | None = None
    # A pattern (`*`, `?`, `[…]`) for the whole name; this and the next texts are case-sensitive.
    function: str | None = None
    # A whole path, or its end from a `/` on.
    file: str | None = None
    thread: int | None = None
    # A part of the text.
    text: str | None = None
    returned: ReturnedCondition | None = None
    # The bounds of durations and of times are inclusive.
    min_duration_ns: int | None = None
    max_duration_ns: int | None = None
    # On the monotonic clock.
    since_ns: int | None = None
    until_ns: int | None = None


class Condition(NamedTuple):
    """A part of a WHERE clause, constant text with placeholders, and their values."""

    sql: str
    values: tuple[object, ...]


class Lead(NamedTuple):
    """A condition whose event numbers an index can look up."""

    column: str
    # The test of a traced call's `column`.
    look: Look
    condition: Condition
    # The index for other events; None if no other event has such a value.
    by: str | None


class Query(NamedTuple):
    """A search among the events with since < seq < before."""

    since: int
    before: int
    # All of these must hold, and all of `rest`, for which no index exists.
    leads: tuple[Lead, ...]
    rest: tuple[Condition, ...]
    # The codes of the requested kinds, or None.
    kinds: tuple[int, ...] | None
    # Only traced calls have the requested values.
    is_of_calls: bool
    is_empty: bool = False


def build_query(filters: Filters, *, since: int, before: int, places: list[Place]) -> Query:
    """Convert filters to a query; `places` are the possible locations by number."""
    leads: list[Lead] = []
    rest: list[Condition] = []
    kinds = filters.kinds
    codes = None if kinds is None else tuple(sorted({CODES[kind] for kind in kinds}))
    is_empty = since + 1 >= before or codes == ()
    if filters.function is not None or filters.file is not None:
        found = _matching_locations(filters, places)
        is_empty = is_empty or not found
        # Numbers of our own: no text of a user's comes into the statement.
        known = Condition(f"place IN ({','.join(map(str, found))})", ())
        if len(found) <= _INDEXED_PLACES:
            leads.append(Lead("place", OneOf(frozenset(found)), known, "event_place"))
        else:
            rest.append(known)
    if filters.returned is not None:
        _add_returned(filters.returned, leads, rest)
    if (lasted := _duration_lead(filters)) is not None:
        leads.append(lasted)
    if (thread := filters.thread) is not None:
        own = Condition("thread = ?", (thread,))
        leads.append(Lead("thread", OneOf(frozenset({thread})), own, "event_thread"))
    for sql, value in (
        ("time_ns >= ?", filters.since_ns),
        ("time_ns <= ?", filters.until_ns),
        ("instr(text, ?) > 0", filters.text),
    ):
        if value is not None:
            rest.append(Condition(sql, (value,)))
    is_of_calls = (
        filters.returned is not None
        or filters.min_duration_ns is not None
        or filters.max_duration_ns is not None
    )
    return Query(since, before, tuple(leads), tuple(rest), codes, is_of_calls, is_empty)


def _matching_locations(filters: Filters, places: list[Place]) -> list[int]:
    end = None if filters.file is None else "/" + filters.file.lstrip("/")
    pattern = filters.function
    return [
        number
        for number, (function, file, _) in enumerate(places)
        if pattern is None or (function is not None and fnmatchcase(function, pattern))
        if end is None or (file is not None and f"/{file}".endswith(end))
    ]


def _add_returned(returned: ReturnedCondition, leads: list[Lead], rest: list[Condition]) -> None:
    operator = returned.operator if returned.operator in _OPERATORS else "GLOB"
    if isinstance(returned.value, str):
        rest.append(Condition(f"returned {operator} ?", (returned.value,)))
        return
    known = Condition(f"number {operator} ?", (returned.value,))
    leads.append(Lead("number", Comparison(operator, returned.value), known, None))


def _duration_lead(filters: Filters) -> Lead | None:
    least, most = filters.min_duration_ns, filters.max_duration_ns
    if least is None and most is None:
        return None
    look = Comparison(">=", least or 0, most)
    known = Condition("duration_ns >= ?", (least or 0,))
    if most is not None:
        known = Condition("duration_ns >= ? AND duration_ns <= ?", (least or 0, most))
    return Lead("duration_ns", look, known, None)


def storable_filters(filters: Filters) -> Filters:
    """Return equivalent filters with only storable numbers and texts."""

    def within(number: int | None) -> int | None:
        return None if number is None else min(max(number, 0), INT64[-1])

    return msgspec.structs.replace(
        filters,
        # A thread beyond 64 bits has no events, nor has this one.
        thread=filters.thread if filters.thread is None or filters.thread in INT64 else INT64[0],
        text=None if filters.text is None else storable_text(filters.text),
        since_ns=within(filters.since_ns),
        until_ns=within(filters.until_ns),
        min_duration_ns=within(filters.min_duration_ns),
        max_duration_ns=within(filters.max_duration_ns),
    )
