"""Formats breakpoints: their locations, conditions, and the reasons of unbound ones."""

from __future__ import annotations

from debugger.model.answers import BreakpointList, BreakpointView, Removed
from debugger.output.list_text import list_section, table_section
from debugger.output.location_text import (
    IN_A_LIST,
    format_count,
    place_of,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section, width_option

_LABELS = {"watchpoint": "watchpoint", "exception": "catchpoint"}


def format_why_unbound(view: BreakpointView) -> str:
    """Format why a breakpoint is not bound, with near lines or names; or nothing."""
    texts = []
    if isinstance(view.why_unbound, str) and view.why_unbound:
        texts.append(shorten_value(view.why_unbound, IN_A_LIST))
    if isinstance(view.nearest_lines, tuple) and view.nearest_lines:
        texts.append(f"nearest lines: {', '.join(map(str, view.nearest_lines[:10]))}")
    if isinstance(view.near_names, tuple) and view.near_names:
        texts.append(f"near names: {', '.join(map(short_name, view.near_names[:10]))}")
    return "; ".join(texts)


def _format_options(view: BreakpointView) -> list[str]:
    condition = view.condition and shorten_value(view.condition, IN_A_LIST)
    log = view.log and shorten_value(view.log, IN_A_LIST)
    options = [
        (view.access in {"read", "access"}, f"({view.access})"),
        (condition, f"(condition {condition})"),
        (view.hit_count is not None, f"(hit count {view.hit_count})"),
        (isinstance(view.filter, str), f"({view.filter})"),
        (log, f'log "{log}"'),
        (view.thread is not None, f"(thread {view.thread})"),
        (view.temporary, "(temporary)"),
        (not view.enabled, "(disabled)"),
    ]
    return [text for is_so, text in options if is_so]


def _format_pending(view: BreakpointView) -> str:
    # The debugger is not asked about a disabled one.
    if view.verified or not view.enabled:
        return ""
    because = format_why_unbound(view)
    return f"pending: {because}" if because else "pending"


def _format_line(view: BreakpointView, *, is_listed: bool) -> str:
    head = f"{_LABELS.get(view.kind, 'breakpoint')} {view.id}: {place_of(view)}"
    if isinstance(view.value, str):
        head += f" = {shorten_value(view.value, IN_A_LIST)}"
    texts = [" ".join([head, *_format_options(view)])]
    is_counted = view.kind != "exception"  # few adapters say which of them it was
    is_below = isinstance(view.hits_below, int)
    if is_below and is_listed and view.enabled and view.verified:
        texts.append(f"fewer than {view.hits_below} hits")
    elif view.hits or (is_counted and is_listed and view.enabled and view.verified):
        texts.append(format_count(view.hits, "hit"))
    if pending := _format_pending(view):
        texts.append(pending)
    if isinstance(view.notes, tuple):
        texts += [shorten_value(note, IN_A_LIST) for note in view.notes]
    return ", ".join(texts)


def format_breakpoint(view: BreakpointView, _page: RenderPage) -> list[TextSection]:
    """Format one breakpoint."""
    return [fixed_section(_format_line(view, is_listed=False))]


def breakpoint_list(answer: BreakpointList, page: RenderPage) -> list[TextSection]:
    """Format all breakpoints."""
    views = answer.breakpoints
    if not views:
        return [fixed_section("no breakpoints")]

    lines = [_format_line(view, is_listed=True) for view in views]

    def more(cut: int) -> str:
        command = f"debugger breakpoint list {width_option(lines)}"
        return f"… {format_count(cut, 'more breakpoint')}: {command}"

    if page.is_terminal:
        rows = [
            (
                str(view.id),
                place_of(view),
                str(view.hits),
                " ".join([*_format_options(view), _format_pending(view)]),
            )
            for view in views
        ]
        return [table_section(("ID", "Place", "Hits", "State"), rows, more, page)]
    return [list_section(lines, more)]


def format_removed(answer: Removed, _page: RenderPage) -> list[TextSection]:
    """Format the removed breakpoints, or traces."""
    others = answer.kept if isinstance(answer.kept, tuple) else ()
    sections = [fixed_section(f"kept: {', '.join(others)}")] if others else []
    if not answer.removed:
        return [fixed_section(f"no {answer.noun}s to remove"), *sections]
    noun = answer.noun if len(answer.removed) == 1 else f"{answer.noun}s"
    numbers = [str(number) for number in answer.removed]

    def fit_text(most: int) -> str:
        cut = len(numbers) - most
        note = [f"… {cut:,} more"] if cut else []
        return f"removed: {noun} {', '.join([*numbers[:most], *note])}"

    return [TextSection(fit_text, count=len(numbers)), *sections]
