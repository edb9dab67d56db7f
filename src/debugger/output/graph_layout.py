"""Places the nodes of a small directed graph in rows, and finds the edges that close a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

COLUMNS = 4


@dataclass(frozen=True)
class GraphEdge:
    """An edge, by the indices of its nodes."""

    source: int
    target: int


@dataclass(frozen=True)
class GraphRows:
    """The rows of a graph from the top: an edge leads to a lower row, unless it is a back edge."""

    # By column; the nodes of a cycle share the last one.
    rows: tuple[Mapping[int, int], ...]
    back_edges: frozenset[GraphEdge]
    # Nodes without an edge, which are in no row.
    isolated: tuple[int, ...]
    # Nodes that reach themselves.
    cyclic: frozenset[int]


def place_nodes(count: int, edges: Sequence[GraphEdge]) -> GraphRows:
    """Place nodes in rows by their longest way from the top, a node below one that leads to it."""
    targets: dict[int, list[int]] = {at: [] for at in range(count)}
    for one in edges:
        targets[one.source].append(one.target)
    back = _find_back_edges(targets)
    depths = _find_depths(targets, back)
    linked = {at for one in edges for at in (one.source, one.target)}
    cyclic = _find_cyclic(targets)
    rows: dict[int, list[int]] = {}
    for at in sorted(linked):
        rows.setdefault(depths[at], []).append(at)
    return GraphRows(
        rows=tuple(_place_columns([rows[depth] for depth in sorted(rows)], targets, cyclic)),
        back_edges=back,
        isolated=tuple(at for at in range(count) if at not in linked),
        cyclic=cyclic,
    )


def _find_back_edges(targets: Mapping[int, Sequence[int]]) -> frozenset[GraphEdge]:
    """Return the edges to a node on the way to them, in a walk that begins with the first nodes."""
    found: set[GraphEdge] = set()
    done: set[int] = set()
    pointed = {one for some in targets.values() for one in some}
    # What nothing leads to is above; of a cycle alone it is the first node.
    for start in sorted(targets, key=lambda at: (at in pointed, at)):
        open_: dict[int, int] = {start: 0} if start not in done else {}
        while open_:
            node, at = next(reversed(open_.items()))
            if at == len(targets[node]):
                done.add(node)
                del open_[node]
                continue
            open_[node] = at + 1
            target = targets[node][at]
            if target in open_:
                found.add(GraphEdge(node, target))
            elif target not in done:
                open_[target] = 0
    return frozenset(found)


def _find_depths(
    targets: Mapping[int, Sequence[int]], back: frozenset[GraphEdge]
) -> Mapping[int, int]:
    """Return each node's longest way from the top, without the back edges."""
    depths = dict.fromkeys(targets, 0)
    sources = dict.fromkeys(targets, 0)
    forward = {
        node: [one for one in some if GraphEdge(node, one) not in back]
        for node, some in targets.items()
    }
    for some in forward.values():
        for one in some:
            sources[one] += 1
    ready = [node for node, number in sources.items() if not number]
    while ready:
        node = ready.pop()
        for one in forward[node]:
            depths[one] = max(depths[one], depths[node] + 1)
            sources[one] -= 1
            if not sources[one]:
                ready.append(one)
    # What nothing leads to stands right above the first that it leads to.
    above = {one for some in forward.values() for one in some}
    for node, some in forward.items():
        if node not in above and some:
            depths[node] = min(depths[one] for one in some) - 1
    return depths


def _place_columns(
    rows: Sequence[Sequence[int]], targets: Mapping[int, Sequence[int]], cyclic: frozenset[int]
) -> Iterator[Mapping[int, int]]:
    """Yield the nodes of each row by column, and a long row as several."""
    columns: dict[int, int] = {}
    # To the right of all others, where the edges that go back up are.
    last = max((sum(one not in cyclic for one in row) for row in rows), default=0)
    last = min(last, COLUMNS - 1)
    for row in rows:
        if len(row) > COLUMNS:
            for at in range(0, len(row), COLUMNS):
                part = dict(enumerate(row[at : at + COLUMNS]))
                columns |= {node: column for column, node in part.items()}
                yield part
            continue
        taken: dict[int, int] = {}
        for node in sorted(row, key=lambda one: one not in cyclic):
            desired = last if node in cyclic else 0
            if node not in cyclic:
                leads = [columns[one] for one, some in targets.items() if node in some
                         and one in columns]  # fmt: skip
                desired = min(leads, default=0)
            free = [one for one in range(COLUMNS) if one not in taken]
            column = min(free, key=lambda one: (abs(one - desired), one))
            taken[column], columns[node] = node, column
        yield dict(sorted(taken.items()))


def _find_cyclic(targets: Mapping[int, Sequence[int]]) -> frozenset[int]:
    found = set()
    for start in targets:
        reached: set[int] = set()
        ready = list(targets[start])
        while ready and start not in reached:
            node = ready.pop()
            if node not in reached:
                reached.add(node)
                ready += targets[node]
        if start in reached:
            found.add(start)
    return frozenset(found)
