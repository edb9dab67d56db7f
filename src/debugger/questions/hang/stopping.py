"""Samples stacks by a debugger that stops the program for each sample."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from debugger.core.events import Kind
from debugger.core.model import Frame, Resume, Thread
from debugger.core.origin import is_library
from debugger.core.samples import Place
from debugger.core.state import State
from debugger.errors import DebuggerError
from debugger.questions import values
from debugger.questions.asking import Run
from debugger.session import report
from debugger.session.session import Session

_LEVELS = 40
_THREADS_MAX = 200
_THREADS_S = 2.0
_VALUES_S = 1.5  # of V8, a set of millions takes 15 s
_VALUED = 3  # frames of the user's own whose values are read
_VALUES = 20


@dataclass
class Stacks:
    """One sample: the threads, and the frames of each, innermost first."""

    threads: list[Thread] = field(default_factory=list)
    frames: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    places: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    is_slow: bool = False  # values took too long to read


async def between(run: Run, seconds: float) -> bool:
    """Let the program run for a moment; False where it stops or ends in it."""
    timeline = run.session.timeline
    event = await timeline.wait(timeline.cursor(), {Kind.STOP, Kind.EXIT}, seconds)
    return event is None and run.session.state is State.RUNNING


async def stop(run: Run) -> bool:
    """Stop the program; False where it does not stop soon."""
    return await run.where() is not None and run.session.state is State.STOPPED


async def go_on(session: Session) -> None:
    """Let a stopped program run on."""
    if session.state is State.STOPPED:
        await session.do(lambda: session.resume(Resume.CONTINUE))


async def sample(session: Session, found: Stacks, *, valued: Sequence[int] | None) -> None:
    """Read the stacks of a stopped program (a job), with the values of threads that compute.

    `valued` are those threads; None: all whose innermost frame is the user's own. Of values that
    take too long the frames are known all the same, and the sample `is_slow`.
    """
    limit = asyncio.get_running_loop().time() + _THREADS_S
    found.threads = await session.backend.threads()
    for one in found.threads[:_THREADS_MAX]:
        if asyncio.get_running_loop().time() > limit:
            break
        with suppress(DebuggerError):
            stack = await session.backend.stack(one.id, levels=_LEVELS)
            frames = tuple(each for each in stack.frames if not _is_hidden(each))
            found.frames[one.id] = frames
            innermost = frames[0].file if frames else None
            own = not is_library(innermost, session.target.cwd)
            wants = one.id in valued if valued is not None else own
            found.places[one.id] = await _places(session, frames, wants_values=False)
            if wants:
                try:
                    async with asyncio.timeout(_VALUES_S):
                        found.places[one.id] = await _places(session, frames, wants_values=True)
                except TimeoutError:
                    found.is_slow = True
                    return


def _is_hidden(frame: Frame) -> bool:
    return frame.function.startswith("___lldb_unnamed_symbol")


def _is_unknown(value: str) -> bool:
    """Tell a value that is not known at this place, and so has not changed since another."""
    # V8 has `undefined` of what optimised code needs no more, whatever it was.
    return value == "undefined" or values.is_unknown(value)


async def _places(
    session: Session, frames: Sequence[Frame], *, wants_values: bool
) -> tuple[Place, ...]:
    places = []
    left = _VALUED if wants_values else 0
    for one in frames:
        own = not is_library(one.file, session.target.cwd)
        known: dict[str, str] = {}
        if own and left:
            left -= 1
            with suppress(DebuggerError):
                known = {
                    each.name: values.view(each).value
                    for each in await report.frame_locals(session, one)
                    if not values.is_dull(each) and not _is_unknown(each.value)
                }
        shown = dict(list(known.items())[:_VALUES])
        places.append(Place(one.function, one.file, one.line, own, shown))
    return tuple(places)
