"""Decides by the stops whether a call that is stepped through has ended, and how."""

from __future__ import annotations

import re

from msgspec import Struct

from debugger.model import answers
from debugger.model.program import StopReason
from debugger.model.state import State
from debugger.questions.recordings.function_lookup import line_text

_JS_DEBUG = "js-debug"
_PANICS = "runtime.gopanic"
_AWAITED = "await"  # js-debug's mark between the parts of an asynchronous stack
_WAITS = ("yield", "await")
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_ABOVE = 3  # lines


class CallEnd(Struct, frozen=True):
    """How a call was left: with a value, an error (its type and message), or, without, to wait."""

    value: str | None = None
    error: tuple[str, str] | None = None


def find_call_end(
    before: answers.Stop, stop: answers.Stop, *, entry: answers.FrameView, depth: int, adapter: str
) -> CallEnd | None:
    """Tell how a call was left between two stops; None while it goes on.

    `before` was in it, `depth` frames deep; `entry` is where it began.
    """
    is_javascript = adapter == _JS_DEBUG
    if is_javascript and before.returned is not None:
        return CallEnd(
            value=before.returned.value
        )  # V8 stops at a return before it leaves the call
    if stop.state != State.STOPPED.value:
        return None
    if stop.exception is not None:
        return CallEnd(error=(stop.exception.type, stop.exception.message))
    if is_another(entry, stop, adapter):
        return CallEnd(value="")
    if is_javascript and stop.reason == StopReason.STEP.value:
        return _end_in_javascript(before, stop, depth)
    return _end_by_depth(before, stop, depth)


def depth_of(stop: answers.Stop) -> int:
    """Count the frames."""
    return stop.stack_total if stop.stack_total is not None else len(stop.stack)


def is_another(entry: answers.FrameView, stop: answers.Stop, adapter: str) -> bool:
    """Tell whether a stop is at the beginning of another call than the one that began there.

    V8 of Node 20 does not stop at a return that a `finally` follows, and then steps on to there.
    """
    there = stop.frame
    if adapter != _JS_DEBUG or there is None or _frame_location(there) != _frame_location(entry):
        return False
    line = there.line or 0
    # A loop may begin so, too: its body is come to again within one call.
    above = [line_text(there.file or "", one) for one in range(line - _ABOVE, line + 1)]
    return not any(map(_LOOP.search, above))


def _frame_location(frame: answers.FrameView) -> tuple[str | None, int | None, int | None]:
    return frame.file, frame.line, frame.column


def _end_by_depth(before: answers.Stop, stop: answers.Stop, depth: int) -> CallEnd | None:
    if depth_of(stop) > depth:  # a signal, a panic, or an exception, further in
        return CallEnd(error=_further_in(stop))
    a, b = before.frame, stop.frame
    is_same = a is not None and b is not None and a.function == b.function
    if depth_of(stop) < depth or not is_same:
        return CallEnd(value=stop.returned.value if stop.returned is not None else "")
    return None


def _end_in_javascript(before: answers.Stop, stop: answers.Stop, depth: int) -> CallEnd | None:
    """Tell it of a call that has not stood at a return.

    After an `await` it goes on with another stack; after `super()` it has another name.
    """
    at, there = before.frame, stop.frame
    assert at is not None
    assert there is not None
    is_resumed = any(one.function == _AWAITED and one.file is None for one in stop.stack)
    is_alike = at.function == there.function if is_resumed else depth_of(stop) == depth
    if is_alike and at.file == there.file:
        return None
    if any(one in line_text(at.file or "", at.line or 0) for one in _WAITS):
        return CallEnd()
    return CallEnd(error=("an exception", "it was caught further out"))


def _further_in(stop: answers.Stop) -> tuple[str, str]:
    if any(one.function == _PANICS for one in stop.stack) and stop.frame is not None:
        return "panic", f"{stop.frame.function}, which was deferred, runs next"
    return "stopped", stop.signal or stop.description or stop.reason or ""
