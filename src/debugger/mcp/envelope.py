"""Formats the failure of a tool with an envelope: `Error: WHAT FAILED`, then `Details: WHY`."""

from __future__ import annotations

from debugger.errors import Code, DebuggerError

INVALID = "Parameter validation failed"


class Refused(DebuggerError):
    """A failure of which another thing is said than that of its tool."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(Code.USAGE, message)
        self.title = title


def invalid(problem: str, *, argument: str = "root", tip: str | None = None) -> DebuggerError:
    """Return the failure for arguments that cannot be meant."""
    lines = [f"Invalid parameters:\n{argument}: {problem}", *([f"Tip: {tip}"] if tip else [])]
    return Refused(INVALID, "\n".join(lines))


def enveloped(failure: str, error: DebuggerError) -> str:
    """Tell a failure; `failure` is what its tool says of it."""
    hint = f"\nhint: {error.hint}" if error.hint else ""
    if isinstance(error, Refused):
        return f"Error: {error.title}\nDetails: {error.message}"
    if error.code is Code.USAGE:
        return f"Error: {INVALID}\nDetails: Invalid parameters:\n{error.message}{hint}"
    return f"Error: {failure}\nDetails: {error.message}{hint}"
