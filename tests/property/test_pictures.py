"""Any text in values and names gives well-formed pictures and pages, and no markup of its own."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from debugger.output.graph_layout import GraphEdge, place_nodes
from debugger.questions.crash.evidence_page import SessionRecord, StopRow, build_evidence_page
from debugger.questions.hang.answer import Hang, HangGroup
from debugger.questions.hang.wait_graph import draw_waits
from debugger.questions.path.call_page import DrawnCalls, build_call_page
from debugger.questions.probe.answer import Probe, ProbePlace
from debugger.questions.probe.probe_plot import draw_probe
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.recordings.answer import CallRow, RunView, VaryView
from debugger.questions.runner.answer import EvidenceShown, EvidenceView

HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "]]>",
        "<!--",
        "&lt;",
        '"><img src=x onerror=y>',
        "</style><b>",
        "</title>",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "\u202e",
        "nan",
        "-inf",
        "1e999",
        "-1.7e308",
        "5e-324",
        "",
        "\r\n",
        "\t",
        "\\N",
        '"',
        "x" * 500,
    ]
)
TEXT = st.one_of(HOSTILE, st.text(max_size=12), st.integers().map(str), st.floats().map(str))
KNOWN = frozenset(
    {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "pre", "div"}
    | {"span", "code", "details", "summary", "section", "table", "thead", "tbody", "tr", "th"}
    | {"td", "svg", "g", "rect", "line", "path", "circle", "text"}
)


def check_markup(text: str) -> None:
    """Parse a file, and check that each of its elements is one that is written here."""
    text.encode()  # nothing of it cannot be written
    body = re.sub(r"\A(?:<!doctype html>|<\?xml [^>]*\?>)\n", "", text)
    names = {one.tag.rpartition("}")[2] for one in ET.fromstring(body).iter()}
    assert names <= KNOWN
    attributes = {key for one in ET.fromstring(body).iter() for key in one.attrib}
    assert not any(key.startswith("on") or key in {"src", "href"} for key in attributes)


def probe_of(texts: list[str], expression: str) -> Probe:
    table = ProbeTable([[expression]], HitRange(), rows=300)
    for at, text in enumerate(texts):
        table.take_hit(0, [ProbeCell(text, is_error=at % 5 == 4)], at_s=at, thread=at % 3)
    place = ProbePlace(
        asked=expression,
        columns=table.summarise_columns(0),
        function=expression,
        hits=len(texts),
        taken=len(texts),
    )
    return Probe("exited", (place,), rows=table.kept_rows(), evidence="e1")


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=30), TEXT, st.booleans())
def test_a_drawn_probe_is_well_formed(texts: list[str], name: str, is_page: bool) -> None:
    # A number makes sure that there is something to draw.
    answer = probe_of([*texts, *("1" for _ in texts), "2"], name)
    check_markup(draw_probe(answer, answer.rows, "html" if is_page else "svg", name, name))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT, st.lists(st.integers(0, 7), max_size=3)), min_size=1, max_size=8)
)
def test_a_drawn_hang_is_well_formed(threads: list[tuple[str, str, list[int]]]) -> None:
    groups = tuple(
        HangGroup(
            1, (name,), state=wait, awaits=f"waits for {wait}",
            owners=tuple(sorted({at % len(threads) for at in owners})),
        )
        for name, wait, owners in threads
    )  # fmt: skip
    answer = Hang("deadlock", threads[0][1], groups=groups)
    check_markup(draw_waits(answer, "svg", threads[0][0]))
    text = draw_waits(answer, "dot", threads[0][0])
    # Outside of quoted texts there is nothing but the language's own words.
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text)
    assert re.fullmatch(r"[\w\s/{}\[\]=;,>-]*", bare)


@given(st.integers(1, 30).flatmap(lambda count: st.tuples(
    st.just(count),
    st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=60),
)))  # fmt: skip
def test_every_node_is_placed_once_and_only_back_edges_lead_up(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    count, pairs = graph
    edges = [GraphEdge(*pair) for pair in pairs]
    placed = place_nodes(count, edges)
    rows = [at for row in placed.rows for at in row.values()]
    assert sorted([*rows, *placed.isolated]) == list(range(count))
    depth = {at: number for number, row in enumerate(placed.rows) for at in row.values()}
    for one in edges:
        is_up = depth[one.source] >= depth[one.target]
        assert not is_up or one in placed.back_edges


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, st.integers(0, 4)), max_size=20), st.booleans())
def test_a_page_of_calls_is_well_formed(calls: list[tuple[str, str, int]], is_pair: bool) -> None:
    rows = []
    for at, (name, value, deep) in enumerate(calls):
        depth = min(deep, rows[-1].depth + 1 if rows else 0)
        one = VaryView(name, 1, 1, value, value)
        rows.append(
            CallRow(
                depth, at, name, value, 1, arguments=(one,), value=one, errors=(value,), raised=1
            )
        )
    text = calls[0][0] if calls else ""
    tree = DrawnCalls(text, RunView(text, 1), tuple(rows), len(rows))
    trees = [tree, DrawnCalls(text, RunView(text, 0), tuple(rows[:1]), 1)] if is_pair else [tree]
    check_markup(build_call_page(trees, text=text, notes=[text], command=text, cwd=text))


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXT, min_size=4, max_size=4))
def test_a_page_of_evidence_is_well_formed(texts: list[str]) -> None:
    one, other, third, last = texts
    shown = EvidenceShown(EvidenceView("e1", one, other, third, last, (one,), (one,)), other)
    stop = StopRow(1, 0.5, one, other, third, last, 3)
    record = SessionRecord(one, other, third, (stop,), 9, last, (one, other), output_dropped=True)
    check_markup(build_evidence_page([(shown, None)], [record], dropped=3))
