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

# The adapters' own variable: `kind;type;owners`, empty for a thread that runs. As a function of
# Java's, the class of an object if the thread waits for it.
_WAIT = "$wait"
_PARTS = 3
_ABOVE = 2
# Kinds without a name: what is said where nothing is known of what is awaited.
_UNNAMED = {"io": "input or output", "waiting": "another thread"}
_MONITOR = re.compile(r"\bsynchronized\s*\(\s*([^()]+?)\s*\)")
# Of Java the methods that wait in each way; all of them where it is none of these.
_JAVA_METHODS = {
    "lock": r"lock\w*",
    "rwlock": r"lock\w*",
    "condition": r"await\w*|wait|take|put|poll|offer",
    "receive": r"take|put|poll|offer|transfer",
    "send": r"put|offer",
    "semaphore": r"acquire\w*",
    "group": r"await\w*",
    "join": r"join",
}
_ANY_METHOD = r"lock\w*|await\w*|acquire\w*|wait|join|take|put|poll|offer|transfer|get"
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


async def _evaluate_text(session: Session, expression: str, frame: Frame) -> str:
    """Return a text of the adapter's; "" where it has none, as of a thread that has ended."""
    try:
        value = await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return ""
    return value.value.strip('"')


async def _read_wait(session: Session, frames: Sequence[Frame]) -> ThreadWait | None:
    parts = (await _evaluate_text(session, _WAIT, frames[0])).split(";")
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
        named, type_name = await _find_awaited(session, own, lines) or ("", type_name)
    return describe_wait(kind, named, type_name, tuple(owners.split(",")) if owners else ())


def describe_wait(kind: str, named: str, type_name: str, owners: tuple[str, ...]) -> ThreadWait:
    """Describe a wait by the name and the class of what is awaited, where they are known."""
    shown = f"{named} ({type_name})" if named and type_name else named or type_name
    if kind == "join" and not named:
        shown = "a thread"
    if kind in _UNNAMED:
        shown = f"waits for {shown or _UNNAMED[kind]}"
    return ThreadWait(kind, shown, owners)


async def _find_awaited(
    session: Session, frame: Frame | None, lines: Sequence[str]
) -> tuple[str, str] | None:
    """Return what is awaited as the source names it, with its class; the adapter compares."""
    if frame is None:
        return None
    for name in dict.fromkeys((*_list_called(lines, _ANY_METHOD), *_list_monitors(lines))):
        if name and (type_name := await _evaluate_text(session, f"{_WAIT}({name})", frame)):
            return name, type_name
    return None


def find_awaited_expression(kind: str, lines: Sequence[str], *, is_monitor: bool = False) -> str:
    """Return what the last of some lines waits for as it is written, if that can be one alone.

    HotSpot 17 is at the line behind `synchronized (X)` while it waits for X.
    """
    if is_monitor:
        found = _list_monitors(lines[-1:]) or _list_monitors(lines)
    else:
        found = _list_called(lines, _JAVA_METHODS.get(kind, _ANY_METHOD))
    return found[0] if len(set(found)) == 1 else ""


def _list_called(lines: Sequence[str], methods: str) -> list[str]:
    """Return what such methods are called of on the last line; "" where it is no plain name."""
    return re.findall(rf"([\w.\[\]]*)\.(?:{methods})\(", lines[-1]) if lines else []


def _list_monitors(lines: Sequence[str]) -> list[str]:
    return [name for line in reversed(lines) for name in _MONITOR.findall(line)]


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
