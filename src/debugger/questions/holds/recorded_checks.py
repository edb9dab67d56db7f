"""Checks invariants of a Python program by recording it, and again to narrow a false one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.questions.holds.answer import (
    BreakingStatement,
    CheckedObject,
    FalseCheck,
    Holds,
    Invariant,
    InvariantOutcome,
    OperandChange,
)
from debugger.questions.holds.check_request import CheckedPlace, CheckRequest
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.recordings.source_search import check_exists
from debugger.questions.runner import command_call
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.model import (
    CheckOrder,
    CheckPlace,
    NarrowOrder,
    Recording,
    RecordingNote,
    RecordingOrder,
)
from debugger.recorders.recorded_process import (
    CompletedRun,
    record_run,
    require_recording,
    roots_of,
)

CHECKS_MAX = 1_000_000
_NARROWED_MAX = 3  # further runs
_AGAIN = "debugger holds EXPR --at {} -- CMD"
_FOLLOWED_MAX = 200_000  # lines between two checks
_Record = TypeVar("_Record", bound=Struct)
_Pair = tuple[str, str]
_Site = tuple[str, str, int]  # function, file, line


class _ChecksRecord(Struct):
    """The recorder's counts of one process."""

    visits: int
    true: tuple[int, ...]
    failed: tuple[int, ...]
    errors: tuple[str, ...]
    when_failed: int
    when_error: str
    reached: tuple[int, ...]
    loaded: tuple[bool, ...]
    is_full: bool
    functions: int


class _FalseRecord(Struct):
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


class _ChangeRecord(Struct):
    """The recorder's last change of an invariant from true to false."""

    stack: tuple[_Site, ...]
    before: tuple[_Pair, ...]
    after: tuple[_Pair, ...]
    # There was no value before it.
    is_first_value: bool
    is_other_thread: bool


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


async def check_recorded(
    question: QuestionRun, request: CheckRequest, *, scratch_root: Path
) -> Holds:
    """Run a Python program with the checks, and again for each invariant that became false.

    Raises:
        DebuggerError: LAUNCH_FAILED; NOT_SUPPORTED if no Python of it can be recorded.
    """
    launch = question.target
    assert isinstance(launch, LaunchTarget)
    scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    roots = roots_of(command_call.launch_argv(launch), launch.cwd)
    for place in (*request.places, *request.events):
        if place.spec is not None:
            check_exists(place.asked, place.spec.file, place.spec.function, roots, again=_AGAIN)
    order = _check_order(request)
    ran = await _record(question, launch, order, scratch_root)
    _raise_fault(ran)
    counts = [one for each in ran.recordings if (one := _last_counts(each)) is not None]
    bad = _first_false(ran)
    invariants: list[Invariant] = []
    runs, took_s = 1, ran.took_s
    for number in range(len(request.expressions)):
        known = bad.get(number)
        found = _describe_invariant(request, number, counts, known)
        if known is not None and found.outcome is InvariantOutcome.BROKEN:
            if runs > _NARROWED_MAX:
                why = f"at most {_NARROWED_MAX + 1} runs: ask for this invariant alone"
                found = msgspec.structs.replace(found, why_unknown=why)
            else:
                narrow = _narrow_order(number, known)
                second = msgspec.structs.replace(order, narrow=narrow)
                again = await _record(question, launch, second, scratch_root)
                runs, took_s = runs + 1, took_s + again.took_s
                found = (
                    _add_out_of_time(found, question.patience.seconds)
                    if again.is_timed_out
                    else _add_narrowed(found, known, narrow, _narrowed_record(again))
                )
        invariants.append(found)
    return Holds(
        invariants=tuple(invariants),
        checks=sum(one.visits for one in counts),
        is_full=any(one.is_full for one in counts),
        is_ended=ran.is_limited,
        means="the recorder",
        runs=runs,
        took_s=round(took_s, 1),
        exit_code=ran.status if not ran.is_limited else None,
        timed_out=ran.is_timed_out,
        waited_s=question.patience.seconds,
        unreached=_unreached(request, counts),
        notes=tuple(_notes(ran, counts)),
    )


