"""Reads stacks, without the adapter's own frames at their end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess, AdapterProfile
from debugger.model.program import Stack, Stopped

# Requests that leave a cached stack valid: any other may change it.
CHANGES_NOTHING = {"scopes", "stackTrace", "threads", "variables"}
_TAIL = 32  # more than any adapter's own frames, save the copies of long causes


class ProgramStacks:
    """Reads stacks; the stack that a stop was filtered by is cached for the next request of it."""

    def __init__(self, inside: AdapterAccess, profile: AdapterProfile) -> None:
        self._inside = inside
        self._is_outside = profile.is_outside
        self._handles_are_calls = profile.handles_are_calls
        self._stop: Stopped | None = None
        self._kept: tuple[tuple[int, int, int], Stack] | None = None
        self._is_judging = False

    async def read_stack(self, thread: int, start: int, levels: int) -> Stack:
        """Return some frames of a thread, innermost first."""
        request = (thread, start, levels)
        if self._kept is not None and self._kept[0] == request and not self._is_judging:
            stack, self._kept = self._kept[1], None
            return stack
        if self._is_outside is None:
            stack = await _read_all_frames(self._inside, *request)
        else:
            stack = await stack_window(self._inside, self._is_outside, *request)
        if self._handles_are_calls:
            calls = (msgspec.structs.replace(one, call=one.handle) for one in stack.frames)
            stack = msgspec.structs.replace(stack, frames=tuple(calls))
        if self._is_judging:
            self._kept = (request, stack)
        return stack

    async def await_filter(self, judging: Awaitable[Stopped | None]) -> Stopped | None:
        """Await the filtering of a stop, which may read the stack."""
        self._is_judging = True
        try:
            self._stop = await judging
        finally:
            self._is_judging = False
        return self._stop

    def kept_stack(self, thread: int, levels: int) -> Stack | None:
        """Return the stack that the last stop was filtered by, if it is cached."""
        if self._kept is not None and self._kept[0] == (thread, 0, levels):
            return self._kept[1]
        return None

    def note_request(self, command: str) -> None:
        """Drop the cached stack before a request that may change it, such as a jump."""
        if not self._is_judging and command not in CHANGES_NOTHING:
            self._kept = None

    def note_stop(self, stop: Stopped) -> None:
        """Drop the cached stack at any other stop."""
        if stop is not self._stop:
            self._kept = None


async def _read_all_frames(inside: AdapterAccess, thread: int, start: int, levels: int) -> Stack:
    body = await _request_stack(inside, thread, start, levels)
    total = body.total_frames
    if len(body.stack_frames) < levels:
        total = start + len(body.stack_frames)
    return Stack(dap_convert.to_frames(body.stack_frames[:levels], start), total)


async def stack_window(
    inside: AdapterAccess,
    outside: Callable[[dap.DapStackFrame], bool],
    thread: int,
    start: int,
    levels: int,
) -> Stack:
    """Return some frames of a stack without those at its end that are not the program's.

    Foreign frames amid the stack count: the program may use the libraries that the adapter uses.
    """
    body = await _request_stack(inside, thread, start, levels)
    got = body.stack_frames
    total = body.total_frames
    if total is None:
        total = start + len(got) if len(got) < levels else None
    if total is None:
        return Stack(dap_convert.to_frames(got, start), None)
    own_count = start + _count_own_frames(got, outside) if start + len(got) >= total else start
    if own_count == start:
        own_count = await _program_end(inside, outside, thread, total)
    # A thread that has not come to the program's code yet is somewhere all the same.
    own_count = max(own_count, min(1, total))
    return Stack(dap_convert.to_frames(got[: max(0, own_count - start)], start), own_count)


async def _program_end(
    inside: AdapterAccess, outside: Callable[[dap.DapStackFrame], bool], thread: int, total: int
) -> int:
    """Return how many frames of a stack are the program's."""
    # Only the end of the stack is read first: a deep recursion has many thousand frames.
    start, count = max(0, total - _TAIL), _TAIL
    while True:
        tail = (await _request_stack(inside, thread, start, count)).stack_frames
        own_count = _count_own_frames(tail, outside)
        if own_count or not start:
            return start + own_count
        start, count = 0, total


async def _request_stack(
    inside: AdapterAccess, thread: int, start: int, levels: int
) -> dap.StackTraceBody:
    arguments = ask.StackTraceArguments(thread_id=thread, start_frame=start, levels=levels)
    body: dap.StackTraceBody = await inside.send_request(
        "stackTrace", arguments, dap.StackTraceBody
    )
    return body


def _count_own_frames(
    frames: Sequence[dap.DapStackFrame], outside: Callable[[dap.DapStackFrame], bool]
) -> int:
    """Count the frames up to the last one of the program."""
    count = len(frames)
    while count and outside(frames[count - 1]):
        count -= 1
    return count
