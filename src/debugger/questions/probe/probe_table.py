"""Keeps some rows of a probe and summarises all of them, one hit at a time. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from debugger.model.hit_filter import EVERY_HIT, HitFilter
from debugger.model.hit_selection import HitSelector
from debugger.model.thread_order import ThreadOrder
from debugger.questions.probe.answer import ProbeChange, ProbeColumn, ProbeCount, ProbeRow
from debugger.questions.probe.object_identity import ObjectHits, ObjectNumbers
from debugger.questions.probe.probe_points import HitRange

DISTINCT_MAX = 1000  # values that are counted exactly
_SAMPLE_MAX = 20_000
_COMMON = 3  # most frequent values
_OUTLIERS = 4
_RARE = 50  # one in so many
_FEW = 12  # values, below which nothing stands out
_FENCE = 3.0  # spans between the quarters, Tukey's far out
# A number as the debuggers write it, also beside a character or a name: 97 'a', Second (1000).
_NUMBER = re.compile(
    r"(?:\w+ \()?([-+]?(?:\d+(?:_\d+)*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+))(?: '.*'|n|\))?\Z"
)


def parse_number(text: str) -> float | None:
    """Parse a value's text as a number; None for any other text, and for an address."""
    matched = _NUMBER.match(text)
    return float(matched[1].replace("_", "")) if matched is not None else None


class ValueSummary:
    """Summarises the values of one expression, one at a time."""

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
        self._neighbours: list[ProbeChange | None] = [None, None]
        self._objects = ObjectHits()
        self._has_addresses = False
        self._departure: ProbeCount | None = None

    def add_value(self, hit: int, text: str, *, is_error: bool = False) -> Sequence[str]:
        """Add a hit's value; return its roles as the newest example: least, most, turn."""
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

    def add_object(self, hit: int, number: int, cell: ProbeCell) -> None:
        """Add the object that a hit's value is; 0 is none."""
        self._objects.add_hit(hit, number)
        self._has_addresses = self._has_addresses or cell.identity.rpartition(":")[2][:2] == "0x"
        if cell.departure and self._departure is None:
            self._departure = ProbeCount(cell.departure, 1, hit)

    def _count_text(self, hit: int, text: str) -> None:
        # Bounded, because a float or an address may differ at each hit.
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
            if self._neighbours[way] is None:
                self._neighbours[way] = ProbeChange(hit, self._last or "", text)
                yield f"turn {way}"
        self._value = found
        if self._numbers % self._every == 0:
            self._sample.append((found, text, hit))
            if len(self._sample) >= _SAMPLE_MAX:
                # Half of the sample goes, and from here on every second value is taken: evenly
                # spread, within bounds.
                self._sample = self._sample[::2]
                self._every *= 2

    def to_column(self) -> ProbeColumn:
        """Build the summary."""
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
            objects=tuple(self._objects.to_objects()),
            objects_total=self._objects.total,
            are_addresses=self._has_addresses,
            departure=self._departure,
            failed=self._failed,
            error=self._error,
            is_never_there=bool(self._taken) and not good,
        )

    def _find_turn(self) -> ProbeChange | None:
        """Return the first step against the direction of nearly all others."""
        rare = int(self._steps[1] < self._steps[0])
        few, many = self._steps[1 - rare], self._steps[rare]
        few, many = min(few, many), max(few, many)
        against = int(self._steps[1] == few and self._steps[0] == many)
        if not few or many < _FEW or few * _RARE // 5 > many:
            return None
        return self._neighbours[against]

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
        """Return the numbers far outside of the middle half."""
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


_VALUE_MAX = 400  # characters


class ProbeCell(Struct, frozen=True):
    """The value or the error text of an expression at one hit.

    `identity` tells its object from all others of the run; `departure` is the element by which an
    array leaves its pattern.
    """

    text: str
    is_error: bool = False
    identity: str = ""
    departure: str = ""


