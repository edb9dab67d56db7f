"""How what happens in one session is written to its family's timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.backends.base import Logged
from debugger.core.answers import Crashed
from debugger.core.breakpoints import Breakpoints
from debugger.core.breakpoints import Kind as BreakpointKind
from debugger.core.events import Kind, Stream
from debugger.core.model import Exited, Frame, Passage, Reason, Stopped
from debugger.timeline import Timeline


class Place(Struct, frozen=True):
    """Where something happened, as far as it is known."""

    function: str | None = None
    file: str | None = None
    line: int | None = None


_UNKNOWN = Place()
_DESCRIPTION_MAX = 400
_FATAL = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS"})


def is_crash(stop: Stopped) -> bool:
    """Tell whether a stop is for a signal that says of the program itself that it is wrong."""
    if stop.reason is not Reason.SIGNAL:
        return False
    return stop.signal is None or stop.signal in _FATAL or stop.signal.startswith("EXC_")


def _how_ended(known: Exited) -> str:
    if known.signal is not None:
        return f"signal {known.signal}"
    return "" if known.code is None else f"status {known.code}"


class Record:
    """Writes events under a session's name; where a breakpoint is, they tell of its place."""

    def __init__(self, timeline: Timeline, name: str, breakpoints: Breakpoints) -> None:
        self._timeline = timeline
        self._name = name
        self._breakpoints = breakpoints
        # The numbers of the last stop's events that do not name a function yet.
        self._unlocated: list[int] = []

    def printed(self, stream: Stream, text: str) -> None:
        """Write what the program printed; what the debugger says of itself is another kind."""
        if stream is Stream.CONSOLE:
            self._append(Kind.ADAPTER, text.rstrip("\n"), {})
        else:
            self._timeline.append_output(stream, text, session=self._name)

    def logged(self, logged: Logged) -> None:
        """Write what a logpoint printed, which the timeline shows among the output, too."""
        number = logged.number
        data = {} if number is None else {"breakpoint": number}
        self._append(
            Kind.LOGPOINT,
            logged.text,
            data,
            thread=logged.thread,
            place=self._place(number),
            time_ns=logged.time_ns,
        )

    def passed(self, passages: Sequence[Passage], lost: int) -> None:
        """Write that traced functions were entered and left, and that calls had no room."""
        self._timeline.append_passages(passages, session=self._name, lost=lost)

    def condition_failed(self, number: int | None, message: str) -> None:
        """Write that a condition could not be evaluated."""
        data = {"breakpoint": number}
        self._append(Kind.CONDITION_ERROR, message, data, place=self._place(number))

    def stop(self, stop: Stopped, hits: tuple[int, ...]) -> Crashed | None:
        """Write a stop; what led to it comes before it, so that a waiter finds all of it.

        Returns what is known of a crash, where it is one.
        """
        crashed = None
        text = stop.description or stop.raw_reason
        data = {
            "reason": stop.reason.value,
            "raw_reason": stop.raw_reason,
            "breakpoints": list(hits),
        }
        if is_crash(stop):
            told = {**data, "signal": stop.signal, "description": text}
            seq = self._append(Kind.CRASH, text, told, thread=stop.thread)
            crashed = Crashed(stop.signal, text[:_DESCRIPTION_MAX], stop.thread, seq)
        places = [self._place(number) for number in hits]
        written = [
            self._append(
                Kind.BREAKPOINT_HIT, f"breakpoint {number}", data, thread=stop.thread, place=place
            )
            for number, place in zip(hits, places, strict=True)
        ]
        where = places[0] if places else _UNKNOWN
        written.append(self._append(Kind.STOP, text, data, thread=stop.thread, place=where))
        self._unlocated = written
        return crashed

    def locate_stop(self, frame: Frame | None) -> None:
        """Write where the last stop was, which is known once its stack was read."""
        if frame is not None:
            for seq in self._unlocated:
                self._timeline.locate(
                    seq, function=frame.function, file=frame.file, line=frame.line
                )
        self._unlocated = []

    def resumed(self) -> None:
        """Write that the program runs again."""
        self._append(Kind.RESUME, "", {})

    def ended(self, exited: Exited | None, error: str | None, text: str) -> None:
        """Write the end of the program, or of the debugger."""
        self._timeline.end_output(session=self._name)
        known = exited or Exited()
        data = {"exit_code": known.code, "signal": known.signal, "error": error}
        self._append(Kind.EXIT, text or _how_ended(known), data)

    def _place(self, number: int | None) -> Place:
        known = next((one for one in self._breakpoints.every() if one.id == number), None)
        if known is None or known.spec.kind is BreakpointKind.WATCHPOINT:
            return _UNKNOWN  # a watchpoint's own place is where it was set, not who wrote
        at, bound = known.at or known.spec, known.bound
        return Place(
            function=known.spec.function,
            file=(bound.file if bound is not None else None) or at.file,
            line=(bound.line if bound is not None else None) or at.line,
        )

    def _append(
        self,
        kind: Kind,
        text: str,
        data: Mapping[str, object],
        *,
        thread: int | None = None,
        place: Place = _UNKNOWN,
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
