"""Finds the names that a compiler gave to the variables of a source, by the source map.

A minifier renames variables, and merges or removes some. A name of the source means a variable only
at a location: two functions may have a variable of one name, and two variables one compiled name.
"""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from debugger.sources.expression_names import KEYWORDS, rename_variables, variables_of
from debugger.sources.javascript_outline import (
    JavaScriptOutline,
    blank_quoted,
    match_brackets,
    outline_text,
)
from debugger.sources.source_map import (
    MapSegment,
    decode_mappings,
    read_source_map,
    to_utf16_units,
)

_NEXT_LINES = 3  # without code, after which a debugger sets a breakpoint
_LISTED_MAX = 8  # names in a message
_SIZE_MAX = 8 << 20  # bytes of a script, and of its map's mappings
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")

_Rank = tuple[int, int, int]


class NamePair(Struct, frozen=True):
    """A name of the source, and what the script has for it at an offset."""

    original: str
    compiled: str
    at: int


class CompiledScript:
    """A script, its functions and blocks, and the names that its source map gives."""

    def __init__(self, text: str, segments: Sequence[MapSegment], names: Sequence[str]) -> None:
        self._text = to_utf16_units(text)
        self._segments = segments
        self._names = names
        self._starts = [0, *(one.end() for one in re.finditer("\n", self._text))]
        self._functions = sorted(
            (self._offset(one.begin), self._offset(one.end))
            for one in outline_text(self._text).functions
        )
        blocks = match_brackets(blank_quoted(self._text)).items()
        self._blocks = sorted(one for one in blocks if self._text[one[0]] == "{")

    @functools.cached_property
    def is_renamed(self) -> bool:
        """Whether a variable has another name than in its source."""
        return any(
            self._names[one.name] != found[0]
            for one in self._segments
            if 0 <= one.name < len(self._names)
            and (found := _IDENTIFIER.match(self._text, one.at)) is not None
        )

    def original_location(self, line: int, column: int) -> tuple[int, int, int] | None:
        """Return the source, line and column of a location; all but the source count from 1."""
        at = self._offset((line, column)) if line <= len(self._starts) else -1
        number = bisect_right(self._segments, at, key=lambda one: one.at) - 1
        one = self._segments[number] if number >= 0 else None
        if one is None or one.source < 0 or one.line_end < at:
            return None
        return one.source, one.line + 1, one.column + 1

    def names_at(
        self, source: int, line: int, column: int, sources: Mapping[int, Sequence[str]]
    ) -> Mapping[str, str] | None:
        """Return the compiled names of variables at a location of a source, by their names there.

        Line and column count from 1. `sources` are the lines of the sources by number, for maps
        that list no names. None: the location has no code.
        """
        place = self._find_place(source, line, column)
        if place is None:
            return None
        around = [one for one in self._functions if one[0] <= place <= one[1]]
        best: dict[str, tuple[_Rank, str]] = {}
        for segment in self._segments:
            pair = self._pair_of(segment, sources)
            function = self._innermost(self._functions, segment.at) if pair is not None else None
            if pair is None or (function is not None and function not in around):
                continue
            block = self._innermost(self._blocks, segment.at)
            is_around = block is None or block[0] <= place <= block[1]
            # The innermost variable of a name counts; of others of its function, the nearest.
            depth = function[0] if function is not None else -1
            inner = block[0] if is_around and block is not None else -1
            rank = (int(is_around), max(depth, inner), -abs(segment.at - place))
            if pair.original not in best or rank > best[pair.original][0]:
                best[pair.original] = (rank, pair.compiled)
        return _without_shadowed(best)

    def _offset(self, position: tuple[int, int]) -> int:
        return self._starts[position[0] - 1] + position[1] - 1

    def _find_place(self, source: int, line: int, column: int) -> int | None:
        """Return the offset of the first code of a line, from a column on, or of the next line."""
        here = [
            one
            for one in self._segments
            if one.source == source and 0 <= one.line + 1 - line <= _NEXT_LINES
        ]
        later = [one for one in here if (one.line + 1, one.column + 1) >= (line, column)]
        first = min(later or here, key=lambda one: (one.line, one.column, one.at), default=None)
        return first.at if first is not None else None

    def _innermost(self, spans: Sequence[tuple[int, int]], at: int) -> tuple[int, int] | None:
        """Return the innermost of nested spans around an offset."""
        number = bisect_right(spans, (at, len(self._text))) - 1
        while number >= 0 and spans[number][1] < at:
            number -= 1
        return spans[number] if number >= 0 else None

    def _pair_of(
        self, segment: MapSegment, sources: Mapping[int, Sequence[str]]
    ) -> NamePair | None:
        """Return the pair at a segment; None if it is no variable."""
        found = _MEMBER.match(self._text, segment.at)
        if found is None or segment.source < 0 or self._is_key(segment.at, found.end()):
            return None
        lines = sources.get(segment.source, ())
        text = lines[segment.line] if segment.line < len(lines) else ""
        in_source = _IDENTIFIER.match(text, segment.column)
        if 0 <= segment.name < len(self._names):
            original = self._names[segment.name]
        elif in_source is not None:
            original = in_source[0]
        else:
            return None
        # An import may have become a property: `total` of `cart_1.total`.
        member, first = found[0], found[0].partition(".")[0]
        is_import = member != first and member.endswith(f".{original}")
        is_member = in_source is not None and text[in_source.end() : in_source.end() + 1] == "."
        if original in KEYWORDS or first in KEYWORDS:
            return None
        return NamePair(original, member if is_import and not is_member else first, segment.at)

    def _is_key(self, start: int, end: int) -> bool:
        """Return whether a word is a property's name: behind a dot, or a key in an object."""
        before = self._text[max(0, start - 3) : start].rstrip()
        if before.endswith((".", "#")) and not before.endswith("..."):
            return True
        return before.endswith(("{", ",")) and self._text[end : end + 2].lstrip().startswith(":")


