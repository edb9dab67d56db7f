"""Plans how to find events fast: the rarest condition first, and the order of reading."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from operator import itemgetter
from typing import Any, Protocol

import msgspec

from debugger.core.events import Kind
from debugger.timeline.asked import Condition, Lead, Query
from debugger.timeline.postings import Among, Postings
from debugger.timeline.rows import CODES

COUNT_MAX = 10_000
"""So many events are counted; that there are more is said."""

_MANY = 1_000
_CALLS = frozenset({CODES[Kind.FUNCTION_ENTER], CODES[Kind.FUNCTION_EXIT]})

Rows = list[Sequence[Any]]


class Source(Protocol):
    """Events of one sort that are looked for: the calls, or the others, some or all kinds."""

    def read(self, connection: sqlite3.Connection, *, limit: int, newest: bool) -> Rows:
        """Return the oldest, or the newest, of its events, in any order."""
        ...

    def count(self, connection: sqlite3.Connection, *, most: int) -> int:
        """Return how many events it has, or `most` when there are more."""
        ...

    def explain(self, connection: sqlite3.Connection) -> list[str]:
        """Return how it is read, in SQLite's words where that reads it."""
        ...


Plan = tuple[Source, ...]
"""The sources of what is looked for: each has events as old as the others'."""


class _Part(msgspec.Struct, frozen=True):
    """One statement: what it reads by, and the WHERE, whose values are `values`."""

    by: str
    where: str
    values: tuple[object, ...]

    def _reading(self, *, newest: bool) -> str:
        # The numbers first, which most indexes hold: only what is shown is read whole.
        order = "DESC" if newest else "ASC"
        numbers = f"SELECT seq FROM {self._from()} ORDER BY seq {order} LIMIT ?"  # noqa: S608 - constants
        return f"SELECT * FROM {self.by.split()[0]} WHERE seq IN ({numbers})"  # noqa: S608 - constants

    def _counting(self) -> str:
        return f"SELECT count(*) FROM (SELECT 1 FROM {self._from()} LIMIT ?)"  # noqa: S608 - constants

    def _from(self) -> str:
        return f"{self.by} WHERE {self.where}"

    def read(self, connection: sqlite3.Connection, *, limit: int, newest: bool) -> Rows:
        sql = self._reading(newest=newest)
        with closing(connection.execute(sql, (*self.values, limit))) as cursor:
            return cursor.fetchall()

    def count(self, connection: sqlite3.Connection, *, most: int) -> int:
        found: int = connection.execute(self._counting(), (*self.values, most)).fetchone()[0]
        return found

    def explain(self, connection: sqlite3.Connection) -> list[str]:
        told = []
        for sql in (self._reading(newest=False), self._reading(newest=True), self._counting()):
            rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (*self.values, 1))
            told += [row[3] for row in rows]
        return told


class _Calls:
    """Calls that are looked up by what leads to the fewest, and are told by all else."""

    def __init__(
        self, postings: Postings, query: Query, lead: Lead, others: Sequence[Condition], count: int
    ) -> None:
        # The count is exact up to one more than COUNT_MAX, and no more is ever asked for.
        self._postings = postings
        self._query = query
        self._lead = lead
        self._others = others
        self._estimate = count

    def _numbers(self, *, newest: bool) -> Iterator[list[int]]:
        """Yield the numbers of what may be asked for; those of all blocks at once if few."""
        since, before, lead = self._query.since, self._query.before, self._lead
        found = self._postings.numbers(
            lead.column, lead.look, since=since, before=before, is_backwards=newest
        )
        if self._estimate >= _MANY:
            yield from found
        elif few := sorted(chain.from_iterable(found)):
            yield few

    def _part(self, numbers: list[int]) -> _Part:
        if len(numbers) < _MANY:
            listed = Condition(f"seq IN ({','.join(map(str, numbers))})", ())
            return _part("call", (listed, *self._others))
        within = Condition("seq >= ? AND seq <= ?", (numbers[0], numbers[-1]))
        return _part("call NOT INDEXED", (within, self._lead.condition, *self._others))

    def read(self, connection: sqlite3.Connection, *, limit: int, newest: bool) -> Rows:
        rows: Rows = []
        for numbers in self._numbers(newest=newest):
            room = limit - len(rows)
            if room <= 0:
                break
            some = numbers
            if not self._others:
                some = numbers[-room:] if newest else numbers[:room]
            rows += self._part(some).read(connection, limit=room, newest=newest)
        return rows

    def count(self, connection: sqlite3.Connection, *, most: int) -> int:
        if not self._others:
            return min(self._estimate, most)
        total = 0
        for numbers in self._numbers(newest=False):
            if total >= most:
                break
            total += self._part(numbers).count(connection, most=most - total)
        return total

    def explain(self, connection: sqlite3.Connection) -> list[str]:
        told = [f"LOOK call BY {self._lead.column} {self._lead.look}"]
        for numbers in self._numbers(newest=False):
            return told + self._part(numbers).explain(connection)
        return told


