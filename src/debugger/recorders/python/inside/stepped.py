"""Detects that the program reaches a probe's location, at little cost elsewhere."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_MISSING: Any = object()


def source(book: Any, traced: Any, parts: Any) -> Any:
    """Return the source of line events for this Python version."""
    if sys.version_info >= (3, 12):
        return MonitoredProbes(book, parts)
    return TracedProbes(book, traced, parts)


class TracedProbes:
    """Detects probes by sys.settrace: every call costs a little, lines cost near a probe only."""

    def __init__(self, book: Any, traced: Any, parts: Any) -> None:
        self._book = book
        self._parts = parts
        self._tracer = traced.CallTracer(book, None, parts, self._call_handler())
        self.begin = self._tracer.begin
        self.end = self._tracer.end

    def _call_handler(self) -> Any:
        """Return the trace function for calls, which runs at every call of any function."""
        find, begin = self._book.plans.get, self._begin_code

        def called(frame: FrameType, event: str, _argument: Any) -> Any:
            plan = find(id(frame.f_code), _MISSING)
            # None: the interpreter sends no line events for this call, which keeps other code fast.
            return None if plan is None else begin(plan, frame, event)

        return called

    def _begin_code(self, plan: Any, frame: FrameType, event: str) -> Any:
        code = frame.f_code
        if event != "call":
            return None
        try:
            if plan is _MISSING:
                plan = self._book.plan(code)
                if plan is None:
                    return None
                plan.trace = self._line_handler(plan)
            if self._parts.is_entered(code, frame.f_lasti):
                self._book.entered(plan, frame)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
        return plan.trace if plan else None

    def _line_handler(self, plan: Any) -> Any:
        """Return the trace function for lines, which skips most lines at once."""
        watched, book = plan.watched, self._book

        # A closure and no method, because it runs at every line of the function.
        def stepped(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line" and frame.f_lineno in watched:
                try:
                    book.passed(plan, frame, frame.f_lineno)
                except Exception as error:  # noqa: BLE001 - ours, and not the program's
                    self._note_fault(error)
            return stepped

        return stepped

    def _note_fault(self, error: Exception) -> None:
        if self._book.fault(error):
            self.end()


class MonitoredProbes:
    """Detects probes by sys.monitoring: code without a probe is reported once and disabled."""

    def __init__(self, book: Any, parts: Any) -> None:
        self._book = book
        self._parts = parts
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1

    def begin(self) -> bool:
        """Request events; False if other tools have taken the tool ids."""
        self._tool = self._parts.claimed()
        if self._tool < 0:
            return False
        events = self._monitoring.events
        self._monitoring.register_callback(self._tool, events.PY_START, self._on_start)
        self._monitoring.register_callback(self._tool, events.LINE, self._on_line)
        self._monitoring.set_events(self._tool, events.PY_START)
        return True

    def end(self) -> None:
        """Request no more events."""
        if self._tool < 0:
            return
        self._monitoring.set_events(self._tool, 0)
        # In 3.12 local events stay set when the tool id is freed.
        for code in list(self._book.codes):
            if self._book.plans[id(code)] is not None:
                self._monitoring.set_local_events(self._tool, code, 0)
        self._monitoring.free_tool_id(self._tool)
        self._tool = -1

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        book = self._book
        plan = book.plans.get(id(code), _MISSING)
        try:
            if plan is _MISSING:
                plan = book.plan(code)
                if plan is not None:
                    events = self._monitoring.events
                    self._monitoring.set_local_events(self._tool, code, events.LINE)
            if plan is None:
                return self._monitoring.DISABLE
            book.entered(plan, sys._getframe(1))  # noqa: SLF001 - there is no other way
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
        return None

    def _on_line(self, code: CodeType, line: int) -> Any:
        book = self._book
        try:
            plan = book.plans[id(code)]
            book.passed(plan, sys._getframe(1), line)  # noqa: SLF001
            # A line without a probe is reported once: that it ran is all that counts.
            if line not in plan.lines:
                return self._monitoring.DISABLE
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return None

    def _note_fault(self, error: Exception) -> None:
        if self._book.fault(error):
            self.end()
