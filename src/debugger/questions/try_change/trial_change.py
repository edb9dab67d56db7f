"""Parses a trial's change, `x=3` or `return 5`, and judges its expectation. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import one_line
from debugger.model.statement import parse_reads

CHANGES_MAX = 20
OPERANDS_MAX = 6
HINT = "debugger try 'x=3' 'order->total=0' --until LOC --expect EXPR; or debugger try 'return 5'"
_RETURN = re.compile(r"return\b(?!\s*(?:=(?!=)|\.|->|\[))\s*(?P<value>.*?)\s*;?\Z")
_COMPARES = re.compile(r"===|!==|==|!=|<=|>=|<(?!<)|(?<![->])>(?!>)")
_OPERATOR = re.compile(r"(\*\*|//|<<|>>|&&|\|\||\?\?|[-+*/%&|^])\Z")
_LITERAL = re.compile(r"[-+]?\d[\w.]*\Z|(['\"]).*\1\Z")
_FALSE = frozenset({"false", "0", "0x0", "nil", "null", "none", "undefined", "nan"})
_NUMBER = re.compile(r"[-+]?(0x[0-9a-f]+|\d+(\.\d*)?(e[-+]?\d+)?)(?=\Z| )")


class TrialChange(Struct, frozen=True):
    """A value to set, or, without a target, a value to return; None returns nothing."""

    target: str | None
    value: str | None

    @property
    def is_return(self) -> bool:
        """Whether the function is to return immediately."""
        return self.target is None


def parse_changes(words: tuple[str, ...]) -> tuple[TrialChange, ...]:
    """Parse the changes; `;` and `,` separate several in one word.

    Raises:
        DebuggerError: USAGE for any other text.
    """
    found = [one for word in words for one in _split_changes(word)]
    if not found:
        raise DebuggerError(ErrorCode.USAGE, "what is to be tried?", hint=HINT)
    if len(found) > CHANGES_MAX:
        raise DebuggerError(ErrorCode.USAGE, f"{CHANGES_MAX} values at most are set", hint=HINT)
    if any(one.is_return for one in found[:-1]):
        raise DebuggerError(
            ErrorCode.USAGE,
            "after a return there is nothing to set: it comes last, once",
            hint=HINT,
        )
    return tuple(found)


def _split_changes(word: str) -> Iterator[TrialChange]:
    one_line(word)
    for part in _split_outside(word, ";"):
        smaller = _split_outside(part, ",")
        # `x = 3, 4` is one value; `x = 3, y = 4` are two.
        are_all = len(smaller) > 1 and all(_parse_assignment(each) for each in smaller)
        yield from map(_parse_change, smaller if are_all else [part])


def _parse_change(text: str) -> TrialChange:
    returned = _RETURN.match(text)
    if returned:
        return TrialChange(None, returned["value"] or None)
    assigned = _parse_assignment(text)
    if assigned is None:
        raise DebuggerError(ErrorCode.USAGE, f"neither NAME=VALUE nor return: {text!r}", hint=HINT)
    return assigned


def _parse_assignment(text: str) -> TrialChange | None:
    """Parse `a.b = c`, or `a += c`; None for any other text."""
    for at, letter, depth in _unbracketed_characters(text):
        if letter != "=" or depth:
            continue
        before, after = text[:at], text[at + 1 :]
        if after.startswith(("=", ">")) or before.endswith(("=", "!", "<", ">")):
            is_shift = before.endswith(("<<", ">>")) and not after.startswith("=")
            if not is_shift:
                return None
        before = before.removesuffix(":")  # Go's, and Python's
        operator = _OPERATOR.search(before)
        target = (before[: operator.start()] if operator else before).strip()
        value = after.strip()
        if not target or not value:
            return None
        return TrialChange(target, f"({target}) {operator[1]} ({value})" if operator else value)
    return None


def _split_outside(text: str, mark: str) -> list[str]:
    """Split a text at a character outside of brackets and quotes."""
    cuts = [
        -1,
        *(
            at
            for at, letter, depth in _unbracketed_characters(text)
            if letter == mark and not depth
        ),
    ]
    ends = [*cuts[1:], len(text)]
    parts = (text[first + 1 : last].strip() for first, last in zip(cuts, ends, strict=True))
    return [part for part in parts if part]


def _unbracketed_characters(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield unquoted characters with their positions and their depth in brackets."""
    quote, depth = "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
            continue
        if letter in "'\"`":
            quote = letter
            continue
        depth += (letter in "([{") - (letter in ")]}")
        yield at, letter, depth


def condition_operands(expression: str, *, hash_comments: bool) -> tuple[str, ...]:
    """Return the operands of a condition: the sides of its comparison, and their accesses."""
    sides: list[str] = []
    places = {at for at, _, depth in _unbracketed_characters(expression) if not depth}
    # In `a == 1 and b == 2` nothing is compared as a whole; what is read is told.
    compared = [one for one in _COMPARES.finditer(expression) if one.start() in places]
    if len(compared) == 1 and not re.search(r"&&|\|\||\band\b|\bor\b", expression):
        sides = [expression[: compared[0].start()], expression[compared[0].end() :]]
    read = parse_reads(expression, hash_comments=hash_comments)
    found = [*(side.strip() for side in sides), *read.operands, *_whole_accesses(read.accesses)]
    kept = (one for one in found if one and one != expression and not _LITERAL.match(one))
    return tuple(dict.fromkeys(kept))[:OPERANDS_MAX]


def _whole_accesses(accesses: tuple[object, ...]) -> list[str]:
    return [str(getattr(one, "whole", "")) for one in accesses]


def is_true(value: str) -> bool | None:
    """Tell whether a value in a debugger's format is true; None for a value without a truth."""
    text = value.strip().lower()
    if text in _FALSE:
        return False
    if text == "true":
        return True
    number = _NUMBER.match(text)
    if number is None:
        return None
    digits = number[1]
    return (int(digits, 16) if digits.startswith("0x") else float(digits)) != 0
