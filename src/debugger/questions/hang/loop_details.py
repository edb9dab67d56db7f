"""Adds what further stops show of a busy loop: its turns, or the functions below it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.debugger_words import Runtime
from debugger.model.location import is_library
from debugger.questions.hang.answer import Hang, LoopView, RepeatedReturnView
from debugger.questions.hang.endless_cycle import ends_at_nothing
from debugger.questions.hang.hang_verdict import LoopSample, find_loop
from debugger.questions.hang.loop_exits import LoopOutline, outline_loop
from debugger.questions.hang.loop_turns import find_generator, remove_breakpoints, watch_turns
from debugger.questions.hang.repeated_returns import find_return_sites
from debugger.questions.hang.thread_sampling import (
    SampledFrame,
    SampledThread,
    go_on,
    run_briefly,
    stop_program,
)
from debugger.questions.hang.turn_findings import add_turns
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import source_files

_SECONDS = 30.0  # each part has a bound of its own
_ITERATES = re.compile(r"(?:async\s+)?for\b.*\b(?:in|of)\b")
_SAMPLES = 16
_BETWEEN_S = 0.01
_LEVELS = 40
_SAMPLING_S = 4.0

Stacks = Sequence[Sequence[SampledFrame]]


async def add_loop_details(
    run: RunningQuestion, answer: Hang, sampled: Sequence[SampledThread], began: float
) -> Hang:
    """Add what some turns of a busy loop show, of a program that is ended afterwards.

    Of a loop of native code that has no end of its own, the functions below it are watched.

    Raises:
        DebuggerError: ADAPTER_DIED.
    """
    frame, loop = answer.frame, answer.loop
    # A child process is another session: its loop is not watched.
    is_own = isinstance(run.session.target, LaunchTarget) and answer.kind in {"busy", "moving"}
    is_own = is_own and answer.pid == run.session.pid
    if not is_own or loop is None or frame is None or frame.file is None:
        return answer
    source = source_files.read_source(frame.file)
    outline = outline_loop(frame.file, source, loop.line) if source is not None else None
    if outline is None:
        return answer
    place = SampledFrame(frame.function, frame.file, frame.line, is_own=True)
    run.ends_at = asyncio.get_running_loop().time() + _SECONDS
    if answer.kind == "moving":
        return await _find_moving_cycle(run, answer, outline, place)
    answer = add_turns(answer, outline, await watch_turns(run, outline, place))
    if answer.loop is not None and answer.loop.cycle is None and _ITERATES.match(loop.text):
        answer = await _add_generator(run, answer, place)
    is_explained = answer.loop is None or any(one.reached for one in answer.loop.exits)
    is_native = run.session.traits.runtime is Runtime.NATIVE
    if is_native and not is_explained and answer.loop is not None and answer.loop.cycle is None:
        stacks = [stack for one in sampled if one.wait is None for stack in one.stacks]
        sites = await _find_sites_below(run, place, stacks)
        # A further run fills in what they return.
        loop = msgspec.structs.replace(answer.loop, returns=sites)
        answer = msgspec.structs.replace(answer, loop=loop)
    return msgspec.structs.replace(
        answer, took_s=round(asyncio.get_running_loop().time() - began, 1)
    )


async def _find_moving_cycle(
    run: RunningQuestion, answer: Hang, outline: LoopOutline, place: SampledFrame
) -> Hang:
    """Say of a loop that changes something that it goes round the same objects, if it does.

    It may count the nodes of a list that has become a ring. Only a loop that nothing but the end
    of the list ends is looked at.
    """
    exits = [(one.text, one.is_header) for one in outline.exits]
    loop = answer.loop
    if loop is None or not any(ends_at_nothing(one.name, exits) for one in outline.steps):
        return answer
    where = f"in {place.function} {Path(place.file or '').name}:{place.line}"
    text = f"busy loop: `{loop.text}` does not end, {where}"
    busy = msgspec.structs.replace(answer, kind="busy", cause=text)
    found = add_turns(busy, outline, await watch_turns(run, outline, place))
    cycle = found.loop.cycle if found.loop is not None else None
    return found if cycle is not None and ends_at_nothing(cycle.name, exits) else answer


async def _add_generator(run: RunningQuestion, answer: Hang, place: SampledFrame) -> Hang:
    """Explain the loop of the generator that a `for` loop iterates over, in that one's place."""
    outer = answer.loop
    inner = await find_generator(run, place, outer.line) if outer is not None else None
    if outer is None or inner is None or inner.file is None or inner.line is None:
        return answer
    source = source_files.read_source(inner.file) or ()
    found = find_loop(source, [LoopSample(inner.line)])
    outline = outline_loop(inner.file, source, found.line) if found is not None else None
    if found is None or outline is None:
        return answer
    await remove_breakpoints(run)
    turns = await watch_turns(run, outline, inner)
    iterated = f"{place.function} {Path(place.file or '').name}:{outer.line}"
    where = f"in {inner.function} {Path(inner.file).name}:{found.line}, for the loop in {iterated}"
    shown = msgspec.structs.replace(
        answer,
        cause=f"busy loop: `{found.text}` does not end, {where}",
        frame=FrameView(0, inner.function, inner.file, found.line),
        source=source_files.surrounding_lines(inner.file, found.line, before=2, after=2),
        loop=LoopView(found.line, found.text, (inner.line,)),
    )
    shown = add_turns(shown, outline, turns)
    # Without a cycle or an exit of its own, it says no more than the loop around it.
    is_told = shown.loop is not None and (shown.loop.cycle is not None or shown.loop.turns)
    return shown if is_told else answer


async def _find_sites_below(
    run: RunningQuestion, loop: SampledFrame, taken: Stacks
) -> tuple[RepeatedReturnView, ...]:
    """Return the return statements of functions below a loop; `taken` are the known stacks.

    Raises:
        DebuggerError: ADAPTER_DIED.
    """
    stacks = list(taken)
    try:
        async with asyncio.timeout(_SAMPLING_S):
            await remove_breakpoints(run)
            await _sample_stacks(run, stacks)
    except TimeoutError:
        pass  # those until then
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_DIED:
            raise
    files = {one.file for stack in stacks for one in stack if one.file and one.is_own}
    sources = {one: source_files.read_source(one) or () for one in files}
    return find_return_sites(stacks, loop, sources)


async def _sample_stacks(run: RunningQuestion, stacks: list[Sequence[SampledFrame]]) -> None:
    """Take some more stacks of the selected thread, without values."""
    session = run.session
    for _ in range(_SAMPLES):
        await go_on(session)
        if not await run_briefly(run, _BETWEEN_S) or not await stop_program(run):
            return
        thread = session.selection.thread
        if thread is None:
            return
        stack = await session.run_job(partial(session.backend.read_stack, thread, levels=_LEVELS))
        cwd = session.target.cwd
        stacks.append(
            [
                SampledFrame(one.function, one.file, one.line, not is_library(one.file, cwd))
                for one in stack.frames
            ]
        )
