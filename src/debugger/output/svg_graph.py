"""Draws a small directed graph as SVG: boxes in rows, and an arrow for each edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from debugger.output.graph_layout import COLUMNS, GraphEdge, GraphRows, place_nodes
from debugger.output.markup import Markup, element, format_coordinate
from debugger.output.svg_chart import draw_text, shorten_text, svg_picture, wrap_text

_WIDTH, _GAP = 270.0, 24.0  # of a box, and between two
_MARGIN = 24.0
_LINE = 16.0
_BETWEEN = 74.0  # rows, with room for what an edge says
_LANE = 22.0  # of an edge that goes back up
_TITLE, _CHARACTERS = 32, 38  # of a box's lines
_LABEL_LINES = 2
_BACK_LABEL = 250.0


@dataclass(frozen=True)
class GraphNode:
    """A box: a title, and lines below it; `edge_label` stands on the edges that leave it."""

    title: str
    lines: tuple[str, ...] = ()
    edge_label: tuple[str, ...] = ()
    # Not a subject, but what one waits for.
    is_resource: bool = False
    is_busy: bool = False


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + _WIDTH / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True)
class _PlacedBoxes:
    """Where the boxes are, their right end, and which of them stand out."""

    rows: GraphRows
    boxes: Mapping[int, _Box]
    right: float
    hot: frozenset[int]


def draw_graph(
    title: str,
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    *,
    subtitle: str = "",
    notes: Sequence[str] = (),
    marks_cycles: bool = False,
) -> Markup:
    """Draw a graph; with `marks_cycles` the nodes and edges of cycles stand out."""
    placed = place_nodes(len(nodes), edges)
    hot = placed.cyclic if marks_cycles else frozenset[int]()
    columns = max((max(row) for row in _screen_rows(placed)), default=0) + 1
    right = _MARGIN + columns * (_WIDTH + _GAP) - _GAP
    lanes = len(placed.back_edges)
    width = max(right + (lanes * _LANE + _BACK_LABEL if lanes else 0) + _MARGIN, 640.0)
    across = int((width - 2 * _MARGIN) / 7)
    head: list[str] = []
    y = 28.0
    for line in wrap_text(title, min(across, 95), 3):
        head.append(draw_text(_MARGIN, y, line, "ink title code"))
        y += 20
    for line in wrap_text(subtitle, across, 3) if subtitle else []:
        head.append(draw_text(_MARGIN, y, line, "ink"))
        y += 17
    boxes, y = _place_boxes(nodes, placed, y + 14)
    drawn = [_draw_edges(nodes, edges, _PlacedBoxes(placed, boxes, right, hot))]
    drawn += [_draw_box(nodes[at], box, is_hot=at in hot) for at, box in boxes.items()]
    for note in notes:
        for line in wrap_text(note, across, 2):
            drawn.append(draw_text(_MARGIN, y, line, "quiet small"))
            y += 16
    return svg_picture(width, y + 8, title, [*head, *drawn])


def _screen_rows(placed: GraphRows) -> list[Mapping[int, int]]:
    """Return the rows by column, and then those of the nodes without edges."""
    some = placed.isolated
    lowest = [some[at : at + COLUMNS] for at in range(0, len(some), COLUMNS)]
    return [*placed.rows, *(dict(enumerate(row)) for row in lowest)]


def _place_boxes(
    nodes: Sequence[GraphNode], placed: GraphRows, y: float
) -> tuple[Mapping[int, _Box], float]:
    boxes: dict[int, _Box] = {}
    rows = _screen_rows(placed)
    for number, row in enumerate(rows, 1):
        for column, at in row.items():
            height = 30 + _LINE * len(nodes[at].lines)
            boxes[at] = _Box(_MARGIN + column * (_WIDTH + _GAP), y, height)
        # Below the last row with edges there is nothing to say.
        gap = _BETWEEN if number < len(placed.rows) else _GAP
        y += max(boxes[at].height for at in row.values()) + gap
    return boxes, y + 8


def _draw_box(node: GraphNode, box: _Box, *, is_hot: bool) -> Markup:
    style = "box hot" if is_hot else "box"
    parts = [
        element(
            "rect",
            class_=f"{style} dashed" if node.is_resource else style,
            x=box.x,
            y=box.y,
            width=_WIDTH,
            height=box.height,
            rx=14.0 if node.is_resource else 4.0,
        ),
        draw_text(box.x + 12, box.y + 20, shorten_text(node.title, _TITLE), "ink strong"),
    ]
    for at, line in enumerate(node.lines, 1):
        y = box.y + 20 + at * _LINE
        parts.append(draw_text(box.x + 12, y, shorten_text(line, _CHARACTERS), "quiet code small"))
    if node.is_busy:
        parts.append(element("rect", class_="f1", x=box.x, y=box.y, width=6.0, height=box.height))
    return element("g", element("title", "\n".join([node.title, *node.lines])), *parts)


def _draw_edges(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], placed: _PlacedBoxes
) -> Markup:
    parts: list[str] = []
    boxes, back, hot, right = placed.boxes, placed.rows.back_edges, placed.hot, placed.right
    lane = 0
    for one in dict.fromkeys(edges):
        source, target = boxes[one.source], boxes[one.target]
        is_hot = one.source in hot and one.target in hot
        label = nodes[one.source].edge_label
        if one in back:
            lane += 1
            parts.append(_draw_back_edge(source, target, right + lane * _LANE, is_hot=is_hot))
            x = right + len(back) * _LANE + 10
            y = (source.y + target.y) / 2 + 20 * lane
            parts.append(_draw_label(x, y, label, is_hot=is_hot, anchor=None))
            continue
        parts.append(_draw_down_edge(source, target, is_hot=is_hot))
    for at, box in boxes.items():
        own = [one for one in edges if one.source == at and one not in back]
        if own:
            is_hot = at in hot and any(one.target in hot for one in own)
            label = nodes[at].edge_label
            parts.append(
                _draw_label(box.middle, box.bottom + 20, label, is_hot=is_hot, anchor="middle")
            )
    return element("g", *parts)


def _draw_down_edge(source: _Box, target: _Box, *, is_hot: bool) -> Markup:
    x, y, to_x, to_y = source.middle, source.bottom, target.middle, target.y
    # Below what the edges beside it say.
    start = y + 20 + 15 * _LABEL_LINES
    bend = (to_y - start) * 0.7
    steps = [(x, start + bend), (to_x, to_y - 7 - bend), (to_x, to_y - 7)]
    data = f"M{_pair(x, y)}V{format_coordinate(start)}C{' '.join(_pair(*one) for one in steps)}"
    tip = f"M{_pair(to_x, to_y)}l-5 -9h10z"
    return _arrow(data, tip, is_hot=is_hot)


def _draw_back_edge(source: _Box, target: _Box, lane: float, *, is_hot: bool) -> Markup:
    """Draw an edge that leaves its box to the right, and goes up on a lane of its own."""
    x, y = source.x + _WIDTH, source.y + source.height / 2
    to_x, to_y = target.x + _WIDTH, target.y + target.height / 2
    if source is target:  # it comes back a bit higher
        y, to_y = source.bottom - 9, source.y + 9
    data = (
        f"M{_pair(x, y)}H{format_coordinate(lane - 8)}Q{_pair(lane, y)} {_pair(lane, y - 8)}"
        f"V{format_coordinate(to_y + 8)}Q{_pair(lane, to_y)} {_pair(lane - 8, to_y)}"
        f"H{format_coordinate(to_x + 7)}"
    )
    return _arrow(data, f"M{_pair(to_x, to_y)}l9 -5v10z", is_hot=is_hot)


def _arrow(data: str, tip: str, *, is_hot: bool) -> Markup:
    return element(
        "g",
        element("path", class_="hot" if is_hot else "edge", d=data),
        element("path", class_="hotfill" if is_hot else "tip", d=tip),
    )


def _draw_label(
    x: float, y: float, lines: Sequence[str], *, is_hot: bool, anchor: str | None
) -> Markup:
    style = f"{'hotfill strong' if is_hot else 'ink'} halo small"
    return element(
        "g",
        *(
            draw_text(x, y + 15 * at, shorten_text(line, _CHARACTERS), style, anchor=anchor)
            for at, line in enumerate(lines[:_LABEL_LINES])
        ),
    )


def _pair(x: float, y: float) -> str:
    return f"{format_coordinate(x)} {format_coordinate(y)}"
