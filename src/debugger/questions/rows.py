"""Formats a line of a folded tree of calls."""

from __future__ import annotations

from debugger.core import answers
from debugger.questions import recorded
from debugger.recording.flat import Row

_NS = 1_000_000


def row(of: Row) -> answers.CallRow:
    """Tell a line of a tree of calls."""
    one = of.folded
    function = one.function
    return answers.CallRow(
        depth=of.depth,
        order=of.order,
        function=function.name if function is not None else "",
        file=function.file if function is not None else "",
        line=function.line if function is not None else 0,
        count=one.count,
        recursions=one.recursions,
        raised=one.raised,
        open=one.open,
        threads=one.threads,
        total_ms=round(one.total_ns / _NS, 3),
        self_ms=round(one.self_ns / _NS, 3),
        arguments=tuple(recorded.vary(value) for value in one.arguments),
        value=recorded.vary(one.value) if one.value is not None else None,
        errors=one.errors,
        below=one.left_out.calls,
        is_stopped=one.is_stopped,
    )
