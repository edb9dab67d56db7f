"""Reports this Python's threads and tasks, and their waits. Runs in the debuggee.

Only values of built-in types are formatted: no code of the program is called.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_FRAMES = 40  # frames of a thread
_TEXT = 60  # characters of a value
_VALUES = 24  # variables of a frame
_HIDDEN = re.compile(r"pydevd|debugpy|/_pydev|<frozen (?!.*zipimport)|runpy")
_DEBUGGER = re.compile(r"pydevd|debugpy")
_PLAIN = frozenset(map(id, (int, float, bool, type(None))))
_TEXTS = frozenset(map(id, (str, bytes)))
_SIZED = frozenset(map(id, (list, tuple, dict, set, frozenset)))


def snapshot(locks: Any, tasks: Any, extra: Any = None) -> str:
    """Return the threads and tasks as JSON; `locks` and `tasks` are the modules of this folder.

    `extra` is another module, whose facts are added.
    """
    # Python threads; one that C code started has frames only while it runs Python code.
    known = {one.ident: one for one in threading.enumerate()}
    current: dict[int, list[str]] = {}
    threads: list[dict[str, Any]] = []
    awaiting: list[dict[str, Any]] = []
    for ident, frame in sys._current_frames().items():  # noqa: SLF001 - there is no other way
        stack = _thread_stack(frame)
        # This very thread is the debugger's.
        is_ours = ident == threading.get_ident() or (ident not in known and _is_debuggers(frame))
        if is_ours or not stack:
            continue
        threads.append(_thread_record(ident, known.get(ident), stack, locks))
        key = threads[-1]["key"]
        for one in stack:
            # Collected over all threads first: the holder may come after the waiter.
            for lock in locks.held_locks(one):
                current.setdefault(id(lock), []).append(key)
        loop = tasks.loop_of(stack)
        if loop is not None:
            found = tasks.tasks(loop, key, current, locks, _frame_record)
            owners = [one["key"] for one in found]
            threads[-1]["wait"] = {"kind": "loop", "text": "", "owners": owners}
            awaiting += found
    for each in (*threads, *awaiting):
        wait = each["wait"]
        # The object's identity links a wait to the holders; it is of no use outside.
        taken = wait.pop("lock", None) if wait else None
        if taken is not None and not wait["owners"]:
            wait["owners"] = current.get(taken, [])
    threads.sort(key=lambda one: not one["is_main"])
    facts = extra.collect(locks) if extra is not None else {}
    return json.dumps({"threads": threads, "tasks": awaiting, "facts": facts})


def _kernel_number(thread: Any) -> int | None:
    """Return the kernel's number of a thread.

    After `os.fork` CPython 3.11 keeps the parent's: the only thread then is the process's first.
    """
    number = getattr(thread, "native_id", None)
    try:
        numbers = os.listdir("/proc/self/task")  # noqa: PTH208 - the program may not use pathlib
    except OSError:
        return number
    return number if number is None or str(number) in numbers else os.getpid()


def _thread_record(ident: int, thread: Any, stack: list[FrameType], locks: Any) -> dict[str, Any]:
    return {
        "key": f"t{ident}",
        "name": thread.name if thread is not None else f"thread {ident}",
        "native": _kernel_number(thread),
        "is_main": ident == threading.main_thread().ident,
        "frames": [_frame_record(one) for one in stack],
        "wait": locks.wait_of(stack),
    }


def _thread_stack(frame: FrameType | None) -> list[FrameType]:
    found: list[FrameType] = []
    while frame is not None and len(found) < _FRAMES:
        if not _HIDDEN.search(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


def _is_debuggers(frame: FrameType | None) -> bool:
    """Return whether a thread unknown to `threading` belongs to the debugger."""
    while frame is not None:
        code = frame.f_code
        # Every thread of the program is begun by this one.
        if _DEBUGGER.search(code.co_filename) and "StartupWithTrace" not in code.co_name:
            return True
        frame = frame.f_back
    return False


def _frame_record(frame: FrameType) -> dict[str, Any]:
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    return {
        "function": name.replace("<locals>.", ""),
        "file": code.co_filename,
        "line": frame.f_lineno or 0,
        "values": _frame_values(frame),
    }


def _frame_values(frame: FrameType) -> dict[str, str]:
    try:
        # A copy: the frames run on in other threads.
        pairs = list(frame.f_locals.items())
    except RuntimeError:  # another thread changed a module's names meanwhile
        return {}
    shown: dict[str, str] = {}
    for name, value in pairs:
        text = _value_text(value) if not name.startswith("__") else None
        if text is not None and len(shown) < _VALUES:
            shown[name] = text
    return shown


def _value_text(value: Any) -> str | None:
    kind = type(value)  # by its identity: a metaclass of the program may have its own hash
    if id(kind) in _PLAIN or id(kind) in _TEXTS:
        return repr(value[:_TEXT] if id(kind) in _TEXTS else value)[:_TEXT]
    return f"{kind.__name__} of {len(value)}" if id(kind) in _SIZED else None
