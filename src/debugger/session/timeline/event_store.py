"""Stores the events of a process tree's sessions, and wakes the tasks that wait for one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import msgspec

from debugger.model.events import LASTING_KINDS, Event, EventKind, OutputStream
from debugger.model.program import CallEvent
from debugger.session.timeline.column_index import TimeIndex
from debugger.session.timeline.database import CallWriter, EventDatabase
from debugger.session.timeline.event_rows import (
    INT64,
    CallRows,
    EventRow,
    output_row,
    storable_text,
)
from debugger.session.timeline.line_splitter import MAX_LINE, LineSplitter, OutputBlock
from debugger.session.timeline.retention import (
    CallRetention,
    DroppedCounts,
    OutputRetention,
    RecordRetention,
    RetentionLimits,
)
from debugger.session.timeline.search_plan import (
    COUNT_MAX,
    EventPage,
    Filters,
    LinePage,
    LogLine,
    Plan,
    join_line,
    storable_filters,
)


class Waiters:
    """The tasks of one event loop that wait until an event of some kind is appended."""

    def __init__(self) -> None:
        self._kinds: dict[asyncio.Future[None], AbstractSet[EventKind]] = {}

    async def wait_for_append(self, kinds: AbstractSet[EventKind], seconds: float) -> None:
        """Wait for `wake` with one of the kinds, at most so many seconds."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._kinds[future] = kinds
        # asyncio.timeout would cost each step more than the wait itself.
        timer = loop.call_later(seconds, _end_wait, future)
        try:
            await future
        finally:
            timer.cancel()
            del self._kinds[future]

    def wake(self, *kinds: EventKind) -> None:
        """Resume every task that waits for one of the kinds."""
        for future, awaited in self._kinds.items():
            if not awaited.isdisjoint(kinds) and not future.done():
                future.set_result(None)


