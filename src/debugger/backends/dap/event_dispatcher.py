"""Dispatches an adapter's events: handshake latches, stops, output, and the program's end."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum

import msgspec

from debugger.backends.base import (
    BackendEnded,
    BreakpointChanged,
    ConditionError,
    LogpointPassed,
    OutputPrinted,
    ProcessStarted,
    ProgramAwaited,
    ProgramResumed,
    Sink,
)
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap.breakpoint_sites import HITTING
from debugger.backends.dap.dap_client import decode_body
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, ResumeKind, Stopped, StopReason

# `exited` or `terminated` may come alone or first; the other has this long to come.
_SECOND_END_S = 1.0
_LOG_PREFIX = "[[log "
# Adapters write a logpoint's text to the same channel as other output, without its number: the mark
# at its beginning carries the number.
_LOGGED = re.compile(re.escape(_LOG_PREFIX) + r"([0-9]{1,9})\]\] ")
_CONSOLE_LINES = 20
# Stops that a step keeper looks at: any of them may be at an address that LLDB's step ends at.
_JUDGED_IN_STEPS = {StopReason.STEP, *HITTING}
_CONSOLE_MAX = 2000


def mark_log_message(number: int, text: str) -> str:
    """Mark a logpoint's text, so that its output differs from the program's."""
    return f"{_LOG_PREFIX}{number}]] {text}"


class ProgramPhase(Enum):
    """How far the program is, by its events; `_PHASES_AFTER` has the transitions."""

    ACTIVE = "active"  # its stops are reported
    ENDING = "ending"  # one of the two events of its end has come
    OVER = "over"  # its end is reported, or its adapter is lost


_PHASES_AFTER = {
    ProgramPhase.ACTIVE: frozenset({ProgramPhase.ENDING, ProgramPhase.OVER}),
    ProgramPhase.ENDING: frozenset({ProgramPhase.OVER}),
    ProgramPhase.OVER: frozenset[ProgramPhase](),
}


class EntryStop(Enum):
    """The stop at the program's entry, where a breakpoint of ours makes it."""

    UNSET = "unset"
    SET = "set"
    PASSED = "passed"


@dataclass(frozen=True)
class BreakpointOptions:
    """What decides about a stop at one of the adapter's breakpoints."""

    condition: tuple[int, str] | None = None  # our number, and the text
    log: tuple[int, str] | None = None  # our number, and the text, where it stops for us to log
    thrown: frozenset[str | None] = frozenset()  # the types that it catches


@dataclass(frozen=True)
class StopDoubts:
    """What the backend is asked at each stop: may the stop be none for the user?"""

    filters_exceptions: Callable[[], bool] = lambda: False
    has_filtered_sites: Callable[[], bool] = lambda: False
    is_continuing_step: Callable[[], bool] = lambda: False  # one that the adapter has lost


