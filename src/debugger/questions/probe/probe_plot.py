"""Decides how the values of a probe are drawn: as numbers or as categories, and what stands out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.output.chart_scale import ChartPoint
from debugger.output.html_page import (
    build_page,
    build_table,
    command_block,
    folded_block,
    picture_file_text,
)
from debugger.output.html_page import preformatted as block
from debugger.output.location_text import base_name, format_count
from debugger.output.markup import Markup, element
from debugger.output.picture_style import SERIES_MOST
from debugger.output.svg_chart import (
    CATEGORIES_MOST,
    ChartMark,
    ChartPanel,
    ChartSeries,
    draw_chart,
    shorten_text,
)
from debugger.output.text_chart import draw_text_chart
from debugger.questions.probe.answer import Probe, ProbeColumn, ProbePlace, ProbeRow
from debugger.questions.probe.probe_table import SampledRows, parse_number
from debugger.questions.probe.render import format_column
from debugger.questions.runner.evidence_store import AnswerPicture

KINDS = ("svg", "png", "html")
ROWS = 30_000  # rows that are drawn
_KEPT_ROWS = 300  # for a report, as many as an answer has
_KEPT_TEXT = 200_000  # characters of their values
_TABLE_ROWS = 300  # of a page
_OTHER = "other values"
# As the debuggers and languages write them; a float's minus may also stand before "nan".
_NO_NUMBER = re.compile(r"[-+]?(?:nan(?:\(.*\))?|NaN)\Z")
_INFINITE = re.compile(r"([-+])?(?:inf|Inf|infinity|Infinity)\Z")


def chart_of_probe(answer: Probe, rows: Sequence[ProbeRow], title: str) -> Markup:
    """Draw the values of all columns.

    Args:
        answer: The answer about them.
        rows: The rows to draw, which may be more than the answer keeps.
        title: The question.

    Raises:
        DebuggerError: NOT_FOUND if nothing can be drawn.
    """
    panels, notes = _plan_chart(answer, rows)
    return draw_chart(title, panels, subtitle=_subtitle(answer), notes=notes)


def text_of_probe(answer: Probe, rows: Sequence[ProbeRow], title: str, width: int) -> str:
    """Draw the values of all columns in characters, as `chart_of_probe` does.

    Raises:
        DebuggerError: NOT_FOUND if nothing can be drawn.
    """
    panels, notes = _plan_chart(answer, rows)
    return draw_text_chart(title, panels, width, subtitle=_subtitle(answer), notes=notes)


def _plan_chart(answer: Probe, rows: Sequence[ProbeRow]) -> tuple[list[ChartPanel], list[str]]:
    """Return the panels, and what is to be said of them.

    Raises:
        DebuggerError: NOT_FOUND if nothing can be drawn.
    """
    panels = list(_build_panels(answer, rows))
    if not panels:
        raise _nothing_to_draw(answer)
    total = sum(place.taken for place in answer.places)
    notes = []
    if len(rows) < total:
        notes.append(
            f"{len(rows):,} of {total:,} hits are drawn: the first, the last and an even part "
            "of those between, with the least, the greatest and what stands out"
        )
    return panels, notes


def draw_probe(answer: Probe, rows: Sequence[ProbeRow], kind: str, command: str, cwd: str) -> str:
    """Return the file with the values of all columns: a picture, or a page (`html`).

    Raises:
        DebuggerError: NOT_FOUND if nothing can be drawn.
    """
    chart = chart_of_probe(answer, rows, command)
    if kind == "html":
        return page_of_probe(answer, rows, chart, command, cwd)
    return picture_file_text(chart)


def thin_rows(answer: Probe, most: int) -> tuple[ProbeRow, ...]:
    """Return as many rows as an answer keeps: evenly spread, and those that it refers to."""
    if len(answer.rows) <= most:
        return answer.rows
    noted: set[tuple[int, int]] = set()
    sampled = [SampledRows(max(most // len(answer.places), 1)) for _ in answer.places]
    for at, place in enumerate(answer.places):
        for column in place.columns:
            some = [column.minimum, column.maximum, column.change, column.turn, *column.outliers]
            noted |= {(at, one.hit) for one in some if one is not None}
    for row in answer.rows:
        sampled[row.place].take(row)
    chosen = {id(row) for one in sampled for row in one.rows()}
    return tuple(row for row in answer.rows if id(row) in chosen or (row.place, row.hit) in noted)


def later_drawing(answer: Probe, command: str) -> AnswerPicture | None:
    """Return what draws an answer in a report; None for one whose rows are too long to keep."""
    rows = thin_rows(answer, _KEPT_ROWS)
    if sum(len(text) for row in rows for text in row.values) > _KEPT_TEXT:
        return None
    answer = msgspec.structs.replace(answer, rows=())
    return AnswerPicture(
        svg=partial(chart_of_probe, answer, rows, command),
        text=partial(text_of_probe, answer, rows, command),
    )


def page_of_probe(
    answer: Probe, rows: Sequence[ProbeRow], chart: str, command: str, cwd: str
) -> str:
    """Build a page with the chart, the summary and the rows."""
    shown = rows[:_TABLE_ROWS]
    parts: list[str] = [element("div", chart, class_="scroll")]
    for at, place in enumerate(answer.places):
        parts.append(element("h2", _place_name(place)))
        if place.why is not None:
            parts.append(element("p", f"never hit: {place.why}"))
        parts.append(block("\n".join(format_column(one) for one in place.columns if one.taken)))
        own = [row for row in shown if row.place == at]
        head = ["hit", "seconds", "thread", *(one.expression for one in place.columns)]
        cells = (
            [f"{row.hit:,}", f"{row.at_s:.6f}", str(row.thread or ""), *row.values] for row in own
        )
        if own:
            title = format_count(len(own), "row") + (
                f" of {place.taken:,}" if place.taken > len(own) else ""
            )
            parts.append(folded_block(title, build_table(head, cells)))
    parts += [element("p", note, class_="quiet") for note in answer.notes]
    parts += [element("h2", "To ask again"), command_block(command, cwd)]
    return build_page(shorten_text(_subtitle(answer), 200), parts)


def _subtitle(answer: Probe) -> str:
    hits = sum(place.hits for place in answer.places)
    places = ", ".join(_place_name(place) for place in answer.places)
    return f"{format_count(hits, 'hit')} of {places}"


def _place_name(place: ProbePlace) -> str:
    name = f"{base_name(place.file)}:{place.line}" if place.file and place.line else place.asked
    return f"{name} in {place.function}" if place.function and place.function != name else name


def _build_panels(answer: Probe, rows: Sequence[ProbeRow]) -> Iterator[ChartPanel]:
    for at, place in enumerate(answer.places):
        own = sorted((row for row in rows if row.place == at), key=lambda row: row.hit)
        label = f"hit of {_place_name(place)}"
        for number, column in enumerate(place.columns):
            values = [(row, row.values[number]) for row in own if number < len(row.values)]
            panel = build_panel(column, values, label)
            if panel is not None:
                yield panel


def build_panel(
    column: ProbeColumn, values: Sequence[tuple[ProbeRow, str]], label: str
) -> ChartPanel | None:
    """Build the panel of one expression; None if its values are neither numbers nor few texts."""
    if not values or column.is_never_there:
        return None
    found = choose_positions(Counter(text for _, text in values))
    if found is None:
        return None
    positions, categories = found
    points = {
        (row.hit, row.thread): ChartPoint(float(row.hit), positions[text], text)
        for row, text in values
    }
    return ChartPanel(
        title=column.expression,
        facts=format_column(column).removeprefix(f"{column.expression}: "),
        x_label=label,
        series=_split_threads([row for row, _ in values], points),
        categories=categories,
        marks=tuple(_find_marks(column, {one.x: one for one in points.values()})),
    )


def choose_positions(
    texts: Counter[str],
) -> tuple[Mapping[str, float], tuple[str, ...]] | None:
    """Return where each value is drawn, and the texts of categories, if the values are no numbers.

    None for values that are mostly no numbers, and mostly different.
    """
    numbers = {text: plot_number(text) for text in texts}
    count = sum(times for text, times in texts.items() if not math.isnan(numbers[text]))
    if 2 * count >= texts.total():
        return numbers, ()
    if len(texts) > CATEGORIES_MOST and not _repeats(texts):
        return None
    categories = _choose_categories(texts)
    known = {text: at for at, text in enumerate(categories)}
    last = len(categories) - 1  # the other values, if there are more
    return {text: float(known.get(text, last)) for text in texts}, categories


def plot_number(text: str) -> float:
    """Return the number that a value's text shows, infinite ones too; NaN for any other text."""
    infinite = _INFINITE.match(text)
    if infinite is not None:
        return -math.inf if infinite[1] == "-" else math.inf
    if _NO_NUMBER.match(text):
        return math.nan
    found = parse_number(text)
    return math.nan if found is None else found


