"""Checks invariants of a Python program by recording it, and again to narrow a false one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.location import is_pattern
from debugger.output.location_text import format_count
from debugger.questions.holds.answer import (
    CheckedObject,
    FalseCheck,
    Holds,
    Invariant,
    InvariantOutcome,
    OperandChange,
)
from debugger.questions.holds.check_request import CheckedPlace, CheckRequest
from debugger.questions.holds.recorded_narrowing import (
    FalseRecord,
    decode_records,
    frames_of,
    narrow_recorded,
)
from debugger.questions.recordings.source_search import (
    check_exists,
    may_be_generated,
    search_sources,
)
from debugger.questions.runner import command_call
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.model import (
    CheckOrder,
    CheckPlace,
    FunctionPlace,
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
from debugger.sources.function_names import split_name

CHECKS_MAX = 1_000_000
_NARROWED_MAX = 3  # further runs
_AGAIN = "debugger holds EXPR --{} {{}} -- CMD"


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
    # Sources are read, which takes long in a large project.
    order = await asyncio.to_thread(_check_order, request, roots)
    record = partial(_record, question, launch, scratch_root)
    ran = await record(order)
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
                again = await narrow_recorded(
                    found, known, order, record, waited_s=question.patience.seconds
                )
                found, runs, took_s = again.invariant, runs + again.runs, took_s + again.took_s
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
        # Ctrl-C ends the wait earlier.
        waited_s=min(question.patience.seconds, round(ran.took_s, 1)),
        unreached=_unreached(request, counts),
        notes=tuple(_notes(ran, counts)),
    )


def _check_order(request: CheckRequest, roots: Sequence[str]) -> CheckOrder:
    return CheckOrder(
        expressions=request.expressions,
        operands=request.operands,
        places=tuple(_to_place(one, roots) for one in (*request.places, *request.events)),
        when=request.when,
        nth=request.hits.nth or 0,
        first=request.hits.first or 0,
        thread=request.hits.thread or 0,
        known=repr(request.known) if request.has_known else "",
        most=CHECKS_MAX,
    )


def _to_place(one: CheckedPlace, roots: Sequence[str]) -> CheckPlace:
    """Return a place for the recorder, which knows a function's name and its file.

    Raises:
        DebuggerError: NOT_FOUND for what the sources do not have, while a similar name is there.
    """
    spec = one.spec
    name, file = (one.pattern, one.file) if spec is None else (spec.function, spec.file)
    check_exists(one.asked, file or None, name or None, roots, again=_AGAIN.format(one.kind))
    is_anywhere = False
    if name and not file and not is_pattern(name):
        # `shop.total` of the module shop.
        found = search_sources(FunctionPlace(name=name), roots, finds_near=False).found
        is_anywhere = not found or may_be_generated(name)
        of_modules = {(each.name, each.file) for each in found}
        if len(of_modules) == 1 and split_name(found[0].name)[-1] != name:
            name, file = found[0].name, found[0].file
    if spec is None:
        return CheckPlace(one.kind, name or "", file or "", is_anywhere=is_anywhere)
    line, condition = spec.line or 0, spec.condition or ""
    return CheckPlace(one.kind, name or "", file or "", line, one.event, condition, is_anywhere)


async def _record(
    question: QuestionRun, launch: LaunchTarget, scratch_root: Path, order: CheckOrder
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


def _raise_fault(ran: CompletedRun) -> None:
    for recording in ran.recordings:
        for one in recording.events:
            if isinstance(one, RecordingNote) and one.kind in {"fault", "refused"}:
                raise DebuggerError(ErrorCode.INTERNAL, f"the recorder failed: {one.text}")


def _last_counts(recording: Recording) -> _ChecksRecord | None:
    found = list(decode_records(recording, "checks", _ChecksRecord))
    return found[-1] if found else None


def _first_false(ran: CompletedRun) -> dict[int, FalseRecord]:
    found: dict[int, FalseRecord] = {}
    for recording in ran.recordings:
        for one in decode_records(recording, "false", FalseRecord):
            found.setdefault(one.expression, one)
    return found


def _describe_invariant(
    request: CheckRequest,
    number: int,
    counts: Sequence[_ChecksRecord],
    bad: FalseRecord | None,
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


def _false_check(bad: FalseRecord) -> FalseCheck:
    return FalseCheck(
        kind=bad.kind,
        ordinal=bad.ordinal,
        frame=FrameView(0, bad.function, bad.file, bad.line),
        callers=frames_of(bad.stack[1:]),
        values=tuple(OperandChange(name, None, text) for name, text in bad.values),
    )


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
        yield f"--when could not be evaluated at {format_count(failed, 'check')}: {error}"
    if len(ran.recordings) > 1:
        yield f"the checks of {len(ran.recordings)} processes together: each numbers its own"
