"""Keeps expressions from running a shell, and from ending gdb. Run inside gdb."""

from __future__ import annotations

import importlib
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")
_own_evaluate = gdb.parse_and_eval
_TEXT = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_EMPTY_LIST = re.compile(r"\{\s*\}")


class _RefusedShell(gdb.Function):  # type: ignore[misc]
    """The convenience function `$_shell`, which gdb has since version 13, without its shell.

    Any expression could run a command with it: those of `print`, conditions, log messages.
    """

    def __init__(self) -> None:
        super().__init__("_shell")

    def invoke(self, *words: Any) -> Any:
        """Refuse to run the command."""
        del words
        message = "an expression runs no shell: $_shell is switched off"
        raise gdb.GdbError(message)


def _evaluate_guarded(expression: str, *context: Any, **named: Any) -> Any:
    """Evaluate; gdb 16.3 ends with a segmentation fault where an expression has `{}`."""
    if _EMPTY_LIST.search(_TEXT.sub("", expression)):
        message = "an empty list in braces has no value"
        raise gdb.error(message)
    return _own_evaluate(expression, *context, **named)


def guard_expressions() -> None:
    """Replace gdb's own functions."""
    _RefusedShell()
    gdb.parse_and_eval = _evaluate_guarded


def begin(state: Any, replaced: Any) -> None:
    """Take part in the adapter."""
    del state, replaced
    guard_expressions()
