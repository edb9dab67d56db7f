"""Splits `-- CMD_A ARGS --vs CMD_B ARGS` and quoted words into commands. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from debugger.errors import DebuggerError, ErrorCode

BETWEEN = "--vs"


def split_commands(
    words: Sequence[str], quoted: Sequence[str], *, verb: str
) -> list[tuple[str, ...]]:
    """Return the commands, the first first: those after `--vs` among the words, then quoted ones.

    Raises:
        DebuggerError: USAGE for an empty one, and for quotes that do not close.
    """
    found: list[list[str]] = [[]]
    for word in words:
        if word == BETWEEN:
            found.append([])
        else:
            found[-1].append(word)
    for text in quoted:
        try:
            found.append(shlex.split(text))
        except ValueError as error:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{BETWEEN} {text!r}: {error}",
                hint=f"debugger {verb} -- CMD ARGS {BETWEEN} CMD ARGS needs no quotes",
            ) from error
    if len(found) > 1 and not all(found):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"there is no command beside a {BETWEEN}",
            hint=f"debugger {verb} -- CMD ARGS {BETWEEN} CMD ARGS",
        )
    return [tuple(one) for one in found]