def _check_order(request: CheckRequest) -> CheckOrder:
    return CheckOrder(
        expressions=request.expressions,
        operands=request.operands,
        places=tuple(map(_to_place, (*request.places, *request.events))),
        when=request.when,
        nth=request.hits.nth or 0,
        first=request.hits.first or 0,
        thread=request.hits.thread or 0,
        known=repr(request.known) if request.has_known else "",
        most=CHECKS_MAX,
    )


def _to_place(one: CheckedPlace) -> CheckPlace:
    if one.spec is None:
        return CheckPlace(one.kind, name=one.pattern, file=one.file)
    spec = one.spec
    name, file, line = spec.function or "", spec.file or "", spec.line or 0
    return CheckPlace(one.kind, name, file, line, one.event, spec.condition or "")


async def _record(
    question: QuestionRun, launch: LaunchTarget, order: CheckOrder, scratch_root: Path
) -> CompletedRun:
    argv = command_call.launch_argv(launch)
    stdin = await command_call.stdin_bytes(launch)
    ran = await record_run(
        argv,
        RecordingOrder(roots=roots_of(argv, launch.cwd), checks=order, ends_run=True),
        cwd=launch.cwd,
        env=launch.env,
        stdin=stdin,
        timeout_s=question.patience.seconds,
        scratch_root=scratch_root,
        interrupted=question.patience.interrupted,
        idle_limits=question.patience.idle_limits,
    )
    require_recording(ran, argv)
    return ran


def _records(recording: Recording, kind: str, shape: type[_Record]) -> Iterator[_Record]:
    for one in recording.events:
        if isinstance(one, RecordingNote) and one.kind == kind:
            yield msgspec.json.decode(one.text, type=shape)


def _raise_fault(ran: CompletedRun) -> None:
    for recording in ran.recordings:
        for one in recording.events:
            if isinstance(one, RecordingNote) and one.kind in {"fault", "refused"}:
                raise DebuggerError(ErrorCode.INTERNAL, f"the recorder failed: {one.text}")


def _last_counts(recording: Recording) -> _ChecksRecord | None:
    found = list(_records(recording, "checks", _ChecksRecord))
    return found[-1] if found else None


def _first_false(ran: CompletedRun) -> dict[int, _FalseRecord]:
    found: dict[int, _FalseRecord] = {}
    for recording in ran.recordings:
        for one in _records(recording, "false", _FalseRecord):
            found.setdefault(one.expression, one)
    return found


def _narrowed_record(ran: CompletedRun) -> _NarrowedRecord | None:
    found = [one for each in ran.recordings for one in _records(each, "narrowed", _NarrowedRecord)]
    return next((one for one in found if one.is_reached), found[0] if found else None)


def _describe_invariant(
    request: CheckRequest,
    number: int,
    counts: Sequence[_ChecksRecord],
    bad: _FalseRecord | None,
) -> Invariant:
    true = sum(one.true[number] for one in counts)
    failed = sum(one.failed[number] for one in counts)
    outcome = InvariantOutcome.HELD if true else InvariantOutcome.NOT_EVALUATED
    if bad is not None:
        is_broken = bool(bad.any_good)
        outcome = InvariantOutcome.BROKEN if is_broken else InvariantOutcome.FALSE_FROM_START
    return Invariant(
        expression=request.expressions[number],
        outcome=outcome,
        true=max(true, bad.true) if bad is not None else true,
        failed=failed,
        error=next((one.errors[number] for one in counts if one.errors[number]), None),
        first_false=_false_check(bad) if bad is not None else None,
        objects=tuple(
            CheckedObject(
                name,
                kind,
                ordinal,
                FrameView(0, function, file, line) if file else None,
            )
            for name, kind, ordinal, file, line, function in (bad.objects if bad else ())
        ),
    )


