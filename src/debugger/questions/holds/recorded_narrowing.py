"""Narrows a false invariant of a Python program to a statement, by further recorded runs.

The first of them follows the lines between the last good check and the false one. Where the
invariant takes long, some lines are skipped: further runs evaluate it after those alone.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from debugger.model.answers.frames import FrameView
from debugger.questions.holds.answer import BreakingStatement, Invariant, OperandChange
from debugger.questions.holds.deciding_conditions import StackedCall, find_deciding
from debugger.questions.holds.invariant_text import root_names
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.recordings.source_search import read_source
from debugger.recorders.model import CheckOrder, NarrowOrder, Recording, RecordingNote
from debugger.recorders.recorded_process import CompletedRun
from debugger.sources.function_span import parameter_names

_RUNS_MAX = 4  # for one invariant
_SHOWN_MAX = 4  # variables that changed between two checks
_NOT_TWICE = "the second run did not come to this check: the program does not do the same twice"
_Record = TypeVar("_Record", bound=Struct)
_Pair = tuple[str, str]
_RESULT = re.compile(r"\bresult\b")
_Site = tuple[str, str, int]  # function, file, line
RecordRun = Callable[[CheckOrder], Awaitable[CompletedRun]]


class FalseRecord(Struct):
    """The recorder's first false check of an invariant."""

    expression: int
    visit: int
    kind: str
    function: str
    file: str
    line: int
    ordinal: int
    true: int
    failed: int
    good: int
    any_good: int
    values: tuple[_Pair, ...]
    objects: tuple[tuple[str, str, int, str, int, str], ...]
    stack: tuple[_Site, ...]
    thread: int
    # The variables of the check that are numbers, texts, functions or types.
    plain: tuple[_Pair, ...] = ()


class _ChangeRecord(Struct):
    """The recorder's last change of an invariant from true to false."""

    stack: tuple[_Site, ...]
    before: tuple[_Pair, ...]
    after: tuple[_Pair, ...]
    # There was no value before it.
    is_first_value: bool
    is_other_thread: bool
    # Of the stack's frames: the file, the last lines, and the last callee of each line.
    passed: tuple[StackedCall, ...] = ()


class _NarrowedRecord(Struct):
    """The recorder's result of following an invariant between two checks."""

    is_reached: bool
    is_begun: bool
    is_cut: bool
    visit: int
    is_false: bool
    # The check read the same objects as the last good one.
    is_same: bool
    change: _ChangeRecord | None
    changes: int
    steps: int
    threads: int
    at: tuple[_Pair, ...]
    # The steps between which skipped lines made it false; zeros: no line was skipped.
    between: tuple[int, int] = (0, 0)
    plain_before: tuple[_Pair, ...] = ()
    plain_after: tuple[_Pair, ...] = ()


class _BegunRecord(Struct):
    """The recorder's note at the last good check."""

    plain: tuple[_Pair, ...]


def decode_records(recording: Recording, kind: str, shape: type[_Record]) -> Iterator[_Record]:
    """Return the records of one kind that the recorder wrote."""
    for one in recording.events:
        if isinstance(one, RecordingNote) and one.kind == kind:
            yield msgspec.json.decode(one.text, type=shape)


class NarrowedInvariant(Struct, frozen=True):
    """An invariant with the statement that made it false, and the runs that were made for it."""

    invariant: Invariant
    runs: int
    took_s: float


async def narrow_recorded(
    found: Invariant,
    bad: FalseRecord,
    order: CheckOrder,
    record: RecordRun,
    *,
    waited_s: float,
) -> NarrowedInvariant:
    """Run the program again, until one run evaluated the invariant around each suspicious line.

    Raises:
        DebuggerError: What running the program raises.
    """
    narrow = _narrow_order(bad)
    known: _NarrowedRecord | None = None
    runs, took_s = 0, 0.0
    while runs < _RUNS_MAX:
        ran = await record(msgspec.structs.replace(order, narrow=narrow))
        runs, took_s = runs + 1, took_s + ran.took_s
        now = _narrowed_record(ran)
        if ran.is_timed_out or now is None or not now.is_reached:
            why = _NOT_TWICE if not ran.is_timed_out else _out_of_time(waited_s)
            found = msgspec.structs.replace(
                found, why_unknown=why, between=_changed_locals(_begun_locals(ran), bad.plain)
            )
            break
        if known is not None and (now.change is None or not now.is_false):
            break  # the lines between were others than in the run before
        known = now
        if not any(now.between):
            break
        first, last = now.between
        narrow = msgspec.structs.replace(narrow, first_step=first, last_step=last)
    if known is not None:
        found = _add_narrowed(found, bad, narrow, known)
    return NarrowedInvariant(found, runs, took_s)


def _narrow_order(bad: FalseRecord) -> NarrowOrder:
    """Return the window: from the last good check of the same objects, or from construction."""
    if not bad.good and bad.objects:
        name, kind, ordinal, *_ = bad.objects[0]
        return NarrowOrder(bad.expression, 0, bad.visit, name, kind, ordinal)
    return NarrowOrder(bad.expression, bad.good or bad.any_good, bad.visit)


