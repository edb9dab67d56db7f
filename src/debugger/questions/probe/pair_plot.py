"""Draws the probed values of two runs over each other, and marks the hits where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from debugger.errors import DebuggerError, ErrorCode
from debugger.output.chart_scale import ChartPoint
from debugger.output.html_page import (
    build_page,
    build_table,
    command_block,
    folded_block,
    picture_file_text,
)
from debugger.output.location_text import base_name, format_count
from debugger.output.markup import element
from debugger.output.svg_chart import (
    ChartMark,
    ChartPanel,
    ChartSeries,
    draw_chart,
    shorten_text,
)
from debugger.questions.diff.answer import DiffOfProbes, ProbedColumn, ProbedPlace
from debugger.questions.probe.answer import ProbeRow
from debugger.questions.probe.probe_comparison import ProbedRun, without_addresses
from debugger.questions.probe.probe_plot import choose_positions

_BANDS_MOST = 200
_TABLE_ROWS = 300
_Values = dict[int, str]  # by hit


def draw_pair(
    answer: DiffOfProbes, runs: tuple[ProbedRun, ProbedRun], kind: str, command: str, cwd: str
) -> str:
    """Return the file with the values of both runs: a picture, or a page (`html`).

    Raises:
        DebuggerError: NOT_FOUND if nothing can be drawn.
    """
    panels = list(_build_panels(answer, runs))
    if not panels:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            "nothing to draw: the values are no numbers, and no few texts",
            hint=f"debugger evidence show {answer.evidence} shows them",
        )
    subtitle = (
        f"{format_count(answer.different, 'hit')} with other values (shaded), {answer.common:,} "
        "with the same"
    )
    chart = draw_chart(command, panels, subtitle=subtitle, notes=answer.notes)
    if kind != "html":
        return picture_file_text(chart)
    parts: list[str] = [element("div", chart, class_="scroll")]
    for at, place in enumerate(answer.places):
        parts.append(element("h2", _place_name(place)))
        for number, column in enumerate(place.columns):
            rows = list(_differing_rows(at, number, column, runs))
            title = f"{column.expression}: {format_count(column.different, 'other value')}"
            table = build_table(["hit", "first run", "second run"], rows[:_TABLE_ROWS])
            if rows:
                parts.append(folded_block(title, table, is_open=len(rows) < _BANDS_MOST // 10))
    parts += [element("h2", "To ask again"), command_block(command, cwd)]
    return build_page(shorten_text(f"Two runs: {subtitle}", 200), parts)


def _place_name(place: ProbedPlace) -> str:
    return f"{base_name(place.file)}:{place.line}" if place.file and place.line else place.asked


def _build_panels(answer: DiffOfProbes, runs: tuple[ProbedRun, ProbedRun]) -> Iterator[ChartPanel]:
    for at, place in enumerate(answer.places):
        for number, column in enumerate(place.columns):
            values = [_values_of(run.rows, at, number) for run in runs]
            panel = build_pair_panel(
                column, values, [run.view.command for run in runs], f"hit of {_place_name(place)}"
            )
            if panel is not None:
                yield panel


def _values_of(rows: Sequence[ProbeRow], place: int, column: int) -> _Values:
    own = (row for row in rows if row.place == place and column < len(row.values))
    return {row.hit: row.values[column] for row in sorted(own, key=lambda row: row.hit)}


def build_pair_panel(
    column: ProbedColumn, values: Sequence[_Values], names: Sequence[str], label: str
) -> ChartPanel | None:
    """Build the panel of one expression in two runs; None if it cannot be drawn."""
    texts = Counter(text for one in values for text in one.values())
    found = choose_positions(texts)
    if found is None:
        return None
    positions, categories = found
    series = tuple(
        ChartSeries(
            f"{word}: {name}",
            tuple(ChartPoint(float(hit), positions[text], text) for hit, text in one.items()),
        )
        for word, name, one in zip(("first", "second"), names, values, strict=True)
    )
    hits = [hit for hit in sorted({*values[0], *values[1]}) if _differs(column, values, hit)]
    facts = f"{column.different:,} of {column.compared:,} hits of both differ"
    marks = []
    if hits:
        first = hits[0]
        both = [one.get(first, "no such hit") for one in values]
        text = " and ".join(shorten_text(one, 20) for one in both)
        known = next(one for one in values if first in one)
        point = ChartPoint(float(first), positions[known[first]], known[first])
        marks = [ChartMark(point, f"first differs at hit {first:,}: {text}")]
    return ChartPanel(
        title=column.expression,
        x_label=label,
        series=series,
        facts=facts,
        categories=categories,
        marks=tuple(marks),
        bands=merge_spans(hits, _BANDS_MOST),
    )


def _differs(column: ProbedColumn, values: Sequence[_Values], hit: int) -> bool:
    left, right = (one.get(hit) for one in values)
    if left is None or right is None:
        return True
    one, other = (without_addresses(text, column.expression) for text in (left, right))
    return one != other


def merge_spans(hits: Sequence[int], most: int) -> tuple[tuple[float, float], ...]:
    """Merge hits in a row to spans, and spans that are near each other until there are few."""
    room = 1
    while True:
        spans: list[tuple[float, float]] = []
        for hit in hits:
            if spans and hit - spans[-1][1] <= room:
                spans[-1] = (spans[-1][0], float(hit))
            else:
                spans.append((float(hit), float(hit)))
        if len(spans) <= most:
            return tuple(spans)
        room *= 2


def _differing_rows(
    at: int, number: int, column: ProbedColumn, runs: tuple[ProbedRun, ProbedRun]
) -> Iterator[tuple[str, str, str]]:
    left, right = (_values_of(run.rows, at, number) for run in runs)
    for hit in sorted({*left, *right}):
        if _differs(column, (left, right), hit):
            yield f"{hit:,}", left.get(hit, ""), right.get(hit, "")