def _false_check(bad: _FalseRecord) -> FalseCheck:
    return FalseCheck(
        kind=bad.kind,
        ordinal=bad.ordinal,
        frame=FrameView(0, bad.function, bad.file, bad.line),
        callers=_frames(bad.stack[1:]),
        values=tuple(OperandChange(name, None, text) for name, text in bad.values),
    )


def _frames(stack: Sequence[_Site]) -> tuple[FrameView, ...]:
    return tuple(
        FrameView(index, function, file, line)
        for index, (function, file, line) in enumerate(stack, 1)
    )


def _narrow_order(number: int, bad: _FalseRecord) -> NarrowOrder:
    """Return the window: from the last good check of the same objects, or from construction."""
    if not bad.good and bad.objects:
        name, kind, ordinal, *_ = bad.objects[0]
        return NarrowOrder(number, 0, bad.visit, name, kind, ordinal, _FOLLOWED_MAX)
    return NarrowOrder(number, bad.good or bad.any_good, bad.visit, steps=_FOLLOWED_MAX)


def _add_out_of_time(one: Invariant, seconds: float) -> Invariant:
    """Say that the second run, which is slower as it traces lines, did not end in time."""
    why = f"the second run took longer than {seconds:g} s: --timeout {3 * seconds:g} may find it"
    return msgspec.structs.replace(one, why_unknown=why)


def _add_narrowed(
    one: Invariant, bad: _FalseRecord, narrow: NarrowOrder, found: _NarrowedRecord | None
) -> Invariant:
    """Add the statement of the second run, or why it is not known."""
    if found is None or not found.is_reached:
        why = "the second run did not come to this check: the program does not do the same twice"
        return msgspec.structs.replace(one, why_unknown=why)
    if found.is_cut:
        why = f"more than {_FOLLOWED_MAX:,} lines ran between the last good check and this one"
        return msgspec.structs.replace(one, why_unknown=why)
    change = found.change
    if change is None or not found.is_false or not change.stack:
        return msgspec.structs.replace(one, why_unknown=_why_unseen(found))
    function, file, line = change.stack[0]
    before = dict(change.before)
    statement = BreakingStatement(
        frame=FrameView(0, function, file, line),
        text=line_text(file, line),
        callers=_frames(change.stack[1:]),
        operands=tuple(OperandChange(name, before.get(name), text) for name, text in change.after),
    )
    return msgspec.structs.replace(
        one, made_false_by=statement, notes=tuple(_change_notes(found, change, bad, narrow))
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
    found: _NarrowedRecord, change: _ChangeRecord, bad: _FalseRecord, narrow: NarrowOrder
) -> Iterator[str]:
    if change.is_first_value:
        yield "it was never seen true of this object: this is where it could first be evaluated"
    if change.is_other_thread:
        yield "another thread ran just before: the statement may be one of that thread"
    if found.changes > 1:
        yield f"since the last good check it became false {found.changes:,} times; this is the last"
    if found.visit != narrow.end or dict(found.at) != dict(bad.values):
        yield "the second run differs: its check was another one, or had other values"


def _unreached(request: CheckRequest, counts: Sequence[_ChecksRecord]) -> tuple[str, ...]:
    return tuple(
        place.asked
        for number, place in enumerate((*request.places, *request.events))
        if not any(one.reached[number] for one in counts)
    )


def _notes(ran: CompletedRun, counts: Sequence[_ChecksRecord]) -> Iterator[str]:
    failed = sum(one.when_failed for one in counts)
    if failed:
        error = next(one.when_error for one in counts if one.when_error)
        yield f"--when could not be evaluated at {failed:,} checks: {error}"
    if len(ran.recordings) > 1:
        yield f"the checks of {len(ran.recordings)} processes together: each numbers its own"
