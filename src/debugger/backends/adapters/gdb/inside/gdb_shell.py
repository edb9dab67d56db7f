"""Keeps expressions from running a shell. Run inside gdb."""

from __future__ import annotations

import importlib
from typing import Any

gdb: Any = importlib.import_module("gdb")


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


def refuse_shell() -> None:
    """Replace gdb's own function."""
    _RefusedShell()


def begin(state: Any, replaced: Any) -> None:
    """Take part in the adapter."""
    del state, replaced
    refuse_shell()
