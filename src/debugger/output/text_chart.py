"""Draws a chart in characters, for a terminal: lines of Braille dots, and rows for categories."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from debugger.output.chart_scale import (
    ChartPoint,
    ChartScale,
    build_scale,
    reduce_categories,
    reduce_points,
)
from debugger.output.svg_chart import (
    PANELS_MOST,
    ChartPanel,
    ChartSeries,
    shorten_middle,
    shorten_text,
    wrap_text,
)

LEAST_WIDTH = 40
_HEIGHT, _HIGHEST = 8, 14  # rows of numbers
_ASPECT = 14  # columns for each row
_LABEL_MOST = 20  # characters left of the axis
_LEAST_LABEL = 6
_DOTS_X, _DOTS_Y = 2, 4  # of a character
_BRAILLE = 0x2800
# Unicode, Braille Patterns: the bit of each dot, by row and column.
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_SERIES_MOST = 4  # of a panel, each with rows of its own
_Y_TICKS = 8
_TICK_WIDTH = 14  # characters between two ticks below, about


class DotCanvas:
    """A field of Braille characters, whose dots are set one by one."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width * _DOTS_X
        self.height = height * _DOTS_Y
        self._cells = [[0] * width for _ in range(height)]

    def set_dot(self, x: int, y: int) -> None:
        """Set a dot; one outside the field is left out."""
        if 0 <= x < self.width and 0 <= y < self.height:
            bit = _BITS[y % _DOTS_Y][x % _DOTS_X]
            self._cells[y // _DOTS_Y][x // _DOTS_X] |= bit

    def draw_line(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Set the dots between two."""
        (x, y), (to_x, to_y) = start, end
        steps = max(abs(to_x - x), abs(to_y - y), 1)
        for at in range(steps + 1):
            self.set_dot(x + round((to_x - x) * at / steps), y + round((to_y - y) * at / steps))

    def rows(self) -> list[str]:
        """Return the rows as text."""
        return ["".join(chr(_BRAILLE + one) if one else " " for one in row) for row in self._cells]


def draw_text_chart(
    title: str,
    panels: Sequence[ChartPanel],
    width: int,
    *,
    subtitle: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Draw a chart as lines of at most `width` characters (at least 40)."""
    width = max(width, LEAST_WIDTH)
    lines = wrap_text(title, width, 3)
    if subtitle:
        lines.append(shorten_text(subtitle, width))
    for panel in panels[:PANELS_MOST]:
        lines += ["", *_draw_panel(panel, width)]
    if len(panels) > PANELS_MOST:
        notes = [*notes, f"{len(panels) - PANELS_MOST} more expressions are not drawn"]
    for note in notes:
        lines += ["", *wrap_text(note, width, 2)]
    return "\n".join(lines)


def _draw_panel(panel: ChartPanel, width: int) -> Iterator[str]:
    yield shorten_text(panel.title, width)
    if panel.facts:
        yield shorten_text(panel.facts, width)
    shown = panel.series[:_SERIES_MOST]
    points = [one for each in panel.series for one in each.points]
    finite = [one.y for one in points if math.isfinite(one.y)] or [0.0]
    is_whole = all(one == math.floor(one) for one in finite)
    height = max(_HEIGHT, min(width // _ASPECT, _HIGHEST)) // (1 if len(shown) == 1 else 2)
    y = build_scale(finite, height * _DOTS_Y - 1, 0, ticks=_Y_TICKS, is_whole=is_whole)
    labels = [shorten_middle(one, _LABEL_MOST) for one in panel.categories] or y.tick_labels()
    margin = min(max(_LEAST_LABEL, *map(len, labels)), _LABEL_MOST)
    inner = width - margin - 2
    x = build_scale(
        [one.x for one in points], 0, inner * _DOTS_X - 1,
        ticks=max(inner // _TICK_WIDTH, 2), is_whole=True,
    )  # fmt: skip
    for series in shown:
        if len(panel.series) > 1:
            yield f"{'':{margin}}  {shorten_text(series.name, inner)}"
        if panel.categories:
            yield from _draw_categories(series, labels, x, margin)
        else:
            yield from _draw_numbers(series, x, y, margin, height)
    yield from _draw_axis(x, margin, inner, panel.x_label)
    if len(panel.series) > _SERIES_MOST:
        yield f"{len(panel.series) - _SERIES_MOST} more are not drawn"
    if panel.bands:
        yield f"{'differ':>{margin}}  {_band_row(panel, x, inner)}"
    for one in panel.marks:
        yield f"{'':{margin}}  {shorten_text(one.text, inner)}"


def _draw_numbers(
    series: ChartSeries, x: ChartScale, y: ChartScale, margin: int, height: int
) -> Iterator[str]:
    width = (round(x.end) + 1) // _DOTS_X
    canvas = DotCanvas(width, height)
    points = reduce_points(series.points, canvas.width)
    for one, next_one in pairwise(points):
        if math.isfinite(one.y) and math.isfinite(next_one.y):
            canvas.draw_line(_dot(one, x, y), _dot(next_one, x, y))
    for one in points:
        if not math.isnan(one.y):  # an infinite one lies at the edge
            canvas.set_dot(*_dot(one, x, y))
    labels = {
        round(y.position(value)) // _DOTS_Y: label
        for value, label in zip(y.ticks, y.tick_labels(), strict=True)
    }
    for at, row in enumerate(canvas.rows()):
        label = shorten_middle(labels.get(at, ""), margin)
        yield f"{label:>{margin}} {'┤' if at in labels else '│'}{row}".rstrip()
    if any(math.isnan(one.y) for one in points):
        strip = _mark_row([one for one in points if math.isnan(one.y)], x, "✗")
        yield f"{'other':>{margin}} │{strip}".rstrip()


def _draw_categories(
    series: ChartSeries, labels: Sequence[str], x: ChartScale, margin: int
) -> Iterator[str]:
    points = reduce_categories(series.points, round(x.end) + 1)
    for at, label in enumerate(labels):
        row = _mark_row([one for one in points if one.y == at], x, "●")
        yield f"{shorten_middle(label, margin):>{margin}} │{row}".rstrip()


def _mark_row(points: Sequence[ChartPoint], x: ChartScale, mark: str) -> str:
    columns = {round(x.position(one.x)) // _DOTS_X for one in points}
    return "".join(mark if at in columns else " " for at in range(max(columns, default=-1) + 1))


def _band_row(panel: ChartPanel, x: ChartScale, inner: int) -> str:
    row = [" "] * inner
    for start, end in panel.bands:
        first, last = (round(x.position(one)) // _DOTS_X for one in (start, end))
        row[first : last + 1] = "▔" * (last + 1 - first)
    return "".join(row).rstrip()


def _draw_axis(x: ChartScale, margin: int, inner: int, label: str) -> Iterator[str]:
    line, text = ["─"] * inner, [" "] * inner
    free = 0
    for value, name in zip(x.ticks, x.tick_labels(), strict=True):
        at = round(x.position(value)) // _DOTS_X
        line[at] = "┬"
        start = max(min(at - len(name) // 2, inner - len(name)), 0)
        if start >= free:
            text[start : start + len(name)] = name
            free = start + len(name) + 2
    yield f"{'':{margin}} └{''.join(line)}"
    yield f"{'':{margin}}  {''.join(text)}".rstrip()
    yield f"{'':{margin}}  {shorten_text(label, inner)}"


def _dot(one: ChartPoint, x: ChartScale, y: ChartScale) -> tuple[int, int]:
    return round(x.position(one.x)), round(y.position(one.y))
