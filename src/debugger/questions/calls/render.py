"""Formats single calls of a function, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debugger.output.list_text import indent_tree, list_section
from debugger.output.location_text import file_names, format_count, short_name, shorten_value
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.calls.answer import Calls, DecisionView, LifeView, RoundsView, StepView
from debugger.questions.recordings import run_text
from debugger.questions.recordings.answer import CallRow

# What is cut last has the lowest number.
_HEAD, _NOTES, _LIFE, _ITEMS, _OTHERS, _OUTPUT = range(6)
_CODE = 64  # characters of a source line
_VALUE = 100  # characters
_VARIES = 6  # names of a loop
_OBJECT = frozenset({"self", "this"})
_OUTPUT_LINES = 1


def format_calls(answer: Calls, page: RenderPage) -> list[TextSection]:
    """Build the sections about calls."""
    names = file_names(one.file for one in answer.lives)
    return [
        fixed_section(_format_head(answer), _HEAD),
        *[section for one in answer.lives for section in _format_life(one, names)],
        *_format_others(answer),
        *run_text.output_sections(answer.run, page, rank=_OUTPUT, most=_OUTPUT_LINES),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_head(answer: Calls) -> str:
    name = short_name(answer.function)
    shown = len(answer.lives)
    text = f"{name} was called {format_count(answer.seen, 'time')}"
    text += f" in {answer.processes} processes" if answer.processes > 1 else ""
    if not answer.seen:
        text = f"{format_count(shown, 'call')} of {name}"
    elif not shown:
        text += "; no such call is among them"
    elif shown < answer.seen:
        text += f", {shown} shown line by line"
    return f"calls: {text}; {run_text.format_run_end(answer.run)}"


def _format_signature(one: LifeView) -> str:
    given = ", ".join(run_text.format_value(value) for value in one.arguments)
    text = f"#{one.number} {short_name(one.function)}({shorten_value(given, 3 * _VALUE)})"
    if one.error is not None:
        text += " closed" if run_text.is_closing(one.error) else " raised "
        text += "" if run_text.is_closing(one.error) else shorten_value(one.error, _VALUE)
        text += f" at line {one.error_line}" if one.error_line else ""
    elif not one.has_ended:
        text += " was not seen to end"
    elif one.value is not None:
        text += f" → {run_text.cut_value(one.value, _VALUE)}" if one.value else " returned"
    return text


def _format_life(one: LifeView, names: Mapping[str, str]) -> list[TextSection]:
    where = f" {names[one.file]}:{one.line}" if one.file else ""
    head = f"{_format_signature(one)}{where}, {run_text.format_time(one.took_ms)}"
    if one.passed:
        head += f", {format_count(one.passed, 'line')} passed"
    if one.thread > 1:
        head += f", thread {one.thread}"
    if one.process is not None:
        head += f", process {one.process}"
    more = [f"  also called {run_text.format_row(row)}" for row in one.counted]
    return [
        fixed_section(head, _LIFE),
        _format_items(one.items, one),
        *([_format_callees(one.callees, one)] if one.callees else []),
        list_section(
            [f"  {_format_decision(two)}" for two in one.decisions],
            lambda cut: f"  … {format_count(cut, 'more branch')}",
            rank=_ITEMS,
        ),
        list_section(more, lambda cut: f"  … {cut} more", rank=_ITEMS),
    ]


def _format_callees(rows: Sequence[CallRow], caller: LifeView) -> TextSection:
    lines = [f"    {indent_tree(row.depth)}{_format_callee(row, caller)}" for row in rows]
    return list_section(["  called:", *lines], lambda cut: f"    … {cut} more", rank=_ITEMS)


def _format_callee(row: CallRow, caller: LifeView) -> str:
    """Format a call's line, without the object if that is the caller's own."""
    known = [(one.name, one.value) for one in caller.arguments[:1] if one.name in _OBJECT]
    return run_text.format_row(row, known=known)


def _format_items(items: Sequence[StepView | RoundsView], caller: LifeView) -> TextSection:
    """Build the section of a call's lines; inner ones are cut first, the last before the first."""
    shown = [_format_item(one, caller) for one in items]
    order = sorted(range(len(items)), key=lambda at: (items[at].depth, at))

    def fit_text(most: int) -> str:
        shown_at = sorted(order[:most])
        lines = [shown[at] for at in shown_at]
        cut = len(items) - most
        note = [f"  … {format_count(cut, 'more line')}: --budget 4000, or --when"] if cut else []
        return "\n".join([*lines, *note])

    return TextSection(fit_text, count=len(items), rank=_ITEMS, floor=6)


def _format_item(one: StepView | RoundsView, caller: LifeView) -> str:
    blanks = indent_tree(one.depth + 1)
    if isinstance(one, RoundsView):
        return blanks + _format_loop(one)
    code = f"{one.line}  {shorten_value(one.text, _CODE)}"
    changed = run_text.format_values(one.changes)
    line = f"{blanks}{code}    {changed}" if changed else f"{blanks}{code}"
    below = [
        f"{blanks}    {indent_tree(row.depth)}{_format_callee(row, caller)}" for row in one.callees
    ]
    return "\n".join([line, *below])


def _format_loop(one: RoundsView) -> str:
    if one.is_last:
        return "the last such round:"
    if one.round == 1:
        rest = "" if one.count == one.rounds else f", {one.count} as the first"
        name = f"loop at {one.line}" if one.is_loop else f"back at {one.line}, which is no loop"
        text = f"{name}: {format_count(one.rounds, 'round')}{rest}"
    else:
        text = f"loop at {one.line}: {one.count} of {one.rounds} as round {one.round}"
    varies = [
        f"{short_name(name.name)}={run_text.format_varied(name)}" for name in one.varies[:_VARIES]
    ]
    if varies:
        text += f"; {' '.join(varies)}"
    return text + (f"; {one.more_shapes} other ways" if one.more_shapes else "")


def _format_decision(one: DecisionView) -> str:
    taken = ", ".join(f"{_format_target(line)} x{count}" for line, count in one.taken)
    never = f", never {' or '.join(map(_format_target, one.never))}" if one.never else ""
    return f"branch {one.line} {shorten_value(one.text, _CODE)} → {taken}{never}"


def _format_target(line: int) -> str:
    return str(line) if line else "past it"


def _format_others(answer: Calls) -> list[TextSection]:
    if not answer.others:
        return []
    lines = [f"  {_format_signature(one)}" for one in answer.others]
    missing = max(answer.chosen - len(answer.lives) - len(answer.others), 0)
    return [
        fixed_section("other calls:", _OTHERS),
        list_section(
            lines,
            lambda cut: f"  … {format_count(cut, 'more call')}: --nth K shows one",
            missing=missing,
            rank=_OTHERS,
        ),
    ]
