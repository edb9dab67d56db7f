"""Samples stacks by a debugger that stops the program for each sample."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from debugger.errors import DebuggerError
from debugger.model.events import EventKind
from debugger.model.library_path import is_library
from debugger.model.program import Frame, ResumeKind, Thread
from debugger.model.state import State
from debugger.questions.hang.stack_samples import SampledFrame
from debugger.questions.runner import short_values
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import stop_report
from debugger.session.session import Session

_LEVELS = 40
_THREADS_MAX = 200
_THREADS_S = 2.0
_VALUES_S = 1.5  # of V8, a set of millions takes 15 s
_VALUED = 3  # frames of the user's own whose values are read
_VALUES = 20


@dataclass
class StackSample:
    """One sample: the threads, and the frames of each, innermost first."""

    threads: list[Thread] = field(default_factory=list)
    frames: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    places: dict[int, tuple[SampledFrame, ...]] = field(default_factory=dict)
    is_slow: bool = False  # values took too long to read


async def run_briefly(run: RunningQuestion, seconds: float) -> bool:
    """Let the program run for a moment; False where it stops or ends in it."""
    timeline = run.session.timeline
    event = await timeline.wait(timeline.cursor(), {EventKind.STOP, EventKind.EXIT}, seconds)
    return event is None and run.session.state is State.RUNNING


async def stop_program(run: RunningQuestion) -> bool:
    """Stop the program; False where it does not stop soon."""
    return await run.stop_and_report() is not None and run.session.state is State.STOPPED


async def go_on(session: Session) -> None:
    """Let a stopped program run on."""
    if session.state is State.STOPPED:
        await session.run_job(lambda: session.resume(ResumeKind.CONTINUE))


async def read_stacks(
    session: Session, found: StackSample, *, valued: Sequence[int] | None
) -> None:
    """Read the stacks of a stopped program (a job), with the values of threads that compute.

    `valued` are those threads; None: all whose innermost frame is the user's own. Of values that
    take too long the frames are known all the same, and the sample `is_slow`.
    """
    limit = asyncio.get_running_loop().time() + _THREADS_S
    found.threads = await session.backend.list_threads()
    for one in found.threads[:_THREADS_MAX]:
        if asyncio.get_running_loop().time() > limit:
            break
        with suppress(DebuggerError):
            stack = await session.backend.read_stack(one.id, levels=_LEVELS)
            frames = tuple(each for each in stack.frames if not _is_hidden(each))
            found.frames[one.id] = frames
            innermost = frames[0].file if frames else None
            own = not is_library(innermost, session.target.cwd)
            wants = one.id in valued if valued is not None else own
            found.places[one.id] = await _sampled_frames(session, frames, wants_values=False)
            if wants:
                try:
                    async with asyncio.timeout(_VALUES_S):
                        found.places[one.id] = await _sampled_frames(
                            session, frames, wants_values=True
                        )
                except TimeoutError:
                    found.is_slow = True
                    return


def _is_hidden(frame: Frame) -> bool:
    return frame.function.startswith("___lldb_unnamed_symbol")


def _is_unknown(value: str) -> bool:
    """Tell a value that is not known at this place, and so has not changed since another."""
    # V8 has `undefined` of what optimised code needs no more, whatever it was.
    return value == "undefined" or short_values.is_unknown(value)


async def _sampled_frames(
    session: Session, frames: Sequence[Frame], *, wants_values: bool
) -> tuple[SampledFrame, ...]:
    places = []
    left = _VALUED if wants_values else 0
    for one in frames:
        own = not is_library(one.file, session.target.cwd)
        known: dict[str, str] = {}
        if own and left:
            left -= 1
            with suppress(DebuggerError):
                known = {
                    each.name: short_values.short_view(each).value
                    for each in await stop_report.frame_locals(session, one)
                    if not short_values.is_dull(each) and not _is_unknown(each.value)
                }
        shown = dict(list(known.items())[:_VALUES])
        places.append(SampledFrame(one.function, one.file, one.line, own, shown))
    return tuple(places)
