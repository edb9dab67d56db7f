"""Draws a chart as SVG: a panel for each expression, its values over a common kind of axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from debugger.output.chart_scale import (
    ChartPoint,
    ChartScale,
    build_scale,
    format_number,
    reduce_categories,
    reduce_points,
)
from debugger.output.markup import Markup, element, format_coordinate
from debugger.output.picture_style import PICTURE_CSS, SERIES_MOST

WIDTH = 900
PANELS_MOST = 12
CATEGORIES_MOST = 12
_HEIGHT, _FLAT = 170, 56  # of the area of numbers, and of one number alone
_ROW = 22  # of a category
_LEAST_LEFT, _MOST_LEFT, _RIGHT = 44.0, 180.0, 24.0
_LABEL = 20  # characters of a category
_CHARACTER = 6.9  # pixels of a character, about
_BUCKETS = 600
_DOTS_MOST = 400  # points that are drawn as dots with a text of their own
_FEW_DOTS = 60
_TITLE_LINE = 95  # characters
_TITLE_LINES = 3
_Y_TICKS, _X_TICKS = 5, 8
_TEXT_LINE = 13  # between two lines of text
_STRIP = 20  # below the numbers, for what is none
_DASHES = ("", "dashed", "dotted")


@dataclass(frozen=True)
class ChartSeries:
    """The values of one thread, or of one run, in the order of x."""

    name: str
    points: tuple[ChartPoint, ...]


@dataclass(frozen=True)
class ChartMark:
    """A value that is pointed out."""

    point: ChartPoint
    text: str


@dataclass(frozen=True)
class ChartPanel:
    """The values of one expression."""

    title: str
    x_label: str
    series: tuple[ChartSeries, ...]
    facts: str = ""
    # Of values that are no numbers: the texts, of which `y` is the index.
    categories: tuple[str, ...] = ()
    marks: tuple[ChartMark, ...] = ()
    # Parts of the x axis in which two runs differ.
    bands: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class _PlotArea:
    """Where a panel's values are drawn."""

    x: ChartScale
    y: ChartScale
    top: float
    bottom: float

    def place(self, one: ChartPoint) -> tuple[float, float]:
        """Return a value's coordinates; what is no number lies in the strip below."""
        y = self.bottom + _STRIP / 2 if math.isnan(one.y) else self.y.position(one.y)
        return self.x.position(one.x), y


def draw_chart(
    title: str, panels: Sequence[ChartPanel], *, subtitle: str = "", notes: Sequence[str] = ()
) -> Markup:
    """Draw a chart with at least one panel, as one SVG element."""
    lines = wrap_text(title, _TITLE_LINE, _TITLE_LINES)
    drawn: list[str] = []
    y = 28.0
    for one in lines:
        drawn.append(draw_text(24, y, one, "ink title code"))
        y += 20
    if subtitle:
        drawn.append(draw_text(24, y, shorten_text(subtitle, 130), "quiet"))
        y += 18
    y += 8
    left = min(max(map(_left_margin, panels)), _MOST_LEFT)
    for panel in panels[:PANELS_MOST]:
        part, y = _draw_panel(panel, y, left)
        drawn.append(part)
    most = max(len(one.points) for panel in panels for one in panel.series)
    if most > 4 * _BUCKETS:
        each = math.ceil(most / _BUCKETS)
        some = "the first, the least, the greatest and the last"
        notes = [*notes, f"a line of {most:,} values has, of about each {each:,}, {some}"]
    left_out = [f"{len(panels) - PANELS_MOST} more expressions are not drawn"]
    for note in [*notes, *(left_out if len(panels) > PANELS_MOST else [])]:
        for line in wrap_text(note, 130, 2):
            drawn.append(draw_text(24, y, line, "quiet small"))
            y += 16
    return svg_picture(WIDTH, y + 8, title, drawn)


def svg_picture(width: float, height: float, title: str, drawn: Sequence[str]) -> Markup:
    """Build the SVG element of a picture, with its style and a title for screen readers."""
    return element(
        "svg",
        element("title", title),
        element("style", PICTURE_CSS),
        element("rect", class_="paper", width=width, height=height),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {format_coordinate(width)} {format_coordinate(height)}",
        width=width,
        height=height,
        role="img",
        class_="picture",
    )


def _left_margin(panel: ChartPanel) -> float:
    labels = [shorten_middle(one, _LABEL) for one in panel.categories] or _y_scale(
        panel, 0, 1
    ).tick_labels()
    return max(_LEAST_LEFT, 30 + _CHARACTER * max(map(len, labels)))


