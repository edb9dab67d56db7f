"""How are the values told that expressions had over a run: what sums them up, then the rows?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_uppercase

from debugger.core.answers import Probe, ProbeColumn, ProbePlace, ProbeRow
from debugger.render.budget import Section, fixed
from debugger.render.lists import listing, streamed
from debugger.render.page import Page
from debugger.render.places import basename, in_sentence
from debugger.render.values import IN_A_LIST, counted, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _PLACES, _COLUMNS, _ROWS, _OUTPUT = range(6)
_VALUE = 40
_CELL = 60
_ROWS_MAX = 24
_NAMES = 8
_MEANS = {
    "recorder": "recorded inside Python",
    "frida": "logpoints of the Frida engine",
    "logpoints": "logpoints of {adapter}",
    "stops": "{adapter}, stopped at each hit",
}
_FEW = 4


def probe(answer: Probe, page: Page) -> list[Section]:
    """Return the parts of what is said of a run with probes; none where its rows were printed."""
    if answer.csv is not None:
        return []
    return [
        fixed(_head(answer), _HEAD),
        *[part for at, place in enumerate(answer.places) for part in _place(answer, at, place)],
        _rows(answer),
        *_output(answer, page),
        *[fixed(f"note: {shorten(note, 2 * IN_A_LIST)}", _NOTES) for note in answer.notes],
        *([fixed(f"evidence: {answer.evidence}", _NOTES)] if answer.evidence else []),
    ]


def _head(answer: Probe) -> str:
    hits = counted(sum(place.hits for place in answer.places), "hit")
    return f"probe: {hits}; {_ended(answer)} ({_cost(answer)})"


def _cost(answer: Probe) -> str:
    known = _MEANS.get(answer.means)
    means = known.format(adapter=answer.adapter) if known is not None else answer.means
    return f"{means}, {answer.took_s:.2f} s" if answer.took_s is not None else means


def _ended(answer: Probe) -> str:
    before = f"stopped by {shorten(answer.stopped, IN_A_LIST)}" if answer.stopped else ""
    where = f" in {in_sentence(answer.frame)}" if answer.frame is not None else ""
    if answer.outcome == "running" and not answer.timed_out:
        return "all hits that were asked for; it runs on"
    if answer.outcome == "running":
        waited = f" after {answer.waited_s:g} s" if answer.waited_s is not None else ""
        return f"still running{waited}{where}, a part"
    if answer.exit_signal is not None:
        said = f"ended by signal {short_name(answer.exit_signal)}"
    elif answer.exit_code is not None:
        said = f"exited with status {answer.exit_code}"
    else:
        said = "it ended"
    return f"{before}{where}; {said}" if before else said


def _letter(answer: Probe, at: int) -> str:
    return ascii_uppercase[at % len(ascii_uppercase)] if len(answer.places) > 1 else ""


def _place(answer: Probe, at: int, place: ProbePlace) -> list[Section]:
    letter = _letter(answer, at)
    label = f"{letter} " if letter else ""
    where = f"{basename(place.file)}:{place.line}" if place.file and place.line else place.asked
    is_said = place.function is None or place.function == where
    inside = "" if is_said else f" in {short_name(place.function or '')}"
    when = f", {shorten(place.when, IN_A_LIST)}" if place.when is not None else ""
    head = f"{label}{where}{inside}{when}: {_hits(place)}"
    parts = [fixed(head, _PLACES)]
    if place.why is not None:
        parts.append(fixed(f"  {shorten(place.why, 2 * IN_A_LIST)}{_near(place)}", _PLACES))
    if place.condition_error is not None and place.hits:
        failed = counted(place.failed_conditions, "time")
        error = shorten(place.condition_error, IN_A_LIST)
        parts.append(fixed(f"  the condition failed {failed}: {error}", _PLACES))
    lines = [f"  {_column(column)}" for column in place.columns if column.taken]
    parts.append(listing(lines, lambda cut: f"  … {counted(cut, 'more column')}", rank=_COLUMNS))
    if place.names_in_scope:
        names = " ".join(place.names_in_scope[:_NAMES])
        more = " …" if len(place.names_in_scope) > _NAMES else ""
        meant = f" (did you mean {', '.join(place.near_names)}?)" if place.near_names else ""
        parts.append(fixed(f"  in scope there: {names}{more}{meant}", _COLUMNS))
    return parts


def _hits(place: ProbePlace) -> str:
    passed = ""
    if place.passed is not None and place.when is not None and place.passed != place.hits:
        passed = f" of {place.passed:,}"
    if not place.hits:
        return "never hit"
    said = f"{place.hits:,}{passed} hits" if place.hits > 1 or passed else "1 hit"
    if place.taken < place.hits:
        return f"{said}, values of {place.taken:,}"
    return said


def _near(place: ProbePlace) -> str:
    choices = [*map(str, place.nearest_lines), *(place.near_names if not place.columns else ())]
    return f"; nearest: {', '.join(choices)}" if choices else ""


def _column(column: ProbeColumn) -> str:
    name = shorten(column.expression, _CELL)
    if column.is_never_there:
        return f"{name}: never a value: {shorten(column.error or '', IN_A_LIST)}"
    parts = [_span(column)]
    if column.change is not None and not _is_steady(column):
        change = column.change
        parts.append(f"first change at hit {change.hit:,}: {_step(change.previous, change.value)}")
    if column.turn is not None:
        turn = column.turn
        parts.append(f"turns at hit {turn.hit:,}: {_step(turn.previous, turn.value)}")
    if column.outliers:
        far = ", ".join(
            f"{shorten(one.value, _VALUE)} at hit {one.hit:,}"
            + (f" ({one.count:,} times)" if one.count > 1 else "")
            for one in column.outliers
        )
        parts.append(f"stands out: {far}")
    if column.failed:
        error = shorten(column.error or "", IN_A_LIST)
        parts.append(f"no value at {counted(column.failed, 'hit')}: {error}")
    return f"{name}: {'; '.join(parts)}"


def _is_steady(column: ProbeColumn) -> bool:
    """Tell whether it changes at nearly every hit: then the first change says nothing."""
    change = column.change
    return change is not None and column.distinct > _FEW and change.hit <= _FEW


def _step(before: str, after: str) -> str:
    return f"{shorten(before, _VALUE)}→{shorten(after, _VALUE)}"


def _span(column: ProbeColumn) -> str:
    count = f"{column.distinct:,}" if column.is_distinct_exact else f"over {column.distinct:,}"
    if column.distinct == 1 and column.is_distinct_exact:
        return f"always {shorten(column.first or '', _CELL)}"
    least, most = column.minimum, column.maximum
    if least is not None and most is not None:
        ends = f"{least.value} (hit {least.hit:,}) to {most.value} (hit {most.hit:,})"
        return f"{ends}, {count} distinct"
    some = ", ".join(
        f"{shorten(one.value, _VALUE)} ×{one.count:,}"  # noqa: RUF001 - a count
        for one in column.common
        if one.count > 1 or column.distinct <= _FEW
    )
    return f"{count} distinct{f': {some}' if some else ''}"


def _rows(answer: Probe) -> Section:
    rows = answer.rows
    chosen = min(len(rows), _ROWS_MAX)
    notable = _notable(answer)
    draw = _table if len(answer.places) == 1 else _lines

    def lay(kept: int) -> str:
        return "\n".join(_gapped(answer, _picked(_times(answer), kept, notable), draw))

    return Section(lay, count=chosen, rank=_ROWS, floor=3)


def _times(answer: Probe) -> list[float]:
    """Return when the rows were: by their hits, or where there are several places, by the clock."""
    if len(answer.places) == 1:
        return [float(row.hit) for row in answer.rows]
    return [row.at_s for row in answer.rows]


def _notable(answer: Probe) -> list[int]:
    """Find the rows of what stands out, and those before them."""
    named: set[tuple[int, int]] = set()
    for at, place in enumerate(answer.places):
        for column in place.columns:
            named |= {(at, one.hit) for one in column.outliers}
            named |= {(at, column.turn.hit)} if column.turn is not None else set()
            change = column.change
            named |= {(at, change.hit)} if change is not None and not _is_steady(column) else set()
    return [at for at, row in enumerate(answer.rows) if (row.place, row.hit) in named]


def _picked(times: Sequence[float], kept: int, notable: Sequence[int]) -> list[int]:
    """Choose so many of the rows: a third from the start, a third from the end, some between.

    Those between are what stands out, and else as evenly spread over the run as what was kept.
    """
    total = len(times)
    if kept >= total:
        return list(range(total))
    first = (kept + 2) // 3
    last = (kept - first + 1) // 2
    middle = kept - first - last
    start, end = times[first - 1] if first else 0.0, times[total - last] if last else times[-1]
    free = range(first, total - last)
    between = set([at for at in notable if at in free][:middle])
    spread = middle - len(between)
    for at in range(spread):
        wanted = start + (end - start) * (at + 1) / (spread + 1)
        left = [one for one in free if one not in between]
        between.add(min(left, key=lambda one: abs(times[one] - wanted)))
    return sorted({*range(first), *between, *range(total - last, total)})


_Draw = Callable[[Probe, Sequence[ProbeRow]], list[str]]


def _gapped(answer: Probe, picked: Sequence[int], draw: _Draw) -> list[str]:
    """Draw the rows, and say between them how many are left out."""
    if not answer.rows_total:
        return []
    rows = [answer.rows[at] for at in picked]
    drawn = draw(answer, rows)
    left = answer.rows_total - len(rows)
    if not left or not rows:
        return [*drawn, f"… {counted(left, 'row')}: --csv"] if left else drawn
    header = len(drawn) - len(rows)
    middle = (len(rows) + 2) // 3
    note = f"… {left:,} rows left out: --csv, --from, --to"
    return [*drawn[: header + middle], note, *drawn[header + middle :]]


def _table(answer: Probe, rows: Sequence[ProbeRow]) -> list[str]:
    """Draw the rows of one place, its columns below each other."""
    has_threads = len({row.thread for row in answer.rows}) > 1
    titles = ["hit", *(["thread"] if has_threads else [])]
    columns = answer.places[0].columns
    told = [at for at, column in enumerate(columns) if not column.is_never_there]
    titles += [shorten(columns[at].expression, _CELL) for at in told]
    cells = [
        [
            f"{row.hit:,}",
            *([str(row.thread or "?")] if has_threads else []),
            *(shorten(row.values[at], _CELL) if at < len(row.values) else "" for at in told),
        ]
        for row in rows
    ]
    if not cells:
        return []
    lines = [titles, *cells]
    widths = [max(len(line[at]) for line in lines) for at in range(len(titles))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _lines(answer: Probe, rows: Sequence[ProbeRow]) -> list[str]:
    """Draw the rows of several places, each with its names."""
    has_threads = len({row.thread for row in answer.rows}) > 1
    drawn = []
    for row in rows:
        columns = answer.places[row.place].columns if row.place in range(len(answer.places)) else ()
        values = " ".join(
            f"{shorten(column.expression, _CELL)}={shorten(value, _CELL)}"
            for column, value in zip(columns, row.values, strict=False)
            if not column.is_never_there
        )
        thread = f" thread {row.thread}" if has_threads and row.thread is not None else ""
        drawn.append(f"{_letter(answer, row.place)}{row.hit}{thread} {values}".rstrip())
    return drawn


def _output(answer: Probe, page: Page) -> list[Section]:
    if not answer.output_total and not answer.output_dropped:
        return []
    count = counted(answer.output_total, "line")
    lost = ", more was not kept" if answer.output_dropped else ""
    if not answer.shows_output:
        return [fixed(f"output: {count}{lost} (--output shows it)", _OUTPUT)]
    lines = [f"  {shorten(streamed(one, page), IN_A_LIST)}" for one in answer.output]
    return [
        listing(
            [f"output: {count}{lost}", *lines],
            lambda cut: f"  … {counted(cut, 'more line')}",
            missing=max(answer.output_total - len(lines), 0),
            rank=_OUTPUT,
        )
    ]
