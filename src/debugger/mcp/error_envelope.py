"""Formats the failure of a tool with an envelope: `Error: WHAT FAILED`, then `Details: WHY`."""

from __future__ import annotations

from debugger.errors import DebuggerError, ErrorCode

INVALID = "Parameter validation failed"


class ToolFailure(DebuggerError):
    """A failure of which another thing is said than that of its tool."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(ErrorCode.USAGE, message)
        self.title = title


def invalid_arguments(
    problem: str, *, argument: str = "root", tip: str | None = None
) -> DebuggerError:
    """Return the failure for arguments that cannot be meant."""
    lines = [f"Invalid parameters:\n{argument}: {problem}", *([f"Tip: {tip}"] if tip else [])]
    return ToolFailure(INVALID, "\n".join(lines))


def format_failure(failure: str, error: DebuggerError) -> str:
    """Tell a failure; `failure` is what its tool says of it."""
    hint = f"\nhint: {error.hint}" if error.hint else ""
    if isinstance(error, ToolFailure):
        return f"Error: {error.title}\nDetails: {error.message}"
    if error.code is ErrorCode.USAGE:
        return f"Error: {INVALID}\nDetails: Invalid parameters:\n{error.message}{hint}"
    return f"Error: {failure}\nDetails: {error.message}{hint}"