def _y_scale(panel: ChartPanel, bottom: float, top: float) -> ChartScale:
    if panel.categories:
        count = len(panel.categories)
        # The first category is at the top.
        return ChartScale(-0.5, count - 0.5, top, bottom, tuple(map(float, range(count))))
    values = [one.y for each in panel.series for one in each.points if math.isfinite(one.y)]
    is_whole = all(one == math.floor(one) for one in values)
    return build_scale(values or [0.0], bottom, top, ticks=_Y_TICKS, is_whole=is_whole)


def _draw_panel(panel: ChartPanel, y: float, left: float) -> tuple[Markup, float]:
    """Draw a panel from `y` on, and return where it ends."""
    parts: list[str] = [draw_text(24, y + 12, shorten_text(panel.title, 90), "ink code strong")]
    y += 18
    if panel.facts:
        parts.append(draw_text(24, y + 11, shorten_text(panel.facts, 130), "quiet"))
        y += 16
    if len(panel.series) > 1:
        parts.append(_draw_legend(panel.series, y))
        y += 18
    top = y + 12
    points = [one for each in panel.series for one in each.points]
    is_flat = len({one.y for one in points}) == 1
    height = _FLAT if is_flat else _HEIGHT
    if panel.categories:
        height = _ROW * len(panel.categories)
    bottom = top + height
    edge = 6.0
    area = _PlotArea(
        build_scale(
            [one.x for one in points], left + edge, WIDTH - _RIGHT - edge, ticks=_X_TICKS,
            is_whole=True,
        ),
        _y_scale(panel, bottom - edge, top + edge),
        top,
        bottom,
    )  # fmt: skip
    has_strip = any(math.isnan(one.y) for one in points)
    parts.append(_draw_axes(panel, area, left, has_strip=has_strip))
    for start, end in panel.bands:
        x = area.x.position(start) - 2
        width = max(area.x.position(end) + 2 - x, 3.0)
        parts.append(element("rect", class_="hotfill band", x=x, y=top, width=width, height=height))
    parts += [
        _draw_series(each, area, at, is_category=bool(panel.categories))
        for at, each in enumerate(panel.series)
    ]
    parts.append(_draw_marks(panel.marks, area))
    end = bottom + (_STRIP if has_strip else 0)
    return element("g", *parts), end + 52


def _draw_legend(series: Sequence[ChartSeries], y: float) -> Markup:
    x = 24.0
    parts: list[str] = []
    for at, one in enumerate(series):
        name = shorten_text(one.name, 40)
        style = f"line s{at % SERIES_MOST} {_DASHES[at % len(_DASHES)]}".rstrip()
        parts.append(element("line", class_=style, x1=x, x2=x + 26, y1=y + 8, y2=y + 8))
        parts.append(_draw_dot(x + 13, y + 8, at, 3.5))
        parts.append(draw_text(x + 32, y + 12, name, "ink"))
        x += 56 + _CHARACTER * len(name)
    return element("g", *parts)


def _draw_axes(panel: ChartPanel, area: _PlotArea, left: float, *, has_strip: bool) -> Markup:
    """Draw the grid, the ticks with their labels, and the axes' names."""
    end = WIDTH - _RIGHT
    low = area.bottom + (_STRIP if has_strip else 0)
    parts: list[str] = []
    labels = list(panel.categories) or area.y.tick_labels()
    for value, label in zip(area.y.ticks, labels, strict=True):
        y = area.y.position(value)
        parts.append(element("line", class_="grid", x1=left, x2=end, y1=y, y2=y))
        name = shorten_middle(label, _LABEL)
        parts.append(draw_text(left - 8, y + 4, name, "quiet code small", anchor="end"))
    if has_strip:
        y = area.bottom + _STRIP / 2
        parts.append(draw_text(left - 8, y + 4, "other", "quiet small", anchor="end"))
    last_end = -1.0
    for value, label in zip(area.x.ticks, area.x.tick_labels(), strict=True):
        x = area.x.position(value)
        parts.append(element("line", class_="axis", x1=x, x2=x, y1=low, y2=low + 4))
        half = _CHARACTER * len(label) / 2
        if x - half > last_end:
            parts.append(draw_text(x, low + 17, label, "quiet small", anchor="middle"))
            last_end = x + half + 8
    parts += [
        element("line", class_="axis", x1=left, x2=end, y1=y, y2=y)
        for y in sorted({area.bottom, low})
    ]
    middle = (left + end) / 2
    parts.append(draw_text(middle, low + 32, panel.x_label, "quiet", anchor="middle"))
    return element("g", *parts)