def _end_wait(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


MAX_PAGE = 500  # events
# Seconds of a wait in which nobody listens for its interruption: most steps have ended by then.
_UNWATCHED_S = 0.05
_CHUNK = 64 * 2**10  # characters of output that are split at once
# Output waits in memory up to these limits, so that fast output is written in large batches.
_MAX_WAITING = 32 * 2**10
_MAX_WAITING_SIZE = 32 * 2**20
_ALL = Filters()
_LINES = frozenset({EventKind.OUTPUT, EventKind.LOGPOINT})
_CALLS = frozenset({EventKind.FUNCTION_ENTER, EventKind.FUNCTION_EXIT})
_STORED_APART = _CALLS | {EventKind.OUTPUT}


class Timeline:
    """The bounded, append-only event store of a process tree, used by one event loop.

    The newest `max_events` lines of output and `max_bytes` of their text are kept, and as much of
    the other events: traces are dropped first, crash and exit never. Of traced calls and returns
    the newest `max_traced` and `max_traced_bytes` are kept. `max_line` is in characters. The
    database file lies in a private folder below `folder`; without one it has no name.
    """

    def __init__(
        self,
        max_events: int = 10_000,
        max_bytes: int = 10 * 2**20,
        clock: Callable[[], int] = time.monotonic_ns,
        *,
        max_line: int = MAX_LINE,
        max_traced: int = 1_000_000,
        max_traced_bytes: int = 100 * 2**20,
        folder: Path | None = None,
    ) -> None:
        limits = RetentionLimits(max_events, max_bytes)
        self._clock = clock
        self._database = EventDatabase(folder)
        self._drops = DroppedCounts()
        self._calls = CallRetention(RetentionLimits(max_traced, max_traced_bytes), self._drops)
        self._writer = CallWriter(self._database, self._not_written)
        self._times = TimeIndex()
        self._output = OutputRetention(limits, self._drops)
        self._records = RecordRetention(limits, self._drops)
        self._splitter = LineSplitter(width=max_line)
        self._seq = 0
        self._rows: dict[int, EventRow] = {}
        self._rows_size = 0
        self._lost: list[int] = []
        self._written = 0  # the number up to which no event is in `_rows` any more
        self._written_floor = 0  # the output up to it is deleted from the database
        self._newest: dict[EventKind, int] = {}  # of all kinds but calls and returns
        self._waiters = Waiters()
        self._is_closed = False
        # What was logged up to here is no output any more, but stays an event.
        self._cleared = 0

    def append(
        self,
        kind: EventKind,
        text: str = "",
        *,
        session: str,
        thread: int | None = None,
        function: str | None = None,
        file: str | None = None,
        line: int | None = None,
        data: dict[str, Any] | None = None,
        time_ns: int | None = None,
    ) -> int:
        """Add an event other than output and return its number; `time_ns`: when it was, else now.

        Raises: ValueError for output, which `append_output` takes, and for what cannot be stored:
        a thread or line beyond 64 bits, data with broken text; TypeError for data not of JSON.
        """
        if kind is EventKind.OUTPUT:
            raise ValueError("output is appended by append_output")
        if any(number is not None and number not in INT64 for number in (thread, line)):
            raise ValueError(f"thread {thread} or line {line} does not fit 64 bits")
        seq = self._seq + 1
        time_ns = self._clock() if time_ns is None else time_ns
        row = EventRow(
            seq=seq,
            time_ns=time_ns,
            kind=kind,
            session=session,
            thread=thread,
            function=None if function is None else storable_text(function),
            file=None if file is None else storable_text(file),
            line=line,
            text=storable_text(text),
            data=msgspec.json.encode(data or {}),
            head=seq,
        )
        self._seq = seq
        self._times.add(seq, seq, time_ns, time_ns)
        self._rows[seq] = row
        self._newest[kind] = seq
        self._rows_size += row.size
        # Rows that were not stored yet are simply dropped.
        for lost in self._records.add(seq, kind, row.size):
            if lost in self._rows:
                self._rows_size -= self._rows.pop(lost).size
            else:
                self._lost.append(lost)
        self._limit_waiting()
        self._waiters.wake(kind)
        return seq

    def append_passages(
        self, passages: Sequence[CallEvent], *, session: str, lost: int = 0
    ) -> None:
        """Add calls and returns of traced functions, and count `lost` ones as dropped.

        They are numbered as they arrive, and keep their own times.
        """
        chunk = self._calls.chunk_size
        for start in range(0, len(passages), chunk):
            calls = CallRows(self._seq + 1, session, passages[start : start + chunk])
            times = [one.time_ns for one in calls.passages]
            self._seq = calls.last
            self._times.add(calls.first, calls.last, min(times), max(times))
            # Numbered and counted at once, but written later, by a thread.
            self._writer.add(calls, dropped=self._calls.add(calls.first, calls.passages))
        if lost:
            # Each was to be a call and a return.
            self._calls.count_lost(self._seq + 1, 2 * lost, lost)
            self._seq += 2 * lost
        self._waiters.wake(EventKind.FUNCTION_ENTER, EventKind.FUNCTION_EXIT)

    def amend(
        self,
        seq: int,
        data: dict[str, Any],
        *,
        function: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        """Add details to an event of a lasting kind, such as an inspected crash.

        Raises: what `append` raises; ValueError for an event of another kind.
        """
        # The event may not be stored yet.
        self._write_pending(LASTING_KINDS)
        before = self._database.events(
            self._plan_search(_ALL, seq - 1, seq + 1), limit=1, newest=False
        )
        if not before or before[0].kind not in LASTING_KINDS:
            raise ValueError(f"event {seq} is none that can be amended")
        known = before[0]
        row = EventRow(
            seq=seq,
            time_ns=known.time_ns,
            kind=known.kind,
            session=known.session,
            thread=known.thread,
            function=None if function is None else storable_text(function),
            file=None if file is None else storable_text(file),
            line=line,
            text=known.text,
            data=msgspec.json.encode(data),
            head=seq,
        )
        self._database.amend(seq, row)

    def locate(self, seq: int, *, function: str | None, file: str | None, line: int | None) -> None:
        """Add the location of an event, once it is known; a dropped event is not restored."""
        place = {
            "function": None if function is None else storable_text(function),
            "file": None if file is None else storable_text(file),
            "line": line,
        }
        # Not stored yet: the row is changed in memory.
        if seq in self._rows:
            self._rows[seq] = self._rows[seq]._replace(**place)  # type: ignore[arg-type]
            return
        for known in self._database.events(
            self._plan_search(_ALL, seq - 1, seq + 1), limit=1, newest=False
        ):
            row = EventRow(
                seq=seq,
                time_ns=known.time_ns,
                kind=known.kind,
                session=known.session,
                thread=known.thread,
                text=known.text,
                data=msgspec.json.encode(known.data),
                head=seq,
                **place,  # type: ignore[arg-type]
            )
            self._database.amend(seq, row)

    def append_output(self, stream: OutputStream, text: str, *, session: str) -> None:
        """Add a chunk of output: an event for each line that it completes.

        A last line without a newline is visible to readers, and continues with the next chunk.
        """
        text = storable_text(text)
        # In chunks, so that the limits are applied within a single large write, too.
        for start in range(0, len(text), _CHUNK):
            chunk = text[start : start + _CHUNK]
            now = self._clock()
            for block in self._splitter.add_chunk(
                stream, chunk, session=session, first=self._seq + 1, time_ns=now
            ):
                self._add_block(block)
            self._limit_waiting()
        self._waiters.wake(EventKind.OUTPUT)

    def end_output(self, *, session: str) -> None:
        """End the unfinished lines of a session whose program has ended."""
        self._show_unfinished()
        self._splitter.forget(session)

    def clear_output(self) -> int:
        """Delete all output and its drop counts; return the number of lines."""
        self._show_unfinished()
        self._splitter.forget()
        self._write_rows()
        logged = self._database.count_logged(since=self._cleared)
        self._cleared = self._seq
        cleared = self._output.clear() + logged
        self._write_rows()
        return cleared

    def cursor(self) -> int:
        """Return the number of the last event; newer events are after this cursor."""
        self._show_unfinished()
        return self._seq

    def since_time_ns(self, time_ns: int) -> int:
        """Return a cursor before every kept event from a time of the monotonic clock on."""
        self._write_pending()
        time_ns = min(max(time_ns, 0), INT64[-1])
        first = self._database.first_from(time_ns, after=self._times.before(time_ns))
        return self._seq if first is None else first - 1

    def events(
        self,
        filters: Filters = _ALL,
        *,
        since: int = 0,
        before: int | None = None,
        limit: int = 50,
        newest: bool = False,
    ) -> EventPage:
        """Return the events with since < seq < before that pass every filter, oldest first.

        If there are more than `limit` (at most 500), the oldest are returned, or the `newest`; the
        next page has `since` at `next`, or, backwards, `before` at the first event's number.
        `dropped` counts up to `next`.
        """
        self._show_unfinished()
        since = min(max(since, 0), self._seq)
        # The frequent case of a poll, without the database.
        if before is None and filters.kinds and self._is_nothing_after(since, filters.kinds):
            dropped = self._drops.count(filters.kinds, after=since, upto=self._seq)
            return EventPage([], next=self._seq, dropped=dropped, total=0)
        self._write_pending(filters.kinds)
        before = self._seq + 1 if before is None else min(max(before, 0), self._seq + 1)
        plan = self._plan_search(filters, since, before)
        found = self._database.events(plan, limit=min(max(limit, 0), MAX_PAGE), newest=newest)
        total = self._database.count_found(plan)
        end = max(since, before - 1)
        if len(found) < total and not newest:
            end = found[-1].seq if found else since
        return EventPage(
            events=found,
            next=end,
            dropped=self._drops.count(filters.kinds, after=since, upto=end),
            total=min(total, COUNT_MAX),
            is_least=total > COUNT_MAX,
        )

    def explain(self, filters: Filters) -> list[str]:
        """Return the database's own description of such a search."""
        self._write_pending()
        return self._database.explain_plan(self._plan_search(filters, 0, self._seq + 1))

    def _plan_search(self, filters: Filters, since: int, before: int) -> Plan:
        filters = storable_filters(filters)
        if filters.since_ns is not None:
            since = max(since, self._times.before(filters.since_ns))
        if filters.until_ns is not None:
            before = min(before, self._times.upto(filters.until_ns) + 1)
        return self._database.plan_search(filters, since=since, before=before)

    def lines(
        self, *, since: int = 0, limit: int | None = None, tail: int | None = None
    ) -> LinePage:
        """Return the output after `since` as joined lines, with logpoint texts.

        All lines, or at most the first `limit`, or the last `tail`; `dropped` counts up to `next`.
        Raises: ValueError when both are given.
        """
        if limit is not None and tail is not None:
            raise ValueError("either the first lines or the last, not both")
        self._show_unfinished()
        start = since = min(max(since, self._cleared), self._seq)
        if self._is_nothing_after(since, _LINES):
            return LinePage([], self._seq, self._drops.count(_LINES, after=since, upto=self._seq))
        self._write_pending({EventKind.OUTPUT})
        if tail is not None:
            start = self._database.before_last_lines(min(tail, self._seq), since=since)
        found: dict[int, LogLine] = {}
        read, end = since, self._seq
        for seq, text, data, head in self._database.output(since=start):
            if len(found) == limit and head not in found:
                end = read
                break
            # A joined line moves to the end: lines stand in the order of their last pieces.
            found[head] = join_line(found.pop(head, None), seq, text, data)
            read = seq
        lines = list(found.values())
        if tail is not None:
            lines = lines[max(0, len(lines) - tail) :]
        return LinePage(lines, end, self._drops.count(_LINES, after=since, upto=end))

    async def wait(
        self,
        after: int,
        kinds: Collection[EventKind],
        timeout: float,  # noqa: ASYNC109 - the bound is part of the answer
        *,
        interrupted: asyncio.Event | None = None,
    ) -> Event | None:
        """Return the first event after a cursor of one of the kinds, or None.

        None: `timeout` seconds went by, the wait was interrupted, or the timeline was closed.
        """
        awaited = frozenset(kinds)
        loop = asyncio.get_running_loop()
        limit = loop.time() + timeout
        watched_from = limit if interrupted is None else loop.time() + _UNWATCHED_S
        watcher: asyncio.Task[bool] | None = None
        is_over = False
        try:
            while not self._is_closed:
                # Also after the time: the event may have come in the same turn of the loop.
                if (event := self._first_event(after, awaited)) is not None:
                    return event
                if is_over or (interrupted is not None and interrupted.is_set()):
                    return None
                if interrupted is not None and watcher is None and loop.time() >= watched_from:
                    watcher, watched_from = loop.create_task(interrupted.wait()), limit
                    watcher.add_done_callback(lambda _: self._waiters.wake(*EventKind))
                seconds = max(0.0, min(limit, watched_from) - loop.time())
                await self._waiters.wait_for_append(awaited, seconds)
                is_over = loop.time() >= limit
        finally:
            if watcher is not None:
                watcher.cancel()
        return None

    def close(self) -> None:
        """Delete everything; waiting tasks get None."""
        self._is_closed = True
        self._waiters.wake(*EventKind)
        self._writer.close()
        self._database.close()

    def _first_event(self, after: int, kinds: frozenset[EventKind]) -> Event | None:
        self._show_unfinished()
        if self._is_nothing_after(after, kinds):
            return None
        if after >= self._written and kinds.isdisjoint(_STORED_APART):
            # All that came since waits in memory: a step need not wait for the database.
            first = None
            for seq in reversed(self._rows):  # the newest first: few came since
                if seq <= after:
                    break
                first = self._rows[seq] if self._rows[seq].kind in kinds else first
            return first.to_event() if first is not None else None
        self._write_pending(kinds)
        plan = self._plan_search(Filters(kinds=kinds), after, self._seq + 1)
        return next(iter(self._database.events(plan, limit=1, newest=False)), None)

    def _is_nothing_after(self, seq: int, kinds: Collection[EventKind]) -> bool:
        """Return whether, without a database read, no newer such event is known to exist."""
        return _CALLS.isdisjoint(kinds) and all(self._newest.get(one, 0) <= seq for one in kinds)

    def _show_unfinished(self) -> None:
        for block in self._splitter.number_unfinished(first=self._seq + 1, time_ns=self._clock()):
            self._add_block(block)

    def _add_block(self, block: OutputBlock) -> None:
        self._times.add(block.first, self._seq + block.count, block.time_ns, block.time_ns)
        self._seq += block.count
        self._newest[EventKind.OUTPUT] = self._seq
        self._output.add(block)

    def _write_pending(self, kinds: Collection[EventKind] | None = None) -> None:
        """Store the waiting events that a search needs; calls only if their kind is requested."""
        self._show_unfinished()
        if kinds is None or not _CALLS.isdisjoint(kinds):
            self._writer.write_all()
        self._write_rows()

    def _write_rows(self) -> None:
        self._writer.wait_until_written()
        rows = [output_row(piece) for piece in self._output.take()]
        rows += self._rows.values()
        if not rows and not self._lost and self._output.floor == self._written_floor:
            return
        self._written_floor = self._output.floor
        self._database.write(rows, without=self._lost, output_upto=self._output.floor)
        self._rows.clear()
        self._lost.clear()
        self._rows_size = 0
        self._written = self._seq

    def _limit_waiting(self) -> None:
        waiting = len(self._rows) + len(self._lost) + self._output.pending_blocks
        size = self._rows_size + self._output.waiting_size
        if waiting > _MAX_WAITING or size > _MAX_WAITING_SIZE:
            self._write_rows()

    def _not_written(self, calls: CallRows) -> None:
        returns = sum(one.is_return for one in calls.passages)
        self._calls.count_lost(calls.first, len(calls.passages), returns)
