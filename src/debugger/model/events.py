"""Defines a session's states with their transitions, and the events of its timeline."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from debugger.errors import DebuggerError, ErrorCode


class State(Enum):
    """The state of a session."""

    IDLE = "idle"
    INITIALIZING = "initializing"
    CONFIGURING = "configuring"
    RUNNING = "running"
    STOPPED = "stopped"
    TERMINATED = "terminated"


_S = State
# A program may stop or end before the adapter has answered the configuration.
NEXT: dict[State, frozenset[State]] = {
    _S.IDLE: frozenset({_S.INITIALIZING, _S.TERMINATED}),
    _S.INITIALIZING: frozenset({_S.CONFIGURING, _S.TERMINATED}),
    _S.CONFIGURING: frozenset({_S.RUNNING, _S.STOPPED, _S.TERMINATED}),
    _S.RUNNING: frozenset({_S.RUNNING, _S.STOPPED, _S.TERMINATED}),
    _S.STOPPED: frozenset({_S.RUNNING, _S.STOPPED, _S.TERMINATED}),
    _S.TERMINATED: frozenset({_S.INITIALIZING, _S.TERMINATED}),
}

_WHAT_TO_DO = {
    _S.IDLE: "start a program: debugger start PROGRAM",
    _S.INITIALIZING: "wait for it: debugger await",
    _S.CONFIGURING: "wait for it: debugger await",
    _S.RUNNING: "debugger pause stops it; debugger await waits for the next stop",
    _S.STOPPED: "debugger continue lets it run",
    _S.TERMINATED: "debugger restart runs it again; debugger output shows what it printed",
}


def check_transition(now: State, then: State) -> State:
    """Return `then` if the transition from `now` is allowed.

    Raises:
        DebuggerError: WRONG_STATE.
    """
    if then in NEXT[now]:
        return then
    raise DebuggerError(
        ErrorCode.WRONG_STATE,
        f"a session cannot go from {now.value} to {then.value}",
        hint=_WHAT_TO_DO[now],
    )


def require_state(now: State, *allowed: State, to: str) -> None:
    """Check that a command fits the state; `to` is its verb for the error.

    Raises:
        DebuggerError: WRONG_STATE, or PROGRAM_EXITED once the program has ended.
    """
    if now in allowed:
        return
    if now is State.TERMINATED:
        raise DebuggerError(
            ErrorCode.PROGRAM_EXITED, f"cannot {to}: the program has ended", hint=_WHAT_TO_DO[now]
        )
    raise DebuggerError(
        ErrorCode.WRONG_STATE, f"cannot {to}: the program is {now.value}", hint=_WHAT_TO_DO[now]
    )


class EventKind(Enum):
    """The kinds of events, as the `events` command names them."""

    OUTPUT = "output"
    STOP = "stop"
    RESUME = "resume"
    BREAKPOINT_HIT = "breakpoint_hit"
    LOGPOINT = "logpoint"
    FUNCTION_ENTER = "function_enter"
    FUNCTION_EXIT = "function_exit"
    VARIABLE_SNAPSHOT = "variable_snapshot"
    CONDITION_ERROR = "condition_error"
    CRASH = "crash"
    EXIT = "exit"
    ADAPTER = "adapter"
    CONTROL = "control"  # a person has taken over, or handed back

    __hash__ = object.__hash__  # Enum's own is written in Python: a flood of output asks for it


TRACE_KINDS = frozenset(
    {
        EventKind.LOGPOINT,
        EventKind.FUNCTION_ENTER,
        EventKind.FUNCTION_EXIT,
        EventKind.VARIABLE_SNAPSHOT,
    }
)
"""Kinds that a program can produce at any rate; they are the first to be dropped."""

LASTING_KINDS = frozenset({EventKind.CRASH, EventKind.EXIT})
"""Kinds that are never dropped."""


class OutputStream(Enum):
    """The source of a line of output; `console` is the debugger, not the program."""

    STDOUT = "stdout"
    STDERR = "stderr"
    CONSOLE = "console"

    __hash__ = object.__hash__  # as above


class OutputData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The `data` of an output event."""

    stream: OutputStream
    # The text continues an earlier event of the same stream, without a newline in between.
    continues: bool = False
    # No newline ends the text so far.
    open: bool = False


class Event(msgspec.Struct, frozen=True):
    """One event; `seq` orders all events of a process tree, `time_ns` is on the monotonic clock."""

    seq: int
    time_ns: int
    kind: EventKind
    session: str
    thread: int | None
    function: str | None
    file: str | None
    line: int | None
    text: str
    data: dict[str, Any]
