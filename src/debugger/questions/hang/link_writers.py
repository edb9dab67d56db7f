"""Finds which line made the link by which a loop goes round.

The sources show the lines that set a field or an item of the link's name. A second run is probed at
those lines and at the loop: which of them ran, and of which objects.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.model.debugger_words import Runtime
from debugger.questions.hang.answer import LinkWriterView
from debugger.questions.hang.turn_values import parse_value
from debugger.questions.probe.answer import Probe
from debugger.questions.recordings.function_lookup import lines_of

_PLACES_MAX = 15  # lines that are probed
_SHOWN_MAX = 3
_FILES_MAX = 2_000
_BYTES_MAX = 2 << 20
_LEFT_OUT = frozenset({"node_modules", ".git", "__pycache__", "target", "dist", "site-packages"})
_FAMILIES = (
    (".py",),
    (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"),
    (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"),
    (".go",),
    (".rs",),
)
_LAST_PART = re.compile(r"(?:\??\.|->)(?P<field>[\w$]+)$|\[(?P<key>[^\[\]]+)\]$")
_TEXT_KEY = re.compile(r"[\"']([^\"']+)[\"']")
_OWNER = r"(?P<owner>[A-Za-z_$][\w$]*(?:(?:\.|->)[\w$]+|\[[^\[\]=]*\])*?)"
_SETS = r"\s*=(?![=>])"


class LinkingLine(Struct, frozen=True):
    """A line that may set the link: its object as an expression there, and its text."""

    file: str
    line: int
    owner: str
    text: str


def find_writing_lines(link: str, file: str, cwd: str) -> list[LinkingLine]:
    """Return the lines that set a field or item of a link, those of the loop's file first."""
    pattern = _writing_pattern(link)
    family = next((one for one in _FAMILIES if file.endswith(one)), ())
    if pattern is None or not family:
        return []
    found: list[LinkingLine] = []
    for path in _source_paths(file, cwd, family):
        for number, text in enumerate(lines_of(path), 1):
            match = pattern.search(text)
            if match is not None and not text.lstrip().startswith(("#", "//", "*", "/*")):
                found.append(LinkingLine(path, number, match["owner"], text.strip()))
        if len(found) >= _PLACES_MAX:
            break
    return found[:_PLACES_MAX]


def _writing_pattern(link: str) -> re.Pattern[str] | None:
    last = _LAST_PART.search(link)
    if last is None:
        return None
    if last["field"]:
        return re.compile(rf"{_OWNER}(?:\.|->){re.escape(last['field'])}{_SETS}")
    key = _TEXT_KEY.search(last["key"])
    if key is None:
        return None  # an index may be any: its writes have no name
    return re.compile(rf"{_OWNER}\[[^\[\]=]*[\"']{re.escape(key[1])}[\"'][^\[\]=]*\]{_SETS}")


def _source_paths(file: str, cwd: str, family: Sequence[str]) -> Iterator[str]:
    """Return the loop's file, then the sources of its package and below the working directory."""
    yield file
    package = Path(file).parent
    while (package / "__init__.py").is_file() and package != package.parent:
        package = package.parent
    remaining = _FILES_MAX
    known = {file}
    for root in dict.fromkeys([str(Path(file).parent), str(package), cwd]):
        for folder, inner, names in os.walk(root):
            inner[:] = [one for one in sorted(inner) if one not in _LEFT_OUT and one[0] != "."]
            for name in sorted(names):
                path = os.path.join(folder, name)  # noqa: PTH118 - of many files
                if not name.endswith(tuple(family)) or path in known:
                    continue
                known.add(path)
                remaining -= 1
                if remaining < 0:
                    return
                if os.path.getsize(path) <= _BYTES_MAX:  # noqa: PTH202
                    yield path


def rank_writers(
    lines: Sequence[LinkingLine], probe: Probe, runtime: Runtime
) -> tuple[LinkWriterView, ...]:
    """Return the lines that ran, those of the loop's own objects first, then the latest."""
    own: set[str] = set()
    last: dict[int, tuple[float, int, str]] = {}
    for number, row in enumerate(probe.rows):
        observed = parse_value(row.values[0], "*", runtime) if row.values else None
        identity = observed.identity if observed is not None else ""
        if row.place == len(lines):
            own.add(identity)
        elif row.place < len(lines):
            # Two hits may have one time: the rows are in the order of the run.
            last[row.place] = (row.at_s, number, identity)
    own.discard("")
    found = []
    for place, (at_s, number, identity) in last.items():
        one = lines[place]
        times = probe.places[place].hits
        view = LinkWriterView(one.file, one.line, one.text, times, is_seen=identity in own)
        found.append((not view.is_seen, -at_s, -number, view))
    found.sort(key=lambda one: one[:3])
    views = [view for *_, view in found]
    seen = [one for one in views if one.is_seen]
    return tuple((seen or views)[:_SHOWN_MAX])