class EventDispatcher:
    """Dispatches the events of one adapter to the sink.

    A stop that may be none for the user (a filtered site, a failed condition, an exception of
    another type, a step that an adapter may have lost) goes through the stop filter first, in a
    task of its own; any other stop is reported at once. `exited` and `terminated` may come in
    either order, or one of them alone: the end is reported when both have come or `second_end_s`
    has passed.

    Only this class changes its attributes; the others of the backend call its methods.
    """

    def __init__(
        self,
        adapter: DebugAdapter,
        *,
        sink: Sink,
        judge: Callable[[Stopped], Awaitable[Stopped | None]],
        drain: Callable[[], Awaitable[str | None]],
        tasks: asyncio.TaskGroup,
        second_end_s: float = _SECOND_END_S,
    ) -> None:
        self._adapter = adapter
        self._second_end_s = second_end_s
        self._sink = sink
        self._judge = judge
        self._drain = drain
        self._tasks = tasks
        self._console: deque[str] = deque(maxlen=_CONSOLE_LINES)
        self._signal: str | None = None  # of the last stop, for an exit code that may be a signal
        self._code: int | None = None
        self._exit_record: ExitedProgram | None = None
        self._exited = asyncio.Event()
        self.terminated = asyncio.Event()  # also set by an event that is not reported
        self._phase = ProgramPhase.ACTIVE
        self._is_muted = False  # in any phase: nothing is reported after a disconnect
        loop = asyncio.get_running_loop()
        self.initialized: asyncio.Future[None] = loop.create_future()
        # Done with the first stop or the end: the launch has succeeded.
        self.happened: asyncio.Future[None] = loop.create_future()
        # A raw command is running: `continued` then reports a resume that we did not request.
        self._reports_resume = False
        self._expects_status = True  # with `exited`, when the program ends
        self.pid: int | None = None
        self.halted = asyncio.Event()  # set by each stop, also by one that is not reported
        self.conditions: dict[int, tuple[int, str]] = {}  # our number and text, by the adapter's
        self.thrown: dict[int, set[str | None]] = {}  # breakpoints that catch, and which types
        self.logs: dict[int, tuple[int, str]] = {}  # breakpoints that stop for us to log
        self.entry = EntryStop.UNSET
        self._entry_id: int | None = None  # of the breakpoint that makes the entry stop
        self.wants_entry = False  # the user requested the stop at an attach
        self.is_step_pending = False  # another thread's breakpoint interrupted a step
        self.is_stepping = False  # the last resume was a step
        self._is_pausing = False  # a pause was requested, and no step is under way
        # Run at each stop before it is reported.
        self.checks: list[Callable[[Stopped], Awaitable[None]]] = []
        self.answers: tuple[dap.AheadAnswer, ...] = ()  # that came with the last stop
        self._early_stop: dap.StoppedBody | None = None  # from before `initialized`
        # Takes the first stop, or the end.
        self._first_stop: asyncio.Future[Stopped | None] | None = None
        self._doubts = StopDoubts()
        self._on_fork: Callable[[int], None] = lambda _: None  # a new process waits for a debugger
        self._copies_output = False  # the adapter also reports output that goes to our files

    def set_callbacks(self, doubts: StopDoubts, on_fork: Callable[[int], None]) -> None:
        """Set what the backend decides: whether a stop is doubtful, what a fork becomes."""
        self._doubts = doubts
        self._on_fork = on_fork

    def inherit_from(self, parent: EventDispatcher) -> None:
        """Copy what holds for a child process as for its parent."""
        self._copies_output = parent._copies_output

    @property
    def is_over(self) -> bool:
        """Whether the program's end, or its adapter's, is reported."""
        return self._phase is ProgramPhase.OVER

    @property
    def has_program_ended(self) -> bool:
        """Whether the program's end is known, if it is not reported yet."""
        return self._exited.is_set() or self.terminated.is_set()

    def _enter_phase(self, phase: ProgramPhase) -> None:
        assert phase in _PHASES_AFTER[self._phase], (self._phase, phase)
        self._phase = phase

    def note_target(self, *, wants_entry: bool = False, copies_output: bool = False) -> None:
        """Note how the program is begun.

        Args:
            wants_entry: The user requested the first stop of a program that is attached to.
            copies_output: The adapter also reports output that goes to our files.
        """
        self.wants_entry = wants_entry
        self._copies_output = copies_output

    def expect_no_status(self) -> None:
        """Do not wait for the exit status at the end: the adapter does not know it."""
        self._expects_status = False

    def note_resume(self, how: ResumeKind) -> None:
        """Note how the program was resumed last."""
        self.is_stepping = how is not ResumeKind.CONTINUE

    def note_pause(self) -> None:
        """Note that the running program is to be paused."""
        self._is_pausing = not self.is_stepping

    def note_process(self, pid: int | None) -> None:
        """Note the program's process, and report it."""
        self.pid = pid
        self._sink(ProcessStarted(pid))

    def note_entry_request(self) -> None:
        """Note that the entry breakpoint, or one of the user's there, was requested."""
        if self.entry is EntryStop.UNSET:
            self.entry = EntryStop.SET

    def note_entry_breakpoint(self, number: int | None) -> None:
        """Note the adapter's number of the entry breakpoint."""
        self._entry_id = number

    def replace_options(self, options: Mapping[int, BreakpointOptions]) -> None:
        """Replace what is known of breakpoints, by the adapter's numbers."""
        for number, one in options.items():
            for table in (self.conditions, self.logs, self.thrown):
                table.pop(number, None)
            if one.condition is not None:
                self.conditions[number] = one.condition
            if one.log is not None:
                self.logs[number] = one.log
            if one.thrown:
                self.thrown[number] = set(one.thrown)

    @contextmanager
    def reporting_resumes(self) -> Iterator[None]:
        """Report `continued` events meanwhile: a raw command may let the program run."""
        self._reports_resume = True
        try:
            yield
        finally:
            self._reports_resume = False

    def divert_first_stop(self) -> asyncio.Future[Stopped | None]:
        """Return a future that takes the first stop, or the end, instead of the session."""
        self._first_stop = asyncio.get_running_loop().create_future()
        return self._first_stop

    def end_diversion(self) -> None:
        """Report stops to the session again."""
        self._first_stop = None

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
                _complete(self.initialized)
            # vscode-bash-debug 0.3.9 starts the program, which stops at its first line, and only
            # then says that it can be configured.
            case "stopped" if not self.initialized.done() and self._first_stop is None:
                self._early_stop = decode_body(body, dap.StoppedBody)
            case "stopped":
                self._on_stopped(decode_body(body, dap.StoppedBody))
            # Elsewhere `continued` is not trusted. lldb-dap and CodeLLDB send one for each failed
            # condition and logpoint, and it may come before or after the response: a resume is
            # known by its request.
            case "continued" if self._reports_resume:
                self._sink(ProgramResumed())
            case "output":
                self._on_output(decode_body(body, dap.OutputBody))
            case "process":
                self.note_process(decode_body(body, dap.ProcessBody).system_process_id)
            case "breakpoint":
                changed = decode_body(body, dap.BreakpointEventBody)
                if changed.reason != "removed" and changed.breakpoint.id is not None:
                    self._sink(BreakpointChanged(dap_convert.to_bound(changed.breakpoint, None)))
            case "debuggerForked":  # not DAP: sent by our code inside gdb
                pid = decode_body(body, dap.ProcessBody).system_process_id
                if pid is not None:
                    self._on_fork(pid)
            case "exited":
                # delve and js-debug send no `exited`; rdbg closes its connection without either
                # event.
                self._code = decode_body(body, dap.ExitedBody).exit_code
                self._exited.set()
                self._finish_end()
            case "terminated":
                self._finish_end()

    def report_early_stop(self) -> None:
        """Report the stop that came before the adapter could be configured."""
        if self._early_stop is not None and not self._is_muted:
            body, self._early_stop = self._early_stop, None
            self._on_stopped(body)

    def _on_stopped(self, body: dap.StoppedBody) -> None:
        # lldb-dap sends one event a thread; the one that matters has no preserveFocusHint.
        # debugpy gives the hint with a pause, which is its one event of it.
        # A stop is reported at once, or filtered first. In this order:
        #
        # 1. Echoes, and stops after the end has begun, are dropped.
        # 2. The adapter normalises the reason: adapters name the same stop differently
        #    (adapters.md, 0.5).
        # 3. The reason is corrected by what we set ourselves: a breakpoint that catches exceptions,
        #    the entry breakpoint, an adapter that always stops first.
        # 4. A stop is doubtful if something may have to be asked before it counts: the type of an
        #    exception, a condition, who of several breakpoints at a site is due, a logpoint, a step
        #    in parts, an event without a thread.
        # 5. A doubtful stop goes through the stop filter in a task of its own. Any other is
        #    reported in this turn of the event loop.
        is_echo = body.preserve_focus_hint and body.reason != "pause"
        if is_echo or self._phase is not ProgramPhase.ACTIVE:
            return
        self.answers = body.answers
        stop = self._correct_reason(self._adapter.parse_stopped(body))
        self._signal = stop.signal
        # Delve's message about the interrupted step comes after the stop that it belongs to.
        self.is_step_pending = False
        if stop.thread is None or self._is_doubtful(stop) or self.checks:
            self._tasks.create_task(self._report_if_requested(stop))
        else:
            self._report_stop(stop)

    def _correct_reason(self, stop: Stopped) -> Stopped:
        """Replace the adapter's reason where what we set ourselves explains the stop."""
        if any(hit in self.thrown for hit in stop.hits):
            return msgspec.structs.replace(stop, reason=StopReason.EXCEPTION)
        if self._adapter.stops_first and self.entry is not EntryStop.PASSED:
            self.entry = EntryStop.PASSED
            return msgspec.structs.replace(stop, reason=StopReason.ENTRY)
        if self._entry_id in stop.hits:
            self.entry = EntryStop.PASSED
            return msgspec.structs.replace(stop, reason=StopReason.ENTRY, hits=())
        # js-debug leaves Node's own code by steps, where a pause comes into it, and reports these.
        if stop.reason is StopReason.STEP and self._is_pausing:
            return msgspec.structs.replace(stop, reason=StopReason.PAUSE)
        return stop

    def _is_doubtful(self, stop: Stopped) -> bool:
        """Return whether something has to be asked before a stop can be reported."""
        adapter = self._adapter
        by_reason = (
            (stop.reason is StopReason.EXCEPTION and self._doubts.filters_exceptions())
            or (stop.reason is StopReason.ENTRY and adapter.stops_first)
            or (stop.reason is StopReason.STEP and adapter.inspects_step_ends)
            or stop.reason in adapter.inspected_reasons
            or (stop.reason in _JUDGED_IN_STEPS and adapter.has_step_keeper)
            or (stop.reason in HITTING and not stop.hits and adapter.claims_breakpoint_options)
        )
        by_breakpoint = bool(stop.hits) and (
            any(None not in self.thrown.get(hit, {None}) for hit in stop.hits)
            or any(hit in self.logs for hit in stop.hits)
            or self._doubts.has_filtered_sites()
            or (adapter.failed_conditions_stop and any(hit in self.conditions for hit in stop.hits))
        )
        return (
            by_reason
            or by_breakpoint
            or self._doubts.is_continuing_step()
            or adapter.read_failed_condition(stop) is not None
        )

    async def _report_if_requested(self, stop: Stopped) -> None:
        try:
            filtered_stop = await self._judge(stop)
        except DebuggerError:
            # The program has stopped, whatever else failed, unless it has ended meanwhile.
            filtered_stop = stop if self._phase is ProgramPhase.ACTIVE else None
        if filtered_stop is not None:
            for check in tuple(self.checks):  # one may be done with it
                with suppress(DebuggerError):
                    # A check that fails must not swallow the stop.
                    await check(filtered_stop)
            self._report_stop(filtered_stop)

    def _report_stop(self, stop: Stopped) -> None:
        _complete(self.happened)
        self._is_pausing = False
        if not self._is_deferred(stop):
            self._sink(stop)

    def _is_deferred(self, stop: Stopped | None) -> bool:
        # Only the first stop is diverted: the future can hold one.
        is_diverted = self._first_stop is not None and not self._first_stop.done()
        if is_diverted and self._first_stop is not None:
            self._first_stop.set_result(stop)
        return is_diverted

    def _on_output(self, body: dap.OutputBody) -> None:
        if self._adapter.interrupted_step_text is not None:
            # Delve reports an interrupted step in its output only.
            self.is_step_pending |= body.output.startswith(self._adapter.interrupted_step_text)
        event = self._adapter.parse_output(body)
        if event is None or not body.output:
            return
        if isinstance(event, ProcessStarted):
            self.note_process(event.pid)
            return
        if isinstance(event, ProgramAwaited | BreakpointChanged):
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

    def _is_copy(self, event: OutputPrinted) -> bool:
        return self._copies_output and event.stream is not OutputStream.CONSOLE

    def _attribute_failure(self, failure: ConditionError) -> ConditionError:
        """Find the breakpoint of a failed condition by the condition's text."""
        for number, condition in self.conditions.values():
            if failure.message.startswith(f"{condition.strip()}: "):
                return ConditionError(number, failure.message)
        return failure

    def _finish_end(self) -> None:
        if self._phase is ProgramPhase.ACTIVE:
            self._enter_phase(ProgramPhase.ENDING)
            _complete(self.happened)
            self._is_deferred(None)
            # `happened` comes first: a launch that is still being waited for has succeeded, if
            # briefly.
            self._tasks.create_task(self._report_end())

    async def _report_end(self) -> None:
        """Report the end, after the second of the two events and the last output (bounded)."""
        # A natural end is `exited`, then `terminated`; a kill may be the other way round; each may
        # come alone. Only `exited` has the status, so a `terminated` that comes first waits for it.
        second_event = self.terminated if self._exited.is_set() else self._exited
        try:
            async with asyncio.timeout(self._second_end_s if self._expects_status else 0):
                await second_event.wait()
        except TimeoutError:
            pass
        # The files may still have output of the program after both events.
        # What ends all below a killed guard may end the program before the adapter: why that is
        # lost is known once the output has been read to its end.
        loss = await self._drain()
        if not self._is_muted and not self.is_over:
            self._enter_phase(ProgramPhase.OVER)
            if loss is not None:
                self._sink(BackendEnded(error=loss))
                return
            # The status as the parent saw it is preferred: lldb gives the signal's number as exit
            # code, and gdb 16 gives 0 for SIGSEGV.
            self._sink(self._program_end())
            self._sink(BackendEnded())

    def note_end(self, exited: ExitedProgram, *, is_last: bool = True) -> None:
        """Note the program's end as its parent saw it.

        Unless `is_last` the adapter may have more to say.
        """
        self._exit_record = exited
        self._exited.set()
        if is_last:
            self.terminated.set()
        self._finish_end()

    def _program_end(self) -> ExitedProgram:
        return self._exit_record or self._adapter.parse_exit(self._code, self._signal)

    def note_adapter_lost(self, error: str | None) -> None:
        """Note that the adapter is gone; without an `error` that was expected."""
        # Whoever waits for one of these events must wake up, and finds the client lost.
        _complete(self.initialized)
        _complete(self.happened)
        self._is_deferred(None)
        if self._is_muted or self._phase is not ProgramPhase.ACTIVE:
            return
        self._enter_phase(ProgramPhase.OVER)
        self._sink(BackendEnded(error=error))


def _complete(event: asyncio.Future[None]) -> None:
    if not event.done():
        event.set_result(None)


def _split_mark(text: str) -> tuple[int | None, str]:
    marked = _LOGGED.match(text)
    return (int(marked[1]), text[marked.end() :]) if marked else (None, text)
