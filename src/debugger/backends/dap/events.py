"""Dispatches an adapter's events: handshake latches, stops, output, and the program's end."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from debugger.backends.base import (
    ConditionFailed,
    Ended,
    Logged,
    Printed,
    Rebound,
    Resumed,
    Sink,
    Started,
)
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.client import decode
from debugger.backends.dap.profile import Profile
from debugger.core.events import Stream
from debugger.core.model import Exited, Reason, Stopped
from debugger.errors import DebuggerError

# `exited` or `terminated` may come alone or first; the other has this long to come.
_OTHER_S = 1.0
_LOG_PREFIX = "[[log "
_LOGGED = re.compile(re.escape(_LOG_PREFIX) + r"([0-9]{1,9})\]\] ")
_CONSOLE_LINES = 20
_JUDGED_IN_STEPS = {Reason.STEP, Reason.BREAKPOINT, Reason.FUNCTION_BREAKPOINT}
_CONSOLE_MAX = 2000


def log_message(number: int, text: str) -> str:
    """Mark a logpoint's text, so that its output can be told from the program's."""
    return f"{_LOG_PREFIX}{number}]] {text}"


class Events:
    """Dispatches the events of one adapter to the sink.

    A stop that may be none for the user (a shared site, a failed condition, an exception of another
    type, a step that an adapter may have lost) goes through the stop filter first, in a task of its
    own; any other stop is reported at once. `exited` and `terminated` may come in either order, or
    one of them alone: the end is reported when both have come or `_OTHER_S` has passed.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        sink: Sink,
        judge: Callable[[Stopped], Awaitable[Stopped | None]],
        drain: Callable[[], Awaitable[None]],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._profile = profile
        self._sink = sink
        self._judge = judge
        self._drain = drain
        self._tasks = tasks
        self._console: deque[str] = deque(maxlen=_CONSOLE_LINES)
        self._signal: str | None = None  # of the last stop, for an exit code that may be a signal
        self._code: int | None = None
        self._seen: Exited | None = None
        self._exited = asyncio.Event()
        self.terminated = asyncio.Event()  # also set by an event that is not reported
        # The end is being reported: one of its two events has come.
        self._finishing = False
        self._is_muted = False
        self._thread: int | None = None
        self.initialized = asyncio.Event()
        # Set by the first stop or the end: the launch has succeeded.
        self.happened = asyncio.Event()
        # A raw command is running: `continued` then reports a resume that we did not request.
        self.watches_resume = False
        self.is_over = False
        self.tells_status = True  # with `exited`, when the program ends
        self.pid: int | None = None
        self.conditions: dict[int, tuple[int, str]] = {}
        self.judges_exceptions: Callable[[], bool] = lambda: False
        self.halted = asyncio.Event()  # set by each stop, also by one that is not reported
        self.are_shared: Callable[[], bool] = lambda: False  # some, by several of our breakpoints
        self.is_leaving: Callable[[], bool] = lambda: False  # a lost step is gone on with
        self.thrown: dict[int, set[str | None]] = {}  # breakpoints that catch, and which types
        self.logs: dict[int, tuple[int, str]] = {}  # breakpoints that stop for us to log
        self.entry_id: int | None = None  # of the breakpoint that makes the entry stop
        self.is_entry_set = False
        self.is_entered = False
        self.wants_entry = False
        self.is_step_pending = False  # another thread's breakpoint interrupted a step
        self.is_stepping = False  # the last resume was a step
        # Run at each stop before it is reported.
        self.checks: list[Callable[[Stopped], Awaitable[None]]] = []
        self.hold: asyncio.Future[Stopped | None] | None = None  # takes the first stop, or the end
        self.on_fork: Callable[[int], None] = lambda _: None  # a new process waits for a debugger
        self.is_copied = False  # the adapter also reports output that goes to our files

    def mute(self) -> None:
        """Report nothing any more: after its disconnect an adapter's events mean nothing."""
        self._is_muted = True

    def console_tail(self) -> str:
        """Return the adapter's last console output."""
        return "".join(self._console)

    def take(self, name: str, body: msgspec.Raw) -> None:  # noqa: C901, PLR0912 - one case an event
        """Dispatch one event."""
        if name == "stopped":
            self.halted.set()
        elif name == "terminated":
            self.terminated.set()
        if self._is_muted:
            return
        match name:
            case "initialized":
                self.initialized.set()
            case "stopped":
                self._stopped(decode(body, dap.StoppedBody))
            case "continued" if self.watches_resume:
                self._sink(Resumed())
            case "output":
                self._output(decode(body, dap.OutputBody))
            case "process":
                self.pid = decode(body, dap.ProcessBody).system_process_id
                self._sink(Started(self.pid))
            case "breakpoint":
                changed = decode(body, dap.BreakpointEventBody)
                if changed.reason != "removed" and changed.breakpoint.id is not None:
                    self._sink(Rebound(convert.bound(changed.breakpoint, None)))
            case "debuggerForked":  # not DAP: sent by our code inside gdb
                pid = decode(body, dap.ProcessBody).system_process_id
                if pid is not None:
                    self.on_fork(pid)
            case "exited":
                self._code = decode(body, dap.ExitedBody).exit_code
                self._exited.set()
                self._finish()
            case "terminated":
                self._finish()

    def _stopped(self, body: dap.StoppedBody) -> None:
        # lldb-dap sends one event a thread; the one that matters has no preserveFocusHint.
        # debugpy gives the hint with a pause, which is its one event of it.
        is_echo = body.preserve_focus_hint and body.reason != "pause"
        if is_echo or self._finishing:
            return
        stop = self._profile.stopped(body)
        self._signal = stop.signal
        self.is_step_pending = False
        if any(hit in self.thrown for hit in stop.hits):
            stop = msgspec.structs.replace(stop, reason=Reason.EXCEPTION)
        elif self._profile.stops_first and not self.is_entered:
            self.is_entered = True
            stop = msgspec.structs.replace(stop, reason=Reason.ENTRY)
        elif self.entry_id in stop.hits:
            self.is_entered = True
            stop = msgspec.structs.replace(stop, reason=Reason.ENTRY, hits=())
        is_doubtful = (
            (stop.reason is Reason.EXCEPTION and self.judges_exceptions())
            or (stop.reason is Reason.ENTRY and self._profile.stops_first)
            or any(None not in self.thrown.get(hit, {None}) for hit in stop.hits)
            or any(hit in self.logs for hit in stop.hits)
            or (bool(stop.hits) and self.are_shared())
            or self.is_leaving()
            or self._profile.failed_condition(stop) is not None
            or (
                self._profile.failed_conditions_stop
                and any(hit in self.conditions for hit in stop.hits)
            )
        )
        is_doubtful |= self._profile.settle is not None and stop.reason in self._profile.settled
        is_doubtful |= self._profile.steps is not None and stop.reason in _JUDGED_IN_STEPS
        is_doubtful |= self._profile.step_ended is not None and stop.reason is Reason.STEP
        if stop.thread is None or is_doubtful or self.checks:
            self._tasks.create_task(self._tell_if_it_stands(stop))
        else:
            self._tell(stop)

    async def _tell_if_it_stands(self, stop: Stopped) -> None:
        try:
            judged = await self._judge(stop)
        except DebuggerError:
            # The program has stopped, whatever else failed, unless it has ended meanwhile.
            judged = None if self._finishing else stop
        if judged is not None:
            for check in tuple(self.checks):  # one may be done with it
                with suppress(DebuggerError):
                    await check(judged)
            self._tell(judged)

    def _tell(self, stop: Stopped) -> None:
        self.happened.set()
        if not self._is_held(stop):
            self._sink(stop)

    def _is_held(self, stop: Stopped | None) -> bool:
        is_held = self.hold is not None and not self.hold.done()
        if is_held and self.hold is not None:
            self.hold.set_result(stop)
        return is_held

    def _output(self, body: dap.OutputBody) -> None:
        if self._profile.interrupted_step is not None:
            self.is_step_pending |= body.output.startswith(self._profile.interrupted_step)
        told = self._profile.printed(body)
        if told is None or not body.output:
            return
        if isinstance(told, Started):
            self.pid = told.pid
            self._sink(told)
            return
        if isinstance(told, Printed) and told.stream is Stream.CONSOLE:
            self._console.append(told.text[:_CONSOLE_MAX])
        if isinstance(told, ConditionFailed):
            self._sink(self._attributed(told))
            return
        number, text = _unmarked(told.text)
        if number is not None:
            self._sink(Logged(number, text.rstrip("\n")))
        elif not (isinstance(told, Printed) and self._is_copy(told)):
            self._sink(told)

    def _is_copy(self, told: Printed) -> bool:
        return self.is_copied and told.stream is not Stream.CONSOLE

    def _attributed(self, failure: ConditionFailed) -> ConditionFailed:
        """Find the breakpoint of a failed condition by the condition's text."""
        for number, condition in self.conditions.values():
            if failure.message.startswith(f"{condition.strip()}: "):
                return ConditionFailed(number, failure.message)
        return failure

    def _finish(self) -> None:
        if not self._finishing:
            self._finishing = True
            self.happened.set()
            self._is_held(None)
            self._tasks.create_task(self._tell_the_end())

    async def _tell_the_end(self) -> None:
        """Report the end, after the second of the two events and the last output (bounded)."""
        other = self.terminated if self._exited.is_set() else self._exited
        try:
            async with asyncio.timeout(_OTHER_S if self.tells_status else 0):
                await other.wait()
        except TimeoutError:
            pass
        # The files may still have output of the program after both events.
        await self._drain()
        if not self._is_muted and not self.is_over:
            self.is_over = True
            self._sink(self._end())
            self._sink(Ended())

    def ended(self, seen: Exited, *, is_last: bool = True) -> None:
        """Note the program's end as its parent saw it.

        Unless `is_last` the adapter may have more to say.
        """
        self._seen = seen
        self._exited.set()
        if is_last:
            self.terminated.set()
        self._finish()

    def _end(self) -> Exited:
        return self._seen or self._profile.exited(self._code, self._signal)

    def lose(self, error: str | None) -> None:
        """Note that the adapter is gone; without an `error` that was expected."""
        self.initialized.set()
        self.happened.set()
        self._is_held(None)
        if self._is_muted or self.is_over or self._finishing:
            return
        self.is_over = True
        self._sink(Ended(error=error))


def _unmarked(text: str) -> tuple[int | None, str]:
    marked = _LOGGED.match(text)
    return (int(marked[1]), text[marked.end() :]) if marked else (None, text)
