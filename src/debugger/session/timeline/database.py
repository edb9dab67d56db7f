"""Stores, changes and reads events in a SQLite file; writes traced calls in a thread."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
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
from debugger.session.timeline.search_plan import Filters, build_query

_FILE = "events.db"


class TimelineFolder:
    """The private folder of one timeline, readable by its owner only, and locked while in use."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = Path(tempfile.mkdtemp(prefix="t-", dir=parent))
        self._lock = _lock_file(self._path)
        self.file = self._path / _FILE
        try:
            # SQLite gives what it makes beside the file the file's own mode.
            os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except OSError:  # the disk is full
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the folder, and its parent if that is empty."""
        shutil.rmtree(self._path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        with suppress(OSError):
            self._path.parent.rmdir()


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of dead daemons, which nobody has locked."""
    with suppress(OSError):
        for path in parent.iterdir():
            lock = _lock_file(path)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)
        parent.rmdir()


def _lock_file(path: Path) -> int | None:
    """Lock a folder for the lifetime of the descriptor; None if somebody else has locked it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # The kernel releases the lock when the process dies, however it dies.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


_SCHEMA = f"""
CREATE TABLE event ({COLUMNS});
CREATE INDEX event_kind ON event (kind, seq);
CREATE INDEX event_thread ON event (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX event_place ON event (place, seq) WHERE place IS NOT NULL;
CREATE TABLE call ({CALL_COLUMNS});
"""
# The cache holds a default timeline whole: only traces make the file be read again.
_CACHE_KIB = 32 * 2**10
_LOG_SIZE = 16 * 2**20  # bytes of the write-ahead log
_PAGE = 4096
_WIDTHS = {"event": COLUMNS.count(",") + 1, "call": CALL_COLUMNS.count(",") + 1}
# One statement for many rows: SQLite then works without Python's lock, and three times as fast.
_TOGETHER = (400, 20, 1)
_OUTPUT, _LOGPOINT = CODES[EventKind.OUTPUT], CODES[EventKind.LOGPOINT]
_CONSOLE = msgspec.json.encode(OutputData(OutputStream.CONSOLE))


class EventDatabase:
    """The events of one timeline, in a file or, without a folder, in a temporary database.

    Only one thread may use it at a time.
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
        try:
            self._create_tables("MEMORY" if self._folder is None else "WAL")
        except sqlite3.Error:  # the disk is full
            self.close()
            raise

    def _create_tables(self, journal: str) -> None:
        self._connection.executescript(
            # After a crash of the machine nobody reads the file, and what is deleted from it goes
            # with it: nothing waits for the disk, and nothing is overwritten with zeros. First of
            # all, as the change to a log waits for the disk four times otherwise.
            "PRAGMA synchronous=OFF; PRAGMA secure_delete=OFF;"
            # Nobody else reads the file, so what the log is shared by need not be a file.
            "PRAGMA locking_mode=EXCLUSIVE;"
            f"PRAGMA journal_mode={journal}; PRAGMA journal_size_limit={_LOG_SIZE};"
            f"PRAGMA wal_autocheckpoint={_LOG_SIZE // _PAGE};"
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
        # isolation_level=None: Python's own implicit transactions are off.
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
        """Store calls and returns, and delete the oldest: ranges of numbers."""
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
        """Replace a stored event; a deleted one is not restored."""
        with self._transaction() as connection:
            if connection.execute("DELETE FROM event WHERE seq = ?", (seq,)).rowcount:
                connection.execute(_insert_statement("event", 1), self._names.row_columns(row))

    def plan_search(self, filters: Filters, *, since: int, before: int) -> search_plan.Plan:
        """Return a plan for finding events with since < seq < before."""
        names = self._names
        query = build_query(
            filters, since=since, before=before, places=names.places, sessions=names.sessions
        )
        return search_plan.plan_search(self._connection, query, self._postings)

    def explain_plan(self, found: search_plan.Plan) -> list[str]:
        """Return SQLite's query plans for the statements of a search."""
        return search_plan.explain_search(self._connection, found)

    def count_found(self, found: search_plan.Plan) -> int:
        """Return the number of events of a search, at most `COUNT_MAX` + 1."""
        return search_plan.count_events(self._connection, found, most=search_plan.COUNT_MAX + 1)

    def events(self, found: search_plan.Plan, *, limit: int, newest: bool) -> list[Event]:
        """Return the oldest, or the newest, events of a search; oldest first."""
        rows = search_plan.read_page(self._connection, found, limit=limit, newest=newest)
        return [self._names.read_event(row) for row in rows]

    def output(self, *, since: int) -> Iterator[tuple[int, str, bytes, int]]:
        """Yield the output after `since`, oldest first: its number, text, data and head.

        A logpoint's text is a line of the debugger's own.
        """
        sql = (
            "SELECT seq, text, CASE kind WHEN ? THEN data ELSE ? END, head FROM event"
            " WHERE kind IN (?, ?) AND seq > ? ORDER BY seq"
        )
        values = (_OUTPUT, _CONSOLE, _OUTPUT, _LOGPOINT, since)
        with closing(self._connection.execute(sql, values)) as cursor:
            yield from cursor

    def count_logged(self, *, since: int) -> int:
        """Return the number of logpoint texts after `since`."""
        sql = "SELECT count(*) FROM event WHERE kind = ? AND seq > ?"
        return self._read_number(sql, (_LOGPOINT, since)) or 0

    def before_last_lines(self, count: int, *, since: int) -> int:
        """Return the number before all pieces of the last `count` lines after `since`."""
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
        """Return the first event after a number at or after a time."""
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


_WAITING_MAX = 16 * 2**10
_WRITE_S = 60.0  # seconds for one batch
_log = logging.getLogger(__name__)

Range = tuple[int, int]


class CallWriter:
    """Writes calls in a thread, one batch at a time; nobody else uses the database meanwhile.

    `on_lost` receives the calls that could not be written; it runs in the thread of the writer's
    caller.
    """

    def __init__(self, database: EventDatabase, on_lost: Callable[[CallRows], None]) -> None:
        self._database = database
        self._on_lost = on_lost
        self._waiting: deque[CallRows] = deque()
        self._without: list[Range] = []
        self._count = 0
        self._thread: ThreadPoolExecutor | None = None
        self._busy: Future[None] | None = None
        self._batch: list[CallRows] = []

    def add(self, calls: CallRows, *, dropped: list[Range]) -> None:
        """Schedule calls for writing, and ranges for deletion; wait if too many are queued."""
        self._waiting.append(calls)
        self._count += len(calls.passages)
        for one in dropped:
            self._drop_range(one)
        if self._busy is not None and (self._busy.done() or self._count > _WAITING_MAX):
            self.wait_until_written()
        if self._busy is None and self._waiting:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "timeline")
            batch, without = self._take_batch()
            # The event loop goes on meanwhile: SQLite releases Python's lock during a statement.
            self._busy = self._thread.submit(self._database.write_calls, batch, without=without)

    def wait_until_written(self) -> None:
        """Wait until the thread has written its batch (bounded)."""
        busy, self._busy = self._busy, None
        if busy is not None:
            self._run_writes(lambda: busy.result(_WRITE_S))

    def write_all(self) -> None:
        """Write everything in the calling thread."""
        self.wait_until_written()
        if self._waiting or self._without:
            batch, without = self._take_batch()
            self._run_writes(lambda: self._database.write_calls(batch, without=without))

    def close(self) -> None:
        """End the thread."""
        self.wait_until_written()
        if self._thread is not None:
            self._thread.shutdown()

    def _run_writes(self, write: Callable[[], None]) -> None:
        try:
            write()
        except sqlite3.Error:
            # The disk is full: what the program did is lost, what it does goes on being told.
            _log.exception("traced calls could not be written")
            for calls in self._batch:
                self._on_lost(calls)
        self._batch = []

    def _take_batch(self) -> tuple[list[CallRows], list[Range]]:
        self._batch, without = list(self._waiting), self._without
        self._waiting.clear()
        self._without = []
        self._count = 0
        return self._batch, without

    def _drop_range(self, one: Range) -> None:
        if self._waiting and self._waiting[0].first == one[0]:
            self._count -= len(self._waiting.popleft().passages)
        else:
            self._without.append(one)
