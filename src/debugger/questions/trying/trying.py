"""Tries a change at a stop, and reports whether the expectation then holds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.clip import clip
from debugger.core.events import Stream
from debugger.core.model import Resume
from debugger.core.state import State
from debugger.core.trying import Change
from debugger.errors import Code, DebuggerError
from debugger.questions import asking
from debugger.questions.asking import Question, Run
from debugger.questions.trying import forced, place
from debugger.questions.trying.again import Arrival, Missed, arrive
from debugger.questions.trying.expecting import expected
from debugger.questions.trying.place import Position
from debugger.questions.trying.telling import told, where_it_ended
from debugger.session import looking, stepping, values, views
from debugger.session.session import Session
from debugger.session.sessions import Sessions
from debugger.session.standing import check_runs
from debugger.session.stepping import Patience

_SAID = 200
_LINE_MAX = 2000
_NAME = "try"
_BY_HAND = (
    "values were changed by hand in the session (set, eval, raw): a second run has not got them"
)
_OTHER_WAY = "the second run came there from other lines than the session did"


@dataclass(frozen=True)
class Wanted:
    """What is tried: the changes, until which place, and what is then expected."""

    changes: tuple[Change, ...]
    until: Spec | None = None
    place: str | None = None
    expression: str | None = None
    is_here: bool = False


async def tried(
    sessions: Sessions, session: Session, wanted: Wanted, patience: Patience
) -> answers.Tried:
    """Try a change at a session's stop, in a second run, so that the session stays as it is.

    Raises:
        DebuggerError: WRONG_STATE, PROGRAM_EXITED, NOT_SUPPORTED; what setting a value raises;
            NOT_FOUND, TIMEOUT where a second run does not come to the same place.
    """
    began = asyncio.get_running_loop().time()
    session.require(State.STOPPED, to="try a change")
    if any(one.is_return for one in wanted.changes):
        forced.check(session)
    if wanted.is_here:
        check_runs(session.target, to="try a change")
        answer = await _trial(session, wanted, patience)
        answer = msgspec.structs.replace(answer, is_here=True)
    else:
        answer = await _in_a_second_run(sessions, session, wanted, patience)
    took = round(asyncio.get_running_loop().time() - began, 1)
    return msgspec.structs.replace(
        answer, session=session.name, adapter=session.adapter, took_s=took
    )


async def _in_a_second_run(
    sessions: Sessions, session: Session, wanted: Wanted, patience: Patience
) -> answers.Tried:
    ends_at = asyncio.get_running_loop().time() + patience.seconds
    target = place.check(session)
    was = await session.do(partial(place.position, session))
    question = Question(
        sessions=sessions,
        target=target,
        make_backend=session.make_backend,
        name=_NAME,
        patience=patience,
        breakpoints=was.wanted,
        adapter=session.adapter,
    )
    notes = [_BY_HAND] if session.look.was_changed else []
    missed = None
    for _ in range(2):
        left = Patience(ends_at - asyncio.get_running_loop().time(), patience.interrupted)
        async with asking.running(replace(question, patience=left)) as run:
            came = await arrive(run, was, missed.nearest if missed is not None else None)
            if isinstance(came, Arrival):
                answer = await _tried_at(run, came, was, wanted)
                return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
        missed = came
        if came.nearest is None or was.is_exact:
            break
    assert missed is not None
    raise _missed(missed, was, patience)


def _missed(came: Missed, was: Position, patience: Patience) -> DebuggerError:
    frame = was.seen.frames[0] if was.seen.frames else None
    where = f"{frame.function} line {frame.line}" if frame is not None else "the same place"
    if came.stop.timed_out or came.stop.state == State.RUNNING.value:
        return DebuggerError(
            Code.TIMEOUT,
            f"the second run did not come to {where} within {patience.seconds:g} s",
            hint=f"debugger try --timeout {max(2 * patience.seconds, 60):g}; {place.HERE}",
        )
    return DebuggerError(
        Code.NOT_FOUND,
        f"the second run did not come to {where} as this one did: {where_it_ended(came.stop)}",
        hint=place.HERE,
    )


async def _tried_at(run: Run, came: Arrival, was: Position, wanted: Wanted) -> answers.Tried:
    session = came.session
    if was.frame:
        await session.do(lambda: looking.go_to_frame(session, was.frame))
    # What is ours does not stop it again; with a place to run to, nothing else does.
    for at, one in enumerate(session.breakpoints.listed()):
        if wanted.until is not None or at == was.extra:
            await session.do(partial(session.binding.drop, one))
    answer = await _trial(session, wanted, Patience(run.left_s, run.patience.interrupted), run)
    notes = () if came.is_called_alike else (_OTHER_WAY,)
    return msgspec.structs.replace(
        answer,
        differs=place.bounded(came.differs),
        differs_total=len(came.differs),
        notes=(*notes, *answer.notes),
    )


async def _trial(
    session: Session, wanted: Wanted, patience: Patience, run: Run | None = None
) -> answers.Tried:
    """Change what is to be changed, let it run, and see."""
    tried_at = views.frame(await session.do(lambda: looking.frame_of(session)))
    assigned: list[answers.Assignment] = []
    returned = None
    for change in wanted.changes:
        try:
            if change.target is None:
                await session.do(partial(forced.returned, session, change.value))
                returned = change.value or ""
            else:
                job = partial(values.assign, session, change.target, change.value or "")
                assigned.append(await values.asked(session, job))
        except DebuggerError as error:
            raise _not_set(error, assigned, is_here=run is None) from error
    cursor = session.timeline.cursor()
    if wanted.until is not None:
        stop = await stepping.until(session, wanted.until, patience)
    else:
        stop = await stepping.resume(session, Resume.CONTINUE, patience)
    is_reached = (
        _is_reached(stop, session, wanted.until, is_alone=run is not None) if wanted.until else None
    )
    found = None
    if wanted.expression is not None:
        found = await expected(session, stop, wanted.expression, place=wanted.place, at=is_reached)
    timed_out = stop.timed_out
    if timed_out and run is not None:
        stop = await run.where() or stop
    lines, total = _output(session, cursor)
    answer = told(
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
    copies = forced.copied(tried_at.file, [one.name for one in assigned])
    return msgspec.structs.replace(answer, notes=(*answer.notes, *copies))


def _not_set(
    error: DebuggerError, assigned: list[answers.Assignment], *, is_here: bool
) -> DebuggerError:
    """Say what was set already where the session itself was changed."""
    if not is_here or not assigned:
        return error
    done = ", ".join(f"{one.name}={one.value} (was {one.previous})" for one in assigned)
    return DebuggerError(error.code, f"{error.message}; set already: {done}", hint=error.hint)


def _is_reached(stop: answers.Stop, session: Session, until: Spec, *, is_alone: bool) -> bool:
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


def _output(session: Session, cursor: int) -> tuple[tuple[answers.OutputLine, ...], int]:
    """Return the end of what the program wrote since then, and how many lines it was."""
    page = session.timeline.lines(since=cursor)
    lines = [one for one in page.lines if one.stream is not Stream.CONSOLE]
    kept = lines if len(lines) <= _SAID else [*lines[: _SAID // 2], *lines[-_SAID // 2 :]]
    shown = (
        answers.OutputLine(one.stream.value, clip(one.text, _LINE_MAX), one.seq) for one in kept
    )
    return tuple(shown), len(lines) + page.dropped
