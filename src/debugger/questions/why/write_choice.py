"""Decides which write of a run made a value: one of the same call, seen or not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from debugger.questions.why import (
    native_values,
    run_planning,
    statement_origin,
    struct_parts,
)
from debugger.questions.why.container_items import ItemStore
from debugger.questions.why.native_runs import NativeRuns
from debugger.questions.why.native_sites import NativeFunction
from debugger.questions.why.native_steps import ReturnTarget, ValuePosition
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceResult
from debugger.sources.function_names import last_part

_STACK = 8 << 20  # bytes
_NUMBERS = frozenset({"int", "unsigned", "pointer", "float"})
_CONDITION = re.compile(r"(?:\}?\s*else\s+)?(?:if|while|switch|match)\b|case\b|default\b")
_LEVELS = 24  # frames that are read of a stack
_CALLS_BETWEEN = 3  # frames from a function to the one that called it by a container's own


def is_unseen(
    position: ValuePosition,
    result: TraceResult,
    key: str,
    event: TraceEvent | None,
    before: int | None,
) -> bool:
    """Return whether memory changed without a write of the program: the system wrote it."""
    if before is not None and event is not None:
        return not is_of_value(position, event)
    value = position.value
    if before is not None and value.kind in _NUMBERS and owner_of(position) is None:
        # What is not mapped yet comes as zeros.
        begun = result.initial.get(key) or "00" * value.size
        least = min(len(begun), len(value.bytes))
        is_other = begun[:least] != value.bytes[:least]
        return bool(value.number) and value.bits is None and is_other
    now = result.final.get(key)
    was = event.new if event is not None else result.initial.get(key)
    return bool(now) and bool(was) and now != was


def owner_of(position: ValuePosition) -> TraceFrame | None:
    """Return the frame whose part of the stack holds a position's memory; None elsewhere."""
    for frame in position.frames[position.index :]:
        if frame.cfa and 0 < frame.cfa - position.value.address < _STACK:
            return frame
    return None


def is_of_frame(position: ValuePosition, event: TraceEvent, result: TraceResult) -> bool:
    """Return whether a write of the stack was made during the call that the memory belongs to.

    Other calls have had their frames there before. A stack that was read in part tells nothing.
    """
    owner = owner_of(position)
    if owner is None:
        return True
    is_there = any((one.cfa, one.function) == (owner.cfa, owner.function) for one in event.frames)
    if not is_there and len(event.frames) < _LEVELS:
        return False
    return event.sequence > result.entries.get(str(owner.cfa), 0)


def is_of_value(position: ValuePosition, event: TraceEvent) -> bool:
    """Return whether a write left the value: else the memory is not that of the copied field.

    Or something else wrote it since, that no watchpoint sees.
    """
    value = position.value
    if not event.new or not value.bytes or value.bits is not None:
        return True
    if position.part is None and value.kind not in _NUMBERS:
        return True
    least = min(len(event.new), len(position.value.bytes))
    return event.new[:least] == position.value.bytes[:least]


def may_hide_store(
    position: ValuePosition, key: str, event: TraceEvent | None, result: TraceResult
) -> bool:
    """Return whether memory seems to be unset: its last change is none, or not the value's own.

    It is an allocator's, or one of an earlier call's frame. A store that changed nothing is unseen.
    """
    if event is None:
        initial = result.initial.get(key, "")
        is_constant = bool(initial.strip("0")) and initial == result.final.get(key, initial)
        return not is_constant
    if event.deep and native_values.plain_call(event.library_call) == "operator[]":
        return True  # a map's own zero for a new key
    if event.deep and native_values.is_allocation(event):
        return native_values.plain_call(event.library_call) != "calloc"
    is_passed = position.expression in position.frame.args
    return event.deep and not is_passed and not is_of_frame(position, event, result)


def may_be_cleared_twice(position: ValuePosition, runs: NativeRuns) -> bool:
    """Return whether memory that is zero may have been set to zero again, which is no change.

    So is a field of a cleared struct that a function's result, as a null pointer, was stored in.
    """
    value = position.value
    if value.number or value.kind not in _NUMBERS or value.bits is not None or not value.bytes:
        return False
    found = _find_local(position, runs)
    # All lines that assign to it are recorded, or it is assigned to once.
    return found is None or runs.sources.is_shared_local(found[1], found[2])


