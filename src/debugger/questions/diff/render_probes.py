"""Formats the differences of probed values between two runs."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.output.list_text import list_section
from debugger.output.location_text import (
    IN_A_LIST,
    base_name,
    format_count,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.diff.answer import DiffOfProbes, ProbedColumn, ProbedPair, ProbedPlace
from debugger.questions.diff.render import format_sides
from debugger.questions.probe.answer import ProbeRow
from debugger.questions.probe.render import in_scope
from debugger.questions.recordings import run_text

# What is cut last has the lowest number.
_HEAD, _NOTES, _PLACES, _PARTED, _COLUMNS, _AFTER, _BEFORE, _OUTPUT = range(8)
_NAME = 32  # characters of an expression
_VALUE = 60  # characters
_SHORT = 40  # in the first line
_IN_HEAD = 3  # values
_BETWEEN = " | "


def diff_of_probes(answer: DiffOfProbes, page: RenderPage) -> list[TextSection]:
    """Build the sections about the probed values of two runs."""
    commands, output = format_sides(answer.runs, page, head=_HEAD, rank=_OUTPUT)
    return [
        fixed_section(_format_head(answer), _HEAD),
        commands,
        *[part for place in answer.places for part in _format_place(place)],
        *_format_pairs(answer, answer.before, rank=_BEFORE, is_from_end=True),
        *_format_parting(answer),
        *_format_pairs(answer, answer.after, rank=_AFTER),
        *_format_total(answer),
        *output,
        *run_text.format_picture(answer.picture, rank=_HEAD),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_head(answer: DiffOfProbes) -> str:
    parted = answer.parted
    if parted is None:
        count = format_count(answer.common, "hit")
        return f"{answer.verb}: the same values at all {count} of both runs"
    after = f", after {format_count(answer.parted_after, 'hit')} that are the same"
    after = after if answer.parted_after else ""
    left, right = parted.left, parted.right
    if left is not None and right is not None and left.place == right.place:
        columns = _row_columns(answer, left)
        texts = [
            f"{shorten_value(one.expression, _NAME)} {_format_pair(a, b, _SHORT)}"
            for one, a, b in zip(columns, left.values, right.values, strict=False)
            if a != b and one.different  # not by addresses alone
        ]
        more = f", {len(texts) - _IN_HEAD} more" if len(texts) > _IN_HEAD else ""
        where = _format_hit(answer, parted)
        return (
            f"{answer.verb}: the runs differ first at {where}: {', '.join(texts[:_IN_HEAD])}{more}"
        )
    if left is not None and right is not None:
        other = _format_at(answer, right, is_right=True)
        ways = f"A comes to {_format_at(answer, left)}, B to {other}"
        return f"{answer.verb}: the runs part{after}: {ways}"
    side, row = ("A", left) if left is not None else ("B", right)
    if row is None:
        return f"{answer.verb}: the runs part{after}"
    where = _format_at(answer, row, is_right=side == "B")
    texts = [
        f"{shorten_value(name, _NAME)} {shorten_value(value, _VALUE)}"
        for name, value in _known_values(answer, row)
    ]
    values = f": {', '.join(texts[:_IN_HEAD])}" if texts else ""
    return f"{answer.verb}: the runs part{after}: only {side} has {where}{values}"


def _format_place(one: ProbedPlace) -> list[TextSection]:
    lines = str(one.line) if not one.right_line else f"{one.line} (in B {one.right_line})"
    where = f"{base_name(one.file)}:{lines}" if one.file and one.line else one.asked
    is_plain = one.function is None or one.function == where
    function = "" if is_plain else f" in {short_name(one.function or '')}"
    when = f", {shorten_value(one.when, IN_A_LIST)}" if one.when is not None else ""
    left, right = one.left_hits, one.right_hits
    hits = (
        f"{_format_hits(left)}{_BETWEEN}{_format_hits(right)}"
        if left != right
        else _format_hits(left)
    )
    parts = [fixed_section(f"{where}{function}{when}: {hits}", _PLACES)]
    whys = {"A": one.left_why, "B": one.right_why}
    if one.left_why == one.right_why:
        whys = {"A, B": one.left_why}
    for side, why in whys.items():
        if why is not None:
            parts.append(fixed_section(f"  {side}: {shorten_value(why, 2 * IN_A_LIST)}", _PLACES))
    columns = [
        f"  {_format_column(column)}" for column in one.columns if column.compared or column.error
    ]
    parts.append(
        list_section(columns, lambda cut: f"  … {format_count(cut, 'more column')}", rank=_COLUMNS)
    )
    if one.names_in_scope:
        parts.append(fixed_section(f"  {in_scope(one.names_in_scope, one.near_names)}", _COLUMNS))
    return parts


def _format_hits(count: int) -> str:
    return format_count(count, "hit") if count else "never hit"


def _format_column(one: ProbedColumn) -> str:
    name = shorten_value(one.expression, _NAME)
    if one.error is not None:
        return f"{name}: never a value: {shorten_value(one.error, IN_A_LIST)}"
    if not one.different:
        return f"{name}: the same{' but for addresses' if one.addresses else ''}"
    hit = f"{one.left_hit:,}"
    hit += f"{_BETWEEN}{one.right_hit:,}" if one.left_hit != one.right_hit else ""
    first = f"first at hit {hit}: {_format_pair(one.left or '', one.right or '')}"
    return f"{name}: differs at {one.different:,} of {format_count(one.compared, 'hit')}, {first}"


def _format_parting(answer: DiffOfProbes) -> list[TextSection]:
    if answer.parted is None:
        return []
    lines = _format_row(answer, answer.parted)
    return [fixed_section("\n".join(f"-> {line}" for line in lines), _PARTED)]


def _format_pairs(
    answer: DiffOfProbes, some: Sequence[ProbedPair], *, rank: int, is_from_end: bool = False
) -> list[TextSection]:
    lines = [f"   {line}" for one in some for line in _format_row(answer, one)]
    return [list_section(lines, lambda _: "   …", rank=rank, floor=1, from_end=is_from_end)]


def _format_row(answer: DiffOfProbes, pair: ProbedPair) -> list[str]:
    left, right = pair.left, pair.right
    is_short = len(answer.places) == 1
    if left is None or right is None or left.place != right.place:
        lines = []
        for side, row in (("A", left), ("B", right)):
            if row is not None:
                where = _format_at(answer, row, is_right=side == "B", is_short=is_short)
                lines.append(f"only {side}: {where}  {_format_values(answer, row)}".rstrip())
        return lines
    columns = _row_columns(answer, left)
    lines = [
        # Of what differs by addresses alone one is told.
        f"{shorten_value(one.expression, _NAME)}={_format_pair(a, b if one.different else a)}"
        for one, a, b in zip(columns, left.values, right.values, strict=False)
        if one.error is None
    ]
    return [f"{_format_hit(answer, pair, is_short=is_short)}  {'  '.join(lines)}".rstrip()]


def _row_columns(answer: DiffOfProbes, row: ProbeRow) -> Sequence[ProbedColumn]:
    return answer.places[row.place].columns if 0 <= row.place < len(answer.places) else ()


def _known_values(answer: DiffOfProbes, row: ProbeRow) -> list[tuple[str, str]]:
    """Format a hit's values with their names, without those that neither run ever had."""
    columns = _row_columns(answer, row)
    return [
        (one.expression, value)
        for one, value in zip(columns, row.values, strict=False)
        if one.error is None
    ]


