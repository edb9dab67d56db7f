"""Splits a logpoint's text into words and expressions."""

from __future__ import annotations

from collections.abc import Iterator


def split_template(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, each with whether it is an expression in brackets.

    A bracket that is not closed, or that has nothing in it, is text.
    """
    said, at = "", 0
    while (start := text.find("{", at)) >= 0:
        end = _find_closing(text, start)
        inner = text[start + 1 : end].strip()
        if end >= len(text) or not inner:
            said += text[at : start + 1]
            at = start + 1
            continue
        if said + text[at:start]:
            yield said + text[at:start], False
        yield inner, True
        said, at = "", end + 1
    if said + text[at:]:
        yield said + text[at:], False


def _find_closing(text: str, start: int) -> int:
    """Return where a bracket is closed, past those inside it and past strings."""
    depth, quote = 0, ""
    for at in range(start, len(text)):
        letter = text[at]
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "'\"`":
            quote = letter
        else:
            depth += (letter == "{") - (letter == "}")
            if not depth:
                return at
    return len(text)
