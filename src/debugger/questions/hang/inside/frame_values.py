"""Evaluates an expression in a frame of a running Python. Runs in the debuggee."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

_FRAMES = 400  # of a thread or a task


def evaluate(file: str, function: str, line: int, text: str) -> Any:
    """Return the value of an expression in the frame of a function, at a line where one is there.

    Raises:
        LookupError: No thread and no task is in that function any more.
    """
    found = [one for one in _frames() if _is_of(one, file, function)]
    if not found:
        raise LookupError(f"{function} has returned meanwhile")
    frame = next((one for one in found if one.f_lineno == line), found[0])
    # In one mapping, so that a comprehension in the expression sees the function's names.
    return eval(text, {**frame.f_globals, **frame.f_locals})  # noqa: S307 - the user's own


def _is_of(frame: FrameType, file: str, function: str) -> bool:
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    return code.co_filename == file and name == function


def _frames() -> Iterator[FrameType]:
    """Yield the frames of all threads, and of the tasks of asyncio, innermost first."""
    for top in list(sys._current_frames().values()):  # noqa: SLF001 - there is no other way
        frame: FrameType | None = top
        for _ in range(_FRAMES):
            if frame is None:
                break
            yield frame
            if frame.f_code.co_filename.endswith("/asyncio/base_events.py"):
                yield from _task_frames(frame.f_locals.get("self"))
            frame = frame.f_back


def _task_frames(loop: Any) -> Iterator[FrameType]:
    asyncio = sys.modules.get("asyncio")
    for task in asyncio.all_tasks(loop) if asyncio is not None and loop is not None else ():
        coroutine = task.get_coro()
        frames: list[FrameType] = []
        while coroutine is not None and len(frames) < _FRAMES:
            names = ("cr_frame", "ag_frame", "gi_frame")
            frame = next(filter(None, (getattr(coroutine, name, None) for name in names)), None)
            if frame is None:
                break
            frames.append(frame)
            coroutine = getattr(coroutine, "cr_await", None) or getattr(
                coroutine, "gi_yieldfrom", None
            )
        yield from reversed(frames)