class SampledRows:
    """The first rows, the last, and an evenly spread part of the middle."""

    def __init__(self, most: int) -> None:
        self._ends = max(most // 3, 1)
        self._first: list[ProbeRow] = []
        self._middle: list[ProbeRow] = []
        self._last: deque[ProbeRow] = deque()
        self._every = 1
        self._passed = 0
        self.total = 0

    def take(self, row: ProbeRow) -> None:
        """Add a row."""
        self.total += 1
        if len(self._first) < self._ends:
            self._first.append(row)
            return
        self._last.append(row)
        if len(self._last) <= self._ends:
            return
        row = self._last.popleft()
        self._passed += 1
        if self._passed % self._every == 0:
            self._middle.append(row)
            if len(self._middle) > self._ends:
                self._middle = self._middle[1::2]
                self._every *= 2

    def rows(self) -> list[ProbeRow]:
        """Return the kept rows, in order."""
        return [*self._first, *self._middle, *self._last]


_THREADS_MAX = 8  # other threads that are named


class _TakenHit(Struct, frozen=True):
    """One hit that the filter may still omit."""

    number: int
    at_s: float
    cells: tuple[ProbeCell, ...]
    thread: int | None


class _LocationRows:
    def __init__(self, expressions: Sequence[str], rows: int, hits: HitFilter) -> None:
        self.selector: HitSelector[_TakenHit] = HitSelector(hits)
        self.event = ""
        self.others = 0  # hits of other threads, or with other callers
        self.threads: set[str] = set()  # those
        self.columns = [ValueSummary(one) for one in expressions]
        self.kept = SampledRows(rows)
        self.examples: dict[tuple[int, str], ProbeRow] = {}  # by column, of what it sums up
        self.hits = 0
        self.is_over = False

    def rows(self) -> list[ProbeRow]:
        """Return the kept rows, and those that the summary refers to."""
        # Threads that hit it at once may be given one number.
        every = (*self.kept.rows(), *self.examples.values())
        return list({id(row): row for row in every}.values())


class ProbeTable:
    """The hits of all locations, of which `kept_rows` in all are stored."""

    def __init__(
        self,
        expressions: Sequence[Sequence[str]],
        within: HitRange,
        *,
        rows: int,
        hits: HitFilter = EVERY_HIT,
        events: Sequence[str] = (),
        is_enough: Callable[[int, Sequence[ProbeCell]], bool] | None = None,
    ) -> None:
        """Make an empty table.

        `hits` is what the table itself filters, besides the range; `events` tells of each
        location whether it begins (`after`) or ends (`until`) the hits of the others; `is_enough`
        is called with each hit, and tells whether all later ones add nothing.
        """
        self._is_enough = is_enough
        self._share = max(rows // max(len(expressions), 1), 3)
        # The hits of the range are numbered by it.
        self._hits = msgspec.structs.replace(
            hits, first=None, nth=hits.nth if hits.nth is not None and hits.nth < 0 else None
        )
        self._threads: ThreadOrder | None = None
        self.objects = ObjectNumbers()
        self._within = within
        self._places: list[_LocationRows] = []
        for one in expressions:
            self.add_location(one)
        for place, event in zip(self._places, events, strict=False):
            place.event = event

    def _is_of_thread(self, thread: int | None, name: str) -> bool:
        if self._hits.thread_name:
            return self._hits.thread_name == name
        return self._hits.thread in {None, thread}

    @property
    def needs_names(self) -> bool:
        """Whether the filter chooses a thread by its name."""
        return bool(self._hits.thread_name)

    def number_threads(self, *, are_passing: bool) -> None:
        """Give threads whose own numbers differ in each run those of the order of their coming."""
        self._threads = ThreadOrder() if are_passing else None

    def thread_number(self, thread: int | None) -> int | None:
        """Return the number that a thread has in the table."""
        return thread if self._threads is None else self._threads.number_of(thread)

    def add_location(self, expressions: Sequence[str]) -> int:
        """Add a location, and return its number."""
        self._places.append(_LocationRows(expressions, self._share, self._hits))
        return len(self._places) - 1

    @property
    def numbers_hits(self) -> bool:
        """Whether the numbers of hits are the table's: its filter omits some."""
        return bool(msgspec.structs.replace(self._hits, last=None, nth=None))

    def take_hit(
        self,
        place: int,
        cells: Sequence[ProbeCell],
        *,
        at_s: float,
        hit: int | None = None,
        thread: int | None = None,
        name: str = "",
    ) -> None:
        """Add one hit; without a number it is the location's next one.

        The thread's name counts where the filter has one.
        """
        known = self._places[place]
        if known.event:
            self._take_event(known)
            return
        if not self._is_of_thread(thread, name):
            known.others += 1
            label = name if self._hits.thread_name else str(thread or "")
            if label and len(known.threads) < _THREADS_MAX:
                known.threads.add(label)
            return
        number = known.hits + 1 if hit is None else hit
        taken = _TakenHit(number, at_s, tuple(cells), thread)
        counted = known.selector.counted
        is_certain = known.selector.add_hit(taken, taken.cells)
        if known.selector.counted == counted:
            return
        known.hits = max(known.hits, number)  # those of threads are not told in their order
        known.is_over = known.is_over or self._within.is_over(number, at_s)
        if is_certain:
            self._add_row(place, taken)
        if self._is_enough is not None and self._is_enough(place, taken.cells):
            for one in self._places:
                one.is_over = True

    def skip_hit(self, place: int) -> None:
        """Count a hit that is not below a call of the filter's function."""
        self._places[place].others += 1

    def _take_event(self, known: _LocationRows) -> None:
        known.hits += 1
        known.is_over = True  # a later hit changes nothing
        for one in self._places:
            if known.event == "after":
                one.selector.begin()
            else:
                one.selector.end()
                known.is_over = one.selector.is_begun
                one.is_over = one.is_over or one.selector.is_over

    def _add_row(self, place: int, taken: _TakenHit) -> None:
        known = self._places[place]
        if not self._within.contains(taken.number, taken.at_s):
            return
        values = tuple(_shown_text(cell) for cell in taken.cells)
        row = ProbeRow(place, taken.number, round(taken.at_s, 6), values, taken.thread)
        for at, (column, cell) in enumerate(zip(known.columns, taken.cells, strict=True)):
            for mark in column.add_value(taken.number, cell.text, is_error=cell.is_error):
                known.examples[at, mark] = row
            column.add_object(taken.number, self.objects.number_of(cell.identity), cell)
        known.kept.take(row)

    def finish(self) -> None:
        """Add the rows that the end of the run decides: the last hits."""
        for place, known in enumerate(self._places):
            for taken in known.selector.finish():
                self._add_row(place, taken)

    def set_hits(self, place: int, hits: int) -> None:
        """Set a location's total number of hits, unreported ones included."""
        self._places[place].hits = max(self._places[place].hits, hits)

    @property
    def location_count(self) -> int:
        """The number of locations."""
        return len(self._places)

    def hit_count(self, place: int) -> int:
        """Return the number of hits of a location."""
        return self._places[place].hits

    def passed_count(self, place: int) -> int | None:
        """Return the number of a location's hits with those that the filter omits."""
        known = self._places[place]
        if known.event or not self.numbers_hits:
            return None
        skipped = known.selector.skipped
        return known.hits + skipped.before + skipped.later + skipped.unchanged + known.others

    def other_threads(self, place: int) -> list[str]:
        """Return the threads whose hits the filter omits, at most a few."""
        return sorted(self._places[place].threads)

    def row_count(self, place: int) -> int:
        """Return the number of a location's hits with rows, kept or not."""
        return self._places[place].kept.total

    def is_over(self, place: int) -> bool:
        """Return whether no later hit of a location counts."""
        return self._places[place].is_over

    @property
    def is_all_over(self) -> bool:
        """Whether no later hit of any location counts."""
        return all(place.is_over for place in self._places if not place.event)

    @property
    def ends_run(self) -> bool:
        """Whether a started program is ended once no later hit counts."""
        return self._within.ends_run or self._is_enough is not None

    @property
    def total_rows(self) -> int:
        """The total number of rows."""
        return sum(one.kept.total for one in self._places)

    def summarise_columns(self, place: int) -> tuple[ProbeColumn, ...]:
        """Summarise a location's columns."""
        return tuple(column.to_column() for column in self._places[place].columns)

    def kept_rows(self) -> tuple[ProbeRow, ...]:
        """Return the kept rows of all locations, in order of time."""
        found = [row for place in self._places for row in place.rows()]
        return tuple(sorted(found, key=lambda row: (row.at_s, row.place, row.hit)))


def _shown_text(cell: ProbeCell) -> str:
    text = cell.text if len(cell.text) <= _VALUE_MAX else f"{cell.text[: _VALUE_MAX - 1]}…"
    return f"<{text}>" if cell.is_error else text
