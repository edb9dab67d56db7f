"""Follows calls and lines by sys.monitoring (Python 3.12 and later), only where needed.

`sys.monitoring` reports events of chosen code objects. Code outside the program is reported once,
at its first start, and disabled after that.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from time import perf_counter as clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OUTSIDE = -1
# The events that are requested of a function: its starts, also its ends, also its lines.
_STARTS, _ENDS, _LINES = range(3)
_SKIPPED_MAX = 50  # line events of no use, after which they are switched off
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines


class CallMonitor:
    """The sys.monitoring callbacks of one process."""

    def __init__(self, book: Any, watch: Any, parts: Any) -> None:
        self._book = book
        self._watch = watch
        self._parts = parts
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        # By the code's identity: to hash code is to hash all that is in it, at each call.
        self._known: dict[int, tuple[bool, CodeType]] = {}
        self._requested: dict[int, bool] = {}
        self._counted: set[int] = set()  # requested code of which enough calls are recorded
        self._levels: dict[int, int] = {}  # which events of each code are requested
        self._resumed: dict[int, int] = {}  # starts and resumptions of each generator function
        self._skipped = 0  # line events of no use since the last time that they were switched off

    def begin(self) -> bool:
        """Request events; False if other tools have taken the tool ids."""
        self._tool = self._parts.claimed()
        if self._tool < 0:
            return False
        events = self._monitoring.events
        for event, callback in (
            (events.PY_START, self._on_start),
            (events.PY_RETURN, self._on_return),
            (events.PY_YIELD, self._on_yield),
            (events.PY_RESUME, self._on_resume),
            (events.PY_THROW, self._on_throw),
            (events.PY_UNWIND, self._on_unwind),
            (events.LINE, self._on_line),
        ):
            self._monitoring.register_callback(self._tool, event, callback)
        # In 3.12 PY_THROW and PY_UNWIND cannot be requested for single code objects, so they are
        # requested globally and filtered by `_is_known`.
        self._monitoring.set_events(
            self._tool, events.PY_START | events.PY_THROW | events.PY_UNWIND
        )
        return True

    def reset(self) -> None:
        """Expect again what is reported once, as a forked child does."""
        self._counted.clear()
        if self._tool >= 0:
            self._monitoring.restart_events()

    def end(self) -> None:
        """Request no more events."""
        if self._tool >= 0:
            self._monitoring.set_events(self._tool, 0)
            for is_followed, code in list(self._known.values()):
                if is_followed:
                    self._monitoring.set_local_events(self._tool, code, 0)
            self._monitoring.free_tool_id(self._tool)

    def _request_events(self, code: CodeType) -> bool:
        """Classify code at its first start, and request its events if it is recorded."""
        book = self._book
        found = book.chosen.is_ours(code)
        self._known[id(code)] = (found, code)
        if found:
            level = _ENDS
            if self._watch is not None or book.lines == "hit":
                level = _LINES
            elif book.has_focus:
                level = _STARTS
            self._set_level(code, level)
        return bool(found)

    def _is_known(self, code: CodeType) -> bool:
        known = self._known.get(id(code))
        return known is not None and known[0]

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        book = self._book
        thread = book.threads.get(get_ident())
        if thread is not None:  # the way of most calls, kept short
            top = thread.top
            spot = top.kids.get(id(code))
            if spot is not None and not code.co_flags & _GENERATES:
                spot.count += 1
                if spot.count > book.limits["counted"]:
                    return self._stop_counting(code)
                at = clock() if spot.parent is top else 0.0
                thread.calls += 1
                thread.stack.append((top, at))
                thread.top = spot
                return None
            if top.level == _OUTSIDE and id(code) in self._counted:
                book.seen += 1
                return None
        try:
            return self._start_first(code)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            return self._note_fault(error)

    def _start_first(self, code: CodeType) -> Any:
        book = self._book
        known = self._known.get(id(code))
        requested = self._request_events(code) if known is None else known[0]
        if not requested or id(code) in book.stopped:
            # DISABLE applies to this code and offset only, until `restart_events`.
            return self._monitoring.DISABLE
        thread = book.thread()
        # Two frames out: this function, and `_on_start`.
        frame = sys._getframe(2)  # noqa: SLF001 - there is no other way
        if self._watch is not None:
            self._watch.entered(thread, code, frame)
            return None
        if self._stops_generator(code):
            return self._monitoring.DISABLE
        if thread.top.level != _OUTSIDE:
            book.enter(thread, code, frame)
        elif not self._is_requested(code):
            if book.inside:
                return None
            self._lower_level(code)
            return self._monitoring.DISABLE
        else:
            self._enter_requested(thread, code, frame)
        if thread.top.code is code:
            level = _LINES if thread.top.is_lined else _ENDS
            if self._levels[id(code)] < level:
                self._set_level(code, level)
        return None

    def _enter_requested(self, thread: Any, code: CodeType, frame: FrameType) -> None:
        book = self._book
        was = book.inside
        book.enter(thread, code, frame)
        if book.inside and not was:
            # What was passed over outside is wanted as a callee.
            self._monitoring.restart_events()
        if not book.inside and book.is_over_most:
            self._lower_level(code)
            if self._levels[id(code)] == _STARTS:
                self._counted.add(id(code))

    def _is_requested(self, code: CodeType) -> bool:
        found = self._requested.get(id(code))
        if found is None:
            name = self._parts.name_of(code, {})
            found = self._requested[id(code)] = bool(self._book.chosen.is_requested(code, name))
        return found

    def _set_level(self, code: CodeType, level: int) -> None:
        events = self._monitoring.events
        requested = events.PY_START
        if level >= _ENDS:
            requested |= events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        if level >= _LINES:
            requested |= events.LINE
        self._levels[id(code)] = level
        self._monitoring.set_local_events(self._tool, code, requested)

    def _lower_level(self, code: CodeType) -> None:
        """Request the starts alone of a function of which no recorded call runs."""
        # A recorded generator may be suspended, and what it calls then has its known path.
        is_open = code.co_flags & _GENERATES or self._book.suspended
        if self._levels[id(code)] > _STARTS and not is_open:
            self._set_level(code, _STARTS)

    def _drop_lines(self, code: CodeType) -> None:
        """Switch line events of a function off, if none of its running calls needs them."""
        # Checked seldom, because it goes through all running calls.
        self._skipped += 1
        if self._skipped >= _SKIPPED_MAX and self._levels.get(id(code)) == _LINES:
            self._skipped = 0
            if not self._book.has_lined_call(code):
                self._set_level(code, _ENDS)

    def _note_fault(self, error: Exception) -> None:
        if self._book.fault(error):
            self.end()

    def _stop_counting(self, code: CodeType) -> Any:
        """Stop counting a function: a callback costs more than many functions do."""
        book = self._book
        book.stop_counting(code)
        # Its lines are reported once each, which costs nothing.
        events = self._monitoring.events.LINE if book.lines == "hit" else 0
        self._monitoring.set_local_events(self._tool, code, events)
        return self._monitoring.DISABLE

    def _stops_generator(self, code: CodeType) -> bool:
        """Count a start or resumption; tell whether it is one too many, and stop the counting."""
        if not code.co_flags & _GENERATES or self._book.has_focus:
            return False
        count = self._resumed[id(code)] = self._resumed.get(id(code), 0) + 1
        if count != self._book.limits["counted"]:
            return False
        self._stop_counting(code)
        self._book.forget(code)
        return True

    def _on_return(self, code: CodeType, _offset: int, value: Any) -> Any:
        book = self._book
        thread = book.threads.get(get_ident())
        if thread is None:
            return
        spot = thread.top
        # The fast path of most returns: a counted call, without values.
        if spot.code is code and not spot.is_single and not code.co_flags & _GENERATES:
            thread.top, began = thread.stack.pop()
            if began:
                at = clock()
                spot.total += at - began
                if at > book.due:
                    book.flush()
            return
        self._leave_call(thread, code, sys._getframe(1), value)  # noqa: SLF001

    def _leave_call(self, thread: Any, code: CodeType, frame: FrameType, value: Any) -> None:
        try:
            if self._watch is not None:
                self._watch.leave_frame(thread, frame)
            else:
                self._book.leave(thread, code, value, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _on_yield(self, code: CodeType, _offset: int, _value: Any) -> Any:
        thread = self._book.threads.get(get_ident())
        if thread is None:
            return
        frame = sys._getframe(1)  # noqa: SLF001
        try:
            if self._watch is not None:
                self._watch.leave_frame(thread, frame)
            else:
                self._book.suspend(thread, code, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _on_resume(self, code: CodeType, _offset: int) -> Any:
        self._went_on(code, sys._getframe(1))  # noqa: SLF001

    def _on_throw(self, code: CodeType, _offset: int, _error: BaseException) -> Any:
        if self._is_known(code):
            self._went_on(code, sys._getframe(1))  # noqa: SLF001

    def _went_on(self, code: CodeType, frame: FrameType) -> None:
        try:
            if self._watch is not None:
                self._watch.entered(self._book.thread(), code, frame)
            elif not self._stops_generator(code):
                self._book.resume(self._book.thread(), frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _on_unwind(self, code: CodeType, _offset: int, raised: BaseException) -> Any:
        thread = self._book.threads.get(get_ident()) if self._is_known(code) else None
        if thread is None:
            return
        frame = sys._getframe(1)  # noqa: SLF001
        try:
            if self._watch is not None:
                self._watch.leave_frame(thread, frame)
            else:
                self._book.fail(thread, code, raised, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _on_line(self, code: CodeType, line: int) -> Any:
        book = self._book
        thread = book.threads.get(get_ident())
        try:
            if self._watch is None and book.lines == "hit":
                book.hit(code, line, None)
                return self._monitoring.DISABLE
            if thread is None:
                return None
            if self._watch is not None:
                self._watch.line(thread, code, line, sys._getframe(1))  # noqa: SLF001
            elif thread.top.is_lined and not book.is_past_lines(thread.top, code):
                book.line(thread, code, line, sys._getframe(1))  # noqa: SLF001
            elif not book.has_focus:
                self._drop_lines(code)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return None
