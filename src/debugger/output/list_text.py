"""Formats lists of similar items, and the count of omitted ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from debugger.model.answers import OutputLine, SourceLine, VariableView
from debugger.output import terminal
from debugger.output.location_text import (
    IN_A_STOP,
    format_assigned,
    format_count,
    hint_for,
    output_line,
    short_name,
    shorten_value,
    source_text,
)
from debugger.output.structured import RenderPage, TextSection

ONE_LINE = 100  # characters of an inline list; a longer one has a line for each item
_FIRST_LINES = 3  # of a stop's output
_LAST_LINES = 10  # of a stop's output
_DEPTH_MAX = 200  # levels of a tree that are indented
_CLOSING = " \t})];,"
_STREAMS = {"stderr": "err| ", "console": "dbg| "}


def list_section(
    lines: Sequence[str],
    more: Callable[[int], str],
    *,
    missing: int = 0,
    rank: int = 1,
    floor: int = 3,
    from_end: bool = False,
) -> TextSection:
    """Build a section of lines of which the last (`from_end`: the first) are cut.

    `more(n)` formats the count of omitted ones; `missing` counts those that were cut before.
    """

    def fit_text(most: int) -> str:
        cut = len(lines) - most
        note = [more(cut + missing)] if cut + missing else []
        return "\n".join([*note, *lines[cut:]] if from_end else [*lines[:most], *note])

    return TextSection(fit_text, count=len(lines), rank=rank, floor=floor)


def table_section(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    more: Callable[[int], str],
    page: RenderPage,
    *,
    missing: int = 0,
    rank: int = 1,
    title: str = "",
) -> TextSection:
    """Build a section with a terminal's table, of which the last rows are cut."""

    def fit_text(most: int) -> str:
        cut = len(rows) - most + missing
        drawn = terminal.terminal_table(columns, rows[:most], page.width) if most else ""
        parts = [title, drawn, more(cut) if cut else ""]
        return "\n".join(part for part in parts if part)

    return TextSection(fit_text, count=len(rows), rank=rank, floor=3)


def variables_table(
    views: Sequence[VariableView],
    total: int,
    page: RenderPage,
    *,
    limit: int,
    command: str,
    rank: int = 1,
    title: str = "",
) -> TextSection:
    """Build a section with a terminal's table of variables."""
    rows = [
        (
            short_name(view.name),
            short_name(view.type),
            shorten_value(view.value, limit, hint=hint_for(view)),
        )
        for view in views
    ]
    return table_section(
        ("Name", "Type", "Value"),
        rows,
        lambda cut: f"… {format_count(cut, 'more variable')}: {command}",
        page,
        missing=max(total - len(views), 0),
        rank=rank,
        title=title,
    )


def inline_section(
    label: str,
    items: Sequence[str],
    total: int,
    more: Callable[[int], str],
    *,
    rank: int,
    floor: int = 10,
) -> TextSection:
    """Build a section `label: a b c`, one item a line if long; `more(n)` as in `list_section`."""

    def fit_text(most: int) -> str:
        cut = max(total, len(items)) - most
        note = [more(cut)] if cut else []
        if not most:
            return "".join(note)
        line = f"{label}: " + " ".join(items[:most])
        if len(line) <= ONE_LINE:
            return " ".join([line, *note])
        return "\n  ".join([f"{label}:", *items[:most], *note])

    return TextSection(fit_text, count=len(items), rank=rank, floor=floor)


def locals_of(
    views: Sequence[VariableView], total: int, page: RenderPage, *, rank: int, floor: int = 10
) -> TextSection:
    """Build the section of a stop's locals."""
    total = max(total, len(views))
    if page.is_terminal and views:
        return variables_table(
            views,
            total,
            page,
            limit=IN_A_STOP,
            command="debugger locals",
            rank=rank,
            title="locals:",
        )
    return inline_section(
        "locals",
        [format_assigned(view, IN_A_STOP) for view in views],
        total,
        lambda cut: f"… {format_count(cut, 'more local')}: debugger locals",
        rank=rank,
        floor=floor,
    )


def source_of(
    lines: Sequence[SourceLine], page: RenderPage, *, rank: int, more: Callable[[int], str]
) -> TextSection:
    """Build a section of numbered source lines; those nearest to the current one are kept."""
    digits = max((len(str(line.line)) for line in lines), default=0)
    shown = []
    for line in lines:
        mark = "->" if line.current else "  "
        shown.append(f"{mark} {line.line:>{digits}}  {source_text(line.text, page)}".rstrip())
    current = next((at for at, line in enumerate(lines) if line.current), 0)

    def fit_text(most: int) -> str:
        if not most:
            return ""
        first = min(max(current - most // 2, 0), len(lines) - most)
        cut = len(lines) - most
        # The current line alone is what a step shows anyway: nothing to remark on.
        is_noted = cut and not (most == 1 and lines[first].current)
        return "\n".join([*shown[first : first + most], *([more(cut)] if is_noted else [])])

    return TextSection(fit_text, count=len(lines), rank=rank, floor=1)


def worth_reading(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Drop empty lines, and closing brackets, at both ends."""
    useful = [at for at, one in enumerate(lines) if one.text.strip(_CLOSING) or one.current]
    return list(lines[useful[0] : useful[-1] + 1]) if useful else []


def leading_to(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Drop the lines after the current one, but for the rest of its bracketed expression."""
    useful = worth_reading(lines)
    at = next((at for at, one in enumerate(useful) if one.current), len(useful))
    open_ = 0
    for end, one in enumerate(useful[at:], at + 1):
        open_ += sum(map(one.text.count, "([")) - sum(map(one.text.count, ")]"))
        if open_ <= 0:
            return useful[:end]
    return useful


def format_output_line(line: OutputLine, page: RenderPage) -> str:
    """Format a line of output, marked unless it is of standard output."""
    member = f"{line.member}| " if isinstance(line.member, str) else ""
    return member + _STREAMS.get(line.stream, "") + output_line(line.text, page)


def indent_tree(depth: int) -> str:
    """Return the indentation of a tree's line, limited for very deep ones."""
    return "  " * max(0, min(depth, _DEPTH_MAX))


def output_of(
    lines: Sequence[OutputLine], total: int, dropped: int, page: RenderPage, *, rank: int
) -> list[TextSection]:
    """Build the section of a stop's output: its first and its last lines."""
    total = max(total, len(lines))
    if not total and not dropped:
        return []
    shown = ["  " + format_output_line(line, page) for line in lines]
    label = f"output: +{format_count(total, 'line')}" + (f", {dropped:,} lost" if dropped else "")
    if {"stdout", "stderr"} <= {line.stream for line in lines}:
        label += " (stdout and stderr each in order)"

    def fit_text(most: int) -> str:
        cut = total - most
        if not most:
            return f"{label}: debugger output --all" if cut else label
        first = max(most - _LAST_LINES, 0)
        last = most - first
        note = [f"  … {format_count(cut, 'more line')}: debugger output --all"] if cut else []
        return "\n".join([label, *shown[:first], *note, *shown[len(shown) - last :]])

    return [
        TextSection(fit_text, count=min(len(shown), _FIRST_LINES + _LAST_LINES), rank=rank, floor=6)
    ]
