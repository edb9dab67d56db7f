"""Brings a second run to the stop of a session."""

from __future__ import annotations

from functools import partial

from msgspec import Struct

from debugger.core import answers
from debugger.core.state import State
from debugger.questions.asking import Run
from debugger.questions.trying.place import Position, Seen, differences, place_of, seen
from debugger.session import looking, stepping
from debugger.session.session import Session
from debugger.session.stepping import Patience

_ARRIVALS_MAX = 200
_SEARCH_S = 2.0


class Arrival(Struct, frozen=True):
    """A second run stands where the session does, but for what `differs`."""

    session: Session
    differs: tuple[answers.Change, ...] = ()
    is_called_alike: bool = True


class Missed(Struct, frozen=True):
    """A second run did not come to it; the place was most like it at the time `nearest`.

    `stop` is where it came to its end, or that it still runs.
    """

    stop: answers.Stop
    nearest: int | None = None


async def arrive(run: Run, was: Position, at: int | None = None) -> Arrival | Missed:
    """Let a second run come to where a session is stopped.

    Without `at` to where all is as it is there: how often the breakpoints have been hit does not
    tell it where they came later than the run began. It is looked for as long again as the place
    itself took, 2 s at least. With `at`, to the place for that time.

    Raises:
        DebuggerError: What letting it run raises.
    """
    began = run.left_s
    stop, number = await run.first(), 0
    best: tuple[int, int] | None = None  # so many differences, at that time
    search_ends: float | None = None  # in seconds that are left of the whole
    while stop.state == State.STOPPED.value:
        session = run.at(stop)
        if _is_due(session, was):
            number += 1
            after = await _stepped(run, session, was)
            if after.state != State.STOPPED.value:
                return Missed(after, _number(best))
            now = await _seen(session, was)
            if now is not None and now.is_at(was.seen):
                found = differences(was.seen, now, session)
                is_alike = now.is_called_alike(was.seen)
                is_known = at == number or (at is None and was.is_counted)
                if is_known or (at is None and is_alike and not found):
                    return Arrival(session, found, is_alike)
                score = (len(found) + (not is_alike), number)
                best = min(best or score, score)
                search_ends = search_ends or run.left_s - max(_SEARCH_S, began - run.left_s)
            if number >= (at or _ARRIVALS_MAX):
                return Missed(after, _number(best))
        if search_ends is not None and run.left_s <= search_ends:
            return Missed(stop, _number(best))
        within = run.left_s - search_ends if search_ends is not None else None
        stop = await run.go_on(session, within)
    return Missed(stop, _number(best))


def _number(best: tuple[int, int] | None) -> int | None:
    return best[1] if best is not None else None


def _is_due(session: Session, was: Position) -> bool:
    """Tell whether its breakpoints have been hit as often as those of the session, at least."""
    counts = [one.hits for one in session.breakpoints.listed()]
    if any(now < then for now, then in zip(counts, was.hits, strict=False)):
        return False
    frame = session.look.frame
    return was.anchor is None or (frame is not None and place_of(frame) == was.anchor)


async def _stepped(run: Run, session: Session, was: Position) -> answers.Stop:
    """Make the steps that were made in the session."""
    stop = answers.Stop(session=session.name, state=session.state.value)
    for how in was.steps:
        if stop.state != State.STOPPED.value:
            break
        stop = await stepping.resume(session, how, Patience(run.left_s, run.patience.interrupted))
    return stop


async def _seen(session: Session, was: Position) -> Seen | None:
    """Look at what was looked at there; None where there is no such thread."""
    if was.thread is not None:
        numbers = [one.id for one in await session.do(session.backend.threads)]
        if was.thread >= len(numbers):
            return None
        await session.do(partial(looking.choose_thread, session, numbers[was.thread]))
    return await session.do(partial(seen, session, was.frame))
