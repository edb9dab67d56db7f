"""Finds the JavaScript source locations at which the counting of a window begins and ends."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.recorders.node.v8_ranges import to_utf16_units
from debugger.recorders.recording_order import FunctionPlace, RecordingWindow
from debugger.sources.javascript_outline import JavaScriptFunction, outline_text

_SUFFIXES = (".js", ".mjs", ".cjs")
_FOLDERS_OUT = frozenset({"node_modules", "__pycache__"})
_FILES_MAX = 2_000  # sources to search
_SIZE_MAX = 1 << 19  # bytes; what is longer was written by a program
_LAST = re.compile(r"[\w$]+\Z")
_PLACES_MAX = 200


class NodeMark(Struct, frozen=True):
    """A line and a column in UTF-16 units, from 1, at a function's entry or within it."""

    url: str
    file: str
    line: int
    column: int
    is_entry: bool


class WindowMarks(Struct, frozen=True):
    """The locations at which the counting begins and ends."""

    start: tuple[NodeMark, ...]
    to: tuple[NodeMark, ...]


def find_window_marks(window: RecordingWindow, roots: Sequence[str]) -> WindowMarks:
    """Find both locations in the sources below `roots`."""
    start: list[NodeMark] = []
    to: list[NodeMark] = []
    for path in _source_paths(roots, window):
        try:
            text = to_utf16_units(path.read_bytes().decode("utf-8-sig", "replace"))
        except (OSError, ValueError):
            continue
        start += _location_marks(window, window.start, path, text)
        to += _location_marks(window, window.to, path, text)
    return WindowMarks(tuple(start[:_PLACES_MAX]), tuple(to[:_PLACES_MAX]))


def _location_marks(
    window: RecordingWindow, place: FunctionPlace, path: Path, text: str
) -> list[NodeMark]:
    """Return the marks for the functions of a name, or for a line, in one source."""
    if line := window.has_line(place, str(path)):
        return [_mark_of_line(line, path, text)]
    last = _LAST.search(place.name)
    if not place.name or (last is not None and last[0] not in text):
        return []
    functions = outline_text(text).functions
    return [
        _entry_mark(path, one)
        for one in functions
        if one.name and window.has_name(place, one.name, _qualified_name(one, functions))
    ]


def _mark_of_line(line: int, path: Path, text: str) -> NodeMark:
    """Return the mark of a line; at a function's beginning, the function's entry."""
    for one in outline_text(text).functions:
        is_header = bool(one.name) and one.first_line == line < one.line
        if is_header or (one.line == line > one.first_line):
            return _entry_mark(path, one)
    return NodeMark(path.as_uri(), str(path), line, 1, is_entry=False)


def _entry_mark(path: Path, one: JavaScriptFunction) -> NodeMark:
    return NodeMark(path.as_uri(), str(path), one.line, one.column, is_entry=True)


def _qualified_name(one: JavaScriptFunction, functions: Sequence[JavaScriptFunction]) -> str:
    """Prefix a function's name with those of its enclosing functions."""
    outer = [
        other
        for other in functions
        if other is not one and other.name and other.begin < one.begin and one.end <= other.end
    ]
    return ".".join(each.name for each in (*sorted(outer, key=lambda other: other.begin), one))


def _source_paths(roots: Sequence[str], window: RecordingWindow) -> Iterator[Path]:
    """Return the sources, and those that a location names by a whole path, each once."""
    named = [Path(one.file) for one in (window.start, window.to) if Path(one.file).is_absolute()]
    taken: set[str] = set()
    for path in (*named, *_sources_below(roots)):
        real = os.path.realpath(path)
        if real not in taken and len(taken) < _FILES_MAX and _is_source(Path(real)):
            taken.add(real)
            yield Path(real)


def _is_source(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _SIZE_MAX
    except OSError:
        return False


def _sources_below(roots: Sequence[str]) -> Iterator[Path]:
    for root in roots:
        for folder, inner, files in os.walk(root):
            inner[:] = sorted(
                one for one in inner if one not in _FOLDERS_OUT and not one.startswith(".")
            )
            yield from (Path(folder, one) for one in sorted(files) if one.endswith(_SUFFIXES))
