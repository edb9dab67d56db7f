"""Explains the waits of goroutines, and finds the goroutines that could end each wait."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress

from debugger.errors import DebuggerError
from debugger.model.exception_cause import TracebackFrame
from debugger.model.location import is_library
from debugger.model.program import EvaluationPurpose, Frame
from debugger.model.thread_waits import kind_of
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.thread_sampling import SampledThread, StackSample
from debugger.session import source_files
from debugger.session.session import Session

_EVALUATE_S = 2.5  # seconds for all expressions together
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+|\b\d{6,}\b")
_LOCK = re.compile(r"([\w.\[\]]+)\.(?:R?Lock)\(\)")
_FREED = re.compile(r"(defer\s+)?([\w.\[\]]+)\.(?:R?Unlock)\(\)")
_SENDS = re.compile(r"([\w.\[\]]+)\s*<-")
_RECEIVES = re.compile(r"<-\s*([\w.\[\]]+)|range\s+([\w.\[\]]+)\s*\{")
_CLOSES = re.compile(r"\bclose\(\s*([\w.\[\]]+)\s*\)")
_DONE = re.compile(r"([\w.]+)\.Wait\(\)")
_NAME = re.compile(r"goroutine (\d+)")
_LOCK_FIELDS = {"lock": "m", "rwlock": "rw", "send": "c", "receive": "c"}
_IN = re.compile(r"sync\.\(\*(?:RW)?Mutex\)\.R?Lock$|runtime\.chan(?:send|recv)$")
# Delve 1.27 loses the interrupted frame at the entry of a signal handler.
_HANDLER = re.compile(r"runtime\.sig(?:tramp|return|handler|fwd)")
_SIDES = {"send": (_RECEIVES,), "receive": (_SENDS, _CLOSES)}


class _FrameEvaluator:
    """Evaluates expressions in the frames of goroutines, within a time limit."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._limit = asyncio.get_running_loop().time() + _EVALUATE_S
        self._known: dict[tuple[int, str], str] = {}

    async def evaluate_address(self, expression: str, frame: Frame) -> str:
        """Return an expression's address as text; "" without one, or after the time limit."""
        key = (frame.handle, expression)
        if key not in self._known:
            # Also for a failure: the same expression is not evaluated again.
            self._known[key] = ""
            if asyncio.get_running_loop().time() < self._limit:
                with suppress(DebuggerError):
                    evaluate = self.session.backend.evaluate
                    value = await evaluate(expression, frame, EvaluationPurpose.PRINT)
                    found = _ADDRESS.search(value.value)
                    self._known[key] = found[0] if found else ""
        return self._known[key]


def is_in_signal_handler(sample: StackSample) -> bool:
    """Return whether a goroutine was stopped in a handler, as of the signal that preempts it."""
    return any(_HANDLER.match(frames[0].function) for frames in sample.frames.values() if frames)


async def merge_goroutine_samples(
    session: Session, stacks: Sequence[StackSample]
) -> list[SampledThread]:
    """Merge the samples of each goroutine, and add its wait (a job)."""
    last = stacks[-1]
    evaluator = _FrameEvaluator(session)
    waits: dict[int, tuple[str, str, str]] = {}  # kind, how the source calls it, address
    for number, frames in last.frames.items():
        waits[number] = await _goroutine_wait(session, frames, evaluator)
    found = []
    for one in sorted(last.threads, key=lambda each: each.id):
        kind, text, address = waits.get(one.id, ("", "", ""))
        wait = None
        if kind:
            owners = await _lock_owners(last, one.id, kind, address, evaluator)
            shown = f"{text} ({address})" if address and text else text
            wait = ThreadWait(kind, shown, owners)
        found.append(
            SampledThread(
                key=str(one.id),
                name=_goroutine_name(one.name, one.id, last.frames.get(one.id, ())),
                noun="goroutine",
                stacks=tuple(each.places[one.id] for each in stacks if one.id in each.places),
                wait=wait,
            )
        )
    return found


def _goroutine_name(name: str, number: int, frames: Sequence[Frame]) -> str:
    match = _NAME.search(name)
    number = int(match[1]) if match else number
    if any(one.function == "main.main" for one in frames):
        return "main"
    return f"goroutine {number}"


def _user_frames(session: Session, frames: Sequence[Frame]) -> list[Frame]:
    return [one for one in frames if not is_library(one.file, session.target.cwd)]


