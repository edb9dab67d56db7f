"""Formats the checks of invariants: counts first, then the statement that made one false."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from debugger.model.answers.frames import FrameView
from debugger.output.location_text import (
    base_name,
    format_chain,
    format_count,
    in_stack,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.holds.answer import (
    BreakingStatement,
    CheckedObject,
    EarlierCondition,
    FalseCheck,
    Holds,
    Invariant,
    InvariantOutcome,
    OperandChange,
)
from debugger.questions.recordings import run_text

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS = range(3)
_VALUE = 60
_ERROR = 120
_TEXT = 120
_CALLERS = 3
_CONTEXT = 12  # characters before a difference
_KINDS = {"entry": "the entry of", "return": "the return of", "line": "a line of"}


def format_holds(answer: Holds, page: RenderPage) -> list[TextSection]:
    """Build the sections about the invariants."""
    del page
    return [
        *(
            fixed_section("\n".join(_invariant_lines(one, answer)), _HEAD)
            for one in answer.invariants
        ),
        fixed_section(_format_facts(answer), _FACTS),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _invariant_lines(one: Invariant, answer: Holds) -> Iterator[str]:
    yield f"holds: {shorten_value(one.expression, _TEXT)}: {_verdict(one, answer)}"
    if one.failed:
        yield f"  not evaluated at {format_count(one.failed, 'check')}: {_short(one.error)}"
    if one.made_false_by is not None:
        yield _breaking_line(one.made_false_by)
    elif one.why_unknown:
        yield f"  the statement that made it false is not known: {one.why_unknown}"
    for each in one.decided_by:
        yield _deciding_line(each)
    if one.between:
        yield f"  between the checks: {_operands(one.between)}"
    if one.first_false is not None:
        if one.made_false_by is None and one.first_false.values:
            yield f"  there: {_operands(one.first_false.values)}"
        yield from _object_lines(one.objects, one.made_false_by, one.first_false)
    for note in one.notes:
        yield f"  {note}"


def _verdict(one: Invariant, answer: Holds) -> str:
    bad = one.first_false
    if one.outcome is InvariantOutcome.NOT_EVALUATED:
        if one.failed:
            return "never evaluated: it failed at every check"
        missed = ", ".join(answer.unreached)
        return "never evaluated" + (f": {missed} not reached" if missed else "")
    if bad is None:
        times = f"true in all {one.true:,} checks" if one.true != 1 else "true in its one check"
        if answer.is_full:
            return f"true in the {one.true:,} checks made; the run had more"
        missed = f"; {', '.join(answer.unreached)} not reached" if answer.unreached else ""
        return times + (", of the time that it ran" if answer.timed_out else "") + missed
    if one.outcome is InvariantOutcome.FALSE_FROM_START:
        return f"false from the beginning: at its first check, {_check_place(bad)}"
    times = "once" if one.true == 1 else f"{one.true:,} times"
    return f"true {times}, first false at {_check_place(bad)}"


def _check_place(bad: FalseCheck) -> str:
    where = f"{base_name(bad.frame.file or '')}:{bad.frame.line}" if bad.frame.file else ""
    if bad.kind == "line":
        function = f" in {bad.frame.function}" if bad.frame.function else ""
        return f"{where} #{bad.ordinal:,}{function}"
    where = f" ({where})" if where else ""
    return f"{_KINDS.get(bad.kind, bad.kind)} {bad.frame.function} #{bad.ordinal:,}{where}"


def _breaking_line(one: BreakingStatement) -> str:
    where = f"{base_name(one.frame.file or '')}:{one.frame.line}"
    text = f" {shorten_value(one.text, _TEXT)}" if one.text else ""
    values = f"  [{_operands(one.operands)}]" if one.operands else ""
    return f"  made false by {where}{text}{values}"


def _deciding_line(one: EarlierCondition) -> str:
    first, last = one.frame.line or 0, one.last_line
    lines = f"{first}-{last}" if last > first else f"{first}"
    where = f"{base_name(one.frame.file or '')}:{lines} in {one.frame.function}"
    return f"  decided by {where}: {one.text}"


def _operands(operands: Sequence[OperandChange]) -> str:
    return ", ".join(_operand(one) for one in operands)


def _operand(one: OperandChange) -> str:
    after = shorten_value(one.after, _VALUE) if one.after is not None else "?"
    if one.before is None or one.before == one.after:
        return f"{one.expression}={after}"
    before, after = _cut_common_start(one.before, one.after or "?")
    return f"{one.expression} {shorten_value(before, _VALUE)} → {shorten_value(after, _VALUE)}"


def _cut_common_start(before: str, after: str) -> tuple[str, str]:
    """Cut what two long values have in common, so that their difference is shown."""
    if max(len(before), len(after)) <= _VALUE:
        return before, after
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    start = max(0, same - _CONTEXT)
    mark = "…" if start else ""
    return mark + before[start:], mark + after[start:]


def _object_lines(
    objects: Sequence[CheckedObject], breaking: BreakingStatement | None, bad: FalseCheck
) -> Iterator[str]:
    for one in objects:
        made = ""
        if one.made is not None:
            by = f" by {one.made.function}" if one.made.function else ""
            made = f", made at {base_name(one.made.file or '')}:{one.made.line}{by}"
        yield f"  {one.name}: #{one.ordinal:,} of {one.type}{made}"
    if breaking is not None:
        yield f"  in {_chain(breaking.frame, breaking.callers)}"
        if bad.callers and not _are_one_call(breaking, bad):
            yield f"  the check: {_chain(bad.frame, bad.callers)}"
    elif bad.callers:
        yield f"  called from {_chain(bad.callers[0], bad.callers[1:])}"


def _are_one_call(breaking: BreakingStatement, bad: FalseCheck) -> bool:
    """Return whether the statement and the check have the same function and callers."""
    one, other = ([two.function for two in chain] for chain in (breaking.callers, bad.callers))
    return breaking.frame.function == bad.frame.function and one == other


def _chain(frame: FrameView, callers: Sequence[FrameView]) -> str:
    chain = format_chain([frame, *callers[:_CALLERS]])
    return f"{in_stack(frame)}{chain.removeprefix(in_stack(frame))}"


def _short(error: str | None) -> str:
    return shorten_value(error or "", _ERROR)


def _format_facts(answer: Holds) -> str:
    texts = [format_count(answer.checks, "check"), f"by {answer.means}"]
    if answer.adapter and answer.adapter != answer.means:
        texts[-1] += f" ({answer.adapter})"
    texts.append(f"{format_count(answer.runs, 'run')}, {answer.took_s:.1f} s")
    if answer.is_ended:
        texts.append("the run was ended there")
    elif answer.timed_out:
        texts.append(f"ended after {answer.waited_s or 0:g} s: --timeout S gives it longer")
    elif answer.exit_signal:
        texts.append(f"the program ended with {answer.exit_signal}")
    elif answer.exit_code:
        texts.append(f"the program ended with status {answer.exit_code}")
    return "; ".join(texts)
