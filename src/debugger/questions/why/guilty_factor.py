"""Finds the one operand that explains a computed number: zero, a sign, or no number. Pure.

A product is zero by the factor that is zero, and negative by the one that is negative; a sum with
an operand that is no number is none itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

_FACTOR = (
    r"(?:[A-Za-z_][\w.]*(?:(?:->|::)\w+|\[[^\[\]]*\])*|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?[fFuUlL]*)"
)
_PRODUCT = re.compile(rf"{_FACTOR}(?:\s*[*/]\s*{_FACTOR})+")
_TERM = re.compile(rf"(?P<sign>[*/]?)\s*(?P<text>{_FACTOR})")


def find_guilty_factor(expression: str, values: Mapping[str, str], result: str) -> str | None:
    """Return the operand that explains a result; None if there is not exactly one.

    Args:
        expression: The right side as written.
        values: The operands' values as text.
        result: The result as text.
    """
    total = _number(result)
    known = {name: value for name, text in values.items() if (value := _number(text)) is not None}
    if total is None:
        return None
    if not math.isfinite(total):
        return _only(name for name, value in known.items() if not math.isfinite(value))
    if _PRODUCT.fullmatch(expression.strip()) is None or total > 0:
        return None
    found = []
    for term in _TERM.finditer(expression):
        value = known.get(term["text"], _number(term["text"]))
        if value is None:
            return None  # it may be that one
        is_zero = not value and term["sign"] != "/"
        if is_zero if not total else value < 0:
            found.append(term["text"])
    return _only(one for one in found if one in known)


def _only(names: Iterable[str]) -> str | None:
    found = list(names)
    return found[0] if len(found) == 1 else None


def _number(text: str) -> float | None:
    try:
        return float(text.strip().rstrip("fFuUlL") if text[:1].isdigit() else text.strip())
    except ValueError:
        return None
