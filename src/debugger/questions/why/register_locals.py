"""Follows a value that lies in a register, as optimised code has it, by the source's assignments.

No watchpoint sees a register. What DWARF tells of a parameter (its value at the function's entry,
section 2.5.1.7) gdb has read already; of a local the lines that assign to it are recorded. Each
link is inferred: optimised code may compute a value elsewhere than the line says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from debugger.questions.why import run_planning, statement_origin, value_lines
from debugger.questions.why.answer import ChainEnd, LinkCertainty
from debugger.questions.why.native_chain import NativeChain
from debugger.questions.why.native_runs import NativeRuns
from debugger.questions.why.native_sites import NativeFunction
from debugger.questions.why.native_steps import NextStep, ReachedEnd, ValuePosition
from debugger.questions.why.statement_origin import OriginKind
from debugger.questions.why.traced_run import LinePlan, TraceEvent, TraceFrame, TraceValue
from debugger.questions.why.why_request import WhyRequest
from debugger.session import source_files

_LINES_MAX = 12  # lines that one run records
_IN_REGISTER = (
    "{} lies in a register (optimised code), which no watchpoint sees, and {}: build with -O0, or "
    "ask for a value in memory"
)


def assigning_lines(lines: Sequence[str], span: tuple[int, int], name: str) -> tuple[int, ...]:
    """Return the lines of a function's body that give a local its value."""
    word = re.escape(name)
    # `int x{3}` and `Item x(3)` of C++ assign, too.
    declared = re.compile(rf"^\s*(?:[\w:<>,*&]+\s+)+[*&]*{word}\s*[{{(]")
    found = []
    for number in range(span[0], min(span[1], len(lines)) + 1):
        text = value_lines.without_comment(lines[number - 1])
        is_head = number == span[0] and text.rstrip().endswith((")", "{", ","))
        is_given = statement_origin.is_assigned(name, text) or declared.match(text)
        is_bound = re.match(rf"\s*let\b[^=]*\b{word}\b[^=]*=", text)
        if not is_head and (is_given or is_bound):
            found.append(number)
    return tuple(found)


def assignments_on_line(text: str, name: str) -> int:
    """Count the assignments to a local on one line: a loop's head has two."""
    word = re.escape(name)
    pattern = rf"(?<![\w.>]){word}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*{word}\b"
    return len(re.findall(rf"{pattern}|(?<![\w.>]){word}\s*(?:\+\+|--)", text))


async def follow_register(
    position: ValuePosition, runs: NativeRuns, chain: NativeChain, request: WhyRequest
) -> NextStep | None:
    """Return what comes next for a local in a register; None if a run did not show the same."""
    name = position.expression
    function = runs.sources.function_of(position.frame)
    lines = source_files.read_source(position.frame.file or "") or ()
    if function is None or not name.isidentifier():
        return _end(name, "it is no local of a function whose source is known")
    numbers = assigning_lines(lines, (function.head, function.last), name)
    if not numbers:
        return _end(name, f"no line of {function.name} assigns to it")
    if len(numbers) == 1 and assignments_on_line(lines[numbers[0] - 1], name) > 1:
        return _end(name, f"line {numbers[0]} assigns to it in two ways")
    if not runs.keys_of_lines(function.file, numbers):
        if not runs.has_left():
            return _end(name, f"{runs.describe_bound()} (line {_list(numbers)} assigns to it)")
        if position.is_ahead and position.event is not None:
            runs.mark_event(position.event)
        result = await runs.run(
            lines=_plans(position.frame, function, lines, numbers, runs),
            entries=(run_planning.entry_of(position.frame),),
            expression=request.expression if not runs.end.key else "",
            frame=request.frame,
        )
        if not result.reached:
            return None
    return _follow_line(position, runs, chain, function, numbers)


def _plans(
    frame: TraceFrame,
    function: NativeFunction,
    lines: Sequence[str],
    numbers: Sequence[int],
    runs: NativeRuns,
) -> list[LinePlan]:
    """Return the plans of the lines that assign to a local, and to the others in registers."""
    others = [name for name, one in frame.vars.items() if one.is_register and name.isidentifier()]
    found = list(numbers)
    for name in others:
        found += assigning_lines(lines, (function.head, function.last), name)
    chosen = list(dict.fromkeys(found))[:_LINES_MAX]
    return [LinePlan(runs.new_key("l"), f"{function.file}:{one}") for one in chosen]


