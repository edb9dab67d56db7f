"""Splits the words behind `--` into the commands that a question compares: CMD --vs CMD."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from debugger.errors import DebuggerError, ErrorCode

BETWEEN = "--vs"


def first_command(words: Sequence[str]) -> str:
    """Return the first of the commands that --vs separates, as typed; CMD without words."""
    at = words.index(BETWEEN) if BETWEEN in words else len(words)
    return shlex.join(words[:at]) or "CMD"


def split_commands(
    words: Sequence[str], quoted: Sequence[str], *, verb: str
) -> list[tuple[str, ...]]:
    """Return the commands in order: those separated by `--vs`, then quoted ones.

    Behind a `--vs`, a single word with spaces is a quoted command, too.

    Raises:
        DebuggerError: USAGE for an empty one, and for quotes that do not close.
    """
    found: list[list[str]] = [[]]
    for word in words:
        if word == BETWEEN:
            found.append([])
        else:
            found[-1].append(word)
    for at, one in enumerate(found):
        if at and len(one) == 1 and " " in one[0].strip():
            found[at] = _split_quoted(one[0], verb)
    found += [_split_quoted(text, verb) for text in quoted]
    if len(found) > 1 and not all(found):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"expected a command before and after each {BETWEEN}",
            hint=f"debugger {verb} -- CMD ARGS {BETWEEN} CMD ARGS",
        )
    return [tuple(one) for one in found]


def _split_quoted(text: str, verb: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{BETWEEN} {text!r}: {error}",
            hint=f"debugger {verb} -- CMD ARGS {BETWEEN} CMD ARGS needs no quotes",
        ) from error
