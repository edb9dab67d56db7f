"""Tells by two stops whether and how a call ended that is stepped through."""

from __future__ import annotations

import re

from msgspec import Struct

from debugger.model import answers
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.program import StopReason
from debugger.questions.recordings.function_lookup import line_text

_PANICS = "runtime.gopanic"
_CLOSURE = re.compile(r"(?:\.func\d+|\.\d+)+\Z")  # as Go names it: main.safe.func1
_AWAITED = "await"  # js-debug's mark between the parts of an asynchronous stack
_WAITS = ("yield", "await")
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_ABOVE = 3  # lines


class CallEnd(Struct, frozen=True):
    """The end of a call: a value, an error (type and message), or, with neither, a suspension."""

    value: str | None = None
    error: tuple[str, str] | None = None
    doubt: str = ""  # why it is not known whether the call has ended


def find_call_end(
    before: answers.Stop,
    stop: answers.Stop,
    *,
    entry: answers.FrameView,
    depth: int,
    runtime: Runtime,
) -> CallEnd | None:
    """Return the end of a call between two stops; None if it goes on.

    `before` was in the call, `depth` frames deep; `entry` is the call's first stop.
    """
    is_javascript = runtime is Runtime.NODE
    if is_javascript and before.returned is not None:
        return CallEnd(
            value=before.returned.value
        )  # V8 stops at a return before it leaves the call
    if stop.state != State.STOPPED.value:
        return None
    if stop.exception is not None:
        return CallEnd(error=(stop.exception.type, stop.exception.message))
    if is_another(entry, stop, runtime):
        return CallEnd(value="")
    if is_javascript and stop.reason == StopReason.STEP.value:
        return _end_in_javascript(before, stop, depth)
    return _end_by_depth(before, stop, depth, entry)


def depth_of(stop: answers.Stop) -> int:
    """Count the frames."""
    return stop.stack_total if stop.stack_total is not None else len(stop.stack)


_CHAINED = frozenset({Runtime.NODE, Runtime.RUBY, Runtime.PHP})


def is_another(entry: answers.FrameView, stop: answers.Stop, runtime: Runtime) -> bool:
    """Return whether a stop is at the start of another call of the function.

    V8 of Node 20 does not stop at a return that a `finally` follows, and then steps to the next
    call; nor is there a stop between the calls of a chain in Ruby and PHP, whose steps report what
    the call before returned. These two also stop at each statement of a line.
    """
    there = stop.frame
    if runtime not in _CHAINED or there is None or _frame_location(there) != _frame_location(entry):
        return False
    if runtime is not Runtime.NODE:
        return stop.returned is not None
    line = there.line or 0
    # A loop may begin so, too: its body is come to again within one call.
    above = [line_text(there.file or "", one) for one in range(line - _ABOVE, line + 1)]
    return not any(map(_LOOP.search, above))


def _frame_location(frame: answers.FrameView) -> tuple[str | None, int | None, int | None]:
    return frame.file, frame.line, frame.column


def _end_by_depth(
    before: answers.Stop, stop: answers.Stop, depth: int, entry: answers.FrameView
) -> CallEnd | None:
    if depth_of(stop) > depth:  # a signal, a panic, or an exception, further in
        return _end_further_in(stop, entry)
    a, b = before.frame, stop.frame
    is_same = a is not None and b is not None and a.function == b.function
    if depth_of(stop) < depth and stop.handled:  # an exception left the call, and is caught here
        kind, _, message = stop.handled.partition(": ")
        return CallEnd(error=(kind, message))
    if depth_of(stop) < depth or not is_same:
        return CallEnd(value=stop.returned.value if stop.returned is not None else "")
    return None


def _end_in_javascript(before: answers.Stop, stop: answers.Stop, depth: int) -> CallEnd | None:
    """Return the end of a JavaScript call that did not stop at a return.

    After an `await` the call continues with another stack; after `super()` under another name.
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


def _end_further_in(stop: answers.Stop, entry: answers.FrameView) -> CallEnd:
    names = [one.function or "" for one in stop.stack]
    if _PANICS not in names or stop.frame is None:
        return CallEnd(error=("stopped", stop.signal or stop.description or stop.reason or ""))
    deferred = stop.frame.function or ""
    # A closure is named after the function that has deferred it. A caller's may recover without
    # the call; one of the call's own, or of what it called, may let it return.
    owner = _CLOSURE.sub("", deferred)
    own = names.index(entry.function or "") if entry.function in names else len(names)
    if owner in names[own + 1 :] and owner not in names[: own + 1]:
        return CallEnd(error=("panic", f"{deferred}, which was deferred, runs next"))
    return CallEnd(doubt=f"a panic runs {deferred}, which was deferred and may recover")
