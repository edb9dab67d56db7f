"""Formats the calls of a run, and what only failing runs executed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from debugger.output.byte_text import show_bytes
from debugger.output.list_text import list_section
from debugger.output.location_text import (
    IN_A_LIST,
    base_name,
    file_names,
    format_count,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fit_sections, fixed_section
from debugger.questions.path.answer import (
    BranchView,
    DivergingConditionView,
    EntryView,
    FailedCheckView,
    LineCount,
    OperandView,
    PathAnswer,
    PlaceView,
    SuspectView,
    WayView,
)
from debugger.questions.recordings import run_text

# What is cut last has the lowest number.
_HEAD, _NOTES, _WAYS, _LINES, _SUSPECTS, _MISSED, _ROWS, _COUNTS, _OUTPUT = range(9)
_VALUE = 50  # characters
_BRANCH = 64  # characters of a branch's line
_ENTRIES = 3  # arguments of a suspect
_SHOWN = 5  # of each list, on a page of the usual size
_FEW = 2  # operands of a condition
_PAGE = 4000
_COMPARED_MAX = 2000  # characters of runs side by side, on a page of the usual size
_OUTPUT_LINES = 2
_SOURCE = 90  # characters of a source line
_ARGUMENT = 40  # characters of an argument
_SHORT = 10  # ranges of lines that are all shown with their text
_EXCERPT = 3  # source lines of a function, on a long page
_LONG_RANGE = 8  # lines, of which the most telling ones are named
_TELLING = 6  # such lines of one function
_DECIDING = 3  # conditions of one function
_RIGHT_AFTER = 3  # lines below a branch
_BRIEF = 30  # characters of a line beside another
_FOLLOWED = 3  # branches below which is shown what only failing runs did next
_ROOM = 800  # characters of the lines of failing runs, on a page of the usual size
_ROOM_BRANCHES = 450  # of the same, below branches that went another way
_ROOM_MISSED = 400  # characters of those of passing ones beside them
_FLOOR = 3  # rows
_ANONYMOUS = re.compile(r"^(?:<anonymous>\.)+(?=[^<])")
_RESULT = 30  # characters of a result
_VALUES = 3
_LEAST = 2
_STATUS = "exited with status "
_LONG = 80  # characters of all values of one name


def format_path(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    """Build the sections about one run, or about several side by side."""
    if len(answer.runs) != 1:
        return _format_compared(answer, page)
    run = answer.runs[0]
    named = f" from {' to '.join(answer.between)}" if answer.between else ""
    of = f" of {shorten_value(answer.process, IN_A_LIST)}" if answer.process else ""
    head = (
        f"path{of}{shorten_value(named, IN_A_LIST)}: {run_text.format_run_end(run)}: "
        f"{format_count(answer.calls, 'call')} of {format_count(answer.functions, 'function')} "
        f"in {format_count(answer.files, 'file')}"
    )
    stepped = (step for one in answer.places for way in one.ways for step in way.steps)
    names = file_names([*(one.file for one in answer.places), *(file for _, file, _ in stepped)])
    return [
        fixed_section(head, _HEAD),
        *[section for one in answer.places for section in _format_ways(one, names)],
        run_text.tree_section(answer.rows, answer.rows_total, rank=_ROWS),
        *run_text.output_sections(run, page, rank=_OUTPUT),
        *run_text.format_picture(answer.picture, rank=_HEAD),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_ways(one: PlaceView, names: Mapping[str, str]) -> list[TextSection]:
    where = f" {names[one.file]}:{one.line}" if one.file else ""
    times = f"called {format_count(one.calls, 'time')}" if one.calls else "entered before"
    head = f"{short_name(one.function)}{where} was {times}"
    if one.lines:
        return [
            fixed_section(f"{head}; its lines, and how often they ran:", _WAYS),
            list_section(
                [_format_counted(line) for line in one.lines],
                lambda cut: f"  … {format_count(cut, 'more line')}",
                rank=_ROWS,
            ),
        ]
    ways = [_format_way(way, names) for way in one.ways if way.steps]
    return [
        fixed_section(f"{head}, by:" if ways else head, _WAYS),
        list_section(
            ways,
            lambda cut: f"  … {format_count(cut, 'more way')}",
            missing=one.more_ways,
            rank=_WAYS,
        ),
    ]


def _format_counted(one: LineCount) -> str:
    where = f"{one.line}:{one.column}" if one.column else f"{one.line}"
    times = f"x{one.times:,}" if one.times else "never"
    return f"  {where:>5}  {times:>7}  {shorten_value(one.text, _SOURCE)}"


def _format_way(way: WayView, names: Mapping[str, str]) -> str:
    steps = " > ".join(
        " ".join(
            filter(None, [short_name(function), _format_at(names[file], line) if file else ""])
        )
        for function, file, line in way.steps
    )
    return f"  {shorten_value(steps, 2 * IN_A_LIST)}" + (
        f" x{way.count:,}" if way.count > 1 else ""
    )


def _format_at(name: str, line: int) -> str:
    return f"{name}:{line}" if line else name


# -- several runs ----------------------------------------------------------------------------------


def _format_runs(answer: PathAnswer) -> list[TextSection]:
    """Format the runs' ends, one by one unless all failing, or passing, ones ended alike."""
    failing = len(answer.runs) - answer.passing
    head = f"path: {format_count(failing, 'failing run')}, {answer.passing} passing"
    ends = [run_text.format_run_end(run, has_time=False) for run in answer.runs]
    kinds = [dict.fromkeys(some) for some in (ends[:failing], ends[failing:]) if some]
    if all(len(some) == 1 for some in kinds):
        first, *others = [end for some in kinds for end in some] or ["nothing ran"]
        if first.startswith(_STATUS):
            others = [end.removeprefix(_STATUS) for end in others]
        return [fixed_section(f"{head} ({' | '.join([first, *others])})", _HEAD)]
    runs = [
        f"{'fails' if at < failing else 'passes'}: {run_text.format_command(run)}: {ends[at]}"
        for at, run in enumerate(answer.runs)
    ]
    return [
        fixed_section(head, _HEAD),
        list_section(runs, lambda cut: f"… {format_count(cut, 'more run')}", rank=_HEAD),
    ]