def _follow_line(
    position: ValuePosition,
    runs: NativeRuns,
    chain: NativeChain,
    function: NativeFunction,
    numbers: Sequence[int],
) -> NextStep:
    name, frame = position.expression, position.frame
    keys = runs.keys_of_lines(function.file, numbers)
    last = runs.last
    # Of a line without code the breakpoint is at another one.
    moved = set(last.moved) if last is not None else set()
    events = last.events if last is not None else ()
    ran = [one for one in events if one.key in keys and one.key not in moved and one.frames]
    before = runs.sequence_of(position.event)
    least = last.entries.get(str(frame.cfa), 0) if last is not None else 0
    own = sorted(
        (
            one
            for one in ran
            if one.frames[0].cfa == frame.cfa
            and (one.sequence > least or _is_at_entry(one, least))
            and (before is None or one.sequence < before)
        ),
        key=lambda one: one.sequence,
    )
    # The line of the position itself has not assigned yet.
    if own and own[-1].frames[0].line == frame.line and not position.is_ahead:
        own.pop()
    if not own:
        if len(numbers) == 1 and numbers[0] != frame.line:
            return _follow_source(position, chain, function, numbers[0])
        return _end(name, f"no line that assigns to it ({_list(numbers)}) was seen to run before")
    if last is not None and keys.keys() & set(last.hot):
        return _end(name, f"line {_list(numbers)} ran too often")
    chosen = own[-1]
    if moved & keys.keys() and not _gives_value(chosen, position):
        return _end(name, f"which of the lines {_list(numbers)} assigned to it last is not known")
    return chain.explain_line(chosen, position, name, LinkCertainty.INFERRED)


def _is_at_entry(event: TraceEvent, entered: int) -> bool:
    """Return whether a line begins with its function, whose entry was noted just behind it."""
    return event.sequence == entered - 1 and event.frames[0].pc == event.frames[0].entry


def _follow_source(
    position: ValuePosition, chain: NativeChain, function: NativeFunction, number: int
) -> NextStep:
    """Follow the only line that assigns to a local, which has no code of its own.

    Of its operands those are known that nothing else assigns to.
    """
    lines = source_files.read_source(function.file) or ()
    span = (function.head, function.last)
    known = {
        name: one
        for name, one in position.frame.vars.items()
        if name.isidentifier()
        and len(assigning_lines(lines, span, name)) <= (name not in position.frame.args)
    }
    statement = statement_origin.short_statement(lines, number)
    frame = msgspec.structs.replace(position.frame, line=number, statement=statement, vars=known)
    event = TraceEvent("", 0, 0, (frame, *position.frames[position.index + 1 :]))
    step = chain.explain_line(event, position, position.expression, LinkCertainty.INFERRED)
    chain.computed = None
    return _at_moment(step, position)


def _at_moment(step: NextStep, position: ValuePosition) -> NextStep:
    """Return a step from the moment of a position, instead of that of a line that was not seen."""
    if isinstance(step, ReachedEnd):
        return step
    if isinstance(step, ValuePosition):
        return msgspec.structs.replace(
            step, event=position.event, is_ahead=position.is_ahead, until=position.until
        )
    inner = _at_moment(step.position, position)
    assert isinstance(inner, ValuePosition)
    return msgspec.structs.replace(step, position=inner)


def _gives_value(event: TraceEvent, position: ValuePosition) -> bool:
    """Return whether a line's right side is seen to have the value of a position."""
    frame = event.frames[0]
    origin = statement_origin.origin_of_assignment(frame.statement, position.expression)
    if origin.kind is OriginKind.CONSTANT:
        return origin.text == position.value.text
    value: TraceValue | None = frame.vars.get(origin.text)
    return value is not None and value.is_equal(position.value)


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _end(name: str, reason: str) -> ReachedEnd:
    return ReachedEnd(ChainEnd.NOT_FOLLOWED, _IN_REGISTER.format(name, reason))