def plan(connection: sqlite3.Connection, query: Query, postings: Postings) -> Plan:
    """Choose what leads to the fewest events to look at."""
    if query.is_empty:
        return ()
    sources: list[Source] = []
    if not query.is_of_calls:
        sources += _events(connection, query)
    if query.kinds is None or not _CALLS.isdisjoint(query.kinds):
        sources.append(_calls(query, postings))
    return tuple(sources)


def page(connection: sqlite3.Connection, found: Plan, *, limit: int, newest: bool) -> Rows:
    """Return the oldest, or the newest, of the events that are found; oldest first."""
    read = (one.read(connection, limit=limit, newest=newest) for one in found)
    rows = sorted(chain.from_iterable(read), key=itemgetter(0))
    return rows[max(len(rows) - limit, 0) :] if newest else rows[:limit]


def count(connection: sqlite3.Connection, found: Plan, *, most: int) -> int:
    """Return how many events are found, or `most` when there are more."""
    total = 0
    for source in found:
        if total >= most:
            break
        total += source.count(connection, most=most - total)
    return total


def explain(connection: sqlite3.Connection, found: Plan) -> list[str]:
    """Return how the events are looked for."""
    return [line for source in found for line in source.explain(connection)]


def _calls(query: Query, postings: Postings) -> Source:
    leads = list(query.leads)
    asked = _CALLS if query.kinds is None else _CALLS.intersection(query.kinds)
    if asked != _CALLS:
        (code,) = asked
        kind = Condition("kind = ?", (code,))
        leads.append(Lead("kind", Among(asked), kind, None))
    if not leads:
        return _part("call NOT INDEXED", (*query.rest, *_bounds(query)))
    counts = [_count(postings, query, one) for one in leads]
    fewest = min(range(len(leads)), key=counts.__getitem__)
    others = [one.condition for at, one in enumerate(leads) if at != fewest]
    return _Calls(postings, query, leads[fewest], (*others, *query.rest), counts[fewest])


def _count(postings: Postings, query: Query, lead: Lead) -> int:
    return postings.count(
        lead.column, lead.look, since=query.since, before=query.before, most=COUNT_MAX + 1
    )


def _events(connection: sqlite3.Connection, query: Query) -> list[Source]:
    """Return the sources of all but the calls that a tracer told: one, or one for each kind."""
    conditions = [one.condition for one in query.leads] + [*query.rest, *_bounds(query)]
    kinds = query.kinds
    searches: list[list[Source]] = []
    for lead in query.leads:
        also = [] if kinds is None else [Condition(f"kind IN ({','.join(map(str, kinds))})", ())]
        searches.append([_part(f"event INDEXED BY {lead.by}", (*conditions, *also))])
    if kinds is not None:
        own = [Condition("kind = ?", (code,)) for code in kinds]
        searches.append([_part("event INDEXED BY event_kind", (one, *conditions)) for one in own])
    if not searches:
        return [_part("event NOT INDEXED", conditions)]
    if len(searches) == 1:
        return searches[0]
    alone = [
        _part(f"event INDEXED BY {lead.by}", (lead.condition, *_bounds(query)))
        for lead in query.leads
    ]
    counts = [one.count(connection, most=_MANY) for one in alone]
    if kinds is not None:
        kind = (
            _part("event INDEXED BY event_kind", (Condition("kind = ?", (code,)), *_bounds(query)))
            for code in kinds
        )
        counts.append(sum(one.count(connection, most=_MANY) for one in kind))
    return searches[min(range(len(searches)), key=counts.__getitem__)]


def _bounds(query: Query) -> tuple[Condition, ...]:
    return (Condition("seq > ? AND seq < ?", (query.since, query.before)),)


def _part(by: str, conditions: Sequence[Condition]) -> _Part:
    where = " AND ".join(one.sql for one in conditions)
    return _Part(by, where, tuple(value for one in conditions for value in one.values))
