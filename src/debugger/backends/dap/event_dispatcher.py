"""Dispatches an adapter's events: handshake latches, stops, output, and the program's end."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from debugger.backends.base import (
    BackendEnded,
    BreakpointChanged,
    ConditionError,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
    ProgramResumed,
    Sink,
)
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.adapter_profile import AdapterProfile
from debugger.backends.dap.dap_client import decode_body
from debugger.errors import DebuggerError
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, Stopped, StopReason

# `exited` or `terminated` may come alone or first; the other has this long to come.
_OTHER_S = 1.0
_LOG_PREFIX = "[[log "
# Adapters write a logpoint's text to the same channel as other output, without its number: the mark
# at its beginning carries the number.
_LOGGED = re.compile(re.escape(_LOG_PREFIX) + r"([0-9]{1,9})\]\] ")
_CONSOLE_LINES = 20
# Stops that a step keeper looks at: any of them may be at an address that LLDB's step ends at.
_JUDGED_IN_STEPS = {StopReason.STEP, StopReason.BREAKPOINT, StopReason.FUNCTION_BREAKPOINT}
_CONSOLE_MAX = 2000


def mark_log_message(number: int, text: str) -> str:
    """Mark a logpoint's text, so that its output differs from the program's."""
    return f"{_LOG_PREFIX}{number}]] {text}"


class EventDispatcher:
    """Dispatches the events of one adapter to the sink.

    A stop that may be none for the user (a shared site, a failed condition, an exception of another
    type, a step that an adapter may have lost) goes through the stop filter first, in a task of its
    own; any other stop is reported at once. `exited` and `terminated` may come in either order, or
    one of them alone: the end is reported when both have come or `_OTHER_S` has passed.
    """

    def __init__(
        self,
        profile: AdapterProfile,
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
        self._seen: ExitedProgram | None = None
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

    def stop_reporting(self) -> None:
        """Report nothing any more: after its disconnect an adapter's events mean nothing."""
        self._is_muted = True

    def console_tail(self) -> str:
        """Return the adapter's last console output."""
        return "".join(self._console)

    # Called in the order of the messages, from the client's `receive_message`, and never awaits:
    # what has to ask the adapter runs in a task, as its answers come through here, too.
    def handle_event(self, name: str, body: msgspec.Raw) -> None:  # noqa: C901, PLR0912 - one case an event
        """Dispatch one event."""
        # These two are set even when muted: a detach waits for them after reports have ended.
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
                self._on_stopped(decode_body(body, dap.StoppedBody))
            # Elsewhere `continued` is not trusted. lldb-dap and CodeLLDB send one for each failed
            # condition and logpoint, and it may come before or after the response: a resume is
            # known by its request.
            case "continued" if self.watches_resume:
                self._sink(ProgramResumed())
            case "output":
                self._on_output(decode_body(body, dap.OutputBody))
            case "process":
                self.pid = decode_body(body, dap.ProcessBody).system_process_id
                self._sink(ProcessStarted(self.pid))
            case "breakpoint":
                changed = decode_body(body, dap.BreakpointEventBody)
                if changed.reason != "removed" and changed.breakpoint.id is not None:
                    self._sink(BreakpointChanged(dap_convert.to_bound(changed.breakpoint, None)))
            case "debuggerForked":  # not DAP: sent by our code inside gdb
                pid = decode_body(body, dap.ProcessBody).system_process_id
                if pid is not None:
                    self.on_fork(pid)
            case "exited":
                # delve and js-debug send no `exited`; rdbg closes its connection without either
                # event.
                self._code = decode_body(body, dap.ExitedBody).exit_code
                self._exited.set()
                self._finish_end()
            case "terminated":
                self._finish_end()

    def _on_stopped(self, body: dap.StoppedBody) -> None:
        # lldb-dap sends one event a thread; the one that matters has no preserveFocusHint.
        # debugpy gives the hint with a pause, which is its one event of it.
        # A stop is reported at once, or filtered first. In this order:
        #
        # 1. Echoes, and stops after the end has begun, are dropped.
        # 2. The profile normalises the reason: adapters name the same stop differently
        #    (adapters.md, 0.5).
        # 3. The reason is corrected by what we set ourselves: a breakpoint that catches exceptions,
        #    the entry breakpoint, an adapter that always stops first.
        # 4. A stop is doubtful if something may have to be asked before it counts: the type of an
        #    exception, a condition, who of several breakpoints at a site is due, a logpoint, a step
        #    in parts, an event without a thread.
        # 5. A doubtful stop goes through the stop filter in a task of its own. Any other is
        #    reported in this turn of the event loop.
        is_echo = body.preserve_focus_hint and body.reason != "pause"
        if is_echo or self._finishing:
            return
        stop = self._profile.stopped(body)
        self._signal = stop.signal
        # Delve's message about the interrupted step comes after the stop that it belongs to.
        self.is_step_pending = False
        if any(hit in self.thrown for hit in stop.hits):
            stop = msgspec.structs.replace(stop, reason=StopReason.EXCEPTION)
        elif self._profile.stops_first and not self.is_entered:
            self.is_entered = True
            stop = msgspec.structs.replace(stop, reason=StopReason.ENTRY)
        elif self.entry_id in stop.hits:
            self.is_entered = True
            stop = msgspec.structs.replace(stop, reason=StopReason.ENTRY, hits=())
        is_doubtful = (
            (stop.reason is StopReason.EXCEPTION and self.judges_exceptions())
            or (stop.reason is StopReason.ENTRY and self._profile.stops_first)
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
        is_doubtful |= self._profile.step_ended is not None and stop.reason is StopReason.STEP
        if stop.thread is None or is_doubtful or self.checks:
            self._tasks.create_task(self._report_if_requested(stop))
        else:
            self._report_stop(stop)

    async def _report_if_requested(self, stop: Stopped) -> None:
        try:
            filtered_stop = await self._judge(stop)
        except DebuggerError:
            # The program has stopped, whatever else failed, unless it has ended meanwhile.
            filtered_stop = None if self._finishing else stop
        if filtered_stop is not None:
            for check in tuple(self.checks):  # one may be done with it
                with suppress(DebuggerError):
                    # A check that fails must not swallow the stop.
                    await check(filtered_stop)
            self._report_stop(filtered_stop)

    def _report_stop(self, stop: Stopped) -> None:
        self.happened.set()
        if not self._is_deferred(stop):
            self._sink(stop)

    def _is_deferred(self, stop: Stopped | None) -> bool:
        # Only the first stop is diverted: the future can hold one.
        is_diverted = self.hold is not None and not self.hold.done()
        if is_diverted and self.hold is not None:
            self.hold.set_result(stop)
        return is_diverted

    def _on_output(self, body: dap.OutputBody) -> None:
        if self._profile.interrupted_step is not None:
            # Delve reports an interrupted step in its output only.
            self.is_step_pending |= body.output.startswith(self._profile.interrupted_step)
        event = self._profile.printed(body)
        if event is None or not body.output:
            return
        if isinstance(event, ProcessStarted):
            self.pid = event.pid
            self._sink(event)
            return
        if isinstance(event, OutputPrinted) and event.stream is OutputStream.CONSOLE:
            # Kept for the message of a failed start: an adapter's last words.
            self._console.append(event.text[:_CONSOLE_MAX])
        if isinstance(event, ConditionError):
            self._sink(self._attribute_failure(event))
            return
        number, text = _split_mark(event.text)
        if number is not None:
            self._sink(LogpointPassed(number, text.rstrip("\n")))
        elif not (isinstance(event, OutputPrinted) and self._is_copy(event)):
            self._sink(event)

    def _is_copy(self, told: OutputPrinted) -> bool:
        return self.is_copied and told.stream is not OutputStream.CONSOLE

    def _attribute_failure(self, failure: ConditionError) -> ConditionError:
        """Find the breakpoint of a failed condition by the condition's text."""
        for number, condition in self.conditions.values():
            if failure.message.startswith(f"{condition.strip()}: "):
                return ConditionError(number, failure.message)
        return failure

    def _finish_end(self) -> None:
        if not self._finishing:
            self._finishing = True
            self.happened.set()
            self._is_deferred(None)
            # `happened` is set first: a launch that is still being waited for has succeeded, if
            # briefly.
            self._tasks.create_task(self._report_end())

    async def _report_end(self) -> None:
        """Report the end, after the second of the two events and the last output (bounded)."""
        # A natural end is `exited`, then `terminated`; a kill may be the other way round; each may
        # come alone. Only `exited` has the status, so a `terminated` that comes first waits for it.
        second_event = self.terminated if self._exited.is_set() else self._exited
        try:
            async with asyncio.timeout(_OTHER_S if self.tells_status else 0):
                await second_event.wait()
        except TimeoutError:
            pass
        # The files may still have output of the program after both events.
        await self._drain()
        if not self._is_muted and not self.is_over:
            self.is_over = True
            # The status as the parent saw it is preferred: lldb gives the signal's number as exit
            # code, and gdb 16 gives 0 for SIGSEGV.
            self._sink(self._program_end())
            self._sink(BackendEnded())

    def note_end(self, exited: ExitedProgram, *, is_last: bool = True) -> None:
        """Note the program's end as its parent saw it.

        Unless `is_last` the adapter may have more to say.
        """
        self._seen = exited
        self._exited.set()
        if is_last:
            self.terminated.set()
        self._finish_end()

    def _program_end(self) -> ExitedProgram:
        return self._seen or self._profile.exited(self._code, self._signal)

    def note_adapter_lost(self, error: str | None) -> None:
        """Note that the adapter is gone; without an `error` that was expected."""
        # Whoever waits for one of these events must wake up, and finds the client lost.
        self.initialized.set()
        self.happened.set()
        self._is_deferred(None)
        if self._is_muted or self.is_over or self._finishing:
            return
        self.is_over = True
        self._sink(BackendEnded(error=error))


def _split_mark(text: str) -> tuple[int | None, str]:
    marked = _LOGGED.match(text)
    return (int(marked[1]), text[marked.end() :]) if marked else (None, text)
