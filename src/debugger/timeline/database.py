"""How are events stored and found again?"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from functools import cache
from typing import NamedTuple

import msgspec

from debugger.core.events import Event, Kind, OutputData
from debugger.timeline.lines import Piece

_SCHEMA = """
CREATE TABLE event (
    seq INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL,
    thread INTEGER, function TEXT, file TEXT, line INTEGER,
    text TEXT NOT NULL, data BLOB NOT NULL, head INTEGER NOT NULL
);
CREATE INDEX event_kind ON event (kind, seq);
"""
# The cache holds a default timeline whole: only larger ones spill to the temporary file.
_CACHE_KIB = 32 * 2**10


class Row(NamedTuple):
    """One event as it is stored; `head` is the first piece of its line, or its own `seq`."""

    seq: int
    time_ns: int
    kind: str
    session: str
    thread: int | None
    function: str | None
    file: str | None
    line: int | None
    text: str
    data: bytes
    head: int

    @property
    def size(self) -> int:
        """The bytes of the text and the data."""
        return len(self.text.encode()) + len(self.data)


def storable(text: str) -> str:
    """Replace what UTF-8 cannot hold: surrogates without a partner."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def _output_data(data: OutputData) -> bytes:
    return msgspec.json.encode(data)


def output_row(piece: Piece) -> Row:
    """Return the event of a piece of output."""
    return Row(
        seq=piece.seq,
        time_ns=piece.time_ns,
        kind=Kind.OUTPUT.value,
        session=piece.session,
        thread=None,
        function=None,
        file=None,
        line=None,
        text=piece.text,
        data=_output_data(OutputData(piece.stream, piece.continues, piece.open)),
        head=piece.head,
    )


class Query(msgspec.Struct, frozen=True):
    """Which events are asked for: those that pass every filter that is not None.

    `function` is a glob on the whole name; `file` a whole path or the end of one from a `/` on;
    `text` a part of the text; all mind the case. `until_ns` is a time of the clock, and included.
    """

    since: int = 0
    before: int | None = None
    kinds: Collection[Kind] | None = None
    function: str | None = None
    thread: int | None = None
    text: str | None = None
    file: str | None = None
    until_ns: int | None = None


class Database:
    """A private temporary database of events: nothing of it outlives the process."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.executescript(
            f"PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-{_CACHE_KIB};"
        )
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        """Delete the database."""
        self._connection.close()

    def write(self, rows: Iterable[Row], *, without: Iterable[int], output_upto: int) -> None:
        """Store `rows`, delete the events numbered `without` and the output up to a number."""
        connection = self._connection
        connection.execute("BEGIN")
        # On any fault the transaction is rolled back here, or the next one could not begin.
        with connection:
            connection.execute(
                "DELETE FROM event WHERE kind = ? AND seq <= ?", (Kind.OUTPUT.value, output_upto)
            )
            connection.executemany("DELETE FROM event WHERE seq = ?", ((seq,) for seq in without))
            connection.executemany("INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)

    def count(self, query: Query) -> int:
        """Return how many events the query finds."""
        where, values = _where(query)
        sql = f"SELECT count(*) FROM event WHERE {where}"  # noqa: S608 - see _where
        return self._number(sql, values) or 0

    def events(self, query: Query, *, limit: int, newest: bool) -> list[Event]:
        """Return the oldest, or the newest, of the events found; oldest first."""
        where, values = _where(query)
        order = "DESC" if newest else "ASC"
        sql = f"SELECT * FROM event WHERE {where} ORDER BY seq {order} LIMIT ?"  # noqa: S608 - see _where
        with closing(self._connection.execute(sql, [*values, limit])) as cursor:
            events = [_event(Row(*row)) for row in cursor]
        return events[::-1] if newest else events

    def output(self, *, since: int) -> Iterator[Row]:
        """Yield the output after `since`, oldest first."""
        sql = "SELECT * FROM event WHERE kind = ? AND seq > ? ORDER BY seq"
        with closing(self._connection.execute(sql, (Kind.OUTPUT.value, since))) as cursor:
            for row in cursor:
                yield Row(*row)

    def before_last_lines(self, count: int, *, since: int) -> int:
        """Return the number after which all pieces of the last `count` lines after `since` are."""
        if count < 1:
            return self._number("SELECT max(seq) FROM event", ()) or since
        output = (Kind.OUTPUT.value, since)
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

    def last_before(self, time_ns: int) -> int:
        """Return the number of the last event before a time, or 0."""
        return self._number("SELECT max(seq) FROM event WHERE time_ns < ?", (time_ns,)) or 0

    def _number(self, sql: str, values: Iterable[object]) -> int | None:
        row = self._connection.execute(sql, tuple(values)).fetchone()
        return None if row is None else row[0]


def _where(query: Query) -> tuple[str, list[object]]:
    """Return the condition, constant text with placeholders only, and its values."""
    terms = ["seq > ?"]
    values: list[object] = [query.since]
    for term, value in (
        ("seq < ?", query.before),
        ("function GLOB ?", query.function),
        # As text, because a number that is asked for may be too large for SQLite.
        ("CAST(thread AS TEXT) = ?", None if query.thread is None else str(query.thread)),
        ("instr(text, ?) > 0", query.text),
        ("time_ns <= ?", query.until_ns),
    ):
        if value is not None:
            terms.append(term)
            values.append(value)
    if query.file is not None:
        terms.append("substr('/' || file, -length(?)) = ?")
        values += [f"/{query.file.lstrip('/')}"] * 2
    if query.kinds is not None:
        terms.append(f"kind IN ({','.join('?' * len(query.kinds))})")
        values.extend(kind.value for kind in query.kinds)
    return " AND ".join(terms), values


def _event(row: Row) -> Event:
    return Event(
        row.seq,
        row.time_ns,
        Kind(row.kind),
        row.session,
        row.thread,
        row.function,
        row.file,
        row.line,
        row.text,
        msgspec.json.decode(row.data, type=dict),
    )
