"""Converts the counts of a generated script to counts of its sources, by its source map."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from msgspec import Struct, structs

from debugger.recorders.node.v8_ranges import CountedRange, V8Function
from debugger.sources.javascript_outline import JavaScriptFunction, outline_text
from debugger.sources.source_map import (
    MapSegment,
    decode_mappings,
    read_source_map,
    to_utf16_units,
)

_BEFORE_FUNCTION = re.compile(r"(?:export|default|async|function|\s)*\Z")
_CLASS = re.compile(r"(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\b")


class MapData(Struct, frozen=True, rename="camel"):
    """A source map; Node has made its sources absolute URLs."""

    mappings: str = ""
    sources: tuple[str | None, ...] = ()
    sources_content: tuple[str | None, ...] | None = None


class CachedMap(Struct, frozen=True, rename="camel"):
    """Node's record of a script with a source map (see "source map cache" in Node's docs)."""

    line_lengths: tuple[int, ...] = ()
    data: MapData | None = None


def original_location(script: str, line: int, column: int) -> tuple[str, int] | None:
    """Return the source and the line of a location of a compiled script, both counted from 1.

    None if the script has no source map, or the source does not exist.
    """
    path = Path(script)
    found = read_source_map(path)
    if found is None:
        return None
    lengths = [
        len(one) for one in to_utf16_units(path.read_text("utf-8-sig", "replace")).split("\n")
    ]
    segments = decode_mappings(found.mappings, tuple(lengths))
    if not 1 <= line <= len(lengths):
        return None
    at = sum(lengths[: line - 1]) + line - 1 + column - 1
    number = bisect_right([one.at for one in segments], at) - 1
    if number < 0 or segments[number].source < 0 or segments[number].line_end < at:
        return None
    one = segments[number]
    source = found.sources[one.source] if one.source < len(found.sources) else None
    return (source, one.line + 1) if source is not None and Path(source).is_file() else None


class OriginalCounts(Struct, frozen=True):
    """The functions of one source in V8's form, and its lines that have generated code."""

    functions: tuple[V8Function, ...]
    code_lines: frozenset[int]


def counts_of_sources(
    functions: Sequence[V8Function], cached: CachedMap, texts: Mapping[int, str]
) -> dict[int, OriginalCounts]:
    """Convert V8's counts of a script; `texts` are the sources' texts by index."""
    if cached.data is None:
        return {}
    segments = decode_mappings(cached.data.mappings, cached.line_lengths)
    finder = _OriginalFinder(segments, texts)
    own: dict[int, dict[tuple[int, int], V8Function]] = {}
    outside: list[V8Function] = []  # the loader's own functions, and those around whole sources
    for one in functions:
        found = finder.original_function(one) if one.ranges else None
        if found is None:
            outside.append(one)
        else:
            number, function = found
            key = (function.ranges[0].start, function.ranges[0].end)
            own.setdefault(number, {}).setdefault(key, function)
    made: dict[int, OriginalCounts] = {}
    for number, text in texts.items():
        used = [one for one in segments if one.source == number]
        if not used:
            continue
        times = _innermost_count(outside, used[0].at)
        whole_file = V8Function("", (CountedRange(0, len(to_utf16_units(text)), times),))
        known = [whole_file, *own.get(number, {}).values()]
        blocks = [
            block
            for one in outside
            for each in one.ranges[1:]
            if (block := finder.original_block(each, number)) is not None
        ]
        code_lines = frozenset(one.line + 1 for one in used)
        made[number] = OriginalCounts(tuple(_with_blocks(known, blocks)), code_lines)
    return made


