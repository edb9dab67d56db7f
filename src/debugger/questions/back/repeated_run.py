"""Records the stops of a repeated run up to a session's stop, and replays the way to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.events import State
from debugger.model.program import Frame, ResumeKind, StopReason
from debugger.model.text_filters import clip_text
from debugger.questions.back.earlier_stop import Arrival, ReplayPlan
from debugger.questions.runner.question_run import RunningQuestion
from debugger.questions.runner.stop_position import (
    ComparableStop,
    StopPosition,
    is_due,
    observe_second_run,
    observe_stop,
    stop_differences,
)
from debugger.session.selection import Move
from debugger.session.session import Session

STOPS_MAX = 2_000  # stops of one run
SEEN_MAX = 300  # arrivals whose values are read
_VALUES_MAX = 200  # characters of the values that differed
STEPS_MAX = 500  # steps from the line before to the session's stop
_LEVELS = 60  # frames that are counted at a stop
# What of a breakpoint makes it stop less often.
_ALWAYS: dict[str, Any] = dict.fromkeys(("condition", "hit_count", "log", "thread", "rule"))


class RepeatedRun(Struct, frozen=True):
    """The stops of a run that came to the session's stop, which is the last one.

    `attempt` counts from 1 the arrivals at which the session's steps were repeated.
    """

    arrivals: tuple[Arrival, ...]
    attempt: int
    differs: tuple[answers.ChangedValue, ...] = ()
    # What the first arrivals showed, to be compared with another run at the same stop.
    seen: tuple[ComparableStop, ...] = ()

    def seen_at(self, index: int) -> ComparableStop | None:
        """Return what an arrival showed; None for one beyond `SEEN_MAX`."""
        return self.seen[index] if index < len(self.seen) else None


def find_path(session: Session, was: StopPosition) -> tuple[Move, ...] | None:
    """Return the session's resumes since the start of its run; None if they cannot be repeated."""
    selection, stop = session.selection, session.last_stop
    users = [*map(_counted, (selection.begun, session.breakpoints.user_specs()))]
    is_known = (
        stop is not None
        and stop.reason is not StopReason.PAUSE
        and was.thread is None
        # Without the user's breakpoint at the session's line a run would stop elsewhere.
        and (was.extra is None or was.users == len(users[0]))
        and len(selection.path) < STOPS_MAX
        and users[0] == users[1]
        and not any(one.kind is BreakpointKind.WATCHPOINT for one in users[0])
        and all(one.how and _counted(one.users) == users[0] for one in selection.path)
    )
    return tuple(selection.path) if is_known else None


def _counted(specs: Sequence[BreakpointSpec]) -> tuple[BreakpointSpec, ...]:
    return tuple(one for one in specs if one.enabled and one.log is None)


async def record_path(run: RunningQuestion, was: StopPosition, path: Sequence[Move]) -> RepeatedRun:
    """Repeat all of the session's resumes in a second run, and record where it stopped.

    Raises:
        DebuggerError: NOT_FOUND if the run did not come to the same stops.
    """
    session, found, seen = run.session, list[Arrival](), list[ComparableStop]()
    stop, how = await run.wait_first(), None
    ours = session.breakpoints.user_breakpoints()[was.users :]
    for move in (*path, None):
        if stop.state != State.STOPPED.value or run.session_of(stop) is not session:
            raise _missed(stop)
        found.append(await _read_arrival(session, how, was))
        await _add_seen(session, found, seen)
        if move is None:
            break
        if move.left not in {None, found[-1].location}:
            raise _missed(stop)
        ours = await _set_own(session, ours, move, is_lasting=False)
        how = _how_of(move)
        stop = await run.go_on(session, how=how)
    now = await observe_second_run(session, was)
    if now is None or not now.is_at(was.seen):
        raise _missed(stop)
    differs = stop_differences(was.seen, now, session)
    return RepeatedRun(tuple(found), 1, differs, tuple(seen))