def _without_shadowed(best: Mapping[str, tuple[_Rank, str]]) -> Mapping[str, str]:
    """Leave out variables whose compiled name means a variable further inside."""
    owners: dict[str, tuple[_Rank, str]] = {}
    for rank, compiled in best.values():
        first = compiled.partition(".")[0]
        owners[first] = max(owners.get(first, (rank, compiled)), (rank, compiled))
    # Of several variables with one compiled name the innermost is meant; imports share a module's.
    return {
        original: compiled
        for original, (rank, compiled) in best.items()
        if (owner := owners[compiled.partition(".")[0]])[0] == rank
        or ("." in compiled and "." in owner[1])
    }


class OriginalNames:
    """The names of one source, in the script that it was compiled to."""

    def __init__(
        self, script: str, number: int, compiled: CompiledScript, lines: Sequence[str]
    ) -> None:
        self._script = Path(script).name
        self._lines = lines
        self._number = number
        self._compiled = compiled

    def compile_expression(self, expression: str, line: int, column: int = 1) -> str:
        """Write an expression at a location with the names that its variables have in the script.

        A variable that the script does not have there fails with what to write instead.
        """
        names = self._compiled.names_at(self._number, line, column, {self._number: self._lines})
        if names is None:
            return expression
        missing = {
            name: self._failure_of(name, line, names)
            for name in variables_of(expression)
            if name not in names and self._has_word(name)
        }
        return rename_variables(expression, {**names, **missing})

    def _failure_of(self, name: str, line: int, names: Mapping[str, str]) -> str:
        """Write what a variable is replaced by that the script does not have at a location."""
        advice = self._advise(name, line, names)
        why = json.dumps(f"{name} has no variable in {self._script} here: {advice}")
        failure = f"(()=>{{throw new ReferenceError({why})}})()"
        # The compiled name of another variable would be read in its place.
        return (
            failure if name in names.values() else f"(typeof {name}==='undefined'?{failure}:{name})"
        )

    def function_name(self, given: str, line: int, column: int) -> str:
        """Return the name that a function has in the source; V8 gives that of the script."""
        if not self._compiled.is_renamed:
            return given
        found = self._outline.innermost_function(line, column)
        if found is None:
            return given
        owner, _, last = found.name.rpartition(".")
        if last == "constructor" and owner:
            return owner
        given_owner, _, given_last = given.rpartition(".")
        if not found.name and not self._has_word(given_last):
            return "<anonymous>"
        # A name that the script has kept is better known: that of an inherited method's class.
        is_kept = given_last == last and (not given_owner or self._has_word(given_owner))
        return given if is_kept or not found.name else found.name

    @functools.cached_property
    def _outline(self) -> JavaScriptOutline:
        return outline_text("\n".join(self._lines))

    def _has_word(self, name: str) -> bool:
        word = re.compile(rf"(?<![\w$.]){re.escape(name)}(?![\w$])")
        return any(word.search(one) for one in self._lines)

    def _advise(self, name: str, line: int, names: Mapping[str, str]) -> str:
        """Return what to write in place of a variable that a compiler has removed."""
        declared = re.compile(rf"\bconst\s+{re.escape(name)}\s*(?::[^=]+)?=\s*(.+?);?\s*\Z")
        for text in reversed(self._lines[:line]):
            if found := declared.search(text):
                return f"write what it is computed from: {found[1]}"
        known = [one for one in names if names[one] != one and one in "\n".join(self._lines)]
        some = ", ".join(known[:_LISTED_MAX])
        return f"known are {some}" if some else "none of its variables is known"


