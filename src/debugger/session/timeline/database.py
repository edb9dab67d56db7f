"""Stores, changes and reads events."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from debugger.model.events import Event, EventKind, OutputData, OutputStream
from debugger.session.timeline import search_plan
from debugger.session.timeline.column_index import ColumnIndex
from debugger.session.timeline.event_rows import (
    CALL_COLUMNS,
    CODES,
    COLUMNS,
    CallRows,
    Columns,
    EventRow,
    NameTable,
)
from debugger.session.timeline.filters import Filters, build_query
from debugger.session.timeline.timeline_folder import TimelineFolder

_SCHEMA = f"""
CREATE TABLE event ({COLUMNS});
CREATE INDEX event_kind ON event (kind, seq);
CREATE INDEX event_thread ON event (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX event_place ON event (place, seq) WHERE place IS NOT NULL;
CREATE TABLE call ({CALL_COLUMNS});
"""
# The cache holds a default timeline whole: only traces make the file be read again.
_CACHE_KIB = 32 * 2**10
_LOG_SIZE = 16 * 2**20
_PAGE = 4096
_WIDTHS = {"event": COLUMNS.count(",") + 1, "call": CALL_COLUMNS.count(",") + 1}
# One statement for many rows: SQLite then works without Python's lock, and three times as fast.
_TOGETHER = (400, 20, 1)
_OUTPUT, _LOGPOINT = CODES[EventKind.OUTPUT], CODES[EventKind.LOGPOINT]
_CONSOLE = msgspec.json.encode(OutputData(OutputStream.CONSOLE))


class EventDatabase:
    """The events of one timeline, in a file of its own or, without a folder, a temporary one.

    One thread at a time uses it.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._folder = None if parent is None else TimelineFolder(parent)
        self._names = NameTable()
        self._postings = ColumnIndex()
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
            f"PRAGMA wal_autocheckpoint={_LOG_SIZE // _PAGE};"
            # After a crash of the machine nobody reads the file, and what is deleted from it goes
            # with it: nothing waits for the disk, and nothing is overwritten with zeros.
            "PRAGMA synchronous=OFF; PRAGMA secure_delete=OFF;"
            f"PRAGMA page_size={_PAGE}; PRAGMA cache_size=-{_CACHE_KIB}; PRAGMA temp_store=MEMORY;"
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

    def write(self, rows: Iterable[EventRow], *, without: Iterable[int], output_upto: int) -> None:
        """Store `rows`, delete the events numbered `without` and the output up to a number."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM event WHERE kind = ? AND seq <= ?", (_OUTPUT, output_upto)
            )
            connection.executemany("DELETE FROM event WHERE seq = ?", ((seq,) for seq in without))
            connection.executemany(
                _insert_statement("event", 1), map(self._names.row_columns, rows)
            )

    def write_calls(self, calls: Iterable[CallRows], *, without: Iterable[tuple[int, int]]) -> None:
        """Store calls and returns, and delete the oldest: all up to the last in ranges."""
        made = [self._names.call_columns(one) for one in calls]
        floor = max((last for _, last in without), default=0)
        with self._transaction() as connection:
            if floor:
                connection.execute("DELETE FROM call WHERE seq <= ?", (floor,))
            for columns in made:
                _insert_calls(connection, columns)
        # What the disk did not take is not there to be found.
        self._postings.forget(floor)
        for columns in made:
            self._postings.add(columns)

    def amend(self, seq: int, row: EventRow) -> None:
        """Replace a stored event; one that is not there stays away."""
        with self._transaction() as connection:
            if connection.execute("DELETE FROM event WHERE seq = ?", (seq,)).rowcount:
                connection.execute(_insert_statement("event", 1), self._names.row_columns(row))

    def plan_search(self, filters: Filters, *, since: int, before: int) -> search_plan.Plan:
        """Return how to find events with since < seq < before."""
        asked = build_query(filters, since=since, before=before, places=self._names.places)
        return search_plan.plan_search(self._connection, asked, self._postings)

    def explain_plan(self, found: search_plan.Plan) -> list[str]:
        """Return what SQLite says of how it does the statements of a plan."""
        return search_plan.explain_search(self._connection, found)

    def count_found(self, found: search_plan.Plan) -> int:
        """Return how many events a plan finds, up to one more than `COUNT_MAX`."""
        return search_plan.count_events(self._connection, found, most=search_plan.COUNT_MAX + 1)

    def events(self, found: search_plan.Plan, *, limit: int, newest: bool) -> list[Event]:
        """Return the oldest, or the newest, of the events that a plan finds; oldest first."""
        rows = search_plan.read_page(self._connection, found, limit=limit, newest=newest)
        return [self._names.read_event(row) for row in rows]

    def output(self, *, since: int) -> Iterator[tuple[int, str, bytes, int]]:
        """Yield the output after `since`, oldest first: its number, text, data and head.

        What a logpoint printed is a line of the debugger's own.
        """
        sql = (
            "SELECT seq, text, CASE kind WHEN ? THEN data ELSE ? END, head FROM event"
            " WHERE kind IN (?, ?) AND seq > ? ORDER BY seq"
        )
        values = (_OUTPUT, _CONSOLE, _OUTPUT, _LOGPOINT, since)
        with closing(self._connection.execute(sql, values)) as cursor:
            yield from cursor

    def count_logged(self, *, since: int) -> int:
        """Return how many texts of logpoints are after `since`."""
        sql = "SELECT count(*) FROM event WHERE kind = ? AND seq > ?"
        return self._read_number(sql, (_LOGPOINT, since)) or 0

    def before_last_lines(self, count: int, *, since: int) -> int:
        """Return the number after which all pieces of the last `count` lines after `since` are."""
        if count < 1:
            last = max(self._read_number(f"SELECT max(seq) FROM {one}", ()) or 0 for one in _WIDTHS)  # noqa: S608 - constants
            return last or since
        output = (_OUTPUT, _LOGPOINT, since)
        start = self._read_number(
            "SELECT seq FROM event WHERE kind IN (?, ?) AND seq > ? AND head = seq"
            " ORDER BY seq DESC LIMIT 1 OFFSET ?",
            (*output, count - 1),
        )
        if start is None:
            return since
        # Streams interleave: a line that ends after `start` may have begun before it.
        head = self._read_number(
            "SELECT min(head) FROM event WHERE kind IN (?, ?) AND seq > ? AND seq >= ?",
            (*output, start),
        )
        return since if head is None else max(head - 1, since)

    def first_from(self, time_ns: int, *, after: int) -> int | None:
        """Return the number of the first event after a number that is not before a time."""
        found = [
            self._read_number(
                f"SELECT seq FROM {table} NOT INDEXED"  # noqa: S608 - constants
                " WHERE seq > ? AND time_ns >= ? ORDER BY seq LIMIT 1",
                (after, time_ns),
            )
            for table in _WIDTHS
        ]
        return min((one for one in found if one is not None), default=None)

    def _read_number(self, sql: str, values: Sequence[object]) -> int | None:
        row: Sequence[Any] | None = self._connection.execute(sql, values).fetchone()
        return None if row is None else row[0]


def _insert_calls(connection: sqlite3.Connection, columns: Columns) -> None:
    width, count = len(columns), len(columns[0])
    values: list[Any] = [None] * (width * count)
    for at, column in enumerate(columns):
        values[at::width] = column
    start = 0
    for rows in _TOGETHER:
        statement, size = _insert_statement("call", rows), rows * width
        while start + size <= len(values):
            connection.execute(statement, values[start : start + size])
            start += size


@cache
def _insert_statement(table: str, rows: int) -> str:
    row = f"({','.join('?' * _WIDTHS[table])})"
    return f"INSERT INTO {table} VALUES {','.join([row] * rows)}"  # noqa: S608 - placeholders alone
