"""Formats the suite of an adapter as a table of scenes."""

from __future__ import annotations

from debugger.output.list_text import list_section
from debugger.output.location_text import escape_text, format_count, short_name, shorten_value
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.adapter_suite.answer import AdapterSuite, SceneOutcome, SceneView

_HEAD, _ROWS = range(2)
_DETAIL = 160  # characters
_WIDE = 400  # of a failure: what the adapter said is what its author needs


def format_suite(answer: AdapterSuite, page: RenderPage) -> list[TextSection]:  # noqa: ARG001 - one signature
    """Build the sections: how many scenes work, then each of them."""
    works = [one for one in answer.scenes if one.outcome is SceneOutcome.WORKS]
    tried = [one for one in answer.scenes if one.outcome is not SceneOutcome.NOT_TRIED]
    head = (
        f"{short_name(answer.adapter)} with {escape_text(answer.program)}: "
        f"{len(works)} of {format_count(len(tried), 'scene')} work"
    )
    if answer.has_failed:
        head += "; what is essential does not (*)"
    width = max((len(one.name) for one in answer.scenes), default=0)
    lines = [_format_scene(one, width) for one in answer.scenes]
    return [
        fixed_section(head, _HEAD),
        list_section(lines, lambda cut: f"… {format_count(cut, 'more scene')}", rank=_ROWS),
    ]


def _format_scene(one: SceneView, width: int) -> str:
    mark = "*" if one.is_essential else " "
    most = _WIDE if one.outcome is SceneOutcome.FAILS else _DETAIL
    detail = shorten_value(one.detail, most)
    return f"{mark} {one.name.ljust(width)}  {one.outcome.value:<13}  {detail}".rstrip()
