"""Maps files and lines of one source tree to another, such as before and after a change. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from debugger.recorders.run_alignment import RunPoint
from debugger.recorders.suspect_ranking import CodePlace, RunSpectrum

_ELSEWHERE = 1 << 24  # added to the numbers of lines that the other source does not have


def find_counterparts(
    files: Sequence[str], roots: Sequence[str], others: Sequence[str], other_roots: Sequence[str]
) -> dict[str, str]:
    """Map each file to the one at the same relative path below the other's roots."""
    known = {inside: one for one in others if (inside := _path_below(one, other_roots))}
    found = {}
    for one in files:
        inside = _path_below(one, roots)
        if one not in others and inside in known:
            found[one] = known[inside]
    return found


def _path_below(path: str, roots: Sequence[str]) -> str:
    fitting = [root for root in roots if path.startswith(root.rstrip("/") + "/")]
    return path[len(max(fitting, key=len).rstrip("/")) + 1 :] if fitting else ""


def match_lines(text: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Return the other text's line for each line of a text, from 1.

    Changed lines match by position, if both texts have equally many of them.
    """
    matcher = difflib.SequenceMatcher(None, text, other, autojunk=False)
    return {
        begin + step + 1: there + step + 1
        for _, begin, end, there, last in matcher.get_opcodes()
        if end - begin == last - there
        for step in range(end - begin)
    }


def move_points(
    points: Sequence[RunPoint], files: Mapping[str, str], read: Callable[[str], Sequence[str]]
) -> list[RunPoint]:
    """Set the locations in the other source under which events are compared."""
    known: dict[str, dict[int, int]] = {}
    found = []
    for one in points:
        other = files.get(one.function.file)
        if other is None:
            found.append(one)
            continue
        if other not in known:
            known[other] = match_lines(read(one.function.file), read(other))
        line = known[other].get(one.line, one.line + _ELSEWHERE)
        found.append(structs.replace(one, at=(other, line)))
    return found


def at_home(
    one: RunSpectrum, files: Mapping[str, str], read: Callable[[str], Sequence[str]]
) -> RunSpectrum:
    """Set the locations in the other source under which a run's code is compared.

    Lines that the other source lacks keep their own locations.
    """
    known = {file: match_lines(read(file), read(other)) for file, other in files.items()}

    def function(place: CodePlace) -> CodePlace:
        return structs.replace(place, file=files.get(place.file, place.file))

    def line(place: CodePlace) -> CodePlace:
        there = known.get(place.file, {}).get(place.line)
        return place if there is None else structs.replace(function(place), line=there)

    return structs.replace(
        one,
        functions=frozenset(map(function, one.functions)),
        lines=frozenset(map(line, one.lines)),
        entries={function(place): names for place, names in one.entries.items()},
        order={function(place): number for place, number in one.order.items()},
        firsts={line(place): number for place, number in one.firsts.items()},
    )
