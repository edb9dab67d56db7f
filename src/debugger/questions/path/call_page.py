"""Builds a page with the calls of a run as a tree to unfold, or those of two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from debugger.output.html_page import build_page, command_block, folded_block, preformatted
from debugger.output.location_text import base_name, format_count, short_name
from debugger.output.markup import Markup, element, join_markup
from debugger.output.svg_chart import shorten_text
from debugger.questions.recordings.answer import CallRow, RunView
from debugger.questions.recordings.run_text import (
    format_arguments,
    format_run_end,
    format_time,
    format_varied,
)
from debugger.questions.runner.answer import DrawnCall, DrawnCallTree

ROWS = 2_000  # calls of a tree
_OPEN_ROWS = 40  # up to so many, a tree is unfolded from the start
_OPEN_DEPTH = 3  # and else as deep as this
_DEPTH_MOST = 60  # elements within each other
_TITLE = 200
_OUTPUT_LINES = 200
_RESULT = 60
_PAIR = 2
_CSS = (
    ".trees { display: grid; gap: 1.5rem; }"
    "@media (min-width: 60rem) { .pair { grid-template-columns: 1fr 1fr; } }"
    ".pair > section { min-width: 0; }"
    ".tree details, .tree .leaf { margin-left: .9rem; border-left: 1px solid var(--line); }"
    ".tree > details, .tree > .leaf { margin-left: 0; border-left: 0; }"
    ".row { position: relative; display: inline-flex; flex-wrap: wrap; gap: 0 .7rem;"
    " width: calc(100% - 1.4rem); padding: .1rem .4rem; vertical-align: top; }"
    ".leaf .row { margin-left: 1.1rem; }"
    ".bar { position: absolute; left: 0; top: 1px; bottom: 1px; background: var(--bar);"
    " border-radius: 3px; z-index: -1; }"
    ".row code { overflow-wrap: anywhere; } .end { margin-left: auto; white-space: nowrap; }"
    ".tree { position: relative; z-index: 0; }"
)


class DrawnCalls(Struct, frozen=True):
    """The tree of one run's calls: its lines, of `total`."""

    title: str
    run: RunView
    rows: tuple[CallRow, ...]
    total: int = 0


_KEPT_TEXT = 100_000  # characters of the lines that evidence keeps of a tree
_NAME = 300


class _Node(Struct):
    row: CallRow
    # The functions from the root to it, which is how it is found in another run.
    key: tuple[tuple[str, str], ...]
    children: list[_Node] = []


def build_call_page(
    trees: Sequence[DrawnCalls], *, text: str, notes: Sequence[str], command: str, cwd: str
) -> str:
    """Build a page with one tree, or with two side by side; `text` is the answer in words."""
    every = [build_forest(one.rows) for one in trees]
    sections = []
    for at, (one, forest) in enumerate(zip(trees, every, strict=True)):
        other = _sum_up(every[1 - at]) if len(trees) == _PAIR else None
        sections.append(_tree_section(one, forest, other))
    style = "trees pair" if len(trees) == _PAIR else "trees"
    parts: list[str] = [
        preformatted(text),
        element("p", _legend(trees), class_="quiet"),
        element("div", *sections, class_=style),
        *(element("p", note, class_="quiet") for note in notes),
        element("h2", "To ask again"),
        command_block(command, cwd),
    ]
    return build_page(shorten_text(command, _TITLE), parts, css=_CSS)


