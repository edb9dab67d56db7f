"""What happened in a family of sessions, and what has a reader not seen yet?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Any

import msgspec

from debugger.core.events import Event, Kind, Stream
from debugger.timeline.database import Database, Query, Row, output_row, storable
from debugger.timeline.kept import Drops, Limits, OutputKept, RecordsKept
from debugger.timeline.lines import MAX_LINE, Splitter
from debugger.timeline.readings import Line, Lines, Page, join
from debugger.timeline.waiters import Waiters

MAX_PAGE = 500
_CHUNK = 64 * 2**10
_MAX_WAITING = 32 * 2**10
_MAX_WAITING_SIZE = 32 * 2**20
_INT64 = range(-(2**63), 2**63)


class Timeline:
    """The bounded, append-only record of a family of sessions, used by one event loop.

    The newest `max_events` lines of output and `max_bytes` of their text are kept, and as much of
    the other events: traces are dropped first, crash and exit never. `max_line`: characters.
    """

    def __init__(
        self,
        max_events: int = 10_000,
        max_bytes: int = 10 * 2**20,
        clock: Callable[[], int] = time.monotonic_ns,
        *,
        max_line: int = MAX_LINE,
    ) -> None:
        limits = Limits(max_events, max_bytes)
        self._clock = clock
        self._database = Database()
        self._drops = Drops()
        self._output = OutputKept(limits, self._drops)
        self._records = RecordsKept(limits, self._drops)
        self._splitter = Splitter(width=max_line)
        self._seq = 0
        self._rows: dict[int, Row] = {}
        self._rows_size = 0
        self._lost: list[int] = []
        self._waiters = Waiters()
        self._is_closed = False

    def append(
        self,
        kind: Kind,
        text: str = "",
        *,
        session: str,
        thread: int | None = None,
        function: str | None = None,
        file: str | None = None,
        line: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> int:
        """Add an event other than output and return its number.

        Raises: ValueError for output, which `append_output` takes, and for what cannot be stored:
        a thread or line beyond 64 bits, data with broken text; TypeError for data not of JSON.
        """
        if kind is Kind.OUTPUT:
            raise ValueError("output is appended by append_output")
        if any(number is not None and number not in _INT64 for number in (thread, line)):
            raise ValueError(f"thread {thread} or line {line} does not fit 64 bits")
        seq = self._seq + 1
        row = Row(
            seq=seq,
            time_ns=self._clock(),
            kind=kind.value,
            session=session,
            thread=thread,
            function=None if function is None else storable(function),
            file=None if file is None else storable(file),
            line=line,
            text=storable(text),
            data=msgspec.json.encode(data or {}),
            head=seq,
        )
        self._seq = seq
        self._rows[seq] = row
        self._rows_size += row.size
        for lost in self._records.add(seq, kind, row.size):
            if lost in self._rows:
                self._rows_size -= self._rows.pop(lost).size
            else:
                self._lost.append(lost)
        self._limit_waiting()
        self._waiters.wake(kind)
        return seq

    def append_output(self, stream: Stream, text: str, *, session: str) -> None:
        """Add a chunk of output: an event for each line that it completes.

        A last line without a newline is shown to readers, and goes on with the next chunk.
        """
        text = storable(text)
        for start in range(0, len(text), _CHUNK):
            chunk = text[start : start + _CHUNK]
            for block in self._splitter.feed(
                stream, chunk, session=session, first=self._seq + 1, time_ns=self._clock()
            ):
                self._seq += block.count
                self._output.add(block)
            self._limit_waiting()
        self._waiters.wake(Kind.OUTPUT)

    def end_output(self, *, session: str) -> None:
        """End the unfinished lines of a session whose program is over; a restart begins anew."""
        self._show_unfinished()
        self._splitter.forget(session)

    def clear_output(self) -> int:
        """Forget all output, and that any was dropped; return how many lines there were."""
        self._show_unfinished()
        self._splitter.forget()
        cleared = self._output.clear()
        self._write()
        return cleared

    def cursor(self) -> int:
        """Return the number of the last event: what comes later is after this cursor."""
        self._show_unfinished()
        return self._seq

    def since_time_ns(self, time_ns: int) -> int:
        """Return the cursor after which every kept event from that time of the clock on is."""
        self._settle()
        return self._database.last_before(max(time_ns, 0))

    def events(
        self,
        *,
        since: int = 0,
        before: int | None = None,
        kinds: Collection[Kind] | None = None,
        function: str | None = None,
        thread: int | None = None,
        text: str | None = None,
        file: str | None = None,
        until_ns: int | None = None,
        limit: int = 50,
        newest: bool = False,
    ) -> Page:
        """Return the events with since < seq < before that pass every filter, oldest first.

        `function` is a glob on the whole name, `file` a path or the end of one, `text` a part of
        the text; all mind the case. `until_ns` is the last time of the clock that is asked for.
        Of more than `limit` (at most 500) the oldest are returned, or the `newest`; go on with
        `since` at `next`, or backwards with `before` at the first one's number. `dropped` counts
        up to `next`.
        """
        self._settle()
        since = min(max(since, 0), self._seq)
        before = None if before is None else min(max(before, 0), self._seq + 1)
        if until_ns is not None:
            until_ns = min(max(until_ns, 0), _INT64[-1])
        query = Query(since, before, kinds, function, thread, text, file, until_ns)
        limit = min(max(limit, 0), MAX_PAGE)
        found = self._database.events(query, limit=limit, newest=newest)
        total = self._database.count(query)
        end = self._seq if before is None else max(since, before - 1)
        if len(found) < total and not newest:
            end = found[-1].seq if found else since
        return Page(found, end, self._drops.count(kinds, after=since, upto=end), total)

    def lines(self, *, since: int = 0, limit: int | None = None, tail: int | None = None) -> Lines:
        """Return the output after `since`, its pieces joined to lines.

        All lines, or at most the first `limit`, or the last `tail`; `dropped` counts up to `next`.
        Raises: ValueError when both are given.
        """
        if limit is not None and tail is not None:
            raise ValueError("either the first lines or the last, not both")
        self._settle()
        start = since = min(max(since, 0), self._seq)
        if tail is not None:
            start = self._database.before_last_lines(min(tail, self._seq), since=since)
        found: dict[int, Line] = {}
        read, end = since, self._seq
        for row in self._database.output(since=start):
            if len(found) == limit and row.head not in found:
                end = read
                break
            # A joined line moves to the end: lines stand in the order of their last pieces.
            found[row.head] = join(found.pop(row.head, None), row)
            read = row.seq
        lines = list(found.values())
        if tail is not None:
            lines = lines[max(0, len(lines) - tail) :]
        return Lines(lines, end, self._drops.count({Kind.OUTPUT}, after=since, upto=end))

    async def wait(self, after: int, kinds: Collection[Kind], timeout: float) -> Event | None:  # noqa: ASYNC109 - the bound is part of the answer
        """Return the first event after a cursor of one of the kinds, or None.

        None: `timeout` seconds went by, or the timeline was closed.
        """
        wanted = frozenset(kinds)
        try:
            async with asyncio.timeout(timeout):
                while not self._is_closed:
                    if (event := self._first(after, wanted)) is not None:
                        return event
                    await self._waiters.appended(wanted)
        except TimeoutError:
            # The event may have come in the same turn of the loop as the time-out.
            return None if self._is_closed else self._first(after, wanted)
        return None

    def close(self) -> None:
        """Delete everything; who waits gets None."""
        self._is_closed = True
        self._waiters.wake(*Kind)
        self._database.close()

    def _first(self, after: int, kinds: frozenset[Kind]) -> Event | None:
        self._settle()
        query = Query(after, kinds=kinds)
        return next(iter(self._database.events(query, limit=1, newest=False)), None)

    def _show_unfinished(self) -> None:
        for block in self._splitter.show(first=self._seq + 1, time_ns=self._clock()):
            self._seq += block.count
            self._output.add(block)

    def _settle(self) -> None:
        self._show_unfinished()
        self._write()

    def _write(self) -> None:
        rows = [output_row(piece) for piece in self._output.take()]
        rows += self._rows.values()
        self._database.write(rows, without=self._lost, output_upto=self._output.floor)
        self._rows.clear()
        self._lost.clear()
        self._rows_size = 0

    def _limit_waiting(self) -> None:
        waiting = len(self._rows) + len(self._lost) + self._output.waiting
        size = self._rows_size + self._output.waiting_size
        if waiting > _MAX_WAITING or size > _MAX_WAITING_SIZE:
            self._write()
