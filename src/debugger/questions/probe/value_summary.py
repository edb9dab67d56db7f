"""Summarises the values of an expression: least, most, changes, outliers. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from debugger.model.answers import ProbeChange, ProbeColumn, ProbeCount

DISTINCT_MAX = 1000
_SAMPLE_MAX = 20_000
_COMMON = 3
_OUTLIERS = 4
_RARE = 50  # one in so many
_FEW = 12  # values, below which nothing stands out
_FENCE = 3.0  # spans between the quarters, Tukey's far out
# A number as the debuggers write it, also beside a character or a name: 97 'a', Second (1000).
_NUMBER = re.compile(
    r"(?:\w+ \()?([-+]?(?:\d+(?:_\d+)*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+))(?: '.*'|n|\))?\Z"
)


def parse_number(text: str) -> float | None:
    """Return the number that a value's text says; None for any other, and for an address."""
    matched = _NUMBER.match(text)
    return float(matched[1].replace("_", "")) if matched is not None else None


class ValueSummary:
    """The values of one expression, as they come."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._taken = self._failed = self._numbers = 0
        self._error: str | None = None
        self._counts: Counter[str] = Counter()
        self._where: dict[str, int] = {}
        self._is_exact = True
        self._least: tuple[float, str, int] | None = None
        self._most: tuple[float, str, int] | None = None
        self._first: str | None = None
        self._last: str | None = None
        self._change: ProbeChange | None = None
        self._sample: list[tuple[float, str, int]] = []
        self._every = 1
        self._others: list[ProbeCount] = []  # what is no number
        self._value: float | None = None
        self._steps = [0, 0]  # down, up
        self._turns: list[ProbeChange | None] = [None, None]

    def add_value(self, hit: int, text: str, *, is_error: bool = False) -> Sequence[str]:
        """Take the value of a hit; return what it is the newest example of: least, most, turn."""
        self._taken += 1
        if is_error:
            self._failed += 1
            self._error = text
            return ("failed",) if self._failed == 1 else ()
        marks: list[str] = []
        if self._change is None and self._last is not None and text != self._last:
            self._change = ProbeChange(hit, self._last, text)
            marks.append("change")
        if self._first is None:
            self._first = text
        self._count_text(hit, text)
        found = parse_number(text)
        if found is not None:
            marks += self._take_number(hit, text, found)
        elif len(self._others) < _OUTLIERS:
            self._others.append(ProbeCount(text, 1, hit))
            marks.append(f"other {len(self._others)}")
        self._last = text
        return marks

    def _count_text(self, hit: int, text: str) -> None:
        if text in self._counts or len(self._counts) < DISTINCT_MAX:
            self._counts[text] += 1
            self._where.setdefault(text, hit)
        else:
            self._is_exact = False

    def _take_number(self, hit: int, text: str, found: float) -> Iterator[str]:
        self._numbers += 1
        if self._least is None or found < self._least[0]:
            self._least = (found, text, hit)
            yield "least"
        if self._most is None or found > self._most[0]:
            self._most = (found, text, hit)
            yield "most"
        if self._value is not None and found != self._value:
            way = int(found > self._value)
            self._steps[way] += 1
            if self._turns[way] is None:
                self._turns[way] = ProbeChange(hit, self._last or "", text)
                yield f"turn {way}"
        self._value = found
        if self._numbers % self._every == 0:
            self._sample.append((found, text, hit))
            if len(self._sample) >= _SAMPLE_MAX:
                self._sample = self._sample[::2]
                self._every *= 2

    def to_column(self) -> ProbeColumn:
        """Sum up what was taken."""
        good = self._taken - self._failed
        return ProbeColumn(
            expression=self._expression,
            taken=self._taken,
            distinct=len(self._counts),
            is_distinct_exact=self._is_exact,
            common=tuple(
                ProbeCount(text, count, self._where[text])
                for text, count in self._counts.most_common(_COMMON)
            ),
            minimum=_count_of(self._least, self._counts),
            maximum=_count_of(self._most, self._counts),
            first=self._first,
            last=self._last,
            change=self._change,
            turn=self._find_turn(),
            outliers=self._find_outliers(good),
            failed=self._failed,
            error=self._error,
            is_never_there=bool(self._taken) and not good,
        )

    def _find_turn(self) -> ProbeChange | None:
        """Return the first step against the way that nearly all others go."""
        rare = int(self._steps[1] < self._steps[0])
        few, many = self._steps[1 - rare], self._steps[rare]
        few, many = min(few, many), max(few, many)
        against = int(self._steps[1] == few and self._steps[0] == many)
        if not few or many < _FEW or few * _RARE // 5 > many:
            return None
        return self._turns[against]

    def _find_outliers(self, good: int) -> tuple[ProbeCount, ...]:
        if good < _FEW:
            return ()
        strangers = good - self._numbers
        if self._numbers and strangers:
            return tuple(self._others) if strangers * _RARE <= max(good, _RARE) else ()
        if not self._numbers or len(self._counts) * 4 <= good:
            rare = [
                ProbeCount(text, count, self._where[text])
                for text, count in self._counts.items()
                if count * _RARE <= good
            ]
            is_rare = self._is_exact and sum(one.count for one in rare) * _RARE <= 2 * good
            if rare and is_rare and len(rare) < len(self._counts):
                return tuple(sorted(rare, key=lambda one: one.count)[:_OUTLIERS])
        return self._far_values() if self._numbers else ()

    def _far_values(self) -> tuple[ProbeCount, ...]:
        """Return the numbers that lie far outside of the half in the middle."""
        ordered = sorted(self._sample)
        values = [one[0] for one in ordered]
        low, high = values[len(values) // 4], values[3 * len(values) // 4]
        room = _FENCE * (high - low)
        below = ordered[: bisect_left(values, low - room)]
        above = [one for one in ordered[bisect_left(values, high) :] if one[0] > high + room]
        far = [*below, *reversed(above)]
        if not far or len(far) * _RARE > 2 * len(values):
            return ()
        first = sorted(far, key=lambda one: one[2])
        return tuple(
            ProbeCount(text, self._counts.get(text, 1), hit) for _, text, hit in first[:_OUTLIERS]
        )


def _count_of(one: tuple[float, str, int] | None, counts: Counter[str]) -> ProbeCount | None:
    return ProbeCount(one[1], counts.get(one[1], 1), one[2]) if one is not None else None
