"""The text of a logpoint, written so that an expression that fails does not hide the others.

pydevd 1.8.22 makes one `%` expression of the whole text. Where a part of it raises, it prints the
exception alone, without the mark by which a logpoint is known, and a `%` of the text is taken for
a format.
"""

from __future__ import annotations

# The value as text, or the exception in angle brackets. An expression cannot catch, a statement
# can; the names are read where the whole is evaluated, which a lambda's body is not.
_SAFE = (
    "(lambda d:(exec('try:v=str(eval(e,g,l))\\nexcept Exception as x:"
    'v="<"+type(x).__name__+": "+str(x)+">"\',d),d["v"])[1])'
    "(dict(e=%r,g=globals(),l=locals()))"
)


def safe_log(text: str) -> str:
    """Return a logpoint's text in which each expression tells its own failure."""
    parts, has_expression, rest = list[str](), False, text
    while rest:
        before, brace, after = rest.partition("{")
        parts.append(before.replace("%", "%%"))
        end = _expression_end(after) if brace else None
        if end is None:
            parts.append(brace + after)
            break
        expression, rest = after[:end].strip(), after[end + 1 :]
        if expression:
            has_expression = True
            parts.append("{" + _SAFE % expression + "}")
    return "".join(parts) if has_expression else text


def _expression_end(text: str) -> int | None:
    """Find the brace that closes an expression, as pydevd does; None without one."""
    level = 1
    for index, one in enumerate(text):
        level += (one == "{") - (one == "}")
        if level == 0:
            return index
    return None
