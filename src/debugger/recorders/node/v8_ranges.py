"""Reads the functions and lines that ran from V8's ranges, also for a part of a run. Pure."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, structs

from debugger.recorders.counted_recording import CoveredFunction, only_known
from debugger.recorders.model import FunctionPlace, RecordingWindow, SourcePart
from debugger.sources.javascript_outline import JavaScriptFunction, outline_text
from debugger.sources.source_map import to_utf16_units

# A line of these alone does nothing; a comment's text neither.
_NOTHING = re.compile(
    r"(?:[\s{}()\[\];,]|else\b|do\b|try\b|finally\b|'use strict'|\"use strict\")*\Z"
)
_COMMENT = ("//", "*", "/*")
_METHOD = re.compile(
    r"(?:(?:static|async|get|set|public|private|protected|override)\s+|\*\s*)*"
    r"(?:#?[\w$]+|\[[^\]]*\])\s*(?:<[^()]*>)?\("
)
_FUNCTION = re.compile(r"(?:async\s+)?function\b|(?:async\s*)?\(|(?:async\s+)?[\w$]+\s*=>")
_CLASS = re.compile(r"^([ \t]*)(?:.*?\W)?class\s+([\w$]+)[^\n]*\{[ \t]*$", re.MULTILINE)
_INITIALIZERS = frozenset({"<instance_members_initializer>", "<static_initializer>"})
MODULE = "<module>"


class CountedRange(Struct, frozen=True):
    """A range of a source that ran `count` times."""

    start: int = 0
    end: int = 0
    count: int = 0


class V8Function(Struct, frozen=True):
    """A function in V8's report: its first range covers all of it."""

    name: str
    ranges: tuple[CountedRange, ...]


class _SourceLine(Struct, frozen=True):
    start: int  # of its first character that is no space
    end: int
    text: str


class _SourceClass(Struct, frozen=True):
    """A class by its first and last line, and the index of its enclosing class, or -1."""

    start: int
    end: int
    name: str
    outer: int


class _V8Source:
    """A source text with V8's offsets."""

    def __init__(self, text: str, code_lines: frozenset[int] | None) -> None:
        self.text = to_utf16_units(text)
        self.lines: list[_SourceLine] = []
        self._starts: list[int] = []
        at, in_comment = 0, False
        for line in self.text.split("\n"):
            self._starts.append(at)
            stripped = line.strip()
            in_comment = in_comment or stripped.startswith("/*")
            is_code = not in_comment and not stripped.startswith(_COMMENT)
            if in_comment and "*/" in stripped:
                in_comment = False
            start = at + len(line) - len(line.lstrip())
            is_code = is_code and (code_lines is None or len(self._starts) in code_lines)
            does = is_code and not _NOTHING.match(stripped)
            self.lines.append(_SourceLine(start, at + len(line), stripped if does else ""))
            at += len(line) + 1
        self.classes = self._find_classes()
        self._begins = [one.start for one in self.classes]

    def line_of(self, place: int) -> int:
        """Return the line number of an offset, from 1."""
        return bisect_right(self._starts, place)

    def column_of(self, place: int) -> int:
        """Return the column of an offset, from 1."""
        return place - self._starts[self.line_of(place) - 1] + 1

    def class_of(self, place: int) -> str:
        """Return the innermost class around an offset, by its indentation."""
        at = bisect_right(self._begins, place) - 1
        while at >= 0 and self.classes[at].end <= place:
            at = self.classes[at].outer
        return self.classes[at].name if at >= 0 else ""

    def _find_classes(self) -> list[_SourceClass]:
        made: list[_SourceClass] = []
        open_: list[int] = []
        for found in _CLASS.finditer(self.text):
            indent, name = found.groups()
            # By indentation: a parser for JavaScript would cost more than it is worth here.
            end = self.text.find(f"\n{indent}}}", found.end())
            while open_ and made[open_[-1]].end <= found.start():
                open_.pop()
            outer = open_[-1] if open_ else -1
            open_.append(len(made))
            made.append(
                _SourceClass(found.start(), end if end >= 0 else len(self.text), name, outer)
            )
        return made