def same_value_write(
    position: ValuePosition,
    result: TraceResult,
    event: TraceEvent | None,
    before: int | None,
) -> TraceEvent | None:
    """Return an assignment to a local that ran, and that changed nothing: no write is seen."""
    frame = position.frame
    if not native_values.is_local(position.expression, position.value, frame):
        return None
    entry = result.entries.get(str(frame.cfa), 0)
    least = max(entry, event.sequence if event is not None else 0)
    found = [
        one
        for one in result.events
        if one.key.startswith("l")
        and one.frames
        and one.frames[0].cfa == frame.cfa
        and one.sequence > least
        and _begins_with_write(one.frames[0].statement, position.expression)
        and _may_give(one.frames[0], position)
        and (before is None or one.sequence < before)
    ]
    # The location's own line has yet to run.
    if found and position.event is None and found[-1].frames[0].pc == frame.pc:
        found.pop()
    if not found or (event is not None and is_of_frame(position, event, result)):
        return None
    return found[-1]


def _may_give(frame: TraceFrame, position: ValuePosition) -> bool:
    """Return whether an assignment may give a value: a number or a local of another one does not.

    `if (n > 5) total = 3;` runs, and may assign nothing: there the value must be known.
    """
    origin = statement_origin.origin_of_assignment(frame.statement, position.expression)
    value = position.value
    content = native_values.number_bytes(origin.text, value.kind, value.size)
    given = frame.vars.get(origin.text)
    if given is not None and (given.kind, given.size) == (value.kind, value.size):
        content = given.bytes or None
    if content is None or not value.bytes or value.kind not in _NUMBERS:
        return _CONDITION.match(frame.statement) is None
    return content == value.bytes


def _begins_with_write(statement: str, expression: str) -> bool:
    """Test whether the first part of a `for`, at which a breakpoint of its line is, writes a local.

    `for (int i = 0; i < 3; i++) list = push(list, i);` writes `list` later.
    """
    head = re.match(r"for\s*\(([^;]*);", statement)
    return head is None or re.search(rf"\b{re.escape(expression)}\s*=", head[1]) is not None


def is_loop_begin(position: ValuePosition, event: TraceEvent, result: TraceResult) -> bool:
    """Return whether a write at the line of a `for` is its first part, and no later step.

    It is the first one in its call that writes the value of that part.
    """
    own = event.own
    head = re.match(r"for\s*\(([^;]*);", own.statement) if own is not None else None
    if own is None or head is None or event.new is None:
        return False
    origin = statement_origin.origin_of_assignment(head[1], position.expression)
    begin = own.vars.get(origin.text)
    written = int.from_bytes(bytes.fromhex(event.new), "little")
    if re.fullmatch(r"\d+", origin.text):
        is_value = written == int(origin.text)
    else:
        is_value = begin is not None and begin.number == written
    entry = result.entries.get(str(own.cfa), 0)
    earlier = [
        one
        for one in result.events_of(event.key)
        if entry < one.sequence < event.sequence
        and one.own is not None
        and one.own.line == own.line
    ]
    return is_value and not earlier


def find_last_write(result: TraceResult, key: str, before: int | None) -> TraceEvent | None:
    """Return the last change of watched memory before a moment; None is the run's end."""
    events = [one for one in result.events_of(key) if before is None or one.sequence < before]
    return events[-1] if events else None


def find_assignment(position: ValuePosition, runs: NativeRuns) -> tuple[TraceEvent, str] | None:
    """Return the line that ran last of those that alone can have given a local its value.

    None where the source does not show that, or where the last run did not record them all.
    """
    found = _find_local(position, runs)
    if found is None:
        return None
    owner, function, name = found
    last = re.search(r"[.>](\w+)$", position.expression)
    field = position.part.field if position.part is not None else last[1] if last else ""
    numbers = runs.sources.settled_lines(function, name, field)
    event = _last_of_lines(position, runs, function, numbers, owner)
    return (event, name) if event is not None else None


def find_same_write(
    position: ValuePosition, runs: NativeRuns, write: TraceEvent | None
) -> tuple[TraceEvent, str] | None:
    """Return the line of C that assigned to a local after its last change, which it left the same.

    A hardware watchpoint reports no write that changes nothing. None where the source does not show
    all assignments, or where the line has not run to its end.
    """
    found = _find_local(position, runs)
    if found is None:
        return None
    owner, function, name = found
    numbers = runs.sources.assigning_lines(function, name)
    event = _last_of_lines(position, runs, function, numbers, owner)
    if event is None or (write is not None and event.sequence < write.sequence):
        return None
    is_running = event.frames[0].line == owner.line
    return None if is_running else (event, name)


def _find_local(
    position: ValuePosition, runs: NativeRuns
) -> tuple[TraceFrame, NativeFunction, str] | None:
    """Return the frame, the function and the name of the one local in whose memory a value is."""
    owner = owner_of(position)
    function = runs.sources.function_of(owner) if owner is not None else None
    if owner is None or function is None:
        return None
    names = [
        name
        for name, one in owner.vars.items()
        if name.isidentifier() and struct_parts.is_inside(position.value, one)
    ]
    return (owner, function, names[0]) if len(names) == 1 else None