def _narrowed_record(ran: CompletedRun) -> _NarrowedRecord | None:
    found = [
        one for each in ran.recordings for one in decode_records(each, "narrowed", _NarrowedRecord)
    ]
    return next((one for one in found if one.is_reached), found[0] if found else None)


def _begun_locals(ran: CompletedRun) -> tuple[_Pair, ...]:
    found = [one for each in ran.recordings for one in decode_records(each, "begun", _BegunRecord)]
    return found[0].plain if found else ()


def _changed_locals(before: Sequence[_Pair], after: Sequence[_Pair]) -> tuple[OperandChange, ...]:
    """Return the variables of the check that were others at the last good one: a loop's, mostly."""
    known = dict(before)
    changed = [
        OperandChange(name, known[name], text)
        for name, text in after
        if name in known and known[name] != text
    ]
    return tuple(changed[:_SHOWN_MAX])


def _out_of_time(seconds: float) -> str:
    # A further run is slower, as it traces lines.
    return f"the second run took longer than {seconds:g} s: --timeout {3 * seconds:g} may find it"


def _add_narrowed(
    one: Invariant, bad: FalseRecord, narrow: NarrowOrder, found: _NarrowedRecord
) -> Invariant:
    """Add the statement of a further run, or why it is not known."""
    one = msgspec.structs.replace(one, between=_changed_locals(found.plain_before, bad.plain))
    if found.is_cut:
        why = f"more than {narrow.steps:,} lines ran between the last good check and this one"
        return msgspec.structs.replace(one, why_unknown=why)
    change = found.change
    if change is None or not found.is_false or not change.stack:
        statement = _passing_call(one, bad, found) or _return_statement(one, bad, found)
        if statement is not None:
            return msgspec.structs.replace(one, made_false_by=statement)
        return msgspec.structs.replace(one, why_unknown=_why_unseen(found))
    function, file, line = change.stack[0]
    if any(found.between):
        lines = found.between[1] - found.between[0]
        why = f"one of {lines:,} lines, the last of them {file}:{line} in {function}, made it false"
        return msgspec.structs.replace(one, why_unknown=why)
    before = dict(change.before)
    statement = BreakingStatement(
        frame=FrameView(0, function, file, line),
        text=line_text(file, line),
        callers=frames_of(change.stack[1:]),
        operands=tuple(OperandChange(name, before.get(name), text) for name, text in change.after),
    )
    return msgspec.structs.replace(
        one,
        made_false_by=statement,
        decided_by=find_deciding(change.stack, change.passed),
        notes=tuple(_change_notes(found, change, bad, narrow)),
    )


def _passing_call(
    one: Invariant, bad: FalseRecord, found: _NarrowedRecord
) -> BreakingStatement | None:
    """Return the call that passed a parameter with which an invariant is false at the entry."""
    if bad.kind != "entry" or not bad.stack[1:]:
        return None
    values = dict(bad.plain)
    passed = parameter_names(read_source(bad.file), bad.line)
    if not any(name in values and name in passed for name in root_names(one.expression)):
        return None
    return _statement_of(bad.stack[1:], bad, found)


def _return_statement(
    one: Invariant, bad: FalseRecord, found: _NarrowedRecord
) -> BreakingStatement | None:
    """Return the statement that returned a result with which an invariant is false at the exit."""
    if bad.kind != "return" or not bad.stack or not _RESULT.search(one.expression):
        return None
    return _statement_of(bad.stack, bad, found)


def _statement_of(
    stack: Sequence[_Site], bad: FalseRecord, found: _NarrowedRecord
) -> BreakingStatement:
    """Return the statement at the top of a stack, with the changes of the check's values."""
    before = dict(found.plain_before)
    function, file, line = stack[0]
    return BreakingStatement(
        frame=FrameView(0, function, file, line),
        text=line_text(file, line),
        callers=frames_of(stack[1:]),
        operands=tuple(OperandChange(name, before.get(name), text) for name, text in bad.values),
    )


def frames_of(stack: Sequence[_Site]) -> tuple[FrameView, ...]:
    """Return the callers of a stack, numbered from 1."""
    return tuple(
        FrameView(index, function, file, line)
        for index, (function, file, line) in enumerate(stack, 1)
    )


def _why_unseen(found: _NarrowedRecord) -> str:
    if found.changes and not found.is_false:
        return "after it was false, it was true again, and is false only of the values of the check"
    if not found.steps:
        return "the run did not come to the last good check a second time"
    if found.is_same:
        return "no line of the program's own code was seen to change it: a library's may have"
    return "the check reads other objects than the last good one, of which it was never true"


def _change_notes(
    found: _NarrowedRecord, change: _ChangeRecord, bad: FalseRecord, narrow: NarrowOrder
) -> Iterator[str]:
    if change.is_first_value:
        yield "it was never seen true of this object: this is where it could first be evaluated"
    if change.is_other_thread:
        yield "another thread ran just before: the statement may be one of that thread"
    if found.changes > 1:
        yield f"since the last good check it became false {found.changes:,} times; this is the last"
    if found.visit != narrow.end or dict(found.at) != dict(bad.values):
        yield "the second run differs: its check was another one, or had other values"