def _format_values(answer: DiffOfProbes, row: ProbeRow) -> str:
    return "  ".join(
        f"{shorten_value(name, _NAME)}={shorten_value(value, _VALUE)}"
        for name, value in _known_values(answer, row)
    )


def _format_hit(answer: DiffOfProbes, pair: ProbedPair, *, is_short: bool = False) -> str:
    left, right = pair.left or pair.right, pair.right or pair.left
    if left is None or right is None:
        return "no hit"
    both = f"{_BETWEEN}{right.hit:,}" if left.hit != right.hit else ""
    return f"hit {left.hit:,}{both}{'' if is_short else _side_name(answer, left)}"


def _format_at(
    answer: DiffOfProbes, row: ProbeRow, *, is_right: bool = False, is_short: bool = False
) -> str:
    return f"hit {row.hit:,}{'' if is_short else _side_name(answer, row, is_right=is_right)}"


def _side_name(answer: DiffOfProbes, row: ProbeRow, *, is_right: bool = False) -> str:
    if not 0 <= row.place < len(answer.places):
        return ""
    place = answer.places[row.place]
    line = place.right_line if is_right and place.right_line else place.line
    return f" of {base_name(place.file)}:{line}" if place.file and line else f" of {place.asked}"


def _format_pair(left: str, right: str, most: int = _VALUE) -> str:
    if left == right:
        return shorten_value(left, most)
    if max(len(left), len(right)) > most:
        a, b = (
            run_text.format_changed(right, left, most),
            run_text.format_changed(left, right, most),
        )
        return f"{a}{_BETWEEN}{b}"
    return f"{shorten_value(left, most)}{_BETWEEN}{shorten_value(right, most)}"


def _format_total(answer: DiffOfProbes) -> list[TextSection]:
    if answer.parted is None:
        return []
    parts = [f"{format_count(answer.common, 'hit')} the same"]
    parts += [f"{answer.different:,} differ"] if answer.different else []
    parts += [f"{answer.left_only:,} only A's"] if answer.left_only else []
    parts += [f"{answer.right_only:,} only B's"] if answer.right_only else []
    text = ", ".join(parts)
    if answer.again is not None:
        count = f"the last {answer.again_count:,} are the same again, from"
        text += f"; {count} {_format_hit(answer, answer.again)}"
    if not answer.is_whole:
        text += "; from some point on they have too little in common to be compared"
    return [fixed_section(text, _PARTED)]
