"""Formats the divergence of two runs."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.output.list_text import list_section
from debugger.output.location_text import base_name, format_count, short_name, shorten_value
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.diff.answer import Diff, DifferenceView, HunkView, PointView
from debugger.questions.recordings import run_text
from debugger.questions.recordings.answer import CountView, RunView

# What is cut last has the lowest number.
_HEAD, _NOTES, _PARTED, _VALUES, _NEXT, _BEFORE, _LATER, _OUTPUT = range(8)
_CODE = 70  # characters of a source line
_VALUE = 60  # characters
_HUNKS = 8
_LINES = 2  # of the output of each run


def format_diff(answer: Diff, page: RenderPage) -> list[TextSection]:
    """Build the sections about two runs."""
    commands, output = format_sides(answer.runs, page, head=_HEAD, rank=_OUTPUT)
    before = " before that" if answer.left or answer.right else ""
    return [
        fixed_section(_format_head(answer), _HEAD),
        commands,
        *_format_values(
            f"values that differ{before}, the first first:", answer.differences, answer
        ),
        *_format_steps("both:", answer.before, rank=_BEFORE),
        *_format_steps("then A:", answer.left, rank=_NEXT, none=bool(answer.right)),
        *_format_steps("then B:", answer.right, rank=_NEXT, none=bool(answer.left)),
        *_format_values("known there, A and B:", answer.values, None),
        *_format_counts(answer),
        *_format_later(answer),
        *output,
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def format_sides(
    runs: Sequence[RunView], page: RenderPage, *, head: int, rank: int
) -> tuple[TextSection, list[TextSection]]:
    """Build the sections of both runs' ends and outputs, only once if they are equal."""
    commands = [
        f"{side}: {run_text.format_command(run)}: {run_text.format_run_end(run, has_time=False)}"
        for side, run in zip("AB", runs, strict=False)
    ]
    is_same = all(one.output == runs[0].output for one in runs)
    names = ["output"] if is_same else ["output A", "output B"]
    output = [
        section
        for name, run in zip(names, runs, strict=False)
        for section in run_text.output_sections(run, page, rank=rank, most=_LINES, name=name)
    ]
    return fixed_section("\n".join(commands), head), output


def _format_head(answer: Diff) -> str:
    if answer.engine == "counted":
        return _counted_head(answer)
    what = f" of {short_name(answer.what)}" if answer.what else ""
    if not answer.left and not answer.right:
        steps = format_count(answer.common, "step")
        if answer.differences:
            passed = "passed the same lines" if answer.has_lines else "made the same calls"
            return f"diff: both runs {passed}{what}, {steps}, with different values"
        did = "did the same" if answer.has_lines else "made the same calls"
        return f"diff: both runs {did}{what}, {steps}, with the same values"
    there = answer.before[-1] if answer.before else None
    after = f" after {format_count(answer.parted_after, 'step')}" if answer.parted_after else ""
    where = f", at {_format_place(there)}" if there is not None else " at once"
    return f"diff: the runs{what} part{after}{where}"


def _counted_head(answer: Diff) -> str:
    if answer.ratio is not None:
        return f"diff: {run_text.format_ratio(answer.ratio)}"
    if not answer.counts:
        text = f"{format_count(answer.common, 'function')} and lines"
        return f"diff: both runs ran the same as often, {text}"
    return f"diff: how often they ran differs first at {_counted_place(answer.counts[0])}"


def _format_counts(answer: Diff) -> list[TextSection]:
    ratio = answer.ratio
    head = []
    if ratio is not None and answer.engine != "counted":
        head = [fixed_section(run_text.format_ratio(ratio), _VALUES)]
    if not answer.counts:
        none = [fixed_section("no count departs from that", _VALUES)] if ratio is not None else []
        return [*head, *none]
    lines = [f"  {run_text.format_count_pair(one)}" for one in answer.counts]
    label = "how often in A / in B, in the order of the files:"
    if ratio is not None:
        label = "what departs from that, in A / in B:"
    return [
        *head,
        fixed_section(label, _VALUES),
        list_section(
            lines,
            lambda cut: f"  … {cut} more: --budget 4000",
            missing=answer.more_counts,
            rank=_VALUES,
        ),
    ]


