"""Reads values of Go: parts of literals, sums, what delve has logged, and calls of sync/atomic."""

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
# Of a struct or an array, which a copy of the variable has, too; of a slice or a pointer nothing.
_PARTS = re.compile(r"(?:\[\d+\])?[A-Za-z_][\w./]* (?P<parts>[\[{].*[\]}])$", re.DOTALL)
_ELEMENTS = re.compile(r"\[\d*\](?:.* len: \d+, cap: \d+,|\S+) (?P<parts>\[.*\])$", re.DOTALL)
_ATOMIC_WRITE = re.compile(
    r"atomic\.(?:Store|Swap|Add)\w+\(&(?P<path>[\w.\[\]]+),\s*(?P<value>.+)\)$"
    r"|(?P<object>[\w.\[\]]+)\.(?:Store|Swap|Add)\((?P<given>[^,]+)\)$"
)
_ATOMIC_READ = re.compile(
    r"atomic\.Load\w+\(&(?P<path>[\w.\[\]]+)\)$|(?P<object>[\w.\[\]]+)\.Load\(\)$"
)
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


def part_of_value(text: str | None, part: str) -> str | None:
    """Return a field or an element of the value of a struct or an array; None if unknown."""
    found = _PARTS.match(text or "")
    if found is None or "..." in found["parts"]:
        return None
    entries = statement_origin.split_arguments(found["parts"][1:-1])
    if part.startswith("[") and found["parts"].startswith("["):
        number = part[1:-1]
        is_there = number.isdecimal() and int(number) < len(entries)
        return entries[int(number)] if is_there else None
    named = dict(one.split(": ", 1) for one in entries if ": " in one)
    return named.get(part.lstrip("."))


def only_element(text: str, part: str, value: str | None) -> int | None:
    """Return the number of the one element of a slice or an array whose part has a value.

    None if several have it, or the text does not show all elements.
    """
    found = _ELEMENTS.match(text)
    if found is None or "..." in found["parts"] or value is None:
        return None
    entries = statement_origin.split_arguments(found["parts"][1:-1])
    given = [part_of_value(f"e {one}", part) if part else one for one in entries]
    equal = [at for at, one in enumerate(given) if one == value]
    return equal[0] if len(equal) == 1 else None


def parse_atomic_write(statement: str) -> tuple[str, str, str] | None:
    """Return the variable, the value and the operator of a call of sync/atomic that writes.

    An object of its types has its value in the field `v`.
    """
    found = _ATOMIC_WRITE.match(statement)
    if found is None:
        return None
    operator = "+" if re.search(r"\.Add\w*\(", statement) else ""
    target = found["path"] or f"{found['object']}.v"
    return target, found["value"] or found["given"], operator


def atomic_path(call: str) -> str | None:
    """Return the variable that a call of sync/atomic reads: `hits`, or `counter.v` of a type."""
    found = _ATOMIC_READ.match(call)
    return (found["path"] or f"{found['object']}.v") if found is not None else None


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
    """Replace delve's messages about values that are optimised out; keep any other text."""
    return OPTIMISED_OUT if _OPTIMISED_OUT.match(text) else text


def is_common(value: str | None) -> bool:
    """Return whether a value is one that many have by chance: a truth, 0, 1 or nothing."""
    return value in {"true", "false", "1"} or is_zero(value)


def is_zero(value: str | None) -> bool:
    """Return whether a value is the zero value of its type."""
    return (
        value is not None
        and re.search(r"^(?:0|0x0|0\.0*|false|\"\"|.*\bnil|.*\{\s*\})$", value) is not None
    )


def are_different(given: str | None, value: str | None) -> bool:
    """Return whether two texts are of different numbers, or different strings."""
    one, other = (str(text or "").partition(" = 0x")[0] for text in (given, value))
    is_known = all(_INTEGER.fullmatch(text) for text in (one, other))
    is_known = is_known or all(_STRING.fullmatch(text) for text in (one, other))
    return is_known and one != other
