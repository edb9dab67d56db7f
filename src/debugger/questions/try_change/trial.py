"""Tries a change at a stop, and reports whether the expectation then holds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import ResumeKind
from debugger.model.state import State
from debugger.model.text_clip import clip_text
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.try_change import forced_change, stop_position
from debugger.questions.try_change.expectation import evaluate_expectation
from debugger.questions.try_change.second_run import (
    SecondRunArrival,
    SecondRunMissed,
    bring_to_stop,
)
from debugger.questions.try_change.stop_position import StopPosition
from debugger.questions.try_change.trial_answer import build_trial_answer, where_it_ended
from debugger.questions.try_change.trial_change import TrialChange
from debugger.session import inspection, stepping, value_inspection, views
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from debugger.session.session_state import check_runs
from debugger.session.stepping import WaitLimit

_SAID = 200
_LINE_MAX = 2000
_NAME = "try"
_BY_HAND = (
    "values were changed by hand in the session (set, eval, raw): a second run has not got them"
)
_OTHER_WAY = "the second run came there from other lines than the session did"


@dataclass(frozen=True)
class TrialRequest:
    """What is tried: the changes, until which place, and what is then expected."""

    changes: tuple[TrialChange, ...]
    until: BreakpointSpec | None = None
    place: str | None = None
    expression: str | None = None
    is_here: bool = False


async def try_change(
    sessions: SessionList, session: Session, wanted: TrialRequest, patience: WaitLimit
) -> answers.Tried:
    """Try a change at a session's stop, in a second run, so that the session stays as it is.

    Raises:
        DebuggerError: WRONG_STATE, PROGRAM_EXITED, NOT_SUPPORTED; what setting a value raises;
            NOT_FOUND, TIMEOUT where a second run does not come to the same place.
    """
    began = asyncio.get_running_loop().time()
    session.require_state(State.STOPPED, to="try a change")
    if any(one.is_return for one in wanted.changes):
        forced_change.check_can_return(session)
    if wanted.is_here:
        check_runs(session.target, to="try a change")
        answer = await _run_trial(session, wanted, patience)
        answer = msgspec.structs.replace(answer, is_here=True)
    else:
        answer = await _in_a_second_run(sessions, session, wanted, patience)
    took = round(asyncio.get_running_loop().time() - began, 1)
    return msgspec.structs.replace(
        answer, session=session.name, adapter=session.adapter, took_s=took
    )


async def _in_a_second_run(
    sessions: SessionList, session: Session, wanted: TrialRequest, patience: WaitLimit
) -> answers.Tried:
    ends_at = asyncio.get_running_loop().time() + patience.seconds
    target = stop_position.check_second_run(session)
    was = await session.run_job(partial(stop_position.find_position, session))
    question = QuestionRun(
        sessions=sessions,
        target=target,
        make_backend=session.make_backend,
        name=_NAME,
        patience=patience,
        breakpoints=was.wanted,
        adapter=session.adapter,
    )
    notes = [_BY_HAND] if session.look.is_changed else []
    missed = None
    for _ in range(2):
        left = WaitLimit(ends_at - asyncio.get_running_loop().time(), patience.interrupted)
        async with question_run.run_question(replace(question, patience=left)) as run:
            came = await bring_to_stop(run, was, missed.nearest if missed is not None else None)
            if isinstance(came, SecondRunArrival):
                answer = await _tried_at(run, came, was, wanted)
                return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
        missed = came
        if came.nearest is None or was.is_exact:
            break
    assert missed is not None
    raise _missed_error(missed, was, patience)


def _missed_error(came: SecondRunMissed, was: StopPosition, patience: WaitLimit) -> DebuggerError:
    frame = was.seen.frames[0] if was.seen.frames else None
    where = f"{frame.function} line {frame.line}" if frame is not None else "the same place"
    if came.stop.timed_out or came.stop.state == State.RUNNING.value:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"the second run did not come to {where} within {patience.seconds:g} s",
            hint=f"debugger try --timeout {max(2 * patience.seconds, 60):g}; {stop_position.HERE}",
        )
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"the second run did not come to {where} as this one did: {where_it_ended(came.stop)}",
        hint=stop_position.HERE,
    )


async def _tried_at(
    run: RunningQuestion, came: SecondRunArrival, was: StopPosition, wanted: TrialRequest
) -> answers.Tried:
    session = came.session
    if was.frame:
        await session.run_job(lambda: inspection.go_to_frame(session, was.frame))
    # What is ours does not stop it again; with a place to run to, nothing else does.
    for at, one in enumerate(session.breakpoints.user_breakpoints()):
        if wanted.until is not None or at == was.extra:
            await session.run_job(partial(session.binding.remove, one))
    answer = await _run_trial(session, wanted, WaitLimit(run.left_s, run.patience.interrupted), run)
    notes = () if came.is_called_alike else (_OTHER_WAY,)
    return msgspec.structs.replace(
        answer,
        differs=stop_position.limit_changes(came.differs),
        differs_total=len(came.differs),
        notes=(*notes, *answer.notes),
    )


async def _run_trial(
    session: Session, wanted: TrialRequest, patience: WaitLimit, run: RunningQuestion | None = None
) -> answers.Tried:
    """Change what is to be changed, let it run, and see."""
    tried_at = views.frame_view(await session.run_job(lambda: inspection.frame_of(session)))
    assigned: list[answers.Assignment] = []
    returned = None
    for change in wanted.changes:
        try:
            if change.target is None:
                await session.run_job(partial(forced_change.force_return, session, change.value))
                returned = change.value or ""
            else:
                job = partial(
                    value_inspection.assign_value, session, change.target, change.value or ""
                )
                assigned.append(await value_inspection.run_evaluation(session, job))
        except DebuggerError as error:
            raise _not_set(error, assigned, is_here=run is None) from error
    cursor = session.timeline.cursor()
    if wanted.until is not None:
        stop = await stepping.run_until(session, wanted.until, patience)
    else:
        stop = await stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience)
    is_reached = (
        _is_reached(stop, session, wanted.until, is_alone=run is not None) if wanted.until else None
    )
    found = None
    if wanted.expression is not None:
        found = await evaluate_expectation(
            session, stop, wanted.expression, place=wanted.place, at=is_reached
        )
    timed_out = stop.timed_out
    if timed_out and run is not None:
        stop = await run.stop_and_report() or stop
    lines, total = _output_since(session, cursor)
    answer = build_trial_answer(
        stop,
        until=wanted.place,
        reached=is_reached,
        expected=found,
        timed_out=timed_out,
        tried_at=tried_at,
        assigned=tuple(assigned),
        returned=returned,
        output=lines,
        output_total=total,
    )
    copies = forced_change.copied_variables(tried_at.file, [one.name for one in assigned])
    return msgspec.structs.replace(answer, notes=(*answer.notes, *copies))


def _not_set(
    error: DebuggerError, assigned: list[answers.Assignment], *, is_here: bool
) -> DebuggerError:
    """Say what was set already where the session itself was changed."""
    if not is_here or not assigned:
        return error
    done = ", ".join(f"{one.name}={one.value} (was {one.previous})" for one in assigned)
    return DebuggerError(error.code, f"{error.message}; set already: {done}", hint=error.hint)


def _is_reached(
    stop: answers.Stop, session: Session, until: BreakpointSpec, *, is_alone: bool
) -> bool:
    """Tell whether it stopped for the place: of a second run nothing else is a breakpoint."""
    if stop.state != State.STOPPED.value or stop.session != session.name:
        return False
    places = {"goto", "breakpoint", "function_breakpoint", "step"}
    frame = stop.frame
    is_there = frame is not None and (
        frame.function == until.function
        if until.function is not None
        else (frame.file, frame.line) == (until.file, until.line)
    )
    return stop.reason == "goto" or (stop.reason in places and (is_alone or is_there))


def _output_since(session: Session, cursor: int) -> tuple[tuple[answers.OutputLine, ...], int]:
    """Return the end of what the program wrote since then, and how many lines it was."""
    page = session.timeline.lines(since=cursor)
    lines = [one for one in page.lines if one.stream is not OutputStream.CONSOLE]
    kept = lines if len(lines) <= _SAID else [*lines[: _SAID // 2], *lines[-_SAID // 2 :]]
    shown = (
        answers.OutputLine(one.stream.value, clip_text(one.text, _LINE_MAX), one.seq)
        for one in kept
    )
    return tuple(shown), len(lines) + page.dropped
