"""Pauses a Node program, also one that runs no JavaScript because it waits for events.

V8 pauses at the next call of a function. In a server that waits this is one of Node's own, which
js-debug 1.112 leaves at once, and the pause is lost. So a function of ours is then evaluated that
stops by itself; where it interrupts the program's code after all, it is left first.
"""

from __future__ import annotations

import asyncio
from typing import Any

from debugger.backends.base import NoteReported
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.model.program import Frame, Stopped, StopReason

_SOURCE = "event-loop"  # the name of the source of our function
_FUNCTION = "idle"
_IDLE_S = 0.5
_IDLE = (
    "none of the program's code runs: it waits for events. It is stopped in a function of the "
    "debugger's own; debugger break LOC stops it where it goes on"
)
_EXPRESSION = (
    f"(function {_FUNCTION}(waits_for){{debugger}})(process.getActiveResourcesInfo?.())"
    f"\n//# sourceURL={_SOURCE}"
)


class JsPause:
    """The pauses of one program."""

    def __init__(self, inside: AdapterAccess) -> None:
        self._inside = inside
        self._stopped = asyncio.Event()
        self._evaluation: asyncio.Future[dap.DapMessage] | None = None
        self._is_reported = False

    def note_stop(self) -> None:
        """Note that the program stopped."""
        self._stopped.set()

    async def pause(self, thread: int) -> None:
        """Ask the program to stop; one that runs no JavaScript is stopped in a function of ours."""
        self._stopped.clear()
        await self._inside.send_request("pause", ask.ThreadArguments(thread), dap.DapBody)
        try:
            async with asyncio.timeout(_IDLE_S):
                await self._stopped.wait()
        except TimeoutError:
            self._evaluate_stop()

    def _evaluate_stop(self) -> None:
        if self._evaluation is not None:
            return
        self._is_reported = False
        self._inside.stop_checks.append(_no_check)  # so that each stop comes to `is_reported`
        arguments = ask.EvaluateArguments(_EXPRESSION, "watch", None)
        self._evaluation = self._inside.post_request("evaluate", arguments)
        self._evaluation.add_done_callback(self._note_returned)

    def _note_returned(self, evaluation: asyncio.Future[Any]) -> None:
        """Note that our function has returned; one whose evaluation failed stops nothing."""
        del evaluation
        self._evaluation = None
        self._inside.stop_checks.remove(_no_check)

    async def is_reported(self, stop: Stopped) -> bool:
        """Decide whether a stop is the user's; one in our function is left where it is not."""
        if self._evaluation is None:
            return True
        thread = ask.ThreadArguments(stop.thread or 0)
        frames = (await self._inside.read_stack(thread.thread_id, levels=3)).frames
        if not frames or not _is_ours(frames[0]):
            return True
        if self._is_reported and stop.reason is StopReason.STEP:
            # The user steps on: our function is left, and what comes next is the program's.
            await self._inside.send_request("continue", thread, dap.DapBody)
            return False
        self._is_reported = frames[0].function == _FUNCTION and all(map(_is_ours, frames))
        if not self._is_reported:
            await self._inside.send_request("stepOut", thread, dap.DapBody)
        else:
            self._inside.report_event(NoteReported(_IDLE))
        return self._is_reported


def _is_ours(frame: Frame) -> bool:
    return frame.file is not None and frame.file.endswith(f"/{_SOURCE}")


async def _no_check(stop: Stopped) -> None:
    """Make each stop be judged before it is reported, while it is listed as a check."""
    del stop
