"""Runs a probed program to its end, or probes it by a stop at each hit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import Breakpoint
from debugger.model.program import EvaluationPurpose, Frame, StopReason
from debugger.model.state import State
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.runner.short_values import plain_text
from debugger.session.session import Session

_STOPS_MAX = 50  # unrequested stops of a run


class EntryHits(Struct, frozen=True):
    """Counts entries of a location's function, at the first line of the function's body."""

    function: str
    line: int
    is_entered: bool


class ProbeEnd(Struct, frozen=True):
    """The end of a run: its output, its bound locations, and the stops on the way."""

    last: answers.Stop
    output: answers.Output
    took_s: float
    adapter: str
    breakpoints: tuple[Breakpoint, ...] = ()
    stopped: str | None = None
    frame: answers.FrameView | None = None
    failures: Mapping[int, tuple[int, str]] = {}
    entries: Mapping[int, EntryHits] = {}
    # The numbers of the markers that the run reached.
    passed: frozenset[int] = frozenset()
    # The run was ended after the last requested hit.
    is_limited: bool = False
    notes: tuple[str, ...] = ()


async def to_the_end(
    run: RunningQuestion,
    began: float,
    *,
    markers: frozenset[int] = frozenset(),
    is_limited: Callable[[], bool] = lambda: False,
) -> ProbeEnd:
    """Run a program to its end; a signal or exception on the way is noted and passed on.

    `markers` are the numbers of our own breakpoints, each of which stops once; `is_limited` tells
    whether the last requested hit has come, at which the program is ended.

    Raises:
        DebuggerError: ADAPTER_DIED, and what resuming raises.
    """
    stop = await run.wait_first()
    return await run_to_end(run, stop, began, markers=markers, is_limited=is_limited)


async def run_to_end(
    run: RunningQuestion,
    stop: answers.Stop,
    began: float,
    *,
    markers: frozenset[int] = frozenset(),
    is_limited: Callable[[], bool] = lambda: False,
) -> ProbeEnd:
    """Run a program from an unrequested stop to its end."""
    stopped: answers.Stop | None = None
    notes: list[str] = []
    passed: set[int] = set()
    # A program that stops again and again, such as at one signal, must not run the question
    # forever.
    for _ in range(_STOPS_MAX):
        if stop.state != State.STOPPED.value:
            break
        met = markers & {*stop.hit_breakpoints}
        passed |= met
        # Other threads may have come to a marker before it was taken away.
        is_late = bool(passed) and stop.reason == StopReason.BREAKPOINT.value
        is_late = is_late and not stop.hit_breakpoints
        stopped = stop if not met and not is_late else stopped
        try:
            stop = await run.go_on(run.session_of(stop))
        except DebuggerError as error:
            if error.code is ErrorCode.ADAPTER_DIED:
                raise
            notes.append(f"how it ended is not known: {error.message}")
            break
    else:
        if stop.state == State.STOPPED.value:
            notes.append(f"it stopped more than {_STOPS_MAX} times, and was ended there")
    took_s = time.monotonic() - began
    frame = stopped.frame if stopped is not None else None
    # The wait was interrupted because all hits are there.
    has_all = stop.timed_out and is_limited()
    if has_all:
        stop = msgspec.structs.replace(stop, timed_out=False)
    elif stop.timed_out and isinstance(run.session.target, LaunchTarget):
        # Shows where the program was when the time was up.
        where = await run.stop_and_report()
        frame = where.frame if where is not None else frame
    return ProbeEnd(
        last=stop,
        output=run.read_output(),
        took_s=took_s,
        adapter=run.session.adapter,
        breakpoints=tuple(run.session.breakpoints.user_breakpoints()),
        stopped=_end_reason(stopped),
        passed=frozenset(passed),
        is_limited=has_all,
        frame=frame,
        notes=(*run.notes_of(stop), *notes),
    )


async def end_at_limit(run: RunningQuestion, stop: answers.Stop, began: float) -> ProbeEnd:
    """Return the result of a program that is ended at a stop, after the last hit that counts."""
    return ProbeEnd(
        last=stop,
        output=run.read_output(),
        took_s=time.monotonic() - began,
        adapter=run.session.adapter,
        breakpoints=tuple(run.session.breakpoints.user_breakpoints()),
        is_limited=True,
        notes=run.notes_of(stop),
    )


def _end_reason(stop: answers.Stop | None) -> str | None:
    if stop is None:
        return None
    if stop.exception is not None:
        said = f"{stop.exception.type}: {stop.exception.message}"
        return said.removesuffix(": ")
    return stop.signal or stop.description or stop.raw_reason


async def probe_by_stopping(
    question: QuestionRun, points: Sequence[ProbePoint], table: ProbeTable
) -> ProbeEnd:
    """Run a program to its end, or until the time-out, with a stop at each hit.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    specs = tuple(msgspec.structs.replace(one.spec, condition=one.when) for one in points)
    async with question_run.run_question(replace(question, breakpoints=specs)) as run:
        began = time.monotonic()
        stop = await run.wait_first()
        while stop.state == State.STOPPED.value and stop.hit_breakpoints:
            await _take_hit(run, stop, points, table, began)
            if table.is_all_over and table.ends_run and isinstance(question.target, LaunchTarget):
                return await end_at_limit(run, stop, began)
            if table.is_all_over:
                session = run.session_of(stop)
                for number in range(1, len(points) + 1):
                    await _switch_off(session, number)
            stop = await run.go_on(run.session_of(stop))
        return await run_to_end(run, stop, began)


async def _switch_off(session: Session, number: int) -> None:
    await session.run_job(lambda: session.binding.enable(number, on=False))


async def _take_hit(
    run: RunningQuestion,
    stop: answers.Stop,
    points: Sequence[ProbePoint],
    table: ProbeTable,
    began: float,
) -> None:
    session, at_s = run.session_of(stop), time.monotonic() - began
    for number in stop.hit_breakpoints:
        if not 1 <= number <= len(points):
            continue
        cells = [await _evaluate_cell(session, one) for one in points[number - 1].expressions]
        table.take_hit(number - 1, cells, at_s=at_s, thread=stop.thread)


async def _evaluate_cell(session: Session, expression: str) -> ProbeCell:
    async def job() -> ProbeCell:
        frame: Frame | None = session.selection.frame
        try:
            return ProbeCell(
                plain_text(
                    await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
                )
            )
        except DebuggerError as error:
            return ProbeCell(error.message, is_error=True)

    return await session.run_job(job)
