"""Waits for the program's events in a thread, and reports them. Runs inside LLDB."""

from __future__ import annotations

import importlib
import threading
import time
from typing import Any

lldb: Any = importlib.import_module("lldb")

bridge: Any = None
program: Any = None
breaks: Any = None
values: Any = None
_listener: Any = None
_alone: list[Any] = []  # suspended threads, to be resumed at the stop
_halted = [True]  # the program is stopped, as far as was reported
# LLDB's locks must not be taken by two threads in opposite order: see `finish`.
_telling = threading.Lock()  # held while a thread reads LLDB's state for an event
_over: list[bool] = []  # not empty: nothing is reported any more
# Seconds for the event thread to finish what it is at; it is in LLDB's hands then.
_FINISH_S = 5
# Seconds until an interrupt or a continue must have had its effect.
_TAKEN_S = 10
_OUTPUT = 1 << 16
_NUMBER_MAX = (1 << 31) - 1


def begin(main: Any) -> dict[str, Any]:
    """Return the questions that this module answers: none."""
    global bridge, program, breaks, values  # noqa: PLW0603 - there is one conversation
    bridge = main
    program = importlib.import_module("lldb_program")
    breaks = importlib.import_module("lldb_breaks")
    values = importlib.import_module("lldb_values")
    return {}


def listener() -> Any:
    """Return the listener for the program's events."""
    global _listener  # noqa: PLW0603 - there is one program
    if _listener is None:
        _listener = lldb.SBListener("debugger")
    return _listener


def listen(target: Any) -> None:
    """Listen to breakpoints that bind late."""
    target.GetBroadcaster().AddListener(listener(), lldb.SBTarget.eBroadcastBitBreakpointChanged)


def settled(within: float) -> bool:
    """Wait until a program that another debug server has started is stopped."""
    limit = time.monotonic() + within
    event = lldb.SBEvent()
    # The state changes only as events are taken.
    while program.process().GetState() not in (lldb.eStateStopped, lldb.eStateCrashed):
        if time.monotonic() > limit or program.process().GetState() == lldb.eStateExited:
            return False
        listener().WaitForEvent(1, event)
    return True


def start() -> None:
    """Begin to report events."""
    threading.Thread(target=_wait_for_events, name="debugger", daemon=True).start()


def finish() -> None:
    """Report nothing any more, and leave LLDB to the thread that ends it.

    LLDB 19 deadlocks where one thread reads the program's state while another detaches from it: the
    one holds its run lock and waits for its API lock, the other the reverse.
    """
    _over.append(True)
    if _telling.acquire(timeout=_FINISH_S):
        _telling.release()


def halt() -> bool:
    """Stop a program whose events are not reported any more.

    SBProcess.Stop of LLDB 19 waits for 20 s where the program has just stopped by itself: such a
    program is not interrupted, and its state is known once somebody has taken the event.
    """
    return _take_events(
        lambda: not _is_running(), every=lambda: program.process().SendAsyncInterrupt()
    )


def run_on() -> bool:
    """Let the program run again, and wait until its state says so."""
    return bool(program.process().Continue().Success()) and _take_events(_is_running)


def _is_running() -> bool:
    return program.process().GetState() in (lldb.eStateRunning, lldb.eStateStepping)


def _take_events(is_so: Any, *, every: Any = lambda: None) -> bool:
    """Take events until a condition holds."""
    limit = time.monotonic() + _TAKEN_S
    event = lldb.SBEvent()
    while not is_so():
        if time.monotonic() > limit:
            return False
        every()
        listener().WaitForEvent(1, event)
    return True


def _wait_for_events() -> None:
    event = lldb.SBEvent()
    while not _over:
        # One second at a time, so that the thread sees `_over`.
        if listener().WaitForEvent(1, event):
            # One event at a time, and none while the session ends: see `finish`.
            with _telling:
                if _over:
                    return
                try:
                    _take_event(event)
                except Exception as error:  # noqa: BLE001 - without this thread nothing is told
                    bridge.news("console", text=f"{type(error).__name__}: {error}\n")


def _take_event(event: Any) -> None:
    if lldb.SBBreakpoint.EventIsBreakpointEvent(event):
        # Breakpoints bind as libraries are loaded, while the program runs.
        breaks.changed(lldb.SBBreakpoint.GetBreakpointFromEvent(event))
        return
    if not lldb.SBProcess.EventIsProcessEvent(event):
        return
    kind = event.GetType()
    if kind & lldb.SBProcess.eBroadcastBitSTDOUT:
        _print_stream("stdout", program.process().GetSTDOUT)
    if kind & lldb.SBProcess.eBroadcastBitSTDERR:
        _print_stream("stderr", program.process().GetSTDERR)
    if kind & lldb.SBProcess.eBroadcastBitStateChanged:
        _on_breakpoint_changed(event)


def _print_stream(stream: str, read: Any) -> None:
    while text := read(_OUTPUT):
        bridge.news("printed", stream=stream, text=text)


