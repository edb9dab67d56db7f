"""Explains the waits of threads by what our own adapters report of them: Java's and Ruby's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import Runtime
from debugger.model.program import EvaluationPurpose, Frame
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.thread_sampling import SampledThread, StackSample
from debugger.session import source_files
from debugger.session.session import Session

# The adapters' own variable: `kind;type;owners`, empty for a thread that runs.
_WAIT = "$wait"
_PARTS = 3
_ABOVE = 2
# Kinds without a name: what is said where nothing is known of what is awaited.
_UNNAMED = {"io": "input or output", "waiting": "another thread"}
_MONITOR = re.compile(r"\bsynchronized\s*\(\s*([^()]+?)\s*\)")
_CALLED = re.compile(
    r"([\w.\[\]]+)\.(?:lock\w*|await\w*|acquire\w*|wait|join|take|put|get|transfer)\("
)
# Of Ruby the methods that wait in each way.
_RUBY_METHODS = {
    "lock": "synchronize|lock|enter|mon_enter|mon_synchronize",
    "condition": "wait",
    "receive": "pop|shift|deq",
    "send": "push|enq",
    "join": "join|value",
}


async def merge_reported_waits(
    session: Session, stacks: Sequence[StackSample]
) -> list[SampledThread]:
    """Merge the samples of each thread, and add its wait (a job)."""
    last = stacks[-1]
    found = []
    for one in last.threads:
        frames = last.frames.get(one.id, ())
        found.append(
            SampledThread(
                key=str(one.id),
                name="the main thread" if one.name == "main" else f"thread {one.id} ({one.name})",
                stacks=tuple(each.places[one.id] for each in stacks if one.id in each.places),
                wait=await _read_wait(session, frames) if frames else None,
            )
        )
    return found


async def _read_wait(session: Session, frames: Sequence[Frame]) -> ThreadWait | None:
    try:
        value = await session.backend.evaluate(_WAIT, frames[0], EvaluationPurpose.PRINT)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return None  # the thread has ended since its stack was read
    parts = value.value.strip('"').split(";")
    if len(parts) != _PARTS:
        return None
    kind, type_name, owners = parts
    own = next((one for one in frames if one.file is not None and not one.is_subtle), None)
    lines = _source_lines(own)
    if kind == "sleep":
        named = ""  # what stands around the call is not awaited
    elif session.traits.runtime is Runtime.RUBY:
        named = find_ruby_receiver(kind, lines[-1]) if lines else ""
    else:
        named = find_awaited_expression(lines)
    shown = f"{named} ({type_name})" if named and type_name else named or type_name
    if kind == "join" and not named:
        shown = "a thread"
    if kind in _UNNAMED:
        shown = f"waits for {shown or _UNNAMED[kind]}"
    return ThreadWait(kind, shown, tuple(owners.split(",")) if owners else ())


def find_awaited_expression(lines: Sequence[str]) -> str:
    """Return what the last of some lines of source waits for, as it is written there.

    HotSpot 17 is at the line behind `synchronized (X)` while it waits for X.
    """
    if not lines:
        return ""
    match = _CALLED.search(lines[-1]) or _MONITOR.search(lines[-1])
    for line in reversed(lines[:-1]):
        match = match or _MONITOR.search(line)
    return match[1] if match is not None else ""


def find_ruby_receiver(kind: str, line: str) -> str:
    """Return what a line of Ruby waits for in this way, as it is written: `@jobs` of a pop."""
    methods = _RUBY_METHODS.get(kind)
    match = re.search(rf"([@$]*[\w.\[\]@$]+)\.(?:{methods})\b", line) if methods else None
    return match[1] if match is not None else ""


def _source_lines(frame: Frame | None) -> list[str]:
    lines = source_files.read_source(frame.file) if frame is not None and frame.file else None
    if frame is None or lines is None or not frame.line or frame.line > len(lines):
        return []
    return list(lines[max(0, frame.line - _ABOVE) : frame.line])
