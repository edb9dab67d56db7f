"""Summarises many values of one thing: first, last, range, how many differ. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from debugger.recorders.model import RecordedValue

_SHOWN = 4  # distinct values that are kept


class ValueVariation(Struct, frozen=True):
    """The values of one name, of which `distinct` differ; `some` are the first of those."""

    name: str
    count: int
    first: str
    last: str
    distinct: int = 1
    # Only if all values are numbers, as is `most`.
    least: str | None = None
    most: str | None = None
    some: tuple[str, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether all values are equal."""
        return self.distinct == 1


def summarise_values(name: str, texts: Sequence[str]) -> ValueVariation:
    """Summarise the values of one name, at least one."""
    differing = dict.fromkeys(texts)
    numbers = [(number, text) for text in differing if (number := _parse_number(text)) is not None]
    is_numeric = len(numbers) == len(differing) > 1
    return ValueVariation(
        name=name,
        count=len(texts),
        first=texts[0],
        last=texts[-1],
        distinct=len(differing),
        least=min(numbers)[1] if is_numeric else None,
        most=max(numbers)[1] if is_numeric else None,
        some=tuple(differing)[:_SHOWN],
    )


def vary_all(rows: Iterable[Iterable[RecordedValue]]) -> tuple[ValueVariation, ...]:
    """Summarise rows of values, name by name, in order of appearance."""
    seen: dict[str, list[str]] = {}
    for row in rows:
        for value in row:
            if value.text is not None:
                seen.setdefault(value.name, []).append(value.text)
    return vary_each(seen)


def vary_each(seen: Mapping[str, Sequence[str]]) -> tuple[ValueVariation, ...]:
    """Summarise the values of each name."""
    return tuple(summarise_values(name, texts) for name, texts in seen.items() if texts)


def _parse_number(text: str) -> float | None:
    if not text[:1].isdigit() and text[:1] not in "-+.":
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
