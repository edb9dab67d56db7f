"""Defines the states of a session and the allowed transitions between them."""

from __future__ import annotations

from enum import Enum

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