async def record_stops(
    run: RunningQuestion,
    was: StopPosition,
    extra: Sequence[BreakpointSpec],
    *,
    after: int,
    attempt: int | None = None,
    path: Sequence[Move] | None = None,
    varying: frozenset[str] = frozenset(),
) -> RepeatedRun:
    """Run a second run to the session's stop, and record where it stopped on the way.

    Args:
        run: The second run, with the session's breakpoints.
        was: The session's stop.
        extra: Further locations to stop at.
        after: The number of stops after which these are set; at 0 the run has begun with them.
        attempt: The only arrival at which the session's steps are repeated, if it is known: steps
            that lead elsewhere pass breakpoints, and a further run could not follow.
        path: The session's resumes up to stop number `after`, which the run repeats; None if it
            goes on to each stop.
        varying: The names whose values differ from run to run also at the session's stop.

    Raises:
        DebuggerError: NOT_FOUND if the run did not come to the same stop; NOT_SUPPORTED for more
            than `STOPS_MAX` stops.
    """
    session, found, seen = run.session, list[Arrival](), list[ComparableStop]()
    stop = await run.wait_first()
    how: ResumeKind | None = None
    due = 0
    differs: tuple[answers.ChangedValue, ...] = ()
    known = after if path is not None else 0
    ours = session.breakpoints.user_breakpoints()[was.users :] if path is not None else []
    while stop.state == State.STOPPED.value and run.session_of(stop) is session:
        found.append(await _read_arrival(session, how, was))
        await _add_seen(session, found, seen)
        move = _move_of(path or (), len(found))
        ours = await _set_own(session, ours, move, is_lasting=False)
        if len(found) == after:
            await add_breakpoints(session, extra)
        is_arrival = is_due(session, was) and len(found) > known
        due += is_arrival
        if is_arrival and attempt in {None, due}:
            for step in was.steps:
                stop = await run.go_on(session, how=step)
                if stop.state != State.STOPPED.value:
                    raise _missed(stop, differs)
                found.append(await _read_arrival(session, step, was))
                await _add_seen(session, found, seen)
            now = await observe_second_run(session, was)
            if now is not None and now.is_at(was.seen):
                differs = stop_differences(was.seen, now, session)
                is_equal = varying >= {one.name for one in differs}
                if was.is_counted or (is_equal and now.is_called_alike(was.seen)):
                    return RepeatedRun(tuple(found), due, differs, tuple(seen))
        if len(found) >= STOPS_MAX:
            raise _too_far(f"{STOPS_MAX:,} stops")
        stop = await run.go_on(session, how=(how := _how_of(move)))
    raise _missed(stop, differs)


async def _add_seen(session: Session, found: Sequence[Arrival], seen: list[ComparableStop]) -> None:
    """Read the values of the last arrival, unless there were too many before."""
    if len(found) <= SEEN_MAX:
        seen.append(await session.run_job(partial(observe_stop, session, 0)))


async def record_steps(
    run: RunningQuestion,
    was: StopPosition,
    plan: ReplayPlan,
    how: ResumeKind,
    varying: frozenset[str] = frozenset(),
) -> tuple[tuple[Arrival, ...], tuple[ComparableStop, ...]]:
    """Step from the stop of a plan to the session's stop, which is the last arrival.

    Returns also what each arrival before that showed.

    Raises:
        DebuggerError: NOT_FOUND if the steps do not come to it within `STEPS_MAX`.
    """
    session = run.session
    added = session.breakpoints.user_breakpoints()[was.users :]
    await replay_stops(run, plan, await run.wait_first(), added)
    found, seen = [await _read_arrival(session, None, was)], list[ComparableStop]()
    while len(found) <= STEPS_MAX:
        seen.append(await session.run_job(partial(observe_stop, session, 0)))
        stop = await run.go_on(session, how=how)
        if stop.state != State.STOPPED.value:
            raise _missed(stop)
        found.append(await _read_arrival(session, how, was))
        now = await observe_second_run(session, was)
        if how is ResumeKind.NEXT and found[-1].depth < min(found[0].depth, was.seen.total or 0):
            raise _missed(stop)  # the frame is left
        if now is None or not now.is_at(was.seen):
            continue
        if varying >= {one.name for one in stop_differences(was.seen, now, session)}:
            return tuple(found), tuple(seen)
    raise _too_far(f"{STEPS_MAX:,} steps")


async def replay_stops(
    run: RunningQuestion,
    plan: ReplayPlan,
    first: answers.Stop,
    added: Sequence[Breakpoint] = (),
) -> answers.Stop:
    """Bring a run from its first stop to the stop of a plan.

    `added` are those of the plan's breakpoints that were set before the run began. They are removed
    at the end.

    Raises:
        DebuggerError: NOT_FOUND if the run ends before.
    """
    session, stop, made = run.session, first, 0
    ours, line = (list(added), []) if plan.stops else ([], list(added))
    arrived = 0
    try:
        while True:
            if stop.state != State.STOPPED.value:
                raise _missed(stop)
            made += 1
            if plan.line is not None and made > plan.stops:
                frame = await _top_frame(session)
                arrived += (frame.file, frame.line) == (plan.line.file, plan.line.line)
            move = _move_of(plan.path, made)
            if plan.stops:
                ours = await _set_own(session, ours, move, is_lasting=True)
            if plan.line is not None and made == plan.stops:
                line = await add_lasting(session, [plan.line])
            if made >= plan.stops and arrived >= plan.arrivals:
                break
            stop = await run.go_on(session, how=_how_of(move))
        # The steps were recorded without it, and a call of the function itself would stop there.
        line = await _remove_own(session, line)
        for step in plan.steps:
            stop = await run.go_on(session, how=step)
    finally:
        if session.state is not State.RUNNING:
            for one in (*ours, *line):
                await session.run_job(partial(session.binding.remove, one))
    return stop


