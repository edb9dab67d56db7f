"""Finds the promises that a failing test's code made and nobody awaited, in a further run of it."""

from __future__ import annotations

import asyncio

from debugger.model.answers.frames import FrameView
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.test import test_runners
from debugger.questions.test.answer import DroppedPromiseView
from debugger.questions.test.test_runners import DebuggedRerun, RunnerSetting
from debugger.recorders.node.dropped_run import (
    DroppedPromise,
    DroppedPromiseRecorder,
    PromisePlace,
)
from debugger.recorders.recorded_process import record_run, roots_of

_ROWS = 3


async def find_dropped_promises(
    setting: RunnerSetting, again: DebuggedRerun, *, seconds: float
) -> tuple[DroppedPromiseView, ...]:
    """Return the statements that dropped a promise; none where the run ends in another way.

    Raises:
        DebuggerError: What running the test raises.
    """
    if setting.runner != test_runners.NODE:
        return ()
    recorder = DroppedPromiseRecorder(roots_of(again.words, again.cwd))
    ran = await record_run(
        again.words,
        recorder,
        cwd=again.cwd,
        env=setting.env,
        stdin=setting.stdin,
        timeout_s=seconds,
        scratch_root=setting.scratch,
        interrupted=setting.interrupted,
    )
    if ran.status == 0:
        return ()
    # Who continues with `then` may mean to let it run beside.
    chosen = sorted(recorder.found, key=lambda one: one.is_chained)[:_ROWS]
    return tuple(await asyncio.to_thread(lambda: [_promise_view(one) for one in chosen]))


def _promise_view(one: DroppedPromise) -> DroppedPromiseView:
    place = one.original()
    return DroppedPromiseView(
        frame=_frame_view(place),
        text=line_text(place.file, place.line),
        made=_frame_view(one.made.original()) if one.made is not None else None,
        state=one.state,
        count=one.count,
    )


def _frame_view(place: PromisePlace) -> FrameView:
    return FrameView(0, place.function or "<anonymous>", place.file, place.line)
