"""Names what helps after an expression that the debugger could not evaluate. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from debugger.errors import Code, DebuggerError

# What adapters are told to hint where they know nothing better.
LOCALS: Final = "debugger locals lists what is here"

_SYNTAX: Final = re.compile(
    r"expected expression|syntax ?error|parse error|invalid suffix|unterminated|expected '\)'"
    r"|expected operand|unmatched|unbalanced|could not parse",
    re.IGNORECASE,
)
_UNFINISHED_CALL: Final = re.compile(r"was given up|is not done")


@contextmanager
def hint_instead(hint: str) -> Iterator[None]:
    """Give a failure of what is no expression a hint of its own, where it has only the general one.

    Raises:
        DebuggerError: What the block fails with.
    """
    try:
        yield
    except DebuggerError as error:
        if error.code is not Code.EVALUATION_FAILED or error.hint not in {None, LOCALS}:
            raise
        raise DebuggerError(error.code, error.message, hint=hint) from error


def choose(message: str, hint: str | None) -> str:
    """Return a hint for what a debugger said of an expression; a better one is kept."""
    if hint not in {None, LOCALS}:
        assert hint is not None
        return hint
    if _UNFINISHED_CALL.search(message):
        return "debugger breakpoint list shows what may stop it; debugger breakpoint disable ID"
    if _SYNTAX.search(message):
        return "one whole expression of the program's language: debugger print 'a[0] + b'"
    return LOCALS
