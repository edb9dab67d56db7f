"""Formats where two runs part."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.core.answers import CountView, Diff, DifferenceView, HunkView, PointView, RunView
from debugger.render import asked, recorded
from debugger.render.budget import Section, fixed
from debugger.render.lists import listing
from debugger.render.page import Page
from debugger.render.places import basename
from debugger.render.values import counted, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _PARTED, _VALUES, _NEXT, _BEFORE, _LATER, _OUTPUT = range(8)
_CODE = 70
_VALUE = 60
_HUNKS = 8
_LINES = 2  # of the output of each run


def diff(answer: Diff, page: Page) -> list[Section]:
    """Return the parts of what is said of two runs."""
    commands, output = sides(answer.runs, page, head=_HEAD, rank=_OUTPUT)
    before = " before that" if answer.left or answer.right else ""
    return [
        fixed(_head(answer), _HEAD),
        commands,
        *_values(f"values that differ{before}, the first first:", answer.differences, answer),
        *_steps("both:", answer.before, rank=_BEFORE),
        *_steps("then A:", answer.left, rank=_NEXT, none=bool(answer.right)),
        *_steps("then B:", answer.right, rank=_NEXT, none=bool(answer.left)),
        *_values("known there, A and B:", answer.values, None),
        *_counts(answer),
        *_later(answer),
        *output,
        *asked.notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def sides(
    runs: Sequence[RunView], page: Page, *, head: int, rank: int
) -> tuple[Section, list[Section]]:
    """Return what ran and how it ended, and the last of the output, once where it is the same."""
    commands = [
        f"{side}: {recorded.command(run)}: {recorded.ended(run, has_time=False)}"
        for side, run in zip("AB", runs, strict=False)
    ]
    told = runs[:1] if all(one.output == runs[0].output for one in runs) else runs
    output = [
        section for run in told for section in recorded.output(run, page, rank=rank, most=_LINES)
    ]
    return fixed("\n".join(commands), head), output


def _head(answer: Diff) -> str:
    if answer.engine == "counted":
        return _counted_head(answer)
    what = f" of {short_name(answer.what)}" if answer.what else ""
    if not answer.left and not answer.right:
        steps = counted(answer.common, "step")
        if answer.differences:
            passed = "passed the same lines" if answer.has_lines else "made the same calls"
            return f"diff: both runs {passed}{what}, {steps}, with different values"
        did = "did the same" if answer.has_lines else "made the same calls"
        return f"diff: both runs {did}{what}, {steps}, with the same values"
    there = answer.before[-1] if answer.before else None
    after = f" after {counted(answer.parted_after, 'step')}" if answer.parted_after else ""
    where = f", at {_place(there)}" if there is not None else " at once"
    return f"diff: the runs{what} part{after}{where}"


def _counted_head(answer: Diff) -> str:
    if not answer.counts:
        said = f"{counted(answer.common, 'function')} and lines"
        return f"diff: both runs ran the same as often, {said}"
    return f"diff: how often they ran differs first at {_counted_place(answer.counts[0])}"


def _counts(answer: Diff) -> list[Section]:
    if not answer.counts:
        return []
    lines = [f"  {_count(one)}" for one in answer.counts]
    return [
        fixed("how often in A / in B, in the order of the files:", _VALUES),
        listing(
            lines,
            lambda cut: f"  … {cut} more: --budget 4000",
            missing=answer.more_counts,
            rank=_VALUES,
        ),
    ]


def _count(one: CountView) -> str:
    where = f"{basename(one.file)}:{one.line}"
    where += f"-{one.last}" if one.last > one.line else f":{one.column}" if one.column else ""
    what = shorten(one.text, _CODE) or "called"
    return f"{where}  x{one.left:,} / x{one.right:,}  {what}  (in {short_name(one.function)})"


def _counted_place(one: CountView) -> str:
    what = "line" if one.text else "calls"
    return f"{basename(one.file)}:{one.line}, {what} of {short_name(one.function)}"


def _place(one: PointView) -> str:
    return f"{basename(one.file)}:{one.line} in {short_name(one.function)}"


def _steps(
    label: str, some: Sequence[PointView], *, rank: int, none: bool = False
) -> list[Section]:
    if not some:
        return [fixed(f"{label} nothing more", rank)] if none else []
    lines = [f"  {_step(one)}" for one in some]
    return [fixed(label, rank), listing(lines, lambda _: "  …", rank=rank, floor=2)]


def _step(one: PointView) -> str:
    values = recorded.values(one.values)
    where = f"{basename(one.file)}:{one.line}"
    if one.kind == "line":
        return f"{where}  {shorten(one.text, _CODE)}" + (f"  {values}" if values else "")
    if one.kind == "call":
        return f"{where}  call of {short_name(one.function)}({values})"
    said = " ".join(recorded.cut(value.value or "", _VALUE) for value in one.values)
    how = "returned" if one.kind == "return" else "raised"
    return f"{where}  {short_name(one.function)} {how} {said}".rstrip()


def _values(label: str, some: Sequence[DifferenceView], answer: Diff | None) -> list[Section]:
    if not some:
        return []
    rank = _VALUES
    missing = answer.more_differences if answer is not None else 0
    lines = [
        f"  {short_name(one.name)}: {_pair(one)}"
        + (f"  ({_at(one.point)})" if answer is not None else "")
        for one in some
    ]
    return [
        fixed(label, rank),
        listing(lines, lambda cut: f"  … {cut} more: --budget 4000", missing=missing, rank=rank),
    ]


def _at(one: PointView) -> str:
    kinds = {"call": "given to", "return": "from", "raise": "by", "line": "in"}
    return f"{kinds.get(one.kind, 'in')} {short_name(one.function)} {basename(one.file)}:{one.line}"


def _pair(one: DifferenceView) -> str:
    left, right = one.left, one.right
    if left is None or right is None:
        return f"{_text(left)} / {_text(right)}"
    if max(len(left), len(right)) > _VALUE:
        return f"{recorded.changed(right, left, _VALUE)} / {recorded.changed(left, right, _VALUE)}"
    return f"{recorded.cut(left, _VALUE)} / {recorded.cut(right, _VALUE)}"


def _text(value: str | None) -> str:
    return recorded.cut(value, _VALUE) if value is not None else "(unchanged)"


def _later(answer: Diff) -> list[Section]:
    lines = [f"  {_hunk(one)}" for one in answer.hunks[:_HUNKS]]
    if not answer.is_whole:
        lines.append("  from some point on they have too little in common to be compared")
    if not lines:
        return []
    total = f"{answer.common:,} steps are the same, {answer.left_only:,} only A's, "
    total += f"{answer.right_only:,} only B's; later:"
    more = len(answer.hunks) - _HUNKS
    return [
        fixed(total, _LATER),
        listing(lines, lambda cut: f"  … {cut} more", missing=max(more, 0), rank=_LATER),
    ]


def _hunk(one: HunkView) -> str:
    parts = []
    for side, count, first in (("A", one.left, one.first_left), ("B", one.right, one.first_right)):
        if first is not None:
            parts.append(f"{counted(count, 'step')} only in {side}, from {_place(first)}")
    return "; ".join(parts)
