"""Writes the events of one session to the timeline of its process tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.backends.base import LogpointPassed
from debugger.model.answers import CrashNote
from debugger.model.breakpoints import BreakpointKind, Breakpoints
from debugger.model.events import EventKind, OutputStream
from debugger.model.program import CallEvent, ExitedProgram, Frame, Stopped, StopReason
from debugger.session.timeline import Timeline


class EventLocation(Struct, frozen=True):
    """The location of an event, as far as it is known."""

    function: str | None = None
    file: str | None = None
    line: int | None = None


_UNKNOWN = EventLocation()
_DESCRIPTION_MAX = 400  # characters
_FATAL = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS"})


def is_crash(stop: Stopped) -> bool:
    """Return whether a stop is for a signal that indicates a fault of the program."""
    if stop.reason is not StopReason.SIGNAL:
        return False
    return stop.signal is None or stop.signal in _FATAL or stop.signal.startswith("EXC_")


def _how_ended(known: ExitedProgram) -> str:
    if known.signal is not None:
        return f"signal {known.signal}"
    return "" if known.code is None else f"status {known.code}"


class EventRecord:
    """Writes events under a session's name; events at a breakpoint have its location."""

    def __init__(self, timeline: Timeline, name: str, breakpoints: Breakpoints) -> None:
        self._timeline = timeline
        self._name = name
        self._breakpoints = breakpoints
        # The numbers of the last stop's events that do not name a function yet.
        self._unlocated: list[int] = []

    def add_output(self, stream: OutputStream, text: str) -> None:
        """Write the program's output; the debugger's own messages are of another kind."""
        if stream is OutputStream.CONSOLE:
            self._append_event(EventKind.ADAPTER, text.rstrip("\n"), {})
        else:
            self._timeline.append_output(stream, text, session=self._name)

    def add_log(self, logged: LogpointPassed) -> None:
        """Write a logpoint's text, which the timeline shows among the output, too."""
        number = logged.number
        data = {} if number is None else {"breakpoint": number}
        self._append_event(
            EventKind.LOGPOINT,
            logged.text,
            data,
            thread=logged.thread,
            place=self._breakpoint_location(number),
            time_ns=logged.time_ns,
        )

    def add_calls(self, passages: Sequence[CallEvent], lost: int) -> None:
        """Write calls and returns of traced functions, and the number of lost ones."""
        self._timeline.append_passages(passages, session=self._name, lost=lost)

    def condition_failed(self, number: int | None, message: str) -> None:
        """Write that a condition could not be evaluated."""
        data = {"breakpoint": number}
        self._append_event(
            EventKind.CONDITION_ERROR, message, data, place=self._breakpoint_location(number)
        )

    def add_stop(self, stop: Stopped, hits: tuple[int, ...]) -> CrashNote | None:
        """Write a stop; the events before it are written first, for the tasks that wait.

        Returns the crash note, if the stop is a crash.
        """
        crashed = None
        text = stop.description or stop.raw_reason
        data = {
            "reason": stop.reason.value,
            "raw_reason": stop.raw_reason,
            "breakpoints": list(hits),
        }
        if is_crash(stop):
            record = {**data, "signal": stop.signal, "description": text}
            seq = self._append_event(EventKind.CRASH, text, record, thread=stop.thread)
            crashed = CrashNote(stop.signal, text[:_DESCRIPTION_MAX], stop.thread, seq)
        places = [self._breakpoint_location(number) for number in hits]
        written = [
            self._append_event(
                EventKind.BREAKPOINT_HIT,
                f"breakpoint {number}",
                data,
                thread=stop.thread,
                place=place,
            )
            for number, place in zip(hits, places, strict=True)
        ]
        where = places[0] if places else _UNKNOWN
        written.append(
            self._append_event(EventKind.STOP, text, data, thread=stop.thread, place=where)
        )
        self._unlocated = written
        return crashed

    def locate_stop(self, frame: Frame | None) -> None:
        """Add the location of the last stop, known once its stack was read."""
        if frame is not None:
            for seq in self._unlocated:
                self._timeline.locate(
                    seq, function=frame.function, file=frame.file, line=frame.line
                )
        self._unlocated = []

    def add_resumed(self) -> None:
        """Write that the program runs again."""
        self._append_event(EventKind.RESUME, "", {})

    def add_end(self, exited: ExitedProgram | None, error: str | None, text: str) -> None:
        """Write the end of the program, or of the debugger."""
        self._timeline.end_output(session=self._name)
        known = exited or ExitedProgram()
        data = {"exit_code": known.code, "signal": known.signal, "error": error}
        self._append_event(EventKind.EXIT, text or _how_ended(known), data)

    def _breakpoint_location(self, number: int | None) -> EventLocation:
        known = next((one for one in self._breakpoints.all_breakpoints() if one.id == number), None)
        if known is None or known.spec.kind is BreakpointKind.WATCHPOINT:
            return _UNKNOWN  # a watchpoint's own place is where it was set, not who wrote
        at, bound = known.at or known.spec, known.bound
        return EventLocation(
            function=known.spec.function,
            file=(bound.file if bound is not None else None) or at.file,
            line=(bound.line if bound is not None else None) or at.line,
        )

    def _append_event(
        self,
        kind: EventKind,
        text: str,
        data: Mapping[str, object],
        *,
        thread: int | None = None,
        place: EventLocation = _UNKNOWN,
        time_ns: int | None = None,
    ) -> int:
        return self._timeline.append(
            kind,
            text,
            session=self._name,
            thread=thread,
            function=place.function,
            file=place.file,
            line=place.line,
            data=dict(data),
            time_ns=time_ns,
        )