def _on_breakpoint_changed(event: Any) -> None:
    state = lldb.SBProcess.GetStateFromEvent(event)
    process = lldb.SBProcess.GetProcessFromEvent(event)
    if state in (lldb.eStateRunning, lldb.eStateStepping):
        # LLDB sends several running states for one resume.
        if _halted[0]:
            _halted[0] = False
            bridge.news("resumed")
    elif state in (lldb.eStateStopped, lldb.eStateCrashed):
        # Where a condition does not hold it has gone on already, and nobody knew that it stopped.
        if not lldb.SBProcess.GetRestartedFromEvent(event):
            tell_stop(None)
    elif state == lldb.eStateExited:
        _print_stream("stdout", process.GetSTDOUT)
        _print_stream("stderr", process.GetSTDERR)
        bridge.news("exited", code=process.GetExitStatus())
    elif state == lldb.eStateDetached:
        bridge.news("detached")


def hold_back(thread: Any) -> None:
    """Suspend all other threads until the next stop."""
    others = [one for one in program.process() if one.GetThreadID() != thread.GetThreadID()]
    _alone.extend(one for one in others if one.Suspend())


def let_go() -> None:
    """Resume all suspended threads."""
    while _alone:
        _alone.pop().Resume()


def tell_stop(reason: str | None) -> None:
    """Report that the program has stopped, and why."""
    # Read before they are resumed.
    suspended = {one.GetThreadID() for one in _alone}
    let_go()
    # Before the stop is reported: handles of the stop before must not answer for this one.
    values.forget()
    process = program.process()
    # A suspended thread still has the reason of its previous stop.
    # LLDB lets all threads of a stop keep their reasons, and selects one of them. The most telling
    # reason counts: a crash before a breakpoint, that before the end of a step. A SIGSTOP, which
    # LLDB sends to stop the others, comes last.
    ran = [one for one in process if one.GetThreadID() not in suspended]
    thread = _stopped_thread(process, ran)
    message: dict[str, Any]
    message = _stop_data(thread) if thread is not None else {"reason": "pause", "raw": "none"}
    if thread is not None:
        # Raw commands are then about the thread that stopped.
        process.SetSelectedThread(thread)
        message["thread"] = thread.GetThreadID()
        message["description"] = thread.GetStopDescription(1024) or ""
    if reason is not None:
        # The stop is one of ours (the entry, an attach): LLDB's reason for it is a SIGSTOP or a
        # trap.
        message |= {"reason": reason, "raw": reason, "hits": []}
    _halted[0] = True
    bridge.news("stopped", **message)


_RANKS = {
    lldb.eStopReasonException: 0,
    lldb.eStopReasonSignal: 1,
    lldb.eStopReasonBreakpoint: 2,
    lldb.eStopReasonWatchpoint: 3,
    lldb.eStopReasonExec: 4,
    lldb.eStopReasonPlanComplete: 5,
    lldb.eStopReasonTrace: 6,
    lldb.eStopReasonInstrumentation: 7,
}
_NO_REASON = 9
_PAUSED = 8


def _thread_rank(thread: Any) -> int:
    if _signal_name(thread) == "SIGSTOP":
        return _PAUSED
    return _RANKS.get(thread.GetStopReason(), _NO_REASON)


def _stopped_thread(process: Any, threads: list[Any]) -> Any | None:
    """Find the thread that stopped the program, by its reason; of several, the selected one."""
    selected = process.GetSelectedThread().GetThreadID()
    ranked = sorted(
        threads,
        key=lambda one: (_thread_rank(one), one.GetThreadID() != selected, one.GetIndexID()),
    )
    return ranked[0] if ranked else None


def _signal_name(thread: Any) -> str | None:
    if thread.GetStopReason() != lldb.eStopReasonSignal:
        return None
    number = thread.GetStopReasonDataAtIndex(0)
    name = program.process().GetUnixSignals().GetSignalAsCString(number)
    return name or f"SIG{number}"


def _stop_data(thread: Any) -> dict[str, Any]:
    reason = thread.GetStopReason()
    # Of a breakpoint stop the data are pairs: breakpoint and location.
    data = [
        thread.GetStopReasonDataAtIndex(index) for index in range(thread.GetStopReasonDataCount())
    ]
    if reason == lldb.eStopReasonBreakpoint:
        # LLDB's own, for its steps, have negative numbers, reported as large ones.
        hits = [number for number in dict.fromkeys(data[::2]) if number <= _NUMBER_MAX]
        # The user's own commands may set some, too.
        ours = [number for number in hits if breaks.stops(number)]
        return {"reason": "breakpoint", "raw": "breakpoint", "hits": ours or hits}
    if reason == lldb.eStopReasonWatchpoint:
        # LLDB numbers its watchpoints apart from its breakpoints.
        return {"reason": "watchpoint", "raw": "watchpoint", "hits": [-data[0]] if data else []}
    signal = _signal_name(thread)
    if signal == "SIGSTOP":
        return {"reason": "pause", "raw": "signal", "signal": signal}
    if signal is not None:
        return {"reason": "signal", "raw": "signal", "signal": signal}
    plain = {
        lldb.eStopReasonPlanComplete: "step",
        lldb.eStopReasonTrace: "step",
        lldb.eStopReasonExec: "entry",
        lldb.eStopReasonException: "exception",
        lldb.eStopReasonInstrumentation: "exception",
    }.get(reason, "pause")
    return {"reason": plain, "raw": plain}