def _last_of_lines(
    position: ValuePosition,
    runs: NativeRuns,
    function: NativeFunction,
    numbers: Sequence[int],
    owner: TraceFrame,
) -> TraceEvent | None:
    """Return the last event of some lines in a call; None if the last run did not record all."""
    result = runs.last
    keys = runs.sites.line_keys(function.file, numbers)
    # Of a line without code of its own the hit is another line's.
    if result is None or not numbers or len(keys) != len(numbers):
        return None
    if keys & {*result.hot, *result.moved}:
        return None
    before = runs.sequence_of(position.event)
    some = [
        one
        for one in result.events
        if one.key in keys and (before is None or one.sequence < before)
    ]
    event = max(some, key=lambda one: one.sequence, default=None)
    found = [one for one in some if one.frames and one.frames[0].cfa == owner.cfa]
    chosen = max(found, key=lambda one: one.sequence, default=None)
    # Of a hit without its stack it is not known whether it is of the same call.
    is_last = chosen is event or (event is not None and event.deep)
    return chosen if is_last else None


def find_return(target: ReturnTarget, runs: NativeRuns) -> TraceEvent | None:
    """Return the last return of a function to a position's frame, as the last run shows it."""
    result, position = runs.last, target.position
    if result is None:
        return None
    frame = position.frame
    keys = {key for key, one in runs.returned.items() if one.function == target.function}
    searched = {key for key in keys if runs.returned[key].calls}
    sites = runs.sites.return_keys(target.function) - set(result.hot)
    before = runs.sequence_of(position.until if position.is_ahead else position.event)
    least = result.entries.get(str(frame.cfa), 0)
    if position.is_ahead:
        least = runs.sequence_of(position.event) or least
    events = [
        one
        for one in result.events
        if one.sequence > least
        and (before is None or one.sequence < before)
        and one.key in keys | sites
        and ((one.key in keys and not position.is_ahead) or _is_of_call(one, position))
        and (one.key not in searched or _is_given(one, target))
    ]
    found = max(events, key=lambda one: one.sequence, default=None)
    return found if found is not None and found.deep else None


def _is_given(event: TraceEvent, target: ReturnTarget) -> bool:
    """Return whether a function that a search has found returned the value to the statement.

    What the statement calls by no name of its own gave it; else the value has to be the same.
    """
    frames, value = event.frames, target.position.value
    if not frames:
        return False
    name = re.escape(last_part(re.sub(r"\(.*", "", frames[0].function)))
    is_direct = len(frames) > 1 and frames[1].cfa == target.position.frame.cfa
    if is_direct and re.search(rf"\b{name}\s*\(", target.position.frame.statement) is None:
        return True
    returned = event.vector if value.kind == "float" else event.value
    return bool(value.number) and _is_value(returned, value.bytes)


def is_by_library(event: TraceEvent, position: ValuePosition) -> bool:
    """Return whether a library's code was between a function and the frame that it returned to."""
    at = next((at for at, one in enumerate(event.frames) if one.cfa == position.frame.cfa), 0)
    return any(one.library for one in event.frames[1:at])


def _is_of_call(event: TraceEvent, position: ValuePosition) -> bool:
    """Return whether a return is to a position's frame, by the statement that had yet to run."""
    if not event.frames:
        return True  # it may be
    frame = position.frame
    between = next(
        (at for at, one in enumerate(event.frames[1:]) if not one.library), len(event.frames)
    )
    callers = event.frames[1 : 1 + max(_CALLS_BETWEEN, between + 1)]
    caller = next((one for one in callers if one.cfa == frame.cfa), None)
    if caller is None or not position.is_ahead:
        return caller is not None
    return caller.line in run_planning.statement_numbers(frame)


def find_store(
    position: ValuePosition, plans: Mapping[str, ItemStore], runs: NativeRuns
) -> tuple[TraceEvent, ItemStore, int] | None:
    """Return the last line before a position that put an equal value into a container.

    Of a call whose result was put in, it is the return with that value.

    Returns:
        The event, the line, and the number of its frame in the event's stack.
    """
    result = runs.last
    before = runs.sequence_of(position.event)
    found: list[tuple[TraceEvent, ItemStore, int]] = []
    for one in result.events if result is not None else ():
        if before is not None and one.sequence >= before:
            continue
        if one.key in plans:
            found.append((one, plans[one.key], 0))
        elif one.value and _is_value(one.value, position.value.bytes):
            found += [
                (one, store, at)
                for store in plans.values()
                for at, frame in enumerate(one.frames[1 : 1 + _CALLS_BETWEEN], 1)
                if (frame.file, frame.line) == (position.frame.file, store.line)
            ]
    return max(found, key=lambda one: one[0].sequence, default=None)


def _is_value(returned: str, value: str) -> bool:
    """Return whether a register's bytes are those of a small value."""
    return 0 < len(value) <= len(returned) and returned.startswith(value)
