"""Finds the lines of Rust whose expressions give the value of a block, a `match` or an `if`. Pure.

A function's value is its last expression; that of a `match` is the expression of the arm taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from debugger.questions.why import statement_origin
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin

_STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')
_ARM = re.compile(r"^\s*(?P<pattern>[^\"]*?[^\"=<>!\s])\s*=>\s*(?P<value>.*)$")
_CHOICE = re.compile(r"(?:^|=|\breturn)\s*(?P<word>match|if)\b(?P<subject>.*)\{\s*$")
_DEEP = 8


def last_expressions(lines: Sequence[str], first: int, last: int) -> list[int]:
    """Return the lines that give the value of the block which opens at a line, counted from 1."""
    return list(_block_values(lines, first, last, 0))


def chosen_expressions(lines: Sequence[str], number: int) -> list[int]:
    """Return the lines that may give the value of the `match` or `if` that a line opens."""
    choice = _CHOICE.search(_plain(lines[number - 1])) if 0 < number <= len(lines) else None
    return list(_choice_values(lines, number, choice["word"], 0)) if choice is not None else []


def arm_origin(lines: Sequence[str], number: int, name: str) -> tuple[StatementOrigin, int] | None:
    """Return what an arm of a `match` gives, and its line; None for a line that is no arm.

    A name of the pattern is given by what the `match` looks at, at its first line.
    """
    text = lines[number - 1] if 0 < number <= len(lines) else ""
    arm = _ARM.match(without_comment(text))
    if arm is None:
        return None
    root = re.match(r"[*&]*([A-Za-z_]\w*)", name)
    if root is not None and _binds(arm["pattern"], root[1]):
        subject, first = _subject_of(lines, number)
        return (statement_origin.classify_expression(subject), first) if subject else None
    value = arm["value"].strip().removesuffix(",")
    given = statement_origin.classify_expression(value)
    if not value or value.endswith("{"):
        return None
    if given.kind is OriginKind.OPERAND and re.match(r"[*&]*[a-z_]\w*$", given.text):
        # What the pattern has bound is a part of the subject: `Some(v) => v`.
        bound = arm_origin(lines, number, given.text) if given.text != name else None
        return bound or (given, number)
    return given, number


def binds_in_arm(name: str, line: str) -> bool:
    """Return whether a line is an arm of a `match` whose pattern binds a name."""
    arm = _ARM.match(without_comment(line))
    return arm is not None and _binds(arm["pattern"], name)


def _binds(pattern: str, name: str) -> bool:
    """Return whether a pattern, without its guard, has a name that is no path and no struct's."""
    plain = re.sub(r"\bif\b.*", "", pattern)
    return re.search(rf"(?<![\w:]){re.escape(name)}\b(?!\s*(?:::|\(|\{{))", plain) is not None


def _subject_of(lines: Sequence[str], number: int) -> tuple[str, int]:
    """Return what the `match` around an arm looks at, and its first line."""
    depth = 0
    for at in range(number - 1, 0, -1):
        plain = _plain(lines[at - 1])
        depth += plain.count("{") - plain.count("}")
        if depth > 0:
            choice = _CHOICE.search(plain)
            found = _CHOICE.search(without_comment(lines[at - 1]))
            is_found = choice is not None and found is not None
            return (found["subject"].strip() if is_found and found is not None else "", at)
    return "", 0


def _block_values(lines: Sequence[str], first: int, last: int, level: int) -> Iterator[int]:
    """Yield the lines of a block's last expression, where it has a value."""
    begin, number, is_new = 0, first + 1, True
    while number < last:
        plain = _plain(lines[number - 1]).strip()
        if plain and not plain.startswith("#"):
            begin = number if is_new and not plain.startswith((".", "?")) else begin
            number = max(_end_of(lines, number), number)
            ending = _plain(lines[number - 1]).strip()
            while ending.endswith("{") and number < last:  # `} else {`
                number = _end_of(lines, number)
                ending = _plain(lines[number - 1]).strip()
            is_new = ending.endswith((";", "}"))
        number += 1
    if not begin or _plain(lines[min(number, last) - 2]).strip().endswith(";"):
        return
    choice = _CHOICE.search(_plain(lines[begin - 1]))
    if choice is not None and level < _DEEP:
        yield from _choice_values(lines, begin, choice["word"], level + 1)
    else:
        yield begin


def _choice_values(lines: Sequence[str], number: int, word: str, level: int) -> Iterator[int]:
    end = _end_of(lines, number)
    if word == "match":
        yield from _arm_values(lines, number, end, level)
        return
    while True:
        yield from _block_values(lines, number, end, level)
        if end <= number or end > len(lines) or "else" not in _plain(lines[end - 1]):
            return
        number, end = end, _end_of(lines, end)


def _arm_values(lines: Sequence[str], first: int, last: int, level: int) -> Iterator[int]:
    number = first + 1
    while number < last:
        arm = _ARM.match(_plain(lines[number - 1]))
        end = _end_of(lines, number)
        if arm is not None and arm["value"].rstrip().endswith("{"):
            yield from _block_values(lines, number, end, level)
        elif arm is not None:
            yield number if arm["value"].strip() else number + 1
        number = max(end, number) + 1


def _end_of(lines: Sequence[str], number: int) -> int:
    """Return the line that closes the last bracket which a line leaves open; itself for none."""
    depth = 0
    for at in range(number, len(lines) + 1):
        for letter in _plain(lines[at - 1]):
            # `} else {` closes the block before it.
            if at == number and letter in ")]}" and not depth:
                continue
            depth += (letter in "([{") - (letter in ")]}")
            if at > number and depth <= 0:
                return at
        if depth <= 0:
            return at
    return len(lines)


def _plain(line: str) -> str:
    """Return a line without its comment, with blank strings."""
    return without_comment(_STRINGS.sub(lambda one: '"' + " " * (len(one[0]) - 2) + '"', line))


def without_comment(line: str) -> str:
    """Return a line without its comment."""
    return re.sub(r"\s*//.*$", "", line)
