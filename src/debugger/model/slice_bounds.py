"""Explains the bound of a slice that a panic of Go or Rust says is out of range. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.model.statement import MemoryAccess, parts_of

_PATTERNS = (
    re.compile(
        r"slice bounds out of range \[:(?P<high>-?\d+):?\](?: with (?P<kind>\w+) (?P<limit>\d+))?"
    ),
    re.compile(r"slice bounds out of range \[(?P<low>-?\d+):(?P<end>-?\d+)?:?\]"),
    # Rust's core::slice::index.
    re.compile(r"range end index (?P<high>\d+) out of range for slice of length (?P<limit>\d+)"),
    re.compile(r"range start index (?P<low>\d+) out of range for slice of length (?P<limit>\d+)"),
    re.compile(r"slice index starts at (?P<low>\d+) but ends at (?P<end>\d+)"),
    # Rust's core::str: the side is named since 1.94.
    re.compile(r"start byte index (?P<low>\d+) is (?P<text>not a char boundary|out of bounds).*"),
    re.compile(
        r"(?:end )?byte index (?P<high>\d+) is (?P<text>not a char boundary|out of bounds).*"
    ),
)
_INSIDE = re.compile(r"it is inside (?P<character>'.*' \(bytes [\d.]+\))")
_RANGE = re.compile(r"(?P<low>[^:.]*(?:\.[^:.]+)*)(?::|\.\.=?)(?P<high>[^:]*)")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_SUM = re.compile(r"[\w.+ ]+")
_WHOLE_NUMBER = re.compile(r"-?\d+")


class SliceBounds(Struct, frozen=True):
    """A bound out of range: an explanation, and the expressions whose values belong to it."""

    text: str
    names: tuple[str, ...] = ()
    # The expression whose value is wrong, if one is known.
    culprit: str = ""


def explain_bounds(
    message: str,
    accesses: Sequence[MemoryAccess],
    operands: Sequence[str],
    values: Mapping[str, str],
) -> SliceBounds | None:
    """Name the bound of the only slice of a statement that a message is about; None for others."""
    found = next((one for each in _PATTERNS if (one := each.search(message))), None)
    sliced = [
        (one.base, bounds)
        for one in accesses
        if one.how == "[]" and (bounds := _RANGE.fullmatch(one.inner)) is not None
    ]
    if found is None or len(sliced) != 1:
        return None
    base, bounds = sliced[0]
    given = found.groupdict()
    index = given.get("high") or given.get("low") or ""
    bound = (bounds["high"] if given.get("high") else bounds["low"]).strip()
    shown = f"{bound}={index}" if bound and bound != index else index
    if given.get("text"):
        text, bound = _describe_bytes(found[0], base, bounds, values, given)
    elif given.get("end"):
        text = f"slice of {base} begins at {shown}, after its end {given['end']}"
    else:
        kind = "capacity " if given.get("kind") == "capacity" else ""
        limit = f", {base} has {kind}{given['limit']}" if given.get("limit") else ""
        text = f"slice bound {shown} out of range{limit}"
    if _NAME.fullmatch(bound):
        return SliceBounds(text, (), bound)
    names = parts_of(bound, operands)
    return SliceBounds(text, names, _greatest_term(bound, names, values))


def _describe_bytes(
    message: str,
    base: str,
    bounds: re.Match[str],
    values: Mapping[str, str],
    given: Mapping[str, str | None],
) -> tuple[str, str]:
    """Describe the bound of a string's slice that is no boundary of a character, and return it."""
    index = given.get("high") or given.get("low") or ""
    sides = {name: bounds[name].lstrip("=").strip() for name in ("low", "high")}
    side = "low" if given.get("low") or not sides["high"] else "high"
    if not message.startswith("end "):  # before 1.94 the message does not name the side
        fitting = [one for one, text in sides.items() if index in {text, values.get(text)}]
        side = fitting[0] if len(fitting) == 1 else side
    bound = sides[side]
    shown = f"{bound}={index}" if bound and bound != index else index
    verb = "begins" if side == "low" else "ends"
    inside = _INSIDE.search(message)
    where = f"inside the character {inside['character']}" if inside is not None else "out of bounds"
    return f"slice of {base} {verb} at byte {shown}, {where}", bound


def _greatest_term(bound: str, names: Sequence[str], values: Mapping[str, str]) -> str:
    """Return the name with the greatest value of a sum; "" where another operator takes part."""
    numbers = {
        one: int(values[one]) for one in names if _WHOLE_NUMBER.fullmatch(values.get(one, ""))
    }
    if not _SUM.fullmatch(bound) or not numbers:
        return names[0] if len(names) == 1 else ""
    return max(numbers, key=lambda one: numbers[one])
