"""Formats the saved runs."""

from __future__ import annotations

from debugger.model.answers import SavedRun, SavedRuns
from debugger.output.budget import TextSection, fixed_section
from debugger.output.list_text import list_section
from debugger.output.location_text import base_name
from debugger.output.page import RenderPage
from debugger.output.value_text import IN_A_LIST, format_count, shorten_value

_FILES = 3


def saved_runs(answer: SavedRuns, page: RenderPage) -> list[TextSection]:  # noqa: ARG001 - one signature
    """Return a line for each saved run."""
    if not answer.runs:
        return [fixed_section("no saved runs: debugger path --save NAME -- CMD")]
    lines = [_format_run(one) for one in answer.runs]
    return [list_section(lines, lambda cut: f"… {format_count(cut, 'more run')}")]


def _format_run(one: SavedRun) -> str:
    ended = f"status {one.exit_code}" if one.exit_code is not None else one.exit_signal or "cut"
    said = f"run:{one.name} {one.time} {one.verb}: {shorten_value(one.command, IN_A_LIST)}: {ended}"
    if not one.changed:
        return said
    names = ", ".join(base_name(file) for file in one.changed[:_FILES])
    return f"{said}; changed since: {names}"
