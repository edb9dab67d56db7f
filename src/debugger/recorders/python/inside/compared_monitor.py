"""Follows by sys.monitoring the first calls of each function, of a run that is compared.

Each recorded call is known by its frame, until it ends. Of a function whose further calls are only
counted nothing but their starts is reported, once no recorded call of it runs any more.
"""

from __future__ import annotations

import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines


class ComparedMonitor:
    """The sys.monitoring callbacks of one process, of which each line is compared."""

    def __init__(self, book: Any, parts: Any) -> None:
        self._book = book
        self._parts = parts
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        # By the code's identity: to hash code is to hash all that is in it. It is kept alive.
        self._codes: dict[int, CodeType] = {}
        # The recorded calls of a recursion run on while further ones are counted. Many of those are
        # too many where each of their events has to be told from those of recorded calls.
        self._further: Any = parts.FurtherCalls(book, parts, self._forget_running)
        self._calls: dict[int, Any] = {}  # recorded calls by the identity of their frames
        self._running: dict[int, int] = {}  # recorded calls of each function that have not ended
        self._requested: dict[int, int] = {}  # the events that are requested of each function

    def begin(self) -> bool:
        """Request events; False if other tools have taken the tool ids."""
        self._book.further_calls = self._further.count_all
        self._tool = self._parts.claimed()
        if self._tool < 0:
            return False
        events = self._monitoring.events
        self._parts.register_callbacks(
            self._tool,
            (events.PY_START, self._on_start),
            (events.PY_RETURN, self._on_return),
            (events.PY_YIELD, self._on_yield),
            (events.PY_RESUME, self._on_resume),
            (events.PY_THROW, self._on_throw),
            (events.PY_UNWIND, self._on_unwind),
            (events.LINE, self._on_line),
        )
        # In 3.12 PY_THROW and PY_UNWIND cannot be requested for single code objects.
        self._monitoring.set_events(
            self._tool, events.PY_START | events.PY_THROW | events.PY_UNWIND
        )
        self._further.begin()
        return True

    def reset(self) -> None:
        """Expect again what is reported once, as a forked child does."""
        for code in self._codes.values():
            self._monitoring.set_local_events(self._tool, code, 0)
        self._further.reset()
        for known in (self._codes, self._calls, self._running, self._requested):
            known.clear()
        if self._tool >= 0:
            self._monitoring.restart_events()

    def end(self) -> None:
        """Request no more events."""
        if self._tool >= 0:
            self._monitoring.set_events(self._tool, 0)
            for code in list(self._codes.values()):
                self._monitoring.set_local_events(self._tool, code, 0)
            self._monitoring.free_tool_id(self._tool)
        self._further.end()

    # -- calls -----------------------------------------------------------------------------------

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        book, key = self._book, id(code)
        try:
            if key in book.stopped or not (key in self._codes or self._is_ours(code)):
                # DISABLE applies to this code and offset only, until `restart_events`.
                return self._monitoring.DISABLE
            self._codes[key] = code
            thread, frame = book.thread(), sys._getframe(1)  # noqa: SLF001 - no other way
            spot = book.add_call(thread, thread.top, code, frame)
            if spot is None:
                return self._stop_function(code)
            self._calls[id(frame)] = spot
            self._running[key] = self._running.get(key, 0) + 1
            self._request_events(code, has_lines=spot.is_lined)
            book.push(thread, thread.top, spot)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
        return None

    def _is_ours(self, code: CodeType) -> bool:
        """Return whether the calls of code that begins to run for the first time are recorded."""
        if self._further.has_made(code) or not self._book.chosen.is_ours(code):
            return False
        if code.co_name == "<module>" and self._parts.reads_bytecode(code):
            self._further.leave_bytecode()
        return True

    def _request_events(self, code: CodeType, *, has_lines: bool) -> None:
        """Request the events of a function's recorded calls, with those of its lines or without."""
        key, events = id(code), self._monitoring.events
        requested = events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        if key not in self._book.stopped:
            requested |= events.PY_START
        if has_lines:
            requested |= events.LINE
        self._set_events(code, requested)

    def _set_events(self, code: CodeType, requested: int) -> None:
        if self._requested.get(id(code), -1) != requested:
            self._requested[id(code)] = requested
            self._monitoring.set_local_events(self._tool, code, requested)

    def _stop_function(self, code: CodeType) -> Any:
        """Only count the further calls of a function: a record costs more than many functions."""
        book, key = self._book, id(code)
        book.stop_counting(code)
        self._further.add(code, 1)
        # The resumptions of other calls cannot be told from those of recorded ones.
        if code.co_flags & _GENERATES:
            self._forget_running(code)
        if self._running.get(key):
            self._request_events(code, has_lines=self._has_lined_call(code))
        else:
            self._set_events(code, 0)
        return self._monitoring.DISABLE

    def _forget_running(self, code: CodeType) -> None:
        """Record no more of the calls of a function that have not ended."""
        if not self._running.pop(id(code), 0):
            return
        for frame, spot in list(self._calls.items()):
            if spot.code is code:
                del self._calls[frame]
        self._book.forget(code)
        self._set_events(code, 0)

    def _on_return(self, code: CodeType, _offset: int, value: Any) -> None:
        self._end_call(code, sys._getframe(1), self._book.leave, value)  # noqa: SLF001

    def _on_unwind(self, code: CodeType, _offset: int, raised: BaseException) -> None:
        if id(code) in self._codes:
            self._end_call(code, sys._getframe(1), self._book.fail, raised)  # noqa: SLF001

    def _end_call(self, code: CodeType, frame: FrameType, end: Any, value: Any) -> None:
        spot = self._take_call(code, frame)
        thread = self._book.threads.get(get_ident())
        if spot is None or thread is None:
            return
        try:
            end(thread, code, value, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _take_call(self, code: CodeType, frame: FrameType) -> Any:
        """Remove and return the recorded call of a frame that is left; None without one."""
        spot = self._calls.get(id(frame))
        if spot is None or spot.code is not code:
            return None
        del self._calls[id(frame)]
        key = id(code)
        self._running[key] -= 1
        if not self._running[key] and key in self._book.stopped:
            self._set_events(code, 0)
        return spot

    def _on_yield(self, code: CodeType, _offset: int, _value: Any) -> None:
        frame = sys._getframe(1)  # noqa: SLF001
        spot, thread = self._calls.get(id(frame)), self._book.threads.get(get_ident())
        if spot is None or spot.code is not code or thread is None:
            return
        try:
            self._book.suspended[id(frame)] = spot
            self._book.suspend(thread, code, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _on_resume(self, code: CodeType, _offset: int) -> None:
        self._resume_call(code, sys._getframe(1))  # noqa: SLF001

    def _on_throw(self, code: CodeType, _offset: int, _error: BaseException) -> None:
        if id(code) in self._codes:
            self._resume_call(code, sys._getframe(1))  # noqa: SLF001

    def _resume_call(self, code: CodeType, frame: FrameType) -> None:
        spot = self._calls.get(id(frame))
        try:
            if spot is not None and spot.code is code:
                self._book.resume(self._book.thread(), frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    # -- lines -----------------------------------------------------------------------------------

    def _on_line(self, code: CodeType, line: int) -> None:
        frame = sys._getframe(1)  # noqa: SLF001
        spot = self._calls.get(id(frame))
        if spot is None or spot.code is not code or not spot.is_lined:
            return
        book = self._book
        try:
            book.pass_line(spot, line, frame)
            if spot.passed > book.limits["lines"] and not self._has_lined_call(code):
                self._request_events(code, has_lines=False)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _has_lined_call(self, code: CodeType) -> bool:
        """Return whether lines of a call of a function that has not ended are still recorded."""
        most = self._book.limits["lines"]
        return any(
            one.code is code and one.is_lined and one.passed <= most
            for one in list(self._calls.values())
        )

    def _note_fault(self, error: Exception) -> None:
        if self._book.fault(error):
            self.end()