def _format_compared(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    sections = [
        *_format_runs(answer),
        *_format_failure(answer.failure),
        *_format_decision(answer.decision, page),
        *_format_origins(answer, page),
    ]
    if answer.unrecorded:
        text = f"nothing is known of what ran in {', '.join(answer.unrecorded)}: no comparison"
        sections.append(fixed_section(text, _HEAD))
    elif not (answer.suspects or answer.suspect_lines or answer.branches):
        what = "came to the same functions and lines" if answer.has_lines else "made the same calls"
        text = f"all runs {what} of their own code; those of libraries are not compared"
        sections.append(fixed_section(text, _HEAD))
    sections += _format_branches(answer, page)
    sections += _format_suspects(answer, page)
    output = [] if answer.failure is not None else _format_output(answer, page)
    sections += [
        *_format_counts(answer, page),
        *output,
        *run_text.format_picture(answer.picture, rank=_HEAD),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]
    return _shorten_sections(sections) if page.limit <= _PAGE else sections


def _shorten_sections(sections: list[TextSection]) -> list[TextSection]:
    """Cut an answer that is too long to what decides, as the ranks of its sections say."""
    length = sum(len(one.fit_text(one.count)) + 1 for one in sections)
    if length <= _COMPARED_MAX:
        return sections
    return [TextSection(lambda most: fit_sections(sections, most), count=_COMPARED_MAX)]


def _format_output(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    return [
        section
        for run in answer.runs[:1]
        for section in run_text.output_sections(run, page, rank=_OUTPUT, most=_OUTPUT_LINES)
    ]


def _format_branches(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    """Format the branches that went another way."""
    most = _SHOWN if page.limit <= _PAGE else len(answer.branches)
    if not answer.branches or answer.is_origin_known:
        return []
    return [
        fixed_section("branches that went another way, failing / passing:", _LINES),
        list_section(
            [
                _format_branch(one, answer.suspect_lines if at < _FOLLOWED else ())
                for at, one in enumerate(answer.branches[:most])
            ],
            lambda cut: f"  … {cut} more: --budget 4000",
            missing=max(len(answer.branches) - most, 0),
            rank=_LINES,
        ),
    ]


def _format_branch(one: BranchView, suspects: Sequence[SuspectView]) -> str:
    """Format a branch, and what only failing runs did right after it."""
    ways = " / ".join(
        ", ".join(f"{name} x{times:,}" for name, times in side)
        for side in (one.failing, one.passing)
    )
    where = f"{base_name(one.file)}:{one.line}"
    text = shorten_value(one.text, _BRANCH)
    rows = [f"  {where}  {text}  {ways}  (in {short_name(one.function)})"]
    after = range(one.line + 1, one.line + 1 + _RIGHT_AFTER)
    rows += [
        f"    then {base_name(each.file)}{_format_range(each, ())}  "
        f"{shorten_value(each.text, _VALUE)}"
        for each in suspects
        if (each.file, each.function) == (one.file, one.function) and each.line in after
    ][:1]
    rows += [
        f"    by {base_name(each.file)}:{each.line}  {shorten_value(each.text, _VALUE)}"
        f"  (in {short_name(each.function)})  [inferred]"
        for each in one.returns
    ]
    return "\n".join(rows)


def _format_suspects(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    """Format what only failing runs executed, function by function.

    Functions with other values are not shown where lines are known: they follow from the input.
    """
    is_full = page.limit > _PAGE
    ranked = [(one.file, one.function) for one in answer.suspect_lines]
    functions = sorted(
        # That the program ended otherwise, its runs' first lines say.
        (one for one in answer.suspects if not _is_the_end(one, answer)),
        key=lambda one: (-one.score, _first_position((one.file, one.function), ranked)),
    )
    groups = _group_ranges(answer.suspect_lines)
    missed = _group_ranges(answer.passing_lines)
    names = file_names([one.file for one in (*answer.suspect_lines, *answer.passing_lines)])
    calls = [_format_function(one, answer) for one in functions]
    is_new = not _is_short(answer) and any(one[0].is_new for one in groups)
    marks = " (+: no other run called it)" if is_new else ""
    reported, left = (
        _format_ranges(some, names) if _is_short(answer) else _format_groups(some, names, page)
        for some in (groups, missed)
    )
    left = _add_other_ways(left, missed, groups, names)
    room = 0 if is_full else _ROOM_BRANCHES if answer.branches else _ROOM
    title = f"lines that failing runs passed{marks}"
    sections = [_titled_section(title, reported, _LINES, room=room)]
    if is_full or not groups:
        sections.append(_titled_section("functions, by suspicion", calls, _SUSPECTS, room=room))
    # What a failing run left out is seldom where the fault is.
    room = _ROOM_MISSED if groups and not is_full else room
    return [
        *sections,
        _titled_section("lines that only passing runs passed", left, _MISSED, room=room),
    ]


def _add_other_ways(
    rows: Sequence[str],
    missed: Sequence[Sequence[SuspectView]],
    groups: Sequence[Sequence[SuspectView]],
    names: Mapping[str, str],
) -> list[str]:
    """Add to what passing runs did in a function what failing runs did there instead."""
    if len(rows) != len(missed):  # a row for each range, beside those of the failing runs
        return list(rows)
    others = {(some[0].file, some[0].function): some[0] for some in groups}
    found = []
    for row, some in zip(rows, missed, strict=True):
        other = others.get((some[0].file, some[0].function))
        instead = ""
        if other is not None:
            text = shorten_value(other.text, _BRIEF)
            instead = f"; failing: {names[other.file]}{_format_range(other, ())}  {text}"
        found.append(f"{row}{instead}")
    return found


def _is_short(answer: PathAnswer) -> bool:
    """Return whether there is room for the text of each line."""
    return len(answer.suspect_lines) + len(answer.passing_lines) <= _SHORT


def _titled_section(title: str, rows: Sequence[str], rank: int, *, room: int) -> TextSection:
    """Build a section of rows below a title, of about `room` characters (0: as many as there are).

    Without a row there is no title either.
    """
    most = len(rows)
    while room and most > 1 and sum(len(row) + 1 for row in rows[:most]) > room:
        most -= 1

    def fit_text(count: int) -> str:
        cut = len(rows) - count
        if not count:
            return f"… {cut} {title.partition(' (')[0]}: --budget 4000" if cut else ""
        note = [f"  … {cut} more: --budget 4000"] if cut else []
        return "\n".join([f"{title}:", *rows[:count], *note])

    return TextSection(fit_text, count=most, rank=rank, floor=_FLOOR)


def _group_ranges(suspects: Sequence[SuspectView]) -> list[list[SuspectView]]:
    """Group ranges of lines by function, in their order."""
    found: dict[tuple[str, str], list[SuspectView]] = {}
    for one in suspects:
        found.setdefault((one.file, one.function), []).append(one)
    return list(found.values())


def _format_ranges(groups: Sequence[Sequence[SuspectView]], names: Mapping[str, str]) -> list[str]:
    """Format each range of lines with its text, and its function where that changes."""
    return [
        f"  {_format_score(one)}{names[one.file]}{_format_range(one, ())}  "
        f"{shorten_value(one.text, _SOURCE)}"
        f"{'' if at else f'  (in {_function_name(one)})'}{_format_deciding([one])}"
        for some in groups
        for at, one in enumerate(some)
    ]


def _format_groups(
    groups: Sequence[Sequence[SuspectView]], names: Mapping[str, str], page: RenderPage
) -> list[str]:
    """Format a function's ranges in one row; on a long page with the lines that compute most."""
    most = _EXCERPT if page.limit > _PAGE else 0
    found: list[str] = []
    above = ""
    for some in groups:
        first, outer = some[0], _outer_ranges(some)
        # Named once for neighbours, as in a chain of calls.
        name, above = "" if first.file == above else names[first.file], first.file
        long = [one for one in outer if one.last - one.line >= _LONG_RANGE]
        telling = [
            line.line
            for line in first.excerpt
            if any(one.line <= line.line <= one.last for one in long)
        ]
        ranges = " ".join(_format_range(one, telling[:_TELLING]) for one in outer)
        mark = "+" if first.is_new else ""
        texts = [
            f"    {one.line} {shorten_value(one.text, _SOURCE)}"
            for one in sorted(first.excerpt[:most], key=lambda one: one.line)
        ]
        by = _format_deciding(some)
        row = f"  {_format_score(first)}{name}{ranges}  {mark}{_function_name(first)}{by}"
        found.append("\n".join([row, *texts]))
    return found


def _format_deciding(some: Sequence[SuspectView]) -> str:
    """Format the conditions that decided about ranges of lines."""
    lines = list(dict.fromkeys(one.decided_by for one in some if one.decided_by))[:_DECIDING]
    return f"  by {' '.join(f':{line}' for line in lines)}" if lines else ""


def _format_score(one: SuspectView) -> str:
    """Format a score that says more than that only failing runs executed the lines."""
    return f"{one.score:.2f} " if 0 < one.score < 1 else ""


def _function_name(one: SuspectView) -> str:
    return short_name(_ANONYMOUS.sub("", one.function))


def _outer_ranges(some: Sequence[SuspectView]) -> list[SuspectView]:
    """Drop the parts of lines that are within another range."""
    lines = [one for one in some if not one.column]
    return [
        one
        for one in some
        if not one.column or not any(each.line <= one.line <= each.last for each in lines)
    ]


def _format_range(one: SuspectView, telling: Sequence[int]) -> str:
    """Format a range of lines, of a long one also the lines that compute most."""
    if one.column:
        return f":{one.line}:{one.column}"
    if one.last <= one.line:
        return f":{one.line}"
    some = sorted(line for line in telling if one.line <= line <= one.last)
    if one.last - one.line < _LONG_RANGE or not some:
        return f":{one.line}-{one.last}"
    return f":{one.line}-{one.last} (at {' '.join(_join_numbers(some))})"


def _join_numbers(lines: Sequence[int]) -> list[str]:
    """Format ascending line numbers, neighbours as one range."""
    found: list[tuple[int, int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return [f":{first}" + (f"-{last}" if last > first else "") for first, last in found]


def _format_failure(one: FailedCheckView | None) -> list[TextSection]:
    """Format what failed, with the values that the failed check compared."""
    if one is None:
        return []
    where = f"{base_name(one.file)}:{one.line}"
    if one.wrong is None or one.right is None:
        error = shorten_value(one.error, _SOURCE)
        return [fixed_section(f"failed: {error}  ({where} in {short_name(one.function)})", _LINES)]
    wrong, right = one.wrong.value or "", one.right.value or ""
    if max(len(wrong), len(right)) > _VALUE:
        wrong, right = (
            run_text.format_changed(right, wrong, _VALUE),
            run_text.format_changed(wrong, right, _VALUE),
        )
    return [
        fixed_section(
            f"failed: {where}  {one.wrong.name}: {wrong}; {one.right.name}: {right}", _LINES
        )
    ]


def _format_origins(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    """Format the calls that the failure comes from; of the first ones with their lines."""
    names = file_names([one.file for one in answer.origins])
    # A value that is first wrong in the script itself says nothing of where it was made.
    is_telling = answer.is_origin_known or any(one.value is None for one in answer.origins[:1])
    most = len(answer.origins) if page.limit > _PAGE else int(is_telling)
    found = []
    for at, one in enumerate(answer.origins[:most]):
        given = ", ".join(
            f"{value.name}={run_text.cut_value(value.value or '', _ARGUMENT)}"
            for value in one.arguments[:_ENTRIES]
        )
        value = _format_result(one.value)
        texts = [f"  {names[one.file]}:{one.line} {short_name(one.function)}: {one.reason}{value}"]
        if not at:
            texts = [f"suspect [inferred]: {texts[0].strip()}"]
            texts += [f"  given {given}"] if given else []
        texts += [
            f"    {line.line}{'+' if line.is_new else ' '} {shorten_value(line.text, _SOURCE)}"
            for line in one.lines
            if page.limit > _PAGE or (_is_short(answer) and not at)
        ]
        found.append("\n".join(texts))
    if not found:
        return []
    return [
        list_section(
            found,
            lambda cut: f"  … {format_count(cut, 'more call')}",
            missing=len(answer.origins) - len(found),
            rank=_LINES,
        )
    ]


def _format_result(value: str | None) -> str:
    return "" if value in {None, "None"} else f": {run_text.cut_value(value or '', _RESULT)}"


def _format_decision(one: DivergingConditionView | None, page: RenderPage) -> list[TextSection]:
    """Format the condition that decided differently, with the values of both runs."""
    if one is None:
        return []
    where = f"{base_name(one.file)}:{one.line}"
    how = "differs"
    if one.is_true_failing is not None:
        how = "is true" if one.is_true_failing else "is false"
        how += " only in the failing run" if one.passing_hits else " in the failing run"
    head = f"difference: {where}  {shorten_value(one.text, _SOURCE)}  {how}"
    return [
        fixed_section(f"{head}  (in {short_name(one.function)}; values of a second run)", _LINES),
        list_section(
            [_format_operand(value) for value in _chosen_operands(one, page)],
            lambda _: "  …",
            rank=_LINES,
        ),
    ]


def _chosen_operands(one: DivergingConditionView, page: RenderPage) -> list[OperandView]:
    """Return the operands to show: on a page of the usual size a few, which differ."""
    if page.limit > _PAGE:
        return list(one.operands)
    differing = [value for value in one.operands if value.passing != (value.failing,)]
    return (differing or list(one.operands))[:_FEW]


def _format_operand(one: OperandView) -> str:
    failing = run_text.cut_value(one.failing, _VALUE)
    if not one.passing:
        return f"  {one.expression}: {failing}"
    if one.passing == (one.failing,):
        return f"  {one.expression}: {failing} in both"
    if max(map(len, (one.failing, *one.passing))) > _VALUE:
        failing = run_text.format_changed(one.passing[0], one.failing, _VALUE)
        passing = run_text.format_changed(one.failing, one.passing[0], _VALUE)
    else:
        passing = (" … " if one.is_range else " | ").join(map(show_bytes, one.passing))
    return f"  {one.expression}: {failing}; passing: {passing}"


def _format_counts(answer: PathAnswer, page: RenderPage) -> list[TextSection]:
    if answer.ratio is None:
        return []
    head = run_text.format_ratio(answer.ratio, ("the failing run", "the passing run"))
    most = _SHOWN if page.limit <= _PAGE else len(answer.counts)
    lines = [f"  {run_text.format_count_pair(one)}" for one in answer.counts[:most]]
    missing = answer.more_counts + len(answer.counts[most:])
    label = "; what departs from that, failing / passing:" if lines else ""
    return [
        fixed_section(f"{head}{label}", _COUNTS),
        list_section(
            lines, lambda cut: f"  … {cut} more: --budget 4000", missing=missing, rank=_COUNTS
        ),
    ]


def _format_function(one: SuspectView, answer: PathAnswer) -> str:
    failing = len(answer.runs) - answer.passing
    where = f"{base_name(one.file)}:{one.line}" if one.file else ""
    runs = f" ({one.failing} of {failing} failing, {one.passing} of {answer.passing} passing)"
    # The score alone tells which runs came to it: all of them, or the failing ones.
    is_plain = one.failing == failing and one.passing in {0, answer.passing}
    texts = [f"  {one.score:.2f} {short_name(one.function)} {where}{'' if is_plain else runs}"]
    texts += [_format_entry(entry) for entry in one.entries[:_ENTRIES]]
    return "\n".join(texts)


def _first_position(function: tuple[str, str], lines: Sequence[tuple[str, str]]) -> int:
    """Return a function's position among those of suspicious lines, or the last position."""
    return lines.index(function) if function in lines else len(lines)


def _is_the_end(one: SuspectView, answer: PathAnswer) -> bool:
    """Return whether all runs executed it, and only the end of the program differs."""
    everywhere = one.failing + one.passing == len(answer.runs)
    return everywhere and all(
        text.startswith("SystemExit")
        for entry in one.entries
        for text in (*entry.failing, *entry.passing)
    )


def _format_entry(one: EntryView) -> str:
    failing, passing = one.failing, one.passing
    if failing and passing and max(len(failing[0]), len(passing[0])) > _VALUE:
        # What differs may be behind the cut.
        bad = run_text.format_changed(passing[0], failing[0], _VALUE)
        good = run_text.format_changed(failing[0], passing[0], _VALUE)
    else:
        bad, good = _format_some(failing), _format_some(passing)
    return f"      {short_name(one.name)}: {bad}" + (f"; passing: {good}" if good else "")


def _format_some(texts: tuple[str, ...]) -> str:
    message = [run_text.cut_value(text, _VALUE) for text in texts]
    if len(message) > _VALUES or (len(message) > 1 and sum(map(len, message)) > _LONG):
        between = ["…"] if len(message) > _LEAST else []
        message = [message[0], *between, message[-1]]
    return " | ".join(message)
