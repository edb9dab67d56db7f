"""Finds where a program crashed by its own traceback (Python and Node). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from msgspec import Struct

_BEGINS = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s+File "(?P<file>[^"]+)", line (?P<line>\d+),? in (?P<function>\S+)')
_REPEATED = re.compile(r"\s+\[Previous line repeated (\d+) more times?\]")
_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
_CURRENT = "Current thread 0x"  # the others stand before it
_FATAL = re.compile(r"Fatal Python error: (?P<what>.*)")

_NODE_ENDS = re.compile(r"Node\.js v\d")
_NODE_POINTS = re.compile(r"\s*\^+\s*$")  # below the statement, or below what ended the program
_NODE_RAISED = re.compile(
    r"(?:Uncaught )?(?P<type>[A-Za-z_$][\w$.]*)(?: \[\w+\])?(?:: (?P<message>.*))?$"
)
_NODE_FRAME = re.compile(
    r"\s+at (?:(?:async |new )*(?P<function>[^()]+?)(?: \[as [^]]+\])? \()?"
    r"(?:async )?(?P<file>[^()]+):(?P<line>\d+):\d+\)?(?: \{)?$"
)
_NODE_URL = "file://"
_NODE_FATAL = re.compile(r"FATAL ERROR: (?P<what>.*)")
_NODE_PLACE = re.compile(r"(?:file://)?/\S+\.[cm]?[jt]sx?:\d+$")


class TracebackFrame(Struct, frozen=True):
    """A frame of a traceback."""

    function: str
    file: str
    line: int


class Traceback(Struct, frozen=True):
    """What a traceback tells, innermost frame first; `depth` counts what it left out, too."""

    type: str
    message: str
    frames: tuple[TracebackFrame, ...]
    depth: int
    is_fatal: bool = False


def parse_traceback(lines: Sequence[str]) -> Traceback | None:
    """Return the last traceback of an output, or what Python's fault handler has written."""
    if any(_NODE_ENDS.match(line) for line in lines):
        return _parse_node(lines)
    fatal = next((at for at, line in enumerate(lines) if _FATAL.match(line)), None)
    if fatal is not None:
        return _parse_fault_handler(lines[fatal:])
    begins = [at for at, line in enumerate(lines) if line.strip().endswith(_BEGINS)]
    return _parse_python(lines[begins[-1] + 1 :]) if begins else None


def _parse_python(lines: Sequence[str]) -> Traceback | None:
    frames: list[TracebackFrame] = []
    depth = 0
    for line in lines:
        frame, repeated = _FRAME.match(line), _REPEATED.match(line)
        if frame:
            frames.append(TracebackFrame(frame["function"], frame["file"], int(frame["line"])))
            depth += 1
        elif repeated:
            depth += int(repeated[1])
        elif line and not line[0].isspace():
            raised = _RAISED.match(line)
            if raised is None or not frames:
                return None
            return Traceback(raised["type"], raised["message"] or "", tuple(frames[::-1]), depth)
    return None


def _parse_fault_handler(lines: Sequence[str]) -> Traceback | None:
    match = _FATAL.match(lines[0])
    frames: list[TracebackFrame] = []
    current = next((at for at, line in enumerate(lines) if line.startswith(_CURRENT)), 0)
    for line in lines[current + 1 :]:
        frame = _FRAME.match(line)
        if frame:
            frames.append(TracebackFrame(frame["function"], frame["file"], int(frame["line"])))
        elif frames:
            break
    if match is None or not frames:
        return None
    return Traceback("", match["what"], tuple(frames), len(frames), is_fatal=True)


def _parse_node(lines: Sequence[str]) -> Traceback | None:
    points = [at for at, line in enumerate(lines) if _NODE_POINTS.match(line)]
    after = [line for line in lines[points[-1] + 1 :] if line.strip()] if points else []
    raised = _NODE_RAISED.match(after[0]) if after else None
    if raised is None:
        return None
    frames: list[TracebackFrame] = []
    for line in after[1:]:
        frame = _NODE_FRAME.match(line)
        if frame:
            file = frame["file"]
            path = unquote(file.removeprefix(_NODE_URL)) if file.startswith(_NODE_URL) else file
            frames.append(
                TracebackFrame(frame["function"] or "<anonymous>", path, int(frame["line"]))
            )
        elif frames:
            break
    if not frames:
        return None
    return Traceback(raised["type"], raised["message"] or "", tuple(frames), len(frames))


def fatal_error(lines: Sequence[str]) -> str | None:
    """Return the words with which V8 ends a process, as it does when its heap is full."""
    found = [match["what"] for line in lines if (match := _NODE_FATAL.match(line))]
    return found[-1] if found else None


def is_cut(lines: Sequence[str]) -> bool:
    """Tell whether Node's report of an uncaught error begins in an output, and does not end.

    It writes the whole source line first; of what a process writes into a pipe as it ends, Node
    loses all but 64 KB.
    """
    begins = any(_NODE_PLACE.match(line) for line in lines)
    return begins and not any(_NODE_ENDS.match(line) for line in lines)


def innermost_user_frame(found: Traceback, is_library: Callable[[str], bool]) -> TracebackFrame:
    """Return the innermost frame that is the user's; the innermost where none is."""
    return next((one for one in found.frames if not is_library(one.file)), found.frames[0])
