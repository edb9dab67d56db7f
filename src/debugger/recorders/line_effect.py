"""Classifies source lines by their effect on a run: decide, change state, call, report. Pure.

Works on the text of one line, in any language with the operators of C or Python. Where runs differ,
a line that decides or changes state explains those that only follow from it.
"""

from __future__ import annotations

import re
from enum import IntEnum


class LineEffect(IntEnum):
    """What a line does, the most telling effect first."""

    DECIDES = 0  # a branch, a loop, a return, a raise
    CHANGES = 1  # an assignment, also to an attribute, an item or a pointer's target
    CALLS = 2
    FOLLOWS = 3  # brackets, `else`, `pass`: it runs because another line decided so
    REPORTS = 4  # output, logging, the end of the program: what is seen of a fault


_DECIDES = re.compile(
    r"(?:\}\s*)?(?:else\s+)?"
    r"(?:if|elif|while|for|switch|match|case|select|catch|except|until|unless)\b"
    r"|(?:return|break|continue|yield|goto|go|defer)\b|\}?\s*default\s*:"
)
_REPORTS = re.compile(
    r"(?:raise|throw|assert|panic|abort|exit|die)\b"
    r"|(?:assert|console|log|logger|logging|warnings|traceback|self\.log(?:ger)?|std::cerr"
    r"|process\.(?:exit|stdout|stderr)|sys\.(?:exit|std\w+)|os\.Exit|fmt\.(?:Print|Fprint)"
    r"|t\.(?:Fatal|Error))\b\w*\s*[.(<]"
    r"|process\.exitCode\s*="
    r"|(?:print|printf|fprintf|puts|perror|println!?|eprintln!?)\s*\("
)
_FOLLOWS = re.compile(r"[\s{}()\[\];,:]*(?:(?:else|try|finally|do|pass)\b[\s{:]*)?\Z")
# `=` alone or with an operator, outside of comparisons, arrows and the names of arguments.
_ASSIGNS = re.compile(r"(?<![=!<>(,])(?:[-+*/%&|^@:]|<<|>>|\*\*|//|>>>|\?\?|&&|\|\|)?=(?![=>])")
_COUNTS = re.compile(r"\+\+|--|\bdel(?:ete)?\b|\b(?:global|nonlocal)\b")
_CALLS = re.compile(r"[\w\])]\s*\(")
_STRINGS = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`(?:\\.|[^`\\])*`")
_COMMENTS = re.compile(r"(?:#|//).*\Z")
# What a line computes with: operators, comparisons, constants, subscripts.
_COMPUTES = re.compile(
    r"[-+*/%<>=!&|?^~]+|\b(?:and|or|not|in|is|if|else|new|typeof|instanceof)\b"
    r"|(?<![\w.])\d[\w.]*|\b(?:True|False|None|true|false|null|nil|undefined|nullptr)\b|(?<=[\w\])])\["
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")


def classify_line(text: str) -> LineEffect:
    """Return the effect of a source line; that of an unknown text is a call's."""
    plain = _STRINGS.sub('""', text.strip())
    plain = _COMMENTS.sub("", plain).strip()
    if _FOLLOWS.match(plain):
        return LineEffect.FOLLOWS
    if _REPORTS.match(plain):
        return LineEffect.REPORTS
    if _DECIDES.match(plain):
        return LineEffect.DECIDES
    outside = _without_brackets(plain)
    if _ASSIGNS.search(outside) or _COUNTS.search(outside):
        return LineEffect.CHANGES
    return LineEffect.CALLS if _CALLS.search(plain) else LineEffect.FOLLOWS


def count_operations(text: str) -> int:
    """Count the operators, constants and subscripts of a source line."""
    plain = _COMMENTS.sub("", _STRINGS.sub("", text.strip()))
    return sum(1 for _ in _COMPUTES.finditer(plain))


def _without_brackets(text: str) -> str:
    """Empty the brackets of a line, because `f(a=1)` assigns nothing."""
    before = ""
    while before != text:
        before, text = text, _BRACKETS.sub("", text)
    return text
