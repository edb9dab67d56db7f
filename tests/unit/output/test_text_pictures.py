"""Charts and graphs in the characters of a terminal."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from debugger.output.chart_scale import ChartPoint
from debugger.output.graph_layout import GraphEdge
from debugger.output.svg_chart import ChartMark, ChartPanel, ChartSeries
from debugger.output.svg_graph import GraphNode
from debugger.output.text_chart import DotCanvas, draw_text_chart
from debugger.output.text_graph import draw_text_graph


def panel_of(*values: float, **more: object) -> ChartPanel:
    points = tuple(ChartPoint(float(at), y, str(y)) for at, y in enumerate(values, 1))
    return ChartPanel("x", "hit of work.py:3", (ChartSeries("thread 1", points),), **more)  # type: ignore[arg-type]


def test_a_rising_line_rises_from_the_left_to_the_right():
    drawn = draw_text_chart("probe", [panel_of(*map(float, range(100)))], 60)
    rows = [line.partition("│")[2] or line.partition("┤")[2] for line in drawn.splitlines()[3:11]]
    # Each row's dots lie to the right of those below it.
    starts = [len(row) - len(row.lstrip()) for row in rows]
    assert starts == sorted(starts, reverse=True)
    assert starts[0] > 40
    assert starts[-1] == 0
    assert "hit of work.py:3" in drawn
    assert max(map(len, drawn.splitlines())) <= 60


def test_values_that_are_none_or_infinite_are_marked_and_break_the_line():
    drawn = draw_text_chart("probe", [panel_of(1.0, math.nan, math.inf, 2.0)], 60)
    (strip,) = [line for line in drawn.splitlines() if "other │" in line]
    assert strip.count("✗") == 1


def test_categories_have_a_row_each_and_marks_a_line():
    mark = ChartMark(ChartPoint(2.0, 1.0), "first change: open at hit 2")
    drawn = draw_text_chart(
        "probe", [panel_of(0.0, 1.0, 0.0, categories=("closed", "open"), marks=(mark,))], 60
    )
    rows = {line.split("│")[0].strip(): line for line in drawn.splitlines() if "│" in line}
    assert rows["closed"].count("●") == 2
    assert rows["open"].count("●") == 1
    assert "first change: open at hit 2" in drawn


@given(
    st.lists(st.floats(), min_size=1, max_size=50),
    st.integers(min_value=1, max_value=200),
    st.integers(min_value=1, max_value=5),
)
def test_any_values_are_drawn_within_the_width(values: list[float], width: int, threads: int):
    series = panel_of(*values).series * threads
    drawn = draw_text_chart("t" * 99, [ChartPanel("x", "hit", series)], width)
    assert max(map(len, drawn.splitlines())) <= max(width, 40)


def test_a_dot_is_the_bit_of_its_braille_pattern():
    canvas = DotCanvas(2, 1)
    canvas.set_dot(0, 0)
    canvas.set_dot(1, 3)
    canvas.set_dot(99, 0)
    assert canvas.rows() == ["⢁ "]


NODES = (
    GraphNode("Thread-1", ("take a.py:3",), ("waits for lock_b", "at a.py:4")),
    GraphNode("Thread-2", (), ("waits for lock_a",)),
    GraphNode("MainThread", (), ("joins Thread-1",)),
    GraphNode("idle", (), is_busy=True),
)
EDGES = (GraphEdge(0, 1), GraphEdge(1, 0), GraphEdge(2, 0))


def test_a_deadlock_is_a_circle_below_who_waits_for_it():
    drawn = draw_text_graph("hang", NODES, EDGES, 60, subtitle="deadlock", marks_cycles=True)
    assert drawn.splitlines()[2:] == [
        "",
        "• MainThread",
        "  ⇣ joins Thread-1",
        "╰▶ ◆ Thread-1",
        "     take a.py:3",
        "     ⇣ waits for lock_b, at a.py:4",
        "  ╰▶ ◆ Thread-2",
        "       ⇣ waits for lock_a",
        "    ╰▶ Thread-1, shown above",
        "",
        "• idle  (computes)",
        "",
        "◆ waits for itself in a circle",
    ]


@given(st.integers(min_value=1, max_value=12), st.data())
def test_each_node_is_drawn_once_within_the_width(count: int, data: st.DataObject):
    at = st.integers(min_value=0, max_value=count - 1)
    edges = data.draw(st.lists(st.builds(GraphEdge, at, at), max_size=20))
    nodes = [GraphNode(f"node{one} {'x' * 80}", ("y" * 90,)) for one in range(count)]
    drawn = draw_text_graph("hang", nodes, edges, 50).splitlines()
    assert max(map(len, drawn)) <= 50
    assert sum("•" in line for line in drawn) == count


@pytest.mark.parametrize("depth", [500])
def test_a_long_chain_stays_within_the_width(depth: int):
    nodes = [GraphNode(f"n{at}") for at in range(depth)]
    edges = [GraphEdge(at, at + 1) for at in range(depth - 1)]
    drawn = draw_text_graph("hang", nodes, edges, 40).splitlines()
    assert any("n499" in line for line in drawn)