async def _remove_own(session: Session, known: Sequence[Breakpoint]) -> list[Breakpoint]:
    """Remove breakpoints of ours; return those that are left: none."""
    for one in known:
        await session.run_job(partial(session.binding.remove, one))
    return []


def _move_of(path: Sequence[Move], number: int) -> Move | None:
    """Return the resume after so many stops, if the session has made it."""
    return path[number - 1] if number <= len(path) else None


def _how_of(move: Move | None) -> ResumeKind:
    return (move.how if move is not None else None) or ResumeKind.CONTINUE


async def _set_own(
    session: Session, known: Sequence[Breakpoint], move: Move | None, *, is_lasting: bool
) -> list[Breakpoint]:
    """Replace our breakpoints by those that a resume of the session was made with."""
    specs = move.ours if move is not None else ()
    for one in known:
        if one.spec not in specs:
            await session.run_job(partial(session.binding.remove, one))
    stay = [one for one in known if one.spec in specs]
    new = [one for one in specs if one not in {each.spec for each in stay}]
    added = await (add_lasting if is_lasting else add_breakpoints)(session, new)
    return [*stay, *added]


async def add_breakpoints(session: Session, extra: Sequence[BreakpointSpec]) -> list[Breakpoint]:
    """Add breakpoints at the locations that have none of the user's; return the added ones."""
    known = {site_of(one.spec) for one in session.breakpoints.user_breakpoints()}
    return [
        await session.run_job(partial(session.binding.add, one))
        for one in extra
        if site_of(one) not in known
    ]


async def add_lasting(session: Session, extra: Sequence[BreakpointSpec]) -> list[Breakpoint]:
    """Add breakpoints of ours that no answer shows, and that a restart keeps.

    One of the user's that always stops at the location is as good, and not each adapter takes two.
    """
    always = {
        site_of(one.spec)
        for one in session.breakpoints.user_breakpoints()
        if one.spec.enabled and msgspec.structs.replace(one.spec, **_ALWAYS) == one.spec
    }
    return [
        await session.run_job(partial(session.binding.add, one, internal=True, is_lasting=True))
        for one in extra
        if site_of(one) not in always
    ]


def site_of(spec: BreakpointSpec) -> tuple[object, ...]:
    """Return what tells the location of a breakpoint from others': that of a function has no line.

    Two breakpoints at one location stop once.
    """
    return spec.file, spec.line, spec.function, spec.address


async def _top_frame(session: Session) -> Frame:
    thread = session.selection.thread or 0
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=1))
    return stack.frames[0]


async def _read_arrival(session: Session, how: ResumeKind | None, was: StopPosition) -> Arrival:
    thread = session.selection.thread or 0
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=_LEVELS))
    frame = stack.frames[0]
    numbers = [one.id for one in session.breakpoints.user_breakpoints()]
    hit = {numbers.index(one) for one in session.hits if one in numbers}
    users = set(range(len(was.wanted))) - {was.extra}
    return Arrival(
        frame.file,
        frame.line,
        frame.function,
        stack.total if stack.total is not None else len(stack.frames),
        how,
        bool(hit & users) or not hit,
    )


def _missed(stop: answers.Stop, differs: Sequence[answers.ChangedValue] = ()) -> DebuggerError:
    if stop.timed_out or stop.state == State.RUNNING.value:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            "the repeated run did not come to this stop in time",
            hint="debugger back --timeout 120",
        )
    values = "; ".join(f"{one.name}={one.value} and not {one.previous}" for one in differs[:3])
    there = f"; at this line it had {clip_text(values, _VALUES_MAX)}" if values else ""
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"the repeated run did not come to this stop: it runs differently each time{there}",
        hint="fix its input and random seed; debugger context shows this stop",
    )


def _too_far(what: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"the stop before is more than {what} away from a breakpoint",
        hint="debugger back-continue --to FILE:LINE goes to a line's last hit before",
    )
