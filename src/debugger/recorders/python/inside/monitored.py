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
_STOPPED = -1  # of a function that is followed no more
_SKIPPED_MAX = 50  # line events of no use, after which they are switched off
# Bytes of a line table from which on the lines are found without LINE events: for each of those
# CPython reads the table from its beginning (`compute_line` in 3.12's Python/instrumentation.c),
# which takes seconds for a module that holds a table of 10,000 lines.
_LONG_TABLE = 2_000
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines


class CallMonitor:
    """The sys.monitoring callbacks of one process."""

    def __init__(self, book: Any, watch: Any, parts: Any) -> None:
        self._book = book
        self._watch = watch
        self._parts = parts
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        self._counter = -1  # the tool that counts further calls of generator functions
        # By the code's identity: to hash code is to hash all that is in it, at each call.
        self._known: dict[int, tuple[bool, CodeType]] = {}
        self._requested: dict[int, bool] = {}
        # Starts and resumptions of one generator function that are followed.
        self._most_resumed: int = book.limits["followed"]
        self._counted: set[int] = set()  # requested code of which enough calls are recorded
        self._levels: dict[int, int] = {}  # which events of each code are requested
        self._resumed: dict[int, int] = {}  # starts and resumptions of each generator function
        # Calls of each generator function that is followed no more, since then.
        self._further: dict[int, int] = {}
        # The line of each instruction, for code with a long table.
        self._lines: dict[int, dict[int, int]] = {}
        self._skipped = 0  # line events of no use since the last time that they were switched off

    def begin(self) -> bool:
        """Request events; False if other tools have taken the tool ids."""
        self._book.further_calls = self._further_calls
        self._tool = self._parts.claimed()
        if self._tool < 0:
            return False
        events = self._monitoring.events
        self._parts.register_callbacks(
            self._tool,
            (events.PY_START, self._make_on_start()),
            (events.PY_RETURN, self._make_on_return()),
            (events.PY_YIELD, self._make_on_yield()),
            (events.PY_RESUME, self._make_on_resume()),
            (events.PY_THROW, self._on_throw),
            (events.PY_UNWIND, self._on_unwind),
            (events.LINE, self._on_line),
            (events.INSTRUCTION, self._on_instruction),
        )
        # In 3.12 PY_THROW and PY_UNWIND cannot be requested for single code objects, so they are
        # requested globally and filtered by `_is_known`.
        self._monitoring.set_events(
            self._tool, events.PY_START | events.PY_THROW | events.PY_UNWIND
        )
        return True

    def reset(self) -> None:
        """Expect again what is reported once, as a forked child does."""
        self._counted.clear()
        self._end_further()
        self._further.clear()
        self._resumed.clear()
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
        if self._counter >= 0:
            self._end_further()
            self._monitoring.free_tool_id(self._counter)

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

    def _further_calls(self) -> list[tuple[CodeType, int]]:
        """Return the number of calls of each generator function that is followed no more."""
        return [(self._known[key][1], count) for key, count in list(self._further.items())]

    def _is_known(self, code: CodeType) -> bool:
        known = self._known.get(id(code))
        return known is not None and known[0]

    # The callbacks of calls are closures with the ways of most calls, which are kept short.

    def _make_on_start(self) -> Any:
        threads, start_other, start_due = self._book.threads, self._start_other, self._start_due

        def on_start(code: CodeType, _offset: int) -> Any:
            try:
                thread = threads[get_ident()]
                top = thread.top
                spot = top.kids[id(code)]
            except KeyError:
                return start_other(code)
            if spot.count >= spot.due:
                return start_due(code, thread, spot)
            spot.count += 1
            thread.stack.append((top, clock() if spot.parent is top else 0.0))
            thread.top = spot
            return None

        return on_start

    def _start_other(self, code: CodeType) -> Any:
        """Begin a call of a path that is not known yet, or that does not count."""
        book = self._book
        try:
            thread = book.threads.get(get_ident())
            if thread is not None and thread.top.level == _OUTSIDE and id(code) in self._counted:
                book.seen += 1
                return None
            return self._start_first(code)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            return self._note_fault(error)

    def _start_due(self, code: CodeType, thread: Any, spot: Any) -> Any:
        """Begin the call of a known path: a generator's, the first, or one too many."""
        if not code.co_flags & _GENERATES:
            if spot.due:
                spot.count += 1
                return self._stop_counting(code)
            spot.due = self._book.limits["counted"]
        elif self._book.has_focus:
            return self._start_other(code)
        elif id(code) in self._book.stopped or self._stops_generator(code, is_start=True):
            return self._monitoring.DISABLE
        else:
            # Two frames out: this function, and `on_start`.
            self._book.suspended[id(sys._getframe(2))] = spot  # noqa: SLF001 - no other way
        top = thread.top
        spot.count += 1
        thread.stack.append((top, clock() if spot.parent is top else 0.0))
        thread.top = spot
        return None

    def _start_first(self, code: CodeType) -> Any:
        book = self._book
        known = self._known.get(id(code))
        requested = self._request_events(code) if known is None else known[0]
        if not requested or id(code) in book.stopped:
            # DISABLE applies to this code and offset only, until `restart_events`.
            return self._monitoring.DISABLE
        thread = book.thread()
        # Three frames out: this function, `_start_other`, and what called it.
        frame = sys._getframe(3)  # noqa: SLF001 - there is no other way
        if frame.f_code is not code:
            frame = frame.f_back  # type: ignore[assignment]
        if self._watch is not None:
            self._watch.entered(thread, code, frame)
            return None
        if self._stops_generator(code, is_start=True):
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
            requested |= self._line_events(code)
        self._levels[id(code)] = level
        self._monitoring.set_local_events(self._tool, code, requested)

    def _line_events(self, code: CodeType) -> int:
        """Return the events by which the lines of code are found."""
        events = self._monitoring.events
        is_hit = self._watch is None and self._book.lines == "hit"
        if not is_hit or len(code.co_linetable) < _LONG_TABLE:
            return int(events.LINE)
        if id(code) not in self._lines:
            self._lines[id(code)] = {
                offset: line
                for start, end, line in code.co_lines()
                if line is not None
                for offset in range(start, end, 2)
            }
        return int(events.INSTRUCTION)

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
        self._levels[id(code)] = _STOPPED
        events = self._line_events(code) if book.lines == "hit" else 0
        self._monitoring.set_local_events(self._tool, code, events)
        return self._monitoring.DISABLE

    def _stops_generator(self, code: CodeType, *, is_start: bool) -> bool:
        """Count a start or resumption; at one too many, only count the function's further calls."""
        if not code.co_flags & _GENERATES or self._book.has_focus:
            return False
        count = self._resumed[id(code)] = self._resumed.get(id(code), 0) + 1
        if count != self._most_resumed:
            return False
        self._stop_counting(code)
        self._book.forget(code)
        self._count_further(code, int(is_start))
        return True

    def _count_further(self, code: CodeType, count: int) -> None:
        """Count the further calls of a generator function, by a callback that does nothing else."""
        monitoring, further = self._monitoring, self._further
        start = monitoring.events.PY_START

        def count_start(code: CodeType, _offset: int) -> None:
            further[id(code)] += 1

        if self._counter < 0:
            self._counter = self._parts.claimed()
            if self._counter < 0:
                return
            monitoring.register_callback(self._counter, start, count_start)
        further[id(code)] = count
        monitoring.set_local_events(self._counter, code, start)

    def _end_further(self) -> None:
        """Count no more further calls."""
        for key in list(self._further):
            self._monitoring.set_local_events(self._counter, self._known[key][1], 0)

    def _make_on_return(self) -> Any:
        book, threads, leave = self._book, self._book.threads, self._leave_call

        def on_return(code: CodeType, _offset: int, value: Any) -> None:
            try:
                thread = threads[get_ident()]
            except KeyError:
                return
            spot = thread.top
            # The fast path of most returns: a counted call, without values.
            if spot.code is code and (
                spot.due or (spot.steps and spot.level and not spot.is_single)
            ):
                if not spot.due:
                    book.suspended.pop(id(sys._getframe(1)), None)  # noqa: SLF001
                thread.top, began = thread.stack.pop()
                if began:
                    at = clock()
                    spot.total += at - began
                    if at > book.due:
                        book.flush()
                return
            leave(thread, code, sys._getframe(1), value)  # noqa: SLF001

        return on_return

    def _leave_call(self, thread: Any, code: CodeType, frame: FrameType, value: Any) -> None:
        try:
            if self._watch is not None:
                self._watch.leave_frame(thread, frame)
            else:
                self._book.leave(thread, code, value, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _make_on_yield(self) -> Any:
        book, threads, suspend = self._book, self._book.threads, self._suspend_call

        def on_yield(code: CodeType, _offset: int, _value: Any) -> None:
            try:
                thread = threads[get_ident()]
            except KeyError:
                return
            spot = thread.top
            if spot.code is code and spot.level and not spot.is_single:
                thread.top, began = thread.stack.pop()
                at = clock()
                if began:
                    spot.total += at - began
                if at > book.due:
                    book.flush()
                return
            suspend(thread, code, sys._getframe(1))  # noqa: SLF001

        return on_yield

    def _suspend_call(self, thread: Any, code: CodeType, frame: FrameType) -> None:
        try:
            if self._watch is not None:
                self._watch.suspend_frame(thread, frame)
            else:
                self._book.suspend(thread, code, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _make_on_resume(self) -> Any:
        book, threads, limit = self._book, self._book.threads, self._most_resumed - 1
        resumed, go_on = self._resumed, self._went_on
        is_slow = book.has_focus or self._watch is not None

        def on_resume(code: CodeType, _offset: int) -> None:
            frame = sys._getframe(1)  # noqa: SLF001
            count = resumed.get(id(code), limit)
            if is_slow or count >= limit:
                go_on(code, frame)
                return
            resumed[id(code)] = count + 1
            try:
                spot, thread = book.suspended[id(frame)], threads[get_ident()]
            except KeyError:
                go_on(code, frame)
                return
            if spot.code is code:
                thread.calls += 1
                thread.stack.append((thread.top, clock()))
                thread.top = spot

        return on_resume

    def _on_throw(self, code: CodeType, _offset: int, _error: BaseException) -> Any:
        if self._is_known(code):
            self._went_on(code, sys._getframe(1))  # noqa: SLF001

    def _went_on(self, code: CodeType, frame: FrameType) -> None:
        try:
            if self._watch is not None:
                self._watch.entered(self._book.thread(), code, frame)
            elif not self._stops_generator(code, is_start=False):
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

    def _on_instruction(self, code: CodeType, offset: int) -> Any:
        try:
            line = self._lines[id(code)].get(offset)
            if line is not None:
                self._book.hit(code, line, None)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return self._monitoring.DISABLE

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
