"""Which words of a user's may go to a debugger as they are? Pure."""

from __future__ import annotations

from debugger.errors import Code, DebuggerError


def one_line(text: str) -> None:
    """Refuse what is no single line: a newline would begin another debugger command.

    Raises:
        DebuggerError: USAGE.
    """
    if not text.strip():
        raise DebuggerError(Code.USAGE, "an empty expression", hint="debugger print EXPR")
    if any(ord(letter) < ord(" ") and letter != "\t" for letter in text):
        raise DebuggerError(
            Code.USAGE,
            "an expression is one line, without control characters",
            hint="debugger eval",
        )
