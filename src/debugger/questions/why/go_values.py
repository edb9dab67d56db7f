"""Reads values of Go: parts of literals, sums of known numbers, and what delve has logged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from debugger.questions.why import statement_origin

_UNREADABLE = "(unreadable"  # delve's own message
OPTIMISED_OUT = "<optimized out>"
_OPTIMISED_OUT = re.compile(
    r"\(unreadable (?:empty OP stack|could not find loclist entry|[^)]*optimized)"
)
_INTEGER = re.compile(r"-?\d+")
_STRING = re.compile(r'"[^"\\]*"')
_WORD = re.compile(r"[A-Za-z_][\w.]*")
_SUM = re.compile(r"-?\d+(?:[-+*]-?\d+)*")


def part_of_literal(text: str, part: str, fields: Sequence[str] = ()) -> str | None:
    """Return the value that a composite literal gives a field, an element or a key.

    None if it gives none, and the part has the zero value. `fields` are those of its struct.
    """
    begin = text.index("{")
    entries = statement_origin.split_arguments(text[begin + 1 : -1])
    requested = part.lstrip(".").strip("[]").strip()
    keyed = [re.match(r'("(?:\\.|[^"\\])*"|[\w.]+)\s*:\s*(.*)$', one, re.DOTALL) for one in entries]
    for one in keyed:
        if one is not None and one[1] == requested:
            return _with_type(one[2].strip(), text[:begin])
    if any(keyed):
        return None
    number = list(fields).index(requested) if requested in fields else -1
    if part.startswith("[") and requested.isdecimal():
        number = int(requested)
    return _with_type(entries[number].strip(), text[:begin]) if 0 <= number < len(entries) else None


def _with_type(value: str, outer: str) -> str:
    """Add the type of an element to its literal, which may leave it out: `{1, 2}`."""
    element = re.sub(r"^&?(?:\[[^\]]*\]|map\[[^\]]*\])", "", outer)
    return element.lstrip("*") + value if value.startswith("{") and element != outer else value


def sum_of(text: str, values: Mapping[str, str]) -> str | None:
    """Return the value of a sum or product of whole numbers; None for anything else."""
    found = _WORD.sub(lambda one: values.get(one[0], one[0]), text)
    terms = _SUM.fullmatch(found.replace(" ", ""))
    if terms is None:
        return None
    total = 0
    for term in re.findall(r"[-+]?[^-+]+", found.replace(" ", "").replace("*-", "*~")):
        product = -1 if term.startswith("-") else 1
        for factor in term.lstrip("-+").split("*"):
            product *= int(factor.replace("~", "-"))
        total += product
    return str(total)


def plain_value(text: str | None) -> str | None:
    """Return a logged value; None for delve's own message, as of a key that a map does not have."""
    if text is None or text.startswith((_UNREADABLE, OPTIMISED_OUT)):
        return None
    return None if re.match(r"\{[a-z ]+\}$", text) else text


def as_optimised_out(text: str) -> str:
    """Return a value as delve gives it, but for its messages about what is optimised out."""
    return OPTIMISED_OUT if _OPTIMISED_OUT.match(text) else text


def is_zero(value: str | None) -> bool:
    """Tell whether a value is the zero value of its type."""
    return (
        value is not None
        and re.search(r"^(?:0|0x0|0\.0*|false|\"\"|.*\bnil|.*\{\s*\})$", value) is not None
    )


def are_different(given: str | None, value: str | None) -> bool:
    """Tell whether two texts are of different numbers, or different strings."""
    one, other = (str(text or "").partition(" = 0x")[0] for text in (given, value))
    is_known = all(_INTEGER.fullmatch(text) for text in (one, other))
    is_known = is_known or all(_STRING.fullmatch(text) for text in (one, other))
    return is_known and one != other
