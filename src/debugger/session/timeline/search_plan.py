"""Plans an event search: which condition an index looks up, and the order of reading."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import msgspec

from debugger.model.events import Event, EventKind, OutputData, OutputStream
from debugger.session.timeline.column_index import ColumnIndex, ColumnTest, Comparison, OneOf
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
    # The names of sessions.
    sessions: Collection[str] | None = None
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
    look: ColumnTest
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


def build_query(
    filters: Filters,
    *,
    since: int,
    before: int,
    places: list[Place],
    sessions: Sequence[str] = (),
) -> Query:
    """Convert filters to a query; `places` and `sessions` are the known ones by number."""
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
    if (requested := filters.sessions) is not None:
        numbers = [number for number, name in enumerate(sessions) if name in requested]
        is_empty = is_empty or not numbers
        rest.append(Condition(f"session IN ({','.join(map(str, numbers))})", ()))
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
    test = Comparison(">=", least or 0, most)
    known = Condition("duration_ns >= ?", (least or 0,))
    if most is not None:
        known = Condition("duration_ns >= ? AND duration_ns <= ?", (least or 0, most))
    return Lead("duration_ns", test, known, None)


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


COUNT_MAX = 10_000
"""So many events are counted; that there are more is said."""

_MANY = 1_000  # events; fewer are read by their numbers in one statement
_CALLS = frozenset({CODES[EventKind.FUNCTION_ENTER], CODES[EventKind.FUNCTION_EXIT]})

Rows = list[Sequence[Any]]


class EventSource(Protocol):
    """A source of searched events: the calls, or the other events of some or all kinds."""

    def read(self, connection: sqlite3.Connection, *, limit: int, newest: bool) -> Rows:
        """Return the oldest, or the newest, of the source's events, in any order."""
        ...

    def count(self, connection: sqlite3.Connection, *, most: int) -> int:
        """Return the number of the source's events, at most `most`."""
        ...

    def explain(self, connection: sqlite3.Connection) -> list[str]:
        """Return a description of the search, SQLite's own where SQLite does it."""
        ...


Plan = tuple[EventSource, ...]
"""The sources of what is looked for: each has events as old as the others'."""


class _SqlSource(msgspec.Struct, frozen=True):
    """One SQL statement: its index, its WHERE clause, and the clause's values."""

    by: str
    where: str
    values: tuple[object, ...]

    def _select_statement(self, *, newest: bool) -> str:
        # The numbers first, which most indexes hold: only what is shown is read whole.
        order = "DESC" if newest else "ASC"
        numbers = f"SELECT seq FROM {self._from_clause()} ORDER BY seq {order} LIMIT ?"  # noqa: S608 - constants
        return f"SELECT * FROM {self.by.split()[0]} WHERE seq IN ({numbers})"  # noqa: S608 - constants

    def _count_statement(self) -> str:
        return f"SELECT count(*) FROM (SELECT 1 FROM {self._from_clause()} LIMIT ?)"  # noqa: S608 - constants

    def _from_clause(self) -> str:
        return f"{self.by} WHERE {self.where}"

    def read(self, connection: sqlite3.Connection, *, limit: int, newest: bool) -> Rows:
        sql = self._select_statement(newest=newest)
        with closing(connection.execute(sql, (*self.values, limit))) as cursor:
            return cursor.fetchall()

    def count(self, connection: sqlite3.Connection, *, most: int) -> int:
        found: int = connection.execute(self._count_statement(), (*self.values, most)).fetchone()[0]
        return found

    def explain(self, connection: sqlite3.Connection) -> list[str]:
        lines = []
        for sql in (
            self._select_statement(newest=False),
            self._select_statement(newest=True),
            self._count_statement(),
        ):
            rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (*self.values, 1))
            lines += [row[3] for row in rows]
        return lines


class _CallSource:
    """Traced calls that are looked up by their rarest condition, and tested for the others."""

    def __init__(
        self,
        postings: ColumnIndex,
        query: Query,
        lead: Lead,
        others: Sequence[Condition],
        count: int,
    ) -> None:
        # The count is exact up to one more than COUNT_MAX, and no more is ever asked for.
        self._postings = postings
        self._query = query
        self._lead = lead
        self._others = others
        self._estimate = count

    def _candidate_numbers(self, *, newest: bool) -> Iterator[list[int]]:
        """Yield candidate event numbers block by block; in one list if there are few."""
        since, before, lead = self._query.since, self._query.before, self._lead
        found = self._postings.numbers(
            lead.column, lead.look, since=since, before=before, is_backwards=newest
        )
        if self._estimate >= _MANY:
            yield from found
        elif few := sorted(chain.from_iterable(found)):
            yield few

    def _source_of_numbers(self, numbers: list[int]) -> _SqlSource:
        if len(numbers) < _MANY:
            listed = Condition(f"seq IN ({','.join(map(str, numbers))})", ())
            return _sql_source("call", (listed, *self._others))
        within = Condition("seq >= ? AND seq <= ?", (numbers[0], numbers[-1]))
        return _sql_source("call NOT INDEXED", (within, self._lead.condition, *self._others))

    def read(self, connection: sqlite3.Connection, *, limit: int, newest: bool) -> Rows:
        rows: Rows = []
        for numbers in self._candidate_numbers(newest=newest):
            room = limit - len(rows)
            if room <= 0:
                break
            some = numbers
            if not self._others:
                some = numbers[-room:] if newest else numbers[:room]
            rows += self._source_of_numbers(some).read(connection, limit=room, newest=newest)
        return rows

    def count(self, connection: sqlite3.Connection, *, most: int) -> int:
        if not self._others:
            return min(self._estimate, most)
        total = 0
        for numbers in self._candidate_numbers(newest=False):
            if total >= most:
                break
            total += self._source_of_numbers(numbers).count(connection, most=most - total)
        return total

    def explain(self, connection: sqlite3.Connection) -> list[str]:
        lines = [f"LOOK call BY {self._lead.column} {self._lead.look}"]
        for numbers in self._candidate_numbers(newest=False):
            return lines + self._source_of_numbers(numbers).explain(connection)
        return lines


