"""Formats files, frames and breakpoint locations within a line of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from debugger.model.answers import BreakpointView, FrameView
from debugger.output.value_text import escape_text, short_name, shorten_value

_PATH = 100  # characters


def base_name(path: str) -> str:
    """Return a file's name without its folders, in POSIX and Windows paths."""
    return shorten_value(re.split(r"[/\\]", path.rstrip("/\\"))[-1], _PATH)


def file_names(paths: Iterable[str]) -> dict[str, str]:
    """Return short names for files shown together: with folders if names are equal."""
    every = list(dict.fromkeys(path for path in paths if path))
    parts = {path: re.split(r"[/\\]", path.strip("/\\")) for path in every}
    found = {}
    for path in every:
        others = [parts[other] for other in every if other != path]
        count = 1
        while count < len(parts[path]) and any(
            other[-count:] == parts[path][-count:] for other in others
        ):
            count += 1
        found[path] = shorten_value("/".join(parts[path][-count:]), _PATH)
    return found


def line_of(frame: FrameView) -> str:
    """Format `main.c:42`; the module or the address without source; or nothing."""
    if frame.file is not None:
        return base_name(frame.file) + (f":{frame.line}" if frame.line is not None else "")
    if frame.module:
        return base_name(frame.module)
    return escape_text(frame.address or "")


def function_of(frame: FrameView) -> str:
    """Return the function's name, or the address where it has none."""
    return short_name(frame.function or frame.address or "?")


def in_stack(frame: FrameView) -> str:
    """Format `sum_to main.c:42`, as in a list of frames."""
    function, line = function_of(frame), line_of(frame)
    return f"{function} {line}" if line and line != function else function


def format_chain(frames: Sequence[FrameView]) -> str:
    """Format `take pool.js:22 < render :44 < main main.js:7`, innermost first."""
    said = []
    file = None
    for frame in frames:
        is_there = file is not None and frame.file == file and frame.line is not None
        said.append(f"{function_of(frame)} :{frame.line}" if is_there else in_stack(frame))
        file = frame.file
    return " < ".join(said)


def in_sentence(frame: FrameView) -> str:
    """Format `sum_to at main.c:42`, or `memcpy in libc.so.6`, as in a sentence."""
    function, line = function_of(frame), line_of(frame)
    if not line or line == function:
        return function
    is_module = frame.file is None and bool(frame.module)
    return f"{function} {'in' if is_module else 'at'} {line}"


def place_of(view: BreakpointView) -> str:
    """Format a breakpoint's location, `main.c:41 → 42` if the debugger moved it."""
    line = _file_line(view)
    if isinstance(view.expression, str):
        return shorten_value(view.expression, _PATH)
    if isinstance(view.catch, str):
        kind = f" {short_name(view.type)}" if isinstance(view.type, str) else ""
        return short_name(view.catch) + kind
    if view.kind == "function" and view.function:
        name = short_name(view.function)
        return f"{name} at {line}" if line and view.verified else name
    if view.kind != "address" and line:
        return line
    if view.address:
        place = f"*{escape_text(view.address)}"
        return f"{place} ({line})" if line and view.verified else place
    return line or short_name(view.function or view.kind)


def _file_line(view: BreakpointView) -> str:
    asked, line = view.requested_line, view.line
    if view.file is None or (asked is None and line is None):
        return ""
    if view.verified and None not in {asked, line} and asked != line:
        return f"{base_name(view.file)}:{asked} → {line}"
    return f"{base_name(view.file)}:{line if line is not None else asked}"
