"""Formats a line of a folded tree of calls."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from debugger.model import answers
from debugger.questions.recordings import recorded_run
from debugger.recorders.python.python_branches import may_catch
from debugger.recorders.tree_lines import TreeLine

_NS = 1_000_000


def call_row(folded: TreeLine) -> answers.CallRow:
    """Tell a line of a tree of calls."""
    one = folded.folded
    function = one.function
    return answers.CallRow(
        depth=folded.depth,
        order=folded.order,
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
        arguments=tuple(recorded_run.vary_view(value) for value in one.arguments),
        value=recorded_run.vary_view(one.value) if one.value is not None else None,
        errors=one.errors,
        below=one.left_out.calls,
        is_stopped=one.is_stopped,
        may_catch=function is None or _may_catch(function.file, function.line),
    )


def _may_catch(file: str, line: int) -> bool:
    """Tell whether a function of Python may catch; true of every other language's."""
    if not file.endswith((".py", ".pyw")):
        return True
    try:
        return _may_catch_now(file, line, Path(file).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError):
        return True


@lru_cache(1000)
def _may_catch_now(file: str, line: int, _changed_ns: int) -> bool:
    return may_catch(Path(file).read_text(encoding="utf-8"), line)