def _counted_place(one: CountView) -> str:
    what = "line" if one.text else "calls"
    return f"{base_name(one.file)}:{one.line}, {what} of {short_name(one.function)}"


def _format_place(one: PointView) -> str:
    return f"{base_name(one.file)}:{one.line} in {short_name(one.function)}"


def _format_steps(
    label: str, some: Sequence[PointView], *, rank: int, none: bool = False
) -> list[TextSection]:
    if not some:
        return [fixed_section(f"{label} nothing more", rank)] if none else []
    lines = [f"  {_format_step(one)}" for one in some]
    return [fixed_section(label, rank), list_section(lines, lambda _: "  …", rank=rank, floor=2)]


def _format_step(one: PointView) -> str:
    values = run_text.format_values(one.values)
    where = f"{base_name(one.file)}:{one.line}"
    if one.kind == "line":
        return f"{where}  {shorten_value(one.text, _CODE)}" + (f"  {values}" if values else "")
    if one.kind == "call":
        return f"{where}  call of {short_name(one.function)}({values})"
    text = " ".join(run_text.cut_value(value.value or "", _VALUE) for value in one.values)
    how = "returned" if one.kind == "return" else "raised"
    return f"{where}  {short_name(one.function)} {how} {text}".rstrip()


def _format_values(
    label: str, some: Sequence[DifferenceView], answer: Diff | None
) -> list[TextSection]:
    if not some:
        return []
    rank = _VALUES
    missing = answer.more_differences if answer is not None else 0
    lines = [
        f"  {short_name(one.name)}: {_format_pair(one)}"
        + (f"  ({_format_at(one.point)})" if answer is not None else "")
        for one in some
    ]
    return [
        fixed_section(label, rank),
        list_section(
            lines, lambda cut: f"  … {cut} more: --budget 4000", missing=missing, rank=rank
        ),
    ]


def _format_at(one: PointView) -> str:
    kinds = {"call": "given to", "return": "from", "raise": "by", "line": "in"}
    return (
        f"{kinds.get(one.kind, 'in')} {short_name(one.function)} {base_name(one.file)}:{one.line}"
    )


def _format_pair(one: DifferenceView) -> str:
    left, right = one.left, one.right
    if left is None or right is None:
        return f"{_format_text(left)} / {_format_text(right)}"
    if max(len(left), len(right)) > _VALUE:
        ways = ((right, left), (left, right))
        return " / ".join(run_text.format_changed(old, new, _VALUE) for old, new in ways)
    return f"{run_text.cut_value(left, _VALUE)} / {run_text.cut_value(right, _VALUE)}"


def _format_text(value: str | None) -> str:
    return run_text.cut_value(value, _VALUE) if value is not None else "(unchanged)"


def _format_later(answer: Diff) -> list[TextSection]:
    lines = [f"  {_format_hunk(one)}" for one in answer.hunks[:_HUNKS]]
    if not answer.is_whole:
        lines.append("  from some point on they have too little in common to be compared")
    if not lines:
        return []
    total = f"{answer.common:,} steps are the same, {answer.left_only:,} only A's, "
    total += f"{answer.right_only:,} only B's; later:"
    more = len(answer.hunks) - _HUNKS
    return [
        fixed_section(total, _LATER),
        list_section(lines, lambda cut: f"  … {cut} more", missing=max(more, 0), rank=_LATER),
    ]


def _format_hunk(one: HunkView) -> str:
    parts = []
    for side, count, first in (("A", one.left, one.first_left), ("B", one.right, one.first_right)):
        if first is not None:
            parts.append(
                f"{format_count(count, 'step')} only in {side}, from {_format_place(first)}"
            )
    return "; ".join(parts)
