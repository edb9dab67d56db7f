"""Detects that the program reaches the places of checks, and every line while one is followed."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_MISSING: Any = object()
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines


def source(recorder: Any, traced: Any, parts: Any) -> Any:
    """Return the source of events for this Python version."""
    if sys.version_info >= (3, 12):
        return MonitoredChecks(recorder, parts)
    return TracedChecks(recorder, traced, parts)


class TracedChecks:
    """Detects checks by sys.settrace, before Python 3.12."""

    def __init__(self, recorder: Any, traced: Any, parts: Any) -> None:
        self._recorder = recorder
        self._follower = recorder.follower
        self._parts = parts
        self._tracer = traced.CallTracer(recorder, None, parts, self._on_call)
        self._local: Any = self._on_event  # always the same object
        self.begin = self._tracer.begin
        self.end = self._tracer.end
        if self._follower is not None:
            self._follower.on_start = self._follow_stack

    def _follow_stack(self, frame: FrameType) -> None:
        """Trace the lines of the frames that run already."""
        back: FrameType | None = frame
        while back is not None:
            if self._recorder.chosen.file(back.f_code.co_filename):
                back.f_trace_lines = True
                back.f_trace = self._local
            back = back.f_back

    def _on_call(self, frame: FrameType, event: str, _argument: Any) -> Any:
        recorder = self._recorder
        code = frame.f_code
        plan = recorder.plans.get(id(code), _MISSING)
        is_followed = self._follower is not None and self._follower.is_active
        # None: the interpreter sends no line events for this call, which keeps other code fast.
        if event != "call" or (plan is None and not is_followed) or recorder.is_over:
            return None
        try:
            if plan is _MISSING:
                plan = recorder.plan(code, frame)
            is_ours = is_followed and bool(recorder.chosen.file(code.co_filename))
            if plan is None and not is_ours:
                return None
            if self._parts.is_entered(code, frame.f_lasti):
                if plan is not None:
                    recorder.entered(plan, frame)
                is_followed = self._follower is not None and self._follower.is_active
            elif is_ours:
                self._follower.resume(frame)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            return self._note_fault(error)
        has_local = plan is not None and (plan.lines or plan.exit >= 0)
        if not has_local and not is_followed:
            return None
        # Without lines the interpreter calls us at the return only.
        frame.f_trace_lines = is_followed or bool(plan is not None and plan.lines)
        return self._local

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> Any:
        recorder = self._recorder
        plan = recorder.plans.get(id(frame.f_code))
        follower = self._follower
        try:
            if event == "line":
                if follower is not None and follower.is_active:
                    follower.line(frame)
                if plan is not None and frame.f_lineno in plan.lines:
                    recorder.passed(plan, frame, frame.f_lineno)
            elif event == "return":
                self._leave(plan, frame, argument)
        except Exception as error:  # noqa: BLE001
            return self._note_fault(error)
        return None if recorder.is_over else self._local

    def _leave(self, plan: Any, frame: FrameType, value: Any) -> None:
        code = frame.f_code
        last = self._parts.last_instruction(code, frame.f_lasti)
        is_suspended = bool(code.co_flags & _GENERATES) and last in self._parts.YIELDS
        follower = self._follower
        if follower is not None and follower.is_active:
            (follower.suspend if is_suspended else follower.leave)(frame)
        if is_suspended or plan is None or plan.exit < 0:
            return
        # A tracer sees a return of None for an exception, too.
        if value is None and last not in self._parts.RETURNS:
            self._recorder.raised(plan, frame)
        else:
            self._recorder.returned(plan, frame, value)

    def _note_fault(self, error: Exception) -> Any:
        if self._recorder.fault(error):
            self.end()


class MonitoredChecks:
    """Detects checks by sys.monitoring: code without a check is reported once and disabled."""

    def __init__(self, recorder: Any, parts: Any) -> None:
        self._recorder = recorder
        self._follower = recorder.follower
        self._parts = parts
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        if self._follower is not None:
            self._follower.on_start = self._follow_all

    def begin(self) -> bool:
        """Request events; False if other tools have taken the tool ids."""
        self._tool = self._parts.claimed()
        if self._tool < 0:
            return False
        events = self._monitoring.events
        self._parts.register_callbacks(
            self._tool,
            (events.PY_START, self._on_start),
            (events.LINE, self._on_line),
            (events.PY_RETURN, self._on_return),
            (events.PY_YIELD, self._on_yield),
            (events.PY_RESUME, self._on_resume),
            (events.PY_UNWIND, self._on_unwind),
        )
        # PY_UNWIND cannot be requested for single code objects.
        self._monitoring.set_events(self._tool, events.PY_START | events.PY_UNWIND)
        return True

    def end(self) -> None:
        """Request no more events."""
        if self._tool < 0:
            return
        self._monitoring.set_events(self._tool, 0)
        # In 3.12 local events stay set when the tool id is freed.
        for code in list(self._recorder.codes):
            if self._recorder.plans.get(id(code)) is not None:
                self._monitoring.set_local_events(self._tool, code, 0)
        self._monitoring.free_tool_id(self._tool)
        self._tool = -1

    def _follow_all(self, _frame: FrameType) -> None:
        events = self._monitoring.events
        requested = events.PY_START | events.PY_UNWIND | events.LINE | events.PY_RETURN
        requested |= events.PY_YIELD | events.PY_RESUME
        self._monitoring.set_events(self._tool, requested)
        # What was passed over before is to be followed.
        self._monitoring.restart_events()

    def _is_followed(self, code: CodeType) -> bool:
        follower = self._follower
        return (
            follower is not None
            and follower.is_active
            and bool(self._recorder.chosen.file(code.co_filename))
        )

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        recorder = self._recorder
        plan = recorder.plans.get(id(code), _MISSING)
        try:
            if plan is _MISSING:
                frame = sys._getframe(1)  # noqa: SLF001 - there is no other way
                plan = recorder.plan(code, frame)
                if plan is not None and (plan.lines or plan.exit >= 0):
                    events = self._monitoring.events
                    requested = events.LINE * bool(plan.lines)
                    requested |= events.PY_RETURN * (plan.exit >= 0)
                    self._monitoring.set_local_events(self._tool, code, requested)
            if plan is None:
                return self._monitoring.DISABLE
            if plan.makes or plan.entry >= 0:
                recorder.entered(plan, sys._getframe(1))  # noqa: SLF001
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
        return None

    def _on_line(self, code: CodeType, line: int) -> Any:
        recorder = self._recorder
        try:
            is_followed = self._is_followed(code)
            if is_followed:
                self._follower.line(sys._getframe(1))  # noqa: SLF001
            plan = recorder.plans.get(id(code))
            if plan is not None and line in plan.lines:
                recorder.passed(plan, sys._getframe(1), line)  # noqa: SLF001
            elif not is_followed:
                return self._monitoring.DISABLE
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return None

    def _on_return(self, code: CodeType, _offset: int, value: Any) -> Any:
        try:
            frame = sys._getframe(1)  # noqa: SLF001
            is_followed = self._is_followed(code)
            if is_followed:
                self._follower.leave(frame)
            plan = self._recorder.plans.get(id(code))
            if plan is not None and plan.exit >= 0:
                self._recorder.returned(plan, frame, value)
            elif not is_followed:
                return self._monitoring.DISABLE
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return None

    def _on_yield(self, code: CodeType, _offset: int, _value: Any) -> Any:
        if not self._is_followed(code):
            return self._monitoring.DISABLE
        try:
            self._follower.suspend(sys._getframe(1))  # noqa: SLF001
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return None

    def _on_resume(self, code: CodeType, _offset: int) -> Any:
        if not self._is_followed(code):
            return self._monitoring.DISABLE
        try:
            self._follower.resume(sys._getframe(1))  # noqa: SLF001
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return None

    def _on_unwind(self, code: CodeType, _offset: int, _error: BaseException) -> Any:
        plan = self._recorder.plans.get(id(code))
        is_followed = self._is_followed(code)
        if plan is None and not is_followed:
            return
        try:
            frame = sys._getframe(1)  # noqa: SLF001
            if is_followed:
                self._follower.leave(frame)
            if plan is not None and plan.exit >= 0:
                self._recorder.raised(plan, frame)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)

    def _note_fault(self, error: Exception) -> None:
        if self._recorder.fault(error):
            self.end()