def _repeats(texts: Counter[str]) -> bool:
    """Return whether the most frequent texts stand for most of the values."""
    most = sum(count for _, count in texts.most_common(CATEGORIES_MOST - 1))
    return 2 * most >= texts.total() and len(texts) < texts.total()


def _choose_categories(texts: Counter[str]) -> tuple[str, ...]:
    """Return the texts that get a row of their own, in a stable order, and the rest's."""
    if len(texts) <= CATEGORIES_MOST:
        return tuple(sorted(texts))
    common = sorted(text for text, _ in texts.most_common(CATEGORIES_MOST - 1))
    return (*common, f"{_OTHER} ({len(texts) - len(common):,})")


def _split_threads(
    rows: Sequence[ProbeRow], points: Mapping[tuple[int, int | None], ChartPoint]
) -> tuple[ChartSeries, ...]:
    """Return a series for each of the threads with most hits, and one for the others."""
    counts = Counter(row.thread for row in rows)
    named = [one for one, _ in counts.most_common()]
    if len(named) > SERIES_MOST:
        named = named[: SERIES_MOST - 1]
    found: dict[str, dict[tuple[int, int | None], ChartPoint]] = {}
    for one in named:
        found[f"thread {one}"] = {}
    for row in rows:
        name = f"thread {row.thread}" if row.thread in named else "other threads"
        found.setdefault(name, {})[row.hit, row.thread] = points[row.hit, row.thread]
    return tuple(ChartSeries(name, tuple(some.values())) for name, some in found.items())


