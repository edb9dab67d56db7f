"""Reports the awaits of this Python's asyncio tasks. Runs in the debuggee."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_FRAMES = 40  # frames of a task
_TASKS = 200
# The kinds of waits for asyncio's objects; that for any other one ends as an event's does.
_KINDS = {
    "Lock": "lock",
    "Semaphore": "semaphore",
    "BoundedSemaphore": "semaphore",
    "Condition": "condition",
}
_INNERMOST = 2  # frames of the event loop, where it waits for events


def loop_of(stack: list[FrameType]) -> Any:
    """Return the event loop that a thread waits in; None if it computes, or has no loop."""
    # A loop that waits is in its selector, or has called it.
    inner = stack[0].f_code.co_filename
    if not inner.endswith(("/selectors.py", "/asyncio/base_events.py")):
        return None
    for frame in stack[: _INNERMOST + 1]:
        if frame.f_code.co_filename.endswith("/asyncio/base_events.py"):
            return frame.f_locals.get("self")
    return None


def tasks(
    loop: Any, thread: str, owners: dict[int, list[str]], locks: Any, shown: Callable[[Any], Any]
) -> list[dict[str, Any]]:
    """Return the tasks of a loop, unawaited ones first; their locks are added to `held`."""
    # Loaded already, since a loop runs; an import could block on the import lock.
    asyncio = sys.modules["asyncio"]
    found: list[dict[str, Any]] = []
    for task in list(asyncio.all_tasks(loop))[:_TASKS]:
        key, coro = f"a{id(task)}", task.get_coro()
        frames = _coroutine_frames(coro)
        for one in frames:
            for lock in locks.held_locks(one):
                owners.setdefault(id(lock), []).append(key)
        found.append(
            {
                "key": key,
                "name": task.get_name(),
                "loop": thread,
                "frames": [shown(one) for one in frames],
                "wait": _task_wait(task, frames, locks, asyncio),
                "coro": getattr(coro, "__qualname__", ""),
            }
        )
    awaited = {owner for one in found for owner in one["wait"]["owners"]}
    found.sort(key=lambda one: (one["key"] in awaited, one["name"]))
    return found


def _coroutine_frames(coro: Any) -> list[FrameType]:
    """Return the frames of a coroutine and of its awaits, innermost first."""
    frames: list[FrameType] = []
    while coro is not None and len(frames) < _FRAMES:
        names = ("cr_frame", "ag_frame", "gi_frame")
        frame = next(filter(None, (getattr(coro, name, None) for name in names)), None)
        if frame is None:
            break
        frames.append(frame)
        # What it awaits; a future has neither, and ends the chain.
        coro = getattr(coro, "cr_await", None) or getattr(coro, "gi_yieldfrom", None)
    return frames[::-1]


def _task_wait(task: Any, frames: list[FrameType], locks: Any, asyncio: Any) -> dict[str, Any]:
    inner = _by_function(frames, locks) if frames else None
    if inner is not None:
        return inner
    future = getattr(task, "_fut_waiter", None)
    # asyncio.gather keeps its futures there.
    children = getattr(future, "_children", None) or ([future] if future is not None else [])
    waiting = [one for one in children if isinstance(one, asyncio.Task) and not one.done()]
    if waiting:
        return {"kind": "task", "text": "", "owners": [f"a{id(one)}" for one in waiting]}
    if future is None:
        return _wait_record("running", "is ready to run")
    text = locks.named(future, frames)
    reported = "a future that nobody has set"
    return _wait_record("future", f"`{text}`, {reported}" if text else reported)


def _by_function(frames: list[FrameType], locks: Any) -> dict[str, Any] | None:
    """Return the wait that asyncio's own innermost function implies; None if it implies none."""
    file, name = frames[0].f_code.co_filename, frames[0].f_code.co_name
    holder = frames[0].f_locals.get("self")
    if file.endswith("/asyncio/locks.py"):
        kind = type(holder).__name__
        text = locks.named(holder, frames[1:]) or f"an asyncio.{kind}"
        wait = _wait_record(_KINDS.get(kind, "event"), text)
        return {**wait, "lock": id(holder)} if _KINDS.get(kind) in {"lock", "semaphore"} else wait
    if file.endswith("/asyncio/queues.py"):
        text = locks.named(holder, frames[1:]) or "an asyncio.Queue"
        if name == "join":
            return _wait_record(
                "tasks", f"{text} ({getattr(holder, '_unfinished_tasks', '?')} unfinished)"
            )
        return _wait_record("receive" if name == "get" else "send", text)
    if file.endswith("/asyncio/tasks.py") and name == "sleep":
        return _wait_record("sleep", "")
    if file.endswith("/asyncio/streams.py") or "/asyncio/selector_events" in file:
        return _wait_record("io", f"waits in {name} of a stream")
    return None


def _wait_record(kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "text": text, "owners": []}