def place_of(text: str, line: int, column: int) -> int:
    """Return the offset of a line and a column of a text, both from 1."""
    return sum(len(one) + 1 for one in to_utf16_units(text).split("\n")[: line - 1]) + column - 1


def is_of(functions: Sequence[V8Function], text: str) -> bool:
    """Return whether ranges fit a text: a script that is changed at loading has others."""
    last = max((one.ranges[0].end for one in functions if one.ranges), default=0)
    return last <= len(to_utf16_units(text)) + 1


def without_added_end(functions: Sequence[V8Function], text: str) -> list[V8Function]:
    """End the script itself with its text: Node adds a line to one whose types it has removed."""
    end = len(to_utf16_units(text))
    return [
        structs.replace(one, ranges=tuple(_until(each, end) for each in one.ranges))
        if one.ranges and not one.name and one.ranges[0].start == 0
        else one
        for one in functions
    ]


def _until(one: CountedRange, end: int) -> CountedRange:
    return structs.replace(one, end=min(one.end, end))


def read_covered(
    functions: Sequence[V8Function],
    file: str,
    text: str,
    *,
    code_lines: frozenset[int] | None = None,
) -> list[CoveredFunction]:
    """Return the executed functions of a file in the source's order, the module first.

    `code_lines` are the lines with generated code, if a compiler has dropped others.
    """
    source = _V8Source(text, code_lines)
    # Outer functions before inner ones, even where both begin at the same place.
    known = sorted(
        (one for one in functions if one.ranges),
        key=lambda one: (one.ranges[0].start, -one.ranges[0].end),
    )
    names = _name_functions(known, source)
    parts: list[dict[tuple[int, int], SourcePart]] = [{} for _ in known]
    for number, part in _line_parts(known, source):
        parts[number][part.line, 0] = part
    for number, one in enumerate(known):
        for part in _inner_parts(one, source):
            parts[number].setdefault((part.line, part.column), part)
    return [
        only_known(
            CoveredFunction(
                names[number],
                file,
                1 if names[number] == MODULE else source.line_of(one.ranges[0].start),
                one.ranges[0].count,
                tuple(part for _, part in sorted(parts[number].items())),
            )
        )
        for number, one in enumerate(known)
        if any(each.count for each in one.ranges)
    ]


def _name_functions(known: Sequence[V8Function], source: _V8Source) -> list[str]:
    """Name functions by their surroundings: `Cart.total`, `report.<anonymous> 2`."""
    names: list[str] = []
    taken: dict[str, int] = {}
    open_: list[tuple[int, str]] = []
    for one in known:
        outer = one.ranges[0]
        # Functions that have ended before this one begins.
        while open_ and open_[-1][0] <= outer.start:
            open_.pop()
        if not open_ and not one.name and outer.start == 0:
            name = MODULE
        else:
            name = _function_name(one.name, outer, source, open_[-1][1] if open_ else MODULE)
        # A number, and no line: it is to be the same when lines were added before it.
        taken[name] = taken.get(name, 0) + 1
        names.append(name if taken[name] == 1 else f"{name} {taken[name]}")
        if one.name not in _INITIALIZERS:
            open_.append((outer.end, names[-1]))
    return names


def _function_name(given: str, span: CountedRange, source: _V8Source, outer: str) -> str:
    given = given.removeprefix("get ").removeprefix("set ")
    own = given or "<anonymous>"
    if given in _INITIALIZERS:
        # V8 gives these the range from a class's first field to its last.
        within = source.class_of(span.start + 1) or source.class_of(span.end - 1)
        return f"{within}.{given}" if within else given
    head = source.text[span.start : span.start + 200]
    is_method = not _FUNCTION.match(head) and bool(_METHOD.match(head))
    if is_method and head.startswith("constructor"):
        own = f"{given}.constructor" if given else "constructor"
    elif is_method and (holder := source.class_of(span.start)):
        own = f"{holder}.{own}"
    return own if outer == MODULE else f"{outer}.{own}"


