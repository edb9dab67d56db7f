"""Stops a hanging program at some turns of its loop, and reads what decides whether it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import EventKind, State
from debugger.model.program import EvaluationPurpose, Frame, ResumeKind
from debugger.questions.hang.loop_exits import LoopOutline
from debugger.questions.hang.thread_sampling import SampledFrame
from debugger.questions.hang.turn_values import ObservedValue, identity_expression, parse_value
from debugger.questions.runner.question_run import RunningQuestion

_TURNS = 10
_STOPS_MAX = 80
_TURNS_S = 5.0  # seconds for all turns
_LEVELS = 400
_WATCHED = 8  # expressions of a turn


class LoopTurn(Struct):
    """One turn: the watched values at its beginning, and the conditions that it came to."""

    values: dict[str, ObservedValue]
    # By line, with the operands' values there.
    conditions: dict[int, dict[str, ObservedValue]]


@dataclass
class _TurnWatch:
    """What is read at the stops of one loop."""

    run: RunningQuestion
    outline: LoopOutline
    place: SampledFrame
    # Frames from the outermost to the loop's own; None: a suspended generator's, not known yet.
    depth: int | None
    turns: list[LoopTurn] = field(default_factory=list)

    @property
    def runtime(self) -> Runtime:
        return self.run.session.traits.runtime


async def watch_turns(
    run: RunningQuestion, outline: LoopOutline, place: SampledFrame
) -> list[LoopTurn]:
    """Return some turns of the loop of a frame; none if they cannot be seen in time.

    Afterwards the program is stopped, or runs on with breakpoints: it is to be ended.

    Raises:
        DebuggerError: ADAPTER_DIED.
    """
    watch: _TurnWatch | None = None
    try:
        async with asyncio.timeout(_TURNS_S):
            if not await _stop_quietly(run):
                return []
            watch = _TurnWatch(run, outline, place, await _depth_of_loop(run, place))
            for line in _stop_lines(outline):
                spec = BreakpointSpec(file=place.file, line=line)
                await run.session.run_job(partial(run.session.binding.add, spec))
            await _take_turns(watch)
    except TimeoutError:
        pass  # the turns until then are what is known
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_DIED:
            raise
    # The last one has not been seen to its end.
    return watch.turns[:-1] if watch is not None else []


async def find_generator(
    run: RunningQuestion, place: SampledFrame, header: int
) -> SampledFrame | None:
    """Return where the generator goes on that a `for` loop iterates over; None if it has none.

    The program is stopped there: a step into the loop's header enters it.

    Raises:
        DebuggerError: ADAPTER_DIED.
    """
    try:
        async with asyncio.timeout(_TURNS_S):
            await remove_breakpoints(run)
            spec = BreakpointSpec(file=place.file, line=header)
            await run.session.run_job(partial(run.session.binding.add, spec))
            for _ in range(_TURNS):
                if not await _resume_quietly(run):
                    return None
                frames = await _read_frames(run)
                if not frames or frames[0].line != header:
                    continue
                if not await _resume_quietly(run, ResumeKind.STEP):
                    return None
                inner = await _read_frames(run)
                if len(inner) == len(frames) + 1:
                    return SampledFrame(inner[0].function, inner[0].file, inner[0].line)
    except TimeoutError:
        pass
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_DIED:
            raise
    return None


async def remove_breakpoints(run: RunningQuestion) -> None:
    """Stop the program if it runs, and remove its breakpoints."""
    if not await _stop_quietly(run):
        return
    for one in list(run.session.breakpoints.user_breakpoints()):
        await run.session.run_job(partial(run.session.binding.remove, one))


def _stop_lines(outline: LoopOutline) -> list[int]:
    lines = [one.line for one in outline.exits if not one.is_header]
    return list(dict.fromkeys([outline.first_line, *lines]))


async def _resume_quietly(run: RunningQuestion, how: ResumeKind = ResumeKind.CONTINUE) -> bool:
    """Resume the program until its next stop; False if it ends, or does not stop in time.

    No variable is read: a text of the program's own, as a `__repr__`, may not end where the
    structure is a ring.
    """
    session = run.session

    async def resume() -> int:
        cursor = session.timeline.cursor()
        await session.resume(how)
        return cursor

    cursor = await session.run_job(resume)
    await session.timeline.wait(cursor, {EventKind.STOP, EventKind.EXIT}, run.left_s)
    return session.state is State.STOPPED


async def _stop_quietly(run: RunningQuestion) -> bool:
    """Stop the program without reading its variables; False if it does not stop in time."""
    session = run.session
    if session.state is State.RUNNING:
        cursor = session.timeline.cursor()
        await session.pause()
        await session.timeline.wait(cursor, {EventKind.STOP, EventKind.EXIT}, run.left_s)
    return session.state is State.STOPPED


async def _read_frames(run: RunningQuestion) -> Sequence[Frame]:
    session = run.session
    thread = session.selection.thread
    if thread is None:
        return ()
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=_LEVELS))
    return stack.frames


async def _depth_of_loop(run: RunningQuestion, place: SampledFrame) -> int | None:
    """Return how deep the innermost call of the loop's function is, counted from outside."""
    frames = await _read_frames(run)
    for at, one in enumerate(frames):
        if one.file == place.file and _is_same_function(one.function, place.function):
            return len(frames) - at
    return None


def _is_same_function(one: str, other: str) -> bool:
    # Debuggers and the snapshot of Python qualify names differently.
    return one == other or one.rpartition(".")[2] == other.rpartition(".")[2]


async def _take_turns(watch: _TurnWatch) -> None:
    for _ in range(_STOPS_MAX):
        if not await _resume_quietly(watch.run):
            return
        frames = await _read_frames(watch.run)
        if not frames or frames[0].file != watch.place.file:
            continue
        watch.depth = watch.depth or len(frames)
        # Other calls of the function have loops of their own.
        if len(frames) == watch.depth:
            await _take_stop(watch, frames[0])
        if len(watch.turns) > _TURNS:
            return


async def _take_stop(watch: _TurnWatch, frame: Frame) -> None:
    line = frame.line
    if line == watch.outline.first_line:
        watch.turns.append(LoopTurn(await _read_values(watch, frame, watch.outline.names), {}))
    if not watch.turns:
        return
    for one in watch.outline.exits:
        if one.line == line and not one.is_header:
            watch.turns[-1].conditions[one.line] = await _read_values(watch, frame, one.operands)


async def _read_values(
    watch: _TurnWatch, frame: Frame, names: Sequence[str]
) -> dict[str, ObservedValue]:
    session = watch.run.session
    found: dict[str, ObservedValue] = {}
    for name in names[:_WATCHED]:
        text = identity_expression(session.traits.write_read(name), watch.runtime)
        try:
            value = await session.run_job(
                partial(session.backend.evaluate, text, frame, EvaluationPurpose.PRINT)
            )
        except DebuggerError as error:
            if error.code is ErrorCode.ADAPTER_DIED:
                raise
            continue
        observed = parse_value(value.value, value.type, watch.runtime)
        if observed is not None:
            found[name] = observed
    return found
