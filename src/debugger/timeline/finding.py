"""How are events found fast: which index, and in which order are its parts read?"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from operator import itemgetter
from typing import Any, NamedTuple

from debugger.timeline.asked import Condition, Driver, Query, together
from debugger.timeline.rows import BLOCK_BITS

COUNT_MAX = 10_000
"""So many events are counted; that there are more is said."""

_MANY = 1_000


class Part(NamedTuple):
    """One statement: what it reads by, and the WHERE, whose values are `values`."""

    by: str
    where: str
    values: tuple[object, ...]

    def reading(self, *, newest: bool) -> str:
        """Return the statement that reads the first, or the last, of its events."""
        # The numbers first, which most indexes hold: only what is shown is read whole.
        order = "DESC" if newest else "ASC"
        numbers = f"SELECT seq FROM event {self._from()} ORDER BY seq {order} LIMIT ?"  # noqa: S608 - constants
        return f"SELECT * FROM event WHERE seq IN ({numbers})"  # noqa: S608 - constants

    def counting(self) -> str:
        """Return the statement that counts its events up to a number."""
        return f"SELECT count(*) FROM (SELECT 1 FROM event {self._from()} LIMIT ?)"  # noqa: S608 - constants

    def _from(self) -> str:
        return f"{self.by} WHERE {self.where}"


class Plan(NamedTuple):
    """The parts of a search: one after the other, or (`is_merged`) each as old as the others."""

    parts: tuple[Part, ...]
    is_merged: bool = False


def plan(connection: sqlite3.Connection, query: Query) -> Plan:
    """Choose the index that leaves the fewest events to look at."""
    if query.is_empty:
        return Plan(())
    if not query.drivers:
        return Plan((_in_order("NOT INDEXED", query, query.rest),))
    searches = [_Search(connection, query, drivers) for drivers in query.drivers]
    return min(searches, key=lambda one: one.estimate).plan()


def page(
    connection: sqlite3.Connection, found: Plan, *, limit: int, newest: bool
) -> list[Sequence[Any]]:
    """Return the oldest, or the newest, of the events that are found; oldest first."""
    rows: list[Sequence[Any]] = []
    parts = found.parts[::-1] if newest else found.parts
    for part in parts:
        room = limit if found.is_merged else limit - len(rows)
        if room <= 0:
            break
        with closing(
            connection.execute(part.reading(newest=newest), (*part.values, room))
        ) as cursor:
            rows += cursor
    rows.sort(key=itemgetter(0), reverse=newest)
    rows = rows[:limit]
    return rows[::-1] if newest else rows


def count(connection: sqlite3.Connection, found: Plan, *, most: int) -> int:
    """Return how many events are found, or `most` when there are more."""
    total = 0
    for part in found.parts:
        if total >= most:
            break
        values = (*part.values, most - total)
        total += connection.execute(part.counting(), values).fetchone()[0]
    return total


class _Search:
    """A search by one index; each of several drivers (kinds) is looked up in turn."""

    def __init__(
        self, connection: sqlite3.Connection, query: Query, drivers: tuple[Driver, ...]
    ) -> None:
        self._query = query
        self._drivers = drivers
        self._blocks = {
            one.column: _blocks(connection, one, query) for one in drivers if one.by_block
        }
        alone = Plan(self.parts((), is_few=True))
        self.estimate = count(connection, alone, most=_MANY)

    def plan(self) -> Plan:
        """Return the parts of the search, with all other conditions of the query."""
        query = self._query
        others = [together(one) for one in query.drivers if one is not self._drivers]
        parts = self.parts((*others, *query.rest), is_few=self.estimate < _MANY)
        return Plan(parts, is_merged=len(self._drivers) > 1)

    def parts(self, others: Sequence[Condition], *, is_few: bool) -> tuple[Part, ...]:
        """Return the statements; where there are few events, one finds those of all blocks."""
        parts: list[Part] = []
        for driver in self._drivers:
            conditions = (driver.condition, *others)
            index = f"INDEXED BY {driver.name}"
            if not driver.by_block:
                parts.append(_in_order(index, self._query, conditions))
                continue
            blocks = self._blocks[driver.column]
            groups = [blocks] if is_few else [[block] for block in blocks]
            parts += [
                _in_order(index, self._query, (_in_blocks(group), *conditions))
                for group in groups
                if group
            ]
        return tuple(parts)


def _in_blocks(blocks: list[int]) -> Condition:
    if len(blocks) == 1:
        return Condition("block = ?", (blocks[0],))
    return Condition(f"block IN ({','.join(map(str, blocks))})", ())


def _in_order(by: str, query: Query, conditions: Sequence[Condition]) -> Part:
    where = " AND ".join([*(one.sql for one in conditions), "seq > ?", "seq < ?"])
    values = tuple(value for one in conditions for value in one.values)
    return Part(by, where, (*values, query.since, query.before))


def _blocks(connection: sqlite3.Connection, driver: Driver, query: Query) -> list[int]:
    """Return the blocks that an index knows, each found by one look into it."""
    first, last = (query.since + 1) >> BLOCK_BITS, (query.before - 1) >> BLOCK_BITS
    nearest = (
        f"(SELECT min(block) FROM event INDEXED BY {driver.name}"  # noqa: S608 - constants
        f" WHERE {driver.column} IS NOT NULL AND block"
    )
    sql = f"""WITH RECURSIVE known(n) AS (
        SELECT {nearest} >= ?) UNION ALL SELECT {nearest} > n) FROM known WHERE n < ?
    ) SELECT n FROM known WHERE n <= ?"""  # noqa: S608 - the same
    return [row[0] for row in connection.execute(sql, (first, last, last))]
