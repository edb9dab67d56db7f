"""Finds the line after the one that assigns a variable.

A question at a line is about the state before the line runs, and the line that assigns a variable
is the one that is typed first for its value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.session.source_files import read_source

_PLACE = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+)")
_ROOT = re.compile(r"[$@]*[A-Za-z_]\w*")
_TEXTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//.*|#\s.*")
_SKIPPED = re.compile(r"[\s{}()\[\];,]*$|\s*(?://|#|\*|/\*)")
_STATEMENT_LINES = 60
_LINES_AFTER = 20
_LOOP = re.compile(r"\s*(?:for|foreach|while|with|async|if|match|catch|except)\b")


def describe_unassigned(cwd: str, place: str, expression: str) -> tuple[str, str] | None:
    """Say that the line of a place assigns what an expression reads, and had not run.

    Args:
        cwd: The folder of the program's command.
        place: FILE:LINE, as typed.
        expression: A variable, or what begins with one.

    Returns:
        The sentence, and the place after the line; None if the line does not assign it.
    """
    found = _PLACE.fullmatch(place)
    if found is None:
        return None
    lines = read_source(str(Path(cwd, found["file"])))
    line = int(found["line"])
    after = find_line_after(lines, line, expression) if lines is not None else 0
    if not after:
        return None
    root = _ROOT.match(expression)
    name = root[0] if root is not None else expression
    sentence = f"{place} assigns {name}, and has not run yet when the program is there"
    return sentence, f"{found['file']}:{after}"


def explain_no_value(
    question: str, cwd: str, place: str, expression: str, error: DebuggerError
) -> DebuggerError:
    """Return the error about an expression without a value, with the line after its assignment.

    Any other error is returned as it is.

    Args:
        question: The command's name: `why`, `who-wrote`.
        cwd: The folder of the program's command.
        place: FILE:LINE, as typed.
        expression: The expression.
        error: What the question raised.
    """
    found = None
    if error.code is ErrorCode.EVALUATION_FAILED:
        found = describe_unassigned(cwd, place, expression)
    if found is None:
        return error
    sentence, after = found
    return DebuggerError(
        error.code,
        f"{expression} has no value yet: {sentence}",
        hint=f"debugger {question} {shlex.quote(expression)} --at {shlex.quote(after)} -- CMD",
    )


def find_line_after(lines: Sequence[str], line: int, expression: str) -> int:
    """Return the line after the statement of a line that assigns to an expression or its variable.

    Args:
        lines: The lines of the source, in any language.
        line: A line, from 1.
        expression: A variable, or what begins with one.

    Returns:
        A line of the same function that runs after it, as far as the indentation tells; else 0.
    """
    root = _ROOT.match(expression)
    if not 1 <= line <= len(lines) or root is None:
        return 0
    text = _TEXTS.sub("''", lines[line - 1])
    if not any(_is_assigned(name, text) for name in {expression, root[0]}):
        return 0
    end = _end_of_statement(lines, line, is_block=_LOOP.match(text) is not None)
    for number in range(end + 1, min(end + _LINES_AFTER, len(lines)) + 1):
        after = lines[number - 1]
        if not _SKIPPED.match(after):
            return number if _indent(after) or not _indent(lines[line - 1]) else 0
    return 0


def _is_assigned(name: str, text: str) -> bool:
    """Return whether a line assigns to a name that it does not read."""
    word = rf"(?<![\w.$@>]){re.escape(name)}(?!\w)"
    if len(re.findall(word, text)) != 1:
        return False
    direct = rf"{word}\s*(?::[^=]+)?:?=(?![=>])"
    several = rf"^[\w\s,()*$&:{{}}\[\]]*{word}[\w\s,()*$&:{{}}\[\]]*=(?![=>])"
    looped = rf"\bfor\b[^=]*{word}[^=]*(?:\b(?:in|of)\b|:(?!:))"
    bound = rf"\bas\s+(?:&\s*)?{word}|=>\s*{word}\s*\)"
    return re.search(f"{direct}|{several}|{looped}|{bound}", text) is not None


def _end_of_statement(lines: Sequence[str], line: int, *, is_block: bool) -> int:
    """Return the last line of a statement: its brackets are closed, those of a block are not."""
    opening, closing = ("([", ")]") if is_block else ("([{", ")]}")
    depth = 0
    last = min(line + _STATEMENT_LINES, len(lines))
    for number in range(line, last + 1):
        text = _TEXTS.sub("", lines[number - 1])
        depth += sum(text.count(one) for one in opening) - sum(text.count(one) for one in closing)
        if depth <= 0:
            return number
    return last


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
