"""Numbers the calls of the program's own code, without a trace of those that count only.

Each function takes the number of its call from one iterator, and keeps it in a variable whose name
no source can have (see `code_numbering`). The iterator acts at the numbers at which recording
begins. A thread is traced only while a call of it is recorded; the location's line, and each
statement that may write a watched name, are reported by themselves. Where a recorded call makes
others that are not, the first line of each ends the trace, and the end of its variable begins it
again.
"""

from __future__ import annotations

import sys
from _thread import RLock, get_ident
from _thread import _count as count_threads
from itertools import chain, repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

NUMBER = ".number"  # the variable
_NEVER = 1 << 62
_OPTIMIZED = 0x1
_OUTWARD = 400  # frames of the stack that are looked through


class _NumberIterator(chain):  # type: ignore[type-arg]
    """What functions take their numbers of; a copy in another process gives none."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return repeat, (None,)


class CallNumbers:
    """The numbers of a process's calls, in ranges; `act` begins each, and returns its end."""

    def __init__(self, act: Any) -> None:
        self._act = act
        self._end = 1  # the number after the current range
        self._range: Any = iter(())
        self.ahead = 0  # a call has begun that has not taken its number
        self._shift = 0  # numbers that the question's own expression took
        self._shifts: list[tuple[int, int]] = []  # from which number on which of them holds
        self.iterator: Any = _NumberIterator.from_iterable(self)
        self.reset()

    def reset(self) -> None:
        """Go on in a forked child, in which no other thread runs."""
        self._lock = RLock()

    def __reduce__(self) -> Any:
        return tuple, ()

    def __iter__(self) -> CallNumbers:
        return self

    def __next__(self) -> Any:
        with self._lock:
            if self._range.__length_hint__():
                return self._range  # another thread has begun it
            number = self._end
            self._end, self._range = number + 1, iter(())  # it counts as taken
            end = self._act() + self._shift
            if self._end > number + 1:  # the question's own expression took some
                return iter((number,))
            self._end = max(end, number + 1)
            self._range = iter(range(number, self._end))
            return self._range

    @property
    def taken(self) -> int:
        """How many were taken."""
        left: int = self._range.__length_hint__()
        return self._end - 1 - left

    @property
    def count(self) -> int:
        """The calls of the program so far."""
        # Not by way of `taken`: each recorded statement reads it.
        left: int = self._range.__length_hint__()
        return self._end - 1 - left - self._shift + self.ahead

    def call_of(self, number: int) -> int:
        """Return which of the program's calls has a number."""
        for first, shift in reversed(self._shifts):
            if number >= first:
                return number - shift
        return number

    def pass_over(self, taken: int) -> None:
        """Count no more what was taken since."""
        if self.taken > taken:
            self._shift += self.taken - taken
            self._shifts.append((taken + 1, self._shift))


class SingleNumbers:
    """The numbers of a function of which each call matters, as long as it does."""

    def __init__(self, numbers: Any, act: Any) -> None:
        self._numbers = numbers
        self._act = act
        self.iterator: Any = _NumberIterator.from_iterable(self)

    def __reduce__(self) -> Any:
        return tuple, ()

    def __iter__(self) -> SingleNumbers:
        return self

    def __next__(self) -> Any:
        number = next(self._numbers)
        return (number,) if self._act(number) else chain((number,), self._numbers)


class _LastingNumber(int):
    """The number of a call, at whose end its caller is traced again."""

    resume: Any

    def __del__(self) -> None:
        try:
            self.resume()
        except Exception:  # noqa: BLE001 - the interpreter ends, and nothing is of use
            return


