"""Computes a chart's axes, and reduces many points to what a line of that width can show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
_LARGEST = 1e300  # beyond it a difference of two numbers may overflow
_GROUPED = 1e15  # from here on a number is written with an exponent
_FINE = 1e-4  # and below this
_DECIMALS = 12


@dataclass(frozen=True)
class ChartPoint:
    """A value at a position; `y` is not a number for a value that is none, which `text` shows."""

    x: float
    y: float
    text: str = ""


@dataclass(frozen=True)
class ChartScale:
    """Maps the numbers from `low` to `high` to coordinates; `ticks` are in order."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()
    step: float = 1.0

    def position(self, value: float) -> float:
        """Return the coordinate of a number, which is clamped to the scale."""
        value = min(max(value, self.low), self.high)
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return self.start + share * (self.end - self.start)

    def tick_labels(self) -> list[str]:
        """Return the ticks as text, with as many decimals as tell them apart."""
        return [format_number(one, self.step) for one in self.ticks]


def build_scale(
    values: Sequence[float], start: float, end: float, *, ticks: int, is_whole: bool
) -> ChartScale:
    """Build the scale of finite numbers, with about so many ticks at round numbers.

    Args:
        values: The numbers, at least one.
        start: The coordinate of the lowest number.
        end: The coordinate of the highest number.
        ticks: How many ticks there may be.
        is_whole: Only whole numbers get a tick.
    """
    low = max(min(values), -_LARGEST)
    high = min(max(values), _LARGEST)
    if high / 2 - low / 2 <= abs(low) * 1e-15:  # one value, or as good as one
        room = 0.5 if is_whole and abs(low) < _GROUPED else abs(low) * 0.1 or 1.0
        return ChartScale(low - room, high + room, start, end, (low,), _value_step(low))
    step = _nice_step((high / 2 - low / 2) / max(ticks - 1, 1) * 2, is_whole=is_whole)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    numbers = [] if last - first > 4 * ticks else [at * step for at in range(first, last + 1)]
    return ChartScale(low, high, start, end, tuple(numbers) or (low, high), step)


def _value_step(value: float) -> float:
    """Return the place of a number's last digit, so that it is written in full."""
    decimals = next((at for at in range(_DECIMALS) if value == round(value, at)), _DECIMALS)
    return 10.0**-decimals


def _nice_step(rough: float, *, is_whole: bool) -> float:
    """Return the round number next above: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((one * power for one in _NICE if one * power >= rough * 0.999), 10 * power)
    if is_whole:
        step = max(1.0, step)
        if step % 1:  # 2.5
            step = 5.0
    return step


def format_number(value: float, step: float = 1.0) -> str:
    """Format a number for an axis, precise to a part of `step`."""
    if math.isnan(value) or math.isinf(value):
        return str(value)
    size = abs(value)
    if size >= _GROUPED or (step < _FINE and size < 1):
        return f"{value:.6g}"
    decimals = 0
    while decimals < _DECIMALS and abs(step - round(step, decimals)) > step * 1e-6:
        decimals += 1
    text = f"{value:,.{decimals}f}"
    return "0" if text.strip("-0.") == "" and not value else text


def reduce_points(points: Sequence[ChartPoint], buckets: int) -> tuple[ChartPoint, ...]:
    """Reduce points, in the order of x, to the first, least, greatest and last of each bucket.

    A line through them covers the same pixels as one through all, where a bucket is a pixel wide.
    Of values that are no number the first of each bucket is kept.
    """
    if len(points) <= 4 * buckets:
        return tuple(points)
    low, high = points[0].x, points[-1].x
    width = (high - low) / buckets or 1.0
    chosen: list[ChartPoint] = []
    at = 0
    while at < len(points):
        number = min(int((points[at].x - low) / width), buckets - 1)
        end = at
        while end < len(points) and min(int((points[end].x - low) / width), buckets - 1) <= number:
            end += 1
        chosen += _choose_points(points[at:end])
        at = end
    return tuple(chosen)


def reduce_categories(points: Sequence[ChartPoint], buckets: int) -> tuple[ChartPoint, ...]:
    """Reduce points of categories, in the order of x, to the first of each category and bucket."""
    if len(points) <= 4 * buckets:
        return tuple(points)
    low = points[0].x
    width = (points[-1].x - low) / buckets or 1.0
    firsts: dict[tuple[int, float], ChartPoint] = {}
    for one in points:
        firsts.setdefault((int((one.x - low) / width), one.y), one)
    return tuple(firsts.values())


def _choose_points(points: Sequence[ChartPoint]) -> Iterator[ChartPoint]:
    numbers = [at for at, one in enumerate(points) if not math.isnan(one.y)]
    others = [at for at, one in enumerate(points) if math.isnan(one.y)]
    chosen = set(others[:1])
    if numbers:
        chosen |= {numbers[0], numbers[-1]}
        chosen |= {min(numbers, key=lambda at: points[at].y)}
        chosen |= {max(numbers, key=lambda at: points[at].y)}
    for at in sorted(chosen):
        yield points[at]
