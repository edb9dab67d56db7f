"""Formats single calls of a function, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debugger.core.answers import CallRow, Calls, DecisionView, LifeView, RoundsView, StepView
from debugger.render import asked, recorded
from debugger.render.budget import Section, fixed
from debugger.render.lists import indent, listing
from debugger.render.page import Page
from debugger.render.places import file_names
from debugger.render.values import counted, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _LIFE, _ITEMS, _OTHERS, _OUTPUT = range(6)
_CODE = 64
_VALUE = 100
_VARIES = 6
_OBJECT = frozenset({"self", "this"})
_OUTPUT_LINES = 3


def calls(answer: Calls, page: Page) -> list[Section]:
    """Return the parts of what is said of calls."""
    names = file_names(one.file for one in answer.lives)
    return [
        fixed(_head(answer), _HEAD),
        *[section for one in answer.lives for section in _life(one, names)],
        *_others(answer),
        *recorded.output(answer.run, page, rank=_OUTPUT, most=_OUTPUT_LINES),
        *asked.notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _head(answer: Calls) -> str:
    name = short_name(answer.function)
    shown = len(answer.lives)
    seen = f"{name} was called {counted(answer.seen, 'time')}"
    seen += f" in {answer.processes} processes" if answer.processes > 1 else ""
    if not answer.seen:
        seen = f"{counted(shown, 'call')} of {name}"
    elif not shown:
        seen += "; no such call is among them"
    elif shown < answer.seen:
        seen += f", {shown} told line by line"
    return f"calls: {seen}; {recorded.ended(answer.run)}"


def _signature(one: LifeView) -> str:
    given = ", ".join(recorded.value(value) for value in one.arguments)
    said = f"#{one.number} {short_name(one.function)}({shorten(given, 3 * _VALUE)})"
    if one.error is not None:
        said += " closed" if recorded.is_closing(one.error) else " raised "
        said += "" if recorded.is_closing(one.error) else shorten(one.error, _VALUE)
        said += f" at line {one.error_line}" if one.error_line else ""
    elif not one.has_ended:
        said += " had not ended"
    elif one.value is not None:
        said += f" → {recorded.cut(one.value, _VALUE)}" if one.value else " returned"
    return said


def _life(one: LifeView, names: Mapping[str, str]) -> list[Section]:
    where = f" {names[one.file]}:{one.line}" if one.file else ""
    head = f"{_signature(one)}{where}, {recorded.time(one.took_ms)}"
    if one.passed:
        head += f", {counted(one.passed, 'line')} passed"
    if one.thread > 1:
        head += f", thread {one.thread}"
    if one.process is not None:
        head += f", process {one.process}"
    more = [f"  also called {recorded.row(row)}" for row in one.counted]
    return [
        fixed(head, _LIFE),
        _items(one.items, one),
        *([_callees(one.callees, one)] if one.callees else []),
        listing(
            [f"  {_decision(two)}" for two in one.decisions],
            lambda cut: f"  … {counted(cut, 'more branch')}",
            rank=_ITEMS,
        ),
        listing(more, lambda cut: f"  … {cut} more", rank=_ITEMS),
    ]


def _callees(rows: Sequence[CallRow], caller: LifeView) -> Section:
    lines = [f"    {indent(row.depth)}{_callee(row, caller)}" for row in rows]
    return listing(["  called:", *lines], lambda cut: f"    … {cut} more", rank=_ITEMS)


def _callee(row: CallRow, caller: LifeView) -> str:
    """Return a call's line, without the object where that is the caller's own."""
    known = [(one.name, one.value) for one in caller.arguments[:1] if one.name in _OBJECT]
    return recorded.row(row, known=known)


def _items(items: Sequence[StepView | RoundsView], caller: LifeView) -> Section:
    """Return the lines of a call; the inner ones are cut first, the last before the first."""
    shown = [_item(one, caller) for one in items]
    order = sorted(range(len(items)), key=lambda at: (items[at].depth, at))

    def lay(kept: int) -> str:
        wanted = sorted(order[:kept])
        lines = [shown[at] for at in wanted]
        cut = len(items) - kept
        note = [f"  … {counted(cut, 'more line')}: --budget 4000, or --when"] if cut else []
        return "\n".join([*lines, *note])

    return Section(lay, count=len(items), rank=_ITEMS, floor=6)


def _item(one: StepView | RoundsView, caller: LifeView) -> str:
    blanks = indent(one.depth + 1)
    if isinstance(one, RoundsView):
        return blanks + _loop(one)
    code = f"{one.line}  {shorten(one.text, _CODE)}"
    changed = recorded.values(one.changes)
    line = f"{blanks}{code}    {changed}" if changed else f"{blanks}{code}"
    below = [f"{blanks}    {indent(row.depth)}{_callee(row, caller)}" for row in one.callees]
    return "\n".join([line, *below])


def _loop(one: RoundsView) -> str:
    if one.is_last:
        return "the last such round:"
    if one.round == 1:
        rest = "" if one.count == one.rounds else f", {one.count} as the first"
        name = f"loop at {one.line}" if one.is_loop else f"back at {one.line}, which is no loop"
        said = f"{name}: {counted(one.rounds, 'round')}{rest}"
    else:
        said = f"loop at {one.line}: {one.count} of {one.rounds} as round {one.round}"
    varies = [f"{short_name(name.name)}={recorded.varied(name)}" for name in one.varies[:_VARIES]]
    if varies:
        said += f"; {' '.join(varies)}"
    return said + (f"; {one.more_shapes} other ways" if one.more_shapes else "")


def _decision(one: DecisionView) -> str:
    taken = ", ".join(f"{_to(line)} x{count}" for line, count in one.taken)
    never = f", never {' or '.join(map(_to, one.never))}" if one.never else ""
    return f"branch {one.line} {shorten(one.text, _CODE)} → {taken}{never}"


def _to(line: int) -> str:
    return str(line) if line else "past it"


def _others(answer: Calls) -> list[Section]:
    if not answer.others:
        return []
    lines = [f"  {_signature(one)}" for one in answer.others]
    missing = max(answer.chosen - len(answer.lives) - len(answer.others), 0)
    return [
        fixed("other calls:", _OTHERS),
        listing(
            lines,
            lambda cut: f"  … {counted(cut, 'more call')}: --nth K shows one",
            missing=missing,
            rank=_OTHERS,
        ),
    ]
