"""What can go wrong, as values: a code, a message, a hint that names the next command."""

from __future__ import annotations

import errno
from enum import Enum, IntEnum


class ExitCode(IntEnum):
    """The exit codes of the command line; they tell of the command, never of the program."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    STILL_RUNNING = 3
    WRONG_STATE = 4
    MISSING_TOOL = 5


class ErrorCode(Enum):
    """The error codes of the contract; each belongs to one exit code."""

    USAGE = "USAGE"
    NO_SESSION = "NO_SESSION"
    WRONG_STATE = "WRONG_STATE"
    NOT_FOUND = "NOT_FOUND"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    ADAPTER_NOT_FOUND = "ADAPTER_NOT_FOUND"
    ADAPTER_FAILED = "ADAPTER_FAILED"
    ADAPTER_DIED = "ADAPTER_DIED"
    LAUNCH_FAILED = "LAUNCH_FAILED"
    TIMEOUT = "TIMEOUT"
    PROGRAM_EXITED = "PROGRAM_EXITED"
    STALE_REF = "STALE_REF"
    EVALUATION_FAILED = "EVALUATION_FAILED"
    DENIED = "DENIED"
    PROTOCOL = "PROTOCOL"
    INTERNAL = "INTERNAL"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that ends with this error."""
        return _EXITS.get(self, ExitCode.FAILED)


_EXITS = {
    ErrorCode.USAGE: ExitCode.USAGE,
    ErrorCode.NO_SESSION: ExitCode.WRONG_STATE,
    ErrorCode.WRONG_STATE: ExitCode.WRONG_STATE,
    ErrorCode.PROGRAM_EXITED: ExitCode.WRONG_STATE,
    ErrorCode.ADAPTER_NOT_FOUND: ExitCode.MISSING_TOOL,
}


class DebuggerError(Exception):
    """A failure that a user can meet.

    `message` says what is wrong in one sentence; `hint` names the next command.
    """

    def __init__(self, code: ErrorCode, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that ends with this error."""
        return self.code.exit_code


def full_disk_error(error: Exception) -> DebuggerError | None:
    """Return what a user is told where the debugger's own files find no room; None otherwise."""
    number = error.errno if isinstance(error, OSError) else None
    is_full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
    if not is_full and number not in {errno.ENOSPC, errno.EDQUOT}:
        return None
    return DebuggerError(
        ErrorCode.DENIED,
        "the disk of the debugger's runtime directory is full",
        hint="debugger daemon status names the directory; the sessions go on when there is room",
    )