def plan_search(connection: sqlite3.Connection, query: Query, postings: ColumnIndex) -> Plan:
    """Choose the search with the fewest events to examine."""
    # Traced calls and other events are in separate tables, so a search has a source for each;
    # `read_page` merges their pages by event number.
    # 1. For calls, each indexable condition is counted in the `ColumnIndex`, up to `COUNT_MAX`. The
    #    rarest one is looked up; the others are tested by SQL on its results only.
    # 2. With few candidates one statement reads all of them. With many, the blocks are read one by
    #    one, oldest or newest first, so that reading stops when the page is full.
    # 3. For other events each condition with an SQL index is a possible search, and so are the
    #    requested kinds. All of them are counted, up to `_MANY`, and the one with the fewest is
    #    used.
    # INDEXED BY and NOT INDEXED bind SQLite to the choice, which it would otherwise make by itself.
    if query.is_empty:
        return ()
    sources: list[EventSource] = []
    if not query.is_of_calls:
        sources += _event_sources(connection, query)
    if query.kinds is None or not _CALLS.isdisjoint(query.kinds):
        sources.append(_call_source(query, postings))
    return tuple(sources)


def read_page(connection: sqlite3.Connection, found: Plan, *, limit: int, newest: bool) -> Rows:
    """Return the oldest, or the newest, matching events, in order of their numbers."""
    read = (one.read(connection, limit=limit, newest=newest) for one in found)
    rows = sorted(chain.from_iterable(read), key=itemgetter(0))
    return rows[max(len(rows) - limit, 0) :] if newest else rows[:limit]


def count_events(connection: sqlite3.Connection, found: Plan, *, most: int) -> int:
    """Return the number of matching events, at most `most`."""
    total = 0
    for source in found:
        if total >= most:
            break
        total += source.count(connection, most=most - total)
    return total


def explain_search(connection: sqlite3.Connection, found: Plan) -> list[str]:
    """Return a description of the search."""
    return [line for source in found for line in source.explain(connection)]


def _call_source(query: Query, postings: ColumnIndex) -> EventSource:
    leads = list(query.leads)
    kinds = _CALLS if query.kinds is None else _CALLS.intersection(query.kinds)
    if kinds != _CALLS:
        (code,) = kinds
        kind = Condition("kind = ?", (code,))
        leads.append(Lead("kind", OneOf(kinds), kind, None))
    if not leads:
        return _sql_source("call NOT INDEXED", (*query.rest, *_sequence_bounds(query)))
    counts = [_count_lead(postings, query, one) for one in leads]
    fewest = min(range(len(leads)), key=counts.__getitem__)
    others = [one.condition for at, one in enumerate(leads) if at != fewest]
    return _CallSource(postings, query, leads[fewest], (*others, *query.rest), counts[fewest])


def _count_lead(postings: ColumnIndex, query: Query, lead: Lead) -> int:
    return postings.count(
        lead.column, lead.look, since=query.since, before=query.before, most=COUNT_MAX + 1
    )


def _event_sources(connection: sqlite3.Connection, query: Query) -> list[EventSource]:
    """Return the sources of all events but traced calls: one, or one for each kind."""
    conditions = [one.condition for one in query.leads] + [*query.rest, *_sequence_bounds(query)]
    kinds = query.kinds
    searches: list[list[EventSource]] = []
    for lead in query.leads:
        also = [] if kinds is None else [Condition(f"kind IN ({','.join(map(str, kinds))})", ())]
        searches.append([_sql_source(f"event INDEXED BY {lead.by}", (*conditions, *also))])
    if kinds is not None:
        own = [Condition("kind = ?", (code,)) for code in kinds]
        searches.append(
            [_sql_source("event INDEXED BY event_kind", (one, *conditions)) for one in own]
        )
    if not searches:
        return [_sql_source("event NOT INDEXED", conditions)]
    if len(searches) == 1:
        return searches[0]
    alone = [
        _sql_source(f"event INDEXED BY {lead.by}", (lead.condition, *_sequence_bounds(query)))
        for lead in query.leads
    ]
    counts = [one.count(connection, most=_MANY) for one in alone]
    if kinds is not None:
        kind = (
            _sql_source(
                "event INDEXED BY event_kind",
                (Condition("kind = ?", (code,)), *_sequence_bounds(query)),
            )
            for code in kinds
        )
        counts.append(sum(one.count(connection, most=_MANY) for one in kind))
    return searches[min(range(len(searches)), key=counts.__getitem__)]


def _sequence_bounds(query: Query) -> tuple[Condition, ...]:
    return (Condition("seq > ? AND seq < ?", (query.since, query.before)),)


def _sql_source(by: str, conditions: Sequence[Condition]) -> _SqlSource:
    where = " AND ".join(one.sql for one in conditions)
    return _SqlSource(by, where, tuple(value for one in conditions for value in one.values))