class NumberedCalls:
    """The calls of one process that are numbered by their code."""

    def __init__(self, parts: Any) -> None:
        self.recorder: Any = None
        self.numbering: Any = None  # gives code what takes the numbers
        self._parts = parts
        self.numbers = CallNumbers(self._meet_number)
        self.on_call: Any = None  # always the same object, or no one could tell what is set
        self._on_line: Any = self._leave_at_line
        self._get, self._set = sys.gettrace, sys.settrace
        self._entering: dict[int, int] = {}  # numbers that are not in their variable yet, by frame
        self._by_frame: dict[int, int] = {}  # the numbers of calls that have no variable for it
        self._followed: dict[int, int] = {}  # threads by the frames that are traced by themselves
        # Files of which no call is the program's, and what each counts in a window: ours nothing.
        self._foreign: dict[Any, int] = {}
        self._is_always_traced = False  # some code of the program has no numbers

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return tuple, ()

    def attach(self, recorder: Any) -> None:
        """Record by a recorder."""
        self.recorder = recorder
        windows, foreign, on_call = recorder.windows, self._foreign, self._on_call

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            # The way of most calls of libraries, kept short.
            try:
                share = foreign.get(frame.f_globals.get("__file__")) if windows.is_full else None
                if share is not None:
                    if windows.pass_calls(share):
                        recorder.spend_calls(frame)
                    return None
            except TypeError:  # the program has given a module another file
                return None
            return on_call(frame, event, argument)

        self.on_call = trace

    # -- numbers -----------------------------------------------------------------------------------

    def number_of(self, frame: FrameType) -> int:
        """Return which of the program's calls a frame is; 0 if it has no number."""
        code = frame.f_code
        if id(frame) in self._entering:
            return self._entering[id(frame)]
        if not code.co_flags & _OPTIMIZED or NUMBER not in code.co_varnames:
            return self._by_frame.get(id(frame), 0)
        number = frame.f_locals.get(NUMBER)
        return self.numbers.call_of(int(number)) if isinstance(number, int) else 0

    def _meet_number(self) -> int:
        """Begin or end a window at a call, and return the number at which to look again."""
        recorder, windows = self.recorder, self.recorder.windows
        count = self.numbers.count
        if recorder.is_evaluating or recorder.is_over:
            return count + 1 if recorder.is_evaluating else _NEVER
        try:
            frame = self._program_frame()
            begins = count >= windows.border and windows.pass_border()
            if begins:
                self.trace()
                recorder.begin_window(frame)
            if windows.is_full or count in windows.kept:
                self._enter(frame, count)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            recorder.end_at_fault(error)
        if windows.is_full and count_threads():
            return count + 1  # the others have to be traced, too
        further: list[int] = [one for one in windows.kept if one > count]
        return min(int(windows.next_look), *further, _NEVER)

    def meet_single(self, number: int) -> bool:
        """Handle a call that matters by itself; False if further ones of its code do not."""
        recorder = self.recorder
        if recorder.is_evaluating or recorder.is_over:
            return not recorder.is_over
        try:
            frame = self._program_frame()
            count = self.numbers.call_of(number)
            if NUMBER not in frame.f_code.co_varnames:
                self._by_frame[id(frame)] = count
            return bool(self._enter(frame, count))
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            recorder.end_at_fault(error)
            return False

    def meet_line(self) -> None:
        """Handle a hit of the location in a call whose lines are not traced."""
        recorder = self.recorder
        frame = self._program_frame()
        is_traced = frame.f_trace is not None and self._get() is not None
        if is_traced or recorder.is_over:
            return
        try:
            recorder.meet_unrecorded(frame)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            recorder.end_at_fault(error)

    def meet_write(self) -> None:
        """Record a statement that may write a watched name, in a call that is not recorded."""
        recorder = self.recorder
        frame = self._program_frame()
        is_traced = frame.f_trace is not None and self._get() is not None
        if is_traced or recorder.is_over or recorder.is_evaluating:
            return
        try:
            known = recorder.find_code(frame)
            if known is not None and recorder.windows.watch_call():
                frame.f_trace = recorder.watch_statement(known, frame)
                self._followed[id(frame)] = get_ident()
                self.trace()
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            recorder.end_at_fault(error)

    @property
    def unwinds_matter(self) -> bool:
        """Whether an exception that leaves a call has to be handled."""
        windows = self.recorder.windows
        return bool(self.recorder.errors.matter or windows.kept or windows.watched)

    def meet_unwind(self, error: BaseException) -> None:
        """Handle an exception that leaves a call, where no trace does."""
        recorder = self.recorder
        frame = self._program_frame()
        is_traced = frame.f_trace is not None and self._get() is not None
        if is_traced or recorder.is_over or recorder.is_evaluating:
            return
        try:
            if recorder.errors.matter:
                recorder.errors.unwind(frame, error)
            number = frame.f_locals.get(NUMBER) if self._followed else None
            if isinstance(number, _LastingNumber):
                # The traceback keeps the call's variables.
                number.resume = int
                self._trace_caller()
        except Exception as fault:  # noqa: BLE001 - ours, and not to become the program's
            recorder.end_at_fault(fault)

    def _program_frame(self) -> FrameType:
        frame = sys._getframe(2)  # noqa: SLF001 - there is no other way
        while self._parts.is_ours(frame):
            frame = frame.f_back  # type: ignore[assignment]
        return frame

    def _enter(self, frame: FrameType, number: int) -> bool:
        """Begin to follow a call whose start was not traced; return whether its code matters."""
        recorder = self.recorder
        known = recorder.find_code(frame)
        if known is None:
            return False
        scope = recorder.scopes.get(id(frame))
        if scope is None or scope.code is not frame.f_code:
            self._entering[id(frame)] = number
            try:
                followed = recorder.enter_numbered(known, frame, number)
            finally:
                del self._entering[id(frame)]
            if followed is not known.unrecorded_trace:
                frame.f_trace = followed
                if not recorder.windows.is_full:
                    self._followed[id(frame)] = get_ident()
                self.trace()
        return bool(known.watched or known.is_entry)

    # -- traces ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Trace all calls from now on: some code takes no numbers."""
        self._is_always_traced = True
        self.trace()

    def reset(self) -> None:
        """Go on as before in a forked child."""
        self.numbers.reset()

    def end(self) -> None:
        """Do nothing: no number is of interest after the end."""

    def trace(self) -> None:
        """Trace this thread, unless a tracer of the program's own is set."""
        if self._get() is None:
            self._set(self.on_call)

    def run_untraced(self, function: Any, argument: Any) -> Any:
        """Call a function of ours, which is not to be traced itself."""
        before = self._get()
        if before is not self.on_call:
            return function(argument)
        self._set(None)
        try:
            return function(argument)
        finally:
            self._set(before)

    def pause_call(self, known: Any, frame: FrameType) -> None:
        """Go on with a call that is recorded no longer."""
        if id(frame) == self.recorder.windows.skipped_import:
            return  # its end matters
        self._followed.pop(id(frame), None)
        if not (self._is_needed or self._follow_running(frame.f_back)):
            self.pause()
        elif not known.generates:
            self._leave(frame)

    def end_statement(self, known: Any, frame: FrameType) -> None:
        """Go on with a call of which one statement was recorded."""
        self._followed.pop(id(frame), None)
        self._leave_call(frame, generates=known.generates)

    def follow_call(self, frame: int) -> None:
        """Trace a call of this thread by itself, up to its end."""
        self._followed[frame] = get_ident()

    def end_call(self, frame: FrameType) -> None:
        """Trace a call no longer by itself."""
        self._followed.pop(id(frame), None)

    @property
    def _is_needed(self) -> bool:
        """Whether a trace is of use now."""
        windows = self.recorder.windows
        is_recorded = windows.is_full or windows.skipped_import or self._is_always_traced
        return bool(is_recorded or self._followed)

    def _follow_running(self, frame: FrameType | None) -> bool:
        """Go on with the running calls that are recorded outside of windows."""
        recorder, thread, count = self.recorder, get_ident(), 0
        while frame is not None and count < _OUTWARD:
            count += 1
            known = recorder.find_code(frame)
            if known is not None and recorder.is_kept(known, frame):
                self._followed[id(frame)] = thread
            frame = frame.f_back
        return bool(self._followed)

    def pause(self) -> None:
        """Trace this thread no longer, unless all of it is traced."""
        if self._get() is self.on_call and not self._is_always_traced:
            self._set(None)

    def _on_call(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Follow a call (a trace function), or leave it untraced."""
        recorder = self.recorder
        try:
            if event != "call":
                return None
            if recorder.is_over or not (self._is_needed or self._follow_running(frame.f_back)):
                self.pause()
                return None
            return self._trace_call(frame)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            recorder.end_at_fault(error)
            return None

    def _trace_call(self, frame: FrameType) -> Any:
        """Return the trace function of a call."""
        recorder, code = self.recorder, frame.f_code
        known = recorder.find_code(frame)
        if known is None:
            if recorder.windows.pass_calls(self._note_foreign(frame)):
                recorder.spend_calls(frame)
            return None
        is_entered = self._parts.is_entered(code, frame.f_lasti)
        if self._is_always_traced and known.counter is None and is_entered:
            return self._number_traced(known, frame)
        if recorder.windows.is_full or recorder.is_evaluating or not is_entered:
            numbers = self.numbers
            numbers.ahead = int(is_entered and known.counter is not None)  # it takes one next
            number = numbers.count if is_entered else 0
            if numbers.ahead:
                self._entering[id(frame)] = number
            try:
                return recorder.follow_call(known, frame, number)
            finally:
                numbers.ahead = 0
                self._entering.pop(id(frame), None)
        is_left = _can_be_left(known) and not self._is_always_traced
        return self._on_line if is_left else None

    def _number_traced(self, known: Any, frame: FrameType) -> Any:
        """Give a number to a call whose code takes none itself; return its trace function."""
        recorder = self.recorder
        known.met += 1
        number = self.numbers.call_of(next(self.numbers.iterator))
        self._by_frame[id(frame)] = number
        scope = recorder.scopes.get(id(frame))
        if scope is not None and scope.code is frame.f_code:
            return scope.trace  # a window began with it
        return recorder.enter_numbered(known, frame, number)

    def _note_foreign(self, frame: FrameType) -> int:
        """Note a file that is not the program's: to read a frame's code costs, with audit hooks.

        Returns:
            What a call of it counts in a window.
        """
        file = frame.f_globals.get("__file__")
        share = int(not self._parts.is_ours(frame))
        if type(file) is str and not self.recorder.chosen.file(file):
            self._foreign[file] = share
        return share

    def _leave_at_line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Trace neither a call nor those that it makes; its end traces the caller again."""
        if event == "line":
            self._leave_call(frame)
        return None

    def _leave_call(self, frame: FrameType, *, generates: bool = False) -> None:
        frame.f_trace = None
        if not self._is_called_by_followed(frame):
            # It is within another call that is left, at whose end the trace begins again.
            self.pause()
        elif not generates:
            self._leave(frame)

    def _is_called_by_followed(self, frame: FrameType) -> bool:
        """Return whether one that is traced by itself makes a call, and none between is left."""
        back, count = frame.f_back, 0
        while back is not None and count < _OUTWARD and id(back) not in self._followed:
            known = self.recorder.find_code(back)
            can_be_left = known is not None and _can_be_left(known)
            if can_be_left and isinstance(back.f_locals.get(NUMBER), _LastingNumber):
                return False
            back, count = back.f_back, count + 1
        return back is not None and id(back) in self._followed

    def _leave(self, frame: FrameType) -> None:
        if self._is_always_traced:
            return
        frame.f_trace = None
        variables = frame.f_locals  # from which the interpreter takes what a trace function changed
        number = variables.get(NUMBER)
        if isinstance(number, _LastingNumber):
            self.pause()
        elif isinstance(number, int) and self._get() is self.on_call:
            lasting = _LastingNumber(number)
            lasting.resume = self._trace_caller
            variables[NUMBER] = lasting
            self.pause()

    def _trace_caller(self) -> None:
        """Trace a call again that made another; or what it was called by, if it has ended."""
        thread, running = get_ident(), set[int]()
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - there is no other way
        while frame is not None and len(running) < _OUTWARD:
            running.add(id(frame))
            frame = frame.f_back
        for one, owner in list(self._followed.items()):
            if owner == thread and one not in running:
                del self._followed[one]
        if self._is_needed and not self.recorder.is_over:
            self.trace()


def _can_be_left(known: Any) -> bool:
    """Return whether the end of a call can trace its caller again."""
    return NUMBER in known.code.co_varnames and not known.generates