def _draw_series(series: ChartSeries, area: _PlotArea, at: int, *, is_category: bool) -> Markup:
    reduce = reduce_categories if is_category else reduce_points
    points = reduce(series.points, _BUCKETS)
    style = f"line s{at % SERIES_MOST} {_DASHES[at % len(_DASHES)]}".rstrip()
    parts: list[str] = []
    if not is_category:
        # A value that is no number interrupts the line.
        for is_number, some in groupby(points, key=lambda one: math.isfinite(one.y)):
            placed = [area.place(one) for one in some]
            if is_number and len(placed) > 1:
                parts.append(element("path", class_=style, d=_path_data(placed)))
    if is_category or len(points) <= _DOTS_MOST:
        size = 3.5 if len(points) <= _FEW_DOTS else 2.0
        has_text = len(points) <= _DOTS_MOST
        parts += [_draw_point(one, area, at, size, has_text=has_text) for one in points]
    else:
        parts += [
            _draw_point(one, area, at, 2.0, has_text=True)
            for one in points
            if not math.isfinite(one.y)
        ]
    return element("g", *parts)


def _draw_point(
    one: ChartPoint, area: _PlotArea, at: int, size: float, *, has_text: bool
) -> Markup:
    x, y = area.place(one)
    if math.isfinite(one.y):
        shape = _draw_dot(x, y, at, size)
    elif math.isnan(one.y):
        shape = element("path", class_="hot", d=f"M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6")
    else:
        up = -1 if one.y > 0 else 1
        shape = element("path", class_="hotfill", d=f"M{x - 5:.1f} {y:.1f}h10l-5 {8 * up}z")
    if not has_text:
        return shape
    return element("g", element("title", f"{format_number(one.x)}: {one.text}"), shape)


def _draw_dot(x: float, y: float, at: int, size: float) -> Markup:
    """Draw the dot of a series, which its shape tells from others as its colour does."""
    style = f"f{at % SERIES_MOST}"
    if at % 3 == 1:
        side = size * 1.8
        return element(
            "rect", class_=style, x=x - side / 2, y=y - side / 2, width=side, height=side
        )
    if at % 3 == 2:  # noqa: PLR2004 - the third shape of three
        high = size * 1.3
        return element(
            "path", class_=style, d=f"M{x - high:.1f} {y + high:.1f}h{2 * high:.1f}l{-high:.1f}"
            f" {-2 * high:.1f}z",
        )  # fmt: skip
    return element("circle", class_=style, cx=x, cy=y, r=size)


def _path_data(placed: Sequence[tuple[float, float]]) -> str:
    steps = [f"{format_coordinate(x)} {format_coordinate(y)}" for x, y in placed]
    return f"M{'L'.join(steps)}"


def _draw_marks(marks: Sequence[ChartMark], area: _PlotArea) -> Markup:
    """Draw a ring around each value that is pointed out, and its text where there is room."""
    taken: list[tuple[float, float, float]] = []
    parts: list[str] = []
    for one in marks:
        x, y = area.place(one.point)
        parts.append(element("circle", class_="hot", cx=x, cy=y, r=6.0))
        text = shorten_text(one.text, 60)
        width = _CHARACTER * len(text)
        is_right = x + 10 + width > WIDTH - _RIGHT
        start = x - 10 - width if is_right else x + 10
        for shift in (-8, 16, -22, 30, -36, 44):
            line = y + shift
            is_free = all(
                abs(line - other) >= _TEXT_LINE or start > to or start + width < begin
                for begin, to, other in taken
            )
            if is_free and area.top - 2 <= line - 8 and line <= area.bottom + _STRIP:
                taken.append((start, start + width, line))
                parts.append(
                    draw_text(
                        x - 10 if is_right else x + 10, line, text, "hotfill halo small strong",
                        anchor="end" if is_right else None,
                    )
                )  # fmt: skip
                break
    return element("g", *parts)


def draw_text(x: float, y: float, text: str, style: str, *, anchor: str | None = None) -> Markup:
    """Draw one line of text, whose baseline is at `y`."""
    return element("text", text, class_=style, x=float(x), y=float(y), text_anchor=anchor)


def shorten_text(text: str, most: int) -> str:
    """Shorten a text to one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def shorten_middle(text: str, most: int) -> str:
    """Shorten a text to one line of at most so many characters, with its beginning and its end."""
    line, end = " ".join(text.split()), most // 3
    return line if len(line) <= most else f"{line[: most - end - 1]}…{line[-end:]}"


def wrap_text(text: str, most: int, lines: int) -> list[str]:
    """Break a text into at most so many lines, at blanks where there are some."""
    words, found = " ".join(text.split()), list[str]()
    while len(words) > most and len(found) < lines - 1:
        cut = words.rfind(" ", most // 2, most + 1)
        cut = cut if cut > 0 else most
        found.append(words[:cut].rstrip())
        words = words[cut:].lstrip()
    return [*found, shorten_text(words, most)]
