"""Checks words that go to a debugger: one line, within a limit, a call and its arguments. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from debugger.errors import DebuggerError, ErrorCode

_SHOWN = 60


def one_line(text: str) -> None:
    """Refuse what is no single line: a newline would begin another debugger command.

    Raises:
        DebuggerError: USAGE.
    """
    if not text.strip():
        raise DebuggerError(ErrorCode.USAGE, "an empty expression", hint="debugger print EXPR")
    if any(ord(letter) < ord(" ") and letter != "\t" for letter in text):
        raise DebuggerError(
            ErrorCode.USAGE,
            "an expression is one line, without control characters",
            hint="debugger eval EXPR takes one line; give several one after the other",
        )


def parse_call(text: str) -> tuple[str, tuple[str, ...]]:
    """Take a call apart: `add(1, f(2, 3))` → `add` and `1`, `f(2, 3)`; a name alone has none."""
    text = text.strip()
    depth, opens = 0, -1
    commas: list[int] = []
    for at, letter in _unquoted_characters(text):
        if letter in "([{":
            opens, commas = (at, []) if not depth else (opens, commas)
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 1:
            commas.append(at)
    if opens <= 0 or depth or text[opens] != "(" or not text.endswith(")"):
        return text, ()
    edges = [opens, *commas, len(text) - 1]
    parts = (text[first + 1 : last].strip() for first, last in pairwise(edges))
    given = text[opens + 1 : -1].strip()
    return text[:opens].strip(), tuple(parts) if given else ()


def _unquoted_characters(text: str) -> Iterator[tuple[int, str]]:
    """Yield the letters of a text that stand in no quotes, each with where it is."""
    quote = ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        else:
            yield at, letter


def check_line(text: str, most: int) -> None:
    """Refuse what is no single line, or longer than `most` characters.

    Raises:
        DebuggerError: USAGE.
    """
    one_line(text)
    if len(text) > most:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{len(text):,} characters where {most:,} are allowed: {text[:_SHOWN]}…",
            hint="debugger --help",
        )
