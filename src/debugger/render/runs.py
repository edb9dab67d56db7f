"""Formats the saved runs."""

from __future__ import annotations

from debugger.core.answers import SavedRun, SavedRuns
from debugger.render.budget import Section, fixed
from debugger.render.lists import listing
from debugger.render.page import Page
from debugger.render.places import basename
from debugger.render.values import IN_A_LIST, counted, shorten

_FILES = 3


def saved_runs(answer: SavedRuns, page: Page) -> list[Section]:  # noqa: ARG001 - one signature
    """Return a line for each saved run."""
    if not answer.runs:
        return [fixed("no saved runs: debugger path --save NAME -- CMD")]
    lines = [_run(one) for one in answer.runs]
    return [listing(lines, lambda cut: f"… {counted(cut, 'more run')}")]


def _run(one: SavedRun) -> str:
    ended = f"status {one.exit_code}" if one.exit_code is not None else one.exit_signal or "cut"
    said = f"run:{one.name} {one.time} {one.verb}: {shorten(one.command, IN_A_LIST)}: {ended}"
    if not one.changed:
        return said
    names = ", ".join(basename(file) for file in one.changed[:_FILES])
    return f"{said}; changed since: {names}"
