"""Finds the expression of a PHP statement that an error is about, by the error's words. Pure.

Of `$user->address->zip->length()` and "Call to a member function length() on null" it is
`$user->address->zip`. The messages are those of PHP 7.4 to 8.4.
"""

from __future__ import annotations

import re

from debugger.sources.condition_text import blank_texts, closing_bracket

_CALLED_ON = re.compile(r"Call to a member function (?P<name>\w+)\(\) on (?P<type>\w+)")
_NO_APPEND = "[] operator not supported for strings"
_APPENDED = re.compile(
    r"(?P<base>\$\w+(?:\??->\w+|::\$?\w+|\[[^\[\]]+\])*)\s*\[\s*\]\s*[.+*/-]?=(?!=)"
)
_NO_CASE = re.compile(r"\"?.*\"? is not a valid backing value for enum \"?(?P<enum>[\w\\]+)\"?\Z")
_NO_ELEMENT = re.compile(r"Undefined array key (?:\d+|\".*\")\Z")
_TAKEN_APART = re.compile(
    r"\A\s*(?:list\s*\(|\[)[^=\[\]()]*[\])]\s*=(?![=>])\s*(?P<value>[^;]+);?\s*\Z"
)
_OPENERS = {")": "(", "]": "["}


def find_php_suspect(statement: str, message: str) -> str:
    """Return the expression that an error of PHP is about; "" where its words do not tell.

    Args:
        statement: The source of the statement that failed.
        message: The error's message, or that of a warning of which a handler made an exception.
    """
    called = _CALLED_ON.match(message)
    if called is not None:
        return _receiver_of(statement, called["name"])
    if message == _NO_APPEND:
        bases = {one["base"] for one in _APPENDED.finditer(blank_texts(statement))}
        return bases.pop() if len(bases) == 1 else ""
    case = _NO_CASE.match(message)
    if case is not None:
        name = re.escape(case["enum"].rpartition("\\")[2])
        return _argument_of(statement, rf"(?<!\w){name}::from\s*\(")
    taken = _TAKEN_APART.match(statement) if _NO_ELEMENT.match(message) else None
    return taken["value"].strip() if taken is not None else ""


def _receiver_of(statement: str, name: str) -> str:
    """Return the object of the statement's only call of a method."""
    blank = blank_texts(statement)
    calls = list(re.finditer(rf"\s*->\s*{re.escape(name)}\s*\(", blank, re.IGNORECASE))
    if len(calls) != 1:
        return ""
    end = calls[0].start()
    begin = _begin_of_chain(blank, end)
    return " ".join(statement[begin:end].split())


def _begin_of_chain(blank: str, end: int) -> int:
    """Return where the chain of names, members and calls begins that ends before `end`."""
    at = end
    while at > 0:
        mark = blank[at - 1]
        if mark in _OPENERS:
            opened = _opening_bracket(blank, at - 1)
            if opened < 0:
                break
            at = opened
        elif mark.isalnum() or mark in "_$\\":
            at -= 1
        elif blank[:at].endswith(("?->", "->", "::")):
            at -= 3 if blank[:at].endswith("?->") else 2
        else:
            break
    return at


def _opening_bracket(blank: str, closed: int) -> int:
    depth = 0
    for at in range(closed, -1, -1):
        depth += (blank[at] in _OPENERS) - (blank[at] in _OPENERS.values())
        if depth == 0:
            return at
    return -1


def _argument_of(statement: str, pattern: str) -> str:
    """Return the only argument of the statement's only call that a pattern finds."""
    calls = list(re.finditer(pattern, blank_texts(statement)))
    if len(calls) != 1:
        return ""
    end = closing_bracket(statement, calls[0].end() - 1)
    return statement[calls[0].end() : end].strip() if end >= 0 else ""
