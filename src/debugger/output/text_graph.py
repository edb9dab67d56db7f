"""Draws a small directed graph in characters, for a terminal: each node above those it leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from debugger.output.graph_layout import GraphEdge, place_nodes
from debugger.output.svg_chart import wrap_text
from debugger.output.svg_graph import GraphNode

LEAST_WIDTH = 40
_DEPTH_MOST = 12  # of the indentation
_HOT, _RESOURCE, _PLAIN = "◆", "○", "•"


@dataclass
class _GraphWalk:
    """A walk from the top: what is drawn, and what has been drawn."""

    nodes: Sequence[GraphNode]
    targets: dict[int, list[int]]
    hot: frozenset[int]
    width: int
    lines: list[str] = field(default_factory=list)
    drawn: set[int] = field(default_factory=set)

    def add_line(self, text: str) -> None:
        """Add a line, cut to the width."""
        self.lines.append(text if len(text) <= self.width else f"{text[: self.width - 1]}…")


def draw_text_graph(
    title: str,
    nodes: Sequence[GraphNode],
    edges: Sequence[GraphEdge],
    width: int,
    *,
    subtitle: str = "",
    notes: Sequence[str] = (),
    marks_cycles: bool = False,
) -> str:
    """Draw a graph as lines of at most `width` characters (at least 40)."""
    width = max(width, LEAST_WIDTH)
    placed = place_nodes(len(nodes), edges)
    targets: dict[int, list[int]] = {at: [] for at in range(len(nodes))}
    for one in dict.fromkeys(edges):
        targets[one.source].append(one.target)
    hot = placed.cyclic if marks_cycles else frozenset[int]()
    walk = _GraphWalk(nodes, targets, hot, width)
    order = [at for row in placed.rows for at in row.values()]
    for at in (*order, *placed.isolated):
        if at not in walk.drawn:
            walk.lines.append("")
            _draw_branch(walk, at)
    head = [*wrap_text(title, width, 3), *(wrap_text(subtitle, width, 3) if subtitle else ())]
    foot = [f"{_HOT} waits for itself in a circle"] if hot else []
    foot += [line for note in notes for line in wrap_text(note, width, 2)]
    return "\n".join([*head, *walk.lines, "", *foot])


def _draw_branch(walk: _GraphWalk, start: int) -> None:
    """Draw a node and, below it, what it leads to; a long chain is a loop, and not a recursion."""
    waiting = [(start, 0)]
    while waiting:
        at, level = waiting.pop()
        indent = "  " * (min(level, _DEPTH_MOST) - 1)
        if at in walk.drawn:
            walk.add_line(f"{indent}╰▶ {walk.nodes[at].title}, shown above")
            continue
        walk.drawn.add(at)
        for line in _node_lines(walk, at, indent, is_start=not level):
            walk.add_line(line)
        waiting += [(one, level + 1) for one in reversed(walk.targets[at])]


def _node_lines(walk: _GraphWalk, at: int, indent: str, *, is_start: bool) -> Iterator[str]:
    node = walk.nodes[at]
    mark = _HOT if at in walk.hot else _RESOURCE if node.is_resource else _PLAIN
    busy = "  (computes)" if node.is_busy else ""
    yield f"{indent}{'' if is_start else '╰▶ '}{mark} {node.title}{busy}"
    below = f"{indent}{'' if is_start else '   '}  "
    yield from (f"{below}{line}" for line in node.lines)
    if walk.targets[at] and node.edge_label:
        yield f"{below}⇣ {', '.join(node.edge_label)}"
