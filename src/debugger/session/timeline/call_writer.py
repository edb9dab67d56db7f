"""Writes traced calls while the event loop goes on."""

from __future__ import annotations

import logging
import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from debugger.session.timeline.database import EventDatabase
from debugger.session.timeline.event_rows import CallRows

_WAITING_MAX = 16 * 2**10
_WRITE_S = 60.0
_log = logging.getLogger(__name__)

Range = tuple[int, int]


class CallWriter:
    """Writes calls in a thread, one batch at a time; nobody else uses the database meanwhile.

    `on_lost` is told which could not be written; it is called by whoever calls the writer.
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
        """Write calls soon, and delete those in ranges of numbers; wait if too many wait."""
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
            self._busy = self._thread.submit(self._database.write_calls, batch, without=without)

    def wait_until_written(self) -> None:
        """Wait until the thread has written what it was given (bounded)."""
        busy, self._busy = self._busy, None
        if busy is not None:
            self._run_writes(lambda: busy.result(_WRITE_S))

    def write_all(self) -> None:
        """Write everything here and now."""
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
