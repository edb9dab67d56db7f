"""Follows the calls of rewritten code (CPython 3.11), as cheaply as code in Python can.

A frame of rewritten code keeps its call below all values of its stack: what its start hook
returned. So the hooks at its ends find the call without a search, and no list of running calls is
needed. A call knows what was the innermost one before it, and becomes that again at its end,
whatever happened between.

Two readings of the clock cost as much as all else. So of a path with many short calls only some
are timed, and stand for the others. Such a function's code is then replaced by one that looks its
call up itself (see `code_splicer`), and calls a hook only where a call is timed. Of each function
only the first calls are followed; its code counts the further ones by itself.

Where each line of the first calls is recorded, a hook is called at it. Once no more such calls can
begin, the function gets code without these hooks.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from time import perf_counter as clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_ERRORS_MAX = 3  # of calls that share a spot
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines
_MANY = 256  # calls of one path, after which only some are timed, and the code is made faster
_SAMPLED = 16  # of so many calls one is timed
_SHORT_S = 100e-6  # the mean time of calls of which only some are timed
_UNSTOPPED = 300  # calls that are only counted, after which the code is made faster
_NEVER = sys.maxsize
_LONG = 32  # times the mean: a call that stands for itself alone


class GeneratorCall:
    """The call of one generator or coroutine; `outer` is None while it does not run."""

    __slots__ = ("began", "outer", "owner", "spot")

    def __init__(self, spot: Any, thread: Any) -> None:
        self.spot = spot
        self.resume(thread)

    def resume(self, thread: Any) -> None:
        """Become the innermost call of a thread."""
        self.owner = thread
        thread.calls += 1
        self.outer = outer = thread.top
        thread.top = self.spot
        # A recursion's time belongs to its outer call.
        self.began = clock() if outer is not self.spot else 0.0

    def suspend(self) -> None:
        """Make the call before it the innermost again."""
        self.owner.top = self.outer
        self.outer = None
        if self.began:
            self.spot.total += clock() - self.began


class HookedCalls:
    """Makes the hooks of rewritten code, which keep the book of calls."""

    # Hooks are closures, since they are constants of code that the program may send to another
    # process. Those at the starts and ends run at each call, and do no more than they must.

    def __init__(self, book: Any, parts: Any, events: Any) -> None:
        self._book = book
        self._parts = parts
        self._events = events
        self._limit: int = book.limits["followed"]
        finish = self._make_finish()
        leave = self._make_return(finish)
        self._function_hooks = {
            "return": leave,
            "unwind": self._make_unwind(leave),
            "finish": finish,
            "threads": book.threads,
            "thread": get_ident,
        }
        self._add_starts(self._make_counted())
        resume = self._make_resume()
        self._generator_hooks = {
            "resume": resume,
            "throw": resume,  # what is thrown in at a yield resumes the call, too
            "yield": self._make_suspend() if book.lines == "each" else _suspend,
            "return": self._make_generator_return(),
            "unwind": self._make_generator_unwind(),
            "start": self._make_generator_start(),
        }
        lines = {"line": self._make_pass_line()}
        self._lined_function_hooks = {**self._function_hooks, **lines}
        self._lined_generator_hooks = {**self._generator_hooks, **lines}

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return dict, ()

    def make_hooks(self, code: CodeType) -> dict[str, Any]:
        """Return the hooks of a function by their events, and what code without them needs."""
        is_lined = self._book.lines == "each" and not self._parts.looks_at_itself(code)
        if code.co_flags & _GENERATES:
            return self._lined_generator_hooks if is_lined else self._generator_hooks
        return self._lined_function_hooks if is_lined else self._function_hooks

    def _add_starts(self, counted: Any) -> None:
        """Add the hooks at the start of functions, which get the function's key."""
        calls, threads, book = self, self._book.threads, self._book
        count, codes = self._events.count_further, self._events.codes

        def start(key: int) -> Any:
            try:
                call = threads[get_ident()].top.kids[key]
            except KeyError:
                return calls.begin_first(codes[key])
            spot = call.spot
            spot.count += 1
            call.owner.top = spot
            return call if spot.count < call.due else counted(call)

        def start_compared(key: int) -> Any:
            """Begin a call that is recorded by itself, or count it."""
            if key not in book.stopped:
                return calls.begin_first(codes[key])
            count(key)
            return None

        def first(key: int) -> Any:
            return calls.begin_first(codes[key])

        def stop(key: int) -> None:
            calls.stop_counting(codes[key])

        begin = start_compared if book.is_compared else start
        self._function_hooks |= {"start": begin, "first": first, "stop": stop, "counted": counted}

    def _make_counted(self) -> Any:
        calls = self

        def begin_counted(call: Any) -> Any:
            """Begin a call that is timed, or due for another reason."""
            if call.spot.count < call.exact:
                call.began = clock()
                return call
            return calls.begin_due(call)

        return begin_counted

    def _make_finish(self) -> Any:
        book, calls = self._book, self

        def finish(value: Any, call: Any) -> None:
            """End a call that is timed, or recorded by itself."""
            if call.is_single:
                calls.end_single(call, value)
                return
            at = clock()
            if call.due:
                calls.add_sample(call, at)
            else:
                call.total += at - call.began
            call.began = None
            if at > book.due:
                book.flush()

        return finish

    def _make_return(self, finish: Any) -> Any:
        def leave(value: Any, call: Any) -> None:
            call.owner.top = call.outer
            if call.began is not None:
                finish(value, call)

        return leave

    def _make_unwind(self, leave: Any) -> Any:
        calls = self

        def unwind(call: Any, offset: int, error: BaseException) -> None:
            spot = call.spot
            spot.raised += 1
            if spot.is_single:
                call.owner.top = call.outer
            else:
                leave(None, call)
            if spot.is_single or spot.raised <= _ERRORS_MAX:
                calls.end_by_error(spot, error, offset)

        return unwind

    # -- generators and coroutines ---------------------------------------------------------------

    def _make_generator_start(self) -> Any:
        threads, limit, codes = self._book.threads, self._limit, self._events.codes
        calls, make_call = self, GeneratorCall

        def start(key: int) -> Any:
            try:
                thread = threads[get_ident()]
                spot = thread.top.kids[key].spot
            except KeyError:
                return calls.begin_first(codes[key])
            spot.count += 1
            spot.steps += 1
            is_due = spot.steps <= limit
            return make_call(spot, thread) if is_due else calls.stop_counting(codes[key])

        return start

    def _make_resume(self) -> Any:
        book, threads, limit, calls = self._book, self._book.threads, self._limit, self

        def resume(call: Any) -> None:
            # A forked child knows nothing of what was begun before.
            if call is None or call.spot.owner.is_over:
                return
            spot = call.spot
            spot.steps += 1
            if spot.steps > limit:
                calls.stop_counting(spot.code)
                return
            call.resume(threads.get(get_ident()) or book.thread())

        return resume

    def _make_generator_return(self) -> Any:
        book, calls = self._book, self

        def leave(value: Any, call: Any) -> None:
            if call.outer is not None:
                call.suspend()
                if clock() > book.due:
                    book.flush()
                if call.spot.is_single:
                    calls.end_single(call.spot, value)

        return leave

    def _make_suspend(self) -> Any:
        calls, most = self, self._book.limits["lines"]

        def suspend(call: Any) -> None:
            if call is not None and call.outer is not None:
                call.suspend()
                if call.spot.is_lined and call.spot.passed <= most:
                    calls.note_changes(call.spot)

        return suspend

    def _make_generator_unwind(self) -> Any:
        calls = self

        def unwind(call: Any, offset: int, error: BaseException) -> None:
            if call.outer is not None:
                call.suspend()
                call.spot.raised += 1
                if call.spot.is_single or call.spot.raised <= _ERRORS_MAX:
                    calls.end_by_error(call.spot, error, offset)

        return unwind

    # -- lines -----------------------------------------------------------------------------------

    def _make_pass_line(self) -> Any:
        calls = self

        def pass_line(call: Any, line: int) -> None:
            # A generator may be running that is followed no more.
            if call is not None and call.spot.is_lined and call.outer is not None:
                calls.add_line(call.spot, line)

        return pass_line

    def add_line(self, spot: Any, line: int) -> None:
        """Record a line of a call; the caller is a hook in its frame."""
        book, most = self._book, self._book.limits["lines"]
        try:
            if spot.passed <= most and not spot.owner.is_over:
                book.pass_line(spot, line, sys._getframe(2))  # noqa: SLF001
                if spot.passed > most:
                    self._events.end_lines(spot)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)

    def note_changes(self, spot: Any) -> None:
        """Record what the last line of a call changed; the caller is a hook in its frame."""
        try:
            if not spot.owner.is_over:
                self._book.note_changes(spot, sys._getframe(2))  # noqa: SLF001
        except Exception as error:  # noqa: BLE001 - as above
            self._note_fault(error)

    def _end_lines(self, spot: Any) -> None:
        """Record the last changes of a call that ends, whose frame is called a hook."""
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001
        while frame is not None and self._book.plain_code(frame) is not spot.code:
            frame = frame.f_back
        if frame is not None:
            self._book.note_changes(spot, frame)
        spot.fixed.clear()
        self._events.end_lines(spot)

    # -- the ways of few calls -------------------------------------------------------------------

    def begin_first(self, code: CodeType) -> Any:
        """Begin a call of a new path; the caller is a hook in its frame."""
        book = self._book
        if id(code) in book.stopped:
            return None
        try:
            self._events.collect_lines()
            thread = book.thread()
            frame = sys._getframe(2)  # noqa: SLF001 - there is no other way
            outer = thread.top
            call = spot = book.add_call(thread, outer, code, frame)
            if spot is None:
                self._stop_lines(code)
                return None
            if book.lines == "each":
                self._events.begin_lines(spot)
            if code.co_flags & _GENERATES:
                spot.steps += 1
                return GeneratorCall(spot, thread)
            if spot.parent is not outer:
                call = book.repeat_call(spot, outer)
                call.due = _MANY
                # Between its calls may be those of other paths, so that each is timed.
                spot.due, spot.exact = 0, _NEVER
            else:
                spot.exact = _MANY
            at = clock()
            if at > book.due:
                book.flush()
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
            return None
        thread.top = spot
        if call is spot:
            call.began = 0.0 if spot.is_single else at
        return call

    def _stop_lines(self, code: CodeType) -> None:
        """Only count the further calls of a function whose lines were recorded."""
        self._book.stop_counting(code)
        self._events.count_further(id(code))
        if code.co_flags & _GENERATES:
            self._events.stop_calls(code)
        else:
            self._events.end_budget(code, _UNSTOPPED)

    def begin_due(self, call: Any) -> Any:
        """Begin a call of a path with many calls: the first of them, or a timed one."""
        if call is not call.spot or not call.due:
            self._begin_many(call)
        if call is call.spot:
            call.began = clock()
        return call

    def _begin_many(self, call: Any) -> None:
        """Choose which further calls of a path are timed, and make their code faster."""
        if call is not call.spot:
            call.due = _NEVER
        elif call.total > call.count * _SHORT_S:
            call.exact = _NEVER  # each call
        else:
            call.due, call.sampled = call.count, call.count - 1
        try:
            self._events.make_faster(call.spot.code)
        except Exception as error:  # noqa: BLE001 - as above
            self._note_fault(error)

    def add_sample(self, call: Any, at: float) -> None:
        """Add the time of a call, and of those before it that were not timed."""
        taken, skipped = at - call.began, call.count - call.sampled - 1
        mean = call.total / call.count
        call.total += taken + skipped * (taken if taken < mean * _LONG else mean)
        call.sampled = call.count
        call.due = call.count + _SAMPLED

    def end_single(self, spot: Any, value: Any) -> None:
        """Report the return of a call that is recorded by itself."""
        book = self._book
        try:
            if not spot.owner.is_over:
                if spot.is_lined:
                    self._end_lines(spot)
                book.write(["r", spot.id, book.stamp(), book.texts(value)])
        except Exception as error:  # noqa: BLE001 - as above
            self._note_fault(error)

    def end_by_error(self, spot: Any, error: BaseException, offset: int) -> None:
        """Report an exception that leaves a call; the caller is a hook in its frame."""
        book = self._book
        try:
            if not spot.owner.is_over:
                if spot.is_lined:
                    self._end_lines(spot)
                # The frame is in a hook, of no line; the exception came from the unit at `offset`.
                frame = sys._getframe(2)  # noqa: SLF001
                line = frame.f_lineno or self._parts.line_at(frame.f_code, offset)
                fields = [type(error).__name__, book.texts.raised(error), line]
                book.write(["x", spot.id, book.stamp(), *fields])
        except Exception as fault:  # noqa: BLE001 - as above
            self._note_fault(fault)

    def _note_fault(self, error: Exception) -> None:
        if self._book.fault(error):
            self._events.end()

    def stop_counting(self, code: CodeType) -> None:
        """Follow a function no more: a hook costs more than many functions do."""
        try:
            is_stopped = id(code) in self._book.stopped
            if not is_stopped:
                self._book.stop_counting(code)
            elif self._book.is_compared:  # it is called often: its code is worth being replaced
                self._events.make_faster(code)
            if not is_stopped or self._book.is_compared:
                self._events.stop_calls(code)
        except Exception as error:  # noqa: BLE001 - as above
            self._note_fault(error)


def _suspend(call: Any) -> None:
    """Report the yield of a generator or coroutine."""
    if call is not None and call.outer is not None:
        call.suspend()
