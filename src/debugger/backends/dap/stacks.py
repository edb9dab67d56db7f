"""Reads stacks, without the adapter's own frames at their end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.profile import Inside, Profile
from debugger.core.model import Stack, Stopped

# Requests that leave a cached stack valid: any other may change it.
CHANGES_NOTHING = {"scopes", "stackTrace", "threads", "variables"}
_TAIL = 32  # more than any adapter's own frames, save the copies of long causes


class Stacks:
    """Reads stacks; the stack that a stop was filtered by is cached for the next request of it."""

    def __init__(self, inside: Inside, profile: Profile) -> None:
        self._inside = inside
        self._is_outside = profile.is_outside
        self._handles_are_calls = profile.handles_are_calls
        self._stop: Stopped | None = None
        self._kept: tuple[tuple[int, int, int], Stack] | None = None
        self._is_judging = False

    async def read(self, thread: int, start: int, levels: int) -> Stack:
        """Return some frames of a thread, innermost first."""
        asked = (thread, start, levels)
        if self._kept is not None and self._kept[0] == asked and not self._is_judging:
            stack, self._kept = self._kept[1], None
            return stack
        if self._is_outside is None:
            stack = await _as_it_is(self._inside, *asked)
        else:
            stack = await window(self._inside, self._is_outside, *asked)
        if self._handles_are_calls:
            calls = (msgspec.structs.replace(one, call=one.handle) for one in stack.frames)
            stack = msgspec.structs.replace(stack, frames=tuple(calls))
        if self._is_judging:
            self._kept = (asked, stack)
        return stack

    async def judged(self, judging: Awaitable[Stopped | None]) -> Stopped | None:
        """Await the filtering of a stop, which may read the stack."""
        self._is_judging = True
        try:
            self._stop = await judging
        finally:
            self._is_judging = False
        return self._stop

    def known(self, thread: int, levels: int) -> Stack | None:
        """Return the stack that the last stop was filtered by, if it is cached."""
        if self._kept is not None and self._kept[0] == (thread, 0, levels):
            return self._kept[1]
        return None

    def requested(self, command: str) -> None:
        """Drop the cached stack before a request that may change it, such as a jump."""
        if not self._is_judging and command not in CHANGES_NOTHING:
            self._kept = None

    def told(self, stop: Stopped) -> None:
        """Drop the cached stack at any other stop."""
        if stop is not self._stop:
            self._kept = None


async def _as_it_is(inside: Inside, thread: int, start: int, levels: int) -> Stack:
    body = await _ask(inside, thread, start, levels)
    total = body.total_frames
    if len(body.stack_frames) < levels:
        total = start + len(body.stack_frames)
    return Stack(convert.frames(body.stack_frames[:levels], start), total)


async def window(
    inside: Inside, outside: Callable[[dap.StackFrame], bool], thread: int, start: int, levels: int
) -> Stack:
    """Return some frames of a stack without those at its end that are not the program's.

    Foreign frames amid the stack count: the program may use the libraries that the adapter uses.
    """
    body = await _ask(inside, thread, start, levels)
    got = body.stack_frames
    total = body.total_frames
    if total is None:
        total = start + len(got) if len(got) < levels else None
    if total is None:
        return Stack(convert.frames(got, start), None)
    own = start + _own(got, outside) if start + len(got) >= total else start
    if own == start:
        own = await _end(inside, outside, thread, total)
    # A thread that has not come to the program's code yet is somewhere all the same.
    own = max(own, min(1, total))
    return Stack(convert.frames(got[: max(0, own - start)], start), own)


async def _end(
    inside: Inside, outside: Callable[[dap.StackFrame], bool], thread: int, total: int
) -> int:
    """Return how many frames of a stack are the program's."""
    # Only the end of the stack is read first: a deep recursion has many thousand frames.
    at, count = max(0, total - _TAIL), _TAIL
    while True:
        tail = (await _ask(inside, thread, at, count)).stack_frames
        own = _own(tail, outside)
        if own or not at:
            return at + own
        at, count = 0, total


async def _ask(inside: Inside, thread: int, start: int, levels: int) -> dap.StackTraceBody:
    arguments = ask.StackTrace(thread_id=thread, start_frame=start, levels=levels)
    body: dap.StackTraceBody = await inside.request("stackTrace", arguments, dap.StackTraceBody)
    return body


def _own(frames: Sequence[dap.StackFrame], outside: Callable[[dap.StackFrame], bool]) -> int:
    """Count the frames up to the last one of the program."""
    left = len(frames)
    while left and outside(frames[left - 1]):
        left -= 1
    return left