def _line_parts(known: Sequence[V8Function], source: _V8Source) -> Iterator[tuple[int, SourcePart]]:
    """Return each line with code, and the index of its function."""
    ranges = sorted(
        (one.start, -one.end, place > 0, number, one.count)
        for number, function in enumerate(known)
        for place, one in enumerate(function.ranges)
    )
    open_: list[tuple[int, int, int]] = []  # ends, functions, counts: the innermost is the last
    following = 0
    for line, one in enumerate(source.lines, 1):
        while following < len(ranges) and ranges[following][0] <= one.start:
            start, end, _, number, count = ranges[following]
            while open_ and open_[-1][0] <= start:
                open_.pop()
            open_.append((-end, number, count))
            following += 1
        while open_ and open_[-1][0] <= one.start:
            open_.pop()
        header = known[open_[-1][1]].ranges[0] if open_ else None
        is_header = header is not None and header.start == one.start and header.end > one.end
        if one.text and open_ and not is_header:
            yield open_[-1][1], SourcePart(line, times=open_[-1][2])


def _inner_parts(function: V8Function, source: _V8Source) -> Iterator[SourcePart]:
    """Return the parts with code that begin within lines.

    Functions of one line are such parts, and so are the branches of a condition.
    """
    span, *blocks = function.ranges
    is_one_line = source.line_of(span.start) == source.line_of(span.end)
    for one in [span, *blocks] if is_one_line else blocks:
        text = source.text[one.start : one.end]
        # A minifier writes an if as `&&`, and its place is before the bracket of the condition.
        head = text.lstrip("?:&|) \t\r\n")
        start = one.start + len(text) - len(head)
        line = source.line_of(start)
        at = source.lines[line - 1]
        if at.text and start > at.start and not _NOTHING.match(head.partition("\n")[0]):
            to = source.column_of(one.end) if one.end < at.end else 0
            yield SourcePart(line, source.column_of(start), to, one.count)


def of_part(
    functions: Sequence[V8Function], known: Sequence[Sequence[V8Function]]
) -> list[V8Function]:
    """Add functions from other parts that this one did not enter, for their names."""
    found = {_range_key(one): one for each in known for one in each if one.ranges}
    for one in functions:
        found.pop(_range_key(one), None)
    nothing = [
        V8Function(one.name, (CountedRange(start, end, 0),)) for (start, end), one in found.items()
    ]
    return [*functions, *nothing]


def with_call(
    functions: Sequence[V8Function], before: Sequence[V8Function], place: int
) -> list[V8Function]:
    """Count the call during which a part began: V8 counted it before that part."""
    enclosing = [one for one in before if one.ranges and _contains_place(one.ranges[0], place)]
    begun = min(enclosing, key=lambda one: one.ranges[0].end - one.ranges[0].start, default=None)
    if begun is None or begun.ranges[0].count != 1:
        return list(functions)
    return [
        _add_counts(one, begun) if _range_key(one) == _range_key(begun) else one
        for one in functions
    ]


def _range_key(one: V8Function) -> tuple[int, int]:
    return one.ranges[0].start, one.ranges[0].end


def _contains_place(one: CountedRange, place: int) -> bool:
    return one.start <= place < one.end


def _add_counts(one: V8Function, other: V8Function) -> V8Function:
    """Sum a function's counts in two parts, whose blocks may differ."""
    start, end = _range_key(one)
    edges = sorted(
        {edge for each in (one, other) for r in each.ranges for edge in (r.start, r.end)}
    )
    total = one.ranges[0].count + other.ranges[0].count
    found = [CountedRange(start, end, total)]
    for first, last in pairwise(edges):
        count = _innermost_count(one, first) + _innermost_count(other, first)
        if found[1:] and found[-1].end == first and found[-1].count == count:
            found[-1] = CountedRange(found[-1].start, last, count)
        elif count != total:
            found.append(CountedRange(first, last, count))
    return V8Function(one.name, tuple(found))


def _innermost_count(one: V8Function, place: int) -> int:
    """Return the count of the innermost range around an offset."""
    enclosing = [each for each in one.ranges if _contains_place(each, place)]
    return min(enclosing, key=lambda each: each.end - each.start).count if enclosing else 0


_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
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