def describe_calls(trees: Sequence[DrawnCalls]) -> tuple[DrawnCallTree, ...]:
    """Return trees as they are shown, for the page that follows a session (bounded)."""
    every = [build_forest(one.rows) for one in trees]
    found = []
    for at, (one, forest) in enumerate(zip(trees, every, strict=True)):
        other = _sum_up(every[1 - at]) if len(trees) == _PAIR else None
        has_times = _has_times([one])
        greatest = _find_greatest(forest, has_times=has_times)
        rows: list[DrawnCall] = []
        size = 0
        for node in _walk(forest):
            row = _describe_row(node, greatest, other, has_times=has_times)
            size += len(row.name) + len(row.result) + sum(map(len, row.marks))
            if size > _KEPT_TEXT:
                break
            rows.append(row)
        total = max(one.total, len(one.rows))
        measure = "time" if has_times else "calls"
        end = format_run_end(one.run)
        found.append(DrawnCallTree(one.title, end, measure, tuple(rows), total - len(rows)))
    return tuple(found)


def build_forest(rows: Sequence[CallRow]) -> list[_Node]:
    """Return the roots of a tree that is given line by line, with their depths."""
    roots: list[_Node] = []
    open_: list[_Node] = []
    for row in rows:
        del open_[row.depth :]
        above = open_[-1] if open_ else None
        step = ((row.function, base_name(row.file)),) if row.function else ()
        node = _Node(row, (*(above.key if above is not None else ()), *step), [])
        (above.children if above is not None else roots).append(node)
        open_.append(node)
    return roots


def _legend(trees: Sequence[DrawnCalls]) -> str:
    what = "time" if _has_times(trees) else "calls"
    pair = "; what only one run did, or did otherwise, is marked" if len(trees) == _PAIR else ""
    return f"A bar is the part of the run's {what}{pair}."


def _has_times(trees: Sequence[DrawnCalls]) -> bool:
    return any(row.total_ms for one in trees for row in one.rows)


def _sum_up(forest: Sequence[_Node]) -> Mapping[tuple[tuple[str, str], ...], CallRow]:
    """Return the calls of each path of functions; the first of them stands for its values."""
    found: dict[tuple[tuple[str, str], ...], CallRow] = {}
    for one in _walk(forest):
        if one.row.function:
            found.setdefault(one.key, one.row)
    return found


def _walk(forest: Sequence[_Node]) -> Iterator[_Node]:
    ready = list(reversed(forest))
    while ready:
        one = ready.pop()
        yield one
        ready += reversed(one.children)


def _tree_section(
    tree: DrawnCalls,
    forest: Sequence[_Node],
    other: Mapping[tuple[tuple[str, str], ...], CallRow] | None,
) -> Markup:
    has_times = _has_times([tree])
    greatest = _find_greatest(forest, has_times=has_times)
    is_small = len(tree.rows) <= _OPEN_ROWS
    drawn = [
        _draw_node(one, greatest, other, has_times=has_times, is_small=is_small) for one in forest
    ]
    left_out = tree.total - len(tree.rows)
    parts: list[str] = [
        element("h2", tree.title),
        element(
            "p", f"{format_run_end(tree.run)}; {format_count(len(tree.rows), 'line')} of calls"
        ),
        element("div", *drawn, class_="tree"),
    ]
    if not drawn:
        parts.append(element("p", "none of the program's own functions ran", class_="quiet"))
    if left_out > 0:
        note = f"{format_count(left_out, 'more line')}, the least telling ones, are left out"
        parts.append(element("p", note, class_="quiet"))
    output = [one.text for one in tree.run.output[-_OUTPUT_LINES:]]
    if output:
        title = f"output: {format_count(tree.run.output_total, 'line')}"
        shown = "" if len(output) == tree.run.output_total else f", the last {len(output):,}"
        parts.append(folded_block(f"{title}{shown}", preformatted("\n".join(output))))
    return element("section", *parts)


def _find_greatest(forest: Sequence[_Node], *, has_times: bool) -> float:
    rows = [_measure(one.row, has_times=has_times) for one in forest]
    # Of counts without a tree the greatest is the measure: they are not parts of each other.
    return (sum(rows) if has_times else max(rows, default=0.0)) or 1.0


def _measure(row: CallRow, *, has_times: bool) -> float:
    return row.total_ms if has_times else float(row.count)


