"""Gives numbers to threads, frames and values, by which an editor asks for them (DAP, Overview)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import State
from debugger.model.program import Frame, StepTarget, Stopped, Variable
from debugger.session.session import Session

_THREADS_MAX = 20_000  # that have a number


@dataclass(frozen=True)
class EditorThread:
    """A thread of one of the processes."""

    session: Session
    thread: int


@dataclass(frozen=True)
class EditorFrame:
    """A frame at one stop."""

    session: Session
    stop: Stopped | None
    frame: Frame
    thread: int


@dataclass(frozen=True)
class EditorValue:
    """A scope or a value with children, at one stop; `setters` are its children as expressions."""

    frame: EditorFrame
    handle: int
    is_scope: bool = False
    setters: dict[str, str] = field(default_factory=dict)


class EditorStopValues:
    """The numbers of an editor's threads, frames and values.

    A thread keeps its number. Those of frames and values are valid for one stop of their session.
    """

    def __init__(self) -> None:
        self._threads: dict[int, EditorThread] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._frames: dict[int, EditorFrame] = {}
        self._values: dict[int, EditorValue] = {}
        self._targets: dict[int, StepTarget] = {}
        self._lines: dict[int, tuple[str, int]] = {}
        self._next = 1

    def thread_number(self, session: Session, thread: int) -> int:
        """Return the number of a thread: its own, where no thread of another process has it."""
        key = (session.name, thread)
        number = self._numbers.get(key)
        if number is None:
            number = thread
            while number in self._threads or number <= 0:
                self._next += 1
                number = (1 << 30) + self._next
            if len(self._threads) >= _THREADS_MAX:  # those of long ago have ended
                oldest = next(iter(self._numbers))
                del self._threads[self._numbers.pop(oldest)]
            self._numbers[key] = number
            self._threads[number] = EditorThread(session, thread)
        return number

    def find_thread(self, number: int) -> EditorThread:
        """Return a thread.

        Raises:
            DebuggerError: NOT_FOUND.
        """
        found = self._threads.get(number)
        if found is None:
            raise DebuggerError(
                ErrorCode.NOT_FOUND, f"no thread {number}", hint="ask for the threads again"
            )
        return found

    def add_frame(self, session: Session, frame: Frame, thread: int) -> int:
        """Give a number to a frame."""
        number = self._take_number()
        self._frames[number] = EditorFrame(session, session.last_stop, frame, thread)
        return number

    def find_frame(self, number: int) -> EditorFrame:
        """Return a frame of the present stop.

        Raises:
            DebuggerError: STALE_REF.
        """
        found = self._frames.get(number)
        if found is None or not _is_current(found):
            raise _stale("frame", number)
        return found

    def frames_of(self, reference: int) -> list[Frame]:
        """Return the frames in a source that only the debugger has."""
        return [
            one.frame
            for one in self._frames.values()
            if reference and one.frame.source_reference == reference and _is_current(one)
        ]

    def add_value(self, frame: EditorFrame, handle: int, *, is_scope: bool = False) -> int:
        """Give a number to a value with children; 0 stands for one without."""
        if not handle:
            return 0
        number = self._take_number()
        self._values[number] = EditorValue(frame, handle, is_scope)
        return number

    def find_value(self, number: int) -> EditorValue:
        """Return a scope or a value of the present stop.

        Raises:
            DebuggerError: STALE_REF.
        """
        found = self._values.get(number)
        if found is None or not _is_current(found.frame):
            raise _stale("value", number)
        return found

    def note_children(self, value: EditorValue, children: Mapping[str, Variable]) -> None:
        """Record the expressions by which the children of a value can be set."""
        for name, one in children.items():
            if one.expression:
                value.setters[name] = one.expression
            elif value.is_scope:
                value.setters[name] = one.name

    def add_step_target(self, target: StepTarget) -> int:
        """Give a number to a call that can be stepped into."""
        number = self._take_number()
        self._targets[number] = target
        return number

    def find_step_target(self, number: int) -> StepTarget:
        """Return a call that can be stepped into.

        Raises:
            DebuggerError: STALE_REF.
        """
        if number not in self._targets:
            raise _stale("step target", number)
        return self._targets[number]

    def add_line(self, file: str, line: int) -> int:
        """Give a number to a line to go to."""
        number = self._take_number()
        self._lines[number] = (file, line)
        return number

    def find_line(self, number: int) -> tuple[str, int]:
        """Return a line to go to.

        Raises:
            DebuggerError: STALE_REF.
        """
        if number not in self._lines:
            raise _stale("line", number)
        return self._lines[number]

    def forget_stop(self, session: Session) -> None:
        """Drop the numbers of a session's frames and values."""
        self._frames = {n: one for n, one in self._frames.items() if one.session is not session}
        self._values = {
            n: one for n, one in self._values.items() if one.frame.session is not session
        }
        self._targets.clear()
        self._lines.clear()

    def _take_number(self) -> int:
        self._next += 1
        return self._next


def _is_current(frame: EditorFrame) -> bool:
    session = frame.session
    return session.state is State.STOPPED and session.last_stop is frame.stop


def _stale(what: str, number: int) -> DebuggerError:
    return DebuggerError(
        ErrorCode.STALE_REF,
        f"the {what} {number} belonged to an earlier stop; the program has run since",
        hint="ask for the stack again",
    )