class SourceIndex:
    """The script that each source was compiled to; of several scripts the first."""

    def __init__(self, scripts: Sequence[Path]) -> None:
        self._scripts: dict[str, Path] = {}
        for script in scripts:
            found = read_source_map(script)
            for source in found.sources if found is not None else ():
                if source is not None:
                    self._scripts.setdefault(source, script)

    def has(self, source: str) -> bool:
        """Return whether a source was compiled to one of the scripts."""
        return source in self._scripts

    def find_names(self, source: str) -> OriginalNames | None:
        """Return the names of a source in its script; None if it has none that can be read."""
        script = self._scripts.get(source)
        return find_original_names(source, script) if script is not None else None


def find_original_names(source: str, script: Path) -> OriginalNames | None:
    """Return the names of a source in a script; None if the script was not made of it."""
    found = _read_script(script)
    if found is None or source not in found.sources:
        return None
    return _read_names(source, str(script), _changed(script, Path(source)))


def find_original_frame(
    script: str, line: int, column: int, function: str
) -> tuple[str, str, int] | None:
    """Return the function, the file and the line in the source of a location of a script.

    None: the script has no source map, or the location no source that exists.
    """
    found = _read_script(Path(script))
    place = found.compiled.original_location(line, column) if found is not None else None
    source = found.sources[place[0]] if found is not None and place is not None else None
    if place is None or source is None:
        return None
    names = find_original_names(source, Path(script))
    if names is None:
        return None
    return names.function_name(function, place[1], place[2]), source, place[1]


@dataclass(frozen=True)
class _MappedScript:
    compiled: CompiledScript
    sources: Sequence[str | None]


def _changed(*files: Path) -> tuple[int, ...]:
    try:
        return tuple(one.stat().st_mtime_ns for one in files)
    except OSError:
        return ()


def _read_script(script: Path) -> _MappedScript | None:
    try:
        is_small = script.stat().st_size <= _SIZE_MAX
    except OSError:
        return None
    return _cached_script(str(script), _changed(script)) if is_small else None


@functools.lru_cache(maxsize=64)
def _cached_script(script: str, changed: tuple[int, ...]) -> _MappedScript | None:
    del changed  # it makes an edited file another key
    source_map = read_source_map(Path(script))
    if source_map is None or len(source_map.mappings) > _SIZE_MAX:
        return None
    try:
        text = Path(script).read_text("utf-8-sig", "replace")
    except OSError:
        return None
    lengths = tuple(len(one) for one in to_utf16_units(text).split("\n"))
    segments = decode_mappings(source_map.mappings, lengths)
    return _MappedScript(CompiledScript(text, segments, source_map.names), source_map.sources)


@functools.lru_cache(maxsize=64)
def _read_names(source: str, script: str, changed: tuple[int, ...]) -> OriginalNames | None:
    del changed  # it makes an edited file another key
    found = _read_script(Path(script))
    if found is None:
        return None
    try:
        lines = to_utf16_units(Path(source).read_text("utf-8-sig", "replace")).split("\n")
    except OSError:
        return None
    return OriginalNames(script, found.sources.index(source), found.compiled, lines)