def _find_marks(column: ProbeColumn, points: Mapping[float, ChartPoint]) -> Iterator[ChartMark]:
    """Yield what stands out: outliers, the turn, the first change, or else the ends of a range."""
    marked: set[int] = set()
    chosen = [(one.hit, one.value) for one in column.outliers]
    if column.turn is not None:
        chosen.append((column.turn.hit, f"turns: {column.turn.value}"))
    if column.change is not None and column.minimum is None:
        chosen.append((column.change.hit, f"first change: {column.change.value}"))
    if not column.outliers:
        ends = [one for one in (column.minimum, column.maximum) if one is not None]
        inner = set(points) - {min(points), max(points)}
        chosen += [(one.hit, one.value) for one in ends if float(one.hit) in inner]
    for hit, text in chosen:
        if hit not in marked and float(hit) in points:
            marked.add(hit)
            yield ChartMark(points[float(hit)], f"{shorten_text(text, 24)} at hit {hit:,}")


def _nothing_to_draw(answer: Probe) -> DebuggerError:
    """Say why nothing can be drawn, with the command that shows the answer."""
    shown = f"debugger evidence show {answer.evidence}"
    columns = [one for place in answer.places for one in place.columns]
    if not any(place.hits for place in answer.places):
        what = f"nothing to draw: {_never(answer.places)}"
        return DebuggerError(ErrorCode.NOT_FOUND, what, hint=f"{shown} shows the answer")
    failed = next((one for one in columns if one.is_never_there), None)
    if failed is not None:
        what = f"nothing to draw: {failed.expression} had never a value: {failed.error or '?'}"
    else:
        names = ", ".join(one.expression for one in columns) or "the location"
        what = f"nothing to draw: the values of {names} are no numbers, and no few texts"
    return DebuggerError(
        ErrorCode.NOT_FOUND, what, hint=f"{shown} shows the values; draw a number of one: 'len(x)'"
    )


def _never(places: Iterable[ProbePlace]) -> str:
    first = next(iter(places), None)
    if first is None:
        return "there is no location"
    return f"{first.asked} was never hit" + (f": {first.why}" if first.why else "")
