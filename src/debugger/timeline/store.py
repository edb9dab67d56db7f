"""Stores what happened in a family of sessions, and what each reader has not read yet."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger.core.events import LASTING_KINDS, Event, Kind, Stream
from debugger.core.model import Passage
from debugger.timeline.asked import Filters, stored
from debugger.timeline.database import Database
from debugger.timeline.finding import COUNT_MAX, Plan
from debugger.timeline.kept import CallsKept, Drops, Limits, OutputKept, RecordsKept
from debugger.timeline.lines import MAX_LINE, Block, Splitter
from debugger.timeline.readings import Line, Lines, Page, join
from debugger.timeline.rows import INT64, Calls, Row, output_row, storable
from debugger.timeline.times import Times
from debugger.timeline.waiters import Waiters
from debugger.timeline.writer import Writer

MAX_PAGE = 500
_CHUNK = 64 * 2**10
_MAX_WAITING = 32 * 2**10
_MAX_WAITING_SIZE = 32 * 2**20
_ALL = Filters()
_LINES = frozenset({Kind.OUTPUT, Kind.LOGPOINT})
_CALLS = frozenset({Kind.FUNCTION_ENTER, Kind.FUNCTION_EXIT})
_STORED_APART = _CALLS | {Kind.OUTPUT}


class Timeline:
    """The bounded, append-only record of a family of sessions, used by one event loop.

    The newest `max_events` lines of output and `max_bytes` of their text are kept, and as much of
    the other events: traces are dropped first, crash and exit never. Of traced calls and returns
    the newest `max_traced` and `max_traced_bytes` are. `max_line`: characters. `folder` is where
    the file with the events is, in a folder of its own; without one it has no name.
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
        limits = Limits(max_events, max_bytes)
        self._clock = clock
        self._database = Database(folder)
        self._drops = Drops()
        self._calls = CallsKept(Limits(max_traced, max_traced_bytes), self._drops)
        self._writer = Writer(self._database, self._not_written)
        self._times = Times()
        self._output = OutputKept(limits, self._drops)
        self._records = RecordsKept(limits, self._drops)
        self._splitter = Splitter(width=max_line)
        self._seq = 0
        self._rows: dict[int, Row] = {}
        self._rows_size = 0
        self._lost: list[int] = []
        self._written = 0  # the number up to which no event is in `_rows` any more
        self._written_floor = 0  # the output up to it is deleted from the database
        self._newest: dict[Kind, int] = {}  # of all kinds but calls and returns
        self._waiters = Waiters()
        self._is_closed = False
        # What was logged up to here is no output any more, but stays an event.
        self._cleared = 0

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
        time_ns: int | None = None,
    ) -> int:
        """Add an event other than output and return its number; `time_ns`: when it was, else now.

        Raises: ValueError for output, which `append_output` takes, and for what cannot be stored:
        a thread or line beyond 64 bits, data with broken text; TypeError for data not of JSON.
        """
        if kind is Kind.OUTPUT:
            raise ValueError("output is appended by append_output")
        if any(number is not None and number not in INT64 for number in (thread, line)):
            raise ValueError(f"thread {thread} or line {line} does not fit 64 bits")
        seq = self._seq + 1
        time_ns = self._clock() if time_ns is None else time_ns
        row = Row(
            seq=seq,
            time_ns=time_ns,
            kind=kind,
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
        self._times.add(seq, seq, time_ns, time_ns)
        self._rows[seq] = row
        self._newest[kind] = seq
        self._rows_size += row.size
        for lost in self._records.add(seq, kind, row.size):
            if lost in self._rows:
                self._rows_size -= self._rows.pop(lost).size
            else:
                self._lost.append(lost)
        self._limit_waiting()
        self._waiters.wake(kind)
        return seq

    def append_passages(self, passages: Sequence[Passage], *, session: str, lost: int = 0) -> None:
        """Add calls and returns of traced functions, and count those that were `lost` as dropped.

        They are numbered as they arrive, and keep the times at which they were.
        """
        chunk = self._calls.chunk
        for start in range(0, len(passages), chunk):
            calls = Calls(self._seq + 1, session, passages[start : start + chunk])
            times = [one.time_ns for one in calls.passages]
            self._seq = calls.last
            self._times.add(calls.first, calls.last, min(times), max(times))
            self._writer.add(calls, dropped=self._calls.add(calls.first, calls.passages))
        if lost:
            # Each was to be a call and a return.
            self._calls.lose(self._seq + 1, 2 * lost, lost)
            self._seq += 2 * lost
        self._waiters.wake(Kind.FUNCTION_ENTER, Kind.FUNCTION_EXIT)

    def amend(
        self,
        seq: int,
        data: dict[str, Any],
        *,
        function: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        """Tell more of an event that never is dropped: a crash, once it was looked at.

        Raises: what `append` raises; ValueError for an event of another kind.
        """
        self._settle(LASTING_KINDS)
        before = self._database.events(self._plan(_ALL, seq - 1, seq + 1), limit=1, newest=False)
        if not before or before[0].kind not in LASTING_KINDS:
            raise ValueError(f"event {seq} is none that can be amended")
        known = before[0]
        row = Row(
            seq=seq,
            time_ns=known.time_ns,
            kind=known.kind,
            session=known.session,
            thread=known.thread,
            function=None if function is None else storable(function),
            file=None if file is None else storable(file),
            line=line,
            text=known.text,
            data=msgspec.json.encode(data),
            head=seq,
        )
        self._database.amend(seq, row)

    def locate(self, seq: int, *, function: str | None, file: str | None, line: int | None) -> None:
        """Note where an event was, once that is known; one that was dropped stays away."""
        place = {
            "function": None if function is None else storable(function),
            "file": None if file is None else storable(file),
            "line": line,
        }
        if seq in self._rows:
            self._rows[seq] = self._rows[seq]._replace(**place)  # type: ignore[arg-type]
            return
        for known in self._database.events(
            self._plan(_ALL, seq - 1, seq + 1), limit=1, newest=False
        ):
            row = Row(
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

    def append_output(self, stream: Stream, text: str, *, session: str) -> None:
        """Add a chunk of output: an event for each line that it completes.

        A last line without a newline is shown to readers, and goes on with the next chunk.
        """
        text = storable(text)
        for start in range(0, len(text), _CHUNK):
            chunk = text[start : start + _CHUNK]
            now = self._clock()
            for block in self._splitter.feed(
                stream, chunk, session=session, first=self._seq + 1, time_ns=now
            ):
                self._add(block)
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
        self._write()
        logged = self._database.count_logged(since=self._cleared)
        self._cleared = self._seq
        cleared = self._output.clear() + logged
        self._write()
        return cleared

    def cursor(self) -> int:
        """Return the number of the last event: what comes later is after this cursor."""
        self._show_unfinished()
        return self._seq

    def since_time_ns(self, time_ns: int) -> int:
        """Return the cursor after which every kept event from that time of the clock on is."""
        self._settle()
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
    ) -> Page:
        """Return the events with since < seq < before that pass every filter, oldest first.

        Of more than `limit` (at most 500) the oldest are returned, or the `newest`; go on with
        `since` at `next`, or backwards with `before` at the first one's number. `dropped` counts
        up to `next`.
        """
        self._show_unfinished()
        since = min(max(since, 0), self._seq)
        if before is None and filters.kinds and self._is_nothing_after(since, filters.kinds):
            dropped = self._drops.count(filters.kinds, after=since, upto=self._seq)
            return Page([], next=self._seq, dropped=dropped, total=0)
        self._settle(filters.kinds)
        before = self._seq + 1 if before is None else min(max(before, 0), self._seq + 1)
        plan = self._plan(filters, since, before)
        found = self._database.events(plan, limit=min(max(limit, 0), MAX_PAGE), newest=newest)
        total = self._database.count(plan)
        end = max(since, before - 1)
        if len(found) < total and not newest:
            end = found[-1].seq if found else since
        return Page(
            events=found,
            next=end,
            dropped=self._drops.count(filters.kinds, after=since, upto=end),
            total=min(total, COUNT_MAX),
            is_least=total > COUNT_MAX,
        )

    def explain(self, filters: Filters) -> list[str]:
        """Return how the database looks for such events, in its own words."""
        self._settle()
        return self._database.explain(self._plan(filters, 0, self._seq + 1))

    def _plan(self, filters: Filters, since: int, before: int) -> Plan:
        filters = stored(filters)
        if filters.since_ns is not None:
            since = max(since, self._times.before(filters.since_ns))
        if filters.until_ns is not None:
            before = min(before, self._times.upto(filters.until_ns) + 1)
        return self._database.plan(filters, since=since, before=before)

    def lines(self, *, since: int = 0, limit: int | None = None, tail: int | None = None) -> Lines:
        """Return the output after `since`, its pieces joined to lines, and what logpoints printed.

        All lines, or at most the first `limit`, or the last `tail`; `dropped` counts up to `next`.
        Raises: ValueError when both are given.
        """
        if limit is not None and tail is not None:
            raise ValueError("either the first lines or the last, not both")
        self._show_unfinished()
        start = since = min(max(since, self._cleared), self._seq)
        if self._is_nothing_after(since, _LINES):
            return Lines([], self._seq, self._drops.count(_LINES, after=since, upto=self._seq))
        self._settle({Kind.OUTPUT})
        if tail is not None:
            start = self._database.before_last_lines(min(tail, self._seq), since=since)
        found: dict[int, Line] = {}
        read, end = since, self._seq
        for seq, text, data, head in self._database.output(since=start):
            if len(found) == limit and head not in found:
                end = read
                break
            # A joined line moves to the end: lines stand in the order of their last pieces.
            found[head] = join(found.pop(head, None), seq, text, data)
            read = seq
        lines = list(found.values())
        if tail is not None:
            lines = lines[max(0, len(lines) - tail) :]
        return Lines(lines, end, self._drops.count(_LINES, after=since, upto=end))

    async def wait(
        self,
        after: int,
        kinds: Collection[Kind],
        timeout: float,  # noqa: ASYNC109 - the bound is part of the answer
        *,
        interrupted: asyncio.Event | None = None,
    ) -> Event | None:
        """Return the first event after a cursor of one of the kinds, or None.

        None: `timeout` seconds went by, the wait was interrupted, or the timeline was closed.
        """
        wanted = frozenset(kinds)
        # Whoever waits is woken directly: a task for each of the two costs turns of the loop.
        watcher = None if interrupted is None else asyncio.ensure_future(interrupted.wait())
        if watcher is not None:
            watcher.add_done_callback(lambda _: self._waiters.wake(*Kind))
        try:
            async with asyncio.timeout(timeout):
                while not self._is_closed:
                    if (event := self._first(after, wanted)) is not None:
                        return event
                    if interrupted is not None and interrupted.is_set():
                        return None
                    await self._waiters.appended(wanted)
        except TimeoutError:
            # The event may have come in the same turn of the loop as the time-out.
            return None if self._is_closed else self._first(after, wanted)
        finally:
            if watcher is not None:
                watcher.cancel()
        return None

    def close(self) -> None:
        """Delete everything; who waits gets None."""
        self._is_closed = True
        self._waiters.wake(*Kind)
        self._writer.close()
        self._database.close()

    def _first(self, after: int, kinds: frozenset[Kind]) -> Event | None:
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
            return first.event() if first is not None else None
        self._settle(kinds)
        plan = self._plan(Filters(kinds=kinds), after, self._seq + 1)
        return next(iter(self._database.events(plan, limit=1, newest=False)), None)

    def _is_nothing_after(self, seq: int, kinds: Collection[Kind]) -> bool:
        """Tell whether it is known without the database that no such event is newer."""
        return _CALLS.isdisjoint(kinds) and all(self._newest.get(one, 0) <= seq for one in kinds)

    def _show_unfinished(self) -> None:
        for block in self._splitter.show(first=self._seq + 1, time_ns=self._clock()):
            self._add(block)

    def _add(self, block: Block) -> None:
        self._times.add(block.first, self._seq + block.count, block.time_ns, block.time_ns)
        self._seq += block.count
        self._newest[Kind.OUTPUT] = self._seq
        self._output.add(block)

    def _settle(self, kinds: Collection[Kind] | None = None) -> None:
        """Store what waits and may be asked for: calls wait on where no kind of them is."""
        self._show_unfinished()
        if kinds is None or not _CALLS.isdisjoint(kinds):
            self._writer.settle()
        self._write()

    def _write(self) -> None:
        self._writer.rest()
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
        waiting = len(self._rows) + len(self._lost) + self._output.waiting
        size = self._rows_size + self._output.waiting_size
        if waiting > _MAX_WAITING or size > _MAX_WAITING_SIZE:
            self._write()

    def _not_written(self, calls: Calls) -> None:
        returns = sum(one.is_return for one in calls.passages)
        self._calls.lose(calls.first, len(calls.passages), returns)