def _draw_node(
    node: _Node,
    greatest: float,
    other: Mapping[tuple[tuple[str, str], ...], CallRow] | None,
    *,
    has_times: bool,
    is_small: bool,
) -> Markup:
    """Draw a call with those below it; the inner ones first, for no stack is that deep."""
    drawn: dict[int, Markup] = {}
    for one in reversed(list(_walk([node]))):
        row = _draw_row(one, greatest, other, has_times=has_times)
        children = [drawn[id(child)] for child in one.children]
        if not children:
            drawn[id(one)] = element("div", row, class_="leaf")
        elif one.row.depth >= _DEPTH_MOST:
            # A browser stops at a few hundred elements within each other.
            drawn[id(one)] = join_markup(element("div", row, class_="leaf"), *children)
        else:
            is_open = is_small or one.row.depth < _OPEN_DEPTH
            drawn[id(one)] = element("details", element("summary", row), *children, open=is_open)
    return drawn[id(node)]


def _draw_row(
    node: _Node,
    greatest: float,
    other: Mapping[tuple[tuple[str, str], ...], CallRow] | None,
    *,
    has_times: bool,
) -> Markup:
    row = _describe_row(node, greatest, other, has_times=has_times)
    parts: list[str] = [
        element("span", class_="bar", style=f"width: {row.share:.1%}"),
        element("code", row.name),
    ]
    if row.result:
        parts.append(element("code", f"→ {row.result}"))
    if row.file and row.line:
        parts.append(element("span", f"{base_name(row.file)}:{row.line}", class_="quiet"))
    parts += [element("span", one, class_="hot") for one in row.marks]
    if row.recursions:
        parts.append(element("span", f"and {row.recursions:,} of itself", class_="quiet"))
    if node.row.function:
        parts.append(element("span", row.facts, class_="end quiet"))
    return element("span", *parts, class_="row")


def _describe_row(
    node: _Node,
    greatest: float,
    other: Mapping[tuple[tuple[str, str], ...], CallRow] | None,
    *,
    has_times: bool,
) -> DrawnCall:
    """Return a line of a tree as it is shown."""
    row = node.row
    share = min(_measure(row, has_times=has_times) / greatest, 1.0)
    if not row.function:
        return DrawnCall(row.depth, f"loop x{row.count:,}", share)
    name = f"{short_name(row.function)}{format_arguments(row.arguments)}"
    result = ""
    if row.value is not None and row.value.first != "None":
        result = shorten_text(format_varied(row.value), _RESULT)
    marks = [*_find_events(row)]
    if other is not None:
        marks += _find_differences(node, other)
    facts = [f"x{row.count:,}" if row.count != 1 else ""]
    facts += [format_time(row.total_ms) if has_times else ""]
    facts += [f"{row.below:,} below" if row.below else ""]
    return DrawnCall(
        row.depth,
        shorten_text(name, _NAME),
        share,
        result=result,
        file=row.file,
        line=row.line,
        marks=tuple(marks),
        facts=" · ".join(filter(None, facts)),
        recursions=row.recursions,
    )


def _find_events(row: CallRow) -> Iterator[str]:
    if row.raised:
        yield f"raised {shorten_text(', '.join(row.errors), _RESULT)}".rstrip()
    if row.open:
        yield "had not ended"


def _find_differences(
    node: _Node, other: Mapping[tuple[tuple[str, str], ...], CallRow]
) -> Iterator[str]:
    """Yield what the other run did otherwise at the same path of functions."""
    there = other.get(node.key)
    if there is None:
        yield "only in this run"
        return
    if there.count != node.row.count:
        yield f"other run: x{there.count:,}"
    one, value = node.row.value, there.value
    if one is not None and value is not None and format_varied(one) != format_varied(value):
        yield f"other run: → {shorten_text(format_varied(value), _RESULT)}"
    if there.raised != node.row.raised and not node.row.raised:
        yield "other run: raised"
