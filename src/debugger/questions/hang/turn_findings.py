"""Describes what the turns of a loop show: its exits, and a cycle of its objects. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugger.questions.hang.answer import CycleView, Hang, LoopExitView
from debugger.questions.hang.loop_exits import LoopExit, LoopOutline
from debugger.questions.hang.loop_turns import LoopTurn
from debugger.questions.hang.turn_values import ObservedValue, find_cycle, number_objects

_TURNS_MIN = 3  # of fewer, nothing can be said
_SHOWN = 4  # values in a row
_VALUE = 40


def add_turns(shown: Hang, outline: LoopOutline, turns: Sequence[LoopTurn]) -> Hang:
    """Add the exits of a busy loop, and its cycle of objects, to the answer."""
    if shown.loop is None or len(turns) < _TURNS_MIN:
        return shown
    exits = tuple(_describe_exit(one, turns) for one in outline.exits)
    cycle = _find_cycle(outline, turns)
    loop = msgspec.structs.replace(shown.loop, turns=len(turns), exits=exits, cycle=cycle)
    cause = shown.cause
    if shown.kind == "busy" and cycle is not None:
        how = "stays at one object" if cycle.period == 1 else f"goes round {cycle.period} objects"
        cause = _with_reason(cause, f"never ends: {cycle.name} {how} by {cycle.statement}")
    elif shown.kind == "busy" and exits and " has no condition" in cause:
        one = next((each for each in exits if each.reached), exits[0])
        words = f"false in all {len(turns)} turns" if one.reached else "which is never reached"
        cause = _with_reason(cause, f"never ends: `{one.text}` (line {one.line}) is {words}")
    return msgspec.structs.replace(shown, cause=cause, loop=loop)


def _with_reason(cause: str, reason: str) -> str:
    """Replace what the samples alone say of a loop's condition."""
    head, found, rest = cause.partition("` ")
    if not found:
        return cause
    where = rest.rpartition(", in ")[2] if ", in " in rest else ""
    return f"{head}` {reason}" + (f", in {where}" if where else "")


def _describe_exit(one: LoopExit, turns: Sequence[LoopTurn]) -> LoopExitView:
    if one.is_header:
        seen = [turn.values for turn in turns]
    else:
        seen = [turn.conditions[one.line] for turn in turns if one.line in turn.conditions]
    values = {
        name: _format_row([row[name] for row in seen if name in row])
        for name in one.operands
        if any(name in row for row in seen)
    }
    text = " ".join(f"{name}={row}" for name, row in values.items())
    return LoopExitView(one.line, one.text, len(seen), text, one.is_header)


def _format_row(values: Sequence[ObservedValue]) -> str:
    """Format the values of one name in the order of the turns; the same ones once."""
    texts = number_objects(values)
    kinds = {one.text for one in values if one.identity}
    kind = f"{next(iter(kinds))[:_VALUE]} " if len(kinds) == 1 and len(texts) == len(values) else ""
    if len(set(texts)) == 1:
        return (f"{kind}{texts[0]}" if kind else texts[0][:_VALUE]) + " each time"
    shown = [one[:_VALUE] for one in texts[:_SHOWN]]
    return f"{kind}{', '.join(shown)}" + (", …" if len(texts) > _SHOWN else "")


def _find_cycle(outline: LoopOutline, turns: Sequence[LoopTurn]) -> CycleView | None:
    for step in outline.steps:
        values = [turn.values[step.name] for turn in turns if step.name in turn.values]
        period = find_cycle(values) if len(values) == len(turns) else 0
        if period:
            order = " → ".join(number_objects(values[: period + 1]))
            return CycleView(step.name, period, order, step.line, step.statement, step.link)
    return None
