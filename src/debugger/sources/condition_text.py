"""Splits the text of a condition at its operators and arguments, outside of brackets. Pure."""

from __future__ import annotations

import re
from typing import Literal

_PARTS_MAX = 50
_TOKENS = re.compile(
    r"(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)"
    r"|(?P<or>\|\||\bor\b)|(?P<and>&&|\band\b)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<equality>[=!]==?)"
)


def split_condition(text: str) -> tuple[Literal["or", "and"] | None, list[str]]:
    """Split at the weakest operator outside of brackets and texts: `or` before `and`."""
    marks: dict[str, list[tuple[int, int]]] = {"or": [], "and": []}
    depth = 0
    for one in _TOKENS.finditer(text):
        mark = one.lastgroup or ""
        depth += (mark == "open") - (mark == "close")
        if mark in marks and depth == 0:
            marks[mark].append(one.span())
    kind: Literal["or", "and"] = "or" if marks["or"] else "and"
    if not marks[kind] or len(marks[kind]) > _PARTS_MAX:
        return None, [text]
    starts = [0, *(end for _, end in marks[kind])]
    ends = [*(start for start, _ in marks[kind]), len(text)]
    return kind, [text[a:b].strip() for a, b in zip(starts, ends, strict=True)]


def list_condition_parts(text: str, *, is_true: bool) -> list[tuple[str, bool]]:
    """Return the parts of a condition without `or`, `and` and `!`, each with its truth.

    The truth is the one by which a part leads to that of the condition.
    """
    text = without_brackets(text)
    kind, parts = split_condition(text)
    if kind is not None:
        return [one for part in parts for one in list_condition_parts(part, is_true=is_true)]
    if text.startswith("!") and not text.startswith("!="):
        return list_condition_parts(text[1:], is_true=not is_true)
    return [(text, is_true)]


def first_argument(text: str) -> str:
    """Return a text up to the first comma, or closing bracket, that is not within brackets."""
    depth = 0
    for one in _TOKENS.finditer(text):
        kind = one.lastgroup
        depth += (kind == "open") - (kind == "close")
        if depth < 0 or (kind == "comma" and depth == 0):
            return text[: one.start()].strip()
    return text.strip()


def without_brackets(text: str) -> str:
    """Remove the brackets around a whole condition."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for at, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if depth == 0 and at < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text


def split_equality(text: str) -> tuple[str, str, str] | None:
    """Return both sides of a comparison by `==` or `!=`, and the operator between them."""
    depth = 0
    for one in _TOKENS.finditer(text):
        kind = one.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "equality" and depth == 0:
            return text[: one.start()].strip(), one[0], text[one.end() :].strip()
    return None


def split_arguments(text: str) -> list[str]:
    """Return the arguments of a call, whose text begins behind its bracket."""
    found: list[str] = []
    depth, begin = 0, 0
    for one in _TOKENS.finditer(text):
        kind = one.lastgroup
        depth += (kind == "open") - (kind == "close")
        if depth < 0 or (kind == "comma" and depth == 0):
            found.append(text[begin : one.start()].strip())
            begin = one.end()
        if depth < 0:
            return [one for one in found if one]
    return []


def closing_bracket(text: str, at: int) -> int:
    """Return where the bracket is closed that opens at a position; -1 if it is not."""
    depth = 0
    for one in _TOKENS.finditer(text, at):
        depth += (one.lastgroup == "open") - (one.lastgroup == "close")
        if depth == 0:
            return one.start()
    return -1


def blank_texts(text: str) -> str:
    """Return a text of the same length in which the quoted texts are underscores."""
    return _TOKENS.sub(lambda one: "_" * len(one[0]) if one["text"] else one[0], text)
