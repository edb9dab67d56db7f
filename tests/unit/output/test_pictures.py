"""Markup, axes, reduced points and placed graphs, without a program."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest

from debugger.output.chart_scale import (
    ChartPoint,
    build_scale,
    format_number,
    reduce_categories,
    reduce_points,
)
from debugger.output.graph_layout import COLUMNS, GraphEdge, place_nodes
from debugger.output.html_page import build_page, preformatted
from debugger.output.markup import Markup, element, escape_text
from debugger.output.svg_chart import (
    PANELS_MOST,
    ChartPanel,
    ChartSeries,
    draw_chart,
    shorten_middle,
)
from debugger.output.svg_graph import GraphNode, draw_graph

SVG = "{http://www.w3.org/2000/svg}"


def chart(*values: float, panels: int = 1) -> ET.Element:
    points = tuple(ChartPoint(float(at), one, str(one)) for at, one in enumerate(values, 1))
    panel = ChartPanel("n", "hit", (ChartSeries("", points),))
    return ET.fromstring(draw_chart("question", [panel] * panels))


def texts(drawn: ET.Element) -> list[str]:
    return [one.text or "" for one in drawn.iter(f"{SVG}text")]


def test_text_is_escaped_and_an_element_is_not_escaped_twice() -> None:
    inner = element("b", "<i> & \"'")
    assert inner == "<b>&lt;i&gt; &amp; &quot;&#39;</b>"
    assert element("p", inner) == f"<p>{inner}</p>"
    assert element("p", title='"><x>\n') == '<p title="&quot;&gt;&lt;x&gt;&#10;"></p>'


def test_what_xml_forbids_is_replaced() -> None:
    assert escape_text("a\x00b\x1b[2J\ud800\u202e") == "a\ufffdb\ufffd[2J\ufffd\ufffd"
    assert escape_text("a\r\nb\rc") == "a\nb\ufffdc"


def test_an_attribute_without_a_value_is_left_out() -> None:
    assert element("details", open=False, class_=None, id="a") == '<details id="a"></details>'
    assert element("details", open=True) == '<details open=""></details>'


@pytest.mark.parametrize(
    ("values", "ticks", "is_whole", "labels"),
    [
        ((0.0, 9.0), 5, False, ["0", "2.5", "5.0", "7.5"]),
        ((1.0, 300.0), 8, True, ["50", "100", "150", "200", "250", "300"]),
        ((1.0, 4.0), 8, True, ["1", "2", "3", "4"]),
        ((0.001, 0.002), 5, False, ["0.00100", "0.00125", "0.00150", "0.00175", "0.00200"]),
        ((7.0, 7.0), 5, True, ["7"]),
        ((0.25, 0.25), 5, False, ["0.25"]),
    ],
)
def test_an_axis_has_few_ticks_at_round_numbers(
    values: tuple[float, ...], ticks: int, is_whole: bool, labels: list[str]
) -> None:
    scale = build_scale(values, 0, 100, ticks=ticks, is_whole=is_whole)
    assert scale.tick_labels() == labels


@pytest.mark.parametrize("ends", [(-1.7e308, 1.7e308), (1e300, 1e308), (-5e-324, 5e-324), (0, 0)])
def test_a_scale_of_extreme_numbers_stays_within_its_coordinates(ends: tuple[float, float]) -> None:
    scale = build_scale(ends, 10, 90, ticks=5, is_whole=False)
    assert all(10 <= scale.position(one) <= 90 for one in (*ends, 0.0, *scale.ticks))
    assert 1 <= len(scale.tick_labels()) <= 20


def test_numbers_of_an_axis_are_grouped_and_large_ones_have_an_exponent() -> None:
    assert [format_number(one) for one in (1234567.0, 1e18, -2.0)] == ["1,234,567", "1e+18", "-2"]


def test_reduced_points_keep_the_extremes_and_the_ends() -> None:
    points = [ChartPoint(float(at), float(at % 7)) for at in range(10_000)]
    points[5_003] = ChartPoint(5_003.0, 99.0)
    points[7_001] = ChartPoint(7_001.0, math.nan, "None")
    reduced = reduce_points(points, 100)
    assert len(reduced) <= 5 * 100
    assert {points[0], points[-1], points[5_003], points[7_001]} <= set(reduced)
    assert [one.x for one in reduced] == sorted(one.x for one in reduced)


def test_reduced_categories_keep_each_category() -> None:
    points = [ChartPoint(float(at), float(at % 11)) for at in range(10_000)]
    reduced = reduce_categories(points, 100)
    assert {one.y for one in reduced} == {float(at) for at in range(11)}
    assert len(reduced) <= 11 * 101


def test_a_chart_of_many_values_says_what_it_shows_of_them() -> None:
    drawn = chart(*map(float, range(10_000)))
    assert "of about each 17, the first, the least, the greatest and the last" in texts(drawn)[-1]


def test_a_chart_breaks_its_line_at_a_value_that_is_none_and_shows_infinite_ones() -> None:
    drawn = chart(1.0, 2.0, math.nan, 3.0, 4.0, math.inf)
    lines = [one for one in drawn.iter(f"{SVG}path") if "line" in one.attrib["class"].split()]
    assert len(lines) == 2
    titles = [one.text for one in drawn.iter(f"{SVG}title")]
    assert {"3: nan", "6: inf"} <= set(titles)
    assert "other" in texts(drawn)


def test_more_panels_than_a_chart_has_are_counted() -> None:
    drawn = chart(1.0, 2.0, panels=PANELS_MOST + 3)
    assert texts(drawn)[-1] == "3 more expressions are not drawn"


def test_a_label_is_shortened_in_its_middle() -> None:
    assert shorten_middle("[0, 1, 2, 3, 4, 5, 6, 7]", 12) == "[0, 1, …, 7]"


def test_a_page_runs_nothing_and_loads_nothing() -> None:
    page = build_page("<title>", [preformatted("<script>alert(1)</script>")])
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_edges_lead_down_except_one_of_a_cycle() -> None:
    edges = [GraphEdge(0, 1), GraphEdge(1, 2), GraphEdge(2, 0), GraphEdge(3, 1)]
    placed = place_nodes(5, edges)
    depth = {at: row for row, some in enumerate(placed.rows) for at in some.values()}
    assert placed.cyclic == {0, 1, 2}
    assert placed.isolated == (4,)
    assert len(placed.back_edges) == 1
    assert all(
        depth[one.source] < depth[one.target] for one in edges if one not in placed.back_edges
    )
    columns = {column for some in placed.rows for column, at in some.items() if at in placed.cyclic}
    assert len(columns) == 1


def test_a_row_of_many_nodes_is_divided() -> None:
    placed = place_nodes(10, [GraphEdge(at, 9) for at in range(9)])
    assert all(len(row) <= COLUMNS for row in placed.rows)
    assert sorted(at for row in placed.rows for at in row.values()) == list(range(10))


def test_a_node_that_waits_for_itself_has_a_back_edge() -> None:
    placed = place_nodes(1, [GraphEdge(0, 0)])
    assert placed.back_edges == {GraphEdge(0, 0)}
    assert placed.cyclic == {0}


def test_only_the_cycle_of_a_drawn_graph_stands_out() -> None:
    nodes = [GraphNode(name, edge_label=(f"waits {name}",)) for name in "abc"]
    edges = [GraphEdge(0, 1), GraphEdge(1, 0), GraphEdge(2, 0)]
    drawn = ET.fromstring(draw_graph("q", nodes, edges, marks_cycles=True))
    hot = [one for one in drawn.iter(f"{SVG}path") if one.attrib["class"] == "hot"]
    plain = [one for one in drawn.iter(f"{SVG}path") if one.attrib["class"] == "edge"]
    assert (len(hot), len(plain)) == (2, 1)
    assert {"waits a", "waits b", "waits c"} <= set(texts(drawn))


def test_markup_is_text() -> None:
    assert isinstance(element("p"), Markup)
