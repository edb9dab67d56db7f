"""Formats what answers about a whole run share: the end, the location, the callers, the notes."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.model.answers import FrameView
from debugger.output.budget import TextSection, fixed_section
from debugger.output.list_text import list_section
from debugger.output.location_text import in_stack
from debugger.output.page import RenderPage
from debugger.output.value_text import (
    IN_A_LIST,
    escape_text,
    format_count,
    short_name,
    shorten_value,
)


def format_end(signal: str | None, status: int | None) -> str:
    """Return how a program ended."""
    if signal is not None:
        return f"ended by signal {short_name(signal)}"
    return f"exited with status {status}" if status is not None else "it ended"


def format_location(
    frame: FrameView | None, page: RenderPage, *, said: str | None, rank: int
) -> list[TextSection]:
    """Return the line above a source: where it is, if that is not `said` in the first line."""
    if frame is None or not frame.file:
        return []
    file = frame.file.removeprefix(f"{page.folder}/") if page.folder else frame.file
    where = f"{escape_text(file)}:{frame.line}"
    return [fixed_section(where, rank)] if "/" in file or where not in (said or "") else []


def format_caller(frame: FrameView, text: str, values: str) -> str:
    """Return a caller: where it is, the text of its line, and values, as far as there are such."""
    said = f"{in_stack(frame)}: {text}" if text else in_stack(frame)
    return f"{said}  [{values}]" if values else said


def format_callers(lines: Sequence[str], *, rank: int) -> TextSection:
    """Return the callers of a frame, the nearest first."""
    said = [f"{'  by' if at else 'called by'} {line}" for at, line in enumerate(lines)]
    return list_section(said, lambda cut: f"  … {format_count(cut, 'more caller')}", rank=rank)


def end_of(label: str, lines: Sequence[str], *, rank: int, floor: int) -> TextSection:
    """Return the last of some lines below a label, which is alone where none of them fits."""

    def lay(kept: int) -> str:
        return "\n".join([f"{label}, the last:", *lines[len(lines) - kept :]]) if kept else label

    return TextSection(lay, count=len(lines), rank=rank, floor=floor)


def format_notes(
    some: Sequence[str], evidence: object, session: object = None, *, rank: int
) -> list[TextSection]:
    """Return what is to be known besides, the answer's id, and the session that was kept."""
    said = [fixed_section(f"note: {shorten_value(one, 2 * IN_A_LIST)}", rank) for one in some]
    last = [f"evidence: {evidence}"] if isinstance(evidence, str) else []
    if isinstance(session, str):
        last.append(f"kept, stopped there: debugger context, debugger stop ({session})")
    return [*said, fixed_section(" · ".join(last), rank)] if last else said