class _OriginalFinder:
    """Finds the source location of a script location."""

    def __init__(self, segments: Sequence[MapSegment], texts: Mapping[int, str]) -> None:
        self._segments = segments
        self._places = [one.at for one in segments]
        self._texts = {number: to_utf16_units(text) for number, text in texts.items()}
        self._lengths = {
            number: [len(line) for line in text.split("\n")] for number, text in self._texts.items()
        }
        self._starts = {
            number: [0, *accumulate(length + 1 for length in lengths)]
            for number, lengths in self._lengths.items()
        }
        self._first_columns: dict[tuple[int, int], int] = {}
        for one in segments:
            key = (one.source, one.line)
            self._first_columns[key] = min(one.column, self._first_columns.get(key, one.column))
        self._outlines = {
            number: outline_text(text).functions for number, text in self._texts.items()
        }

    def original_function(self, one: V8Function) -> tuple[int, V8Function] | None:
        """Return a source's function; a compiler's own one has no known source."""
        if not one.name and one.ranges[0].start == 0:  # the script itself
            return None
        number, original = self._original_range(one.ranges[0], is_exact=True)
        if original is None or self._is_added(one.name, self._texts[number], original):
            return None
        blocks = filter(None, [self.original_block(each, number) for each in one.ranges[1:]])
        return number, V8Function(
            self._original_name(one.name, number, original), (original, *blocks)
        )

    def _is_added(self, name: str, text: str, outer: CountedRange) -> bool:
        """Test whether a compiler added a function to a class: a constructor, or a static block."""
        own = text[outer.start : outer.end]
        is_static = name == "<static_initializer>" and "static" not in own
        return is_static or (not name.startswith("<") and bool(_CLASS.match(own)))

    def original_block(self, one: CountedRange, number: int) -> CountedRange | None:
        """Return a block that lies within one source.

        A block that begins with its line's first generated code begins with the line: the text
        before it, such as `if (`, has no generated code.
        """
        source, found = self._original_range(one)
        if source != number or found is None:
            return None
        line = bisect_right(self._starts[number], found.start) - 1
        first = self._starts[number][line]
        if found.start == first + self._first_columns.get((number, line), -1):
            return structs.replace(found, start=first)
        return found

    def _original_range(
        self, one: CountedRange, *, is_exact: bool = False
    ) -> tuple[int, CountedRange | None]:
        start = self._original_location(one.start, is_exact=is_exact)
        end = self._original_location(one.end - 1, is_near=True)
        if start is None or end is None or start[0] != end[0] or end[1] < start[1]:
            return -1, None
        return start[0], CountedRange(start[1], end[1] + 1, one.count)

    def _original_location(
        self, at: int, *, is_exact: bool = False, is_near: bool = False
    ) -> tuple[int, int] | None:
        """Return the source and the location for a script location.

        A bracket that a compiler added at an end has the location of the code before it.
        """
        number = bisect_right(self._places, at) - 1
        one = self._segments[number] if number >= 0 else None
        if one is None or one.source not in self._texts:
            return None
        is_beyond = at > one.line_end
        lengths = self._lengths[one.source]
        if (is_exact and one.at != at) or one.line >= len(lengths) or (is_beyond and not is_near):
            return None
        column = min(one.column + (0 if is_beyond else at - one.at), lengths[one.line])
        return one.source, self._starts[one.source][one.line] + column

    def _original_name(self, given: str, number: int, outer: CountedRange) -> str:
        """Return the source's name of a function that a minifier has renamed."""
        text = self._texts[number]
        plain = given.removeprefix("get ").removeprefix("set ")
        line = bisect_right(self._starts[number], outer.start)
        first = self._starts[number][line - 1]
        before = text[first : outer.start + 200]
        if plain and plain in before.replace("(", " ").replace("<", " ").split():
            return given
        column = outer.start - first + 1
        near: list[JavaScriptFunction] = [
            one for one in self._outlines[number] if one.first_line == line
        ]
        found = min(near, key=lambda one: abs(one.begin[1] - column), default=None)
        if found is None or not found.name:
            return given
        # A place may be that of the words before a function's own.
        between = text[slice(*sorted((outer.start, first + found.begin[1] - 1)))]
        if not plain and not _BEFORE_FUNCTION.match(between):
            return given
        owner, _, name = found.name.rpartition(".")
        return owner.rpartition(".")[2] if owner and name == "constructor" else name


def _innermost_count(functions: Sequence[V8Function], at: int) -> int:
    """Return the count of the innermost range around a script location."""
    enclosing = [one for each in functions for one in each.ranges if one.start <= at < one.end]
    return min(enclosing, key=lambda one: one.end - one.start).count if enclosing else 1


def _with_blocks(
    known: Sequence[V8Function], blocks: Sequence[CountedRange]
) -> Iterator[V8Function]:
    """Assign blocks to their innermost functions."""
    added: dict[int, list[CountedRange]] = {}
    for block in blocks:
        enclosing = [
            (one.ranges[0].end - one.ranges[0].start, number)
            for number, one in enumerate(known)
            if one.ranges[0].start <= block.start and block.end <= one.ranges[0].end
        ]
        if enclosing:
            added.setdefault(min(enclosing)[1], []).append(block)
    for number, one in enumerate(known):
        yield structs.replace(one, ranges=(*one.ranges, *added.get(number, ())))
