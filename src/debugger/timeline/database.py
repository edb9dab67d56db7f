"""How are events stored, changed and read again?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from debugger.core.events import Event, Kind
from debugger.timeline import finding
from debugger.timeline.asked import Filters, query
from debugger.timeline.folder import Folder
from debugger.timeline.rows import CODES, COLUMNS, Calls, Names, Row

_SCHEMA = f"""
CREATE TABLE event ({COLUMNS});
CREATE INDEX event_kind ON event (kind, seq);
CREATE INDEX event_thread ON event (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX event_place ON event (block, place) WHERE place IS NOT NULL;
CREATE INDEX event_duration ON event (block, duration_ns) WHERE duration_ns IS NOT NULL;
CREATE INDEX event_number ON event (block, number) WHERE number IS NOT NULL;
"""
# The cache holds a default timeline whole: only traces make the file be read again.
_CACHE_KIB = 32 * 2**10
_LOG_SIZE = 16 * 2**20
_WIDTH = COLUMNS.count(",") + 1
# One statement for many rows: SQLite then works without Python's lock, and three times as fast.
_TOGETHER = 400
_OUTPUT = CODES[Kind.OUTPUT]


class Database:
    """The events of one timeline, in a file of its own or, without a folder, a temporary one.

    One thread at a time uses it.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._folder = None if parent is None else Folder(parent)
        self._names = Names()
        self._connection = sqlite3.connect(
            "" if self._folder is None else self._folder.file,
            isolation_level=None,
            check_same_thread=False,
        )
        journal = "MEMORY" if self._folder is None else "WAL"
        # Nobody else reads the file, so what the log is shared by need not be a file.
        self._connection.executescript(
            "PRAGMA locking_mode=EXCLUSIVE;"
            f"PRAGMA journal_mode={journal}; PRAGMA journal_size_limit={_LOG_SIZE};"
            f"PRAGMA synchronous=OFF; PRAGMA cache_size=-{_CACHE_KIB}; PRAGMA temp_store=MEMORY;"
        )
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        """Delete the database."""
        self._connection.close()
        if self._folder is not None:
            self._folder.remove()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN")
        # On any fault the transaction is rolled back here, or the next one could not begin.
        with self._connection:
            yield self._connection

    def write(self, rows: Iterable[Row], *, without: Iterable[int], output_upto: int) -> None:
        """Store `rows`, delete the events numbered `without` and the output up to a number."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM event WHERE kind = ? AND seq <= ?", (_OUTPUT, output_upto)
            )
            connection.executemany("DELETE FROM event WHERE seq = ?", ((seq,) for seq in without))
            connection.executemany(_insert(1), map(self._names.stored, rows))

    def write_calls(self, calls: Iterable[Calls], *, without: Iterable[tuple[int, int]]) -> None:
        """Store calls and returns, and delete those in ranges of numbers."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM event WHERE seq BETWEEN ? AND ?", without)
            rows = chain.from_iterable(map(self._names.stored_calls, calls))
            while together := list(islice(rows, _TOGETHER)):
                if len(together) < _TOGETHER:
                    connection.executemany(_insert(1), together)
                else:
                    connection.execute(_insert(_TOGETHER), list(chain.from_iterable(together)))

    def amend(self, seq: int, row: Row) -> None:
        """Replace a stored event; one that is not there stays away."""
        with self._transaction() as connection:
            if connection.execute("DELETE FROM event WHERE seq = ?", (seq,)).rowcount:
                connection.execute(_insert(1), self._names.stored(row))

    def plan(self, filters: Filters, *, since: int, before: int) -> finding.Plan:
        """Return how to find events with since < seq < before."""
        asked = query(filters, since=since, before=before, places=self._names.places)
        return finding.plan(self._connection, asked)

    def explain(self, found: finding.Plan) -> list[str]:
        """Return what SQLite says of how it does the statements of a plan."""
        told = []
        for part in found.parts:
            for sql in (part.reading(newest=False), part.reading(newest=True), part.counting()):
                rows = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", (*part.values, 1))
                told += [row[3] for row in rows]
        return told

    def count(self, found: finding.Plan) -> int:
        """Return how many events a plan finds, up to one more than `COUNT_MAX`."""
        return finding.count(self._connection, found, most=finding.COUNT_MAX + 1)

    def events(self, found: finding.Plan, *, limit: int, newest: bool) -> list[Event]:
        """Return the oldest, or the newest, of the events that a plan finds; oldest first."""
        rows = finding.page(self._connection, found, limit=limit, newest=newest)
        return [self._names.event(row) for row in rows]

    def output(self, *, since: int) -> Iterator[tuple[int, str, bytes, int]]:
        """Yield the output after `since`, oldest first: its number, text, data and head."""
        sql = "SELECT seq, text, data, head FROM event WHERE kind = ? AND seq > ? ORDER BY seq"
        with closing(self._connection.execute(sql, (_OUTPUT, since))) as cursor:
            yield from cursor

    def before_last_lines(self, count: int, *, since: int) -> int:
        """Return the number after which all pieces of the last `count` lines after `since` are."""
        if count < 1:
            return self._number("SELECT max(seq) FROM event", ()) or since
        output = (_OUTPUT, since)
        start = self._number(
            "SELECT seq FROM event WHERE kind = ? AND seq > ? AND head = seq"
            " ORDER BY seq DESC LIMIT 1 OFFSET ?",
            (*output, count - 1),
        )
        if start is None:
            return since
        # Streams interleave: a line that ends after `start` may have begun before it.
        head = self._number(
            "SELECT min(head) FROM event WHERE kind = ? AND seq > ? AND seq >= ?", (*output, start)
        )
        return since if head is None else max(head - 1, since)

    def first_from(self, time_ns: int, *, after: int) -> int | None:
        """Return the number of the first event after a number that is not before a time."""
        return self._number(
            "SELECT seq FROM event NOT INDEXED WHERE seq > ? AND time_ns >= ? ORDER BY seq LIMIT 1",
            (after, time_ns),
        )

    def _number(self, sql: str, values: Sequence[object]) -> int | None:
        row: Sequence[Any] | None = self._connection.execute(sql, values).fetchone()
        return None if row is None else row[0]


def _insert(rows: int) -> str:
    row = f"({','.join('?' * _WIDTH)})"
    return f"INSERT INTO event VALUES {','.join([row] * rows)}"  # noqa: S608 - placeholders alone
