"""Builds the wait-for graph of a hang: who waits for what, and who could end the wait. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.output.graph_layout import GraphEdge
from debugger.output.html_page import MADE_BY, picture_file_text
from debugger.output.location_text import base_name, format_count, short_name
from debugger.output.svg_chart import shorten_text
from debugger.output.svg_graph import GraphNode, draw_graph
from debugger.output.text_graph import draw_text_graph
from debugger.questions.hang.answer import Hang, HangGroup

GROUPS_MOST = 40
_FRAMES = 2
_LABEL = 60  # characters
# What stands before the awaited object, as `hang_verdict` and the system's calls word it.
_VERB = re.compile(
    r"(?:waits for the tasks of|waits for|awaits|receives from|sends to|selects among|reads from"
    r"|writes to)\s+"
)
_NOT_PRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class WaitGraph(Struct, frozen=True):
    """A graph of threads and of what they wait for."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    # Groups that are not in the graph.
    omitted: int = 0


def draw_waits(answer: Hang, kind: str, command: str) -> str:
    """Return the file with the graph: a picture (`svg`), or Graphviz's text (`dot`).

    Raises:
        DebuggerError: NOT_FOUND if no thread is known.
    """
    if kind == "dot":
        return graphviz_text(_graph_of(answer), f"{command}\n{answer.cause}")
    return picture_file_text(picture_of_waits(answer, command))


def picture_of_waits(answer: Hang, command: str) -> str:
    """Draw the graph.

    Raises:
        DebuggerError: NOT_FOUND if no thread is known.
    """
    graph = _graph_of(answer)
    return draw_graph(
        command,
        graph.nodes,
        graph.edges,
        subtitle=answer.cause,
        notes=_notes(answer, graph),
        marks_cycles=answer.kind == "deadlock",
    )


def text_of_waits(answer: Hang, command: str, width: int) -> str:
    """Draw the graph in characters.

    Raises:
        DebuggerError: NOT_FOUND if no thread is known.
    """
    graph = _graph_of(answer)
    return draw_text_graph(
        command,
        graph.nodes,
        graph.edges,
        width,
        subtitle=answer.cause,
        notes=answer.notes,
        marks_cycles=answer.kind == "deadlock",
    )


def _graph_of(answer: Hang) -> WaitGraph:
    if not answer.groups:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"nothing to draw: no thread is known; {shorten_text(answer.cause, 200)}",
            hint=f"debugger evidence show {answer.evidence} shows the answer",
        )
    return build_wait_graph(answer.groups)


def _notes(answer: Hang, graph: WaitGraph) -> list[str]:
    notes = ["an arrow leads from who waits to who could end the wait"]
    if answer.kind == "deadlock":
        notes[0] += "; what waits for itself in a circle is red"
    if any(node.is_busy for node in graph.nodes):
        notes.append("a bar at the left: it computes")
    if graph.omitted:
        notes.append(f"{format_count(graph.omitted, 'more group')} of threads are not drawn")
    return [*notes, *answer.notes]


def build_wait_graph(groups: Sequence[HangGroup], most: int = GROUPS_MOST) -> WaitGraph:
    """Build the graph of groups of threads; those that others wait for come before idle ones."""
    awaited = {at for one in groups for at in one.owners}
    ranked = sorted(
        range(len(groups)),
        key=lambda at: (at not in awaited and not groups[at].owners, not groups[at].awaits, at),
    )
    chosen = sorted(ranked[:most])
    index = {at: number for number, at in enumerate(chosen)}
    nodes = [_build_node(groups[at]) for at in chosen]
    edges: list[GraphEdge] = []
    resources: dict[str, int] = {}
    for at in chosen:
        one = groups[at]
        edges += [GraphEdge(index[at], index[each]) for each in one.owners if each in index]
        verb = _VERB.match(one.awaits)
        if verb is not None and not one.owners:
            what = one.awaits[verb.end() :]
            if what not in resources:
                resources[what] = len(nodes)
                nodes.append(GraphNode(what, is_resource=True))
            edges.append(GraphEdge(index[at], resources[what]))
    return WaitGraph(tuple(nodes), tuple(edges), len(groups) - len(chosen))


def _build_node(one: HangGroup) -> GraphNode:
    names = ", ".join(short_name(name) for name in one.names)
    more = ", …" if one.count > len(one.names) else ""
    title = names if one.count == 1 else f"{one.count} {one.noun}s ({names}{more})"
    frames = [
        f"{short_name(frame.function)} {_place(frame.file, frame.line)}".rstrip()
        for frame in one.frames
    ]
    lines = frames[:_FRAMES]
    if one.state and not one.owners and _VERB.match(one.awaits) is None:
        lines.insert(0, one.state)
    if one.cpu is not None:
        lines.append(f"processor {one.cpu:.0%}")
    top = one.frames[0] if one.frames else None
    where = f"at {_place(top.file, top.line)}" if top is not None and top.file else ""
    return GraphNode(
        title=title,
        lines=tuple(lines),
        edge_label=tuple(filter(None, [shorten_text(one.awaits, _LABEL), where])),
        is_busy=one.cpu is not None and not one.awaits,
    )


def _place(file: str | None, line: int | None) -> str:
    return f"{base_name(file)}:{line}" if file and line else ""


def graphviz_text(graph: WaitGraph, title: str) -> str:
    """Return the graph in Graphviz's language."""
    lines = [
        f"// {MADE_BY}",
        "digraph waits {",
        f"  label={_quote(title)}; labelloc=t; labeljust=l; rankdir=TB;",
        '  node [shape=box, fontname="sans-serif"]; edge [fontname="sans-serif"];',
    ]
    for at, node in enumerate(graph.nodes):
        style = ', style="rounded,dashed"' if node.is_resource else ""
        label = _quote("\n".join([node.title, *node.lines]))
        lines.append(f"  n{at} [label={label}{style}];")
    for one in dict.fromkeys(graph.edges):
        label = _quote("\n".join(graph.nodes[one.source].edge_label))
        lines.append(f"  n{one.source} -> n{one.target} [label={label}];")
    return "\n".join([*lines, "}", ""])


def _quote(text: str) -> str:
    """Quote a text for Graphviz, whose escapes begin with a backslash."""
    lines = [_NOT_PRINTED.sub(" ", line) for line in text.split("\n")]
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