async def _goroutine_wait(
    session: Session, frames: Sequence[Frame], evaluator: _FrameEvaluator
) -> tuple[str, str, str]:
    own = _user_frames(session, frames)
    above = [one for one in frames if not own or one.index < own[0].index]
    names = [one.function for one in above]
    # A goroutine that waits is parked by the runtime; any other runs, or could run.
    if not any(name == "runtime.gopark" for name in names):
        return "", "", ""
    kind = kind_of(names, None) or "waiting"
    place = next((one for one in above if _IN.search(one.function)), None)
    address = ""
    if kind in _LOCK_FIELDS and place is not None:
        address = await evaluator.evaluate_address(f"uintptr({_LOCK_FIELDS[kind]})", place)
    return kind, find_awaited(own[0] if own else None, kind), address


def find_awaited(frame: Frame | TracebackFrame | None, kind: str) -> str:
    """Return what the line of a frame waits for, as the source names it; "" if unknown."""
    lines = source_files.read_source(frame.file) if frame is not None and frame.file else None
    if frame is None or lines is None or not frame.line or frame.line > len(lines):
        return "its descriptor" if kind == "io" else ""
    text = lines[frame.line - 1].strip()
    pattern = {
        "lock": _LOCK,
        "rwlock": _LOCK,
        "send": _SENDS,
        "receive": _RECEIVES,
        "group": _DONE,
    }.get(kind)
    found = pattern.search(text) if pattern is not None else None
    named = next(filter(None, found.groups()), "") if found else ""
    return f"waits in `{text[:60]}`" if kind == "io" else named


async def _lock_owners(
    last: StackSample, waiter: int, kind: str, address: str, evaluator: _FrameEvaluator
) -> tuple[str, ...]:
    """Return the goroutines that hold a lock, or whose code may still serve the channel."""
    if not address:
        return ()
    found = []
    for number, frames in last.frames.items():
        # A goroutine can hold the lock that it waits for itself; it cannot serve its own channel
        # operation.
        if number == waiter and kind not in {"lock", "rwlock"}:
            continue
        for frame in _user_frames(evaluator.session, frames):
            if kind in {"lock", "rwlock"}:
                named = [(f"uintptr(&{one})", one) for one in find_locked(frame)]
            else:
                named = [
                    (f"*(*uintptr)(uintptr(&{one}))", one)
                    for one in _other_sides(frame, _SIDES[kind])
                ]
            addresses = [
                await evaluator.evaluate_address(expression, frame) for expression, _ in named
            ]
            # The same address in another goroutine's frame, whatever the source calls it there.
            if address in addresses:
                found.append(str(number))
                break
    return tuple(found)


def _function_lines(frame: Frame | TracebackFrame) -> tuple[list[str], int]:
    """Return the lines of a frame's function, and the number of the executed ones."""
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line or frame.line > len(lines):
        return [], 0
    at = frame.line - 1
    is_closure = re.search(r"\.func\d+", frame.function) is not None
    start = at
    while (
        start > 0
        and not lines[start].startswith("func ")
        and not (is_closure and "func(" in lines[start])
    ):
        start -= 1
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = at
    while end < len(lines) - 1 and not (
        lines[end].strip().startswith("}") and len(lines[end]) - len(lines[end].lstrip()) <= indent
    ):
        end += 1
    return list(lines[start : end + 1]), at - start


def find_locked(frame: Frame | TracebackFrame) -> dict[str, int]:
    """Return the locks that the source has locked before a frame's line, and not released.

    With the number of the line that locked each.
    """
    lines, at = _function_lines(frame)
    first = (frame.line or 0) - at
    locked: dict[str, int] = {}
    for number, text in enumerate(lines[:at], first):
        for freed in _FREED.finditer(text):
            if not freed[1]:
                locked.pop(freed[2], None)
        locked |= {one[1]: number for one in _LOCK.finditer(text)}
    return locked


def _other_sides(frame: Frame, patterns: Sequence[re.Pattern[str]]) -> list[str]:
    lines, _ = _function_lines(frame)
    named = [
        next(filter(None, one.groups()), "")
        for text in lines
        for pattern in patterns
        for one in pattern.finditer(text)
    ]
    return list(dict.fromkeys(filter(None, named)))
