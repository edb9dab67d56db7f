"""Holds the state of a session, and checks commands against it."""

from __future__ import annotations

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import events as states
from debugger.model.events import State
from debugger.session.process_tree import ProcessTree


def is_running_program(target: LaunchTarget | AttachTarget) -> bool:
    """Return whether the target is a process, and not a core file."""
    return isinstance(target, LaunchTarget) or target.core is None


def check_runs(target: LaunchTarget | AttachTarget, *, to: str) -> None:
    """Check that the target can run.

    Raises:
        DebuggerError: WRONG_STATE for a core file.
    """
    if not is_running_program(target):
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"cannot {to}: a core file does not run",
            hint="debugger backtrace and print inspect it; debugger start PROGRAM runs one",
        )


class SessionState:
    """The state of a session; `error` is the reason if a failure ended it."""

    def __init__(self, family: ProcessTree) -> None:
        self.family = family
        self.state = State.IDLE
        self.error: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether the session has a program."""
        # Not `in` a set: a state's hash is Python code, and each change asks all sessions.
        return self.state is not State.IDLE and self.state is not State.TERMINATED

    def require_live(self, to: str) -> None:
        """Check that the session has a program.

        Raises:
            DebuggerError: PROGRAM_EXITED, ADAPTER_DIED.
        """
        live = (State.INITIALIZING, State.CONFIGURING, State.RUNNING, State.STOPPED)
        self.require_state(*live, to=to)

    def require_state(self, *allowed: State, to: str) -> None:
        """Check that a command fits the state (see `model.state.require_state`)."""
        if self.state is State.TERMINATED and self.error is not None and allowed:
            raise DebuggerError(
                ErrorCode.ADAPTER_DIED,
                f"cannot {to}: {self.error}",
                hint="debugger restart starts it again",
            )
        states.require_state(self.state, *allowed, to=to)

    def _change_state(self, then: State) -> None:
        was_live = self.is_live
        self.state = states.check_transition(self.state, then) if then is not self.state else then
        if was_live != self.is_live:
            self.family.note_change()
