"""Reads the source maps of compiled JavaScript (ECMA-426): sources, locations and names.

A source map lists locations of the script, each with the corresponding location of a source.
Columns are counted in UTF-16 units, from 0.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_MAP_MAX = 1 << 20  # bytes at the end of a script in which its source map is named
_MAP = re.compile(r"^//[#@] sourceMappingURL=(\S+)\s*\Z", re.MULTILINE)
_BEYOND = re.compile(r"[\U00010000-\U0010ffff]")
_DIGITS = {
    letter: at
    for at, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}
_CONTINUES, _VALUE = 32, 31
_WITH_SOURCE, _WITH_NAME = 4, 5  # numbers of a segment that was made of a source, and has a name


class MapSegment(NamedTuple):
    """A location of a script, the end of its line there, and the corresponding source location.

    Line and column count from 0; code without a source has the source -1, and code without a name
    the name -1.
    """

    at: int
    line_end: int
    source: int
    line: int
    column: int
    name: int = -1


def source_file(url: str, script: str) -> str | None:
    """Return the file of a source; webpack gives only its path within the script's project."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.scheme in {"", "file"}:
        return os.path.normpath(path)
    for folder in Path(script).parents:
        file = folder / path.lstrip("/")
        if file.is_file():
            return os.path.normpath(file)
    return None


@dataclass(frozen=True)
class ScriptMap:
    """The source map of a compiled file: its mappings, and the path of each of its sources."""

    mappings: str
    # None: a source of which the path is not known.
    sources: tuple[str | None, ...]
    names: tuple[str, ...] = ()


def read_source_map(path: Path) -> ScriptMap | None:
    """Read the source map of a compiled file, beside it or in its last line (ECMA-426)."""
    try:
        text = path.read_bytes()[-_MAP_MAX:].decode(errors="replace")
        found = _MAP.search(text)
        if found is None:
            return None
        _, is_inline, inline = found[1].partition(";base64,")
        map_file = path.parent / found[1]
        source_map = json.loads(base64.b64decode(inline) if is_inline else map_file.read_bytes())
        root = str(source_map.get("sourceRoot") or "")
        names = [one if isinstance(one, str) else None for one in source_map["sources"]]
        mappings = str(source_map.get("mappings") or "")
        known = tuple(str(one) for one in source_map.get("names") or ())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    sources = tuple(_source_path(path, root, name) for name in names)
    return ScriptMap(mappings, sources, known)


def _source_path(script: Path, root: str, name: str | None) -> str | None:
    if name is None:
        return None
    if "://" in name:
        return source_file(name, str(script))
    return os.path.normpath(script.parent / root / name)


def original_sources(path: Path) -> list[Path]:
    """Return the existing sources of a compiled file, by its source map."""
    found = read_source_map(path)
    sources = found.sources if found is not None else ()
    return [Path(one) for one in sources if one is not None and Path(one).is_file()]


def to_utf16_units(text: str) -> str:
    """Return a text with one character for each UTF-16 unit."""
    return _BEYOND.sub("??", text)


@functools.lru_cache(maxsize=16)
def decode_mappings(mappings: str, line_lengths: tuple[int, ...]) -> list[MapSegment]:
    """Decode the mappings of a source map, in the order of the script."""
    found: list[MapSegment] = []
    source = line = column = name = start = 0
    for number, text in enumerate(mappings.split(";")):
        if number >= len(line_lengths):
            break
        at, end = 0, start + line_lengths[number]
        for part in text.split(","):
            fields = _decode_numbers(part)
            if not fields:
                continue
            at += fields[0]
            if len(fields) >= _WITH_SOURCE:
                source, line, column = source + fields[1], line + fields[2], column + fields[3]
            if len(fields) >= _WITH_NAME:
                name += fields[4]
            own = source if len(fields) >= _WITH_SOURCE else -1
            named = name if len(fields) >= _WITH_NAME else -1
            found.append(MapSegment(start + at, end, own, line, column, named))
        start = end + 1
    return sorted(found)


def _decode_numbers(text: str) -> list[int]:
    """Decode the numbers of one segment, in base 64 VLQ."""
    found: list[int] = []
    value = shift = 0
    for letter in text:
        digit = _DIGITS.get(letter, 0)
        value |= (digit & _VALUE) << shift
        shift += 5
        if not digit & _CONTINUES:
            found.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return found
