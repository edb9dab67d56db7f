"""Brings a second run to the stop of a session."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from debugger.model import answers
from debugger.model.state import State
from debugger.questions.runner.question_run import RunningQuestion
from debugger.questions.try_change.stop_position import (
    ComparableStop,
    StopPosition,
    frame_location,
    observe_stop,
    stop_differences,
)
from debugger.session import inspection, stepping
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit

_ARRIVALS_MAX = 200
_SEARCH_S = 2.0


class SecondRunArrival(Struct, frozen=True):
    """A second run stands where the session does, but for what `differs`."""

    session: Session
    differs: tuple[answers.ChangedValue, ...] = ()
    is_called_alike: bool = True


class SecondRunMissed(Struct, frozen=True):
    """A second run did not come to it; the place was most like it at the time `nearest`.

    `stop` is where it came to its end, or that it still runs.
    """

    stop: answers.Stop
    nearest: int | None = None


async def bring_to_stop(
    run: RunningQuestion, was: StopPosition, at: int | None = None
) -> SecondRunArrival | SecondRunMissed:
    """Let a second run come to where a session is stopped.

    Without `at` to where all is as it is there: how often the breakpoints have been hit does not
    tell it where they came later than the run began. It is looked for as long again as the place
    itself took, 2 s at least. With `at`, to the place for that time.

    Raises:
        DebuggerError: What letting it run raises.
    """
    began = run.left_s
    stop, number = await run.wait_first(), 0
    best: tuple[int, int] | None = None  # so many differences, at that time
    search_ends: float | None = None  # in seconds that are left of the whole
    while stop.state == State.STOPPED.value:
        session = run.session_of(stop)
        if _is_due(session, was):
            number += 1
            after = await _repeat_steps(run, session, was)
            if after.state != State.STOPPED.value:
                return SecondRunMissed(after, _best_number(best))
            now = await _observe_stop(session, was)
            if now is not None and now.is_at(was.seen):
                found = stop_differences(was.seen, now, session)
                is_alike = now.is_called_alike(was.seen)
                is_known = at == number or (at is None and was.is_counted)
                if is_known or (at is None and is_alike and not found):
                    return SecondRunArrival(session, found, is_alike)
                score = (len(found) + (not is_alike), number)
                best = min(best or score, score)
                search_ends = search_ends or run.left_s - max(_SEARCH_S, began - run.left_s)
            if number >= (at or _ARRIVALS_MAX):
                return SecondRunMissed(after, _best_number(best))
        if search_ends is not None and run.left_s <= search_ends:
            return SecondRunMissed(stop, _best_number(best))
        within = run.left_s - search_ends if search_ends is not None else None
        stop = await run.go_on(session, within)
    return SecondRunMissed(stop, _best_number(best))


def _best_number(best: tuple[int, int] | None) -> int | None:
    return best[1] if best is not None else None


def _is_due(session: Session, was: StopPosition) -> bool:
    """Tell whether its breakpoints have been hit as often as those of the session, at least."""
    counts = [one.hits for one in session.breakpoints.user_breakpoints()]
    if any(now < then for now, then in zip(counts, was.hits, strict=False)):
        return False
    frame = session.look.frame
    return was.anchor is None or (frame is not None and frame_location(frame) == was.anchor)


async def _repeat_steps(run: RunningQuestion, session: Session, was: StopPosition) -> answers.Stop:
    """Make the steps that were made in the session."""
    stop = answers.Stop(session=session.name, state=session.state.value)
    for how in was.steps:
        if stop.state != State.STOPPED.value:
            break
        stop = await stepping.resume_and_wait(
            session, how, WaitLimit(run.left_s, run.patience.interrupted)
        )
    return stop


async def _observe_stop(session: Session, was: StopPosition) -> ComparableStop | None:
    """Look at what was looked at there; None where there is no such thread."""
    if was.thread is not None:
        numbers = [one.id for one in await session.run_job(session.backend.list_threads)]
        if was.thread >= len(numbers):
            return None
        await session.run_job(partial(inspection.choose_thread, session, numbers[was.thread]))
    return await session.run_job(partial(observe_stop, session, was.frame))
