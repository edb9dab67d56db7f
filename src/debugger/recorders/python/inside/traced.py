"""Follows calls and lines by sys.settrace, before Python 3.12.

There every call of every function costs a little. A program that sets its own tracer (a debugger, a
coverage tool) gets it: combined with ours if the tracer is written in Python; otherwise its thread
is not recorded while that tracer is set.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from time import perf_counter as clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OUTSIDE = -1
# Before 3.10, who goes on after too deep a recursion, as we would have to, is aborted.
_MAY_ABORT = sys.version_info < (3, 10)
_HAS_NAMES = sys.version_info >= (3, 11)  # `co_qualname`
# The distance to the recursion limit at which we stop following calls.
_ROOM = 200  # calls


class _TracedMethodSample:
    def method(self) -> None:
        """Exist, so that a bound method's type has a name here."""


# Tracers in Python; one of a compiled module takes our place by itself.
TRACERS_IN_PYTHON = frozenset(map(id, (type(lambda: None), type(_TracedMethodSample().method))))


_HERE: str = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - pathlib is slow to import


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame is of the recorder itself."""
    return frame.f_code.co_filename.startswith(_HERE)


class _CombinedTracer:
    """Passes each event to the program's own tracer, written in Python, and to ours."""

    def __init__(self, own: Any, other: Any) -> None:
        self._own = own
        self.other = other

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Begin to trace a call."""
        if self.other is None or is_ours(frame):
            return self._own(frame, event, argument)  # what is ours the other does not know
        other = self.other(frame, event, argument)
        own = self._own(frame, event, argument)
        if other is None:
            return own
        # Our own tracer may have switched lines off; the other one expects them.
        frame.f_trace_lines = True

        def traced(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal other
            if self.other is not None:
                other = other(frame, event, argument) or other
            if own is not None:
                own(frame, event, argument)
            return traced

        return traced


class _TracedCode:
    """What is known of one code object, because most of it is needed at every call."""

    __slots__ = (
        "code",
        "has_lines",
        "is_counted",
        "is_ours",
        "is_requested",
        "on_event",
        "passed",
    )

    def __init__(self, code: CodeType, *, is_ours: bool, is_counted: bool) -> None:
        self.code = code  # kept alive, since it is found by its identity
        self.is_ours = is_ours
        # Whether its calls of a known path may take the short way: no generator's do.
        self.is_counted = is_counted
        self.is_requested: bool | None = None  # not known yet, or not for all its calls
        self.has_lines = True  # lines that were not passed yet
        self.passed: set[int] = set()  # lines that were reported
        self.on_event: Any = None  # the trace function of its frames, with `is_counted`


class CallTracer:
    """The trace functions of one process."""

    def __init__(self, book: Any, watch: Any, parts: Any, calls: Any = None) -> None:
        self._book = book
        self._watch = watch
        self._parts = parts
        self._looks = parts.looks_at_itself
        # By the code's identity: to hash code is to hash all that is in it, at each call.
        self._known: dict[int, _TracedCode] = {}
        # By the frame that exceptions are in: each by the instruction that it came from, in order.
        self._errors: dict[int, dict[int, BaseException]] = {}
        self._set = sys.settrace
        self._get = sys.gettrace
        # Always the same object, or the interpreter could not tell us what is set.
        self._calls: Any = calls or self._on_call
        self._locals: Any = self._on_event
        self._for_threads: Any = None

    def begin(self) -> bool:
        """Trace this thread and later ones, and hide our tracer from the program."""
        import threading

        # Only new threads: a running thread cannot be given a tracer by another one before 3.12.
        threading.settrace(self._calls)
        self._wrap_threading(threading)
        self._set(self._calls)
        return True

    def _combine_tracers(self, function: Any) -> Any:
        """Return the tracer to set in place of the program's: ours, combined with the other.

        A new thread begins by setting the tracer for all threads, which is ours.
        """
        known = getattr(function, "__self__", None)
        if type(known) is _CombinedTracer:  # of all threads: each gets one of its own
            function = known.other
        if function is None or function is self._calls:
            return self._calls
        if id(type(function)) in TRACERS_IN_PYTHON:
            return _CombinedTracer(self._calls, function).called
        name = f"{type(function).__module__}.{type(function).__name__}"
        self._book.note("tracer", f"the program set a tracer of its own, {name}")
        return function

    def _wrap_threading(self, threading: Any) -> None:
        real_set, real_get = self._set, self._get

        def settrace(function: Any) -> None:
            before = getattr(real_get(), "__self__", None)
            real_set(self._combine_tracers(function))
            if type(before) is _CombinedTracer:
                before.other = None  # frames that it traces get no more of its events

        def gettrace() -> Any:
            found = real_get()
            other = getattr(found, "__self__", None)
            if type(other) is _CombinedTracer:
                return other.other
            return None if found is self._calls or found is self._locals else found

        def settrace_threads(function: Any) -> None:
            self._for_threads = function
            set_for_threads(self._combine_tracers(function))

        set_for_threads = threading.settrace
        sys.settrace, sys.gettrace = settrace, gettrace
        threading.settrace = settrace_threads
        if hasattr(threading, "gettrace"):
            threading.gettrace = lambda: self._for_threads

    def reset(self) -> None:
        """Expect all lines again, as a forked child does."""
        for known in list(self._known.values()):
            known.is_ours = self._is_traced(known.code)
            if known.is_counted:
                known.passed.clear()
                known.has_lines = self._book.lines == "hit" and not self._looks(known.code)

    def end(self) -> None:
        """Stop tracing this thread."""
        if self._get() is self._calls:
            self._set(None)

    def _on_call(self, frame: FrameType, event: str, _argument: Any) -> Any:
        code = frame.f_code
        known = self._known.get(id(code))
        # Classified once by code object, and cached, because this runs at every call.
        if known is None:
            known = self._classify_code(code)
        if not known.is_ours or event != "call":
            return None
        book = self._book
        # Outside of all requested calls; a suspended generator may go on anywhere.
        if known.is_requested is False and not book.inside and not book.suspended:
            return None
        try:
            thread = book.threads.get(get_ident()) if known.is_counted else None
            if thread is not None:  # the way of most calls, kept short
                top = thread.top
                spot = top.kids.get(id(code))
                if spot is not None and spot.count < book.limits["counted"]:
                    at = clock() if spot.parent is top else 0.0
                    if not known.has_lines:
                        frame.f_trace_lines = False
                    spot.count += 1
                    thread.calls += 1
                    thread.stack.append((top, at))
                    thread.top = spot
                    return known.on_event
                if top.level == _OUTSIDE and self._passes_over(known):
                    return None
            is_near_end = _MAY_ABORT and len(book.thread().stack) > sys.getrecursionlimit() - _ROOM
            if id(code) not in book.stopped and not is_near_end:
                return self._enter_call(known, code, frame)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
        return None

    def _passes_over(self, known: _TracedCode) -> bool:
        """Return whether a call outside of the requested ones is not recorded, and count it."""
        if known.is_requested and self._book.is_over_most:
            self._book.seen += 1
            return True
        return known.is_requested is False

    def _is_traced(self, code: CodeType) -> bool:
        """Return whether code is the program's own, and does not report its events itself."""
        return id(code) not in self._book.plain_codes and bool(self._book.chosen.is_ours(code))

    def _classify_code(self, code: CodeType) -> _TracedCode:
        is_ours = self._is_traced(code)
        is_counted = is_ours and self._watch is None and not code.co_flags & self._parts.GENERATES
        known = _TracedCode(code, is_ours=is_ours, is_counted=is_counted and not _MAY_ABORT)
        if known.is_counted:
            known.has_lines = self._book.lines == "hit" and not self._looks(code)
            known.on_event = self._make_counting(known)
        self._known[id(code)] = known
        return known

    def _make_counting(self, known: _TracedCode) -> Any:
        """Return the trace function for frames of which only lines and the return are needed.

        It is a closure, and begins with the frequent cases, because it runs at every line.
        """
        book, errors, code, other = self._book, self._errors, known.code, self._on_event
        passed, every = known.passed, len(self._parts.own_lines(code))

        def counting(frame: FrameType, event: str, argument: Any) -> None:
            if event == "line":
                if frame.f_lineno in passed or not known.has_lines:
                    return
                other(frame, event, argument)
                passed.add(frame.f_lineno)
                if len(passed) >= every:
                    known.has_lines = frame.f_trace_lines = False
            elif event == "return" and id(frame) not in errors:
                thread = book.threads.get(get_ident())
                spot = thread.top if thread is not None else None
                if spot is None or spot.code is not code or spot.is_single:
                    other(frame, event, argument)
                    return
                thread.top, began = thread.stack.pop()
                if began:
                    at = clock()
                    spot.total += at - began
                    if at > book.due:
                        book.flush()
            else:
                other(frame, event, argument)

        return counting

    def _note_fault(self, error: Exception) -> None:
        if _MAY_ABORT and isinstance(error, RecursionError):
            raise error  # it is the program's own, at its own limit; we are no longer asked then
        if self._book.fault(error):
            self.end()

    def _enter_call(self, known: _TracedCode, code: CodeType, frame: FrameType) -> Any:
        book = self._book
        thread = book.thread()
        if self._watch is not None:
            if self._looks(code):
                return None
            self._watch.entered(thread, code, frame)
            return self._locals
        if code.co_flags & self._parts.GENERATES and book.resume(thread, frame):
            frame.f_trace_lines = book.lines != "none" and not self._looks(code)
            return self._locals
        # Only outside: below a requested call every callee is of interest.
        is_other = thread.top.level == _OUTSIDE and not self._is_requested(known, code, frame)
        spot = book.enter(thread, code, frame) if not is_other else None
        if spot is None:
            return None
        if spot.count > book.limits["counted"]:
            known.is_ours = False  # its calls are of no more interest than a library's
            book.stop_counting(code)
        is_hit = book.lines == "hit" and not self._looks(code)
        # Without lines the interpreter calls us at the return only.
        frame.f_trace_lines = (is_hit and known.has_lines) or spot.is_lined
        return self._locals if spot.is_lined or not known.is_counted else known.on_event

    def _is_requested(self, known: _TracedCode, code: CodeType, frame: FrameType) -> bool:
        """Return whether a call is to be recorded; a resumed generator without a record is not."""
        is_generator = code.co_flags & self._parts.GENERATES
        if is_generator and not self._parts.is_entered(code, frame.f_lasti):
            return False
        if known.is_requested is None:
            name = self._parts.name_of(code, self._parts.arguments(code, frame))
            found = bool(self._book.chosen.is_requested(code, name))
            # Before 3.11 the name depends on the class of the first argument.
            if not _HAS_NAMES:
                return found
            known.is_requested = found
        return known.is_requested

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            thread, code = self._book.thread(), frame.f_code
            if event == "line":
                self._on_line(thread, code, frame)
            elif event == "exception":
                self._on_exception(code, frame, argument[1])
            elif event == "return":
                self._on_return(thread, code, frame, argument)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
        return self._locals

    def _on_line(self, thread: Any, code: CodeType, frame: FrameType) -> None:
        book, line = self._book, frame.f_lineno
        if self._watch is not None:
            self._watch.line(thread, code, line, frame)
        elif book.lines == "hit":
            book.hit(code, line, frame)
        else:
            book.line(thread, code, line, frame)
            if book.is_past_lines(thread.top, code):
                frame.f_trace_lines = False

    def _on_return(self, thread: Any, code: CodeType, frame: FrameType, value: Any) -> None:
        book = self._book
        # A tracer sees a return of None for an exception, too: bytecode and earlier events decide.
        error, raised_at = self._leaving_exception(code, frame)
        last = self._parts.last_instruction(code, frame.f_lasti)
        is_over = not (code.co_flags & self._parts.GENERATES and last in self._parts.YIELDS)
        if self._watch is not None:
            leave = self._watch.leave_frame if is_over else self._watch.suspend_frame
            leave(thread, frame)
        elif (
            error is not None
            and value is None
            and last not in self._parts.RETURNS
            and (
                last not in self._parts.YIELDS
                or raised_at == frame.f_lasti
                or self._is_raising(error, frame)
            )
        ):
            book.fail(thread, code, error, frame)
        elif is_over:
            book.leave(thread, code, value, frame)
        else:
            book.suspend(thread, code, frame)

    def _on_exception(self, code: CodeType, frame: FrameType, error: BaseException) -> None:
        """Record an exception in a frame, beside those that are being handled there."""
        at = frame.f_lasti
        step = self._parts.last_instruction(code, at)
        if isinstance(error, StopIteration) and step in self._parts.ENDED_BY_STOP:
            return  # what it awaited or went through has ended
        errors = self._errors.get(id(frame))
        if errors is None or all(one is not error.__context__ for one in errors.values()):
            errors = self._errors[id(frame)] = {}
        # Re-inserted at the end, so that the dictionary's order is the order of the events.
        errors.pop(at, None)
        errors[at] = error

    def _leaving_exception(
        self, code: CodeType, frame: FrameType
    ) -> tuple[BaseException | None, int]:
        """Return the exception that leaves a frame, if any, and its instruction.

        A tracer gets no event if a `finally` or `with` reraises an exception, and there may have
        been others in between.
        """
        errors = self._errors.pop(id(frame), None)
        if not errors:
            return None, -1
        at = frame.f_lasti
        if at in errors:
            return errors[at], at
        latest = list(reversed(errors))
        if len(errors) > 1:
            again = [one for one in latest if self._parts.is_raised_again(code, one, at)]
            latest = again or latest
        return errors[latest[0]], latest[0]

    def _is_raising(self, error: BaseException, frame: FrameType) -> bool:
        """Return whether an exception is leaving a frame that stands at an await."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame is frame:
                return True
            trace = trace.tb_next
        return False
